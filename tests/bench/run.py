# SPDX-License-Identifier: Apache-2.0
"""Measures what the project costs against what a user would pick instead, and writes a report.

Every part is a process of its own; within one, all subjects are measured in turn, so that a ratio
is of one machine at one time. Run by `make bench`, in the device's environment.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE.parent), str(ROOT / "ci")]

import device  # noqa: E402

from bench import page  # noqa: E402
from bench.goals import outcomes  # noqa: E402
from bench.measure import Suite  # noqa: E402

NATIVE = ROOT / "build" / "cmake" / "bench"
REPORT = ROOT / "build" / "report"
LOG = ROOT / "build" / "log"
TREES = ROOT / "build" / "bench-trees"
# A part that is run again replaces its own figures only.
PARTS_DONE = ROOT / "build" / "bench"


def run(name: str, command: list, **env: str) -> None:
    """Runs a part; what it says goes to a log, torch_npu's warnings of every thread among it."""
    LOG.mkdir(parents=True, exist_ok=True)
    log = LOG / f"bench-{name}.log"
    env = os.environ | {"PYTHONPATH": str(HERE.parent)} | env
    start = time.monotonic()
    print(f"bench: {name} ...", flush=True)
    with log.open("w") as output:
        done = subprocess.run(command, env=env, cwd=ROOT, stdout=output, stderr=subprocess.STDOUT)
    if done.returncode:
        tail = "\n".join(log.read_text(errors="replace").splitlines()[-20:])
        sys.exit(f"{tail}\nbench: {name} failed with exit code {done.returncode}; see {log}")
    print(f"bench: {name}: {time.monotonic() - start:.1f} s", flush=True)


def build_native() -> None:
    cmake = ROOT / ".venv/bin/cmake"
    configure = [cmake, "-G", "Ninja", "-S", HERE / "native", "-B", NATIVE]
    run("configure", [*configure, f"-DPython3_EXECUTABLE={sys.executable}"])
    run("compile", [cmake, "--build", NATIVE])


def part(name: str, module: str, *options, **env: str) -> None:
    command = [sys.executable, "-P", "-m", f"bench.{module}", *map(str, options)]
    run(name, [*command, "--output", PARTS_DONE / f"{name}.json"], **env)


def calls(rounds: int) -> None:
    for launch in ("none", "real"):
        for queue in ("0", "1", "2"):
            options = ("--native", NATIVE, "--launch", launch, "--rounds", rounds)
            part(f"calls-{launch}-{queue}", "calls", *options, TASK_QUEUE_ENABLE=queue)


def kernels(rounds: int) -> None:
    part("kernels", "kernels", "--native", NATIVE, "--rounds", max(5, rounds // 4))


def imports(rounds: int) -> None:
    part("imports", "imports", "--rounds", max(3, rounds // 20))


def builds(rounds: int) -> None:
    part("builds", "builds", "--tree", TREES / "build", "--rounds", max(3, rounds // 60))


def growth(_rounds: int) -> None:
    part("growth", "growth", "--folder", TREES / "growth")


PARTS = {
    "calls": calls,
    "kernels": kernels,
    "imports": imports,
    "builds": builds,
    "growth": growth,
}


def facts(chosen: device.Device) -> dict[str, str]:
    from importlib.metadata import version

    names = ("torch", "torch_npu")
    commit = subprocess.run(
        ["git", "describe", "--always", "--dirty", "--exclude=*"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    ).stdout.strip()
    known = {"device": chosen.description, "cores": str(len(os.sched_getaffinity(0)))}
    return known | {name: version(name) for name in names} | {"revision": commit or "unknown"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=PARTS, action="append", help="parts to run")
    parser.add_argument("--rounds", type=int, default=200, help="how often a call is measured")
    options = parser.parse_args()
    chosen = device.decide()
    build_native()
    PARTS_DONE.mkdir(parents=True, exist_ok=True)
    for name in options.only or PARTS:
        PARTS[name](options.rounds)
    report(Suite(*sorted(PARTS_DONE.glob("*.json"))), facts(chosen))


def report(suite: Suite, known: dict[str, str]) -> None:
    REPORT.mkdir(parents=True, exist_ok=True)
    suite.write(REPORT / "bench.json")
    found = outcomes(suite)
    text = page.html(suite, found, known)
    (REPORT / "bench.html").write_text(text, encoding="utf-8")
    widths = [max(len(row[i]) for row in map(cells, found)) for i in range(3)]
    for outcome in found:
        line = "  ".join(
            cell.ljust(width) for cell, width in zip(cells(outcome), widths, strict=True)
        )
        print(f"{'met    ' if outcome.met else 'not met'}  {line}".rstrip())
    print(f"bench: {REPORT / 'bench.html'}")


def cells(outcome) -> tuple[str, str, str]:
    return outcome.goal, outcome.limit, outcome.got


if __name__ == "__main__":
    main()
