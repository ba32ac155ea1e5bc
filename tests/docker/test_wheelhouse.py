# SPDX-License-Identifier: Apache-2.0
"""ci/wheelhouse.py without a network: what was brought along is used, but only by its hash."""

import errno
import hashlib
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import wheelhouse
from lock_file import lock_path
from versions import load_versions
from wheel_cache import wheel_folder

REPOSITORY = Path(__file__).resolve().parents[2]
NAME = "alpha-1.0-py3-none-any.whl"
WHOLE = b"the wheel that was locked"


class Machine:
    """A checkout whose lock names one wheel, with a cache of its own and no package index."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("ASCENDC_OPS_CACHE", str(root / "cache"))
        self.root = root / "checkout"
        for folder in ("ci", "python/ascendc-env/ascendc_env"):
            ignored = shutil.ignore_patterns("requirements", "__pycache__")
            shutil.copytree(REPOSITORY / folder, self.root / folder, ignore=ignored)
        shutil.copy(REPOSITORY / "versions.toml", self.root)
        versions = load_versions()
        lock = lock_path(versions, platform.machine(), "dev", self.root)
        lock.parent.mkdir(parents=True)
        digest = hashlib.sha256(WHOLE).hexdigest()
        lock.write_text(f"alpha==1.0 \\\n    --hash=sha256:{digest}\n")
        self.cached = wheel_folder(versions) / NAME
        self.brought = self.root / "build/wheelhouse/wheels" / self.cached.parent.name / NAME
        self.brought.parent.mkdir(parents=True)
        self.cached.parent.mkdir(parents=True)
        # The pip that ci/environment.py keeps there; making one takes seconds.
        interpreter = os.path.realpath(sys.executable)
        name = f"pip-{hashlib.sha256(interpreter.encode()).hexdigest()[:16]}"
        pip = root / "cache" / name / "bin" / "python"
        pip.parent.mkdir(parents=True)
        pip.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
        pip.chmod(0o755)

    def run(self) -> subprocess.CompletedProcess[str]:
        env = {name: value for name, value in os.environ.items() if not name.startswith("PIP_")}
        env |= {"PIP_NO_INDEX": "1", "PIP_CONFIG_FILE": os.devnull, "DEVICE": "npu", "STACK": ""}
        command = [sys.executable, str(self.root / "ci" / "wheelhouse.py")]
        return subprocess.run(command, env=env, capture_output=True, text=True, check=False)


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    return Machine(tmp_path, monkeypatch)


def test_a_wheel_that_was_brought_along_needs_no_network(machine: Machine) -> None:
    machine.brought.write_bytes(WHOLE)
    done = machine.run()
    assert (done.returncode, done.stderr) == (0, "")
    assert machine.cached.read_bytes() == machine.brought.read_bytes() == WHOLE


def test_an_altered_wheel_is_refused_and_not_kept(machine: Machine) -> None:
    machine.brought.write_bytes(WHOLE[:-1] + b"D")
    done = machine.run()
    assert done.returncode == 1
    said = f"{machine.brought}: expected the sha256 of the lock, got another: removed"
    assert said in done.stdout.splitlines()
    assert done.stderr.startswith("wheelhouse: pip could not download alpha==1.0 (")
    assert done.stderr.count("\n") == 1
    assert (machine.brought.exists(), machine.cached.exists()) == (False, False)


def test_an_altered_wheel_is_replaced_from_the_cache(machine: Machine) -> None:
    machine.brought.write_bytes(b"")
    machine.cached.write_bytes(WHOLE)
    assert machine.run().returncode == 0
    assert machine.brought.read_bytes() == WHOLE


def test_a_damaged_wheel_in_the_cache_gives_way_to_the_one_brought_along(machine: Machine) -> None:
    machine.brought.write_bytes(WHOLE)
    machine.cached.write_bytes(WHOLE[:-1])
    done = machine.run()
    assert (done.returncode, done.stderr) == (0, "")
    assert machine.cached.read_bytes() == machine.brought.read_bytes() == WHOLE


def test_a_copy_that_ends_early_is_no_file_of_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def copy(source: Path, target: Path) -> None:
        target.write_bytes(source.read_bytes()[:-1])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(shutil, "copyfile", copy)
    file = tmp_path / NAME
    file.write_bytes(WHOLE)
    with pytest.raises(OSError, match="No space left"):
        wheelhouse.seed([file], tmp_path / "cache")
    assert not (tmp_path / "cache" / NAME).exists()


def test_a_cache_that_cannot_be_written_is_one_sentence(machine: Machine) -> None:
    machine.cached.parent.rmdir()
    machine.cached.parent.write_text("no folder")
    done = machine.run()
    assert done.returncode == 1
    assert done.stderr == (
        f"wheelhouse: {machine.cached.parent}: expected to read and write it, got 'File exists'; "
        "put that right and run it again\n"
    )


def test_nothing_else_stays_in_the_wheelhouse(machine: Machine) -> None:
    machine.brought.write_bytes(WHOLE)
    stranger = machine.brought.with_name("stranger.whl")
    stranger.touch()
    # CANN's image brings its system, whatever a host's build has left here.
    assert machine.run().returncode == 0
    assert not stranger.exists()
    assert list((machine.root / "build/wheelhouse/debs/npu").iterdir()) == []
