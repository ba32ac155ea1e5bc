# SPDX-License-Identifier: Apache-2.0
"""What the figures are measured against; a goal that is not met stays in the report."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import linear_regression

from bench.builds import OURS, SAMPLE
from bench.calls import CHECKS
from bench.measure import Ratio, Suite, spelled


@dataclass(frozen=True)
class Outcome:
    goal: str
    limit: str
    got: str
    met: bool
    # Why not, where it is not met.
    reason: str = ""


@dataclass(frozen=True)
class RatioWithin:
    """The ratio of two series, round by round."""

    goal: str
    group: str
    subject: str
    baseline: str
    limit: float
    reason: str = ""

    def outcome(self, suite: Suite) -> Outcome | None:
        if self.group not in suite.groups:
            return None
        series = suite.groups[self.group]
        ratio = Ratio.of(series[self.subject].values, series[self.baseline].values)
        met = ratio.median <= self.limit
        limit = f"≤ {self.limit:.2f} of {self.baseline}"
        return Outcome(self.goal, limit, str(ratio), met, "" if met else self.reason)


@dataclass(frozen=True)
class TotalWithin:
    """The sum of medians, in the unit that `scale` makes of seconds or bytes."""

    goal: str
    group: str
    subjects: tuple[str, ...]
    limit: float
    scale: float
    unit: str
    reason: str = ""

    def outcome(self, suite: Suite) -> Outcome | None:
        if self.group not in suite.groups:
            return None
        series = suite.groups[self.group]
        total = self.scale * sum(series[name].median for name in self.subjects)
        met = total <= self.limit
        limit = f"≤ {self.limit:g} {self.unit}"
        got = f"{total:.3g} {self.unit}"
        return Outcome(self.goal, limit, got, met, "" if met else self.reason)


@dataclass(frozen=True)
class Straight:
    """Growth with a number of operators: what one more costs does not rise on the way.

    `limit` is the slope of the last stretch as a share of the slope of all.
    """

    goal: str
    group: str
    limit: float
    reason: str = ""

    def outcome(self, suite: Suite) -> Outcome | None:
        if self.group not in suite.groups:
            return None
        series = suite.groups[self.group]
        points = [(int(name.split()[0]), one.median) for name, one in series.items()]
        unit = next(iter(series.values())).unit
        slope = linear_regression(*zip(*points, strict=True)).slope
        (before, low), (last, high) = points[-2:]
        ratio = (high - low) / (last - before) / slope
        got = f"{spelled(slope, unit)} each, {ratio:.2f} at the end"
        met = ratio <= self.limit
        limit = f"≤ {self.limit:.2f} of its mean at the end"
        return Outcome(self.goal, limit, got, met, "" if met else self.reason)


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


EMPTY = "Checks, a device guard and a look at the queue; the sample does none of it."
QUEUED = (
    "The sample overtakes the queued work. A launch in the queue keeps the order at 1.0 to 1.4 "
    "times its time, but one that fails there ends torch_npu's work in the process: so it waits."
)
BUILD = (
    "Reading torch_npu's NPUStream.h and torch's python_variable.h is half of it, here as in the "
    "samples. A precompiled header has 437 MB and was no faster on two cores."
)
CHECKING = "The shape is a fifth of it, what lies in memory a sixth."
DIRECT = "Looking for a tracer or transform on this thread is a quarter of it, the shape a sixth."
COPIES = "Every element is copied into the unified buffer and out of it, as the kernel says."
GOALS = (
    *calls(),
    TotalWithin("checks of pybind", "step", (*CHECKS, "direct_call"), 60, 1e9, "ns", DIRECT),
    TotalWithin("checks of the kernel of lib", "step", CHECKS, 60, 1e9, "ns", CHECKING),
    RatioWithin(
        "add kernel of hostcann",
        "kernel/64 MiB",
        "hostcann kernel",
        "torch CPU",
        1 / 0.9,
        COPIES,
    ),
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
    """Of every goal whose figures were taken."""
    return [outcome for goal in GOALS if (outcome := goal.outcome(suite))]
