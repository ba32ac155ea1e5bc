# SPDX-License-Identifier: Apache-2.0
"""What is refused for good, on an NPU too: a call, and what the error says.

A refusal is raised at the call and leaves the device as it was.
"""

import torch

from operators.row import Args

SMALL_INTS = (torch.uint8, torch.int8, torch.int16)


def integers(dtype):
    return Args(torch.tensor([0, 1, 2], dtype=dtype))


# id -> (call, arguments, what the error says)
REFUSALS = {
    # torch_npu asks for a result of the integer dtype, which the operator cannot give.
    **{
        f"{name}-{str(dtype).removeprefix('torch.')}": (
            getattr(torch, name),
            integers(dtype),
            f"aclnn{name.capitalize()}",
        )
        for name in ("exp", "erf", "erfc")
        for dtype in SMALL_INTS
    },
    "sort-stable-float64": (
        lambda x: x.sort(stable=True),
        Args(torch.tensor([2.0, 1.0], dtype=torch.float64)),
        "Input data type should not be float64",
    ),
    "mm-shapes": (torch.mm, Args(torch.ones(2, 3), torch.ones(2, 3)), ""),
    "add-shapes": (torch.add, Args(torch.ones(3), torch.ones(4)), ""),
    "two-devices": (lambda x: x + torch.ones(3), Args(torch.ones(3)), "Expected all tensors"),
}
