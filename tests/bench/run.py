# SPDX-License-Identifier: Apache-2.0
"""Measures what the project costs against what a user would pick instead, and writes a report.

Every part is a process of its own; within one, all subjects are measured in turn, so that a ratio
is of one machine at one time. Run by `make bench`, in the device's environment.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import time
from importlib.metadata import version
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE.parent), str(ROOT / "ci")]

import built  # noqa: E402
import device  # noqa: E402

from bench import page  # noqa: E402
from bench.goals import outcomes  # noqa: E402
from bench.measure import Suite  # noqa: E402

NATIVE = ROOT / "build" / "cmake" / "bench"
REPORT = ROOT / "build" / "report"
LOG = ROOT / "build" / "log"
TREES = ROOT / "build" / "bench-trees"
FIGURES = ROOT / "build" / "bench"


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


def figures_folder(kind: str) -> Path:
    """Of this device and of the files as they are now: figures of others are not mixed in.

    A part that is run again replaces its own figures only.
    """
    try:
        files = built.tree()
    except built.BuiltError:
        # Without git nobody can tell what the figures of another run are of.
        files = "unknown"
        shutil.rmtree(FIGURES / f"{kind}-{files}", ignore_errors=True)
    return FIGURES / f"{kind}-{files[:12]}"


def part(folder: Path, name: str, module: str, *options, **env: str) -> None:
    command = [sys.executable, "-P", "-m", f"bench.{module}", *map(str, options)]
    run(name, [*command, "--output", folder / f"{name}.json"], **env)


def calls(folder: Path, rounds: int) -> None:
    for launch in ("none", "real"):
        for queue in ("0", "1", "2"):
            options = ("--native", NATIVE, "--launch", launch, "--rounds", rounds)
            part(folder, f"calls-{launch}-{queue}", "calls", *options, TASK_QUEUE_ENABLE=queue)


def kernels(folder: Path, rounds: int) -> None:
    part(folder, "kernels", "kernels", "--native", NATIVE, "--rounds", max(5, rounds // 4))


def imports(folder: Path, rounds: int) -> None:
    part(folder, "imports", "imports", "--rounds", max(3, rounds // 20))


def builds(folder: Path, rounds: int) -> None:
    part(folder, "builds", "builds", "--tree", TREES / "build", "--rounds", max(3, rounds // 60))


def growth(folder: Path, _rounds: int) -> None:
    part(folder, "growth", "growth", "--folder", TREES / "growth")


PARTS = {
    "calls": calls,
    "kernels": kernels,
    "imports": imports,
    "builds": builds,
    "growth": growth,
}


def facts(chosen: device.Device, files: list[Path]) -> dict[str, str]:
    names = ("torch", "torch_npu")
    times = sorted(file.stat().st_mtime for file in files)
    first, last = (time.strftime("%Y-%m-%d %H:%M", time.gmtime(times[i])) for i in (0, -1))
    known = {"device": chosen.description, "cores": str(len(os.sched_getaffinity(0)))}
    known |= {name: version(name) for name in names}
    measured = f"{first} UTC" if first == last else f"{first} to {last} UTC"
    return known | {"revision": built.revision(), "measured": measured}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=PARTS, action="append", help="parts to run")
    parser.add_argument("--rounds", type=int, default=200, help="how often a call is measured")
    options = parser.parse_args()
    chosen = device.decide()
    folder = figures_folder(chosen.kind)
    build_native()
    folder.mkdir(parents=True, exist_ok=True)
    for name in options.only or PARTS:
        PARTS[name](folder, options.rounds)
    files = sorted(folder.glob("*.json"))
    report(Suite(*files), facts(chosen, files))


def report(suite: Suite, known: dict[str, str]) -> None:
    REPORT.mkdir(parents=True, exist_ok=True)
    suite.write(REPORT / "bench.json")
    found = outcomes(suite)
    text = page.html(suite, found, known)
    (REPORT / "bench.html").write_text(text, encoding="utf-8")
    rows = [(one.verdict, one.goal, one.limit, one.got) for one in found]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        print("  ".join(cells).rstrip())
    print(f"bench: {REPORT / 'bench.html'}")


if __name__ == "__main__":
    main()
