# SPDX-License-Identifier: Apache-2.0
"""Tests of the built images: `make docker-image-test` runs them; nothing else collects them."""

import os
import platform
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from versions import load_versions

REPOSITORY = Path(__file__).resolve().parents[3]
HOST = load_versions()["images"]["host"]


def pytest_addoption(parser):
    parser.addoption("--engine", help="docker or podman, running, with the images built")


def pytest_ignore_collect(collection_path, config):
    # Without an engine there is nothing to collect; the target that needs them names one.
    if collection_path.suffix == ".py" and not config.getoption("--engine", None):
        return True
    return None


@pytest.fixture(scope="session")
def engine(request) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs the engine's command; a failure is the test's, unless it is asked for."""
    name = request.config.getoption("--engine")

    def run(*arguments: str, check: bool = True, **how) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [name, *arguments], capture_output=True, text=True, timeout=300, check=False, **how
        )
        assert not check or done.returncode == 0, done.stdout + done.stderr
        return done

    run.name = name
    return run


@pytest.fixture(scope="session")
def base(engine) -> str:
    """What reports and labels say of the host's base."""
    name = f"{HOST['name']}:{HOST['codename']}"
    held = engine("image", "inspect", "--format={{.Id}}", name).stdout.strip()
    return name if held == HOST["id"][platform.machine()] else f"{name} (not pinned)"


@pytest.fixture(scope="session")
def make(request) -> Callable[..., subprocess.CompletedProcess[str]]:
    own = ("MAKEFLAGS", "MAKELEVEL", "MFLAGS", "DEVICE", "NPU_ARCH", "VARIANT")
    env = {name: value for name, value in os.environ.items() if name not in own}
    env["ENGINE"] = request.config.getoption("--engine")

    def run(*arguments: str, **how) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["make", "--no-print-directory", *arguments],
            cwd=REPOSITORY,
            env=env,
            **how,
            capture_output=True,
            text=True,
            timeout=1800,
            check=False,
        )

    return run
