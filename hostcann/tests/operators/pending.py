# SPDX-License-Identifier: Apache-2.0
"""Rows of functions that hostcann does not have yet: row (or row-dtype) -> what the error names.

test_pending.py runs them too, and fails when one works: then its line goes.
"""

PENDING = {
    # torch_npu has no aclnn function for these, only the older interface.
    "one_hot": "OneHot",
    "unique_consecutive": "UniqueConsecutive",
    "interpolate-linear1d-backward": "ResizeNearestNeighborV2Grad",
    "unfold-images-backward": "Col2im",
    "npu_format_cast-nz": "Identity",
}


def pending(row, dtype):
    """What the error must name when this row is pending, else None."""
    return PENDING.get(row.name) or PENDING.get(row.key(dtype))
