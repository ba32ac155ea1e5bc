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
running.touch(exist_ok=False)
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
        state = {"STATE": str(self.root), "ASCENDC_OPS_ENGINE": str(self.root / "engine")}
        return os.environ | state | {"PATH": path}

    def start(self, script: str) -> subprocess.Popen[bytes]:
        """A user of the engine that says when it begins, and waits for its input to end."""
        command = ["ci/engine.sh", "sh", "-c", f"echo begun; cat; {script}"]
        pipe = subprocess.PIPE
        user = subprocess.Popen(command, cwd=self.root, env=self.env, stdin=pipe, stdout=pipe)
        assert user.stdout is not None
        assert user.stdout.readline() == b"begun\n"
        return user

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


@pytest.mark.parametrize("order", [(0, 1), (1, 0)], ids=["starter-first", "starter-last"])
def test_the_last_of_two_users_stops_the_engine(machine: Machine, order: tuple[int, int]) -> None:
    users = [machine.start("docker version") for _ in range(2)]
    first, last = (users[number] for number in order)
    assert first.communicate(timeout=60) == (b"", None)
    assert (first.returncode, machine.there("running")) == (0, True)
    last.communicate(timeout=60)
    assert (last.returncode, machine.there("running")) == (0, False)
    assert machine.there("stopped")


def test_users_that_begin_at_once_share_one_engine(machine: Machine) -> None:
    # A second engine would not start.
    command = ["ci/engine.sh", "docker", "version"]
    users = [subprocess.Popen(command, cwd=machine.root, env=machine.env) for _ in range(4)]
    assert [user.wait(timeout=60) for user in users] == [0] * 4
    assert not machine.there("running")


def test_a_user_that_was_killed_leaves_the_engine_to_the_next(machine: Machine) -> None:
    with machine.start("") as user:
        user.kill()
    assert machine.there("running")
    assert machine.run("docker", "version").returncode == 0
    assert not machine.there("running")


def test_a_process_that_has_the_number_of_a_dead_engine_is_left(machine: Machine) -> None:
    with subprocess.Popen(["sleep", "60"]) as other:
        (machine.root / "engine").mkdir()
        (machine.root / "engine" / "pid").write_text(f"{other.pid}\n")
        (machine.root / "running").touch()
        assert machine.run("docker", "version").returncode == 0
        assert (other.poll(), machine.there("running")) == (None, True)
        other.kill()


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
