# SPDX-License-Identifier: Apache-2.0
"""The tensors that rows are tried with: values, shapes, and how they lie in memory."""

import math

import torch

from operators.row import View

# 0-d, empty, one element, odd lengths that no vector width divides, and several dimensions.
SHAPES = ((), (0,), (1,), (7,), (3, 5), (2, 3, 4), (2, 0, 3), (133,))
SOLID_SHAPES = ((1,), (7,), (3, 5), (2, 3, 4), (133,))
BROADCASTS = (
    ((), ()),
    ((), (3,)),
    ((3,), ()),
    ((0,), (1,)),
    ((7,), (7,)),
    ((3, 5), (5,)),
    ((3, 1), (1, 5)),
    ((2, 3, 4), (3, 1)),
    ((1, 1), (2, 3, 4)),
    ((133,), (133,)),
)
SPECIAL = (math.nan, math.inf, -math.inf, 0.0, -0.0, 1.0, -1.0)


def values(shape, dtype, seed=0, low=-4, high=4, special=False):
    """Numbers that this dtype holds, the same in every run."""
    generator = torch.Generator().manual_seed(seed * 7919 + math.prod(shape) + len(shape))
    count = math.prod(shape)
    if dtype == torch.bool:
        flat = torch.randint(0, 2, (count,), generator=generator).bool()
    elif dtype.is_floating_point:
        flat = torch.rand(count, generator=generator, dtype=torch.float64) * (high - low) + low
        flat = flat.to(dtype)
        if special and count > len(SPECIAL):
            flat[-len(SPECIAL) :] = torch.tensor(SPECIAL, dtype=dtype)
    else:
        low = max(math.ceil(low), torch.iinfo(dtype).min)
        flat = torch.randint(low, math.floor(high) + 1, (count,), generator=generator).to(dtype)
        if special and count > 2:
            flat[-2:] = torch.tensor([torch.iinfo(dtype).min, torch.iinfo(dtype).max], dtype=dtype)
    return flat.reshape(shape)


def distinct(shape, dtype, seed=0):
    """No two elements alike, so that an order has one answer."""
    generator = torch.Generator().manual_seed(seed)
    count = math.prod(shape)
    if dtype == torch.bool:
        return values(shape, dtype, seed)
    start = 0 if dtype == torch.uint8 else -(count // 2)
    return (torch.randperm(count, generator=generator) + start).to(dtype).reshape(shape)


def transposed(tensor):
    base = tensor.transpose(0, -1).contiguous()
    return View(base, lambda base: base.transpose(0, -1), "transposed")


def strided(tensor):
    base = torch.stack([tensor, torch.ones_like(tensor)], dim=-1)
    return View(base, lambda base: base[..., 0], "strided")


def shifted(tensor):
    """Starts three elements into its storage, and leaves three behind."""
    edge = torch.ones(3, dtype=tensor.dtype)
    shape, count = tensor.shape, tensor.numel()
    base = torch.cat([edge, tensor.reshape(-1), edge])
    return View(base, lambda base: base[3 : 3 + count].view(shape), "offset 3")


def expanded(tensor):
    shape = (3, *tensor.shape)
    return View(tensor, lambda base: base.expand(shape), "expanded")


def layouts(tensor, writable=True):
    """The same values in every way that a view can lie in memory."""
    yield View(tensor)
    yield shifted(tensor)
    yield strided(tensor)
    if tensor.dim() > 1:
        yield transposed(tensor)
    if not writable and tensor.numel():
        yield expanded(tensor)


def tensors(dtype, shapes=SHAPES, seed=0, writable=True, **rule):
    """Every shape packed, and two of them in every layout."""
    for shape in shapes:
        tensor = values(shape, dtype, seed, **rule)
        if shape in ((7,), (3, 5), (2, 3, 4)):
            yield from layouts(tensor, writable)
        else:
            yield View(tensor)
