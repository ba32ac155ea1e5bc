# SPDX-License-Identifier: Apache-2.0
"""The short form of make fuzz, and that it finds what it is there to find."""

from __future__ import annotations

import os
import sys
from collections import Counter

import built
import pytest
from matrix import hardening

from contract import fuzz
from contract.plan import Example, Plan

EXAMPLES = 2000


def test_calls_are_as_the_contract_says():
    totals = fuzz.fuzz(EXAMPLES, seed=20260101, jobs=1, env=dict(os.environ))
    assert totals["examples"] >= EXAMPLES
    assert totals["accepted"] > 0.1 * EXAMPLES


def test_a_crash_is_reported_with_its_example():
    with pytest.raises(fuzz.FuzzError) as crash:
        fuzz.fuzz(200, seed=1, jobs=1, env=dict(os.environ), fault="crash")
    sentence, _, printed = str(crash.value).partition("\nexample: ")
    assert sentence == "the process died of SIGSEGV in this call"
    assert Example.from_json(printed).x.negated


@pytest.mark.parametrize("problem", ["", "a call was accepted"])
def test_a_record_is_of_the_revision_that_the_run_began_with(problem, monkeypatch, tmp_path):
    def fuzzed(*_):
        monkeypatch.setattr(built, "revision", lambda: "late")
        if problem:
            raise fuzz.FuzzError(problem)
        return Counter(examples=1)

    monkeypatch.setattr(hardening, "FOLDER", tmp_path)
    monkeypatch.setattr(built, "revision", lambda: "early")
    monkeypatch.setattr(fuzz, "fuzz", fuzzed)
    monkeypatch.setattr(sys, "argv", ["fuzz.py"])
    if problem:
        with pytest.raises(SystemExit):
            fuzz.main()
    else:
        fuzz.main()
    found = hardening.read(tmp_path)["fuzz"]
    assert (found["revision"], found["passed"]) == ("early", not problem)


def test_what_an_input_is_told_is_compared_to_the_letter():
    from contract.oracle import verdict

    expected = verdict(Example(Plan(dtype="float16")), "pybind")
    right = "ascendc_add: argument 'x': expected dtype float32, got float16"
    assert expected.problem(RuntimeError(right)) == ""
    assert expected.problem(RuntimeError(right + ".")) != ""
    assert expected.problem(TypeError(right)) != ""
    assert expected.problem(None) != ""
