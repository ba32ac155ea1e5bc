# SPDX-License-Identifier: Apache-2.0
"""Tensors made on the device, casts among all dtypes, and copies of every layout."""

import torch

from operators.inputs import SHAPES, layouts, tensors, values
from operators.row import ALL, DEVICE, FLOATS, INTS, NUMBERS, Args, Row

NARROW = FLOATS[:3]
ENDS = ((0, 7), (2, 9), (-3, 40))


def filled(dtype):
    for shape in SHAPES:
        yield Args(shape, dtype=dtype, device=DEVICE)


def full(dtype):
    for shape in SHAPES:
        for number in (0, 1, 3) if dtype != torch.bool else (True, False):
            yield Args(shape, number, dtype=dtype, device=DEVICE)


def like(dtype):
    for tensor in tensors(dtype):
        yield Args(tensor)


def cast_like(dtype):
    for other in ALL:
        yield Args(values((3, 5), dtype), dtype=other)


def arange(dtype):
    yield Args(0, dtype=dtype, device=DEVICE)
    yield Args(1, dtype=dtype, device=DEVICE)
    yield Args(127, dtype=dtype, device=DEVICE)
    yield Args(3, 40, 4, dtype=dtype, device=DEVICE)
    if dtype != torch.uint8:
        yield Args(9, -8, -3, dtype=dtype, device=DEVICE)
    if dtype.is_floating_point:
        yield Args(0.5, 4.0, 0.25, dtype=dtype, device=DEVICE)


def linspace(dtype):
    for start, end in ENDS:
        for steps in (0, 1, 2, 5, 37):
            yield Args(max(start, 0), end, steps, dtype=dtype, device=DEVICE)


def eye(dtype):
    for size in ((0,), (1,), (5,), (3, 5), (5, 3)):
        yield Args(*size, dtype=dtype, device=DEVICE)


def to_every_dtype(dtype):
    for tensor in tensors(dtype, low=0, high=4, special=False):
        for other in ALL:
            if other != torch.float64:
                yield Args(tensor, other)


def to_double(x):
    """What torch_npu makes of to(float64), on every chip: a float32, and its own float64 stays."""
    wide = x.to(torch.float64)
    return wide if wide.device.type != "cpu" or x.dtype == torch.float64 else wide.float()


def to_every_float(dtype):
    tensor = values((133,), dtype, special=True, low=-70000, high=70000)
    for other in NARROW:
        yield Args(tensor, other)
    # Half-way cases: ties go to even.
    ties = torch.tensor([1.0, 1.00048828125, 1.00146484375, 1.00390625, 1.01171875, 65519, 65520])
    for other in NARROW:
        yield Args(ties.to(dtype), other)


def wraps(dtype):
    tensor = values((133,), dtype, low=-30000, high=30000, special=True)
    for other in (*INTS, torch.bool):
        yield Args(tensor, other)


def copies(dtype):
    for shape in SHAPES:
        for target in layouts(values(shape, dtype, 1)):
            for source in layouts(values(shape, dtype, 2)):
                yield Args(target, source)
    for source in ((), (1,), (5,), (3, 1)):
        yield Args(values((3, 5), dtype, 1), values(source, dtype, 2))


def cast_copies(dtype):
    for other in ALL:
        source = values((3, 5), other, 2, low=0)
        for target in layouts(values((3, 5), dtype, 1)):
            yield Args(target, source)


def from_host(device, tensor):
    return tensor.look(tensor.base).to(device)


def host_tensors(dtype):
    # A box, because tensors among the arguments would be moved before the call.
    for tensor in tensors(dtype, writable=False):
        yield Args(DEVICE, Host(tensor))


class Host:
    """A CPU tensor that stays on the CPU."""

    def __init__(self, view):
        self.base, self.look, self.view = view.base, view.look, view

    def __str__(self):
        return f"cpu {self.view}"


def host_casts(dtype):
    for other in ALL:
        for tensor in layouts(values((3, 5), dtype, low=0)):
            yield Args(DEVICE, Host(tensor), other)


