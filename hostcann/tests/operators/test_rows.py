# SPDX-License-Identifier: Apache-2.0
"""Every row gives the CPU's answer on the device."""

import pytest

from operators.pending import pending
from operators.row import check
from operators.rows import ROWS


def pytest_generate_tests(metafunc):
    core = metafunc.config.getoption("--rows") == "core"
    pairs = [
        pytest.param(row, dtype, id=row.key(dtype))
        for row in ROWS
        for dtype in row.dtypes
        if (row.core or not core) and not pending(row, dtype)
    ]
    metafunc.parametrize(("row", "dtype"), pairs)


def test_row(row, dtype, npu):
    check(row, dtype, npu)
