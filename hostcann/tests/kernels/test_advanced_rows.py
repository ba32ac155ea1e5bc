# SPDX-License-Identifier: Apache-2.0
"""Normalisation, quantisation and rearranging of rows against torch."""

import ctypes
import errno
from pathlib import Path

import numpy
import pytest
import torch
from oracle import REGION, TYPES, Call

HERE = Path(__file__).parent
FLOATS = ("half", "float")
SHAPES = ((1, 16), (3, 32), (5, 64))
ROW = 512
EPSILON = 0.01
MORE = 3 * REGION + 4096
CLOSE = {"half": {"rtol": 4e-3, "atol": 4e-3}, "float": {"rtol": 1e-5, "atol": 1e-5}}


@pytest.fixture(scope="module")
def advanced(build_library):
    return build_library(HERE / "advanced_rows.asc", "-O1")


class Case:
    """A picture of moderate numbers, one call on it, and tensors of what came out."""

    def __init__(self, device, stream, library, type_, seed):
        self.device, self.stream, self.library, self.type_ = device, stream, library, type_
        self.dtype = TYPES[type_]
        generator = numpy.random.default_rng(seed)
        self.before = generator.standard_normal(32768 // self.dtype().itemsize)
        self.before = (2 * self.before).astype(self.dtype).view(numpy.uint8)
        self.after = None

    def run(self, name, call):
        gm = self.device.upload(self.before)
        entry = getattr(self.library, f"call_{name}_{self.type_}")
        entry(self.stream, gm, ctypes.byref(call.as_c()))
        assert self.device.synchronize(self.stream) == (0, ""), call
        self.after = self.device.download(gm, numpy.uint8, self.before.size)
        self.device.call("aclrtFree", gm)

    def _at(self, ub, place, shape, dtype):
        count = int(numpy.prod(shape))
        values = ub[place:].view(dtype or self.dtype)[:count].copy()
        return torch.from_numpy(values).reshape(shape)

    def given(self, place, shape, dtype=None):
        return self._at(self.before, place, shape, dtype)

    def got(self, place, shape, dtype=None):
        return self._at(self.after, place, shape, dtype)

    def put(self, place, values):
        raw = values.contiguous().numpy().tobytes()
        self.before[place : place + len(raw)] = numpy.frombuffer(raw, numpy.uint8)

    def close(self, got, wanted):
        torch.testing.assert_close(got.double(), wanted.double(), **CLOSE[self.type_])


@pytest.fixture
def case(device, stream, advanced):
    return lambda type_, seed=0: Case(device, stream, advanced, type_, seed)


def places(*numbers):
    """Of the vectors that lie in src1 behind each other."""
    return [2 * REGION + ROW * n for n in numbers]


@pytest.mark.usefixtures("checks")
@pytest.mark.parametrize("type_", FLOATS)
def test_layer_norm(case, type_):
    for form, (rows, columns) in enumerate(SHAPES):
        c = case(type_, form)
        c.run("LayerNorm", Call(form % 2, count=rows, repeats=columns, scalar=EPSILON))
        first, second, third, fourth = places(0, 1, 2, 3)
        x = c.given(REGION, (rows, columns)).double()
        gamma, beta = c.given(first, columns).double(), c.given(second, columns).double()
        wanted = torch.nn.functional.layer_norm(x, (columns,), gamma, beta, EPSILON)
        c.close(c.got(0, (rows, columns)), wanted)
        c.close(c.got(third, rows), x.mean(1))
        c.close(c.got(fourth, rows), x.var(1, correction=0))


@pytest.mark.parametrize("type_", FLOATS)
def test_rms_norm(case, type_):
    for form, (rows, columns) in enumerate(SHAPES):
        c = case(type_, form)
        c.run("RmsNorm", Call(form % 2, count=rows, repeats=columns, scalar=EPSILON))
        x = c.given(REGION, (rows, columns)).double()
        gamma = c.given(places(0)[0], columns).double()
        c.close(
            c.got(0, (rows, columns)), torch.nn.functional.rms_norm(x, (columns,), gamma, EPSILON)
        )


@pytest.mark.parametrize("type_", FLOATS)
def test_deep_norm(case, type_):
    for form, (rows, columns) in enumerate(SHAPES):
        c = case(type_, form)
        c.run("DeepNorm", Call(form % 2, count=rows, repeats=columns, scalar=EPSILON))
        first, second, third, fourth = places(0, 1, 2, 3)
        x = c.given(REGION, (rows, columns)).double()
        x = 2 * x + c.given(MORE, (rows, columns)).double()
        gamma, beta = c.given(first, columns).double(), c.given(second, columns).double()
        wanted = torch.nn.functional.layer_norm(x, (columns,), gamma, beta, EPSILON)
        c.close(c.got(0, (rows, columns)), wanted)
        c.close(c.got(third, rows), x.mean(1))
        c.close(c.got(fourth, rows), x.var(1, correction=0))


@pytest.mark.parametrize("type_", FLOATS)
def test_layer_norm_gradient(case, type_):
    for form, (rows, columns) in enumerate(SHAPES):
        c = case(type_, form)
        first, third, fourth, normal = places(0, 2, 3, 4)
        x = c.given(REGION, (rows, columns)).double().requires_grad_()
        dy = c.given(MORE, (rows, columns)).double()
        gamma = c.given(first, columns).double().requires_grad_()
        beta = torch.zeros(columns).double().requires_grad_()
        kind = torch.float16 if type_ == "half" else torch.float32
        mean, variance = x.detach().mean(1), x.detach().var(1, correction=0)
        c.put(third, mean.to(kind))
        c.put(fourth, variance.to(kind))
        c.run("LayerNormGrad", Call(form % 2, count=rows, repeats=columns, scalar=EPSILON))
        y = torch.nn.functional.layer_norm(x, (columns,), gamma, beta, EPSILON)
        y.backward(dy)
        c.close(c.got(0, (rows, columns)), x.grad)
        wanted = (x.detach() - mean[:, None]) * (variance + EPSILON).rsqrt()[:, None]
        c.close(c.got(normal, (rows, columns)), wanted)

        after = case(type_, form)
        after.put(REGION, wanted.to(kind))
        after.run("LayerNormGradBeta", Call(form % 2, count=rows, repeats=columns))
        after.close(after.got(0, columns), gamma.grad)
        after.close(after.got(ROW, columns), beta.grad)


def test_normalize(case):
    for form, (rows, columns) in enumerate(SHAPES):
        c, used = case("float", form), columns - 3
        first, second, third, fourth = places(0, 1, 2, 3)
        x = c.given(REGION, (rows, columns))
        mean, variance = x[:, :used].mean(1), x[:, :used].var(1, correction=0)
        c.put(third, mean)
        c.put(fourth, variance)
        call = Call(form % 2, count=rows, repeats=columns, mode=used, scalar=EPSILON)
        c.run("Normalize", call)
        gamma, beta = c.given(first, used), c.given(second, used)
        wanted = torch.nn.functional.layer_norm(x[:, :used], (used,), gamma, beta, EPSILON)
        c.close(c.got(0, (rows, columns))[:, :used], wanted)
        c.close(c.got(MORE, rows), (variance + EPSILON).rsqrt())


def test_welford_update(case):
    """Three blocks, one after the other: the mean and the sum of squared deviations of each."""
    mean, squares = torch.zeros(32), torch.zeros(32)
    blocks = []
    for i in range(3):
        c = case("float", i)
        first, second = places(0, 1)
        c.put(first, mean)
        c.put(second, squares)
        c.run("WelfordUpdate", Call(i % 2, count=1, repeats=32, mode=29, scalar=1 / (i + 1)))
        blocks.append(c.given(REGION, 32))
        mean, squares = c.got(0, 32), c.got(128, 32)
        mean[29:] = squares[29:] = 0
    x = torch.stack(blocks)[:, :29]
    torch.testing.assert_close(mean[:29], x.mean(0))
    torch.testing.assert_close(squares[:29], 3 * x.var(0, correction=0), rtol=1e-5, atol=1e-5)


def test_layer_norm_of_rows(case):
    for form, (rows, columns) in enumerate(SHAPES):
        c, used = case("float", form), columns - 3
        call = Call(form % 2, count=rows, repeats=columns, mode=used, scalar=EPSILON)
        c.run("LayerNormOfRows", call)
        first, second, third, fourth = places(0, 1, 2, 3)
        x = c.given(REGION, (rows, columns))[:, :used]
        gamma, beta = c.given(first, used), c.given(second, used)
        wanted = torch.nn.functional.layer_norm(x, (used,), gamma, beta, EPSILON)
        c.close(c.got(0, (rows, columns))[:, :used], wanted)
        c.close(c.got(third, rows), x.mean(1))
        c.close(c.got(fourth, rows), (x.var(1, correction=0) + EPSILON).rsqrt())


def test_welford_finalize(case):
    """The first 20 of 32 columns of a row have three elements, the others two."""
    x = torch.randn(3, 32)
    head, tail = x[:, :20], x[:2, 20:]
    all_of_them = torch.cat([head.flatten(), tail.flatten()])
    mean = torch.cat([head.mean(0), tail.mean(0)])
    squares = torch.cat([3 * head.var(0, correction=0), 2 * tail.var(0, correction=0)])
    counts = torch.tensor([3] * 20 + [2] * 12, dtype=torch.int32)
    for form in range(4):
        c = case("float", form)
        for place, values in zip(places(0, 1, 2), (mean, squares, counts), strict=True):
            c.put(place, values)
        heads = 3 if form < 2 else 0
        call = Call(form % 2, count=heads, repeats=32, mode=20, mask=2, scalar=all_of_them.numel())
        c.run("WelfordFinalize", call)
        c.close(c.got(0, 1), all_of_them.mean()[None])
        c.close(c.got(32, 1), all_of_them.var(correction=0)[None])


@pytest.mark.parametrize("type_", FLOATS)
def test_transposed_channels(case, type_):
    batch, channels, area = 2, 3, 64
    for form in (0, 1):
        c = case(type_, form)
        c.run("TransposeChannels", Call(form, count=channels, repeats=area, mode=batch))
        shape = (batch, channels, area) if form == 0 else (batch, area, channels)
        wanted = c.given(REGION, shape).transpose(1, 2)
        assert torch.equal(c.got(0, wanted.shape), wanted)


def test_transpose_of_another_type(advanced, device):
    for bug in (0, 1):
        stream = device.new_stream()
        advanced.launch_transpose_nz(stream, bug)
        code, sentence = device.synchronize(stream)
        assert code == (507035 if bug else 0)
        assert ("Transpose: expected TRANSPOSE_ND2ND_B16" in sentence) == bool(bug), sentence
        device.call("aclrtDestroyStreamForce", stream)


@pytest.mark.parametrize("type_", FLOATS)
def test_quant(case, type_):
    for form in range(4):
        c = case(type_, form)
        c.run("AscendQuant", Call(form, count=1000, scalar=30.1))
        x, scale = c.given(REGION, 1000).half().float(), torch.tensor(30.1).half().float()
        wanted = ((x * scale).half().float() - 3).half().float().round().clamp(-128, 127)
        assert torch.equal(c.got(0, 1000, numpy.int8).float(), wanted)


@pytest.mark.usefixtures("checks")
@pytest.mark.parametrize("type_", FLOATS)
def test_quant_by_channels(case, type_):
    for form, (rows, columns) in enumerate(4 * ((5, 32), (3, 64))):
        c = case(type_, form)
        c.run("QuantChannels", Call(form, count=rows, repeats=columns, scalar=-3.5))
        x = c.given(REGION, (rows, columns)).half().float()
        scales, offsets = (c.given(place, columns).half().float() for place in places(0, 2))
        offset = offsets if form & 2 else -3.5
        wanted = ((x * scales).half().float() + offset).half().float().round().clamp(-128, 127)
        assert torch.equal(c.got(0, (rows, columns), numpy.int8).float(), wanted)


@pytest.mark.usefixtures("checks")
@pytest.mark.parametrize("type_", FLOATS)
def test_dequant(case, type_):
    """Scales are floats, for half in the lower words; what is not computed stays."""
    shapes = ((4, 8, 5), (3, 40, 33), (1, 64, 16))
    for form, (rows, columns, used) in enumerate(shapes):
        c = case(type_, form)
        numbers = torch.randint(-999, 999, (rows, columns), dtype=torch.int32)
        scales = torch.rand(used)
        c.put(REGION, numbers)
        words = scales.view(torch.int32).long() + (5 << 32)
        c.put(2 * REGION, words if type_ == "half" else scales)
        c.run("Dequant", Call(form % 2, count=rows, repeats=columns, mode=used))
        if rows == 1:  # many rows of the scales' length
            rows, numbers = columns // used, numbers.reshape(-1, used)
        per_block = 32 // c.dtype().itemsize
        step = (numbers.shape[1] + per_block - 1) // per_block * per_block
        c.close(c.got(0, (rows, step))[:, :used], numbers[:, :used] * scales)
    c = case("float")
    numbers = torch.arange(32, dtype=torch.int32).reshape(4, 8)
    c.put(REGION, numbers)
    c.run("DequantByNumber", Call(0, count=4, repeats=8, mode=6, scalar=0.25))
    assert torch.equal(c.got(0, (4, 8))[:, :6], numbers[:, :6] * 0.25)


def test_anti_quant(case):
    for form in range(3):
        c = case("half", form)
        values = torch.randint(-128, 127, (8, 64), dtype=torch.int8)
        c.put(REGION, values)
        c.run("AntiQuant", Call(form, count=8, repeats=64, scalar=0.5))
        first, third = places(0, 2)
        shape = (2, 64) if form == 0 else (8, 2)
        offsets, scales = c.given(first, shape), c.given(third, shape)
        if form == 2:
            offsets, scales = torch.tensor(5.0).half(), torch.tensor(0.5).half()
        else:
            each = 4 if form == 0 else 32
            offsets = offsets.repeat_interleave(each, form)
            scales = scales.repeat_interleave(each, form)
        wanted = ((values.float() + offsets.float()).half().float() * scales.float()).half()
        assert torch.equal(c.got(0, (8, 64)), wanted)


@pytest.mark.parametrize("type_", ["int16_t", "half", "int32_t", "float"])
def test_arange(case, type_):
    c = case(type_)
    c.run("Arange", Call(0, count=100, scalar=2.0))
    assert c.got(0, 100).tolist() == [3 + 2 * i for i in range(100)]


@pytest.mark.parametrize("type_", ["int8_t", "int32_t", *FLOATS])
def test_broadcast(case, type_):
    rows, columns = 4, 64
    for form in range(3):
        c = case(type_, form)
        c.run("Broadcast", Call(form, count=rows, repeats=columns))
        x = c.given(REGION, 64)
        if form == 0:
            wanted = x[:rows, None].expand(rows, columns)
        elif form == 1:
            wanted = x[None, :columns].expand(rows, columns)
        else:
            wanted = x[:1].expand(rows)
        assert torch.equal(c.got(0, wanted.shape), wanted)


@pytest.mark.parametrize("type_", FLOATS)
def test_drop_out(case, type_):
    rows, columns = 3, 64
    for form in range(4):
        bits = form in (1, 3)
        used = {0: 64, 1: 8, 2: 96, 3: 32}[form]
        c = case(type_, form)
        high = 256 if bits else 2
        mask = torch.randint(0, high, (rows, used), dtype=torch.uint8)
        c.put(2 * REGION, mask)
        c.run("DropOut", Call(form, count=rows, repeats=columns, mode=used, scalar=0.25))
        kept = mask[:, :columns] != 0
        if bits:
            kept = (mask[:, :8, None] >> torch.arange(8) & 1).reshape(rows, columns) != 0
        x = c.given(REGION, (rows, columns))
        assert torch.equal(c.got(0, (rows, columns)), torch.where(kept, 4 * x, 0))


@pytest.mark.parametrize("type_", FLOATS)
def test_select_by_bytes(case, type_):
    rows, columns, used = 3, 32, 64
    for form in (0, 1):
        c = case(type_, form)
        mask = torch.randint(0, 3, (rows, used), dtype=torch.uint8)
        c.put(2 * REGION, mask)
        c.run("SelectByBytes", Call(form, count=rows, repeats=columns, mode=used, scalar=9.0))
        on, x = mask[:, :columns] != 0, c.given(REGION, (rows, columns))
        wanted = torch.where(on, 9.0, x) if form == 1 else torch.where(on, x, 9.0)
        assert torch.equal(c.got(0, (rows, columns)), wanted.to(x.dtype))


@pytest.mark.parametrize("type_", FLOATS)
def test_pad_and_unpad(case, type_):
    padded = 16
    for form in (0, 1):
        c = case(type_, form)
        stored = 13
        c.run("Pad", Call(form, count=4, repeats=stored, mode=stored))
        wanted = torch.full((4, padded), -7.0)
        wanted[:, 1 : 1 + stored] = c.given(REGION, (4, stored))
        assert torch.equal(c.got(0, (4, padded)).float(), wanted)

        c = case(type_, form)
        c.run("UnPad", Call(form, count=4, repeats=32, mode=27))
        assert torch.equal(c.got(0, (4, 27)), c.given(REGION, (4, 32))[:, :27])


@pytest.mark.parametrize("type_", FLOATS)
@pytest.mark.parametrize("repeats", [1, 2, 7])
def test_sort_and_extract(case, type_, repeats):
    count = 32 * repeats
    for full in (0, 1):
        c = case(type_, full)
        kind = torch.float16 if type_ == "half" else torch.float32
        scores = torch.randint(0, 40, (count,)).to(kind)
        c.put(REGION, scores)
        c.put(2 * REGION, torch.arange(count, dtype=torch.int32))
        c.run("SortAll", Call(full, count=repeats))
        rows = scores.reshape(1, -1) if full else scores.reshape(-1, 32)
        wanted = torch.sort(rows, descending=True, stable=True)
        order = wanted.indices + 32 * torch.arange(len(rows))[:, None]
        assert torch.equal(c.got(REGION, count), wanted.values.flatten())
        assert torch.equal(c.got(2 * REGION, count, numpy.int32), order.flatten().int())
        assert c.got(8 * count, 1).item() == 8 // c.dtype().itemsize


def test_secure_copy(advanced):
    source, target = b"0123456789", ctypes.create_string_buffer(8)
    copy = advanced.copy_securely
    copy.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p, ctypes.c_size_t)
    assert copy(target, 8, source, 9) == errno.ERANGE
    assert target.raw == bytes(8)
    assert copy(None, 8, source, 4) == errno.EINVAL
    assert copy(target, 8, source, 4) == 0
    assert target.raw == b"0123" + bytes(4)
