# SPDX-License-Identifier: Apache-2.0
"""The table of mutants is about the sources as they are, and its mutants can be told apart."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections import Counter
from pathlib import Path

import built
import pytest
from matrix import hardening

from mutants import run
from mutants.run import PACKAGES, Worker, lane_of
from mutants.table import MUTANTS, ROOT, Mutant, TableError


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_mutant_changes_one_place(mutant: Mutant) -> None:
    before = (ROOT / mutant.file).read_text(encoding="utf-8")
    assert mutant.applied(before) != before


def test_no_two_mutants_are_the_same() -> None:
    names = Counter(mutant.name for mutant in MUTANTS)
    assert [name for name, count in names.items() if count > 1] == []
    assert len({(each.file, each.find, each.replace) for each in MUTANTS}) == len(MUTANTS)


def test_every_expected_killer_is_a_test() -> None:
    rows = lane_of()
    for mutant in MUTANTS:
        if "::" not in mutant.killer:
            assert mutant.killer in rows, mutant.name
            continue
        file, _, node = mutant.killer.partition("::")
        text = (ROOT / file).read_text(encoding="utf-8")
        assert f"def {node.partition('[')[0]}(" in text, mutant.name


def test_a_test_sees_a_mutant_and_none_sees_the_sources_as_they_are(tmp_path: Path) -> None:
    # No compiler: what is installed, with one Python file changed.
    mutant = next(each for each in MUTANTS if each.name == "module-swaps")
    worker = Worker(tmp_path, {"DEVICE": "host", **os.environ})
    for package in PACKAGES:
        worker.copy_package(package, Path(importlib.util.find_spec(package).origin).parent)
    worker.require_own_package()
    assert worker.seen_by(mutant.killer) == ""
    module = worker.site / "ascendc_ops" / "__init__.py"
    module.write_text(mutant.applied(module.read_text(encoding="utf-8")), encoding="utf-8")
    assert worker.seen_by(mutant.killer) == mutant.killer


def test_a_record_is_of_the_revision_that_the_run_began_with(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def judged(*_: object) -> list[run.Result]:
        monkeypatch.setattr(built, "revision", lambda: "late")
        return [run.Result(MUTANTS[0], MUTANTS[0].killer, 1)]

    monkeypatch.setattr(hardening, "FOLDER", tmp_path)
    monkeypatch.setattr(built, "revision", lambda: "early")
    monkeypatch.setattr(run, "judge_all", judged)
    monkeypatch.setattr(sys, "argv", ["run.py"])
    with pytest.raises(SystemExit):
        run.main()
    found = hardening.read(tmp_path)["mutants"]
    assert (found["revision"], found["passed"]) == ("early", True)


def test_a_text_that_is_gone_names_its_mutant() -> None:
    gone = Mutant("some-check", "csrc/check.cpp", "text of yesterday", "", "lib/precision/seed")
    with pytest.raises(TableError, match=r"^mutant 'some-check': expected its text once in csrc"):
        gone.applied("text of today")
