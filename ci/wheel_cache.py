# SPDX-License-Identifier: Apache-2.0
"""The folder that keeps downloads, for every checkout of this machine."""

import functools
import os
import platform
from pathlib import Path

from lock_file import Requirement, lock_path, normalize, python_tag, read_lock, sha256
from versions import chosen


class BootstrapError(Exception):
    """A sentence for the user."""


def cache_folder() -> Path:
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(os.environ.get("ASCENDC_OPS_CACHE") or Path(home) / "ascendc-ops").absolute()


def wheel_folder(versions: dict) -> Path:
    """Where the wheels of this machine and Python are kept."""
    return cache_folder() / "wheels" / f"{platform.machine()}-{python_tag(versions)}"


def digest_of(wheel: Path) -> str:
    """The SHA-256 of a wheel, which is taken once: they are large."""
    status = wheel.stat()
    return _digest(wheel, status.st_ino, status.st_mtime_ns)


@functools.cache
def _digest(wheel: Path, _inode: int, _when: int) -> str:
    return sha256(wheel)


def cached_wheels(folder: Path, requirements: list[Requirement]) -> dict[str, Path]:
    """Pin -> wheel, of those in a folder that have the lock's hash; damaged ones are removed."""
    found = {}
    by_key = {(r.name, r.version): r for r in requirements}
    for wheel in folder.glob("*.whl"):
        name, version = [*wheel.name.split("-"), "", ""][:2]
        requirement = by_key.get((normalize(name), version))
        if requirement is None:
            continue
        if digest_of(wheel) in requirement.hashes:
            found[requirement.pin] = wheel
        else:
            print(f"{wheel}: expected the sha256 of the lock, got another: removed", flush=True)
            wheel.unlink()
    return found


def locked_wheels(folder: Path, lock: Path, target: str) -> dict[str, Path]:
    """Pin -> wheel of everything in a lock, which `make TARGET` put into the folder."""
    requirements = read_lock(lock)
    found = cached_wheels(folder, requirements)
    if missing := [r.pin for r in requirements if r.pin not in found]:
        raise BootstrapError(
            f"expected {', '.join(missing)} in {folder}, found none; run make {target}"
        )
    return found


def wheels_of(group: str) -> dict[str, Path]:
    """Pin -> wheel of a lock that .venv has; they are in the cache."""
    versions = chosen()
    lock = lock_path(versions, platform.machine(), group)
    return locked_wheels(wheel_folder(versions), lock, "env")
