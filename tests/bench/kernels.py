# SPDX-License-Identifier: Apache-2.0
"""What hostcann costs: a kernel over sizes, a launch that is waited for, and a copy.

Against torch's own CPU kernel and against a plain loop over the same bytes; with the kernel's
checks as they are by default and with all of them.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import time
from pathlib import Path

import torch
import torch_npu  # noqa: F401

from bench.calls import load
from bench.measure import Figures, in_turn

KIB = 1024
SIZES = [16 * KIB * 4**step for step in range(8)]
BLOCKS = 8
EVERY_CHECK = "every check"


def seconds(work, times: int = 1) -> float:
    start = time.perf_counter()
    for _ in range(times):
        work()
    return (time.perf_counter() - start) / times


def size_name(size: int) -> str:
    return f"{size // KIB**2} MiB" if size >= KIB**2 else f"{size // KIB} KiB"


def kernel(native: Path):
    """stream_add on tensors, waited for."""
    add = ctypes.CDLL(str(native / "stream_add.so")).stream_add_impl
    add.argtypes = [ctypes.c_uint32, *[ctypes.c_void_p] * 4, ctypes.c_uint64]
    add.restype = None
    stream = torch.npu.current_stream()

    def run(x, y, z) -> None:
        add(BLOCKS, stream.npu_stream, x.data_ptr(), y.data_ptr(), z.data_ptr(), z.numel())
        stream.synchronize()

    return run


def throughput(figures: Figures, native: Path, size: int, rounds: int) -> None:
    add = kernel(native)
    loop = ctypes.CDLL(str(native / "plain_loop.so")).plain_add
    loop.argtypes = [*[ctypes.c_void_p] * 3, ctypes.c_uint64]
    x, y, z = (torch.rand(size // 4) for _ in range(3))
    device_x, device_y, device_z = (tensor.to("npu:0") for tensor in (x, y, z))
    pointers = (x.data_ptr(), y.data_ptr(), z.data_ptr(), z.numel())
    times = max(1, 4 * KIB**2 // size)

    def checked(checks: str) -> float:
        os.environ["HOSTCANN_CHECK"] = checks
        return seconds(lambda: add(device_x, device_y, device_z), times)

    values = in_turn(
        {
            "hostcann kernel": lambda: checked(""),
            f"hostcann kernel, {EVERY_CHECK}": lambda: checked("all"),
            "torch CPU": lambda: seconds(lambda: torch.add(x, y, out=z), times),
            "torch CPU, one thread": lambda: one_thread(
                lambda: seconds(lambda: torch.add(x, y, out=z), times)
            ),
            "plain loop": lambda: seconds(lambda: loop(*pointers), times),
        },
        rounds,
    )
    torch.testing.assert_close(device_z.cpu(), x + y)
    figures.add(f"kernel/{size_name(size)}", values, "torch CPU")


def one_thread(take) -> float:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        return take()
    finally:
        torch.set_num_threads(before)


def launches(figures: Figures, native: Path, rounds: int) -> None:
    """The smallest kernel and torch's own, waited for each time."""
    add = kernel(native)
    x, y, z = (torch.rand(2048, device="npu:0") for _ in range(3))
    stream = torch.npu.current_stream()

    def torch_add() -> None:
        torch.add(x, y, out=z)
        stream.synchronize()

    values = in_turn(
        {
            "kernel": lambda: seconds(lambda: add(x, y, z), 25),
            "torch.add on npu": lambda: seconds(torch_add, 25),
            "nothing": lambda: seconds(stream.synchronize, 25),
        },
        rounds,
    )
    figures.add("launch and synchronise", values, "torch.add on npu")


def placing(figures: Figures, native: Path, rounds: int) -> None:
    """A launch alone, in a loop of C++; fewer at once than a stream holds."""
    load(native, "real")
    x, y = (torch.rand(8, 2048, device="npu:0") for _ in range(2))
    times = 100

    def launch() -> float:
        seconds = torch.ops.bench.step_seconds(x, y, "launch", times) / times
        torch.npu.synchronize()
        return seconds

    figures.add("launch", in_turn({"kernel": launch}, rounds))


def copies(figures: Figures, rounds: int) -> None:
    size = 64 * KIB**2
    host, other = torch.rand(size // 4), torch.rand(size // 4)
    device = host.to("npu:0")
    values = in_turn(
        {
            "to the device": lambda: seconds(lambda: device.copy_(host)),
            "from the device": lambda: seconds(lambda: host.copy_(device)),
            "CPU to CPU": lambda: one_thread(lambda: seconds(lambda: other.copy_(host))),
        },
        rounds,
    )
    figures.add("copy of 64 MiB", values, "CPU to CPU")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--native", type=Path, required=True, help="what CMake built")
    parser.add_argument("--rounds", type=int, required=True)
    parser.add_argument("--output", type=Path, required=True)
    options = parser.parse_args()
    figures = Figures()
    for size in SIZES:
        # The large ones take long and vary little.
        throughput(figures, options.native, size, max(5, options.rounds // (1 + size // KIB**2)))
    placing(figures, options.native, options.rounds)
    launches(figures, options.native, options.rounds)
    copies(figures, max(5, options.rounds // 4))
    figures.write(options.output)


if __name__ == "__main__":
    main()
