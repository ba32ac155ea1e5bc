# SPDX-License-Identifier: Apache-2.0
"""The advanced functions in all their forms against torch, their scratch space and their tiling."""

import ctypes
import random
from pathlib import Path

import numpy
import pytest
import torch
from oracle import REGION, TYPES, Call, picture

HERE = Path(__file__).parent
FLOATS = ("half", "float")
SHAPES = ((1, 16, 16), (3, 32, 29), (5, 112, 100))
VECTOR_CORE_EXCEPTION = 507035


def gelu(x):
    return torch.nn.functional.gelu(x, approximate="tanh")


def parabolic_gelu(x):
    """The parabola that CANN's documentation shows by its results."""
    scaled = (x * 0.70710678).abs().clamp(max=1.769)
    half_erf = 0.5 - 0.1444 * (scaled - 1.769) ** 2
    return x * (torch.where(x < 0, -half_erf, half_erf) + 0.5)


# function -> what it computes of doubles
UNARY = {
    **{n.capitalize(): getattr(torch, n) for n in ("acos", "acosh", "asin", "asinh", "atan")},
    **{n.capitalize(): getattr(torch, n) for n in ("atanh", "ceil", "cos", "cosh", "digamma")},
    **{n.capitalize(): getattr(torch, n) for n in ("erf", "erfc", "floor", "frac", "lgamma")},
    **{n.capitalize(): getattr(torch, n) for n in ("log", "log10", "log2", "round", "sigmoid")},
    **{n.capitalize(): getattr(torch, n) for n in ("sign", "sin", "sinh", "tan", "tanh", "trunc")},
}
BINARY = {
    "Fmod": torch.fmod,
    "GeGLU": lambda a, b: a * gelu(b),
    "Power": torch.pow,
    "ReGlu": lambda a, b: a * b.relu(),
}
# with a number s
NUMBER = {
    "PowerOfTensor": lambda a, _b, s: a**s,
    "PowerOfNumber": lambda a, _b, s: s**a,
    "ClampMax": lambda a, _b, s: torch.where(a > s, s, a),
    "ClampMin": lambda a, _b, s: torch.where(a < s, s, a),
    "Gelu": lambda a, _b, _s: gelu(a),
    "FasterGelu": lambda a, _b, _s: a * torch.sigmoid(1.702 * a),
    "FasterGeluV2": lambda a, _b, _s: parabolic_gelu(a),
    "SwiGLU": lambda a, b, s: a * b * torch.sigmoid(s * b),
    "Swish": lambda a, _b, s: a * torch.sigmoid(s * a),
    "Silu": lambda a, _b, _s: a * torch.sigmoid(a),
    "Exp": lambda a, _b, _s: a.exp(),
}
# Ill-conditioned near a root or a pole: the argument's own rounding shows.
LOOSE = {"Digamma", "Lgamma", "Tan", "GeGLU", "Gelu", "Fmod"}


@pytest.fixture(scope="module")
def advanced(build_library):
    return build_library(HERE / "advanced.asc", "-O1")


def run(device, stream, entry, before, call):
    gm = device.upload(before)
    entry(stream, gm, ctypes.byref(call.as_c()))
    assert device.synchronize(stream) == (0, ""), call
    after = device.download(gm, numpy.uint8, before.size)
    device.call("aclrtFree", gm)
    return after


def operand(ub, dtype, number, count):
    """The first elements of operand `number` in a picture."""
    return torch.from_numpy(ub[number * REGION :].view(dtype)[:count].copy())


def assert_close(got, wanted, name, type_):
    """NaN where a NaN is wanted, infinities equal, the rest to a few last places."""
    rtol = 2e-3 if type_ == "half" else 1e-5 if name in LOOSE else 1e-6
    atol = 1e-3 if type_ == "half" else 1e-5 if name in LOOSE else 1e-7
    wanted = wanted.to(got.dtype)
    torch.testing.assert_close(got, wanted, rtol=rtol, atol=atol, equal_nan=True)


ELEMENTWISE = [(n, t, 4) for n in (*UNARY, *BINARY) for t in FLOATS] + [
    (n, t, 2) for n in NUMBER for t in FLOATS
]


