# SPDX-License-Identifier: Apache-2.0
"""Conversions, comparisons, gathers and reductions in random forms, against plain loops."""

import ctypes
import operator
import random
from pathlib import Path

import numpy
import pytest
import torch
from oracle import REGION, TYPES, Call, assert_same, element, lanewise, picture, random_call, store

HERE = Path(__file__).parent
FLOATS = ("half", "float")


@pytest.fixture(scope="module")
def calls(build_library):
    return build_library(HERE / "rearranging.asc", "-O0")


@pytest.fixture
def run(calls, device, stream):
    def call(name, before, description):
        gm = device.upload(before)
        getattr(calls, f"call_{name}")(stream, gm, ctypes.byref(description.as_c()))
        assert device.synchronize(stream) == (0, ""), description
        after = device.download(gm, numpy.uint8, before.size)
        device.call("aclrtFree", gm)
        return after

    return call


def repeated(chance, width, dst_step=8):
    """A call by a mask of bits; dst's repeats do not meet."""
    each = 256 // width
    call = Call(2, repeats=chance.randint(1, 4), mask=chance.getrandbits(each) | 1)
    call.strides = (1, chance.randint(0, 3), 1, dst_step, chance.randint(0, 20), 8)
    return call


# --- Cast ---

NONE, RINT, FLOOR, CEIL, ROUND, TRUNC, ODD = range(7)
FIVE = (RINT, FLOOR, CEIL, ROUND, TRUNC)
CASTS = {
    ("float", "half"): (NONE, *FIVE, ODD),
    ("float", "bfloat16_t"): FIVE,
    ("float", "int16_t"): FIVE,
    ("float", "int32_t"): FIVE,
    ("float", "int64_t"): FIVE,
    ("float", "float"): FIVE,
    ("half", "float"): (NONE,),
    ("half", "int8_t"): (NONE, *FIVE),
    ("half", "uint8_t"): (NONE, *FIVE),
    ("half", "int16_t"): FIVE,
    ("half", "int32_t"): FIVE,
    ("int32_t", "float"): (NONE, *FIVE),
    ("int32_t", "int16_t"): (NONE,),
    ("int32_t", "int64_t"): (NONE,),
    ("int16_t", "half"): (NONE, *FIVE),
    ("int16_t", "float"): (NONE,),
    ("int8_t", "half"): (NONE,),
    ("uint8_t", "half"): (NONE,),
    ("int64_t", "float"): FIVE,
    ("int64_t", "int32_t"): (NONE,),
    ("bfloat16_t", "float"): (NONE,),
    ("bfloat16_t", "int32_t"): FIVE,
}
TORCH = {
    "half": torch.float16,
    "float": torch.float32,
    "bfloat16_t": torch.bfloat16,
    "int8_t": torch.int8,
    "uint8_t": torch.uint8,
    "int16_t": torch.int16,
    "int32_t": torch.int32,
    "int64_t": torch.int64,
}


