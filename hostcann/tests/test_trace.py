# SPDX-License-Identifier: Apache-2.0
"""HOSTCANN_TRACE: what ran where and when, for a viewer of Chrome's trace format."""

import json
import os
import re
import subprocess
import sys

import pytest

PROGRAM = """
import ctypes, os, signal, sys, time
acl = ctypes.CDLL(sys.argv[1])
u32, pointer = ctypes.c_uint32, ctypes.c_void_p
RunBlock = ctypes.CFUNCTYPE(ctypes.c_int, pointer, u32, u32, pointer)
HostFunction = ctypes.CFUNCTYPE(None, pointer)

class Launch(ctypes.Structure):
    _fields_ = [("abi", u32), ("kernel", ctypes.c_char_p), ("blocks", u32),
                ("closure", pointer), ("run_block", RunBlock), ("destroy", pointer)]

def call(name, *arguments):
    assert getattr(acl, name)(*arguments) == 0, name

def made(create, *arguments):
    handle = pointer()
    call(create, ctypes.byref(handle), *arguments)
    return handle

SIZE = ctypes.c_size_t(64)
call("aclrtSetDevice", 1)
device = made("aclrtMalloc", SIZE, 0)
pinned = made("aclrtMallocHost", SIZE)
first, second = made("aclrtCreateStream"), made("aclrtCreateStream")
event = made("aclrtCreateEvent")
call("aclrtMemcpy", device, SIZE, pinned, SIZE, 1)
run_block = RunBlock(lambda closure, block, blocks, fault: 0)

@HostFunction
def work(argument):
    end = time.perf_counter() + 0.02
    while time.perf_counter() < end:
        pass

scale = Launch(int(sys.argv[2]), b'scale<"x">', 5, None, run_block)
call("hostcann_launch", ctypes.byref(scale), first)
call("aclrtLaunchHostFunc", first, work, None)
call("aclrtRecordEvent", event, first)
call("aclrtStreamWaitEvent", second, event)
call("aclrtMemcpyAsync", pinned, SIZE, device, SIZE, 2, second)
call("aclrtMemsetAsync", device, SIZE, 0, SIZE, second)
call("aclrtSynchronizeDevice")
if sys.argv[3:] == ["killed"]:
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def traced(prefix, tmp_path):
    header = (prefix / "include" / "hostcann" / "launch.h").read_text()
    (abi,) = re.findall(r"define HOSTCANN_LAUNCH_ABI (\d+)", header)

    def run(*arguments, name="trace.json"):
        library = prefix / "lib64" / "libascendcl.so"
        subprocess.run(
            [sys.executable, "-c", PROGRAM, library, abi, *arguments],
            env=os.environ | {"HOSTCANN_TRACE": str(tmp_path / name)},
            timeout=60,
            check=not arguments,
        )
        (file,) = tmp_path.iterdir()
        return json.loads(file.read_text())

    return run


def bars(trace, row):
    """Name -> (start, end, arguments) of what stands on a row."""
    (label,) = [e for e in trace if e["name"] == "thread_name" and e["args"]["name"] == row]
    found = [e for e in trace if e["ph"] == "X" and (e["pid"], e["tid"]) == (1, label["tid"])]
    return {e["name"]: (e["ts"], e["ts"] + e["dur"], e["args"]) for e in found}


def test_every_stream_has_a_row_with_its_work(traced):
    trace = traced()
    devices = [e["args"]["name"] for e in trace if e["name"] == "process_name"]
    assert devices == ["device 1: Ascend910B1 on the CPU"]
    rows = sorted(e["args"]["name"] for e in trace if e["name"] == "thread_name")
    assert rows[0] == "calls that wait"
    assert len(rows) == 3
    calls, first, second = (bars(trace, row) for row in rows)
    assert calls["copy host to device"][2] == {"bytes": 64}
    assert {name: found[2] for name, found in first.items()} == {
        'scale<"x">': {"blocks": 5},
        "host function": {},
        "record event": first["record event"][2],
    }
    assert first["record event"][2].keys() == {"event"}
    assert {name: found[2] for name, found in second.items()} == {
        "wait for event": first["record event"][2],
        "copy device to host": {"bytes": 64},
        "fill": {"bytes": 64},
    }


def test_its_times_are_those_of_the_work(traced):
    trace = traced()
    rows = sorted(e["args"]["name"] for e in trace if e["name"] == "thread_name")
    first, second = bars(trace, rows[1]), bars(trace, rows[2])
    start, end, _ = first["host function"]
    assert end - start >= 20000
    assert first['scale<"x">'][1] <= start
    assert second["copy device to host"][0] >= first["record event"][0] >= end


def test_it_opens_after_the_process_was_killed(traced):
    assert "fill" in [event["name"] for event in traced("killed")]


def test_each_process_may_have_a_file_of_its_own(traced, tmp_path):
    traced(name="trace-%p.json")
    (file,) = tmp_path.iterdir()
    assert file.stem.removeprefix("trace-").isdigit()
