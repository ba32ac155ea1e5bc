# SPDX-License-Identifier: Apache-2.0
"""Convolutions, pooling, padding by copies, and resizing, with their gradients."""

import torch
from torch.nn import functional

from operators.inputs import layouts, values
from operators.row import Args, Row
from operators.rows.neural import CHAIN, gradients, keyed

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
]