def whole(value, mode):
    """A number rounded to a whole one."""
    down = int(value // 1)
    rest = value - down
    if rest == 0:
        return down
    if mode == FLOOR:
        return down
    if mode == CEIL:
        return down + 1
    if mode == TRUNC:
        return int(value)
    if mode == ROUND:
        return down + (rest > 0.5 or (rest == 0.5 and value > 0))
    return down + (rest > 0.5 or (rest == 0.5 and down % 2 == 1))


def cast_one(value, source, target, mode):
    """A Python number as `target`, by the neighbours that torch knows."""
    if not target.is_floating_point:
        info = torch.iinfo(target)
        if value != value:
            return 0
        if value in (float("inf"), float("-inf")):
            return info.max if value > 0 else info.min
        return max(info.min, min(info.max, whole(value, mode)))
    if source == target:
        return value if value != value or abs(value) > 2**40 else float(whole(value, mode))
    nearest = torch.tensor(value, dtype=torch.float64).to(target)
    near = nearest.item()
    if value != value or near == value:
        return near
    away = torch.tensor(float("inf") if near < value else float("-inf"), dtype=target)
    other = torch.nextafter(nearest, away).item()
    low, high = sorted((near, other))
    if mode in (NONE, RINT):
        return near
    if mode == ROUND:
        exact = low + (high - low) / 2 if abs(low) != abs(high) else None
        return max(low, high, key=abs) if value == exact else near
    if mode == ODD:
        bits = torch.tensor([low, high], dtype=target).view(
            torch.int16 if target.itemsize == 2 else torch.int32
        )
        return (low, high)[0 if bits[0].item() & 1 else 1]
    toward_low = mode == FLOOR or (mode == TRUNC and value > 0)
    return low if toward_low else high


def cast_values(chance, source):
    generator = torch.Generator().manual_seed(chance.getrandbits(30))
    count = REGION // source.itemsize
    if source.is_floating_point:
        values = (torch.randn(count, generator=generator) * 50).to(source)
        halves = (torch.arange(-16, 16) / 2).to(source)
        values[: len(halves)] = halves
        values[40:44] = torch.tensor([float("inf"), float("-inf"), 0.0, 70000.0]).to(source)
        return values
    info = torch.iinfo(source)
    low, high = max(info.min, -(2**40)), min(info.max, 2**40)
    return torch.randint(low, high, (count,), generator=generator, dtype=torch.int64).to(source)


@pytest.mark.parametrize("pair", CASTS, ids=[f"{s}-{d}" for s, d in CASTS])
def test_cast(run, pair):
    source, target = (TORCH[name] for name in pair)
    chance = random.Random(str(pair))
    width = max(source.itemsize, target.itemsize)
    for mode in CASTS[pair]:
        call = Call(chance.choice((0, 2)), mode=mode, count=chance.randint(60, 90))
        call.repeats, call.mask = 2, chance.getrandbits(256 // width)
        call.strides = (1, 1, 1, 9, 11, 8)
        before = picture(chance, numpy.uint8)
        values = cast_values(chance, source)
        before[REGION : 2 * REGION] = values.view(torch.uint8).numpy()
        after = run(f"Cast_to_{pair[1]}_{pair[0]}", before, call)
        wanted = before.copy()
        contiguous = call.form == 0
        for lane in call.lanes(width):
            at = [0, 0]
            for i, type_ in enumerate((target, source)):
                if contiguous:
                    index = lane[0] * (256 // width) + lane[1]
                    at[i] = call.places[i] + index * type_.itemsize
                else:
                    at[i] = call.where(i, type_.itemsize, lane)
            raw = torch.from_numpy(before[at[1] : at[1] + source.itemsize].copy()).view(source)
            result = torch.tensor([cast_one(raw.item(), source, target, mode)], dtype=target)
            wanted[at[0] : at[0] + target.itemsize] = result.view(torch.uint8).numpy()
        got, expected = (torch.from_numpy(p[:REGION]).view(target) for p in (after, wanted))
        if target.is_floating_point:
            assert torch.equal(got.nan_to_num(7), expected.nan_to_num(7)), mode
        else:
            assert torch.equal(got, expected), mode
        assert (after[REGION:] == before[REGION:]).all()


def nibble_place(call, operand, lane):
    """Byte of an int4b_t and whether it is the upper half: 64 of them make a block."""
    repeat, index = lane
    if call.form == 0:
        return call.places[operand] + (128 * repeat + index) // 2, index % 2
    block, inside = divmod(index, 64)
    blocks = repeat * call.strides[3 + operand] + block * call.strides[operand]
    return call.places[operand] + 32 * blocks + inside // 2, index % 2


def nibble_call(chance, form):
    call = Call(form, count=2 * chance.randint(1, 150), repeats=3)
    pairs = chance.getrandbits(64) | 1
    call.mask = sum(3 << 2 * i for i in range(64) if pairs >> i & 1)
    if form == 1:
        call.mask = (1 << 2 * chance.randint(1, 64)) - 1
    call.strides = (1, 2, 1, 9, 5, 8)
    return call


@pytest.mark.parametrize("form", range(3), ids=["count", "lanes", "bits"])
@pytest.mark.parametrize("mode", [NONE, *FIVE])
def test_cast_to_nibbles(run, form, mode):
    chance = random.Random(f"{form} {mode}")
    call = nibble_call(chance, form)
    call.mode = mode
    before = picture(chance, numpy.float16)
    after = run("Cast_to_int4b_t_half", before, call)
    wanted = before.copy()
    for lane in call.lanes(2):
        at = call.places[1] + 256 * lane[0] + 2 * lane[1]
        value = element(before, numpy.float16, call.where(1, 2, lane) if form else at)
        number = cast_one(float(value), torch.float16, torch.int8, mode)
        byte, upper = nibble_place(call, 0, lane)
        kept = int(wanted[byte]) & (0x0F if upper else 0xF0)
        wanted[byte] = kept | (max(-8, min(7, number)) & 15) << 4 * upper
    assert (after == wanted).all()


@pytest.mark.parametrize("form", range(3), ids=["count", "lanes", "bits"])
def test_cast_from_nibbles(run, form):
    chance = random.Random(form)
    call = nibble_call(chance, form)
    call.strides = (2, 1, 1, 17, 3, 8)
    before = picture(chance, numpy.uint8)
    after = run("Cast_from_int4b_t_half", before, call)
    wanted = before.copy()
    for lane in call.lanes(2):
        byte, upper = nibble_place(call, 1, lane)
        bits = int(before[byte]) >> 4 * upper & 15
        at = 256 * lane[0] + 2 * lane[1]
        number = numpy.float16(bits - 16 if bits > 7 else bits)
        store(wanted, numpy.float16, call.where(0, 2, lane) if form else at, number)
    assert (after == wanted).all()


def test_tensor_of_nibbles(calls, run, device, stream):
    before = picture(random.Random(4), numpy.float16)
    after = run("NibbleTensor_half", before, Call(count=32))
    assert [element(after, numpy.float16, 2 * REGION + 2 * i) for i in range(3)] == [128, 118, 5]
    assert (after[:32] == before[:32]).all()
    assert (after[32:48] != before[32:48]).any()
    gm = device.upload(before)
    calls.call_NibbleTensor_half(stream, gm, ctypes.byref(Call(count=31).as_c()))
    code, sentence = device.synchronize(stream)
    assert code == 507035
    assert "Cast: expected int4b_t by twos, the two of a byte, got a count or a mask" in sentence


# --- Compare and Select ---

MODES = (operator.lt, operator.gt, operator.eq, operator.le, operator.ge, operator.ne)


def set_bit(ub, place, index, bit):
    byte = place + index // 8
    ub[byte] = (int(ub[byte]) & ~(1 << index % 8)) | bit << index % 8


@pytest.mark.parametrize("type_", FLOATS)
@pytest.mark.parametrize("scalar", [False, True], ids=["tensor", "scalar"])
def test_compare(run, type_, scalar):
    dtype = TYPES[type_]
    width = numpy.dtype(dtype).itemsize
    each = 256 // width
    chance = random.Random(type_ + str(scalar))
    for mode, holds in enumerate(MODES):
        call = repeated(chance, width)
        call.form, call.mode, call.scalar = chance.choice((0, 2)), mode, 1.5
        call.count = each * chance.randint(1, 3)
        call.strides = (*call.strides[:2], 2, *call.strides[3:5], 7)
        if call.form == 0:
            call.strides = (1, 1, 1, 8, 8, 8)
        before = picture(chance, dtype)
        after = run(f"Compare{'s' * scalar}_{type_}", before, call)
        wanted = before.copy()
        whole_mask = Call(**{**vars(call), "mask": 2**each - 1})
        for index, lane in enumerate(whole_mask.lanes(width)):
            left = element(before, dtype, call.where(1, width, lane))
            right = dtype(1.5) if scalar else element(before, dtype, call.where(2, width, lane))
            set_bit(wanted, 0, index, int(holds(left, right)))
        assert (after == wanted).all()


@pytest.mark.parametrize("type_", FLOATS)
def test_compare_into_the_register(run, type_):
    dtype = TYPES[type_]
    width = numpy.dtype(dtype).itemsize
    chance = random.Random(type_)
    call = Call(2, repeats=1, mode=1, mask=chance.getrandbits(256 // width))
    before = picture(chance, dtype)
    after = run(f"CompareToRegister_{type_}", before, call)
    bits = 0
    for lane in call.lanes(width):
        left, right = (element(before, dtype, call.where(i, width, lane)) for i in (1, 2))
        bits |= int(left > right) << lane[1]
    assert after[:16].tobytes() == bits.to_bytes(16, "little")
    assert (after[16:] == before[16:]).all()


@pytest.mark.parametrize("type_", FLOATS)
@pytest.mark.parametrize("mode", [0, 1, 2], ids=["same-bits", "scalar", "tensor"])
def test_select(run, type_, mode):
    dtype = TYPES[type_]
    width = numpy.dtype(dtype).itemsize
    each = 256 // width
    chance = random.Random(f"{type_} {mode}")
    for form in (0, 2):
        call = repeated(chance, width)
        call.form, call.mode, call.scalar, call.count = form, mode, 0.25, 3 * each - 5
        if form == 0:
            call.strides = (1, 1, 1, 8, 8, 8)
        before = picture(chance, dtype)

        def chosen(lane, call=call, before=before):
            index = lane[1] if mode == 0 else lane[0] * each + lane[1]
            bit = before[call.places[3] + index // 8] >> index % 8 & 1
            other = dtype(0.25) if mode == 1 else element(before, dtype, call.where(2, width, lane))
            return element(before, dtype, call.where(1, width, lane)) if bit else other

        wanted = before.copy()
        for lane in call.lanes(width):
            store(wanted, dtype, call.where(0, width, lane), chosen(lane))
        assert_same(run(f"Select_{type_}", before, call), wanted, dtype)


# --- gathers ---


@pytest.mark.parametrize("type_", ["half", "uint16_t", "int32_t"])
def test_gather(run, type_):
    dtype = TYPES[type_]
    width = numpy.dtype(dtype).itemsize
    chance = random.Random(type_)
    for form in (0, 1, 2):
        call = random_call(chance, width, 1)
        call.form, call.count = form, 2 * 256 // width - 3
        call.strides = (1, 1, 1, 9 if form else 8, 8, 8)
        call.mask = (1 << 40) - 1 if form == 1 else chance.getrandbits(256 // width) | 1
        call.repeats = 2
        before = picture(chance, dtype)
        offsets = numpy.array([chance.randrange(0, 7000) // width * width for _ in range(1024)])
        before[3 * REGION : 3 * REGION + 4096] = offsets.astype(numpy.uint32).view(numpy.uint8)
        wanted = before.copy()
        for lane in call.lanes(width):
            index = lane[0] * (256 // width) + lane[1]
            at = call.places[1] + 64 + offsets[index]
            store(wanted, dtype, call.where(0, width, lane), element(before, dtype, at))
        assert (run(f"Gather_{type_}", before, call) == wanted).all()


def test_gather_of_blocks(run):
    chance = random.Random(3)
    call = Call(2, repeats=3, strides=(2, 1, 1, 17, 8, 8))
    before = picture(chance, numpy.uint32)
    offsets = numpy.array([chance.randrange(0, 200) * 32 for _ in range(24)], numpy.uint32)
    before[3 * REGION : 3 * REGION + 96] = offsets.view(numpy.uint8)
    wanted = before.copy()
    for i, offset in enumerate(offsets):
        at = 32 * (i // 8 * 17 + i % 8 * 2)
        wanted[at : at + 32] = before[REGION + offset : REGION + offset + 32]
    assert (run("Gatherb_uint32_t", before, call) == wanted).all()


PATTERNS = {1: (2, 0), 2: (2, 1), 3: (4, 0), 4: (4, 1), 5: (4, 2), 6: (4, 3), 7: (1, 0)}


@pytest.mark.parametrize("type_", FLOATS)
@pytest.mark.parametrize("pattern", range(8))
def test_gather_mask(run, type_, pattern):
    dtype = TYPES[type_]
    width = numpy.dtype(dtype).itemsize
    chance = random.Random(f"{type_} {pattern}")
    for form in (0, 1):
        call = Call(form, mode=pattern, repeats=2, count=70, strides=(1, 2, 1, 8, 20, 1))
        before = picture(chance, dtype)
        kept = []
        for repeat in range(2):
            for i in range(70 if form else 256 // width):
                every, first = PATTERNS.get(pattern, (1, 0))
                bit = before[3 * REGION + repeat * 32 + i // 8] >> i % 8 & 1
                if (i % every == first) if pattern else bit:
                    kept.append(element(before, dtype, call.where(1, width, (repeat, i))))
        wanted = before.copy()
        wanted[: len(kept) * width] = numpy.array(kept, dtype).view(numpy.uint8)
        store(wanted, numpy.uint32, 2 * REGION, len(kept))
        assert (run(f"GatherMask_{type_}", before, call) == wanted).all()


@pytest.mark.parametrize("type_", ["int16_t", "float"])
def test_copy(run, type_):
    dtype = TYPES[type_]
    chance = random.Random(type_)
    for _ in range(4):
        call = random_call(chance, numpy.dtype(dtype).itemsize, 1)
        before = picture(chance, dtype)
        wanted = lanewise(before, call, dtype, (1,), lambda a: a)
        assert (run(f"Copy_{type_}", before, call) == wanted).all()


@pytest.mark.parametrize("type_", ["int16_t", "float"])
@pytest.mark.parametrize(("count", "repeats"), [(144, 1), (5, 3), (300, 2)])
def test_copy_by_counted_repeats(run, type_, count, repeats):
    """In counter mode a repeat is as long as the mask says, and repeats there are."""
    dtype = TYPES[type_]
    width = numpy.dtype(dtype).itemsize
    call = Call(1, count=count, repeats=repeats, mode=1, strides=(1, 2, 1, 90, 3, 8))
    before = picture(random.Random(type_), dtype)
    wanted = before.copy()
    for lane in ((repeat, i) for repeat in range(repeats) for i in range(count)):
        moved = element(before, dtype, call.where(1, width, lane))
        store(wanted, dtype, call.where(0, width, lane), moved)
    assert (run(f"Copy_{type_}", before, call) == wanted).all()


@pytest.mark.parametrize("type_", ["half", "uint32_t"])
def test_broadcast_to_blocks(run, type_):
    dtype = TYPES[type_]
    width = numpy.dtype(dtype).itemsize
    call = Call(2, repeats=3, strides=(2, 1, 1, 16, 8, 8))
    before = picture(random.Random(type_), dtype)
    wanted = before.copy()
    for i in range(24):
        at = 32 * (i // 8 * 16 + i % 8 * 2)
        wanted[at : at + 32] = numpy.tile(
            before[REGION + i * width : REGION + (i + 1) * width], 32 // width
        )
    assert (run(f"Brcb_{type_}", before, call) == wanted).all()


# --- reductions ---


def tree(values, dtype):
    """Neighbours are added, rounded, and added again."""
    values = list(values)
    while len(values) > 1:
        wide = [numpy.float32(v) for v in values]
        values = [dtype(a + b) for a, b in zip(wide[::2], wide[1::2], strict=True)]
    return values[0]


def repeat_values(before, call, dtype, repeat, fill=0):
    width = numpy.dtype(dtype).itemsize
    return [
        element(before, dtype, call.where(1, width, (repeat, lane)))
        if call.mask >> lane & 1
        else dtype(fill)
        for lane in range(256 // width)
    ]


def finite_picture(chance, dtype):
    generator = numpy.random.default_rng(chance.getrandbits(30))
    count = 32768 // numpy.dtype(dtype).itemsize
    return generator.standard_normal(count).astype(dtype).view(numpy.uint8)


def indexed(call, values, pick):
    lanes = [lane for lane in range(len(values)) if call.mask >> lane & 1]
    best = pick(values[lane] for lane in lanes)
    return best, next(lane for lane in lanes if values[lane] == best)


@pytest.mark.parametrize("type_", FLOATS)
def test_sum_of_repeats(run, type_):
    dtype = TYPES[type_]
    width = numpy.dtype(dtype).itemsize
    call = repeated(random.Random(type_), width, dst_step=3)
    before = finite_picture(random.Random(type_), dtype)
    wanted = before.copy()
    for repeat in range(call.repeats):
        store(
            wanted,
            dtype,
            3 * repeat * width,
            tree(repeat_values(before, call, dtype, repeat), dtype),
        )
    assert (run(f"WholeReduceSum_{type_}", before, call) == wanted).all()


@pytest.mark.parametrize("type_", FLOATS)
@pytest.mark.parametrize("order", range(4), ids=["value-index", "index-value", "value", "index"])
@pytest.mark.parametrize(("name", "pick"), [("WholeReduceMax", max), ("ReduceRepeatMin", min)])
def test_extreme_of_repeats(run, type_, order, name, pick):
    dtype = TYPES[type_]
    width = numpy.dtype(dtype).itemsize
    bits = numpy.dtype(f"u{width}")
    call = repeated(random.Random(f"{type_} {order}"), width, dst_step=2)
    call.mode = order
    before = finite_picture(random.Random(order), dtype)
    wanted = before.copy()
    for repeat in range(call.repeats):
        value, index = indexed(call, repeat_values(before, call, dtype, repeat), pick)
        if order == 3:
            store(wanted, numpy.uint32, 8 * repeat, index)
        elif order == 2:
            store(wanted, dtype, 2 * repeat * width, value)
        else:
            at = 4 * repeat * width
            store(wanted, dtype, at + (width if order else 0), value)
            store(wanted, bits.type, at + (0 if order else width), index)
    assert (run(f"{name}_{type_}", before, call) == wanted).all()


@pytest.mark.parametrize("type_", FLOATS)
@pytest.mark.parametrize("name", ["ReduceDataBlockMax", "BlockReduceSum", "PairReduceSum"])
def test_reduction_of_groups(run, type_, name):
    dtype = TYPES[type_]
    width = numpy.dtype(dtype).itemsize
    group = 2 if name == "PairReduceSum" else 32 // width
    call = repeated(random.Random(type_ + name), width, dst_step=2)
    before = finite_picture(random.Random(name), dtype)
    wanted = before.copy()
    for repeat in range(call.repeats):
        values = repeat_values(before, call, dtype, repeat)
        step = 2 * 128 if group == 2 else 2 * 8 * width
        for first in range(0, len(values), group):
            lanes = [lane for lane in range(first, first + group) if call.mask >> lane & 1]
            if not lanes:
                continue
            chosen = values[first : first + group]
            result = max(values[i] for i in lanes) if "Max" in name else tree(chosen, dtype)
            store(wanted, dtype, repeat * step + first // group * width, result)
    assert (run(f"{name}_{type_}", before, call) == wanted).all()


@pytest.mark.parametrize("type_", FLOATS)
@pytest.mark.parametrize("count", [1, 5, 64, 300, 700])
def test_sum_of_everything(run, type_, count):
    dtype = TYPES[type_]
    each = 256 // numpy.dtype(dtype).itemsize
    before = finite_picture(random.Random(count), dtype)
    values = before[REGION : 2 * REGION].view(dtype)[:count]
    total = None
    for first in range(0, count, each):
        part = numpy.zeros(each, dtype)
        part[: len(values[first : first + each])] = values[first : first + each]
        one = tree(part, dtype)
        total = one if total is None else dtype(numpy.float32(total) + numpy.float32(one))
    wanted = before.copy()
    store(wanted, dtype, 0, total)
    assert (run(f"ReduceSum_{type_}", before, Call(0, count=count)) == wanted).all()


@pytest.mark.parametrize("type_", FLOATS)
@pytest.mark.parametrize("count", [1, 5, 64, 300, 700])
def test_extreme_of_everything(run, type_, count):
    dtype = TYPES[type_]
    width = numpy.dtype(dtype).itemsize
    before = finite_picture(random.Random(count), dtype)
    values = before[REGION : 2 * REGION].view(dtype)[:count]
    wanted = before.copy()
    store(wanted, dtype, 0, values.max())
    store(wanted, numpy.dtype(f"u{width}").type, width, values.argmax())
    assert (run(f"ReduceMax_{type_}", before, Call(0, count=count)) == wanted).all()
    wanted = before.copy()
    store(wanted, dtype, 0, values.min())
    assert (run(f"ReduceMin_{type_}", before, Call(0, count=count)) == wanted).all()


# --- the rest ---


@pytest.mark.parametrize("type_", ["half", "int32_t"])
def test_index(run, type_):
    dtype = TYPES[type_]
    width = numpy.dtype(dtype).itemsize
    each = 256 // width
    for form in (0, 2):
        call = Call(form, count=each + 9, repeats=2, mask=0x5555 << 20, scalar=-3.0)
        call.strides = (2, 1, 1, 17, 8, 8) if form else call.strides
        before = picture(random.Random(form), dtype)
        wanted = before.copy()
        for lane in call.lanes(width):
            store(wanted, dtype, call.where(0, width, lane), lane[0] * each + lane[1] - 3)
        assert (run(f"CreateVecIndex_{type_}", before, call) == wanted).all()


@pytest.mark.parametrize("type_", FLOATS)
def test_transposition_of_listed_rows(run, type_):
    dtype = TYPES[type_]
    columns = 32 // numpy.dtype(dtype).itemsize
    before = picture(random.Random(type_), dtype)
    wanted = before.copy()
    for repeat in range(2):
        source = before[REGION + 512 * repeat :][:512].view(dtype).reshape(16, columns)
        if type_ == "half":
            result = source.T
        else:
            result = source.reshape(2, 8, 8).transpose(2, 0, 1).reshape(16, 8)
        wanted[512 * repeat :][:512] = numpy.ascontiguousarray(result).view(numpy.uint8).ravel()
    assert (run(f"TransDataTo5HD_{type_}", before, Call(repeats=2)) == wanted).all()