def from_host_as(device, tensor, dtype):
    return tensor.look(tensor.base).to(device, dtype)


def to_host_as(device, tensor, dtype):
    return tensor.look(tensor.base.to(device)).to("cpu", dtype)


def copy_from_host(device, tensor, dtype):
    target = torch.zeros(3, 5, dtype=dtype).to(device)
    return target.t().copy_(tensor.look(tensor.base).t())


def copy_to_host(device, tensor, dtype):
    target = torch.zeros(5, 3, dtype=dtype)
    return target.t().copy_(tensor.look(tensor.base.to(device)))


def fills(dtype):
    numbers = (0, 1, 3, 2.5) if dtype.is_floating_point else (0, 1, 3)
    for tensor in tensors(dtype):
        for number in numbers:
            yield Args(tensor, number)


def new_full(tensor):
    return [
        tensor.new_zeros((2, 3)),
        tensor.new_ones((2, 3)),
        tensor.new_full((3,), 2),
        tensor.new_tensor([1, 0, 1]),
    ]


def read_all(tensor):
    """What reading in Python gives: lists and numbers."""
    return [
        tensor.tolist(),
        [element.item() for element in tensor.reshape(-1)[:3]],
        tensor.numel() == 1 and bool(tensor),
    ]


def finite(dtype):
    yield from map(Args, tensors(dtype))


ROWS = [
    Row("zeros", torch.zeros, filled, ALL, core=True),
    Row("ones", torch.ones, filled, ALL),
    Row("full", torch.full, full, ALL, core=True),
    Row("zeros_like", torch.zeros_like, like, ALL),
    Row("ones_like", torch.ones_like, like, ALL),
    Row("full_like", lambda x: torch.full_like(x, 2), like, ALL),
    Row("zeros_like-dtype", torch.zeros_like, cast_like, ALL),
    Row("ones_like-dtype", torch.ones_like, cast_like, ALL),
    Row("new_full", new_full, like, ALL),
    # The vector and the scalar end of the CPU's loop round start + i * step differently.
    Row("arange", torch.arange, arange, NUMBERS, ulp=1, core=True),
    Row("linspace", torch.linspace, linspace, FLOATS, ulp=1),
    Row("eye", torch.eye, eye, ALL),
    Row("zero_", torch.Tensor.zero_, like, ALL, core=True),
    Row("fill_", torch.Tensor.fill_, fills, ALL),
    Row("fill_-tensor", lambda x: x.fill_(x.new_tensor(1)), like, ALL),
    Row("to-dtype", lambda x, other: x.to(other), to_every_dtype, ALL, core=True),
    Row("to-float64", to_double, like, ALL),
    Row("to-float-rounds", lambda x, other: x.to(other), to_every_float, FLOATS),
    Row("to-int-wraps", lambda x, other: x.to(other), wraps, (torch.int16, torch.int32)),
    Row("clone", torch.clone, lambda d: map(Args, tensors(d, writable=False)), ALL, core=True),
    Row(
        "contiguous", torch.Tensor.contiguous, lambda d: map(Args, tensors(d, writable=False)), ALL
    ),
    Row("copy_", torch.Tensor.copy_, copies, ALL, core=True),
    Row("copy_-cast", torch.Tensor.copy_, cast_copies, ALL),
    Row("from-host", from_host, host_tensors, ALL),
    Row("from-host-cast", from_host_as, host_casts, ALL),
    Row("to-host-cast", to_host_as, host_casts, ALL),
    Row("copy_-from-host", copy_from_host, host_casts, ALL),
    Row("copy_-to-host", copy_to_host, host_casts, ALL),
    Row("tolist-item-bool", read_all, finite, ALL),
    Row("numpy", lambda x: x.cpu().numpy().tolist(), finite, (torch.float32, torch.int64)),
    Row("reshape", lambda x: x.reshape(-1), finite, ALL),
    Row("view-dtype", lambda x: x.view(torch.int32), finite, (torch.float32,)),
]
