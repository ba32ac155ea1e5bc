# SPDX-License-Identifier: Apache-2.0
"""A vector instruction as plain loops over a picture of the Unified Buffer, and random calls."""

import ctypes
from dataclasses import dataclass, field

import numpy

PICTURE = 32768
REGION = 8192  # of dst, src0, src1 and a fourth tensor
TYPES = {
    "half": numpy.float16,
    "float": numpy.float32,
    "int8_t": numpy.int8,
    "uint8_t": numpy.uint8,
    "int16_t": numpy.int16,
    "uint16_t": numpy.uint16,
    "int32_t": numpy.int32,
    "uint32_t": numpy.uint32,
    "int64_t": numpy.int64,
}


class CCall(ctypes.Structure):
    """As in vector_calls.h."""

    _fields_ = (
        ("form", ctypes.c_int32),
        ("count", ctypes.c_int32),
        ("repeats", ctypes.c_int32),
        ("mode", ctypes.c_int32),
        ("places", ctypes.c_int32 * 4),
        ("strides", ctypes.c_int32 * 6),
        ("mask", ctypes.c_uint64 * 2),
        ("scalar", ctypes.c_double),
    )


@dataclass
class Call:
    form: int = 0
    count: int = 0
    repeats: int = 0
    mode: int = 0
    places: tuple = (0, REGION, 2 * REGION, 3 * REGION)
    strides: tuple = (1, 1, 1, 8, 8, 8)
    mask: int = 0
    scalar: float = 0.0
    counter: bool = field(default=False)

    def as_c(self):
        words = self.mask & (2**64 - 1), self.mask >> 64
        if self.form == 1:
            words = self.mask.bit_length(), 0
        return CCall(
            self.form,
            self.count,
            self.repeats,
            self.mode,
            self.places,
            self.strides,
            words,
            self.scalar,
        )

    def lanes(self, width):
        """(repeat, lane) of every element of `width` bytes that takes part, in order."""
        each = 256 // width
        if self.form == 0 or self.counter:
            return [divmod(i, each) for i in range(self.count)]
        return [
            (repeat, lane)
            for repeat in range(self.repeats)
            for lane in range(each)
            if self.mask >> lane & 1
        ]

    def where(self, operand, width, lane):
        """Byte of an operand's element."""
        repeat, index = lane
        block, inside = divmod(index, 32 // width)
        blocks = repeat * self.strides[3 + operand] + block * self.strides[operand]
        return self.places[operand] + 32 * blocks + inside * width


def random_call(random, width, operands=3):
    """A call whose operands stay in their regions; dst may be src0 itself."""
    form = random.choice((0, 1, 2))
    each = 256 // width
    call = Call(form)
    if form == 0:
        call.count = random.choice((0, 1, each - 1, each, each + 1, random.randint(1, 4 * each)))
    else:
        call.repeats = random.randint(0, 4)
        lanes = random.randint(0, each)
        call.mask = (1 << lanes) - 1 if form == 1 else random.getrandbits(each)
        dst_block = random.randint(1, 3)
        call.strides = (
            dst_block,
            random.randint(0, 3),
            random.randint(0, 3),
            random.randint(8 * dst_block, 26),
            random.randint(0, 26),
            random.randint(0, 26),
        )
    if operands > 1 and random.random() < 0.2:
        places = list(call.places)
        places[1] = places[0]
        call.places = tuple(places)
        call.strides = (1, 1, call.strides[2], 8, 8, call.strides[5])
    return call


def picture(random, dtype):
    """Bytes whose elements are numbers worth computing with, some of them special."""
    count = PICTURE // numpy.dtype(dtype).itemsize
    generator = numpy.random.default_rng(random.getrandbits(32))
    if numpy.issubdtype(dtype, numpy.floating):
        values = generator.standard_normal(count).astype(dtype) * dtype(4)
        special = [0.0, -0.0, numpy.inf, -numpy.inf, numpy.nan, numpy.finfo(dtype).max]
        values[generator.integers(0, count, 200)] = generator.choice(special, 200).astype(dtype)
    else:
        info = numpy.iinfo(dtype)
        values = generator.integers(info.min, info.max, count, dtype, endpoint=True)
    return values.view(numpy.uint8)


def element(ub, dtype, at):
    return ub[at : at + numpy.dtype(dtype).itemsize].view(dtype)[0]


def store(ub, dtype, at, value):
    ub[at : at + numpy.dtype(dtype).itemsize].view(dtype)[0] = value


def lanewise(ub, call, dtype, sources, compute, scalars=()):
    """`compute` of every lane, a repeat read whole before it is written."""
    width = numpy.dtype(dtype).itemsize
    result = ub.copy()
    lanes = call.lanes(width)
    for repeat in sorted({lane[0] for lane in lanes}):
        chosen = [lane for lane in lanes if lane[0] == repeat]
        operands = [
            numpy.array([element(result, dtype, call.where(i, width, lane)) for lane in chosen])
            for i in sources
        ]
        with numpy.errstate(all="ignore"):
            values = compute(*operands, *scalars)
        if numpy.ndim(values) == 0:
            values = numpy.full(len(chosen), values)
        for lane, value in zip(chosen, values, strict=True):
            store(result, dtype, call.where(0, width, lane), value)
    return result


def assert_same(result, expected, dtype, ulps=0):
    """Equal pictures but for the payload of a NaN, the sign of zero and some last places."""
    got, wanted = result.view(dtype), expected.view(dtype)
    if not numpy.issubdtype(dtype, numpy.floating):
        assert got.tobytes() == wanted.tobytes()
        return
    same = (got == wanted) | (numpy.isnan(got) & numpy.isnan(wanted))
    if ulps:
        with numpy.errstate(all="ignore"):
            near = numpy.abs(got.astype(numpy.float64) - wanted) <= ulps * numpy.spacing(
                numpy.abs(wanted)
            )
        same |= near
    wrong = numpy.flatnonzero(~same)
    assert not wrong.size, f"element {wrong[0]}: got {got[wrong[0]]}, expected {wanted[wrong[0]]}"
