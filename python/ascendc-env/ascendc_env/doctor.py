# SPDX-License-Identifier: Apache-2.0
"""Runs every check on a machine and says what came out, for a person or for a program."""

import json
import textwrap
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

from . import cann, libraries, loading, npu, packages, stack, versions
from .case import Case
from .finding import NOTE, OK, WRONG, Finding
from .machine import Machine

Check = Callable[[Case], Iterator[Finding]]
# In the order in which one builds on the other.
CHECKS: tuple[Check, ...] = (
    stack.interpreter,
    stack.torch,
    stack.pairing,
    stack.abi,
    cann.in_use,
    npu.container,
    npu.devices,
    npu.selected,
    npu.driver,
    npu.smi,
    npu.chip,
    libraries.check,
    loading.autoload,
    packages.check,
)
# The schema of the JSON; a key is only ever added.
SCHEMA = 1


def examine(machine: Machine, load: bool = False) -> list[Finding]:
    case = Case(machine, versions.load())
    # Refused now rather than by the one check that would ask for it.
    _ = machine.user
    if machine.python.problem:
        return [*stack.interpreter(case)]
    with ThreadPoolExecutor(1) as pool:
        # Half of the time that all takes, and spent in a child.
        loaded = pool.submit(lambda: list(loading.libraries(case)))
        findings = [finding for check in CHECKS for finding in check(case)]
    # What is known to be missing would only be said again.
    if not any(f.verdict == WRONG and f.topic in ("libraries", "symbols") for f in findings):
        findings += loaded.result()
    if load:
        findings += loading.imports(case)
    return findings


def count(findings: list[Finding]) -> dict[str, int]:
    counted = Counter(finding.verdict for finding in findings)
    return {verdict: counted[verdict] for verdict in (OK, NOTE, WRONG)}


def as_json(findings: list[Finding]) -> str:
    found = [finding.as_json() for finding in findings]
    return json.dumps({"schema": SCHEMA, **count(findings), "findings": found}, indent=2)


def as_table(findings: list[Finding], seconds: float, width: int) -> str:
    topics = max(len(finding.topic) for finding in findings)
    lines = []
    for finding in findings:
        start = f"{finding.verdict:<5}  {finding.topic:<{topics}}  "
        if finding.verdict == OK:
            lines += wrapped(start, finding.found, width)
            continue
        for name in ("expected", "found", "fix"):
            lines += wrapped(f"{start}{name:<8}  ", getattr(finding, name), width)
            start = " " * len(start)
    numbers = count(findings)
    summary = ", ".join(f"{numbers[verdict]} {verdict}" for verdict in numbers)
    return "\n".join([*lines, "", f"doctor: {summary} in {seconds:.1f} s"])


def wrapped(start: str, text: str, width: int) -> list[str]:
    # A path or a command stays whole, so that it can be copied.
    return textwrap.wrap(
        text,
        width,
        initial_indent=start,
        subsequent_indent=" " * len(start),
        break_long_words=False,
        break_on_hyphens=False,
    )


def run(machine: Machine, load: bool, as_data: bool, width: int) -> tuple[str, bool]:
    """The text to print, and whether nothing is wrong."""
    start = time.monotonic()
    findings = examine(machine, load)
    healthy = count(findings)[WRONG] == 0
    seconds = time.monotonic() - start
    return as_json(findings) if as_data else as_table(findings, seconds, width), healthy
