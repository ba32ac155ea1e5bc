# SPDX-License-Identifier: Apache-2.0
"""The front door: what make lists, what it refuses, and that it does nothing twice."""

import os
import re
import subprocess
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
MAKEFILE = (REPOSITORY / "Makefile").read_text(encoding="utf-8")


def make(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    # A make that runs these tests must not reach into the one under test.
    own = ("MAKEFLAGS", "MAKELEVEL", "MFLAGS", "DEVICE", "NPU_ARCH", "VARIANT", "BUILDING")
    env = {k: v for k, v in os.environ.items() if k not in own} | variables
    command = ["make", "--no-print-directory", *arguments]
    return subprocess.run(
        command, cwd=REPOSITORY, env=env, capture_output=True, text=True, check=False
    )


def test_bare_make_lists_every_target_with_its_purpose() -> None:
    done = make()
    assert done.returncode == 0
    lines = (line for line in done.stdout.splitlines() if not line.startswith("variables"))
    listed = dict(line.split(maxsplit=1) for line in lines)
    targets = set(re.findall(r"^\.PHONY: (\S+)$", MAKEFILE, re.MULTILINE)) - {"always", "forget"}
    assert set(listed) == targets
    assert {"env", "build", "install", "matrix", "test", "lint", "format", "lock"} <= targets
    assert done.stdout.splitlines()[-1].startswith("variables: DEVICE=auto|host|npu, NPU_ARCH=")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        pytest.param(
            ["build", "VARIANT=cuda"],
            "VARIANT: expected both, pybind or lib, got 'cuda'",
            id="unknown-variant",
        ),
        pytest.param(
            ["build", "VARIANT=pybind lib"],
            "VARIANT: expected both, pybind or lib, got 'pybind lib'",
            id="two-variants",
        ),
        pytest.param(
            ["matrix", "DEVICE=gpu"],
            "DEVICE: expected auto, host, npu, got 'gpu'",
            id="unknown-device",
        ),
        pytest.param(
            ["matrix", "NPU_ARCH=dav-1"],
            "expected NPU_ARCH to be one of dav-2002, dav-2201, dav-3510, got 'dav-1'",
            id="unknown-arch",
        ),
        pytest.param(
            ["test", "PYTHON=python3.0"],
            "bootstrap: PYTHON: expected Python 3.11, got 'python3.0', which is not there",
            id="unknown-python",
        ),
        pytest.param(
            ["docker-build", "PYTHON=python3.0"],
            "PYTHON: expected Python 3.11 or later, got 'python3.0', which is not there; "
            "install python3.11",
            id="unknown-python-of-the-scripts",
        ),
    ],
)
def test_a_wrong_variable_lists_the_right_values(arguments: list[str], sentence: str) -> None:
    done = make(*arguments)
    assert done.returncode == 2
    assert sentence in done.stderr
    assert done.stdout == ""


@pytest.mark.skipif(any(Path("/dev").glob("davinci[0-9]*")), reason="this machine has an NPU")
@pytest.mark.parametrize("target", ["build", "matrix", "test"])
def test_npu_on_a_machine_without_one_is_refused(target: str) -> None:
    done = make(target, "DEVICE=npu")
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.splitlines()[0] == (
        "DEVICE=npu: expected /dev/davinci0 and /dev/davinci_manager, /dev/devmm_svm, "
        "/dev/hisi_hdc, "
        "got none: builds work, runs do not; run on an Ascend host, pass the nodes into the "
        "container, "
        "or use DEVICE=host"
    )


def test_what_is_built_is_not_built_again() -> None:
    first = make("install")
    assert first.returncode == 0, first.stderr
    again = make("install")
    assert again.stdout.splitlines()[1:] == []


WRAPPERS = {"wheel-pybind", "wheel-lib"}


@pytest.mark.parametrize(
    ("file", "expected"),
    [
        ("csrc/ascendc_add.cpp", WRAPPERS),
        ("ci/tree.sh", WRAPPERS | {"hostcann"}),
        ("ci/wheel.sh", WRAPPERS | {"wheel-env", "wheel-hostcann"}),
        ("ci/hostcann.sh", {"hostcann"}),
        ("versions.toml", WRAPPERS | {"hostcann", "wheel-env"}),
        ("python/ascendc-env/ascendc_env/mismatch.py", WRAPPERS | {"wheel-env"}),
        ("python/ascendc-env/ascendc_env/machine.py", {"wheel-env"}),
        ("hostcann/include/kernel_operator.h", WRAPPERS | {"hostcann"}),
        ("hostcann/src/stream.cpp", {"hostcann"}),
        ("python/hostcann/hostcann/__init__.py", {"wheel-hostcann"}),
        ("README.md", set()),
    ],
)
def test_what_is_built_depends_on_what_it_is_made_from(
    needs: dict[str, list[str]], file: str, expected: set[str]
) -> None:
    assert {name for name, inputs in needs.items() if file in inputs} == expected


@pytest.fixture(scope="module")
def needs() -> dict[str, list[str]]:
    """What make says of its own rules."""
    said = make("--print-data-base", "--dry-run", "build", "build/done/wheel-env", "DEVICE=host")
    rules = re.findall(r"^build/done/([\w-]+): (.*)$", said.stdout, re.MULTILINE)
    return {name: inputs.partition("|")[0].split() for name, inputs in rules if name != "device"}


def test_the_cache_survives_distclean() -> None:
    done = make("--dry-run", "distclean")
    assert done.stdout.splitlines() == ["rm -rf build", "rm -rf .venv"]
