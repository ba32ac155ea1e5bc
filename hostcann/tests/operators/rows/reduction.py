# SPDX-License-Identifier: Apache-2.0
"""Reductions, scans, orders."""

import torch

from operators.inputs import SHAPES, SOLID_SHAPES, distinct, layouts, tensors, values
from operators.row import ALL, FLOATS, HALVES, NUMBERS, WIDE, Args, Row

# The order of addition follows the strides, and torch_npu may pack before it reduces.
ORDER = 8
STABLE = tuple(dtype for dtype in NUMBERS if dtype != torch.float64)


def whole(dtype, shapes=SHAPES):
    """Small whole numbers: their sums are exact in any order of addition."""
    for shape in shapes:
        tensor = values(shape, torch.int64, 1, -2, 2).to(dtype)
        if dtype == torch.uint8:
            tensor = values(shape, dtype, 1, 0, 2)
        yield from layouts(tensor, writable=False)


def everything(dtype):
    for tensor in whole(dtype):
        yield Args(tensor)


def solid(dtype):
    for tensor in whole(dtype, SOLID_SHAPES):
        yield Args(tensor)


def along(dtype, shapes=((7,), (3, 5), (2, 3, 4), (2, 0, 3))):
    for tensor in whole(dtype, shapes):
        rank = tensor.look(tensor.base).dim()
        for dim in range(-1, rank - 1):
            if tensor.look(tensor.base).shape[dim]:
                yield Args(tensor, dim)
                yield Args(tensor, dim, keepdim=True)


def along_several(dtype):
    yield from along(dtype)
    for tensor in whole(dtype, ((2, 3, 4),)):
        yield Args(tensor, (0, -1))
        yield Args(tensor, [0, 1], keepdim=True)
    yield Args(values((), dtype, 1), 0)


def fractions(dtype):
    for tensor in tensors(dtype, shapes=((), (1,), (7,), (3, 5), (2, 3, 4), (1001,))):
        yield Args(tensor)


def several(dtype):
    for tensor in tensors(dtype, shapes=((7,), (3, 5), (2, 3, 4), (1001,))):
        yield Args(tensor)


def fractions_along(dtype):
    for tensor in tensors(dtype, shapes=((7,), (3, 5), (2, 3, 4), (3, 133))):
        rank = tensor.look(tensor.base).dim()
        for dim in range(rank):
            yield Args(tensor, dim)


def scans(dtype):
    for tensor in whole(dtype, ((1,), (7,), (3, 5), (2, 3, 4), (0,))):
        for dim in range(tensor.look(tensor.base).dim()):
            yield Args(tensor, dim)


def unlike(dtype):
    for shape in ((1,), (7,), (3, 5), (2, 3, 4), (120,)):
        yield from layouts(distinct(shape, dtype))


def unlike_everything(dtype):
    yield from map(Args, unlike(dtype))
    yield Args(values((), dtype))
    if dtype.is_floating_point:
        yield Args(values((133,), dtype, special=True))


def unlike_along(dtype):
    for tensor in unlike(dtype):
        for dim in range(tensor.look(tensor.base).dim()):
            yield Args(tensor, dim)
    if dtype.is_floating_point:
        yield Args(values((133,), dtype, special=True), 0)
    yield Args(values((), dtype), 0)


def orders(dtype):
    for tensor in unlike(dtype):
        for dim in range(tensor.look(tensor.base).dim()):
            for descending in (False, True):
                yield Args(tensor, dim=dim, descending=descending)


def equal_orders(dtype):
    yield from orders(dtype)
    for descending in (False, True):
        yield Args(values((3, 40), dtype, 1, 0, 3), dim=-1, descending=descending)


def tops(dtype):
    for tensor in unlike(dtype):
        length = tensor.look(tensor.base).shape[-1]
        for k in {1, length}:
            for largest in (True, False):
                yield Args(tensor, k, largest=largest)
    yield Args(distinct((3, 5), dtype), 2, 0)
    yield Args(distinct((3, 5), dtype), 0)


def ranks(dtype):
    for tensor in unlike(dtype):
        yield Args(tensor, 1)


def norms(dtype):
    for tensor in fractions(dtype):
        for order in (2, 1, 0, 3, float("inf"), -float("inf")):
            yield Args(*tensor.args, order)


def norms_along(dtype):
    for tensor in fractions_along(dtype):
        yield Args(tensor.args[0], 2, tensor.args[1])
        yield Args(tensor.args[0], 1, tensor.args[1], keepdim=True)


def counts(dtype):
    for shape in ((0,), (7,), (133,)):
        yield Args(values(shape, dtype, 1, 0, 9))


def repeats(dtype):
    for shape in ((1,), (7,), (3, 5), (133,)):
        yield Args(values(shape, dtype, 1, 0, 4))


def as_float_on_cpu(function):
    """Where torch's CPU kernel has no halves, or rounds them at every step."""

    def call(x, *args):
        if x.device.type != "cpu":
            return function(x, *args)
        wide = [a.float() if isinstance(a, torch.Tensor) else a for a in args]
        return function(x.float(), *wide).to(x.dtype)

    return call


def keyed(function, **kwargs):
    return lambda *args, **more: function(*args, **kwargs, **more)


