# SPDX-License-Identifier: Apache-2.0
"""What the figures are measured against; a goal that is not met stays in the report."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import linear_regression

from bench.builds import OURS, SAMPLE
from bench.calls import CHECKS
from bench.measure import Ratio, Series, Suite, spelled


@dataclass(frozen=True)
class Outcome:
    goal: str
    limit: str
    got: str = ""
    # Not known where nothing was measured.
    met: bool | None = None
    # Why not, where it is not met.
    reason: str = ""

    @property
    def verdict(self) -> str:
        return {True: "met", False: "not met", None: "not measured"}[self.met]


@dataclass(frozen=True)
class Goal:
    """What one or more series of a group are to come to."""

    goal: str
    group: str

    def outcome(self, suite: Suite) -> Outcome:
        if self.group not in suite.groups:
            return Outcome(self.goal, self.said())
        got, met = self.judge(suite.groups[self.group])
        return Outcome(self.goal, self.said(), got, met, "" if met else self.reason)

    def said(self) -> str:
        """The limit, in words."""
        raise NotImplementedError

    def judge(self, series: dict[str, Series]) -> tuple[str, bool]:
        """What was measured, in words, and whether it is within the limit."""
        raise NotImplementedError


@dataclass(frozen=True)
class RatioWithin(Goal):
    """The ratio of two series, round by round."""

    subject: str
    baseline: str
    limit: float
    reason: str = ""

    def said(self) -> str:
        return f"≤ {self.limit:.2f} of {self.baseline}"

    def judge(self, series: dict[str, Series]) -> tuple[str, bool]:
        ratio = Ratio.of(series[self.subject].values, series[self.baseline].values)
        return str(ratio), ratio.median <= self.limit


@dataclass(frozen=True)
class TotalWithin(Goal):
    """The sum of medians, in the unit that `scale` makes of seconds or bytes."""

    subjects: tuple[str, ...]
    limit: float
    scale: float
    unit: str
    reason: str = ""

    def said(self) -> str:
        return f"≤ {self.limit:g} {self.unit}"

    def judge(self, series: dict[str, Series]) -> tuple[str, bool]:
        total = self.scale * sum(series[name].median for name in self.subjects)
        return f"{total:.3g} {self.unit}", total <= self.limit


@dataclass(frozen=True)
class Straight(Goal):
    """Growth with a number of operators: what one more costs does not rise on the way.

    `limit` is the slope of the last stretch as a share of the slope of all. What does not grow at
    all was not measured well enough to say.
    """

    limit: float
    reason: str = ""

    def said(self) -> str:
        return f"≤ {self.limit:.2f} of its mean at the end"

    def judge(self, series: dict[str, Series]) -> tuple[str, bool]:
        points = [(int(name.split()[0]), one.median) for name, one in series.items()]
        unit = next(iter(series.values())).unit
        slope = linear_regression(*zip(*points, strict=True)).slope
        if slope <= 0:
            return "no growth that could be told from noise", False
        (before, low), (last, high) = points[-2:]
        ratio = (high - low) / (last - before) / slope
        return f"{spelled(slope, unit)} each, {ratio:.2f} at the end", ratio <= self.limit


def calls() -> list[RatioWithin]:
    found = []
    for launch in ("none", "real"):
        where = f"call/launch {launch}/queue 1"
        what = "" if launch == "real" else ", no launch"
        for variant in ("pybind", "lib"):
            sample = f"sample, {variant}"
            found += [
                RatioWithin(
                    f"{variant}, empty queue{what}",
                    f"{where}/empty, 1 thread",
                    variant,
                    sample,
                    1.05,
                    EMPTY,
                ),
                RatioWithin(
                    f"{variant}, queued work{what}",
                    f"{where}/queued work, 1 thread",
                    variant,
                    sample,
                    1.0,
                    QUEUED,
                ),
                RatioWithin(
                    f"{variant}{what}", f"{where}/empty, 1 thread", variant, "torch.add", 1.0
                ),
            ]
    return found


EMPTY = (
    "Checks and a look at the queue, and for pybind giving the interpreter's lock away meanwhile; "
    "the sample does none of it."
)
QUEUED = (
    "The sample overtakes the queued work. A launch in the queue keeps the order at 1.0 to 1.4 "
    "times its time, but one that fails there ends torch_npu's work in the process: so it waits."
)
BUILD = (
    "Reading torch_npu's NPUStream.h and torch's library.h and pybind.h is most of it. A "
    "precompiled header has 437 MB and was no faster on two cores."
)
CHECKING = "Asking torch_npu for the storage format, three times, is two fifths of it."
COPIES = (
    "Every element is copied into the unified buffer and out of it, as the kernel says; such "
    "copies alone make 1.7 to 2 times of a plain loop. Stores past the cache and prefetching took "
    "a fifth off that in a trial, for small tensors nothing."
)
GOALS = (
    *calls(),
    TotalWithin("checks of pybind", "step", (*CHECKS, "direct_call"), 60, 1e9, "ns", CHECKING),
    TotalWithin("checks of the kernel of lib", "step", CHECKS, 60, 1e9, "ns", CHECKING),
    RatioWithin(
        "add kernel of hostcann",
        "kernel/64 MiB",
        "hostcann kernel",
        "torch CPU",
        1 / 0.9,
        COPIES,
    ),
    TotalWithin("launch on hostcann", "launch", ("kernel",), 1, 1e6, "µs"),
    TotalWithin("import of pybind", "import", ("pybind",), 15, 1e3, "ms"),
    TotalWithin("import of lib", "import", ("lib",), 15, 1e3, "ms"),
    TotalWithin("package of pybind", "package size", ("pybind",), 400, 1e-3, "kB"),
    TotalWithin("package of lib", "package size", ("lib",), 400, 1e-3, "kB"),
    RatioWithin("build of both variants", "build", OURS, SAMPLE, 0.6, BUILD),
    *(
        Straight(f"one more operator: {what}", f"growth/{what}", 1.25)
        for what in ("build", "package size", "matrix")
    ),
)


def outcomes(suite: Suite) -> list[Outcome]:
    return [goal.outcome(suite) for goal in GOALS]
