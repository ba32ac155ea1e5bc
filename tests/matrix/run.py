# SPDX-License-Identifier: Apache-2.0
"""Runs the matrix: every row, in every variant, on whatever device is there, and reports it.

The row table is the expectation. A row that no process reported has failed, whatever the reason.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE.parent), str(ROOT / "ci")]

from files import turn, unusable  # noqa: E402

from matrix import hardening, report, row  # noqa: E402

MODULES = {"pybind": "ascendc_ops", "lib": "ascendc_ops_lib"}
ONE_DEVICE = "one device"
PROCESSES = "matrix-processes"
# A lane that dies in every row would start anew for each; three times say as much.
PROCESSES_PER_LANE = 3
# Each would change what a row is about: when work runs, what is said, what is tested.
UNWANTED = (
    "ASCEND_LAUNCH_BLOCKING",
    "PER_STREAM_QUEUE",
    "PYTEST_ADDOPTS",
    "PYTEST_PLUGINS",
    "PYTHONWARNINGS",
    "TORCH_SHOW_CPP_STACKTRACES",
)


class CannotRunError(Exception):
    """A sentence for the user: nothing was tested."""


class StoppedError(Exception):
    """A stop from outside, as `docker stop` sends it: what was tested until then is reported."""


def stop(_number, _frame) -> None:
    # Once: the report is written in the seconds that are left.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise StoppedError


class Lanes:
    """The processes that run now, so that an interrupt can end them all at once."""

    def __init__(self):
        self.lock = threading.Lock()
        self.running: set[subprocess.Popen] = set()
        self.ended = False

    def start(self, command, **how) -> subprocess.Popen:
        with self.lock:
            process = subprocess.Popen(command, **how)
            self.running.add(process)
        if self.ended:
            self.kill(process)
        return process

    def forget(self, process: subprocess.Popen) -> None:
        with self.lock:
            self.running.discard(process)

    def kill(self, process: subprocess.Popen) -> None:
        with self.lock:
            if process in self.running:
                os.killpg(process.pid, signal.SIGKILL)

    def end(self) -> None:
        self.ended = True
        with self.lock:
            running = tuple(self.running)
        for process in running:
            self.kill(process)


@dataclass
class Process:
    """What became of one process of a lane."""

    events: list[dict]
    ending: str = ""

    def first(self, event: str) -> dict | None:
        return next((entry for entry in self.events if entry["event"] == event), None)

    def keys(self, event: str) -> list[str]:
        return [entry["key"] for entry in self.events if entry["event"] == event]

    @property
    def could_not_start(self) -> str:
        entry = self.first("could-not-start")
        return entry["message"] if entry else ""


@dataclass
class LaneRun:
    """The processes of one lane, one after the other: each runs what those before it left."""

    lane: row.Lane
    processes: list[Process] = field(default_factory=list)

    @property
    def last(self) -> Process:
        return self.processes[-1]

    def entries(self, event: str, key: str) -> list[tuple[Process, dict]]:
        return [
            (process, entry)
            for process in self.processes
            for entry in process.events
            if entry["event"] == event and entry["key"] == key
        ]


def lane_command(lane, variants, kind: str, events: Path) -> list[str]:
    command = [sys.executable, "-P", "-m", "pytest", "-c", str(HERE / "pytest.ini")]
    command += [str(HERE / "test_matrix.py"), "--lane", lane.name, "--variants", ",".join(variants)]
    return [*command, "--kind", kind, "--events", str(events)]


def run_lane(lane, cases, variants, device, options, lanes: Lanes) -> LaneRun:
    """Runs a lane's rows; a process that dies takes only its own row with it."""
    folder = options.report / PROCESSES
    events, log = folder / f"{lane.name}.jsonl", folder / f"{lane.name}.log"
    events.write_text("")
    log.write_text("")
    command = lane_command(lane, variants, device.kind, events)
    env = {name: value for name, value in device.env.items() if name not in UNWANTED}
    env |= {"TASK_QUEUE_ENABLE": lane.task_queue, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    expected = {case.key for case in cases if case.lane == lane.name}
    deadline = time.monotonic() + options.timeout
    done = LaneRun(lane)
    begun: set[str] = set()
    while len(done.processes) < PROCESSES_PER_LANE and not lanes.ended:
        written = events.stat().st_size
        code = run_process(command, env, log, deadline - time.monotonic(), lanes)
        process = read_process(events, written)
        if code is None:
            process.ending = f"did not finish within {options.timeout:g} s and was ended"
        else:
            process.ending = ending_of(process, code)
        done.processes.append(process)
        begun |= set(process.keys("begin"))
        if code is None or not process.ending or not process.keys("begin") or begun >= expected:
            break
    return done


def run_process(command, env, log: Path, seconds: float, lanes: Lanes) -> int | None:
    """The exit code; None for a process that had to be ended."""
    with log.open("a") as output:
        # A session of its own: a timeout ends whatever the process started, and nothing else.
        running = lanes.start(
            command,
            env=env,
            cwd=log.parent,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
        try:
            return running.wait(max(seconds, 0))
        except subprocess.TimeoutExpired:
            lanes.kill(running)
            running.wait()
            return None
        finally:
            lanes.forget(running)


def read_process(events: Path, start: int) -> Process:
    entries = []
    for line in events.read_bytes()[start:].decode(errors="replace").splitlines():
        try:
            entries.append(json.loads(line))
        except ValueError:
            # A process that died while writing leaves half a line; its row counts as not ended.
            continue
    return Process(entries)


def ending_of(process: Process, code: int) -> str:
    """Why the process did not end as pytest does; empty if it did."""
    if code < 0:
        return f"died of {signal.Signals(-code).name}"
    if process.could_not_start:
        return f"could not start: {process.could_not_start}"
    if broken := process.first("broken"):
        return f"stopped, since the device is unusable: {broken['message']}"
    failed = any(entry.get("outcome") == "failed" for entry in process.events)
    if code != (1 if failed else 0) or not process.first("finished"):
        return f"ended with exit code {code} out of turn"
    return ""


def outcomes(cases, runs: list[LaneRun], stopped: bool) -> list[report.Result]:
    """One result per expected case, and one for each that was reported but is not expected."""
    by_lane = {run.lane.name: run for run in runs}
    results = [outcome(case, by_lane[case.lane], stopped) for case in cases]
    expected = {case.key for case in cases}
    for run in runs:
        if not stopped:
            blame_endings(run, results)
        results += [
            report.unexpected(key, run.lane.name)
            for process in run.processes
            for key in process.keys("end")
            if key not in expected
        ]
    return results


def outcome(case, run: LaneRun, stopped: bool) -> report.Result:
    ended = run.entries("end", case.key)
    if len(ended) == 1:
        process, entry = ended[0]
        result = report.Result.of(case, entry["outcome"], entry["message"], entry["detail"])
        result.seconds = entry["seconds"]
        if result.outcome == "not_run":
            refuse_unfounded_skip(result, process)
        return result
    if ended:
        return report.Result.of(case, "failed", f"expected to run once, ran {len(ended)} times")
    if stopped:
        return report.Result.of(case, "not_run", "the run was stopped")
    if begun := run.entries("begin", case.key):
        process, _ = begun[0]
        return report.Result.of(case, "failed", f"the process {process.ending} in this row")
    running = run.last.keys("begin")
    after = f", after row {running[-1]}" if running else ""
    message = f"never ran: the process {run.last.ending or 'ended'}{after}"
    return report.Result.of(case, "failed", message)


def refuse_unfounded_skip(result: report.Result, process: Process) -> None:
    started = process.first("started") or {}
    if result.message != ONE_DEVICE or started.get("device_count", 0) != 1:
        result.outcome = "failed"
        result.message = f"expected to run, was skipped: {result.message or 'no reason given'}"


def blame_endings(run: LaneRun, results: list[report.Result]) -> None:
    """A process that dies between rows or at its end leaves all rows well: the last is to blame."""
    for process in run.processes:
        rows = process.keys("end")
        if not process.ending or not rows or process.keys("begin") != rows:
            continue
        for result in results:
            if result.key == rows[-1] and result.outcome != "failed":
                result.outcome = "failed"
                result.message = f"the process {process.ending} after this row"


def require_installed(variants) -> None:
    needed = ["torch", "torch_npu", "pytest", *(MODULES[variant] for variant in variants)]
    missing = [name for name in needed if importlib.util.find_spec(name) is None]
    if missing:
        raise CannotRunError(
            f"expected {', '.join(missing)} installed for {sys.executable}, found none; "
            "run make matrix"
        )


def choose_device(wanted: str, npu_arch: str):
    import device

    try:
        return device.resolve(wanted, npu_arch)
    except device.DeviceError as error:
        raise CannotRunError(str(error)) from error


def cause(run: LaneRun, folder: Path) -> str:
    """Why a lane could not start; hostcann's own sentence says more than torch_npu's of it."""
    said = (folder / f"{run.lane.name}.log").read_text(errors="replace").splitlines()
    sentence = next((line for line in said if line.startswith("hostcann: ")), "")
    return sentence or run.last.could_not_start


def stack_of(processes: list[Process], device) -> dict:
    stacks = [entry["stack"] for process in processes if (entry := process.first("started"))]
    return {**(stacks[0] if stacks else {}), "npu_arch": device.npu_arch}


def run(options) -> bool:
    """True if every row passed, or had a reason not to run."""
    variants = row.VARIANTS if options.variant == "both" else (options.variant,)
    (options.report / PROCESSES).mkdir(parents=True, exist_ok=True)
    with turn(options.report / PROCESSES / "lock", "matrix"):
        # The last run's report must not outlive a run that could not even begin.
        report.remove(options.report)
        device = choose_device(options.device, options.npu_arch)
        print(f"device: {device.description}, npu-arch {device.npu_arch}", flush=True)
        require_installed(variants)
        return run_and_report(options, variants, device)


def run_lanes(options, variants, device, cases) -> tuple[list[LaneRun], bool]:
    """What became of every lane, and whether the run was stopped from outside."""
    lanes = Lanes()
    pool = ThreadPoolExecutor(options.jobs)
    started = {}
    stopped = False
    try:
        for lane in row.lanes(variants):
            started[lane.name] = pool.submit(
                run_lane, lane, cases, variants, device, options, lanes
            )
        for each in started.values():
            each.result()
    except StoppedError:
        stopped = True
    finally:
        # Nothing runs any more, unless the user does not want to wait.
        lanes.end()
        pool.shutdown(cancel_futures=True)
    never = Process([], "was stopped")
    runs = [
        LaneRun(lane, [never])
        if (each := started.get(lane.name)) is None or each.cancelled()
        else each.result()
        for lane in row.lanes(variants)
    ]
    return runs, stopped


def record(name: str, revision: str, run_report: report.Report) -> None:
    counts = Counter(result.outcome for result in run_report.results)
    figures = {**counts, "seconds": run_report.seconds}
    hardening.record(name, revision, run_report.passed, figures)


def revision() -> str:
    import built

    return built.revision()


def run_and_report(options, variants, device) -> bool:
    cases = row.cases(variants)
    began_as = revision() if options.record else ""
    start = time.monotonic()
    runs, stopped = run_lanes(options, variants, device, cases)
    processes = [process for each in runs for process in each.processes]
    run_report = report.Report(
        device=device.description,
        kind=device.kind,
        stack=stack_of(processes, device),
        variants=variants,
        results=outcomes(cases, runs, stopped),
        seconds=round(time.monotonic() - start, 1),
        container=os.environ.get("ASCENDC_OPS_CONTAINER", ""),
        partial=stopped,
    )
    report.write(run_report, options.report)
    if all(process.could_not_start for process in processes):
        raise CannotRunError(cause(runs[0], options.report / PROCESSES))
    print(report.text(run_report, options.report / PROCESSES))
    if options.record:
        record(options.record, began_as, run_report)
    if stopped:
        raise StoppedError
    return run_report.passed


def parse(arguments: list[str] | None = None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--variant", choices=(*row.VARIANTS, "both"), default="both")
    parser.add_argument("--report", type=Path, default=ROOT / "build" / "report")
    parser.add_argument(
        "--device", default="", help="auto, host or npu (default: $DEVICE, or auto)"
    )
    parser.add_argument("--npu-arch", default="", help="default: $NPU_ARCH, or the chip's")
    parser.add_argument(
        "--timeout", type=float, default=300.0, help="seconds for the processes of one lane"
    )
    parser.add_argument("--record", default="", help="name of the run in hardening.json")
    parser.add_argument("--jobs", type=int, default=min(4, os.cpu_count() or 1))
    options = parser.parse_args(arguments)
    options.report = options.report.absolute()
    return options


def main() -> None:
    signal.signal(signal.SIGTERM, stop)
    try:
        passed = run(parse())
    except CannotRunError as error:
        print(f"matrix: {error}", file=sys.stderr)
        sys.exit(2)
    except OSError as error:
        print(f"matrix: {unusable(error)}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        print("matrix: interrupted, no report", file=sys.stderr)
        sys.exit(130)
    except StoppedError:
        print("matrix: stopped; a report says so, if rows had begun", file=sys.stderr)
        sys.exit(143)
    sys.exit(0 if passed else 1)


if __name__ == "__main__":
    main()
