# SPDX-License-Identifier: Apache-2.0
"""The sweep in every TASK_QUEUE_ENABLE: all rows without a queue, the core rows with each queue."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
SHOWN_LINES = 60


@pytest.mark.parametrize(
    ("mode", "rows", "least"),
    [
        # Without a queue an error is raised at its call and the process goes on.
        pytest.param("0", "all", 4000, id="all-rows-without-queue"),
        pytest.param("1", "core", 250, id="core-rows-in-queue-1"),
        pytest.param("2", "core", 250, id="core-rows-in-queue-2"),
    ],
)
def test_sweep(prefix, mode, rows, least, record_property):
    assert prefix, "hostcann is what the rows run on"
    command = [sys.executable, "-m", "pytest", "-q", "--tb=short", "-p", "no:cacheprovider"]
    options = [f"--task-queue={mode}", f"--rows={rows}"]
    done = subprocess.run(
        [*command, *options, str(HERE)], capture_output=True, text=True, timeout=900, check=False
    )
    ending = "\n".join((done.stdout + done.stderr).splitlines()[-SHOWN_LINES:])
    assert done.returncode == 0, ending
    passed = re.search(r"(\d+) passed", done.stdout)
    # Rows that were lost on the way are no success.
    assert passed, ending
    assert int(passed[1]) >= least, ending
    assert "skipped" not in ending
    record_property("sweep", f"TASK_QUEUE_ENABLE={mode}, {rows} rows: {passed[1]} passed, 0 failed")


REFUSED = """
import sys, torch, torch_npu
x = torch.ones(3, dtype=torch.uint8).to("npu:0")
where = "the call"
try:
    torch.exp(x)
    where = "the synchronisation"
    torch.npu.synchronize()
except RuntimeError as error:
    print(where, "aclnnExp" in str(error))
"""


@pytest.mark.parametrize(
    ("mode", "places"),
    [
        pytest.param("1", ["the call"], id="queue-1"),
        # The queue's thread refuses, before or after the call has returned.
        pytest.param("2", ["the call", "the synchronisation"], id="queue-2"),
    ],
)
def test_a_refusal_under_a_queue_names_its_function(prefix, mode, places):
    assert prefix, "hostcann is what refuses"
    done = subprocess.run(
        [sys.executable, "-c", REFUSED],
        env=os.environ | {"TASK_QUEUE_ENABLE": mode},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    where = done.stdout.strip()
    assert where in [f"{place} True" for place in places], done.stdout + done.stderr


AFTERWARDS = """
import torch, torch_npu
x = torch.ones(3).to("npu:0")
try:
    {call}
    torch.npu.synchronize()
except RuntimeError:
    pass
for _ in range(3):
    try:
        print((x + 1).cpu())
    except RuntimeError:
        print("refused")
try:
    torch.npu.synchronize()
except RuntimeError as error:
    print("{name}" in str(error))
"""


@pytest.mark.parametrize(
    ("mode", "call", "name"),
    [
        pytest.param("1", "torch_npu.fast_gelu(x)", "FastGelu", id="aclop-queue-1"),
        pytest.param("2", "torch.exp(x.to(torch.uint8))", "aclnnExp", id="aclnn-queue-2"),
    ],
)
def test_nothing_comes_through_after_a_refusal_on_the_queue(prefix, mode, call, name):
    """torch_npu drops what is queued later and says so only once."""
    assert prefix, "hostcann is what refuses"
    done = subprocess.run(
        [sys.executable, "-c", AFTERWARDS.format(call=call, name=name)],
        env=os.environ | {"TASK_QUEUE_ENABLE": mode},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.stdout.split() == ["refused", "refused", "refused", "True"], done.stderr
