# SPDX-License-Identifier: Apache-2.0
"""What torch_npu has beside torch, next to the same thing written for the CPU."""

import torch
from torch.nn import functional

from operators.inputs import layouts, tensors, values
from operators.row import ALL, FLOATS, HALVES, Args, Row
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


def casts(dtype):
    for tensor in tensors(dtype, low=0):
        for other in (torch.float16, torch.bfloat16, torch.float32, torch.int32, torch.int64):
            yield Args(tensor, other)


def matrices(dtype):
    for shape in ((16, 16), (33, 17), (2, 7, 40)):
        yield Args(values(shape, dtype, 1))


def scales(dtype):
    finite = values((7,), dtype, 1)
    infinite = finite.clone()
    infinite[3] = float("inf")
    for last in (finite, infinite):
        yield Args(values((3, 5), dtype, 2), last, torch.zeros(1), torch.tensor([0.5]))


def unscale(x, y, found, scale):
    torch._amp_foreach_non_finite_check_and_unscale_([x, y], found, scale)
    # What is left of gradients that hold an infinity is nobody's promise: the step is skipped.
    return [found, *([x, y] if not found.item() else [])]


def unscaled_copies(x, y, found, scale):
    return unscale(x.clone(), y.clone(), found.clone(), scale)


def to_nz(torch_npu, x):
    torch.npu.config.allow_internal_format = True
    try:
        cast = torch_npu.npu_format_cast(x, ACL_FORMAT_FRACTAL_NZ)
        return torch_npu.npu_format_cast(cast, ACL_FORMAT_ND)
    finally:
        torch.npu.config.allow_internal_format = False


def swiglu(x):
    gate, value = x.chunk(2, -1)
    return functional.silu(gate) * value


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
    Row("npu_swiglu", SWIGLU, even, (*HALVES, *FLOAT), ulp=COMPOSED),
    Row("npu_swiglu-backward", gradients(SWIGLU), even, FLOAT, ulp=CHAIN),
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
    Row("npu_format_cast-nz", either(to_nz, lambda x: x), matrices, (torch.float16, *FLOAT)),
    Row("amp_unscale", unscaled_copies, scales, FLOAT),
]
