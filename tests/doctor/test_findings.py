# SPDX-License-Identifier: Apache-2.0
"""The doctor on made-up machines: exactly the findings of the table, and nothing else."""

from pathlib import Path

import pytest

from .environment import Environment
from .rows import ROWS, Row


@pytest.mark.parametrize("row", [pytest.param(row, id=row.fact) for row in ROWS])
def test_the_doctor_finds_what_is_wrong_and_nothing_else(row: Row, tmp_path: Path) -> None:
    environment = Environment(tmp_path)
    row.change(environment)
    result = environment.examine()
    assert result.stderr == ""
    assert result.problems() == [*row.problems]
    broken = any(verdict == "wrong" for _, verdict, _ in row.problems)
    assert result.code == (1 if broken else 0)