@pytest.mark.parametrize(
    ("name", "type_", "forms"), ELEMENTWISE, ids=[f"{e[0]}-{e[1]}" for e in ELEMENTWISE]
)
def test_elementwise(advanced, device, stream, name, type_, forms):
    dtype = TYPES[type_]
    chance = random.Random(f"{name} {type_}")
    for form in range(forms):
        call = Call(form, count=chance.choice((1, 7, 64, 200, 1000)), scalar=1.5)
        before = picture(chance, dtype)
        after = run(device, stream, getattr(advanced, f"call_{name}_{type_}"), before, call)
        a, b = (operand(before, dtype, i, call.count).double() for i in (1, 2))
        if name in UNARY:
            wanted = UNARY[name](a)
        elif name in BINARY:
            wanted = BINARY[name](a, b)
        else:
            wanted = NUMBER[name](a, b, torch.tensor(1.5).double())
        got = operand(after, dtype, 0, call.count)
        if name == "GeGLU":
            # The tail of gelu is 0 sooner in doubles, and 0 times infinity is a NaN.
            got, wanted = got[a.isfinite()], wanted[a.isfinite()]
        assert_close(got, wanted, name, type_)
        # Nothing else is written.
        width = numpy.dtype(dtype).itemsize
        assert (after[call.count * width :] == before[call.count * width :]).all()


@pytest.mark.parametrize("type_", ["int16_t", "uint16_t"])
def test_xor(advanced, device, stream, type_):
    dtype = TYPES[type_]
    for form in range(4):
        call = Call(form, count=300)
        before = picture(random.Random(form), dtype)
        after = run(device, stream, getattr(advanced, f"call_Xor_{type_}"), before, call)
        values = before.view(dtype)
        half = REGION // 2
        wanted = values[half : half + 300] ^ values[2 * half : 2 * half + 300]
        assert (after.view(dtype)[:300] == wanted).all()


def test_power_of_integers(advanced, device, stream):
    before = picture(random.Random(1), numpy.int32)
    values = before.view(numpy.int32)
    bases, exponents = (-3, -1, 0, 1, 2, 7), range(-3, 9)
    pairs = [(base, exponent) for base in bases for exponent in exponents]
    values[2048 : 2048 + len(pairs)] = [base for base, _ in pairs]
    values[4096 : 4096 + len(pairs)] = [exponent for _, exponent in pairs]
    after = run(device, stream, advanced.call_Power_int32_t, before, Call(0, count=len(pairs)))

    def power(base, exponent):
        return base**exponent if exponent >= 0 else {1: 1, -1: (-1) ** exponent}.get(base, 0)

    assert after.view(numpy.int32)[: len(pairs)].tolist() == [power(*pair) for pair in pairs]


@pytest.mark.parametrize("type_", FLOATS)
def test_axpy_rounds_the_product_first(advanced, device, stream, type_):
    dtype = TYPES[type_]
    before = picture(random.Random(type_), dtype)
    call = Call(1, count=500, scalar=1.7)
    entry = getattr(advanced, f"call_AxpyOfScratch_{type_}")
    got = operand(run(device, stream, entry, before, call), dtype, 0, 500)
    old, a = operand(before, dtype, 0, 500), operand(before, dtype, 1, 500)
    product = (a.float() * torch.tensor(1.7).to(got.dtype).float()).to(got.dtype)
    wanted = (product.float() + old.float()).to(got.dtype)
    torch.testing.assert_close(got, wanted, rtol=0, atol=0, equal_nan=True)


