# SPDX-License-Identifier: Apache-2.0
"""TopK, Transpose by a tiling and TransData against torch, odd shapes and ties included."""

import ctypes
import itertools
import math
from pathlib import Path

import numpy
import pytest
import torch
from oracle import PICTURE, Call

HERE = Path(__file__).parent
HALF = 16384  # where the source stands, so that the destination has half of the picture
DTYPES = {
    "half": torch.float16,
    "float": torch.float32,
    "int32_t": torch.int32,
    "uint16_t": torch.int16,
}


@pytest.fixture(scope="module")
def layouts(build_library):
    return build_library(HERE / "advanced_layouts.asc", "-O1")


@pytest.fixture
def run(layouts, device, stream):
    """One call on a picture that holds the given tensors; what stands in it afterwards."""

    def call(name, description, tensors):
        before = numpy.full(PICTURE, 0x5A, numpy.uint8)
        for place, tensor in tensors.items():
            raw = tensor.contiguous().view(torch.uint8).numpy().ravel()
            before[place : place + raw.size] = raw
        gm = device.upload(before)
        getattr(layouts, f"call_{name}")(stream, gm, ctypes.byref(description.as_c()))
        assert device.synchronize(stream) == (0, ""), description
        after = device.download(gm, numpy.uint8, before.size)
        device.call("aclrtFree", gm)
        return after

    return call


def read(after, place, shape, dtype):
    count = math.prod(shape) * dtype.itemsize
    return torch.from_numpy(after[place : place + count].copy()).view(dtype).reshape(shape)


# --- TopK ---


def first_of(row, k, largest):
    """Positions of the first k: a NaN in front of all, of equal ones the first."""
    rank = [(not math.isnan(x), -x if largest else x) for x in row]
    rank = [(number, 0.0 if math.isnan(key) else key) for number, key in rank]
    return sorted(range(len(row)), key=lambda i: (*rank[i], i))[:k]


