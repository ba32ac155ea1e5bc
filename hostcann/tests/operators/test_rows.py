# SPDX-License-Identifier: Apache-2.0
"""Every row gives the CPU's answer on the device."""

import pytest
import torch

from operators.pending import pending
from operators.row import check
from operators.rows import ROWS

CORE_DTYPES = (torch.float16, torch.float32, torch.int64, torch.bool)


def pytest_generate_tests(metafunc):
    core = metafunc.config.getoption("--rows") == "core"
    pairs = [
        pytest.param(row, dtype, id=row.key(dtype))
        for row in ROWS
        for dtype in row.dtypes
        if not core or (row.core and dtype in CORE_DTYPES)
        if not pending(row, dtype)
    ]
    metafunc.parametrize(("row", "dtype"), pairs)


def test_row(row, dtype, npu):
    check(row, dtype, npu)
