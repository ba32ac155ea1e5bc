# SPDX-License-Identifier: Apache-2.0
"""The packages' own test: one real call of the operator in the variant on the command line."""

import sys

if sys.argv[1] == "pybind":
    import ascendc_ops
else:
    import ascendc_ops_lib  # noqa: F401
import torch

add = (ascendc_ops if sys.argv[1] == "pybind" else torch.ops.ascendc_ops).ascendc_add
x = torch.arange(8 * 2048, dtype=torch.float32).reshape(8, 2048) / 1000
y = x.flip(0) * -0.25
torch.testing.assert_close(add(x.to("npu:0"), y.to("npu:0")).cpu(), x + y, rtol=1e-6, atol=1e-6)