@pytest.mark.usefixtures("checks")
@pytest.mark.parametrize("type_", ["half", "float"])
@pytest.mark.parametrize("form", range(3), ids=["plain", "finished", "small"])
def test_top_k(run, type_, form):
    dtype = DTYPES[type_]
    shapes = ((2, 32, 32, 1), (3, 32, 17, 9), (5, 32, 31, 31))
    if form != 2:
        shapes += ((3, 96, 70, 33), (1, 480, 479, 300))
    for (rows, inner, n, k), largest in itertools.product(shapes, (0, 1)):
        generator = torch.Generator().manual_seed(rows * k + largest)
        x = torch.randint(-20, 20, (rows, inner), generator=generator).to(dtype)
        x[:, n:] = -math.inf if largest else math.inf
        x[0, 3], x[-1, 5] = math.nan, math.inf
        each = (rows, inner) if form == 2 else (inner,)
        indices = torch.randint(0, 9999, each, dtype=torch.int32, generator=generator)
        finished = torch.arange(rows) % 2 == 1
        call = Call(form, count=rows, repeats=inner, mode=n, strides=(k, largest, 0, 0, 0, 0))
        held = {8192: x, 16384: indices, 24576: finished}
        after = run(f"TopK_{type_}", call, held)
        per_block = 32 // dtype.itemsize
        width = k if form == 2 else -(-k // per_block) * per_block
        values = read(after, 0, (rows, width), dtype)[:, :k]
        width = k if form == 2 else -(-k // 8) * 8
        got = read(after, 4096, (rows, width), torch.int32)[:, :k]
        for row in range(rows):
            order = torch.tensor(first_of(x[row].tolist(), k, largest))
            assert torch.equal(values[row].nan_to_num(99), x[row][order].nan_to_num(99))
            wanted = order if form == 0 else indices.expand(rows, inner)[row][order]
            if form == 1 and finished[row]:
                wanted = torch.full((k,), n)
            assert got[row].tolist() == wanted.tolist()


# --- Transpose by a tiling ---


def filled(x, rows=1, columns=16):
    """The last two axes filled up to multiples."""
    more = (0, -x.shape[-1] % columns, 0, -x.shape[-2] % rows)
    return torch.nn.functional.pad(x, more)


def squares(x):
    """[..., r, c] as [..., c / 16, r / 16, 16, 16]."""
    x = filled(x, rows=16)
    *head, rows, columns = x.shape
    x = x.reshape(*head, rows // 16, 16, columns // 16, 16)
    return x.transpose(-2, -3).transpose(-3, -4)


def merged(x):
    """[b, n, s, d] as [b, s, n d]."""
    return x.transpose(1, 2).flatten(2)


TYPES = {
    1: (squares, lambda x: filled(x.transpose(1, 2))),
    2: (squares, lambda x: squares(x.transpose(1, 2))),
    3: (lambda x: squares(merged(x)), squares),
    4: (lambda x: squares(merged(x)), filled),
    5: (squares, lambda x: filled(merged(x))),
    6: (squares, lambda x: squares(merged(x))),
    7: (lambda x: x, lambda x: x.transpose(2, 3)),
}


@pytest.mark.usefixtures("checks")
@pytest.mark.parametrize("type_", ["half", "int32_t"])
@pytest.mark.parametrize("kind", TYPES)
def test_transpose_by_tiling(run, type_, kind):
    dtype = DTYPES[type_]
    shapes = {7: ((1, 1, 16, 48), (1, 1, 80, 16)), 2: ((1, 3, 16, 16), (1, 2, 16, 16))}.get(
        kind, ((1, 2, 16, 32), (2, 3, 32, 16))
    )
    if kind in (3, 4, 5, 6):
        shapes += ((1, 3, 16, 20), (2, 2, 16, 5))
    for form, shape in enumerate(shapes):
        x = torch.randint(1, 2000, shape).to(dtype)
        source, target = (as_stored(x) for as_stored in TYPES[kind])
        call = Call(form % 2, mode=kind, strides=(*shape, 0, 0), places=(0, HALF, HALF, 28672))
        after = run(f"TransposeByTiling_{type_}", call, {HALF: source})
        got = read(after, 0, target.shape, dtype)
        inside = target != 0  # what fills up is left as it was
        assert inside.sum() == x.numel()
        assert torch.equal(got[inside], target[inside])


# --- TransData ---


def in_sixteens(x, axis):
    more = [0, 0] * (x.dim() - 1 - axis) + [0, -x.shape[axis] % 16]
    return torch.nn.functional.pad(x, more).unflatten(axis, (-1, 16))


FORMATS = {
    0: lambda x: in_sixteens(x, 1).permute(0, 3, 1, 4, 5, 2),
    2: lambda x: in_sixteens(in_sixteens(x, 1), 0).permute(4, 2, 5, 6, 0, 1, 3),
}


@pytest.mark.usefixtures("checks")
@pytest.mark.parametrize("type_", ["half", "uint16_t"])
@pytest.mark.parametrize("back", [0, 1], ids=["cut", "whole"])
@pytest.mark.parametrize("kind", FORMATS, ids=["NDC1HWC0", "FRACTAL_Z_3D"])
def test_trans_data(run, type_, back, kind):
    dtype = DTYPES[type_]
    for shape in ((3, 5, 1, 3, 5), (17, 2, 1, 1, 2), (2, 17, 2, 2, 3), (1, 16, 1, 4, 8)):
        x = torch.randint(1, 2000, shape).to(dtype)
        area = shape[3] * shape[4]
        plain = torch.full((*shape[:3], -(-area // 16) * 16), 7).to(dtype)
        plain[..., :area] = x.flatten(3)
        cut = FORMATS[kind](x)
        call = Call(mode=kind + back, strides=(*shape, 0), places=(0, HALF, HALF, 28672))
        after = run(f"TransData_{type_}", call, {HALF: cut if back else plain})
        if back:
            assert torch.equal(read(after, 0, plain.shape, dtype)[..., :area], x.flatten(3))
        else:
            assert torch.equal(read(after, 0, cut.shape, dtype), cut)


# --- faults ---

FAULTS = {
    0: "Transpose: expected [b, n, s, h] whose s and, but where n is split off or merged, h are"
    " multiples of 16",
    1: "Transpose: expected one of the types from TRANSPOSE_NZ2ND_0213 to TRANSPOSE_ND2ND_ONLY, got"
    " type 8",
    2: "Transpose: expected dst and src to be disjoint, got the same tensor",
    3: "TopK: expected outter from 1 on, inner a multiple of 32 up to 4096, n up to inner and k up"
    " to n, got outter 1, inner 33, n 32, k 4",
    4: "TopK: expected outter from 1 on, inner a multiple of 32 up to 32,",
    5: "TransData: expected the NDC1HWC0 layout of n 1, c 20, d 1, h x w 16 to have 512 elements,"
    " got 256; c and n are cut into 16",
}


@pytest.mark.parametrize("bug", FAULTS)
def test_layout_fault(layouts, device, stream, bug):
    layouts.launch_layout_fault(stream, bug)
    code, sentence = device.synchronize(stream)
    assert code == 507035
    assert FAULTS[bug] in sentence


def test_scratch_of_layouts(layouts):
    sizes = (ctypes.c_uint32 * 6)()
    layouts.scratch_of_layouts(sizes)
    # Sort's scratch space holds a pair of 8 bytes per element; else twice the operand at most.
    assert list(sizes) == [128 * 8, 2 * 3 * 64 * 4, 256, 2 * 2048, 2 * 240, 2 * 8 * 512 * 2]
