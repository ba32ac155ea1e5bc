# SPDX-License-Identifier: Apache-2.0
"""The same sources give the same wheel, byte for byte, built elsewhere and under another umask."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
SOURCES = ("CMakeLists.txt", "versions.toml", "LICENSE", "ci", "csrc", "kernels", "python")


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("a-longer-name-than-the-first-one")
    for name in SOURCES:
        source = REPOSITORY / name
        if source.is_dir():
            shutil.copytree(source, root / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, root)
    (root / ".venv").symlink_to(REPOSITORY / ".venv")
    # One CMake tree for both variants, compiled once.
    environment = os.environ | {"VARIANT": "both"}
    for variant in ("pybind", "lib"):
        command = ["bash", "-c", 'umask 077 && exec "$0" "$1"', str(root / "ci" / "wheel.sh")]
        done = subprocess.run(
            [*command, variant], env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
    return root


@pytest.mark.parametrize("variant", ["pybind", "lib"])
def test_a_wheel_built_elsewhere_has_the_same_bytes(elsewhere: Path, variant: str) -> None:
    first, second = (
        next((root / "build" / "wheels" / variant).glob("*.whl"))
        for root in (REPOSITORY, elsewhere)
    )
    assert first.name == second.name
    assert first.read_bytes() == second.read_bytes()
