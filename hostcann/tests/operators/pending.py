# SPDX-License-Identifier: Apache-2.0
"""Rows of functions that hostcann does not have yet: row (or row-dtype) -> what the error names.

test_pending.py runs them too, and fails when one works: then its line goes.
"""

PENDING = {
    # torch_npu has an aclnn function for one layer in one direction only.
    "lstm-two-layers": "DynamicRNN",
    # And none for these powers' gradients.
    "cdist-1.0-backward": "CdistGrad",
    "cdist-2.0-backward": "CdistGrad",
}


def pending(row, dtype):
    """What the error must name when this row is pending, else None."""
    return PENDING.get(row.name) or PENDING.get(row.key(dtype))
