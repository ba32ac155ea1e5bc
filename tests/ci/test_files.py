# SPDX-License-Identifier: Apache-2.0
"""ci/files.py: who waits for a folder says so, and gets it."""

import threading
from pathlib import Path

import pytest
from files import turn


def test_who_is_alone_says_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with turn(tmp_path / "lock", "first"):
        pass
    with turn(tmp_path / "lock", "second"):
        pass
    assert capsys.readouterr() == ("", "")


def test_who_waits_says_for_what_and_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    order = []

    def second() -> None:
        with turn(tmp_path / "lock", "second"):
            order.append("second")

    waiting = threading.Thread(target=second)
    said = ""
    with turn(tmp_path / "lock", "first"):
        waiting.start()
        while not said.endswith("\n"):
            assert waiting.is_alive()
            said += capsys.readouterr().err
        order.append("first")
    waiting.join()
    assert order == ["first", "second"]
    assert said == f"second: another run uses {tmp_path}, waiting for it to end ...\n"
