# SPDX-License-Identifier: Apache-2.0
"""The report says what was measured: ratios round by round, goals met and not, one file."""

import re

import pytest

from bench import page
from bench.goals import RatioWithin, TotalWithin, outcomes
from bench.measure import Figures, Ratio, Suite, in_turn, spelled


@pytest.fixture
def suite(tmp_path):
    figures = Figures()
    values = {"ours": [2e-6, 4e-6, 90e-6], "theirs": [1e-6, 2e-6, 100e-6], "<b>": [1e-6] * 3}
    figures.add("call/empty", values, "theirs")
    figures.add("package size", {"pybind": [255000], "lib": [1]}, unit="byte")
    figures.write(tmp_path / "figures.json")
    return Suite(tmp_path / "figures.json")


def test_ratio_is_taken_within_a_round(suite):
    # The medians' own ratio is 2; so is the rounds', of which one was on a slower machine.
    assert suite.groups["call/empty"]["ours"].ratio == Ratio(2.0, 1.45, 2.0)
    assert suite.groups["call/empty"]["theirs"].ratio == Ratio(1.0, 1.0, 1.0)


def test_every_round_measures_every_subject_in_changing_order():
    order = []

    def take(name):
        order.append(name)
        return float(len(order))

    values = in_turn({name: lambda name=name: take(name) for name in "abc"}, rounds=20, warmups=1)
    rounds = [order[start : start + 3] for start in range(0, len(order), 3)]
    assert len(rounds) == 21
    assert all(sorted(one) == ["a", "b", "c"] for one in rounds)
    assert len({tuple(one) for one in rounds}) > 1
    # What the warm-up took is no figure.
    assert all(len(taken) == 20 and min(taken) > 3 for taken in values.values())


@pytest.mark.parametrize(
    ("goal", "got", "met"),
    [
        pytest.param(
            RatioWithin("", "call/empty", "ours", "theirs", 2.0), "2.00 (1.45 to 2.00)", True
        ),
        pytest.param(
            RatioWithin("", "call/empty", "ours", "theirs", 1.9), "2.00 (1.45 to 2.00)", False
        ),
        pytest.param(TotalWithin("", "package size", ("pybind",), 400, 1e-3, "kB"), "255 kB", True),
        pytest.param(
            TotalWithin("", "package size", ("pybind",), 250, 1e-3, "kB"), "255 kB", False
        ),
    ],
)
def test_goal_is_met_up_to_its_limit(suite, goal, got, met):
    outcome = goal.outcome(suite)
    assert (outcome.got, outcome.met) == (got, met)


def test_goal_without_figures_is_left_out(suite):
    assert [outcome.goal for outcome in outcomes(suite)] == [
        "package of pybind",
        "package of lib",
    ]


def test_page_is_one_file_with_every_series_and_escaped_names(suite):
    text = page.html(suite, outcomes(suite), {"device": "host & more"})
    assert not re.search(r"<script|<link|<img|src=|url\(", text)
    assert text.count('<rect class="fill"') == 5
    assert "&lt;b&gt;" in text
    assert "<b>" not in text
    assert "host &amp; more" in text
    assert "2 of 2 goals met" in text


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (2.5, "second", "2.5 s"),
        (0.0123, "second", "12.3 ms"),
        (2e-6, "second", "2 µs"),
        (4e-9, "second", "4 ns"),
        (255000, "byte", "255.0 kB"),
    ],
)
def test_figures_are_spelled_with_their_unit(value, unit, text):
    assert spelled(value, unit) == text
