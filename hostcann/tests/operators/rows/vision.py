# SPDX-License-Identifier: Apache-2.0
"""Convolutions, pooling, padding by copies, and resizing, with their gradients."""

import torch
from torch.nn import functional

from operators.inputs import layouts, values
from operators.row import Args, Row
from operators.rows.neural import CHAIN, gradients, keyed
from operators.rows.reduction import as_float_on_cpu

FLOAT = (torch.float32,)
MOVED = (torch.float32, torch.float16, torch.bfloat16)
# Products of a convolution: as for matrices, over more elements.
CONVOLVED = CHAIN * 16


def images(*shapes):
    def samples(dtype):
        for shape in shapes:
            yield from map(Args, layouts(values(shape, dtype, 1, -1, 1)))

    return samples


def padded(*sizes):
    def samples(dtype):
        for pad in sizes:
            shape = (2, 3, 6, 7, 5)[: len(pad) // 2 + 2]
            for x in layouts(values(shape, dtype, 1)):
                yield Args(x, pad)

    return samples


def one_dimension(dtype):
    for x in layouts(values((2, 4, 9), dtype, 1, -1, 1)):
        yield Args(x, values((6, 4, 3), dtype, 2, -1, 1), values((6,), dtype, 3, -1, 1))


def nnpack_convolution(x, weight, bias, padding):
    """torch may be built without NNPACK."""
    if x.device.type == "cpu":
        return functional.conv2d(x, weight, bias, padding=padding)
    return torch._nnpack_spatial_convolution(x, weight, bias, padding)


def nnpack_inputs(dtype):
    for padding in (1, (2, 1)):
        x, weight = values((1, 3, 5, 6), dtype, 1, -1, 1), values((2, 3, 2, 2), dtype, 2, -1, 1)
        yield Args(x, weight, values((2,), dtype, 3), padding)


def depthwise(dtype):
    for x in layouts(values((2, 4, 7, 8), dtype, 1, -1, 1)):
        yield Args(x, values((4, 1, 3, 3), dtype, 2, -1, 1), None, 1, 1, 1, 4)


def transposed(dtype):
    for x in layouts(values((2, 4, 5, 6), dtype, 1, -1, 1)):
        yield Args(x, values((4, 3, 3, 3), dtype, 2, -1, 1), values((3,), dtype, 3), 2, 1)


def with_gradient(name, function, samples, ulp=0, dtypes=FLOAT):
    """The result, and in a row of its own the gradient: rows then say which of the two is wrong."""
    yield Row(name, function, samples, dtypes, ulp=ulp)
    yield Row(f"{name}-backward", gradients(function), samples, FLOAT, ulp=ulp)


def sampled(shape, grid):
    def samples(dtype):
        for x in layouts(values(shape, dtype, 1, -1, 1)):
            # Beyond the image too.
            yield Args(x, values(grid, dtype, 2, -1.3, 1.3))

    return samples


# What is resized to a size, and by a factor.
RESIZED = (
    ("nearest1d", "nearest", 9, (2, 3, 4)),
    ("nearest3d", "nearest", (3, 5, 7), (1, 2, 4, 4, 4)),
    ("nearest-exact1d", "nearest-exact", 9, (2, 3, 4)),
    ("nearest-exact2d", "nearest-exact", (9, 7), (2, 3, 4, 5)),
    ("nearest-exact3d", "nearest-exact", (3, 5, 7), (1, 2, 4, 4, 4)),
    ("linear", "linear", 9, (2, 3, 4)),
    ("bicubic", "bicubic", (9, 7), (2, 3, 4, 5)),
    ("trilinear", "trilinear", (3, 5, 7), (1, 2, 4, 4, 4)),
)
SCALED = (
    ("nearest2d", "nearest", 1.7, (2, 3, 4, 5)),
    ("bilinear", "bilinear", 1.7, (2, 3, 4, 5)),
    ("linear", "linear", 0.6, (2, 3, 9)),
)
FLAT = images((2, 3, 7, 8), (3, 6, 6))
DEEP = images((2, 3, 4, 5, 6))
PADS = {
    "pad-reflect": ("reflect", ((1, 2), (1, 2, 3, 0), (1, 1, 2, 0, 1, 1))),
    "pad-replicate": ("replicate", ((1, 2), (1, 2, 3, 0), (1, 1, 2, 0, 1, 1))),
    "pad-circular": ("circular", ((1, 2), (1, 2, 3, 0))),
}

ROWS = [
    *with_gradient("conv1d", functional.conv1d, one_dimension, CONVOLVED),
    *with_gradient("conv2d-depthwise", functional.conv2d, depthwise, CONVOLVED),
    *with_gradient("conv_transpose2d", functional.conv_transpose2d, transposed, CONVOLVED),
    *(
        row
        for name, (mode, sizes) in PADS.items()
        for row in with_gradient(name, keyed(functional.pad, mode=mode), padded(*sizes), CHAIN)
    ),
    *with_gradient(
        "avg_pool2d-3", keyed(functional.avg_pool2d, kernel_size=3, padding=1), FLAT, CHAIN
    ),
    *with_gradient("avg_pool3d", keyed(functional.avg_pool3d, kernel_size=2), DEEP, CHAIN),
    *with_gradient(
        "adaptive_avg_pool2d-3", keyed(functional.adaptive_avg_pool2d, output_size=3), FLAT, CHAIN
    ),
    *with_gradient(
        "adaptive_avg_pool3d", keyed(functional.adaptive_avg_pool3d, output_size=2), DEEP, CHAIN
    ),
    *with_gradient(
        "adaptive_max_pool2d", keyed(functional.adaptive_max_pool2d, output_size=2), FLAT
    ),
    *with_gradient(
        "interpolate-nearest",
        keyed(functional.interpolate, scale_factor=2),
        images((2, 3, 4, 5)),
        CHAIN,
    ),
    *with_gradient(
        "interpolate-linear1d", keyed(functional.interpolate, size=9), images((2, 3, 4)), CHAIN
    ),
    *with_gradient(
        "interpolate-bilinear",
        keyed(functional.interpolate, size=(9, 7), mode="bilinear", align_corners=False),
        images((2, 3, 4, 5)),
        CHAIN * 4,
    ),
    *with_gradient(
        "unfold-images", keyed(functional.unfold, kernel_size=3), images((2, 3, 5, 6)), CHAIN
    ),
    Row("channel_shuffle", keyed(torch.channel_shuffle, groups=2), images((2, 4, 3, 5)), MOVED),
    *with_gradient(
        "pixel_shuffle", keyed(functional.pixel_shuffle, upscale_factor=2), images((2, 4, 3, 5))
    ),
    *(
        row
        for name, mode, size, shape in RESIZED
        for row in with_gradient(
            f"interpolate-{name}",
            keyed(functional.interpolate, size=size, mode=mode),
            images(shape),
            CHAIN * 16,
        )
    ),
    *(
        row
        for name, mode, factor, shape in SCALED
        for row in with_gradient(
            f"interpolate-{name}-by-{factor}",
            keyed(functional.interpolate, scale_factor=factor, mode=mode),
            images(shape),
            CHAIN * 16,
        )
    ),
    *(
        row
        for mode in ("bilinear", "bicubic")
        for row in with_gradient(
            f"interpolate-{mode}-antialias",
            keyed(functional.interpolate, size=(3, 4), mode=mode, antialias=True),
            images((2, 3, 7, 8)),
            CHAIN * 16,
        )
    ),
    *(
        row
        for how in ("bilinear", "nearest", "bicubic")
        for padding in ("zeros", "border", "reflection")
        for row in with_gradient(
            f"grid_sample-{how}-{padding}",
            keyed(functional.grid_sample, mode=how, padding_mode=padding, align_corners=False),
            sampled((2, 3, 5, 6), (2, 4, 3, 2)),
            CHAIN * 64,
        )
    ),
    *with_gradient(
        "grid_sample-3d",
        keyed(functional.grid_sample, align_corners=True),
        sampled((1, 2, 3, 4, 5), (1, 2, 3, 2, 3)),
        CHAIN * 64,
    ),
    *with_gradient(
        "affine_grid",
        lambda theta: functional.affine_grid(theta, (2, 1, 3, 4), align_corners=False),
        images((2, 2, 3)),
        CHAIN,
    ),
    *with_gradient(
        "fold",
        keyed(functional.fold, output_size=(4, 5), kernel_size=2),
        images((2, 8, 12)),
        CHAIN,
    ),
    *with_gradient(
        "adaptive_max_pool3d", keyed(functional.adaptive_max_pool3d, output_size=2), DEEP
    ),
    *with_gradient("max_pool3d", keyed(functional.max_pool3d, kernel_size=2), DEEP, CHAIN),
    Row(
        "avg_pool3d-half",
        as_float_on_cpu(keyed(functional.avg_pool3d, kernel_size=2)),
        DEEP,
        MOVED[1:],
        ulp=1,
    ),
    Row("nnpack_convolution", nnpack_convolution, nnpack_inputs, (torch.float32,), ulp=CHAIN),
    Row("conv2d-half", as_float_on_cpu(functional.conv2d), depthwise, MOVED[1:], ulp=2),
]
