# SPDX-License-Identifier: Apache-2.0
"""Vector functions in all their forms, with random masks, repeats and strides, against loops."""

import ctypes
import random
from pathlib import Path

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle import PICTURE, REGION, TYPES, Call, assert_same, lanewise, picture, random_call

HERE = Path(__file__).parent
ADD_TYPES = ("int16_t", "half", "int32_t", "float")
FLOATS = ("half", "float")
BITS = ("int16_t", "uint16_t")
SHIFTED = ("int16_t", "uint16_t", "int32_t", "uint32_t")


def wide(*arrays):
    return [a.astype(numpy.float32) if a.dtype == numpy.float16 else a for a in arrays]


def relu(a):
    return numpy.where(a < 0, a.dtype.type(0), a)


def narrow(function):
    """Computed in float for a half and rounded to the type at the end."""

    def compute(*arrays):
        return function(*wide(*arrays)).astype(arrays[0].dtype)

    return compute


def shift_right(a, by):
    return a >> min(int(by), 8 * a.dtype.itemsize - 1) if a.dtype.kind == "i" else a >> by


# function -> (element types, operands read, what it computes of them; s is the scalar)
BINARY = {
    "Add": (ADD_TYPES, (1, 2), narrow(lambda a, b: a + b)),
    "Sub": (ADD_TYPES, (1, 2), narrow(lambda a, b: a - b)),
    "Mul": (ADD_TYPES, (1, 2), narrow(lambda a, b: a * b)),
    "Max": (ADD_TYPES, (1, 2), numpy.maximum),
    "Min": (ADD_TYPES, (1, 2), numpy.minimum),
    "Div": (FLOATS, (1, 2), narrow(lambda a, b: a / b)),
    "AddRelu": (("int16_t", *FLOATS), (1, 2), lambda a, b: relu(narrow(lambda x, y: x + y)(a, b))),
    "SubRelu": (("int16_t", *FLOATS), (1, 2), lambda a, b: relu(narrow(lambda x, y: x - y)(a, b))),
    "And": (BITS, (1, 2), lambda a, b: a & b),
    "Or": (BITS, (1, 2), lambda a, b: a | b),
    "FusedMulAdd": (FLOATS, (1, 2, 0), narrow(lambda a, b, d: a * d + b)),
    "FusedMulAddRelu": (FLOATS, (1, 2, 0), narrow(lambda a, b, d: relu(a * d + b))),
    "MulAddRelu": (FLOATS, (1, 2, 0), narrow(lambda a, b, d: relu(a * d + b))),
    "MulAddDst": (FLOATS, (1, 2, 0), narrow(lambda a, b, d: a * b + d)),
}
UNARY = {
    "Abs": (FLOATS, (1,), numpy.abs),
    "Exp": (FLOATS, (1,), narrow(lambda a: numpy.exp(a.astype(numpy.float64)))),
    "Ln": (FLOATS, (1,), narrow(lambda a: numpy.log(a.astype(numpy.float64)))),
    "Sqrt": (FLOATS, (1,), narrow(numpy.sqrt)),
    "Rsqrt": (FLOATS, (1,), narrow(lambda a: 1 / numpy.sqrt(a.astype(numpy.float64)))),
    "Reciprocal": (FLOATS, (1,), narrow(lambda a: numpy.float32(1) / a)),
    "Relu": (("int32_t", *FLOATS), (1,), relu),
    "Not": (BITS, (1,), lambda a: ~a),
}
SCALAR = {
    "Adds": (ADD_TYPES, (1,), narrow(lambda a, s: a + s)),
    "Muls": (ADD_TYPES, (1,), narrow(lambda a, s: a * s)),
    "Maxs": (ADD_TYPES, (1,), numpy.maximum),
    "Mins": (ADD_TYPES, (1,), numpy.minimum),
    "LeakyRelu": (FLOATS, (1,), narrow(lambda a, s: numpy.where(a >= 0, a, a * s))),
    "Axpy": (FLOATS, (1, 0), narrow(lambda a, d, s: a * s + d)),
    "ShiftLeft": (SHIFTED, (1,), lambda a, s: a << s),
    "ShiftRight": (SHIFTED, (1,), shift_right),
    "Duplicate": (("uint16_t", "uint32_t", *ADD_TYPES), (), lambda s: s),
}
ROWS = [
    (name, type_, reads, compute, table is SCALAR)
    for table in (BINARY, UNARY, SCALAR)
    for name, (types, reads, compute) in table.items()
    for type_ in types
]
LAST_PLACE = {"Exp", "Ln", "Rsqrt"}  # libm's own rounding


@pytest.fixture(scope="module")
def calls(build_library):
    return build_library(HERE / "vector_calls.asc", "-O0")


def run(device, stream, entry, before, call):
    gm = device.upload(before)
    entry(stream, gm, ctypes.byref(call.as_c()))
    assert device.synchronize(stream) == (0, ""), call
    after = device.download(gm, numpy.uint8, before.size)
    device.call("aclrtFree", gm)
    return after


