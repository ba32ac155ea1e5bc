# SPDX-License-Identifier: Apache-2.0
"""The figures as one HTML file, in the looks of the matrix's: no script, no outside asset."""

from __future__ import annotations

import math
from html import escape

from matrix.page import STYLE

from bench.goals import Outcome
from bench.measure import Series, Suite

MEANING = {
    "call": "What one call takes of the caller; queued work: with an operation of torch_npu "
    "that was queued before it.",
    "step": "Each step of a call, checks on both arguments, beside the allocation.",
    "kernel": "An add kernel on hostcann, launched and waited for.",
    "launch": "What placing a kernel on a stream takes of the caller, not waited for.",
    "launch and synchronise": "The smallest kernel, launched and waited for.",
    "copy of 64 MiB": "Between host and device.",
    "import": "Seconds that a package adds to the import of torch and torch_npu.",
    "package size": "What lies in site-packages.",
    "build": "Both wrappers from nothing, without a compiler cache; the kernel is built before.",
    "compile": "Seconds of each compiler of these builds; as many run at once as there are cores.",
    "growth": "Copies of the first operator, all of the build, of the imports and of the matrix.",
}
EXTRA = """
svg { display: block; width: 100%; height: auto; } svg text { fill: var(--text); font-size: 12px; }
svg .soft-text { fill: var(--soft); } .mid { stroke: var(--text); stroke-width: 1.5; }
.base { stroke: var(--soft); stroke-dasharray: 3 3; } .fill { fill: var(--good); opacity: 0.75; }
.chart { padding: 10px 14px; } h3 { font-size: 15px; margin: 18px 0 0; }
"""
STATES = {True: "passed", False: "failed", None: "not_run"}
ROW = 22
NAMES = 230
WIDTH = 960


def html(suite: Suite, outcomes: list[Outcome], facts: dict[str, str]) -> str:
    listed = "".join(
        f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>"
        for name, value in facts.items()
    )
    met = sum(outcome.met is True for outcome in outcomes)
    verdict = f"{met} of {len(outcomes)} goals met"
    state = "passed" if met == len(outcomes) else "not_run"
    return "\n".join(
        (
            "<!doctype html>",
            '<html lang="en"><head><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{escape(verdict)} · bench</title>",
            f"<style>{STYLE}{EXTRA}</style></head><body><main>",
            f"<header><div><h1>What it costs</h1></div>"
            f'<span class="verdict {state}">{escape(verdict)}</span></header><dl>{listed}</dl>',
            '<p class="soft">A ratio is the median over rounds in which every subject was measured '
            "once, in another order each time; in brackets, and as a line across a bar, the middle "
            "half.</p>",
            goals(outcomes),
            *sections(suite),
            "<footer>Written by tests/bench/run.py, beside bench.json (pyperf). "
            "Run it again: <code>make bench</code></footer>",
            "</main></body></html>\n",
        )
    )


def goals(outcomes: list[Outcome]) -> str:
    rows = "".join(
        f"<tr><td>{escape(one.goal)}</td><td>{escape(one.limit)}</td><td>{escape(one.got)}</td>"
        f'<td class="{STATES[one.met]}">{one.verdict}</td>'
        f'<td class="soft">{escape(one.reason)}</td></tr>'
        for one in outcomes
    )
    head = "<tr><th>Goal</th><th>Limit</th><th>Median</th><th></th><th>Why not</th></tr>"
    return f'<h2>Goals</h2><div class="card"><table>{head}{rows}</table></div>'


def sections(suite: Suite) -> list[str]:
    parts = []
    seen = set()
    for group, series in suite.groups.items():
        section, _, condition = group.partition("/")
        if section not in seen:
            seen.add(section)
            parts.append(f"<h2>{escape(section.capitalize())}</h2>")
            parts.append(f'<p class="soft">{escape(MEANING.get(section, ""))}</p>')
        title = f"<h3>{escape(condition.replace('/', ', '))}</h3>" if condition else ""
        parts.append(f'{title}<div class="card chart">{bars(series)}</div>')
    return parts


def bars(series: dict[str, Series]) -> str:
    """A bar per subject: its ratio where it has one, on a logarithmic scale when far apart."""
    with_ratio = all(one.ratio for one in series.values())
    top = max(one.ratio.high if with_ratio else one.median for one in series.values())
    low = min(one.ratio.low if with_ratio else one.median for one in series.values())
    logarithmic = low > 0 and top / low > 50

    def place(value: float) -> float:
        if logarithmic:
            value = math.log(max(value, low) / low * 1.3) / math.log(top / low * 1.3)
        else:
            value /= top
        return NAMES + (WIDTH - NAMES - 200) * value

    lines = []
    for number, (name, one) in enumerate(series.items()):
        y = number * ROW
        middle = place(one.ratio.median if with_ratio else one.median)
        said = f"{one}" + (f" · {one.ratio}" if with_ratio else "")
        lines.append(
            f'<text x="{NAMES - 8}" y="{y + 15}" text-anchor="end">{escape(name)}</text>'
            f'<rect class="fill" x="{NAMES}" y="{y + 4}" width="{middle - NAMES:.1f}" height="14"/>'
        )
        end = middle
        if with_ratio:
            end = max(place(one.ratio.high), middle)
            start = place(one.ratio.low)
            lines.append(
                f'<line class="mid" x1="{start:.1f}" x2="{end:.1f}" y1="{y + 11}" y2="{y + 11}"/>'
            )
        lines.append(
            f'<text class="soft-text" x="{end + 8:.1f}" y="{y + 15}">{escape(said)}</text>'
        )
    height = len(series) * ROW
    if with_ratio:
        one = place(1)
        lines.append(f'<line class="base" x1="{one:.1f}" x2="{one:.1f}" y1="0" y2="{height}"/>')
    note = '<text class="soft-text" x="0" y="12">logarithmic</text>' if logarithmic else ""
    return f'<svg viewBox="0 0 {WIDTH} {height}" role="img">{"".join(lines)}{note}</svg>'
