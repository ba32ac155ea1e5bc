# SPDX-License-Identifier: Apache-2.0
"""Every runtime call between an operator's allocation and its result fails once, on hostcann.

Each time Python gets an exception with the error's code, the inputs keep their values and the next
call is right.
"""

import json
import os
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import built
import pytest
from matrix import hardening

HOSTCANN = Path(os.environ["ASCEND_HOME_PATH"], "hostcann-version")
pytestmark = pytest.mark.skipif(not HOSTCANN.is_file(), reason="hostcann plans the faults")

PROGRAM = """
import json, os, sys
import torch, torch_npu, ascendc_ops, ascendc_ops_lib

op = {"pybind": ascendc_ops.ascendc_add, "lib": torch.ops.ascendc_ops.ascendc_add}[sys.argv[1]]
values = torch.arange(8 * 2048, dtype=torch.float32).reshape(8, 2048)
x, y = values.npu(), (values * -0.25).npu()
torch.npu.synchronize()


def stage(name):
    os.write(2, f"stage: {name}\\n".encode())


def path():
    stage("stream")
    stream = torch.npu.Stream()
    with torch.npu.stream(stream):
        stage("call")
        z = op(x, y)
        stage("synchronise")
        stream.synchronize()
    torch.npu.synchronize()
    stage("read")
    result = z.cpu()
    stage("end")
    return result


def outcome(work):
    try:
        return "right" if work() else "wrong"
    except Exception as error:
        return f"{type(error).__name__}: {error}"


print(json.dumps({
    "first": outcome(lambda: path().equal(values * 0.75)),
    "inputs": outcome(lambda: x.cpu().equal(values) and y.cpu().equal(values * -0.25)),
    "again": outcome(lambda: path().equal(values * 0.75)),
}))
"""
CODE = "507000"
# torch_npu's own thread goes on without it, and the device is the right one all the same.
UNTOLD = {"aclrtSetDevice"}


def run(program, *arguments, **environment):
    return subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program, *arguments],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def calls_of_the_path():
    """(stage, function, which call of it in the process), as hostcann's log tells them.

    Of many calls of one function in a stage the last.
    """
    done = run(PROGRAM, "lib", HOSTCANN_LOG="trace")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {"first": "right", "inputs": "right", "again": "right"}
    made, stage, found = Counter(), None, {}
    for line in done.stderr.splitlines():
        kind, _, what = line.partition(": ")
        if kind == "stage":
            stage = what
        elif kind == "hostcann" and what.isidentifier():
            made[what] += 1
            if stage not in (None, "end"):
                found[stage, what] = made[what]
        if stage == "end":
            break
    return [(*of, number) for of, number in found.items()]


def as_it_should_be(variant, function, number):
    """What is told when this call fails, and whether that is right."""
    allocates = "Malloc" in function
    # torch_npu gives its cached blocks back and asks once more.
    numbers = (number, number + 1) if allocates else (number,)
    fault = ",".join(f"{function}:{each}" for each in numbers)
    done = run(PROGRAM, variant, HOSTCANN_FAULT=fault)
    if done.returncode:
        return False, done.stderr[-2000:]
    told = json.loads(done.stdout)
    if allocates:
        first = told["first"].startswith("OutOfMemoryError: NPU out of memory")
    elif function in UNTOLD:
        first = told["first"] == "right"
    else:
        first = told["first"].startswith("RuntimeError: ") and CODE in told["first"]
    later = told["inputs"] == told["again"] == "right"
    return first and later, told


def test_every_fault_is_an_exception_that_passes():
    figures = {}
    with hardening.recording("faults", built.revision(), figures):
        calls = calls_of_the_path()
        stages = {stage for stage, _, _ in calls}
        assert stages == {"stream", "call", "synchronise", "read"}, calls
        assert {"hostcann_launch", "aclrtMallocAlign32"} <= {function for _, function, _ in calls}
        cases = [("lib", function, number) for _, function, number in calls]
        cases += [
            ("pybind", function, number) for stage, function, number in calls if stage == "call"
        ]
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            outcomes = list(pool.map(lambda case: as_it_should_be(*case), cases))
        wrong = [
            (*case, told) for case, (right, told) in zip(cases, outcomes, strict=True) if not right
        ]
        figures["faults"] = len(outcomes)
        figures["functions"] = len({function for _, function, _ in cases})
        figures["not as documented"] = len(wrong)
        assert not wrong, json.dumps(wrong, indent=1)


OUT_OF_MEMORY = """
import torch, torch_npu, ascendc_ops, ascendc_ops_lib

values = torch.ones(8, 2048)
x = values.npu()
for op in (ascendc_ops.ascendc_add, torch.ops.ascendc_ops.ascendc_add):
    held, results = [], []
    try:
        while True:
            held.append(torch.empty(2 << 20, dtype=torch.uint8, device="npu:0"))
    except torch.OutOfMemoryError:
        pass
    try:
        while True:
            results.append(op(x, x))
    except torch.OutOfMemoryError as error:
        print(str(error)[:37])
    torch.npu.synchronize()
    assert all(z.cpu().eq(2).all() for z in results), "expected the results before it unharmed"
    assert x.cpu().equal(values), "expected the inputs unharmed"
    del held, results
    torch.npu.empty_cache()
    assert op(x, x).cpu().eq(2).all(), "expected the next call to be right"
"""


def test_memory_that_ran_out_comes_back():
    done = run(OUT_OF_MEMORY, HOSTCANN_DEVICE_MEMORY="64M")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["NPU out of memory. Tried to allocate "] * 2


# The kernel starts late; its input is taken from under it meanwhile.
KERNEL_FAULT = """
import ctypes, os, sys
import torch, torch_npu, ascendc_ops_lib

x = torch.ones(8, 2048, device="npu:0")
torch.npu.synchronize()
z = torch.ops.ascendc_ops.ascendc_add(x, x)
print("the call returned")
acl = ctypes.CDLL("libascendcl.so")
assert acl.aclrtFree(ctypes.c_void_p(x.data_ptr())) == 0
for _ in range(2):
    try:
        torch.npu.synchronize()
        print("no error")
    except RuntimeError as error:
        print(str(error).splitlines()[-1])
sys.stdout.flush()
# What was freed here would be freed again.
os._exit(0)
"""


def test_a_fault_of_the_kernel_is_told_by_synchronising():
    done = run(KERNEL_FAULT, HOSTCANN_STREAM_DELAY_US="300000")
    lines = done.stdout.splitlines()
    assert lines[0] == "the call returned", done.stderr
    # It stays until the device is reset: no result that was computed after it looks good.
    assert len(lines) == 3
    for line in lines[1:]:
        assert "kernel 'add_custom', block " in line
        assert "expected src (GlobalTensor) to be in device memory" in line
