# SPDX-License-Identifier: Apache-2.0
"""The sweep needs processes of its own: torch_npu initialises its device once, with one queue mode.

test_processes.py starts them; pytest hostcann/tests/operators --task-queue=0 is one by hand.
"""

import os

import pytest

FIRST_FILE = "test_processes.py"


def pytest_addoption(parser):
    group = parser.getgroup("operators")
    group.addoption(
        "--task-queue", choices=["0", "1", "2"], help="run the rows, with this TASK_QUEUE_ENABLE"
    )
    group.addoption(
        "--rows", choices=["all", "core"], default="all", help="which rows; core is a short list"
    )


def pytest_configure(config):
    mode = config.getoption("--task-queue", None)
    if mode:
        # Read by torch_npu when it is imported, which collecting the rows does.
        os.environ["TASK_QUEUE_ENABLE"] = mode


def pytest_ignore_collect(collection_path, config):
    mode = config.getoption("--task-queue", None)
    name = collection_path.name
    if name.startswith("test_") and (name == FIRST_FILE) == bool(mode):
        return True
    return None


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
