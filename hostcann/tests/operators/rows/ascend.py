# SPDX-License-Identifier: Apache-2.0
"""What torch_npu has beside torch, next to the same thing written for the CPU."""

import math

import torch
from torch.nn import functional

from operators.inputs import layouts, tensors, values
from operators.row import ALL, FLOATS, HALVES, Args, Row, View
from operators.rows.neural import CHAIN, gradients

FLOAT = (torch.float32,)
ACL_FORMAT_FRACTAL_NZ = 29
ACL_FORMAT_ND = 2


def either(on_device, on_cpu):
    """Calls torch_npu's function, imported when the device is there, or the CPU's."""

    def call(*args):
        if args[0].device.type == "cpu":
            return on_cpu(*args)
        import torch_npu

        return on_device(torch_npu, *args)

    return call


def weighted(dtype):
    for x in layouts(values((3, 8), dtype, 1)):
        yield Args(x, values((8,), dtype, 2, 0.5, 2))


def summed(dtype):
    for x in layouts(values((3, 8), dtype, 1)):
        yield Args(x, values((3, 8), dtype, 3), values((8,), dtype, 2, 0.5, 2))


def even(dtype):
    yield from map(Args, tensors(dtype, ((8,), (3, 8))))


def whole(dtype):
    yield from map(Args, tensors(dtype, low=-9, high=9))


def casts(dtype):
    for tensor in tensors(dtype, low=0):
        for other in (torch.float16, torch.bfloat16, torch.float32, torch.int32, torch.int64):
            yield Args(tensor, other)


# Four dimensions go through the older interface.
MATRICES = ((16, 16), (33, 17), (1, 1), (2, 7, 40), (2, 3, 5, 7), (2, 1, 3, 4, 5), (0, 3))


def matrices(dtype):
    for shape in MATRICES:
        yield Args(values(shape, dtype, 1))


def views_of_matrices(dtype):
    for shape in MATRICES:
        yield from map(Args, layouts(values(shape, dtype, 1)))
    # Goes through the older interface too.
    yield Args(View(values((1, 9), dtype, 1), lambda base: base.view(9, 1), "column"))


def scales(dtype):
    finite = values((7,), dtype, 1)
    infinite = finite.clone()
    infinite[3] = float("inf")
    for last in (finite, infinite):
        yield Args(values((3, 5), dtype, 2), last, torch.zeros(1), torch.tensor([0.5]))


def trackers(dtype):
    for found in (0.0, 1.0):
        for steps in (0, 2, 3):
            yield Args(
                torch.tensor([8.0], dtype=dtype),
                torch.tensor([steps], dtype=torch.int32),
                torch.tensor([found]),
            )


def updated_scale(scale, tracker, found):
    torch._amp_update_scale_(scale, tracker, found, 2.0, 0.5, 4)
    return [scale, tracker]


def unscale(x, y, found, scale):
    torch._amp_foreach_non_finite_check_and_unscale_([x, y], found, scale)
    # What is left of gradients that hold an infinity is nobody's promise: the step is skipped.
    return [found, *([x, y] if not found.item() else [])]


def unscaled_copies(x, y, found, scale):
    return unscale(x.clone(), y.clone(), found.clone(), scale)


def there_and_back(torch_npu, x):
    torch.npu.config.allow_internal_format = True
    try:
        there = torch_npu.npu_format_cast(x, ACL_FORMAT_FRACTAL_NZ)
        return torch_npu.npu_format_cast(there, ACL_FORMAT_ND), there
    finally:
        torch.npu.config.allow_internal_format = False


def storage_size(torch_npu, x):
    return torch_npu.get_storage_size(there_and_back(torch_npu, x)[1])


