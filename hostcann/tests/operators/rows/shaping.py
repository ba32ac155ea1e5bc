# SPDX-License-Identifier: Apache-2.0
"""Joining, splitting and moving elements."""

import torch
from torch.nn import functional

from operators.inputs import layouts, tensors, values
from operators.row import ALL, DEVICE, MOVED, Args, Row


def shapes(*several):
    return lambda dtype: map(Args, tensors(dtype, several))


def lists(dtype):
    for dim in (0, 1, -1):
        for first in layouts(values((3, 5), dtype, 1)):
            yield Args([first, values((3, 5), dtype, 2)], dim)
    yield Args([values((3, 5), dtype, 1), values((3, 2), dtype, 2), values((3, 0), dtype)], 1)
    yield Args([values((7,), dtype)])
    yield Args([values((0,), dtype), values((7,), dtype)])
    yield Args([values((1,), dtype, seed) for seed in range(40)])


def equal_lists(dtype):
    for dim in (0, 1, -1):
        for first in layouts(values((3, 5), dtype, 1)):
            yield Args([first, values((3, 5), dtype, 2)], dim)
    yield Args([values((), dtype, 1), values((), dtype, 2)])
    yield Args([values((0,), dtype), values((0,), dtype)])


def mixed_lists(dtype):
    for other in ALL:
        yield Args([values((3, 5), dtype, 1, 0), values((2, 5), other, 2, 0)])


def parts(dtype):
    for tensor in tensors(dtype, ((7,), (5, 3), (6, 2, 3))):
        yield Args(tensor, 2)
        yield Args(tensor, 3)


def section_lists(dtype):
    for tensor in tensors(dtype, ((7, 3),)):
        yield Args(tensor, [1, 4, 2])


def flips(dtype):
    for tensor in tensors(dtype, ((3, 5), (2, 3, 4))):
        for dims in ((0,), (1,), (0, 1), ()):
            yield Args(tensor, dims)
    yield Args(values((0,), dtype), (0,))


def rolls(dtype):
    for tensor in tensors(dtype, ((3, 5), (2, 3, 4))):
        yield Args(tensor, 1)
        yield Args(tensor, -2, 0)
        yield Args(tensor, (1, 9), (0, 1))


def pads(dtype):
    for tensor in tensors(dtype, ((3, 5), (2, 3, 4))):
        yield Args(tensor, (1, 2))
        yield Args(tensor, (0, 3, 2, 0), value=1)
        yield Args(tensor, (-1, 1))
        yield Args(tensor, (0, 0))


def repeats(dtype):
    for tensor in tensors(dtype, ((), (7,), (3, 5))):
        yield Args(tensor, (2, 3))
        yield Args(tensor, (2, 1, 1))
    yield Args(values((3,), dtype), (0,))


def diagonals(dtype):
    for tensor in tensors(dtype, ((3, 5), (5, 3), (2, 3, 4))):
        for diagonal in (0, 1, -2):
            yield Args(tensor, diagonal)


def repeat_interleaves(dtype):
    for tensor in tensors(dtype, ((7,), (3, 5))):
        yield Args(tensor, 2)
        yield Args(tensor, 3, 0)


def moves(x):
    moved = [x.t(), x.unsqueeze(1), x[None].squeeze(0), x.expand(2, *x.shape), x.reshape(-1)]
    return [*(part.clone() for part in moved), x.unflatten(0, (1, -1)).clone(), x.ravel()]


def triangle_places(dtype):
    yield Args(3, 4, dtype=dtype, device=DEVICE)
    yield Args(4, 3, 1, dtype=dtype, device=DEVICE)


ROWS = [
    Row("cat", torch.cat, lists, ALL, core=True),
    Row("cat-out", torch.cat, lambda d: list(equal_lists(d))[:6], ALL, out=True),
    Row("cat-mixed", torch.cat, mixed_lists, ALL),
    Row("stack", torch.stack, equal_lists, ALL, core=True),
    Row("hstack", lambda x: torch.hstack([x, x]), shapes((3, 5), (7,)), ALL),
    Row("vstack", lambda x: torch.vstack([x, x]), shapes((3, 5), (7,)), ALL),
    Row("split", lambda x, n: [p.clone() for p in x.split(n)], parts, ALL),
    Row("split-sections", lambda x, n: [p.clone() for p in x.split(n)], section_lists, ALL),
    Row("chunk", lambda x, n: [p.clone() for p in x.chunk(n)], parts, ALL),
    Row("unbind", lambda x: [p.clone() for p in x.unbind()], shapes((3, 5)), ALL),
    Row("flip", torch.flip, flips, ALL),
    Row("roll", torch.roll, rolls, ALL),
    Row("pad", functional.pad, pads, ALL),
    Row("repeat", lambda x, times: x.repeat(times), repeats, ALL),
    Row("tile", lambda x: x.tile(2, 2), shapes((7,), (3, 5)), ALL),
    Row("repeat_interleave", torch.repeat_interleave, repeat_interleaves, MOVED),
    Row("tril", torch.tril, diagonals, ALL, out=True),
    Row("triu", torch.triu, diagonals, ALL, out=True),
    Row("tril_", torch.Tensor.tril_, diagonals, ALL),
    Row("triu_", torch.Tensor.triu_, diagonals, ALL),
    Row("diag", torch.diag, lambda d: map(Args, tensors(d, ((4,), (3, 5)))), MOVED),
    Row("diagonal", lambda x: x.diagonal().clone(), shapes((3, 5), (4, 4)), ALL),
    Row("trace", torch.trace, shapes((3, 5)), (torch.float32, torch.int64)),
    Row("moves", moves, shapes((3, 5), (1, 7)), ALL),
    Row("permute", lambda x: x.permute(2, 0, 1).contiguous(), shapes((2, 3, 4)), ALL),
    Row("rot90", torch.rot90, shapes((3, 5)), ALL),
    Row(
        "meshgrid",
        lambda x: [p.clone() for p in torch.meshgrid(x, x, indexing="ij")],
        shapes((7,)),
        ALL,
    ),
    Row("tril_indices", torch.tril_indices, triangle_places, (torch.int32, torch.int64)),
    Row("unfold", lambda x: x.unfold(0, 2, 1).clone(), shapes((7,), (3, 5)), ALL),
    Row("as_strided", lambda x: x.as_strided((2, 2), (1, 2), 1).clone(), shapes((7,)), ALL),
]