ROWS = [
    Row("sum", torch.sum, everything, ALL, core=True),
    Row("sum-dim", torch.sum, along_several, ALL, out=True),
    Row("sum-dtype", keyed(torch.sum, dtype=torch.float32), everything, ALL),
    Row("sum-dim-dtype", keyed(torch.sum, dtype=torch.int64), along, (torch.int32, torch.uint8)),
    Row("sum-fractions", torch.sum, fractions, FLOATS, ulp=ORDER),
    Row("sum-fractions-dim", torch.sum, fractions_along, FLOATS, ulp=ORDER),
    Row("mean", torch.mean, solid, FLOATS, core=True),
    Row("mean-empty", torch.mean, lambda d: [Args(values((0,), d))], FLOATS),
    Row("mean-dim", torch.mean, along_several, FLOATS, out=True),
    Row("mean-dtype", keyed(torch.mean, dtype=torch.float32), solid, NUMBERS),
    Row("mean-fractions-dim", torch.mean, fractions_along, FLOATS, ulp=ORDER),
    Row("prod", torch.prod, everything, ALL),
    Row("prod-dim", torch.prod, along, ALL, out=True),
    Row("prod-half", as_float_on_cpu(torch.prod), fractions, HALVES, ulp=1),
    Row("prod-dim-half", as_float_on_cpu(torch.prod), fractions_along, HALVES, ulp=1),
    Row("amax", torch.amax, along_several, ALL, out=True),
    Row("amin", torch.amin, along_several, ALL, out=True),
    Row("aminmax", lambda x: list(torch.aminmax(x)), solid, ALL),
    Row("max", torch.max, unlike_everything, ALL, core=True),
    Row("min", torch.min, unlike_everything, ALL),
    Row("max-dim", torch.max, unlike_along, NUMBERS),
    Row("min-dim", torch.min, unlike_along, NUMBERS),
    Row("argmax", torch.argmax, unlike_everything, NUMBERS),
    Row("argmin", torch.argmin, unlike_everything, NUMBERS),
    Row("argmax-dim", torch.argmax, unlike_along, NUMBERS),
    Row("argmin-dim", torch.argmin, unlike_along, NUMBERS),
    Row("all", torch.all, everything, ALL, core=True),
    Row("any", torch.any, everything, ALL),
    Row("all-dim", torch.all, along, ALL, out=True),
    Row("any-dim", torch.any, along, ALL, out=True),
    Row("count_nonzero", torch.count_nonzero, everything, ALL),
    Row("std", torch.std, several, WIDE, ulp=ORDER),
    Row("std-dim", torch.std, fractions_along, WIDE, ulp=ORDER),
    Row("std-biased", keyed(torch.std, unbiased=False), several, WIDE, ulp=ORDER),
    Row("var", torch.var, several, FLOATS, ulp=ORDER),
    Row("var-dim", keyed(torch.var, keepdim=True), fractions_along, FLOATS, ulp=ORDER),
    Row("var-correction", keyed(torch.var, correction=0), several, FLOATS, ulp=ORDER),
    Row("var_mean", lambda x: list(torch.var_mean(x)), several, FLOATS, ulp=ORDER),
    Row("norm", torch.norm, norms, WIDE, ulp=ORDER),
    Row("norm-dim", torch.norm, norms_along, WIDE, ulp=ORDER),
    Row("vector_norm", torch.linalg.vector_norm, norms, WIDE, ulp=ORDER),
    Row("logsumexp", torch.logsumexp, fractions_along, FLOATS, ulp=ORDER),
    Row("cumsum", torch.cumsum, scans, ALL, out=True),
    Row("cumprod", torch.cumprod, scans, NUMBERS, out=True),
    Row("cumsum-dtype", keyed(torch.cumsum, dtype=torch.float32), scans, NUMBERS),
    Row("cummax", lambda x, dim: list(torch.cummax(x, dim)), scans, NUMBERS),
    Row("cummin", lambda x, dim: list(torch.cummin(x, dim)), scans, NUMBERS),
    Row("logcumsumexp", torch.logcumsumexp, scans, WIDE, ulp=ORDER),
    Row("sort", torch.sort, orders, NUMBERS, core=True),
    # torch_npu refuses a stable order of float64 itself.
    Row("sort-stable", keyed(torch.sort, stable=True), equal_orders, STABLE),
    Row("argsort", torch.argsort, orders, NUMBERS),
    Row("argsort-stable", keyed(torch.argsort, stable=True), equal_orders, STABLE),
    Row("topk", torch.topk, tops, NUMBERS, core=True),
    Row("kthvalue", torch.kthvalue, ranks, NUMBERS),
    Row("median", torch.median, unlike_everything, NUMBERS),
    Row("median-dim", torch.median, unlike_along, NUMBERS),
    Row("unique", torch.unique, repeats, NUMBERS),
    Row(
        "unique-counts",
        lambda x: list(torch.unique(x, return_inverse=True, return_counts=True)),
        repeats,
        NUMBERS,
    ),
    Row("unique_consecutive", torch.unique_consecutive, repeats, NUMBERS),
    Row("bincount", torch.bincount, counts, (torch.uint8, torch.int32, torch.int64)),
    Row("histc", lambda x: torch.histc(x, 5, -2, 2), fractions, (torch.float32,)),
    Row("nansum", torch.nansum, lambda d: [Args(values((20,), d, special=True)[:14])], FLOATS),
    Row(
        "searchsorted",
        torch.searchsorted,
        lambda d: [Args(torch.sort(distinct((3, 7), d)).values, values((3, 4), d, 2))],
        (torch.float32, torch.int64),
    ),
]
