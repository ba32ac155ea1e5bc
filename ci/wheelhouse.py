# SPDX-License-Identifier: Apache-2.0
"""Collects in build/wheelhouse, by hash, all that the images are made from.

docker-build needs no network then. The folder can be taken along with the repository.
"""

import argparse
import os
import platform
import shutil
import sys
from collections.abc import Iterable
from pathlib import Path

import debian
from ascend_host import AscendHost
from container import ContainerError, choose_kind
from environment import collect
from files import turn, unusable
from lock import pins
from lock_file import LockError, die, lock_path, read_lock, sha256
from versions import ROOT, VersionsError, chosen
from wheel_cache import BootstrapError, cache_folder, cached_wheels, wheel_folder

WHEELHOUSE = ROOT / "build" / "wheelhouse"
HOST_FOLDERS = {"base": "debs/base", "build": "debs/host"}
NPU_FOLDER = "debs/npu"


def place(files: list[Path], folder: Path) -> None:
    """Makes the folder hold these files and no others; a hard link costs nothing."""
    folder.mkdir(parents=True, exist_ok=True)
    for stranger in {path.name for path in folder.iterdir()} - {file.name for file in files}:
        (folder / stranger).unlink()
    for file in files:
        target = folder / file.name
        if target.exists() and (target.samefile(file) or sha256(target) == sha256(file)):
            continue
        target.unlink(missing_ok=True)
        try:
            os.link(file, target)
        except OSError:
            shutil.copy2(file, target)


def write(path: Path, text: str) -> None:
    """Leaves alone what is right: another build may be reading it."""
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def requirements(selected: dict, machine: str) -> dict[str, str]:
    """What the images install from the lock; what these need follows."""
    wanted = pins(selected, machine, next(iter(selected["lock"]["groups"])))
    names = {
        "runtime.txt": ("torch", "torch-npu", "numpy"),
        "build.txt": tuple(selected["build"]),
        "test.txt": ("pytest",),
    }
    return {
        file: "".join(f"{name}=={wanted[name]}\n" for name in group)
        for file, group in names.items()
    }


def seed(files: Iterable[Path], cache: Path) -> None:
    """What a wheelhouse that was brought along holds is not downloaded."""
    cache.mkdir(parents=True, exist_ok=True)
    for file in files:
        if not (cache / file.name).exists():
            # One that is interrupted leaves nothing that looks like the file.
            arriving = cache / f"{file.name}.new"
            shutil.copyfile(file, arriving)
            arriving.replace(cache / file.name)


def take_wheels(versions: dict, lock: Path, cache: Path) -> list[Path]:
    folder = wheel_folder(versions)
    here = WHEELHOUSE / folder.relative_to(cache)
    locked = read_lock(lock)
    # First: a damaged one in the cache gives way to the one that was brought along.
    cached_wheels(folder, locked)
    seed(cached_wheels(here, locked).values(), folder)
    wheels = list(collect([lock], folder, cache, versions["torch"]["index"]).values())
    place(wheels, here)
    return wheels


def take_packages(versions: dict, machine: str, cache: Path, unpinned: bool) -> list[Path]:
    """What a host's image is made from; CANN's brings its system."""
    places = {stage: WHEELHOUSE / folder for stage, folder in HOST_FOLDERS.items()}
    for here in places.values():
        seed(here.glob("*.deb"), cache)
    found = debian.provide(versions, machine, cache, unpinned)
    for stage, here in places.items():
        place(found[stage], here)
    return [package for packages in found.values() for package in packages]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.parse_args()
    env = dict(os.environ)
    versions = chosen()
    kind = choose_kind(AscendHost(), env)
    machine = platform.machine()
    lock = lock_path(versions, machine, next(iter(versions["lock"]["groups"])))
    cache = cache_folder()
    packages: list[Path] = []
    cache.mkdir(parents=True, exist_ok=True)
    with turn(cache / "lock", "wheelhouse"):
        wheels = take_wheels(versions, lock, cache)
        if kind == "host":
            unpinned = env.get("ALLOW_UNPINNED") == "1"
            packages = take_packages(versions, machine, cache / "debs", unpinned)
        # docker/Dockerfile copies it for every device.
        place([], WHEELHOUSE / NPU_FOLDER)
        texts = requirements(versions, machine) | {"lock.txt": lock.read_text(encoding="utf-8")}
        for name, text in texts.items():
            write(WHEELHOUSE / name, text)
    size = sum(file.stat().st_size for file in [*wheels, *packages]) / 1e6
    print(
        f"wheelhouse: {len(wheels)} wheels and {len(packages)} Debian packages, {size:.0f} MB, "
        f"in {WHEELHOUSE.relative_to(ROOT)}"
    )


if __name__ == "__main__":
    try:
        main()
    except (BootstrapError, ContainerError, LockError, VersionsError) as error:
        die(f"wheelhouse: {error}")
    except OSError as error:
        die(f"wheelhouse: {unusable(error)}")
    except KeyboardInterrupt:
        sys.exit(130)
