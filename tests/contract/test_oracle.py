# SPDX-License-Identifier: Apache-2.0
"""The oracle knows every sentence of the matrix, and an example survives being printed."""

from __future__ import annotations

import re

import pytest
from matrix.row import operators

from contract.oracle import verdict
from contract.plan import Example, Plan

# One plan per rule, and the words that the oracle has for it.
BROKEN = (
    Plan(device="cpu"),
    Plan(device="npu:1"),
    Plan(dtype="float16"),
    Plan(kind="sparse_coo"),
    Plan(kind="nested"),
    Plan(kind="jagged"),
    Plan(sizes=(8, 2047), strides=(2047, 1)),
    Plan(strides=(1, 8)),
    Plan(negated=True),
    Plan(storage=0),
    Plan(grad=True),
    Plan(storage_format="FRACTAL_NZ"),
    Plan(dress="wrapper"),
    Plan(kind="none"),
    Plan(kind="list"),
)
VALUE = re.compile(r"\d+ bytes, got .*$|got .*$")


def told(text: str) -> str:
    """A sentence without what was given: the rule it is of."""
    return VALUE.sub("got", text).replace("npu:1", "npu:0")


def sentences() -> set[str]:
    examples = [Example(x, y) for plan in BROKEN for x, y in ((plan, Plan()), (Plan(), plan))]
    examples.append(Example(Plan(device="npu:1"), Plan()))
    return {
        told(word)
        for example in examples
        for variant in ("pybind", "lib")
        for word in verdict(example, variant).words
    }


def test_every_sentence_of_the_matrix_is_one_of_the_contract():
    known = sentences()
    (operator,) = (each for each in operators() if each.name == "ascendc_add")
    rows = {
        words.partition("Error: ")[2]
        for row in operator.rows
        for words in row.words
        if "Error: ascendc_add: argument" in words
    }
    assert len(rows) > 20
    assert {told(words) for words in rows} <= known


@pytest.mark.parametrize(
    ("example", "words"),
    [
        pytest.param(Example(), (), id="valid"),
        pytest.param(
            Example(Plan(grad=True), Plan(sizes=(8,), strides=(1,))),
            ("ascendc_add: argument 'y': expected shape [8, 2048], got [8]",),
            id="shape-before-grad",
        ),
        pytest.param(
            Example(Plan(dtype="bool"), Plan(device="meta")),
            ("ascendc_add: argument 'y': expected device npu, got meta",),
            id="device-before-dtype",
        ),
    ],
)
def test_the_first_broken_rule_is_told(example, words):
    for variant in ("pybind", "lib"):
        assert verdict(example, variant).words == words


def test_an_example_is_read_back_as_it_was_printed():
    example = Example(Plan(sizes=(2, 0, 3), strides=(3, 3, 1), storage=16), twice=True)
    assert Example.from_json(example.as_json()) == example
