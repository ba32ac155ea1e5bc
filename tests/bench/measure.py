# SPDX-License-Identifier: Apache-2.0
"""Figures that are worth something on a shared machine: taken in turn, compared round by round.

pyperf's own runner measures one subject after the other, so that a ratio would say what else the
machine did meanwhile; here every round measures every subject, in another order each time. pyperf
holds the figures, which `python -m pyperf show|hist|stats build/report/bench.json` reads too.
"""

from __future__ import annotations

import random
import statistics
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import pyperf

Take = Callable[[], float]


@dataclass(frozen=True)
class Ratio:
    """The median of the ratios of the rounds, and their middle half."""

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Iterable[float], baseline: Iterable[float]) -> Ratio:
        ratios = [value / base for value, base in zip(values, baseline, strict=True)]
        low, median, high = quartiles(ratios)
        return cls(median, low, high)

    def __str__(self) -> str:
        return f"{self.median:.2f} ({self.low:.2f} to {self.high:.2f})"


def quartiles(values: list[float]) -> tuple[float, float, float]:
    if len(values) < 2:
        return values[0], values[0], values[0]
    low, median, high = statistics.quantiles(values, n=4, method="inclusive")
    return low, median, high


def in_turn(subjects: dict[str, Take], rounds: int, warmups: int = 1) -> dict[str, list[float]]:
    """Every subject's figure of every round, the rounds' order shuffled and repeatable."""
    values: dict[str, list[float]] = {name: [] for name in subjects}
    names = list(subjects)
    shuffle = random.Random(0).shuffle
    for number in range(-warmups, rounds):
        shuffle(names)
        for name in names:
            value = subjects[name]()
            if number >= 0:
                values[name].append(value)
    return values


@dataclass(frozen=True)
class Series:
    values: tuple[float, ...]
    unit: str
    baseline: str
    ratio: Ratio | None

    @classmethod
    def of(cls, benchmark: pyperf.Benchmark) -> Series:
        said = benchmark.get_metadata()
        ratio = None
        if "ratio" in said:
            ratio = Ratio(said["ratio"], said["ratio_low"], said["ratio_high"])
        values = tuple(benchmark.get_values())
        return cls(values, benchmark.get_unit(), said.get("baseline", ""), ratio)

    @property
    def median(self) -> float:
        return statistics.median(self.values)

    def __str__(self) -> str:
        return spelled(self.median, self.unit)


def spelled(value: float, unit: str) -> str:
    if unit == "byte":
        return f"{value / 1000:.1f} kB"
    for scale, name in ((1, "s"), (1e3, "ms"), (1e6, "µs")):
        if value * scale >= 1:
            return f"{value * scale:.3g} {name}"
    return f"{value * 1e9:.3g} ns"


class Figures:
    """What one part of the benchmark found; `group/condition/subject` names a series."""

    def __init__(self) -> None:
        self.benchmarks: list[pyperf.Benchmark] = []

    def add(
        self,
        group: str,
        values: dict[str, list[float]],
        baseline: str = "",
        unit: str = "second",
    ) -> None:
        """`values` by subject, each of as many rounds; with a baseline every one gets a ratio."""
        for subject, taken in values.items():
            metadata = {"name": f"{group}/{subject}", "unit": unit}
            if baseline:
                ratio = Ratio.of(taken, values[baseline])
                metadata |= {"baseline": baseline, "ratio": ratio.median}
                metadata |= {"ratio_low": ratio.low, "ratio_high": ratio.high}
            run = pyperf.Run(taken, metadata=metadata, collect_metadata=False)
            self.benchmarks.append(pyperf.Benchmark([run]))

    def write(self, path: Path) -> None:
        pyperf.BenchmarkSuite(self.benchmarks).dump(str(path), replace=True)


class Suite:
    """Figures that were written, as groups of series of equally many rounds."""

    def __init__(self, *files: Path) -> None:
        self.benchmarks: list[pyperf.Benchmark] = []
        for file in files:
            self.benchmarks += pyperf.BenchmarkSuite.load(str(file)).get_benchmarks()
        self.groups: dict[str, dict[str, Series]] = {}
        for benchmark in self.benchmarks:
            group, _, subject = benchmark.get_name().rpartition("/")
            self.groups.setdefault(group, {})[subject] = Series.of(benchmark)

    def write(self, path: Path) -> None:
        pyperf.BenchmarkSuite(self.benchmarks).dump(str(path), replace=True)
