# SPDX-License-Identifier: Apache-2.0
"""Reads and writes .conda files; what is written depends on the content alone."""

import hashlib
import io
import json
import tarfile
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import zstandard

METADATA = b'{"conda_pkg_format_version":2}'
# What a ZIP member can say at the earliest.
EARLIEST = 315532800
BUILD_RECORDS = ("recipe/", "hash_input.json")


@dataclass
class File:
    """One file of a package; a symbolic link has a target instead of content."""

    path: str
    read: Callable[[], bytes]
    executable: bool = False
    link: str = ""
    placeholder: str = ""


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def file_sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def to_json(value: object) -> bytes:
    return (json.dumps(value, indent=2, sort_keys=True) + "\n").encode()


def paths_json(files: list[File]) -> bytes:
    paths = []
    for file in sorted(files, key=lambda file: file.path):
        content = b"" if file.link else file.read()
        entry = {
            "_path": file.path,
            "path_type": "softlink" if file.link else "hardlink",
            "sha256": sha256(content),
            "size_in_bytes": len(content),
        }
        if file.placeholder:
            entry |= {"prefix_placeholder": file.placeholder, "file_mode": "text"}
        paths.append(entry)
    return to_json({"paths": paths, "paths_version": 1})


def compressed_tar(target: zipfile.ZipFile, name: str, files: list[File], when: int, level: int):
    member = zipfile.ZipInfo(name, time.gmtime(max(when, EARLIEST))[:6])
    compressor = zstandard.ZstdCompressor(level=level, threads=2)
    with (
        target.open(member, "w", force_zip64=True) as raw,
        compressor.stream_writer(raw, closefd=False) as stream,
        tarfile.open(fileobj=stream, mode="w|", format=tarfile.GNU_FORMAT) as tar,
    ):
        for file in sorted(files, key=lambda file: file.path):
            entry = tarfile.TarInfo(file.path)
            entry.mtime = when
            entry.mode = 0o755 if file.executable or file.link else 0o644
            if file.link:
                entry.type, entry.linkname = tarfile.SYMTYPE, file.link
                tar.addfile(entry)
            else:
                content = file.read()
                entry.size = len(content)
                tar.addfile(entry, io.BytesIO(content))


def write(path: Path, info: dict[str, bytes], files: list[File], when: int, level: int) -> None:
    """`info` holds the package's metadata by name; `when` is every date in it."""
    stem = path.name.removesuffix(".conda")
    described = [File(f"info/{name}", lambda data=data: data) for name, data in info.items()]
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(".new")
    with zipfile.ZipFile(unfinished, "w", zipfile.ZIP_STORED) as target:
        member = zipfile.ZipInfo("metadata.json", time.gmtime(max(when, EARLIEST))[:6])
        target.writestr(member, METADATA)
        compressed_tar(target, f"pkg-{stem}.tar.zst", files, when, level)
        compressed_tar(target, f"info-{stem}.tar.zst", described, when, 19)
    unfinished.replace(path)


def members(source: zipfile.ZipFile, part: str, scratch) -> Iterator[File]:
    name = next(n for n in source.namelist() if n.startswith(part))
    with source.open(name) as packed:
        zstandard.ZstdDecompressor().copy_stream(packed, scratch)
    scratch.seek(0)
    # It stays open for as long as its members may be read.
    tar = tarfile.TarFile(fileobj=scratch)
    for member in tar:
        if member.isdir():
            continue
        path = str(PurePosixPath(member.name))
        if member.issym():
            yield File(path, bytes, link=member.linkname)
        else:
            # A hard link is a copy: extractfile follows it.
            yield File(
                path,
                lambda member=member: tar.extractfile(member).read(),
                executable=bool(member.mode & 0o100),
            )


def read_info(path: Path) -> dict[str, bytes]:
    """The metadata of a package by name."""
    with zipfile.ZipFile(path) as source, tempfile.TemporaryFile() as scratch:
        found = members(source, "info-", scratch)
        return {file.path.removeprefix("info/"): file.read() for file in found}


@contextmanager
def read_files(path: Path) -> Iterator[list[File]]:
    """The files of a package, readable inside the `with`."""
    with zipfile.ZipFile(path) as source, tempfile.TemporaryFile() as scratch:
        yield list(members(source, "pkg-", scratch))


def canonical(info: dict[str, bytes], files: list[File]) -> list[File]:
    """The files with one placeholder of the same length for the folder they were built in.

    paths.json in `info` is brought up to date.
    """
    paths = json.loads(info["paths.json"])
    by_path = {file.path: file for file in files}
    for entry in paths["paths"]:
        old = entry.get("prefix_placeholder")
        if old:
            file = by_path[entry["_path"]]
            entry["prefix_placeholder"] = new = placeholder(len(old))
            content = file.read().replace(old.encode(), new.encode())
            entry["sha256"] = sha256(content)
            file.read = lambda content=content: content
    paths["paths"].sort(key=lambda entry: entry["_path"])
    info["paths.json"] = to_json(paths)
    return files


def placeholder(length: int) -> str:
    """A path of that length, which an installer replaces by the prefix."""
    return ("/" + "placeholder/" * length)[: length - 1] + "_"


def normalise(raw: Path, target: Path, when: int, level: int) -> None:
    """Writes `raw` anew without what differs from one build of the same source to the next."""
    info = {n: data for n, data in read_info(raw).items() if not n.startswith(BUILD_RECORDS)}
    index = json.loads(info["index.json"])
    for name in ("depends", "constrains"):
        if name in index:
            index[name] = sorted(index[name])
    index["timestamp"] = when * 1000
    info["index.json"] = to_json(index)
    # The channels that a build took its needs from are folders of this machine.
    about = json.loads(info.get("about.json", b"{}"))
    about.pop("channels", None)
    info["about.json"] = to_json(about)
    with read_files(raw) as files:
        write(target, info, canonical(info, files), when, level)
