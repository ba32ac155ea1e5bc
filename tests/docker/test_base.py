# SPDX-License-Identifier: Apache-2.0
"""docker/base.sh before it makes anything: what it refuses. Its image is tested with the others."""

import subprocess
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]


def base(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    env = {"PATH": "/usr/bin:/bin", "SOURCE_DATE_EPOCH": "1"} | variables
    command = [str(REPOSITORY / "docker" / "base.sh"), *arguments]
    return subprocess.run(command, env=env, capture_output=True, text=True, check=False)


def test_a_folder_without_packages_is_refused(tmp_path: Path) -> None:
    done = base(str(tmp_path), "name", str(tmp_path / "out"))
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        f"base: {tmp_path}: expected Debian packages, found none; run make wheelhouse\n"
    )
    assert not (tmp_path / "out").exists()


def test_a_missing_mmdebstrap_is_named_with_its_package(tmp_path: Path) -> None:
    (tmp_path / "a.deb").touch()
    (tmp_path / "bin").mkdir()
    for tool in ("bash", "env"):
        (tmp_path / "bin" / tool).symlink_to(f"/usr/bin/{tool}")
    done = base(str(tmp_path), "name", "out", PATH=str(tmp_path / "bin"))
    assert done.returncode == 1
    assert done.stderr == "base: mmdebstrap is missing: apt-get install mmdebstrap\n"


@pytest.mark.parametrize(("argument", "code"), [("-h", 0), ("one", 2)])
def test_usage(argument: str, code: int) -> None:
    done = base(argument)
    assert done.returncode == code
    assert "usage: docker/base.sh DEBS NAME OUT" in done.stdout + done.stderr
