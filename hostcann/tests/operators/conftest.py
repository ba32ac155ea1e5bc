# SPDX-License-Identifier: Apache-2.0
"""The sweep needs processes of its own: torch_npu initialises its device once, with one queue mode.

test_processes.py starts them; pytest hostcann/tests/operators --task-queue=0 is one by hand.
"""

import os

import pytest

FIRST_FILE = "test_processes.py"
# Where errors are raised at the call only without a queue, or where a queue makes no difference.
WITHOUT_QUEUE = ("test_pending.py", "test_refusals.py", "test_harness.py")


def pytest_addoption(parser):
    group = parser.getgroup("operators")
    group.addoption(
        "--task-queue", choices=["0", "1", "2"], help="run the rows, with this TASK_QUEUE_ENABLE"
    )
    group.addoption(
        "--rows", choices=["all", "core"], default="all", help="which rows; core is a short list"
    )


def pytest_configure(config):
    # torch_npu says this once, of a copy of any strided tensor from the CPU: of whichever is first.
    config.addinivalue_line(
        "filterwarnings", "ignore:Cannot create tensor with internal format:UserWarning"
    )
    mode = config.getoption("--task-queue", None)
    if mode:
        # Read by torch_npu when it is imported, which collecting the rows does.
        os.environ["TASK_QUEUE_ENABLE"] = mode


def pytest_ignore_collect(collection_path, config):
    mode = config.getoption("--task-queue", None)
    name = collection_path.name
    if name.startswith("test_") and (name == FIRST_FILE) == bool(mode):
        return True
    if mode in ("1", "2") and name in WITHOUT_QUEUE:
        return True
    return None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item):
    report = yield
    if report.failed and item.config.getoption("--task-queue", None) and (why := broken()):
        # Every later row would fail too, and say nothing.
        item.session.shouldfail = f"the device is broken after {item.nodeid}: {why}"
    return report


def pytest_terminal_summary(terminalreporter):
    """What the processes ran, which pytest counts as one test each."""
    for report in terminalreporter.getreports("passed"):
        for name, value in report.user_properties:
            if name == "sweep":
                terminalreporter.write_line(value)


def broken() -> str:
    """Why no row can run in this process any more: a stream with a fault refuses what follows."""
    import torch

    try:
        numbers = torch.arange(5.0)
        if not numbers.to("npu:0").cpu().equal(numbers):
            return "copies arrive wrong"
        torch.npu.synchronize()
    except (RuntimeError, AssertionError) as error:
        return str(error).splitlines()[0]
    return ""


@pytest.fixture(scope="session")
def npu(prefix):
    import torch
    import torch_npu  # noqa: F401 registers the device

    assert prefix, "hostcann is what the rows run on"
    return torch.device("npu:0")


@pytest.fixture
def seeded(npu):
    """Random numbers of the device, from a seed that each test has for itself."""
    import torch

    torch.npu.manual_seed(2026)
    return npu
