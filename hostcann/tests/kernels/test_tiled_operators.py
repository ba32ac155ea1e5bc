# SPDX-License-Identifier: Apache-2.0
"""Kernels that are told how to cut their work, against torch, and the bugs planted in them."""

import ctypes
from pathlib import Path

import numpy
import pytest
import torch

HERE = Path(__file__).parent
VECTOR_CORE_EXCEPTION = 507035


@pytest.fixture(scope="module")
def operators(build_library):
    return build_library(HERE / "tiled_operators.asc", "-O1")


@pytest.mark.usefixtures("checks")
@pytest.mark.parametrize("blocks", [1, 4])
def test_add_by_queues(operators, memory, blocks):
    total = blocks * 512 * 5
    x, y = torch.randn(total).half(), torch.randn(total).half()
    z = memory.give(torch.zeros_like(x))
    operators.launch_add_by_queues(
        memory.stream, blocks, memory.give(x), memory.give(y), z, total, 0
    )
    assert memory.finish() == (0, "")
    assert torch.equal(memory.take(z, x), x + y)


@pytest.mark.usefixtures("checks")
@pytest.mark.parametrize("total", [1, 100, 1000, 3001])
def test_tail_block_and_tail_tile(operators, memory, total):
    x = torch.randn(total)
    z = memory.give(torch.zeros(total))
    operators.launch_scale_by_split(memory.stream, 7, memory.give(x), z, total, 0)
    assert memory.finish() == (0, "")
    assert torch.equal(memory.take(z, x), 3 * x)


@pytest.mark.usefixtures("checks")
@pytest.mark.parametrize("total", [1, 63, 64, 200, 4000])
def test_masked_chain(operators, memory, total):
    x = torch.randn(total) * 3
    z = memory.give(torch.zeros(total))
    operators.launch_masked_chain(memory.stream, memory.give(x), z, total, 0)
    assert memory.finish() == (0, "")
    wanted = (2 * x + 1).clamp(min=-4).square().clamp(max=9)
    assert torch.equal(memory.take(z, x), wanted)


@pytest.mark.usefixtures("checks")
def test_stable_sort(operators, memory):
    x = torch.randint(0, 60, (512,)).float()
    keys, order = memory.give(torch.zeros(512)), memory.give(torch.zeros(512))
    operators.launch_stable_sort(memory.stream, memory.give(x), keys, order, 0)
    assert memory.finish() == (0, "")
    wanted = torch.sort(x, descending=True, stable=True)
    assert torch.equal(memory.take(keys, x), wanted.values)
    assert torch.equal(memory.take(order, x.int()), wanted.indices.int())


def softmax_tiling(operators, memory, rows, columns):
    room = numpy.zeros(128, numpy.uint8)
    size = operators.softmax_tiling(ctypes.c_void_p(room.ctypes.data), room.size, rows, columns)
    return memory.give(torch.from_numpy(room[:size].copy()))


@pytest.mark.usefixtures("checks")
@pytest.mark.parametrize("shape", [(1, 8), (7, 64), (16, 200)])
def test_softmax_by_tiling(operators, memory, shape):
    x = torch.randn(shape)
    z = memory.give(torch.zeros(shape))
    tiling = softmax_tiling(operators, memory, *shape)
    operators.launch_softmax_by_tiling(memory.stream, memory.give(x), z, tiling, 0)
    assert memory.finish() == (0, "")
    torch.testing.assert_close(memory.take(z, x), x.softmax(1), rtol=1e-5, atol=1e-6)


# row: kernel, bug -> words of the sentence
BUGS = {
    ("add_by_queues", 1): ("DeQue: expected a tensor in VECIN queue 2, got an empty queue",),
    ("add_by_queues", 2): ("AllocTensor: expected a free buffer in VECIN queue 1",),
    ("scale_by_split", 1): ("DataCopyPad: expected src (GlobalTensor) to hold at least",),
    ("scale_by_split", 2): ("HardEvent::V_MTE3", "event 0"),
    ("masked_chain", 1): ("Muls: expected src to hold written data",),
    ("stable_sort", 1): ("MrgSort: expected src4 (LocalTensor) to hold at least 256 bytes",),
    ("stable_sort", 2): ("DataCopy: expected src to be read by MTE3 after the vector unit",),
    ("softmax_by_tiling", 1): ("SoftMax: expected sharedTmpBuffer apart from the operands",),
}


@pytest.mark.parametrize(("name", "bug"), BUGS, ids=[f"{name}-{bug}" for name, bug in BUGS])
def test_planted_bug(operators, memory, monkeypatch, name, bug):
    monkeypatch.setenv("HOSTCANN_CHECK", "all")
    data = [memory.give(torch.arange(4096, dtype=torch.int32) % 64) for _ in range(3)]
    launch = getattr(operators, f"launch_{name}")
    if name == "add_by_queues":
        launch(memory.stream, 1, *data, 512 * 5, bug)
    elif name == "scale_by_split":
        launch(memory.stream, 7, *data[:2], 1000, bug)
    elif name == "masked_chain":
        launch(memory.stream, *data[:2], 100, bug)
    elif name == "softmax_by_tiling":
        launch(memory.stream, *data[:2], softmax_tiling(operators, memory, 4, 64), bug)
    else:
        launch(memory.stream, *data, bug)
    code, sentence = memory.finish()
    assert code == VECTOR_CORE_EXCEPTION
    assert f"kernel '{name}', block " in sentence
    for words in BUGS[name, bug]:
        assert words in sentence, sentence
