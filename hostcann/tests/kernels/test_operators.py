# SPDX-License-Identifier: Apache-2.0
"""Kernels as people write them, against torch over odd sizes, and the bugs planted in them."""

from pathlib import Path

import pytest
import torch

HERE = Path(__file__).parent
LENGTHS = (1, 7, 1000, 2048, 9001)
SHAPES = ((1, 1), (3, 8), (5, 100), (9, 1023))
VECTOR_CORE_TIMEOUT = 507034
VECTOR_CORE_EXCEPTION = 507035


@pytest.fixture(scope="module")
def operators(build_library):
    return build_library(HERE / "operators.asc", "-O1")


def quantised(x):
    return (x * 16).float().round().clamp(-128, 127).to(torch.int8)


def sigmoid(x):
    return torch.sigmoid(x.float()).half()


# kernel -> (type of x, what torch makes of x, tolerance)
ELEMENTWISE = {
    "gelu": (torch.float32, lambda x: torch.nn.functional.gelu(x, approximate="tanh"), 1e-5),
    "sigmoid_of_half": (torch.float16, sigmoid, 1e-3),
    "to_bfloat16": (torch.float32, lambda x: x.bfloat16(), 0),
    "to_int32": (torch.float32, lambda x: x.floor().int(), 0),
    "where_positive": (torch.float32, lambda x: torch.where(x > 0, x, 0.5), 0),
    "quantise": (torch.float16, quantised, 0),
    "dequantise": (torch.int8, lambda x: x.half() / 16, 0),
}


@pytest.mark.usefixtures("checks")
@pytest.mark.parametrize("name", ELEMENTWISE)
def test_elementwise(operators, memory, name):
    dtype, reference, tolerance = ELEMENTWISE[name]
    torch.manual_seed(1)
    for length in LENGTHS:
        x = (torch.randn(length) * 3).to(dtype)
        wanted = reference(x)
        z = memory.give(torch.zeros_like(wanted))
        getattr(operators, f"launch_{name}")(memory.stream, 3, memory.give(x), z, length, 0)
        assert memory.finish() == (0, "")
        torch.testing.assert_close(memory.take(z, wanted), wanted, rtol=tolerance, atol=tolerance)


ROWS = {
    "row_softmax": lambda x: torch.softmax(x, 1),
    "row_layernorm": lambda x: torch.nn.functional.layer_norm(x, x.shape[1:]),
}


@pytest.mark.usefixtures("checks")
@pytest.mark.parametrize("name", ROWS)
def test_rows(operators, memory, name):
    for shape in SHAPES:
        x = torch.randn(shape)
        wanted = ROWS[name](x)
        z = memory.give(torch.zeros_like(x))
        getattr(operators, f"launch_{name}")(memory.stream, 4, memory.give(x), z, *shape, 0)
        assert memory.finish() == (0, "")
        torch.testing.assert_close(memory.take(z, wanted), wanted, rtol=1e-5, atol=1e-5)


@pytest.mark.usefixtures("checks")
def test_add_by_flags(operators, memory):
    x, y = torch.randn(2048), torch.randn(2048)
    z = memory.give(torch.zeros(2048))
    operators.launch_add_by_flags(memory.stream, 8, memory.give(x), memory.give(y), z, 2048, 0)
    assert memory.finish() == (0, "")
    assert torch.equal(memory.take(z, x), x + y)


@pytest.mark.usefixtures("checks")
def test_histogram(operators, memory):
    x = torch.randint(0, 64, (4096,), dtype=torch.int32)
    z = memory.give(torch.zeros(64, dtype=torch.int32))
    operators.launch_histogram(memory.stream, 16, memory.give(x), z, 4096, 0)
    assert memory.finish() == (0, "")
    wanted = torch.bincount(x, minlength=64).int()
    assert torch.equal(memory.take(z, wanted), wanted)


@pytest.mark.usefixtures("checks")
@pytest.mark.parametrize("blocks", [1, 8, 40])
def test_sum_across_blocks(operators, memory, blocks):
    x = torch.randint(0, 100, (5120,)).float()
    partial = memory.give(torch.zeros(8 * blocks))
    z = memory.give(torch.zeros(8))
    operators.launch_sum_across_blocks(memory.stream, blocks, memory.give(x), partial, z, 5120, 0)
    assert memory.finish() == (0, "")
    assert memory.take(z, torch.zeros(8))[0] == x.sum()


