# SPDX-License-Identifier: Apache-2.0
"""Run under callgrind: calls each variant between a start and a stop of the counting.

No kernel is launched: by its SONAME, the library named first stands in for both packages' own.
"""

import ctypes
import os
import sys

CALLS = 100


def main() -> None:
    counter, no_launch = map(ctypes.CDLL, sys.argv[1:])
    assert no_launch.add_custom_impl
    import ascendc_ops
    import ascendc_ops_lib  # noqa: F401
    import torch

    x = torch.zeros(8, 2048, device="npu:0")
    variants = {
        "pybind": ascendc_ops.ascendc_add,
        "lib": torch.ops.ascendc_ops.ascendc_add,
        "torch.add": torch.add,
    }
    for name, call in variants.items():
        for _ in range(5):
            call(x, x)
        torch.npu.synchronize()
        counter.count_start()
        for _ in range(CALLS):
            call(x, x)
        counter.count_stop(name.encode())
        torch.npu.synchronize()
    # Nothing of the way out is counted, and it takes long under callgrind.
    os._exit(0)


if __name__ == "__main__":
    main()
