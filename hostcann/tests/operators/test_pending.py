# SPDX-License-Identifier: Apache-2.0
"""What is not implemented says so, by name, at the call."""

import pytest

from operators.pending import PENDING, pending
from operators.row import run
from operators.rows import ROWS


def pytest_generate_tests(metafunc):
    if "row" not in metafunc.fixturenames:
        return
    pairs = [
        pytest.param(row, dtype, id=row.key(dtype))
        for row in ROWS
        for dtype in row.dtypes
        if pending(row, dtype)
    ]
    metafunc.parametrize(("row", "dtype"), pairs)


def refusal(row, dtype, device):
    """The first error of the row's samples: empty ones may need no function and come through."""
    for sample in row.samples(dtype):
        try:
            run(row, sample, {}, device)
        except RuntimeError as error:
            return str(error)
    return ""


def test_pending_row_names_its_function(row, dtype, npu):
    error = refusal(row, dtype, npu)
    assert error, f"{row.key(dtype)} works now: take it out of operators/pending.py"
    assert pending(row, dtype) in error


def test_every_pending_line_is_about_a_row():
    known = {row.name for row in ROWS} | {row.key(dtype) for row in ROWS for dtype in row.dtypes}
    assert set(PENDING) - known == set()


def test_rows_have_names_of_their_own():
    names = [row.name for row in ROWS]
    assert len(names) == len(set(names))
