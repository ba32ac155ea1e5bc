# SPDX-License-Identifier: Apache-2.0
import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
import wheel_cache
from conda import CHANNEL, archive, channel, fixture
from versions import load_versions

# The recipes of torch and torch_npu name the folder of the wheels.
os.environ["ASCENDC_OPS_WHEELS"] = str(wheel_cache.wheel_folder(load_versions()))


@pytest.fixture(scope="session")
def wheels() -> dict[str, Path]:
    return wheel_cache.wheels_of("dev")


@pytest.fixture(scope="session")
def built() -> Path:
    """The channel that `make conda` made."""
    assert (CHANNEL / "noarch/repodata.json").exists(), "expected a channel: run make conda"
    return CHANNEL


@pytest.fixture(scope="session")
def packages(built: Path) -> dict[str, Path]:
    """Name -> file of every package of the channel."""
    found = {}
    for subdir in ("noarch", fixture.SUBDIR):
        index = json.loads((built / subdir / "repodata.json").read_text(encoding="utf-8"))
        for filename, record in index["packages.conda"].items():
            found[record["name"]] = built / subdir / filename
    return found


class Shelf:
    """A channel under construction."""

    def __init__(self, folder: Path):
        self.folder = folder

    def add(self, record: dict, files: list[archive.File] = ()) -> None:
        index = {"build_number": 0, "depends": [], "constrains": [], "subdir": fixture.SUBDIR}
        index |= record | {"timestamp": 1}
        info = {
            "index.json": archive.to_json(index),
            "about.json": b"{}",
            "paths.json": archive.paths_json(list(files)),
        }
        name = "{name}-{version}-{build}.conda".format(**index)
        archive.write(self.folder / index["subdir"] / name, info, list(files), 1, 1)

    def take(self, built: Path) -> None:
        """Also everything that another channel holds."""
        for package in built.glob("*/*.conda"):
            target = self.folder / package.parent.name / package.name
            target.parent.mkdir(parents=True, exist_ok=True)
            os.link(package, target)

    def ready(self) -> Path:
        (self.folder / fixture.SUBDIR).mkdir(parents=True, exist_ok=True)
        channel.index(self.folder)
        return self.folder


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Shelf]:
    return Shelf(tmp_path / "channel")
