# SPDX-License-Identifier: Apache-2.0
"""What the doctor calls wrong, hostcann refuses."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from .rows import SELECTED_WRONGLY

COUNT = """
import ctypes, sys
count = ctypes.c_uint32()
print(ctypes.CDLL(sys.argv[1]).aclrtGetDeviceCount(ctypes.byref(count)), count.value)
"""


def count(selected: str) -> str:
    """The error code and the number of devices, of four."""
    if os.environ.get("DEVICE") == "npu":
        pytest.skip("on an NPU the toolkit is CANN, not hostcann")
    library = Path(os.environ["ASCEND_HOME_PATH"], "lib64", "libascendcl.so")
    env = os.environ | {"HOSTCANN_DEVICE_COUNT": "4", "ASCEND_RT_VISIBLE_DEVICES": selected}
    command = [sys.executable, "-c", COUNT, str(library)]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.mark.parametrize("value", [value for _, value, _ in SELECTED_WRONGLY])
def test_a_selection_that_the_doctor_calls_wrong_is_refused(value: str) -> None:
    assert count(value) == "100000 0"


@pytest.mark.parametrize("value", [right for *_, right in SELECTED_WRONGLY if right])
def test_the_selection_that_the_doctor_offers_is_taken(value: str) -> None:
    assert count(value) == f"0 {value.count(',') + 1}"
