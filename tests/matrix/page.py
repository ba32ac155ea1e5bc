# SPDX-License-Identifier: Apache-2.0
"""The report as one HTML file: no script, no outside asset, every value escaped."""

from __future__ import annotations

from html import escape

from matrix.row import GROUPS

MEANING = {
    "precision": "The result is right, to the bit where IEEE 754 says so.",
    "streams": "Order, devices and asynchrony are right.",
    "rejection": "What is not supported is refused, in these words, and nothing breaks after it.",
    "parity": "Both variants in one process, in both import orders, give the same bits.",
}
MARK = {"passed": "✓", "failed": "✕", "not_run": "-"}
SAID = {"passed": "passed", "failed": "failed", "not_run": "not run"}

STYLE = """
:root { color-scheme: light dark; --page: #f6f7f9; --card: #fff; --text: #1c2430; --soft: #5d6878;
  --line: #dfe3e9; --good: #14804a; --good-back: #e3f5eb; --bad: #b3261e; --bad-back: #fdeae8;
  --none: #6b5b00; --none-back: #fbf3cf; }
@media (prefers-color-scheme: dark) { :root { --page: #12161c; --card: #1a2029; --text: #e6eaf0;
  --soft: #9aa6b6; --line: #2c3541; --good: #5fd39a; --good-back: #143325; --bad: #ff8f86;
  --bad-back: #43201d; --none: #e7d27a; --none-back: #3a3313; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--text);
  font: 15px/1.5 system-ui, "Segoe UI", "Noto Sans", "DejaVu Sans", sans-serif; }
main { max-width: 1040px; margin: 0 auto; padding: 32px 20px 64px; }
h1 { font-size: 26px; line-height: 1.25; margin: 0; text-wrap: balance; }
h2 { font-size: 18px; margin: 40px 0 4px; }
p { margin: 6px 0; }
.soft { color: var(--soft); }
header { display: flex; flex-wrap: wrap; gap: 12px 20px; align-items: center;
  justify-content: space-between; }
.verdict { padding: 6px 14px; border-radius: 999px; font-weight: 600; white-space: nowrap; }
.passed { color: var(--good); } .failed { color: var(--bad); } .not_run { color: var(--none); }
.verdict.passed { background: var(--good-back); } .verdict.failed { background: var(--bad-back); }
.notice { margin: 16px 0 0; padding: 10px 14px; border-radius: 8px; background: var(--none-back);
  color: var(--none); }
dl { display: flex; flex-wrap: wrap; gap: 8px 28px; margin: 18px 0 0; }
dt { color: var(--soft); font-size: 13px; } dd { margin: 0; font-weight: 600; }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 10px;
  margin-top: 12px; overflow-x: auto; }
table { border-collapse: collapse; width: 100%; }
th, td { padding: 8px 14px; text-align: left; vertical-align: top; }
th { font-size: 13px; color: var(--soft); font-weight: 600; }
tr + tr > *, tbody tr:first-child > * { border-top: 1px solid var(--line); }
.overview th, .overview td { padding: 12px 14px; }
.count { font-size: 20px; font-weight: 650; font-variant-numeric: tabular-nums; }
.bar { display: flex; height: 6px; width: 100%; min-width: 96px; margin-top: 6px; overflow: hidden;
  border-radius: 3px; background: var(--line); }
.bar i { display: block; } .bar .passed { background: var(--good); }
.bar .failed { background: var(--bad); } .bar .not_run { background: var(--none); }
.mark { text-align: center; width: 84px; font-weight: 700; }
td.mark.failed { background: var(--bad-back); } td.mark.not_run { background: var(--none-back); }
.took { display: block; font-size: 12px; font-weight: 400; color: var(--soft); }
.words { display: block; white-space: pre-wrap; overflow-wrap: anywhere; }
code, pre, .words { font: 13px/1.5 ui-monospace, "Cascadia Mono", "DejaVu Sans Mono", monospace; }
code { color: var(--soft); overflow-wrap: anywhere; }
pre { margin: 8px 0 0; white-space: pre-wrap; overflow-wrap: anywhere; }
.failure { border-left: 4px solid var(--bad); padding: 12px 16px; }
summary { cursor: pointer; color: var(--soft); margin-top: 8px; }
footer { margin-top: 40px; color: var(--soft); font-size: 13px; }
"""


def html(report, hardening: dict[str, dict]) -> str:
    return "\n".join(
        (
            "<!doctype html>",
            '<html lang="en"><head><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{escape(verdict(report))} · matrix</title>",
            f"<style>{STYLE}</style></head><body><main>",
            head(report),
            failures(report),
            overview(report),
            *(group_table(report, group) for group in GROUPS),
            hardening_table(hardening),
            "<footer>Written by tests/matrix/run.py, beside matrix.json and matrix.xml (JUnit). "
            "Run it again: <code>make matrix</code></footer>",
            "</main></body></html>\n",
        )
    )


def verdict(report) -> str:
    counts = report.counts()
    total = sum(counts.values())
    if counts["failed"]:
        return f"{counts['failed']} of {total} rows failed"
    if report.partial:
        return f"Stopped after {counts['passed']} of {total} rows"
    if not report.passed:
        return "Nothing was proven"
    if counts["not_run"]:
        return f"{counts['passed']} cases passed, {counts['not_run']} not run"
    return f"All {total} cases passed"