@pytest.mark.usefixtures("checks")
def test_top_32(operators, memory):
    x = torch.randint(0, 50, (128,)).float()
    z = memory.give(torch.zeros(64))
    operators.launch_top_32(memory.stream, memory.give(x), z, 0)
    assert memory.finish() == (0, "")
    pairs = memory.take(z, torch.zeros(32, 2))
    wanted = torch.sort(x, descending=True, stable=True)
    assert torch.equal(pairs[:, 0], wanted.values[:32])
    assert torch.equal(pairs[:, 1].contiguous().view(torch.int32), wanted.indices[:32].int())


@pytest.mark.usefixtures("checks")
def test_gather_transpose_and_broadcast(operators, memory):
    x, order = torch.randn(512), torch.randperm(512, dtype=torch.int32)[:64].contiguous()
    z = memory.give(torch.zeros(64))
    operators.launch_gather_rows(memory.stream, memory.give(x), memory.give(order), z, 0)
    assert memory.finish() == (0, "")
    assert torch.equal(memory.take(z, torch.zeros(64)), x[order.long()])

    matrix = torch.randn(16, 16).half()
    z = memory.give(torch.zeros_like(matrix))
    operators.launch_transpose_16(memory.stream, memory.give(matrix), z, 0)
    assert memory.finish() == (0, "")
    assert torch.equal(memory.take(z, matrix), matrix.T)

    column, row = torch.randn(8), torch.randn(8)
    z = memory.give(torch.zeros(8, 8))
    operators.launch_outer_product(memory.stream, memory.give(column), memory.give(row), z, 0)
    assert memory.finish() == (0, "")
    assert torch.equal(memory.take(z, torch.zeros(8, 8)), torch.outer(column, row))


@pytest.mark.usefixtures("checks")
def test_dropout_and_rotary(operators, memory):
    x, bits = torch.randn(2048), torch.randint(0, 256, (256,), dtype=torch.uint8)
    z = memory.give(torch.zeros(2048))
    operators.launch_dropout(memory.stream, memory.give(x), memory.give(bits), z, 2048, 0)
    assert memory.finish() == (0, "")
    kept = (bits[:, None] >> torch.arange(8) & 1).flatten() == 1
    assert torch.equal(memory.take(z, x), torch.where(kept, 2 * x, 0.0))

    row, angle = torch.randn(64), torch.rand(32) * 6
    cosine, sine = angle.cos(), angle.sin()
    z = memory.give(torch.zeros(64))
    angles = memory.give(torch.cat([cosine, sine]))
    operators.launch_rotary(memory.stream, memory.give(row), angles, z, 0)
    assert memory.finish() == (0, "")
    a, b = row[:32], row[32:]
    wanted = torch.cat([a * cosine - b * sine, b * cosine + a * sine])
    torch.testing.assert_close(memory.take(z, row), wanted, rtol=1e-6, atol=1e-6)


@pytest.mark.usefixtures("checks")
@pytest.mark.parametrize("length", [1, 8, 77, 3000])
def test_position_of_the_maximum(operators, memory, length):
    x = torch.randperm(length).float()
    z = memory.give(torch.zeros(8, dtype=torch.int32))
    operators.launch_arg_max(memory.stream, 1, memory.give(x), z, length, 0)
    assert memory.finish() == (0, "")
    assert memory.take(z, torch.zeros(1, dtype=torch.int32)).item() == x.argmax().item()


@pytest.mark.usefixtures("checks")
@pytest.mark.parametrize("blocks", [1, 5, 20])
def test_prefix_sum(operators, memory, blocks):
    x = torch.randint(-9, 10, (64 * blocks,), dtype=torch.int32)
    workspace = memory.give(torch.zeros(8 * blocks + 8, dtype=torch.int32))
    z = memory.give(torch.zeros_like(x))
    launch = operators.launch_prefix_sum
    launch(memory.stream, blocks, memory.give(x), workspace, z, 64 * blocks, 0)
    assert memory.finish() == (0, "")
    assert torch.equal(memory.take(z, x), x.cumsum(0).int())


WRITES_UNSEEN = "after MTE2 writes it at operators.asc:"
UNORDERED = "got nothing that makes it wait"

