# SPDX-License-Identifier: Apache-2.0
"""The matrix's report: one table for the terminal, JSON, JUnit XML and a page for people."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path
from xml.etree import ElementTree

from matrix import hardening, page
from matrix.row import BOTH, GROUPS

FILES = ("matrix.json", "matrix.xml", "matrix.html")
OUTCOMES = ("passed", "failed", "not_run")
SHOWN = {"passed": "passed", "failed": "failed", "not_run": "not run"}


@dataclass
class Result:
    operator: str
    variant: str
    group: str
    id: str
    rule: str
    words: tuple[str, ...]
    lane: str
    outcome: str
    message: str = ""
    detail: str = ""
    seconds: float = 0.0

    @property
    def key(self) -> str:
        return f"{self.operator}/{self.variant}/{self.group}/{self.id}"

    @classmethod
    def of(cls, case, outcome: str, message: str = "", detail: str = "") -> Result:
        return cls(
            case.operator.name,
            case.variant,
            case.row.group,
            case.id,
            case.row.rule,
            case.row.words,
            case.lane,
            outcome,
            message,
            detail,
        )


def unexpected(key: str, lane: str) -> Result:
    operator, variant, group, name = key.split("/", 3)
    message = "reported by a process, but not a row of the table"
    return Result(operator, variant, group, name, message, (), lane, "failed", message)


@dataclass
class Report:
    device: str
    kind: str
    stack: dict
    variants: tuple[str, ...]
    results: list[Result]
    seconds: float
    # The image it ran in, where it ran in one.
    container: str = ""
    # Stopped from outside: rows are missing, so it proves nothing.
    partial: bool = False

    def counts(self, **where) -> dict[str, int]:
        chosen = Counter(
            result.outcome
            for result in self.results
            if all(getattr(result, name) == value for name, value in where.items())
        )
        return {outcome: chosen[outcome] for outcome in OUTCOMES}

    @property
    def columns(self) -> tuple[str, ...]:
        """The variants, and `both` for what takes both of them in one process."""
        both = any(result.variant == BOTH for result in self.results)
        return (*self.variants, BOTH) if both else self.variants

    @property
    def failures(self) -> list[Result]:
        return [result for result in self.results if result.outcome == "failed"]

    @property
    def passed(self) -> bool:
        ran = {result.variant for result in self.results if result.outcome == "passed"}
        return not self.partial and not self.failures and ran >= set(self.variants)

    @property
    def facts(self) -> dict[str, str]:
        """What a page and a JUnit file say beside the rows."""
        where = {"container": self.container} if self.container else {}
        state = {"partial": "stopped before every row had run"} if self.partial else {}
        return {"device": self.device, **where, **self.stack, **state}

    @property
    def stack_line(self) -> str:
        names = {"python": "Python", "cann": "CANN", "npu_arch": "npu-arch"}
        known = {name: value for name, value in self.stack.items() if value}
        return ", ".join(f"{names.get(name, name)} {value}" for name, value in known.items())

    def reasons(self, **where) -> Counter:
        """Why rows were not run, and how many."""
        return Counter(
            result.message
            for result in self.results
            if result.outcome == "not_run"
            and all(getattr(result, name) == value for name, value in where.items())
        )

    def as_json(self) -> dict:
        return {
            "device": self.device,
            "container": self.container,
            "kind": self.kind,
            "partial": self.partial,
            "passed": self.passed,
            "seconds": self.seconds,
            "stack": self.stack,
            "variants": {variant: self.counts(variant=variant) for variant in self.variants},
            "parity": self.counts(variant=BOTH),
            "cases": [asdict(result) for result in self.results],
        }


def remove(folder: Path) -> None:
    for name in FILES:
        (folder / name).unlink(missing_ok=True)


def write(report: Report, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    contents = (
        json.dumps(report.as_json(), indent=1) + "\n",
        junit(report),
        page.html(report, hardening.read(folder)),
    )
    for name, content in zip(FILES, contents, strict=True):
        write_whole(folder / name, content)


def write_whole(path: Path, content: str) -> None:
    """A reader sees the old file or the new one, never half of it."""
    scratch = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        scratch.write_text(content, encoding="utf-8")
        scratch.replace(path)
    finally:
        scratch.unlink(missing_ok=True)


def printable(text: str) -> str:
    """XML 1.0 has no way to write control characters; a message may hold some."""
    return re.sub(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "\ufffd", text)


def junit(report: Report) -> str:
    root = ElementTree.Element("testsuites", name="matrix", time=f"{report.seconds:.3f}")
    for column in report.columns:
        results = [result for result in report.results if result.variant == column]
        counts = report.counts(variant=column)
        suite = ElementTree.SubElement(
            root,
            "testsuite",
            name=f"matrix.{column}",
            tests=str(len(results)),
            failures=str(counts["failed"]),
            errors="0",
            skipped=str(counts["not_run"]),
            time=f"{sum(result.seconds for result in results):.3f}",
        )
        properties = ElementTree.SubElement(suite, "properties")
        for name, value in report.facts.items():
            ElementTree.SubElement(properties, "property", name=name, value=str(value or ""))
        for result in results:
            case = ElementTree.SubElement(
                suite,
                "testcase",
                classname=f"{result.operator}.{result.variant}.{result.group}",
                name=result.id,
                time=f"{result.seconds:.3f}",
            )
            if result.outcome == "failed":
                failure = ElementTree.SubElement(case, "failure", message=printable(result.message))
                failure.text = printable(result.detail or result.message)
            elif result.outcome == "not_run":
                ElementTree.SubElement(case, "skipped", message=printable(result.message))
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def text(report: Report, logs: Path) -> str:
    """What the terminal shows."""
    groups = [group for group in GROUPS if sum(report.counts(group=group).values())]
    lines = [["", *groups]]
    for column in report.columns:
        cells = [cell(report, column, group) for group in groups]
        lines.append([column, *cells])
    widths = [max(len(line[at]) for line in lines) for at in range(len(lines[0]))]
    table = [
        "  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True))
        for line in lines
    ]
    total = report.counts()
    said = [f"stack:  {report.stack_line}", "", *(line.rstrip() for line in table), ""]
    said += failure_lines(report.failures)
    if report.failures:
        said += [f"what each process said: {logs}", ""]
    for reason, count in report.reasons().items():
        said.append(f"not run: {count} rows: {reason}")
    partial = " (partial: the run was stopped)" if report.partial else ""
    said.append(f"matrix: {total['passed']} passed, {total['failed']} failed{partial}")
    return "\n".join(said)


def cell(report: Report, variant: str, group: str) -> str:
    counts = report.counts(variant=variant, group=group)
    parts = [f"{count} {SHOWN[outcome]}" for outcome, count in counts.items() if count]
    reasons = report.reasons(variant=variant, group=group)
    why = f" ({'; '.join(reasons)})" if reasons else ""
    return ", ".join(parts) + why if parts else "-"


def failure_lines(failures: list[Result]) -> list[str]:
    """One line per message: what fails alike, in one variant or in several, has one cause."""
    variants: dict[tuple, list[str]] = {}
    for result in failures:
        row = (result.operator, result.group, result.id, first_line(result))
        variants.setdefault(row, []).append(result.variant)
    rows: dict[tuple, list[str]] = {}
    for (_, group, name, message), where in variants.items():
        rows.setdefault((", ".join(where), message), []).append(f"{group} {name}")
    lines = []
    for (where, message), names in rows.items():
        more = f" and {len(names) - 1} more" if len(names) > 1 else ""
        lines.append(f"FAILED {names[0]}{more} ({where}): {message}")
    return lines


def first_line(result: Result) -> str:
    return " | ".join(line for line in result.message.splitlines() if line.strip())[:600]
