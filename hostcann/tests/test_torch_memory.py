# SPDX-License-Identifier: Apache-2.0
"""torch_npu's caching allocator on the runtime's memory, each way in a process of its own."""

import os
import subprocess
import sys

import pytest

PROGRAM = """
import gc, sys
import torch, torch_npu

MIB = 1 << 20


def bytes_on_device(mib):
    return torch.empty(mib * MIB, dtype=torch.uint8, device="npu:0")


def give_back():
    gc.collect()
    torch.npu.empty_cache()


free_at_start, total = torch.npu.mem_get_info()
assert total == 512 * MIB
several = [torch.full((mib * MIB // 4,), mib, device="npu:0") for mib in (4, 12, 36, 8)]
for mib, one in zip((4, 12, 36, 8), several):
    assert (one.cpu() == mib).all()
kinds = {segment["is_expandable"] for segment in torch.npu.memory_snapshot()}
# Uses what the two leave behind: with expandable segments across the border between two pieces.
del several[0], several[0]
wide = torch.full((28 * MIB // 4,), 7.0, device="npu:0")
assert (wide.cpu() == 7).all()
try:
    full = []
    while True:
        full.append(bytes_on_device(64))
except torch.OutOfMemoryError as error:
    print(str(error)[:37])
assert torch.npu.mem_get_info()[0] < 128 * MIB
del full
give_back()
again = bytes_on_device(256).fill_(3)
assert (again.cpu() == 3).all()
del again, wide, several, one
give_back()
torch.npu.synchronize()
assert torch.npu.mem_get_info()[0] == free_at_start
print(kinds)
"""


@pytest.mark.parametrize("expandable", [False, True])
def test_memory_runs_out_comes_back_and_adds_up(prefix, expandable):  # noqa: ARG001
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PROGRAM],
        env=os.environ
        | {
            "HOSTCANN_DEVICE_MEMORY": "512M",
            "PYTORCH_NPU_ALLOC_CONF": f"expandable_segments:{expandable}",
        },
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "NPU out of memory. Tried to allocate ",
        f"{{{expandable}}}",
    ]


PROCESSES = """
import multiprocessing, sys
import torch, torch_npu


def use_the_device(queue):
    try:
        queue.put(float(torch.ones(4).to("npu:0").sum()))
    except RuntimeError as error:
        queue.put(str(error))


if __name__ == "__main__":
    torch.ones(4).to("npu:0")
    for method in ("fork", "spawn"):
        context = multiprocessing.get_context(method)
        queue = context.Queue()
        child = context.Process(target=use_the_device, args=(queue,))
        child.start()
        print(method, queue.get(timeout=200))
        child.join()
        print(child.exitcode)
    print(float(torch.ones(4).to("npu:0").sum()))
"""


def test_a_forked_child_is_told_to_spawn_and_a_spawned_one_works(prefix, tmp_path):  # noqa: ARG001
    program = tmp_path / "processes.py"
    program.write_text(PROCESSES)
    done = subprocess.run(
        [sys.executable, "-W", "ignore", program],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert "spawn" in lines[0], done.stdout
    assert lines[-4:] == ["0", "spawn 4.0", "0", "4.0"]
