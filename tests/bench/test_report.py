# SPDX-License-Identifier: Apache-2.0
"""The report says what was measured: ratios round by round, goals met and not, one file."""

import re

import built
import pytest

from bench import compare, page, run
from bench.goals import GOALS, RatioWithin, Straight, TotalWithin, outcomes
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


def test_goal_without_figures_is_not_measured(suite):
    verdicts = {outcome.goal: outcome.verdict for outcome in outcomes(suite)}
    assert len(verdicts) == len(GOALS)
    assert {goal for goal, verdict in verdicts.items() if verdict != "not measured"} == {
        "package of pybind",
        "package of lib",
    }
    assert verdicts["package of lib"] == "met"


@pytest.mark.parametrize(
    ("seconds", "got", "met"),
    [
        pytest.param([10, 20, 50], "10 s each, 1.00 at the end", True, id="straight"),
        pytest.param([10, 20, 80], "18.1 s each, 1.11 at the end", True, id="almost"),
        pytest.param([10, 11, 80], "18.8 s each, 1.23 at the end", False, id="steeper"),
        pytest.param([50, 20, 10], "no growth that could be told from noise", False, id="falls"),
        pytest.param([10, 10, 10], "no growth that could be told from noise", False, id="flat"),
    ],
)
def test_growth_is_straight_up_to_its_limit(tmp_path, seconds, got, met):
    figures = Figures()
    series = zip((1, 2, 5), seconds, strict=True)
    figures.add("growth", {f"{count} operators": [float(taken)] for count, taken in series})
    figures.write(tmp_path / "figures.json")
    outcome = Straight("", "growth", 1.15).outcome(Suite(tmp_path / "figures.json"))
    assert (outcome.got, outcome.met) == (got, met)


def test_figures_of_another_state_of_the_files_lie_elsewhere(monkeypatch):
    now = run.figures_folder("host")
    assert run.figures_folder("host") == now
    monkeypatch.setattr(built, "tree", lambda: "another")
    assert run.figures_folder("host") != now
    assert run.figures_folder("npu") != run.figures_folder("host")


def test_figures_of_files_that_git_does_not_know_are_not_kept(monkeypatch, tmp_path):
    def unknown():
        raise built.BuiltError("git: not a repository")

    monkeypatch.setattr(built, "tree", unknown)
    monkeypatch.setattr(run, "FIGURES", tmp_path)
    folder = run.figures_folder("host")
    folder.mkdir()
    (folder / "calls.json").touch()
    assert run.figures_folder("host") == folder
    assert not folder.exists()


@pytest.mark.parametrize("revision", ["", "no-such-branch", "--all", "HEAD:Makefile"])
def test_comparison_with_an_unknown_revision_is_refused(revision):
    with pytest.raises(
        SystemExit, match=f"expected a revision that git knows here, got '{revision}'"
    ):
        compare.commit_of(revision)


def test_page_is_one_file_with_every_series_and_escaped_names(suite):
    text = page.html(suite, outcomes(suite), {"device": "host & more"})
    assert not re.search(r"<script|<link|<img|src=|url\(", text)
    assert text.count('<rect class="fill"') == 5
    assert "&lt;b&gt;" in text
    assert "<b>" not in text
    assert "host &amp; more" in text
    assert f"2 of {len(GOALS)} goals met" in text


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
