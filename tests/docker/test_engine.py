# SPDX-License-Identifier: Apache-2.0
"""ci/engine.sh with made-up programs: the engine is there while the command runs, and not after."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
DOCKER = """#!/bin/sh
[ -e "$STATE/running" ]
"""
DOCKERD = """#!{python}
import os, pathlib, signal, sys
state = pathlib.Path(os.environ["STATE"])
if (state / "broken").exists():
    sys.exit("no storage driver")
running = state / "running"
def stop(number, frame):
    running.unlink()
    (state / "stopped").touch()
    sys.exit(0)
signal.signal(signal.SIGTERM, stop)
running.touch()
print("API listen on " + str(running), flush=True)
signal.pause()
"""


class Machine:
    def __init__(self, root: Path) -> None:
        self.root = root
        (root / "ci").mkdir()
        shutil.copy(REPOSITORY / "ci" / "engine.sh", root / "ci")
        self.tool("docker", DOCKER)
        self.tool("dockerd", DOCKERD.format(python=sys.executable))

    def tool(self, name: str, text: str) -> None:
        path = self.root / "bin" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)

    @property
    def env(self) -> dict[str, str]:
        path = f"{self.root / 'bin'}{os.pathsep}/usr/bin{os.pathsep}/bin"
        return os.environ | {"STATE": str(self.root), "PATH": path}

    def run(self, *command: str, said: str = "") -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["ci/engine.sh", *command],
            cwd=self.root,
            env=self.env,
            input=said,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    def there(self, name: str) -> bool:
        return (self.root / name).exists()


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


@pytest.mark.parametrize("code", [0, 3])
def test_the_engine_runs_for_the_command_and_stops_after_it(machine: Machine, code: int) -> None:
    done = machine.run("sh", "-c", f"docker version && echo there; exit {code}")
    assert (done.returncode, done.stdout) == (code, "there\n")
    assert (machine.there("running"), machine.there("stopped")) == (False, True)


def test_the_command_reads_what_the_script_is_given(machine: Machine) -> None:
    assert machine.run("cat", said="typed\n").stdout == "typed\n"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("code", [0, 3])
def test_a_signal_reaches_the_command_which_keeps_the_engine_until_it_ends(
    machine: Machine, number: signal.Signals, code: int
) -> None:
    tidied = "sleep 1; docker version && touch tidied"
    script = (
        f"trap '{tidied}; exit {code}' {number.name[3:]}; echo begun; while :; do sleep 0.1; done"
    )
    command = ["ci/engine.sh", "bash", "-c", script]
    with subprocess.Popen(
        command, cwd=machine.root, env=machine.env, stdout=subprocess.PIPE
    ) as running:
        assert running.stdout.readline() == b"begun\n"
        running.send_signal(number)
        assert running.wait(timeout=60) == (code or 128 + number)
    assert machine.there("tidied")
    assert (machine.there("running"), machine.there("stopped")) == (False, True)


def test_an_engine_that_runs_already_is_used_and_left(machine: Machine) -> None:
    (machine.root / "running").touch()
    done = machine.run("sh", "-c", "echo used; exit 4")
    assert (done.returncode, done.stdout) == (4, "used\n")
    assert (machine.there("running"), machine.there("build")) == (True, False)


def test_an_engine_that_cannot_start_is_one_sentence(machine: Machine) -> None:
    (machine.root / "broken").touch()
    done = machine.run("echo", "not run")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "engine: dockerd did not start: no storage driver\n"


def test_a_missing_engine_is_named_with_its_package(machine: Machine) -> None:
    (machine.root / "bin" / "dockerd").unlink()
    for tool in ("bash", "env", "mkdir"):
        (machine.root / "bin" / tool).symlink_to(f"/usr/bin/{tool}")
    env = {"PATH": str(machine.root / "bin"), "STATE": str(machine.root)}
    done = subprocess.run(
        ["ci/engine.sh", "true"], cwd=machine.root, env=env, capture_output=True, text=True
    )
    assert done.returncode == 1
    assert done.stderr == "engine: dockerd is missing: apt-get install docker.io\n"