@pytest.mark.parametrize(
    ("name", "type_", "reads", "compute", "scalar"), ROWS, ids=[f"{r[0]}-{r[1]}" for r in ROWS]
)
def test_function(calls, device, stream, name, type_, reads, compute, scalar):
    dtype = TYPES[type_]
    chance = random.Random(f"{name} {type_}")
    for _ in range(6):
        call = random_call(chance, numpy.dtype(dtype).itemsize, 1 + len(reads))
        call.scalar = float(chance.randint(0, 9)) if "Shift" in name else chance.choice((3.0, -2.0))
        if type_.startswith("uint"):
            call.scalar = abs(call.scalar)
        before = picture(chance, dtype)
        number = (dtype(call.scalar),) if scalar else ()
        after = run(device, stream, getattr(calls, f"call_{name}_{type_}"), before, call)
        expected = lanewise(before, call, dtype, reads, compute, number)
        assert_same(after, expected, dtype, ulps=name in LAST_PLACE)


@pytest.mark.parametrize("type_", FLOATS)
@pytest.mark.parametrize("form", [1, 2], ids=["counter", "bits"])
def test_mask_of_the_register(calls, device, stream, type_, form):
    dtype = TYPES[type_]
    chance = random.Random(type_)
    width = numpy.dtype(dtype).itemsize
    for _ in range(4):
        call = random_call(chance, width)
        call.form, call.counter = form, form == 1
        call.count = chance.randint(0, 3 * 256 // width)
        call.mask = chance.getrandbits(256 // width)
        call.repeats = chance.randint(1, 3)
        before = picture(chance, dtype)
        after = run(device, stream, getattr(calls, f"call_AddOfRegister_{type_}"), before, call)
        expected = lanewise(before, call, dtype, (1, 2), BINARY["Add"][2])
        assert_same(after, expected, dtype)


def test_sum_that_accumulates_over_the_repeats(calls, device, stream):
    """dst is src1 of every repeat: the repeats' sum stays in the first one's place."""
    call = Call(2, repeats=4, mask=2**64 - 1, strides=(1, 1, 1, 0, 8, 0))
    call.places = (0, call.places[1], 0, call.places[3])
    before = numpy.arange(8192, dtype=numpy.float32).view(numpy.uint8)
    after = run(device, stream, calls.call_Add_float, before, call).view(numpy.float32)
    rows = before.view(numpy.float32)[2048 : 2048 + 256].reshape(4, 64)
    assert after[:64].tolist() == (rows.sum(0) + before.view(numpy.float32)[:64]).tolist()


PROPERTIES = settings(
    max_examples=60, deadline=None, derandomize=True, database=None, print_blob=False
)


@st.composite
def calls_of(draw, reads):
    """A function's call: any form, mask, repeats and strides whose operands stay in their regions.

    dst is apart from the sources; its blocks and repeats do not write the same place twice.
    """
    width = 4
    each = 256 // width
    call = Call(draw(st.sampled_from((0, 1, 2))))
    if call.form == 0:
        call.count = draw(st.integers(0, 6 * each))
        return call
    call.repeats = draw(st.integers(0, 5))
    lanes = draw(st.integers(0, each))
    call.mask = (1 << lanes) - 1 if call.form == 1 else draw(st.integers(0, 2**each - 1))
    dst_block = draw(st.integers(1, 4))
    # A source that is dst itself starts where it does: it accumulates, repeat after repeat.
    if 0 in reads:
        call.strides = (dst_block, 1, 1, 8 * dst_block, 8, 8)
        return call
    blocks = [dst_block, *(draw(st.integers(0, 4)) for _ in range(2))]
    repeats = [8 * dst_block + draw(st.integers(0, 6)), *(draw(st.integers(0, 20)) for _ in "ab")]
    call.strides = (*blocks, *repeats)
    return call


@pytest.mark.parametrize("name", ["Add", "Mul", "Max", "MulAddDst", "Exp", "Relu", "Adds"])
def test_any_call_is_the_loop(calls, device, stream, name):
    table = next(t for t in (BINARY, UNARY, SCALAR) if name in t)
    _, reads, compute = table[name]
    entry = getattr(calls, f"call_{name}_float")

    @PROPERTIES
    @given(call=calls_of(reads), seed=st.integers(0, 9))
    def check(call, seed):
        call.scalar = 3.0
        before = picture(random.Random(seed), numpy.float32)
        number = (numpy.float32(3.0),) if table is SCALAR else ()
        after = run(device, stream, entry, before, call)
        expected = lanewise(before, call, numpy.float32, reads, compute, number)
        assert_same(after, expected, numpy.float32, ulps=name in LAST_PLACE)

    check()


def reach(call, operand, width):
    """Bytes from an operand's start to the end of its last element."""
    ends = [call.where(operand, width, lane) + width for lane in call.lanes(width)]
    return max(ends, default=call.places[operand]) - call.places[operand]


def test_any_call_beyond_its_tensor_is_refused(calls, device):
    """A source near the end of the memory: refused exactly if an element would lie behind it."""
    refused = 0

    @PROPERTIES
    @given(call=calls_of((1, 2)), blocks=st.integers(1, 60))
    def check(call, blocks):
        nonlocal refused
        call.places = (0, PICTURE - 32 * blocks, REGION, 2 * REGION)
        beyond = reach(call, 1, 4) > 32 * blocks
        refused += beyond
        stream = device.new_stream()
        gm = device.upload(numpy.zeros(PICTURE, numpy.uint8))
        calls.call_Add_float(stream, gm, ctypes.byref(call.as_c()))
        code, sentence = device.synchronize(stream)
        assert (code != 0) == beyond, sentence
        assert ("Add: expected src0 (LocalTensor) to hold at least" in sentence) == beyond
        device.call("aclrtFree", gm)
        device.call("aclrtDestroyStreamForce", stream)

    check()
    assert refused > 5