def numbers(seed, dtype):
    """A picture of moderate numbers, none of them special."""
    generator = numpy.random.default_rng(seed)
    return generator.standard_normal(32768 // dtype().itemsize).astype(dtype).view(numpy.uint8)


# name -> what it computes of the rows, as doubles; of their used part in SUMS
SUMS = ("Sum", "Mean")
MATRIX = {
    "CumSumAlong": lambda x: x.cumsum(1),
    "CumSumDown": lambda x: x.cumsum(0),
    "Sum": lambda x: x.sum(1),
    "Mean": lambda x: x.mean(1),
    "ReduceMaxAR": lambda x: x.amax(1),
    "ReduceMaxRA": lambda x: x.amax(0),
    "ReduceMinAR": lambda x: x.amin(1),
    "ReduceMinRA": lambda x: x.amin(0),
    "ReduceSumAR": lambda x: x.sum(1),
    "ReduceSumRA": lambda x: x.sum(0),
}


@pytest.mark.usefixtures("checks")
@pytest.mark.parametrize("type_", FLOATS)
@pytest.mark.parametrize("name", MATRIX)
def test_matrix(advanced, device, stream, name, type_):
    dtype = TYPES[type_]
    for form, (rows, columns, used) in enumerate(SHAPES):
        before = numbers(form, dtype)
        call = Call(form % 2, count=rows, repeats=columns, mode=used)
        after = run(device, stream, getattr(advanced, f"call_{name}_{type_}"), before, call)
        x = operand(before, dtype, 1, rows * columns).double().reshape(rows, columns)
        wanted = MATRIX[name](x[:, :used] if name in SUMS else x).flatten()
        got = operand(after, dtype, 0, wanted.numel())
        tolerance = 3e-2 if type_ == "half" else 1e-5
        torch.testing.assert_close(got.double(), wanted, rtol=tolerance, atol=tolerance)
        if name == "CumSumDown":
            last = operand(after, dtype, 2, columns)
            assert torch.equal(last, got.reshape(rows, columns)[-1])


def test_mean_of_half_in_float(advanced, device, stream):
    """The sum of these is beyond a half's range."""
    before = numpy.full(16384, 60000, numpy.float16).view(numpy.uint8)
    call = Call(0, count=2, repeats=32, mode=30)
    after = run(device, stream, advanced.call_MeanOfFloats_half, before, call)
    assert operand(after, numpy.float16, 0, 2).tolist() == [60000, 60000]
    after = run(device, stream, advanced.call_Mean_half, before, call)
    assert operand(after, numpy.float16, 0, 2).tolist() == [float("inf")] * 2


def blocks(values, dtype):
    """A number per row as it fills a block."""
    return values.to(torch.float16 if dtype is numpy.float16 else torch.float32)[:, None].expand(
        -1, 32 // dtype().itemsize
    )


def place(ub, dtype, number, values):
    start = number * REGION // dtype().itemsize
    ub.view(dtype)[start : start + values.numel()] = values.flatten().numpy()


@pytest.mark.usefixtures("checks")
@pytest.mark.parametrize("type_", FLOATS)
@pytest.mark.parametrize("name", ["SoftMax", "SoftMaxAlone", "SimpleSoftMax", "LogSoftMax"])
def test_softmax(advanced, device, stream, name, type_):
    dtype = TYPES[type_]
    tolerance = {"rtol": 2e-3, "atol": 1e-3} if type_ == "half" else {"rtol": 1e-5, "atol": 1e-6}
    for form, (rows, columns, used) in enumerate(SHAPES):
        if name == "SoftMaxAlone":
            used = columns
        before = numbers(form, dtype)
        x = operand(before, dtype, 1, rows * columns).double().reshape(rows, columns)
        maxima = x[:, :used].amax(1)
        sums = (x - maxima[:, None])[:, :used].exp().sum(1)
        if name == "SimpleSoftMax":
            both = torch.cat([blocks(sums, dtype), blocks(maxima, dtype)])
            place(before, dtype, 2, both)
        call = Call(form % 2, count=rows, repeats=columns, mode=used)
        after = run(device, stream, getattr(advanced, f"call_{name}_{type_}"), before, call)
        wanted = ((x - maxima[:, None]).exp() / sums[:, None])[:, :used]
        wanted = wanted.log10() if name == "LogSoftMax" else wanted
        got = operand(after, dtype, 0, rows * columns).reshape(rows, columns)[:, :used]
        torch.testing.assert_close(got.double(), wanted, **tolerance)
        if name in ("SoftMax", "LogSoftMax"):
            both = torch.cat([blocks(sums, dtype), blocks(maxima, dtype)])
            got = operand(after, dtype, 2, both.numel()).reshape(both.shape)
            torch.testing.assert_close(got, both, **tolerance)


@pytest.mark.parametrize("type_", FLOATS)
def test_softmax_in_two_parts(advanced, device, stream, type_):
    """What SoftmaxFlashV2 carries from the first half of each row makes the second whole."""
    dtype = TYPES[type_]
    rows, columns = 3, 32
    entry = getattr(advanced, f"call_SoftmaxFlashV2_{type_}")
    halves = [numbers(seed, dtype) for seed in (1, 2)]
    xs = [operand(h, dtype, 1, rows * columns).double().reshape(rows, columns) for h in halves]
    first = run(device, stream, entry, halves[0], Call(0, count=rows, repeats=columns))
    carried = operand(first, dtype, 2, REGION // dtype().itemsize)
    place(halves[1], dtype, 2, carried)
    second = run(device, stream, entry, halves[1], Call(1, count=rows, repeats=columns))
    step = 32 // dtype().itemsize
    sums, maxima, factors = (
        operand(second, dtype, 2, 3 * rows * step).double().reshape(3, rows, step)[:, :, 0]
    )
    parts = [operand(u, dtype, 0, rows * columns).reshape(rows, columns) for u in (first, second)]
    whole = torch.cat([parts[0].double() * factors[:, None], parts[1].double()], 1)
    wanted = torch.softmax(torch.cat(xs, 1), 1)
    tolerance = 3e-3 if type_ == "half" else 1e-6
    got = whole / sums[:, None]
    torch.testing.assert_close(got, wanted, rtol=tolerance, atol=tolerance)
    torch.testing.assert_close(maxima, torch.cat(xs, 1).amax(1), rtol=0, atol=0)


@pytest.mark.usefixtures("checks")
@pytest.mark.parametrize("part", [0, 1, 3], ids=["alone", "first", "third"])
def test_softmax_of_shifted_pieces(advanced, device, stream, part):
    """SoftmaxFlashV3: every eighth of a row is moved by its own mean, the row by the parts'."""
    rows, columns, factor = 8, 576, 0.9375 / (1 - 0.9375)
    before = numbers(part, numpy.float16)
    x = torch.randn(rows, columns).half()
    came = torch.randn(3, rows, 1)
    came[1].abs_()
    for start, tensor in ((9216, x), (18432, came.expand(3, rows, 8).contiguous())):
        raw = tensor.view(torch.uint8).numpy().ravel()
        before[start : start + raw.size] = raw
    call = Call(min(part, 1), count=rows, repeats=columns, mode=part)
    call.places = (0, 9216, 18432, 24576)
    after = run(device, stream, advanced.call_SoftmaxFlashV3_half, before, call)

    x = x.double()
    pieces = x[:, :512].reshape(rows, 8, 8, 8).sum(3)
    pieces += x[:, 512:].reshape(rows, -1, 8, 8).sum(1)
    means = pieces.sum(2) / (columns / 8)
    own = means.mean(1, keepdim=True)
    moved = x - ((own - means) * factor).repeat_interleave(columns // 8, 1)
    mean, max_, carried, scale = own, moved.amax(1, keepdim=True), 0, None
    shift = torch.zeros_like(own)
    if part:
        old_mean, old_sum, old_max = came.double()
        mean = (own + old_mean * (part - 1)) / part
        shift, old_shift = (own - mean) * factor, (old_mean - mean) * factor
        max_ = torch.maximum(shift + max_, old_shift + old_max)
        scale = (old_max - max_ + old_shift).exp()
        carried = scale * old_sum
    wanted = (moved - (max_ - shift)).exp()
    got = torch.from_numpy(after[: 2 * x.numel()].copy()).view(torch.float16)
    close = {"rtol": 3e-3, "atol": 1e-3}
    torch.testing.assert_close(got.reshape(x.shape).double(), wanted, **close)
    new = torch.from_numpy(after[19200:19968].copy()).view(torch.float32).reshape(3, rows, 8)
    for result, number in zip(
        new, (mean, wanted.sum(1, keepdim=True) + carried, max_), strict=True
    ):
        torch.testing.assert_close(result.double(), number.expand(rows, 8), rtol=1e-4, atol=1e-4)
    if part:
        factors = torch.from_numpy(after[19968:20224].copy()).view(torch.float16)
        torch.testing.assert_close(
            factors.reshape(rows, 16).double(), scale.expand(-1, 16), **close
        )


@pytest.mark.parametrize("type_", FLOATS)
def test_softmax_gradient(advanced, device, stream, type_):
    dtype = TYPES[type_]
    tolerance = {"rtol": 3e-3, "atol": 3e-3} if type_ == "half" else {"rtol": 1e-5, "atol": 1e-5}
    for form, (rows, columns, _) in enumerate(SHAPES):
        before = numbers(form, dtype)
        call = Call(form % 2, count=rows, repeats=columns, mode=columns)
        y, grad = (
            operand(before, dtype, i, rows * columns).double().reshape(rows, columns)
            for i in (1, 2)
        )
        front = (grad * y).sum(1, keepdim=True)
        after = run(device, stream, getattr(advanced, f"call_SoftmaxGrad_{type_}"), before, call)
        got = operand(after, dtype, 0, rows * columns).double().reshape(rows, columns)
        torch.testing.assert_close(got, (grad - front) * y, **tolerance)
        entry = getattr(advanced, f"call_SoftmaxGradFront_{type_}")
        step = 32 // dtype().itemsize
        got = operand(run(device, stream, entry, before, call), dtype, 0, rows * step)
        wanted = front.expand(rows, step)
        torch.testing.assert_close(got.double().reshape(rows, step), wanted, **tolerance)


def test_adjusted_softmax(advanced, device, stream):
    """Rows whose maximum has the bits 0x3c00, one as a half."""
    before = numbers(1, numpy.float16)
    maxima = torch.tensor([1.0, 2.0, 1.0])
    place(before, numpy.float16, 2, blocks(maxima, numpy.float16))
    call = Call(0, count=3, repeats=32, mode=32)
    after = run(device, stream, advanced.call_AdjustSoftMaxRes_half, before, call)
    got = operand(after, numpy.float16, 0, 97)
    wanted = operand(before, numpy.float16, 0, 97)
    wanted[0:32] = wanted[64:96] = 7
    wanted[96] = 1
    assert torch.equal(got, wanted)


BUGS = {
    "scratch_overlaps": "Sin: expected sharedTmpBuffer apart from the operands, got one that lies",
    "no_room_for_scratch": "Sin: expected room for its scratch space behind the buffers of TPipe",
}


@pytest.mark.parametrize("name", BUGS)
def test_scratch_fault(advanced, device, name):
    launch = getattr(advanced, f"launch_{name}")
    for bug in (0, 1):
        stream = device.new_stream()
        launch(stream, bug)
        code, sentence = device.synchronize(stream)
        assert code == (VECTOR_CORE_EXCEPTION if bug else 0)
        assert (BUGS[name] in sentence) == bool(bug), sentence
        device.call("aclrtDestroyStreamForce", stream)


def test_scratch_is_overwritten(advanced, device, stream, monkeypatch):
    """Under every check nothing that was in the scratch space is left."""
    monkeypatch.setenv("HOSTCANN_CHECK", "all")
    before = numpy.zeros(32768, numpy.uint8)
    after = run(device, stream, advanced.call_Sin_float, before, Call(1, count=64))
    assert (after[3 * REGION : 3 * REGION + 4096].view(numpy.uint16) == 0x7FA5).all()
    assert not after[: 3 * REGION].any()


def test_tiling_data(advanced):
    assert advanced.tiling_is_plain() == 0
    advanced.tiling_in_too_few_bytes.restype = ctypes.c_char_p
    assert advanced.tiling_in_too_few_bytes() == (
        b"SaveToBuffer: expected a buffer of at least 104 bytes, got 16"
    )


def test_host_side(advanced):
    answers = (ctypes.c_uint64 * 8)()
    advanced.host_side(answers)
    unified_buffer, vector_cores, cube_cores, unknown, known, most, least, elements = answers
    assert unified_buffer == 192 * 1024 - 256
    assert vector_cores == 2 * cube_cores > 0
    assert unknown == known == 1
    assert 0 < least <= most
    assert elements == 4000