# row: kernel, bug -> words of the sentence
BUGS = {
    ("gelu", 1): (WRITES_UNSEEN, UNORDERED, "WaitFlag<HardEvent::MTE2_V>"),
    ("gelu", 2): ("AllocTensor: expected a free buffer in VECIN queue 1, got all 2 in use",),
    ("gelu", 3): ("Div: expected src1 to hold written data", "copy or compute it first"),
    ("sigmoid_of_half", 1): ("Cast: expected src to be read by the vector unit", WRITES_UNSEEN),
    ("to_bfloat16", 1): ("Cast: expected src to be read by the vector unit", WRITES_UNSEEN),
    ("to_int32", 2): ("AllocTensor: expected a free buffer",),
    ("where_positive", 3): ("Compares: expected count x element size to be a multiple of 256",),
    ("quantise", 1): ("Muls: expected src to be read by the vector unit", WRITES_UNSEEN),
    ("dequantise", 1): ("Cast: expected src to be read by the vector unit", WRITES_UNSEEN),
    ("dropout", 1): ("Select: expected selMask to hold written data",),
    ("rotary", 1): ("DataCopy: expected src to be read by MTE3 after the vector unit",),
    ("arg_max", 1): ("GetValue: expected the element to be read by the scalar unit", "V_S"),
    ("prefix_sum", 1): ("WaitPreBlock: expected another block to end this wait",),
    ("add_by_flags", 1): ("Add: expected src0 to be read by the vector unit", WRITES_UNSEEN),
    ("add_by_flags", 2): ("WaitFlag<HardEvent::MTE2_V>: expected event 1 to be set",),
    ("add_by_flags", 3): ("expected a WaitFlag for every SetFlag", "event 0 of HardEvent::V_MTE3"),
    ("add_by_flags", 4): ("Alloc: expected all buffers to fit the 196352 bytes",),
    ("add_by_flags", 5): ("expected the blocks to write different bytes", "SetAtomicAdd"),
    ("row_softmax", 1): ("GetValue: expected the element to be read by the scalar unit", "V_S"),
    ("row_layernorm", 1): ("DataCopyPad: expected src to be read by MTE3 after the vector unit",),
    ("top_32", 1): ("Sort32: expected src1 to hold written data",),
    ("histogram", 1): ("expected the blocks to write different bytes of device memory",),
    ("sum_across_blocks", 1): ("SyncAll: expected another block to end this wait",),
    ("gather_rows", 1): ("Gather: expected offsets that stay inside the 2048 bytes of src",),
    ("transpose_16", 1): (
        "Transpose: expected src to start at a multiple of 32 bytes",
        "16 bytes past one",
    ),
    ("outer_product", 1): ("Mul: expected a mask of at most 64 elements of 4 bytes, got 65",),
}


@pytest.mark.parametrize(("name", "bug"), BUGS, ids=[f"{name}-{bug}" for name, bug in BUGS])
def test_planted_bug(operators, memory, monkeypatch, name, bug):
    monkeypatch.setenv("HOSTCANN_CHECK", "all")
    data = [memory.give(torch.arange(4096, dtype=torch.int32) % 64) for _ in range(3)]
    launch = getattr(operators, f"launch_{name}")
    if name in ELEMENTWISE:
        launch(memory.stream, 1, *data[:2], 4095 if name == "where_positive" else 4096, bug)
    elif name in ROWS:
        launch(memory.stream, 1, *data[:2], 2, 100, bug)
    elif name == "arg_max":
        launch(memory.stream, 1, *data[:2], 1000, bug)
    elif name == "dropout":
        launch(memory.stream, *data, 1024, bug)
    elif name == "histogram":
        launch(memory.stream, 4, *data[:2], 1024, bug)
    elif name in ("add_by_flags", "sum_across_blocks", "prefix_sum"):
        launch(memory.stream, 2, *data, 1024, bug)
    elif name in ("gather_rows", "outer_product", "rotary"):
        launch(memory.stream, *data, bug)
    else:
        launch(memory.stream, *data[:2], bug)
    code, sentence = memory.finish()
    endless = "to end this wait" in BUGS[name, bug][0]
    assert code == (VECTOR_CORE_TIMEOUT if endless else VECTOR_CORE_EXCEPTION)
    assert f"kernel '{name}', block " in sentence
    for words in BUGS[name, bug]:
        assert words in sentence, sentence
