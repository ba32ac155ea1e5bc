# SPDX-License-Identifier: Apache-2.0
"""Ascend C operators for PyTorch, as functions of a pybind11 extension module."""

from . import _built_for
from ._stack import import_stack

import_stack(__name__, torch=_built_for.TORCH, torch_npu=_built_for.TORCH_NPU, cann=_built_for.CANN)

from torch import Tensor  # noqa: E402

from . import _C  # noqa: E402

__all__ = ["ascendc_add"]


def ascendc_add(x: Tensor, y: Tensor) -> Tensor:
    """Return ``x + y``, element-wise, computed by the Ascend C kernel ``add_custom``.

    The launch is asynchronous, on the current NPU stream of the inputs' device; on that stream it
    keeps its order with everything torch_npu has queued. Across streams the caller owns the
    dependencies.

    Args:
        x: float32 tensor of shape [8, 2048] on an NPU, contiguous, storage format ND, with
            requires_grad=False.
        y: as ``x``, on the same device.

    Returns:
        A new float32 tensor of shape [8, 2048], storage format ND, on the inputs' device; a plain
        one for subclasses of torch.Tensor, too.

    Raises:
        TypeError: an argument is not a tensor, or their number is not two.
        RuntimeError: a tensor breaks a rule; the message names argument, rule and what was given:
            ``ascendc_add: argument 'x': expected dtype float32, got float16``. Checked in the order
            device, dtype, shape, contiguity, grad, format. Refused before these is a call under a
            tracer or a transform of torch.func, which cannot see it. A fault of the device itself
            may surface only at the next synchronisation.

    Source: ``csrc/ascendc_add.cpp``, ``kernels/add_custom``.
    """
    return _C.ascendc_add(x, y)
