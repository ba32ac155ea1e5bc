# SPDX-License-Identifier: Apache-2.0
"""Comparisons, logic and choices."""

import math

import torch

from operators.inputs import BROADCASTS, layouts, tensors, values
from operators.row import ALL, FLOATS, INTS, NUMBERS, Args, Row
from operators.rows.elementwise import in_place_pairs, mixed, pairs, with_number

COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")
LOGIC = ("logical_and", "logical_or", "logical_xor")
BITS = ("bitwise_and", "bitwise_or", "bitwise_xor")


def small_pairs(dtype):
    """Few values, so that equal ones meet."""
    return pairs(dtype, 0, 2)


def choices(dtype):
    for left, right in BROADCASTS:
        shape = torch.broadcast_shapes(left, right)
        yield Args(values(shape, torch.bool, 3), values(left, dtype, 1), values(right, dtype, 2))
    for chosen in layouts(values((3, 5), torch.bool, 3)):
        for left in layouts(values((3, 5), dtype, 1)):
            yield Args(chosen, left, values((5,), dtype, 2))


def choices_with_number(dtype):
    for chosen in layouts(values((3, 5), torch.bool, 3)):
        yield Args(chosen, values((3, 5), dtype, 1), 1)
        yield Args(chosen, 0, values((3, 5), dtype, 1))


def close_pairs(dtype):
    left = values((133,), dtype, 1, special=True)
    right = left.clone()
    if dtype.is_floating_point:
        right[::3] *= 1 + 1e-2
        right[1::3] += 1e-9
    yield Args(left, right)
    for left in layouts(values((3, 5), dtype, 1)):
        yield Args(left, values((3, 5), dtype, 1))
        yield Args(left, values((3, 5), dtype, 2))
    yield Args(values((), dtype, 1), values((), dtype, 1))
    yield Args(values((0,), dtype, 1), values((0,), dtype, 1))


def equal_pairs(dtype):
    yield from close_pairs(dtype)
    yield Args(values((3, 5), dtype, 1), values((5, 3), dtype, 1))
    if dtype.is_floating_point:
        nan = torch.tensor([1, math.nan], dtype=dtype)
        yield Args(nan, nan)


def needles(dtype):
    for tensor in tensors(dtype, low=0, high=4):
        yield Args(tensor, values((3,), dtype, 2, 0, 4))


ROWS = [
    *(
        Row(name, getattr(torch, name), small_pairs, ALL, out=True, core=name in ("eq", "gt"))
        for name in COMPARISONS
    ),
    *(
        Row(f"{name}-number", getattr(torch, name), with_number(0, 1, 0.5, low=0, high=2), NUMBERS)
        for name in COMPARISONS
    ),
    *(Row(f"{n}_", getattr(torch.Tensor, f"{n}_"), in_place_pairs, NUMBERS) for n in COMPARISONS),
    *(Row(f"mixed-{name}", getattr(torch, name), mixed, ALL) for name in ("eq", "lt")),
    *(Row(name, getattr(torch, name), small_pairs, ALL, out=True) for name in LOGIC),
    *(Row(f"{name}_", getattr(torch.Tensor, f"{name}_"), in_place_pairs, ALL) for name in LOGIC),
    *(Row(name, getattr(torch, name), pairs, (*INTS, torch.bool), out=True) for name in BITS),
    *(
        Row(f"{name}-number", getattr(torch, name), with_number(1, 3), (*INTS, torch.bool))
        for name in BITS
    ),
    *(
        Row(f"{name}_", getattr(torch.Tensor, f"{name}_"), in_place_pairs, (*INTS, torch.bool))
        for name in BITS
    ),
    Row("where", torch.where, choices, ALL, core=True),
    Row("where-number", torch.where, choices_with_number, FLOATS),
    Row("isclose", torch.isclose, close_pairs, FLOATS),
    Row("isclose-nan", lambda x, y: torch.isclose(x, y, equal_nan=True), close_pairs, FLOATS),
    Row("allclose", torch.allclose, close_pairs, FLOATS, core=True),
    Row("equal", torch.equal, equal_pairs, ALL, core=True),
    Row("isin", torch.isin, needles, (torch.float32, torch.int32, torch.int64)),
]
