# SPDX-License-Identifier: Apache-2.0
"""Builds every mutant of the sources and runs the tests until one of them sees it.

A mutant is built in a tree of its worker, in which only what it changes is compiled again, and
imported from there. The test that the table expects to see it runs first; if that passes, the whole
matrix and the tests of the packages do. A mutant that nothing sees has survived: a test is missing.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import threading
import time
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE.parent), str(ROOT / "ci")]

import built  # noqa: E402
from matrix import hardening, row  # noqa: E402
from matrix.run import UNWANTED, lane_command  # noqa: E402

from mutants.table import MUTANTS, Mutant, TableError  # noqa: E402

TREES = ROOT / "build" / "mutants"
SOURCES = ("CMakeLists.txt", "versions.toml", "kernels", "csrc", "python")
PACKAGES = {
    "ascendc_ops": "python/ascendc-ops-pybind/ascendc_ops",
    "ascendc_ops_lib": "python/ascendc-ops-lib/ascendc_ops_lib",
}
SUITES = (
    "tests/library/test_transforms.py",
    "tests/library/test_tracing.py",
    "tests/packages/test_import.py",
    "tests/packages/test_launch.py",
)
VARIANTS = ",".join(row.VARIANTS)
OPERATOR = "ascendc_add"
BYTECODE = shutil.ignore_patterns("__pycache__")
TEST_SECONDS = 300.0
FAILED = re.compile(r"^FAILED (.+?)(?: - .*)?$", re.MULTILINE)


class MutantsError(Exception):
    """A sentence for the user: nothing can be said of the mutants."""


@dataclass(frozen=True)
class Result:
    mutant: Mutant
    # The row or test that failed, and how the process ended where it died; empty for a survivor.
    killer: str
    seconds: float

    @property
    def line(self) -> str:
        if not self.killer:
            return f"SURVIVED {self.mutant.name} ({self.mutant.file}), {self.seconds:.0f} s"
        return f"killed   {self.mutant.name}: {self.killer}, {self.seconds:.0f} s"


def lane_of() -> dict[str, str]:
    """Row of the matrix, as the table names it -> the process that runs it."""
    return {
        case.key.removeprefix(f"{OPERATOR}/"): case.lane
        for case in row.cases()
        if case.operator.name == OPERATOR
    }


class Worker:
    """A copy of the sources with a build tree, and the packages installed from it."""

    def __init__(self, folder: Path, env: dict[str, str]):
        self.folder = folder
        self.source = self.folder / "source"
        self.tree = self.folder / "tree"
        self.site = self.folder / "site"
        self.env = {name: value for name, value in env.items() if name not in UNWANTED}
        self.env["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), env["PATH"]])
        self.env["PYTHONPATH"] = str(self.site)
        self.env["PYTHONDONTWRITEBYTECODE"] = "1"
        self.env["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
        self.lanes = lane_of()

    def command(self, *command: str | Path) -> None:
        done = subprocess.run(
            list(map(str, command)), env=self.env, capture_output=True, text=True, cwd=self.folder
        )
        if done.returncode:
            raise MutantsError(f"{command[0]} failed:\n{(done.stdout + done.stderr)[-3000:]}")

    def prepare(self) -> None:
        """The sources as they are, built without optimisation: it is compiling that takes time."""
        self.source.mkdir(parents=True, exist_ok=True)
        for name in SOURCES:
            for file in sorted(path for path in [ROOT / name, *(ROOT / name).rglob("*")]):
                if file.is_file() and file.suffix != ".pyc":
                    self.put(str(file.relative_to(ROOT)), file.read_text(encoding="utf-8"))
        self.command(
            "cmake",
            *("-S", self.source, "-B", self.tree, "-G", "Ninja"),
            f"-DCMAKE_ASC_ARCHITECTURES={self.env['NPU_ARCH']}",
            f"-DPython3_EXECUTABLE={sys.executable}",
            f"-DCMAKE_PROJECT_INCLUDE={HERE / 'precompile.cmake'}",
            "-DCMAKE_BUILD_TYPE=Release",
            "-DCMAKE_CXX_FLAGS_RELEASE=-O0",
            "-DCMAKE_ASC_FLAGS_RELEASE=-O0",
        )

    def put(self, name: str, text: str) -> None:
        """Writes a source, unless it is what is there: its time decides what is compiled."""
        path = self.source / name
        if path.is_file() and path.read_text(encoding="utf-8") == text:
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def install(self) -> None:
        self.command("cmake", "--build", self.tree)
        for package, folder in PACKAGES.items():
            self.command(
                *("cmake", "--install", self.tree, "--prefix", self.site, "--component", package)
            )
            self.copy_package(package, self.source / folder)

    def copy_package(self, package: str, folder: Path) -> None:
        shutil.copytree(folder, self.site / package, dirs_exist_ok=True, ignore=BYTECODE)

    def judge(self, mutant: Mutant, previous: Mutant | None) -> Result:
        began = time.monotonic()
        if previous and previous.file != mutant.file:
            self.put(previous.file, (ROOT / previous.file).read_text(encoding="utf-8"))
        self.put(mutant.file, mutant.applied((ROOT / mutant.file).read_text(encoding="utf-8")))
        try:
            self.install()
        except MutantsError as error:
            raise MutantsError(f"mutant '{mutant.name}' does not build: {error}") from error
        killer = self.seen_by(mutant.killer) or self.seen_by_any()
        return Result(mutant, killer, time.monotonic() - began)

    def seen_by(self, test: str) -> str:
        return self.pytest(test) if "::" in test else self.matrix(self.lanes[test], test)

    def seen_by_any(self) -> str:
        for lane in row.LANES:
            if killer := self.matrix(lane.name):
                return killer
        return self.pytest(*SUITES)

    def matrix(self, lane_name: str, *rows: str) -> str:
        """The first row of the lane that fails, of these or of all; empty if none does."""
        lane = next(each for each in row.LANES if each.name == lane_name)
        events = self.folder / "events.jsonl"
        events.write_text("")
        command = lane_command(lane, row.VARIANTS, self.env["DEVICE"], events)
        at = next(n for n, word in enumerate(command) if word.endswith("test_matrix.py"))
        if rows:
            file = command[at]
            command[at : at + 1] = [f"{file}::test_row[{OPERATOR}/{name}]" for name in rows]
        env = self.env | {"TASK_QUEUE_ENABLE": lane.task_queue}
        code, output = self.run([*command, "--exitfirst"], env)
        entries = [json.loads(line) for line in events.read_text().splitlines() if line]
        if code == 0:
            ran = sum(entry.get("outcome") == "passed" for entry in entries)
            if rows and ran != len(rows):
                raise MutantsError(f"expected {len(rows)} rows to run, {ran} did:\n{output}")
            return ""
        for entry in entries:
            if entry.get("outcome") == "failed":
                return entry["key"].removeprefix(f"{OPERATOR}/")
        begun = [entry["key"] for entry in entries if entry["event"] == "begin"]
        if begun:
            return f"{begun[-1].removeprefix(f'{OPERATOR}/')} ({code})"
        if any(entry["event"] == "could-not-start" for entry in entries) or code == "a hang":
            return f"import ({code})"
        raise MutantsError(f"pytest ended with {code}:\n{output}")

    def pytest(self, *tests: str) -> str:
        command = [sys.executable, "-m", "pytest", "-q", "--exitfirst", "-p", "no:cacheprovider"]
        code, output = self.run([*command, "--rootdir", str(ROOT), *tests], self.env)
        if code == 0:
            return ""
        if found := FAILED.search(output):
            return found[1].rsplit("/", 1)[-1]
        if code == "exit code 1" or "signal" in code or code == "a hang":
            return f"{tests[0].rsplit('/', 1)[-1]} ({code})"
        raise MutantsError(f"pytest ended with {code}:\n{output[-3000:]}")

    def run(self, command: list[str], env: dict[str, str]) -> tuple[int | str, str]:
        """0, or how the process ended, and what it said."""
        try:
            done = subprocess.run(
                command,
                env=env,
                cwd=ROOT,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
                timeout=TEST_SECONDS,
            )
        except subprocess.TimeoutExpired:
            return "a hang", ""
        if done.returncode < 0:
            return f"signal {-done.returncode}", done.stdout
        return done.returncode and f"exit code {done.returncode}", done.stdout

    def baseline(self, tests: list[str]) -> None:
        """The sources as they are pass every test that is to see a mutant."""
        self.install()
        self.require_own_package()
        by_lane: dict[str, list[str]] = {}
        for test in tests:
            if "::" not in test:
                by_lane.setdefault(self.lanes[test], []).append(test)
        for lane, rows in by_lane.items():
            if killer := self.matrix(lane, *rows):
                raise MutantsError(f"expected {killer} to pass without a mutant, it failed")
        nodes = [test for test in tests if "::" in test]
        if nodes and (killer := self.pytest(*nodes)):
            raise MutantsError(f"expected {killer} to pass without a mutant, it failed")

    def require_own_package(self) -> None:
        program = "import ascendc_ops, ascendc_ops_lib; print(ascendc_ops.__file__)"
        code, output = self.run([sys.executable, "-P", "-c", program], self.env)
        if code or str(self.site) not in output:
            raise MutantsError(f"expected the package in {self.site} to be imported:\n{output}")


def chosen(names: list[str]) -> list[Mutant]:
    known = {mutant.name: mutant for mutant in MUTANTS}
    if unknown := set(names) - set(known):
        raise MutantsError(f"expected names of mutants, got {', '.join(sorted(unknown))}")
    # Those of one file come one after the other, so that little is compiled again.
    found = [known[name] for name in names] if names else list(MUTANTS)
    for mutant in found:
        mutant.applied((ROOT / mutant.file).read_text(encoding="utf-8"))
    return sorted(found, key=lambda mutant: mutant.file)


def judge_all(mutants: list[Mutant], jobs: int, env: dict[str, str]) -> list[Result]:
    waiting = deque(mutants)
    results: list[Result] = []
    lock = threading.Lock()
    tests = sorted({mutant.killer for mutant in mutants})

    def work(number: int) -> None:
        worker = Worker(TREES / str(number), env)
        worker.prepare()
        # One worker's word is enough for sources that are the same.
        worker.baseline(tests) if number == 0 else worker.install()
        previous = None
        while True:
            with lock:
                # From either end, so that the workers rarely compile the same file.
                if not waiting:
                    return
                mutant = waiting.popleft() if number == 0 else waiting.pop()
            result = worker.judge(mutant, previous)
            previous = mutant
            with lock:
                results.append(result)
                print(f"mutants: {len(results)} of {len(mutants)}: {result.line}", flush=True)

    with ThreadPoolExecutor(jobs) as pool:
        for each in [pool.submit(work, number) for number in range(jobs)]:
            each.result()
    return results


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", help="mutants to judge (default: all)")
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1))
    options = parser.parse_args()
    revision = built.revision()
    began = time.monotonic()
    try:
        mutants = chosen(options.names)
        results = judge_all(mutants, options.jobs, dict(os.environ))
    except (MutantsError, TableError) as error:
        sys.exit(f"mutants: {error}")
    seconds = round(time.monotonic() - began, 1)
    survivors = [result for result in results if not result.killer]
    others = [r for r in results if r.killer and not r.killer.startswith(shown(r.mutant.killer))]
    for result in others:
        print(f"mutants: {result.mutant.name}: expected {result.mutant.killer} to see it first")
    if not options.names:
        figures = {"mutants": len(results), "survivors": len(survivors), "seconds": seconds}
        figures |= {"killed_by": {result.mutant.name: result.killer for result in results}}
        hardening.record("mutants", revision, not (survivors or others), figures)
    print(f"mutants: {len(results)} judged, {len(survivors)} survived, {seconds} s")
    # A test that fails for another reason must not pass for one that sees the mutant.
    sys.exit(1 if survivors or others else 0)


def shown(test: str) -> str:
    return test.rsplit("/", 1)[-1] if "::" in test else test


if __name__ == "__main__":
    main()
