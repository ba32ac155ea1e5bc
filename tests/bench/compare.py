# SPDX-License-Identifier: Apache-2.0
"""Measures two revisions in turn, process by process, on this machine and with these sources.

The base is built in build/bench-base, from a clone, with this checkout's interpreter and torch.
Only the packages and hostcann are its own: what measures is the same for both.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE.parent), str(ROOT / "ci")]

from bench.measure import Ratio, Suite, spelled  # noqa: E402
from bench.run import NATIVE, build_native, run  # noqa: E402

BASE = ROOT / "build" / "bench-base"
PACKAGES = BASE / "build" / "packages"
VARIANTS = ("pybind", "lib")


def git(*arguments: str, folder: Path = ROOT) -> str:
    done = subprocess.run(["git", *arguments], cwd=folder, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"bench-compare: {' '.join(done.stderr.split())}")
    return done.stdout.strip()


def commit_of(revision: str) -> str:
    command = ["git", "rev-parse", "--verify", "--quiet", "--end-of-options"]
    done = subprocess.run(
        [*command, f"{revision}^{{commit}}"], cwd=ROOT, capture_output=True, text=True
    )
    if not revision or done.returncode:
        sys.exit(
            f"bench-compare: BASE: expected a revision that git knows here, got '{revision}'; "
            "say for instance make bench-compare BASE=HEAD~1"
        )
    return done.stdout.strip()


def build_base(revision: str) -> None:
    # Sharing what git holds, so that every commit known here is known there.
    if not (BASE / ".git" / "objects" / "info" / "alternates").is_file():
        shutil.rmtree(BASE, ignore_errors=True)
        git("clone", "--quiet", "--shared", "--no-checkout", str(ROOT), str(BASE))
    git("checkout", "--quiet", "--force", "--detach", revision, folder=BASE)
    if not (BASE / ".venv").is_symlink():
        (BASE / ".venv").symlink_to(ROOT / ".venv")
    if os.environ["DEVICE"] == "host":
        run("base-hostcann", [BASE / "ci" / "hostcann.sh"])
    shutil.rmtree(PACKAGES, ignore_errors=True)
    for variant in VARIANTS:
        run(f"base-{variant}", on_base(BASE / "ci" / "wheel.sh", variant), VARIANT="both")
        (wheel,) = (BASE / "build" / "wheels" / variant).glob("*.whl")
        zipfile.ZipFile(wheel).extractall(PACKAGES)


def on_base(*command) -> list:
    return [sys.executable, BASE / "ci" / "device.py", "exec", "--", *command]


def measure(name: str, prefix: list, output: Path, path: str, rounds: int) -> Suite:
    options = ("--native", NATIVE, "--launch", "real", "--rounds", str(rounds), "--output", output)
    command = [*prefix, sys.executable, "-P", "-m", "bench.calls", *options]
    run(name, command, PYTHONPATH=path, TASK_QUEUE_ENABLE="1")
    return Suite(output)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("revision", help="what this checkout is compared with")
    parser.add_argument("--pairs", type=int, default=6, help="processes of each revision")
    parser.add_argument("--rounds", type=int, default=100, help="how often a process measures")
    options = parser.parse_args()
    revision = commit_of(options.revision)
    build_native()
    build_base(revision)
    here = str(HERE.parent)
    found: dict[str, list[tuple[float, float]]] = {}
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "figures.json"
        for pair in range(options.pairs):
            sides = [
                ("base", on_base(), f"{PACKAGES}{os.pathsep}{here}"),
                ("this", [], here),
            ]
            # Which one is first changes, so that neither has the better machine.
            suites = {
                name: measure(name, prefix, output, path, options.rounds)
                for name, prefix, path in sides[:: 1 if pair % 2 else -1]
            }
            for group, series in suites["base"].groups.items():
                for subject in VARIANTS:
                    after = suites["this"].groups[group][subject].median
                    medians = (series[subject].median, after)
                    found.setdefault(f"{group}/{subject}", []).append(medians)
    print(f"{'':60}  {git('describe', '--always', revision):>10}  this checkout   ratio")
    for name, pairs in found.items():
        before, after = zip(*pairs, strict=True)
        told = [spelled(statistics.median(side), "second") for side in (before, after)]
        print(f"{name:60}  {told[0]:>10}  {told[1]:>13}   {Ratio.of(after, before)}")


if __name__ == "__main__":
    main()
