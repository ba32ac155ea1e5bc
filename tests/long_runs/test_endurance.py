# SPDX-License-Identifier: Apache-2.0
"""Many calls, many threads: results stay right, and host, device, handles and threads stay flat.

`make long-runs` makes a million calls per variant and records the figures; make test fewer.
"""

import json
import os
import subprocess
import sys
from contextlib import nullcontext

import built
import pytest
from matrix import hardening

LONG = "LONG_RUN_CALLS" in os.environ
CALLS = int(os.environ.get("LONG_RUN_CALLS", "20000"))
VARIANTS = ("pybind", "lib")

BEGINNING = """
import json, os, sys, threading
import torch, torch_npu, ascendc_ops, ascendc_ops_lib

variant, calls = sys.argv[1], int(sys.argv[2])
op = {"pybind": ascendc_ops.ascendc_add, "lib": torch.ops.ascendc_ops.ascendc_add}[variant]
"""

# A window of results lives at a time, as in a program that uses them; each is looked at once.
ENDURANCE = """
from pathlib import Path


def state():
    torch.npu.synchronize()
    status = dict(
        line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines()
    )
    return {
        "host bytes": int(status["VmRSS"].split()[0]) * 1024,
        "threads": int(status["Threads"]),
        "handles": len(os.listdir("/proc/self/fd")),
        "device bytes in use": torch.npu.memory_allocated(),
        "device bytes held": torch.npu.memory_reserved(),
        "references": sys.getrefcount(x) + sys.getrefcount(op),
    }


values = torch.arange(8 * 2048, dtype=torch.float32).reshape(8, 2048)
x, y = values.npu(), (values * -0.25).npu()
wrong = x.half()
window, made, refusals = [None] * 16, 0, 0


def run(times):
    global made, refusals
    for number in range(times):
        window[number % len(window)] = op(x, y)
        made += 1
        if number % 64 == 0:
            try:
                op(x, wrong)
            except RuntimeError:
                refusals += 1
        if number % 512 == 0:
            torch.npu.synchronize()
        if number % 4096 == 0:
            assert window[0].cpu().equal(values * 0.75), number


run(max(calls // 10, 4096))
states = [state()]
for _ in range(4):
    run(calls // 4)
    states.append(state())
assert all(z.cpu().equal(values * 0.75) for z in window)
print(json.dumps({"states": states, "calls": made, "refusals": refusals}))
"""

THREADS = """
import itertools

results, problems = {}, []
barrier = threading.Barrier(8)


def work(number):
    try:
        device = number % 2
        torch.npu.set_device(device)
        generator = torch.Generator().manual_seed(number)
        values = torch.randn(8, 2048, generator=generator)
        stream = torch.npu.Stream()
        barrier.wait()
        with torch.npu.stream(stream):
            x = values.to(f"npu:{device}")
            total = x
            expected = values
            for _ in range(calls):
                total = op(total, x)
                expected = expected + values
            got = total.cpu()
        assert total.device.index == device, total.device
        assert got.equal(expected), f"thread {number}: {int((got != expected).sum())} wrong"
        assert torch.npu.current_device() == device
        results[number] = True
    except BaseException as error:
        problems.append(repr(error))


threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(json.dumps({"right": len(results), "problems": problems}))
"""


def run(program, variant, calls):
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", BEGINNING + program, variant, str(calls)],
        capture_output=True,
        text=True,
        timeout=3600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def grown(told):
    """What was counted, and how much more there was of each thing at the end than at first."""
    first, last = told["states"][0], told["states"][-1]
    growth = {f"more {name}": last[name] - first[name] for name in first}
    return {"calls": told["calls"], "refusals": told["refusals"], **growth}


def recorded(name, figures):
    return hardening.recording(name, built.revision(), figures) if LONG else nullcontext()


@pytest.mark.parametrize("variant", VARIANTS)
def test_calls_leave_nothing_behind(variant):
    figures = {}
    with recorded(f"long run of {variant}", figures):
        told = run(ENDURANCE, variant, CALLS)
        figures.update(grown(told))
        first, *later = told["states"]
        assert told["calls"] >= CALLS
        assert told["refusals"] >= CALLS // 64
        for state in later:
            # Malloc's arenas and Python's free lists breathe; 1 byte per call shows beyond that.
            assert state["host bytes"] <= first["host bytes"] + (8 << 20) + CALLS
            # torch's pools and hostcann's have theirs by now, but for one not needed yet.
            assert state["threads"] <= first["threads"] + 4
            exact = first.keys() - {"host bytes", "threads"}
            assert {name: state[name] for name in exact} == {name: first[name] for name in exact}


@pytest.mark.parametrize("variant", VARIANTS)
def test_eight_threads_on_two_devices_with_streams_of_their_own(variant):
    calls = max(CALLS // 100, 50)
    figures = {"threads": 8, "calls in each": calls}
    with recorded(f"threads of {variant}", figures):
        told = run(THREADS, variant, calls)
        figures["right"] = told["right"]
        assert told == {"right": 8, "problems": []}
