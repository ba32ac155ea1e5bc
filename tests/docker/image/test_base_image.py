# SPDX-License-Identifier: Apache-2.0
"""docker/base.sh: made once more, the base has the id that versions.toml names."""

import os
import platform
import subprocess
import tomllib
from pathlib import Path

import debian
from lock_file import sha256

REPOSITORY = Path(__file__).resolve().parents[3]
HOST = tomllib.loads((REPOSITORY / "versions.toml").read_text())["images"]["host"]


def test_another_run_gives_the_same_id(engine, tmp_path: Path) -> None:
    debs = REPOSITORY / "build" / "wheelhouse" / "debs" / "base"
    lock = debian.read_lock(debian.lock_path(platform.machine(), "base"))
    locked = {Path(file).name: digest for file, digest in lock.items()}
    expected = HOST["id"][platform.machine()]
    if {path.name: sha256(path) for path in debs.iterdir()} != locked:
        # Debian's archive has moved on from the lock, and the engine's base is made of its updates.
        name = f"{HOST['name']}:{HOST['codename']}"
        expected = engine("image", "inspect", "--format={{.Id}}", name).stdout.strip()
    # Neither the folder nor the user's settings may show.
    env = os.environ | {"SOURCE_DATE_EPOCH": str(HOST["epoch"]), "TZ": "Asia/Tokyo"}
    done = subprocess.run(
        [str(REPOSITORY / "docker" / "base.sh"), str(debs), "again", str(tmp_path / "base.tar")],
        env=env,
        umask=0o077,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == expected + "\n"
