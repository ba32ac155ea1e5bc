# SPDX-License-Identifier: Apache-2.0
"""Fuzzes the contract of ascendc_add: draws calls, and compares both variants with the oracle.

The calls are made in child processes: one that crashes leaves the example it was making behind.
--example runs one example, as a failure prints it.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE.parent), str(ROOT / "ci")]

import built  # noqa: E402
from matrix import hardening  # noqa: E402

from contract.plan import Example  # noqa: E402

# A new seed per batch: hypothesis remembers what it drew, and slows down with it.
BATCH = 1000


class FuzzError(Exception):
    """A sentence for the user, and what was found."""


class BrokenError(BaseException):
    """Goes through hypothesis, which would try the example again."""


def run_batch(caller, seed: int, count: int, note) -> tuple[Counter, str]:
    """Draws `count` examples; gives what came of them and, if one is wrong, which and how."""
    import hypothesis

    from contract.drawing import examples

    totals: Counter = Counter()
    distinct = set()
    last = []

    @hypothesis.seed(seed)
    @hypothesis.settings(
        max_examples=count,
        database=None,
        deadline=None,
        verbosity=hypothesis.Verbosity.quiet,
        phases=(hypothesis.Phase.generate, hypothesis.Phase.shrink),
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    @hypothesis.given(examples())
    def every_call_is_as_the_contract_says(example):
        note(example)
        totals["examples"] += 1
        distinct.add(example)
        problem = caller.problem(example)
        if problem:
            last[:] = [example, problem]
            # A smaller example cannot be looked for where every call fails by now.
            raise BrokenError(problem) if caller.broken() else AssertionError(problem)

    try:
        every_call_is_as_the_contract_says()
    except (AssertionError, BrokenError):
        # hypothesis ends with the smallest example that still fails.
        example, problem = last
        return totals, f"{problem}\n{example}\nexample: {example.as_json()}"
    totals["distinct"] = len(distinct)
    return totals, ""


def child(seeds: list[int], counts: list[int], current: Path, fault: str) -> None:
    """Runs batches; one JSON line per batch, and in `current` the example being made."""
    import warnings

    warnings.simplefilter("ignore")
    # What libraries print must not come between the lines.
    lines = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    from contract.calling import Caller

    caller = Caller()
    file = os.open(current, os.O_RDWR | os.O_CREAT)

    def note(example: Example) -> None:
        text = example.as_json().encode()
        os.pwrite(file, len(text).to_bytes(8, "little") + text, 0)
        if fault == "crash" and example.x.negated:
            os.kill(os.getpid(), signal.SIGSEGV)

    for seed, count in zip(seeds, counts, strict=True):
        before = Counter(accepted=caller.accepted, guarded=caller.guarded)
        totals, failure = run_batch(caller, seed, count, note)
        totals += Counter(accepted=caller.accepted, guarded=caller.guarded) - before
        print(
            json.dumps({"totals": totals, "failure": failure, "seed": seed}), file=lines, flush=True
        )
        if failure:
            sys.exit(1)


def last_example(current: Path) -> str:
    held = current.read_bytes()
    return held[8 : 8 + int.from_bytes(held[:8], "little")].decode() if held else "none"


@dataclass
class Worker:
    """One child process and what it has said."""

    number: int
    folder: Path
    process: subprocess.Popen
    totals: Counter = field(default_factory=Counter)

    @property
    def current(self) -> Path:
        return self.folder / f"current-{self.number}"

    def lines(self) -> Iterator[dict]:
        for line in self.process.stdout:
            yield json.loads(line)
        code = self.process.wait()
        if code < 0:
            raise FuzzError(
                f"the process died of {signal.Signals(-code).name} in this call\n"
                f"example: {last_example(self.current)}"
            )
        if code:
            log = (self.folder / f"log-{self.number}").read_text(errors="replace")
            raise FuzzError(f"a process ended with exit code {code}\n{log[-2000:]}")


def start(number: int, seeds: list[int], counts: list[int], folder: Path, env, fault) -> Worker:
    command = [sys.executable, "-P", str(Path(__file__).resolve()), "--child"]
    command += ["--current", str(folder / f"current-{number}"), "--fault", fault]
    command += ["--seeds", ",".join(map(str, seeds)), "--counts", ",".join(map(str, counts))]
    with (folder / f"log-{number}").open("w") as log:
        process = subprocess.Popen(
            command,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )
    return Worker(number, folder, process)


def follow(workers: list[Worker], wanted: int) -> Counter:
    """The totals of all; raises what a worker found first."""
    import queue
    import threading

    said: queue.Queue = queue.Queue()

    def listen(worker: Worker) -> None:
        try:
            for line in worker.lines():
                said.put(line)
            said.put(None)
        except Exception as error:
            said.put(error)

    for worker in workers:
        threading.Thread(target=listen, args=(worker,), daemon=True).start()
    totals: Counter = Counter()
    began = time.monotonic()
    running = len(workers)
    while running:
        line = said.get()
        if line is None:
            running -= 1
        elif isinstance(line, Exception):
            raise line
        elif line["failure"]:
            raise FuzzError(f"{line['failure']}\nseed: {line['seed']}")
        else:
            totals += Counter(line["totals"])
            print(
                f"fuzz: {totals['examples']} of {wanted} examples, "
                f"{totals['accepted']} calls accepted, {time.monotonic() - began:.0f} s",
                flush=True,
            )
    return totals


def fuzz(examples: int, seed: int, jobs: int, env: dict[str, str], fault: str = "") -> Counter:
    """Draws `examples` calls in `jobs` processes; gives the totals.

    Raises:
        FuzzError: a call was not as the contract says, or a process died.
    """
    counts = [min(BATCH, examples - done) for done in range(0, examples, BATCH)]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        workers = []
        try:
            for number in range(jobs):
                mine = range(number, len(counts), jobs)
                if mine:
                    seeds = [seed + each for each in mine]
                    own = [counts[each] for each in mine]
                    workers.append(start(number, seeds, own, folder, env, fault))
            totals = follow(workers, examples)
        finally:
            for worker in workers:
                worker.process.kill()
                worker.process.wait()
                worker.process.stdout.close()
    if totals["examples"] < examples:
        raise FuzzError(f"expected {examples} examples, got {totals['examples']}")
    # Each is a call in both variants that found its output between the guards.
    if not totals["accepted"] or totals["guarded"] < 0.8 * totals["accepted"]:
        raise FuzzError(f"expected outputs between guards, got {dict(totals)}")
    return totals


def one(text: str) -> None:
    from contract.calling import Caller

    example = Example.from_json(text)
    print(example)
    if problem := Caller().problem(example):
        sys.exit(problem)
    print("as the contract says")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--examples", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--example", help="one example in JSON, in this process")
    parser.add_argument("--fault", choices=["", "crash"], default="", help=argparse.SUPPRESS)
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--current", type=Path, help=argparse.SUPPRESS)
    for name in ("--seeds", "--counts"):
        parser.add_argument(
            name, type=lambda text: [int(n) for n in text.split(",")], help=argparse.SUPPRESS
        )
    options = parser.parse_args()
    if options.child:
        child(options.seeds, options.counts, options.current, options.fault)
        return
    if options.example:
        one(options.example)
        return
    revision = built.revision()
    began = time.monotonic()
    try:
        totals = fuzz(options.examples, options.seed, options.jobs, dict(os.environ), options.fault)
    except FuzzError as error:
        hardening.record("fuzz", revision, False, {"finding": str(error)})
        sys.exit(f"fuzz: {error}")
    seconds = round(time.monotonic() - began, 1)
    figures = {**totals, "seed": options.seed, "seconds": seconds}
    hardening.record("fuzz", revision, True, figures)
    print(
        f"fuzz: {totals['examples']} examples ({totals['distinct']} distinct per batch) in both "
        f"variants, {totals['accepted']} calls accepted, {totals['guarded']} of them between "
        f"guards, 0 findings, {seconds} s"
    )


if __name__ == "__main__":
    main()