def nz_size(x):
    block = 32 if x.element_size() == 1 else 16
    *batch, rows, columns = x.shape
    return math.prod(batch) * -(-rows // 16) * 16 * -(-columns // block) * block


def pools(dtype):
    for shape in ((2, 3, 7, 8), (3, 9, 9)):
        for x in layouts(values(shape, dtype, 1, special=True)):
            yield Args(x, 2, 2, 0, 1, False)
            yield Args(x, (3, 2), (2, 1), (1, 0), 1, False)
            yield Args(x, (2, 3), (2, 3), 1, (2, 1), True)
    yield Args(torch.zeros((1, 1, 4, 4), dtype=dtype), 2, 2, 0, 1, False)


def pool(x, *window):
    return torch.ops.aten.max_pool2d_with_indices(x, *map(in_pairs, window[:-1]), window[-1])


def in_pairs(value):
    return (value, value) if isinstance(value, int) else value


def pool_back(x, indices, *window):
    """The gradient of another input of the same shape: only the indices tell the places."""
    window = (*map(in_pairs, window[:-1]), window[-1])
    out = pool(x, *window)[0]
    grad = torch.arange(out.numel()).to(x.device, x.dtype).view(out.shape) + 1
    return torch.ops.aten.max_pool2d_with_indices_backward(
        grad, torch.zeros_like(x), *window, indices
    )


def pooled_back(x, *window):
    return pool_back(x, pool(x, *window)[1], *window)


def indices_of_mask(x, *window):
    """The indices that torch_npu's mask stands for."""
    kernel, stride, padding, dilation, _ = (*map(in_pairs, window[:-1]), None)
    out, mask = pool(x, *window)
    mask = mask.cpu()[..., : out.size(-2) * out.size(-1)]
    assert mask.sum(-2).eq(1).all()
    element = mask.argmax(-2).view(out.shape)
    row = torch.arange(out.size(-2)) * stride[0] - padding[0]
    row = row[:, None] + element // kernel[1] * dilation[0]
    column = torch.arange(out.size(-1)) * stride[1] - padding[1] + element % kernel[1] * dilation[1]
    return [out, row * x.size(-1) + column]


POOLED_INDICES = either(lambda _, *args: indices_of_mask(*args), lambda *args: [*pool(*args)])


def swiglu(x):
    """In float, and rounded once, as the device computes halves."""
    gate, value = x.float().chunk(2, -1)
    return (functional.silu(gate) * value).to(x.dtype)


def hardsigmoid(inplace):
    """torch has none of integers on a CPU; a device gives the whole part."""
    return either(
        lambda _, x: functional.hardsigmoid(x, inplace),
        lambda x: (x if inplace else x.clone()).copy_(functional.hardsigmoid(x.float())),
    )


def add_rms_norm(x, y, weight):
    total = x + y
    return [functional.rms_norm(total, weight.shape, weight, 1e-6), total]


def pair_of_add_rms_norm(torch_npu, x, y, weight):
    normed, _, total = torch_npu.npu_add_rms_norm(x, y, weight, 1e-6)
    return [normed, total]


RMS_NORM = either(
    lambda npu, x, weight: npu.npu_rms_norm(x, weight, 1e-6)[0],
    lambda x, weight: functional.rms_norm(x, weight.shape, weight, 1e-6),
)
SWIGLU = either(lambda npu, x: npu.npu_swiglu(x), swiglu)
# A half is rounded once by one function and at each of its steps by the other.
COMPOSED = 4

ROWS = [
    Row("npu_rms_norm", RMS_NORM, weighted, FLOATS[:3], ulp=CHAIN),
    Row("npu_rms_norm-backward", gradients(RMS_NORM), weighted, FLOAT, ulp=CHAIN * 8),
    Row(
        "npu_add_rms_norm",
        either(pair_of_add_rms_norm, add_rms_norm),
        summed,
        FLOATS[:3],
        ulp=CHAIN,
    ),
    Row("hardsigmoid-int", hardsigmoid(False), whole, (torch.int32,)),
    Row("hardsigmoid_-int", hardsigmoid(True), whole, (torch.int32,)),
    Row("npu_swiglu", SWIGLU, even, (*HALVES, *FLOAT)),
    Row("npu_swiglu-backward", gradients(SWIGLU), even, (*HALVES, *FLOAT), ulp=CHAIN),
    *(
        Row(
            f"npu_gelu-{name}",
            either(
                lambda npu, x, name=name: npu.npu_gelu(x, approximate=name),
                lambda x, name=name: functional.gelu(x, approximate=name),
            ),
            even,
            FLOATS[:3],
            ulp=COMPOSED,
        )
        for name in ("none", "tanh")
    ),
    Row(
        "npu_dtype_cast",
        either(lambda npu, x, d: npu.npu_dtype_cast(x, d), lambda x, d: x.to(d)),
        casts,
        ALL,
    ),
    Row(
        "npu_format_cast-nz",
        either(lambda npu, x: there_and_back(npu, x)[0], lambda x: x),
        views_of_matrices,
        ALL,
    ),
    Row("npu_format_cast-nz-size", either(storage_size, nz_size), matrices, ALL),
    Row("max_pool2d-indices", POOLED_INDICES, pools, (torch.float32,)),
    Row("max_pool2d-mask-backward", pooled_back, pools, FLOAT),
    Row("amp_update_scale", updated_scale, trackers, FLOAT),
    Row("amp_unscale", unscaled_copies, scales, FLOAT),
]
