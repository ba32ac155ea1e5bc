# SPDX-License-Identifier: Apache-2.0
"""What a call costs the caller, in this process's mode of torch_npu's task queue.

Every way into the operator, and what a user would pick instead, on the same tensors: with an empty
queue and with an operation queued before each call, from one thread and from two.
"""

from __future__ import annotations

import argparse
import ctypes
import functools
import importlib.util
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path

from bench.measure import Figures, in_turn

# Short, so that few batches are interrupted, and fewer than a stream or torch_npu's queue holds.
BATCH = 25
# What every call checks, by the names of csrc/check.h; of both arguments where there are two.
CHECKS = ("on_npu", "same_device", "dtype", "strided", "shape", "contiguous", "materialised")
CHECKS += ("no_grad", "format_nd", "output_format_nd")
STEPS = (*CHECKS, "direct_call", "device_guard", "empty", "apply_tensor", "stream")
STEPS += ("stream_false", "queue")
BASELINE = "sample, pybind"


def load(native: Path, launch: str) -> dict[str, Callable]:
    """Every way to add two tensors, by the name it has in the report."""
    if launch == "none":
        # By its SONAME this is the kernels library of whatever is loaded after it.
        ctypes.CDLL(str(native / "libascendc_kernels.so"), mode=ctypes.RTLD_GLOBAL)
    import ascendc_ops
    import ascendc_ops_lib  # noqa: F401
    import torch

    for library in ("sample_library.so", "launches.so"):
        torch.ops.load_library(native / library)
    (file,) = native.glob("sample_pybind*.so")
    spec = importlib.util.spec_from_file_location("sample_pybind", file)
    sample = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(sample)
    return {
        "pybind": ascendc_ops.ascendc_add,
        "lib": torch.ops.ascendc_ops.ascendc_add,
        "sample, pybind": sample.add,
        "sample, lib": torch.ops.bench_sample.add,
        "torch.add": torch.add,
        "drained, unchecked": torch.ops.bench.add_drained,
        "queued, unchecked": torch.ops.bench.add_queued,
    }


def batch(call: Callable, before: Callable | None, x, y) -> float:
    start = time.perf_counter()
    if before is None:
        for _ in range(BATCH):
            call(x, y)
    else:
        for _ in range(BATCH):
            before()
            call(x, y)
    return time.perf_counter() - start


class Threads:
    """Workers that stay: a new thread's first call sets its device up."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.gate = threading.Barrier(number + 1)
        self.work: Callable | None = None
        for _ in range(number):
            threading.Thread(target=self.serve, daemon=True).start()

    def serve(self) -> None:
        while True:
            self.gate.wait()
            self.work()
            self.gate.wait()

    def seconds(self, work: Callable) -> float:
        """Until all of them have done `work`."""
        self.work = work
        self.gate.wait()
        start = time.perf_counter()
        self.gate.wait()
        return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--native", type=Path, required=True, help="what CMake built")
    parser.add_argument("--launch", choices=["none", "real"], required=True)
    parser.add_argument("--rounds", type=int, required=True)
    parser.add_argument("--output", type=Path, required=True)
    options = parser.parse_args()
    calls = load(options.native, options.launch)
    import torch

    queue = os.environ["TASK_QUEUE_ENABLE"]
    x = torch.rand(8, 2048, device="npu:0")
    y = torch.rand(8, 2048, device="npu:0")
    out = torch.empty_like(x)

    def queued() -> None:
        torch.mul(x, y, out=out)

    figures = Figures()
    where = f"call/launch {options.launch}/queue {queue}"
    two = Threads(2)

    def per_call(call: Callable, before: Callable | None, threads: int) -> float:
        if threads == 1:
            seconds = batch(call, before, x, y)
        else:
            seconds = two.seconds(lambda: batch(call, before, x, y))
        # What it left on the device is waited for outside of the measurement.
        torch.npu.synchronize()
        return seconds / (BATCH * threads)

    for state, before in (("empty", None), ("queued work", queued)):
        for threads in (1, 2):
            subjects = {
                name: functools.partial(per_call, call, before, threads)
                for name, call in calls.items()
            }
            # A batch of two threads starts and ends with switches between them.
            values = in_turn(subjects, options.rounds // threads**2, warmups=3)
            figures.add(f"{where}/{state}, {threads} thread{'s' * (threads > 1)}", values, BASELINE)
    if options.launch == "none" and queue == "1":
        steps(figures, x, y, options.rounds)
    figures.write(options.output)


def steps(figures: Figures, x, y, rounds: int) -> None:
    """The operator's own steps, each in a loop of C++; the loop's cost is taken off."""
    import torch

    times = 2000
    seconds = torch.ops.bench.step_seconds
    names = ("nothing", *STEPS)
    values = in_turn(
        {name: lambda name=name: seconds(x, y, name, times) / times for name in names}, rounds
    )
    loop = values.pop("nothing")
    for name, taken in values.items():
        # pyperf takes nothing that is not positive, and a loop cannot tell less than this.
        values[name] = [max(one - two, 1e-12) for one, two in zip(taken, loop, strict=True)]
    figures.add("step", values, "empty")


if __name__ == "__main__":
    main()
