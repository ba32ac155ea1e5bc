# SPDX-License-Identifier: Apache-2.0
"""What a row of the matrix is, and which rows there are.

No torch in here: the runner reads the table too, as the expectation that every process must meet.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass

GROUPS = ("precision", "streams", "rejection", "parity")
VARIANTS = ("pybind", "lib")
BOTH = "both"


@dataclass(frozen=True)
class Row:
    """One rule: `check(subject)` returns if it holds and raises AssertionError if not.

    `words` is what the user is told, for a rule that refuses something.
    """

    group: str
    id: str
    rule: str
    check: Callable
    variants: tuple[str, ...] = VARIANTS
    devices: int = 1
    task_queue: str = "1"
    words: tuple[str, ...] = ()


@dataclass(frozen=True)
class Operator:
    """One operator and its rows. Tensors are made on the CPU: no other NPU operator is needed.

    `inputs(torch)` gives the CPU arguments of the valid call, `others(torch)` a second valid set
    whose result differs everywhere, `reference(*cpu)` what torch's CPU makes of them.
    """

    name: str
    arguments: tuple[str, ...]
    inputs: Callable
    others: Callable
    reference: Callable
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class Lane:
    """One process: the variants it imports, in that order, and torch_npu's task queue mode."""

    name: str
    loads: tuple[str, ...]
    task_queue: str


@dataclass(frozen=True)
class Case:
    """A row in one variant, and the lane that runs it."""

    operator: Operator
    row: Row
    variant: str
    lane: str
    id: str

    @property
    def key(self) -> str:
        return f"{self.operator.name}/{self.variant}/{self.row.group}/{self.id}"


# Start-up is most of a process's cost, so the modes other than the default share a process with the
# parity rows, which need both variants in one process, in both import orders.
LANES = (
    Lane("pybind", ("pybind",), "1"),
    Lane("lib", ("lib",), "1"),
    Lane("pybind-then-lib", ("pybind", "lib"), "2"),
    Lane("lib-then-pybind", ("lib", "pybind"), "0"),
)


def operators() -> tuple[Operator, ...]:
    """Every operator that has a file in rows/, by name."""
    from matrix import rows

    names = sorted(module.name for module in pkgutil.iter_modules(rows.__path__))
    return tuple(importlib.import_module(f"matrix.rows.{name}").OPERATOR for name in names)


def lanes(variants: Iterable[str] = VARIANTS) -> tuple[Lane, ...]:
    """The processes needed for these variants, each importing no other variant."""
    chosen = tuple(variants)
    kept = []
    for lane in LANES:
        loads = tuple(variant for variant in lane.loads if variant in chosen)
        if loads:
            kept.append(Lane(lane.name, loads, lane.task_queue))
    return tuple(kept)


def cases(variants: Iterable[str] = VARIANTS, of: Iterable[Operator] | None = None) -> list[Case]:
    """Every case that a run of these variants must report, each exactly once."""
    found: dict[str, Case] = {}
    running = lanes(variants)
    for operator in operators() if of is None else of:
        for row in operator.rows:
            if row.group not in GROUPS:
                raise ValueError(f"row '{row.id}': expected a group of {GROUPS}, got '{row.group}'")
            for lane in running:
                for case in _cases_of(operator, row, lane):
                    if case.key in found:
                        raise ValueError(f"row '{case.key}': expected a unique id, got it twice")
                    found[case.key] = case
    return list(found.values())


def _cases_of(operator: Operator, row: Row, lane: Lane) -> list[Case]:
    if row.group == "parity":
        if len(lane.loads) < 2:
            return []
        return [Case(operator, row, BOTH, lane.name, f"{row.id}-{lane.name}")]
    if row.task_queue != lane.task_queue:
        return []
    return [
        Case(operator, row, variant, lane.name, row.id)
        for variant in lane.loads
        if variant in row.variants
    ]
