# SPDX-License-Identifier: Apache-2.0
"""A folder of packages as a conda channel: its index is always made from what lies in it."""

import functools
import hashlib
import json
import os
import shutil
from pathlib import Path

import built

from . import archive


def record(package: Path) -> dict:
    """What a channel's index says of a package."""
    status = package.stat()
    return described(package, status.st_ino, status.st_mtime_ns)


def sha256_of(package: Path) -> str:
    return record(package)["sha256"]


@functools.cache
def described(package: Path, _inode: int, _when: int) -> dict:
    """Told apart by inode and time, so that a file that was replaced is read again."""
    content = package.read_bytes()
    return json.loads(archive.read_info(package)["index.json"]) | {
        "md5": hashlib.md5(content).hexdigest(),
        "sha256": archive.sha256(content),
        "size": len(content),
    }


def index(folder: Path) -> None:
    for subdir in {"noarch", *(path.name for path in folder.glob("linux-*"))}:
        (folder / subdir).mkdir(parents=True, exist_ok=True)
        packages = sorted((folder / subdir).glob("*.conda"))
        data = {
            "info": {"subdir": subdir},
            "packages": {},
            "packages.conda": {path.name: record(path) for path in packages},
            "repodata_version": 1,
        }
        (folder / subdir / "repodata.json").write_bytes(archive.to_json(data))


def make(folder: Path, packages: dict[Path, str]) -> None:
    """Replaces the channel in `folder` by one of these packages, each in its subdir."""
    unfinished = folder.with_name(folder.name + ".new")
    shutil.rmtree(unfinished, ignore_errors=True)
    for package, subdir in packages.items():
        target = unfinished / subdir / package.name
        target.parent.mkdir(parents=True, exist_ok=True)
        os.link(package, target)
        if (record := built.record_of(package)).is_file():
            os.link(record, built.record_of(target))
    index(unfinished)
    shutil.rmtree(folder, ignore_errors=True)
    unfinished.rename(folder)