def head(report) -> str:
    operators = sorted({result.operator for result in report.results})
    names = {"python": "Python", "cann": "CANN", "npu_arch": "npu-arch"}
    names |= {name: name.capitalize() for name in ("device", "container", "chip", "partial")}
    facts = {names.get(name, name): value for name, value in report.facts.items() if value}
    facts["Took"] = f"{report.seconds:g} s"
    listed = "".join(
        f"<div><dt>{escape(name)}</dt><dd>{escape(str(value))}</dd></div>"
        for name, value in facts.items()
    )
    notice = ""
    if report.kind == "host":
        notice = (
            '<p class="notice">This ran on the CPU, on hostcann in place of CANN. '
            "It does not count as a run on an NPU.</p>"
        )
    outcome = "passed" if report.passed else "failed"
    return (
        f"<header><div><h1>Matrix of {escape(', '.join(operators))}</h1></div>"
        f'<span class="verdict {outcome}">{escape(verdict(report))}</span></header>'
        f"<dl>{listed}</dl>{notice}"
    )


def failures(report) -> str:
    if not report.failures:
        return ""
    parts = [f"<h2>Failed ({len(report.failures)})</h2>"]
    for result in report.failures:
        detail = ""
        if result.detail and result.detail != result.message:
            detail = (
                "<details open><summary>How it went</summary>"
                f"<pre>{escape(result.detail)}</pre></details>"
            )
        parts.append(
            '<div class="card failure">'
            f"<strong>{escape(result.variant)} · {escape(result.rule)}</strong> "
            f"<code>{escape(result.operator)}/{escape(result.group)}/{escape(result.id)}</code>"
            f'<pre class="failed">{escape(result.message)}</pre>{detail}</div>'
        )
    return "\n".join(parts)


def overview(report) -> str:
    groups = [group for group in GROUPS if sum(report.counts(group=group).values())]
    rows = ["<tr><th>Variant</th>" + "".join(f"<th>{group}</th>" for group in groups) + "</tr>"]
    for variant in report.columns:
        cells = "".join(overview_cell(report, variant, group) for group in groups)
        rows.append(f"<tr><td><strong>{escape(variant)}</strong></td>{cells}</tr>")
    return (
        f'<h2>Overview</h2><div class="card"><table class="overview">{"".join(rows)}</table></div>'
    )


def overview_cell(report, variant: str, group: str) -> str:
    counts = report.counts(variant=variant, group=group)
    total = sum(counts.values())
    if not total:
        return '<td class="soft">·</td>'
    notes = [f"{counts[name]} {SAID[name]}" for name in ("failed", "not_run") if counts[name]]
    notes += report.reasons(variant=variant, group=group)
    bar = "".join(
        f'<i class="{name}" style="width:{100 * count / total:.2f}%"></i>'
        for name, count in counts.items()
        if count
    )
    return (
        f'<td><span class="count">{counts["passed"]}</span> <span class="soft">of {total}</span>'
        f'<div class="bar">{bar}</div><span class="soft">{escape(", ".join(notes))}</span></td>'
    )


def group_table(report, group: str) -> str:
    chosen = [result for result in report.results if result.group == group]
    if not chosen:
        return ""
    columns = [name for name in report.columns if any(each.variant == name for each in chosen)]
    by_row: dict[tuple, dict] = {}
    for result in chosen:
        by_row.setdefault((result.operator, result.id), {})[result.variant] = result
    lines = [
        "<tr><th>Rule</th>"
        + "".join(f'<th class="mark">{escape(name)}</th>' for name in columns)
        + "</tr>"
    ]
    for (operator, name), results in by_row.items():
        any_result = next(iter(results.values()))
        words = "".join(f'<span class="words">{escape(each)}</span>' for each in any_result.words)
        marks = "".join(mark(results.get(column)) for column in columns)
        lines.append(
            f"<tr><td>{escape(any_result.rule)} <code>{escape(operator)}/{escape(name)}</code>"
            f"{words}</td>{marks}</tr>"
        )
    return (
        f'<h2>{escape(group)}</h2><p class="soft">{escape(MEANING.get(group, ""))}</p>'
        f'<div class="card"><table>{"".join(lines)}</table></div>'
    )


def mark(result) -> str:
    if result is None:
        return '<td class="mark soft">·</td>'
    note = result.message if result.outcome == "not_run" else f"{1000 * result.seconds:.0f} ms"
    return (
        f'<td class="mark {result.outcome}" title="{SAID[result.outcome]}">{MARK[result.outcome]}'
        f'<span class="took">{escape(note)}</span></td>'
    )


def hardening_table(runs: dict[str, dict]) -> str:
    """What the long runs found, each with the commit that it ran on."""
    if not runs:
        return ""
    lines = ['<tr><th>Run</th><th>Figures</th><th class="mark"></th></tr>']
    for name, run in runs.items():
        outcome = "passed" if run["passed"] else "failed"
        lists = [(key, value) for key, value in run["figures"].items() if isinstance(value, dict)]
        plain = [(key, value) for key, value in run["figures"].items() if (key, value) not in lists]
        figures = ", ".join(f"{key.replace('_', ' ')} {value}" for key, value in plain)
        more = "".join(
            f"<details><summary>{escape(key.replace('_', ' '))}</summary><table>"
            + "".join(
                f"<tr><td>{escape(each)}</td><td><code>{escape(str(of_it))}</code></td></tr>"
                for each, of_it in value.items()
            )
            + "</table></details>"
            for key, value in lists
        )
        lines.append(
            f"<tr><td>{escape(name)} <code>{escape(run['revision'])}</code></td>"
            f'<td><span class="words">{escape(figures)}</span>{more}</td>'
            f'<td class="mark {outcome}" title="{SAID[outcome]}">{MARK[outcome]}</td></tr>'
        )
    return (
        '<h2>Hardening</h2><p class="soft">The long runs, each as it last ended, on the commit '
        f'beside it.</p><div class="card"><table>{"".join(lines)}</table></div>'
    )
