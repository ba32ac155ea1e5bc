# SPDX-License-Identifier: Apache-2.0
"""One lane of the matrix inside pytest: which rows it has, and a line in a file per event.

The lines are written as things happen, so that the runner knows the row in which a process died.
"""

from __future__ import annotations

import importlib
import json
import os
import platform
import re
import time
from pathlib import Path

import pytest

from matrix import row as table
from matrix.subject import Device, Subject

COULD_NOT_START = 3


def pytest_addoption(parser):
    group = parser.getgroup("matrix")
    group.addoption("--lane", choices=[lane.name for lane in table.LANES], help="process to run")
    group.addoption("--variants", default=",".join(table.VARIANTS), help="variants of the run")
    group.addoption("--kind", choices=["host", "npu"], help="the device that the runner chose")
    group.addoption("--events", type=Path, help="file that gets one JSON line per event")


def pytest_ignore_collect(collection_path, config):
    # The rows need a process of their own; under any other pytest run there is nothing to collect.
    if collection_path.name == "test_matrix.py" and not config.getoption("--lane", None):
        return True
    return None


def pytest_configure(config):
    if config.getoption("--lane", None):
        config.pluginmanager.register(Lane(config), "matrix-lane")


class Lane:
    def __init__(self, config):
        chosen = config.getoption("--variants").split(",")
        name = config.getoption("--lane")
        self.lane = next(lane for lane in table.lanes(chosen) if lane.name == name)
        # A process that died is followed by another one, for the rows that it had not begun.
        begun = begun_rows(config.getoption("--events"))
        self.cases = [
            case for case in table.cases(chosen) if case.lane == name and case.key not in begun
        ]
        self.kind = config.getoption("--kind")
        self.events = config.getoption("--events").open("a", encoding="utf-8")
        self.device = None
        self.calls = {}

    def say(self, event, **fields):
        self.events.write(json.dumps({"event": event, **fields}) + "\n")
        self.events.flush()

    @staticmethod
    def require_distinct(operator, torch):
        # Rows that look for stale values see nothing where the two results agree.
        results = [operator.reference(*make(torch)) for make in (operator.inputs, operator.others)]
        if (results[0] == results[1]).any():
            raise ValueError(f"{operator.name}: expected inputs and others to differ everywhere")

    def pytest_sessionstart(self):
        try:
            self._start()
        except Exception as error:
            sentence = str(error).strip() or type(error).__name__
            self.say("could-not-start", message=sentence)
            pytest.exit(sentence, returncode=COULD_NOT_START)

    def _start(self):
        # The package comes first: it must work where nobody imported torch before it.
        loaded = {}
        for variant in self.lane.loads:
            if variant == "pybind":
                loaded[variant] = importlib.import_module("ascendc_ops")
            else:
                importlib.import_module("ascendc_ops_lib")
        import torch
        import torch_npu

        if "lib" in self.lane.loads:
            loaded["lib"] = torch.ops.ascendc_ops
        for case in self.cases:
            name = case.operator.name
            self.calls[name] = {variant: getattr(loaded[variant], name) for variant in loaded}
        for operator in {case.operator for case in self.cases}:
            self.require_distinct(operator, torch)
        self.device = Device(torch, torch_npu, self.kind)
        chip = torch.npu.get_device_name(0)
        library, version = loaded_cann()
        kind = "host" if version else "npu"
        if kind != self.kind:
            raise RuntimeError(
                f"expected the {self.kind} that was chosen, got {kind}: {library} was loaded"
            )
        self.say(
            "started",
            device_count=self.device.count,
            stack={
                "python": platform.python_version(),
                "torch": torch.__version__,
                "torch_npu": torch_npu.__version__,
                "cann": None if version else torch.npu.utils.get_cann_version() or None,
                "hostcann": version,
                # hostcann answers with a chip's name too, which a report must not repeat.
                "chip": None if version else chip,
            },
        )

    def pytest_generate_tests(self, metafunc):
        metafunc.parametrize(
            "case",
            [
                pytest.param(case, id=case.key, marks=getattr(pytest.mark, case.row.group))
                for case in self.cases
            ],
        )

    @pytest.fixture
    def subject(self, case):
        if self.device.count < case.row.devices:
            pytest.skip("one device")
        name = case.operator.name
        return Subject(self.device, case.operator, case.variant, self.calls[name])

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item, nextitem):
        self.key = item.callspec.params["case"].key
        self.outcome = {"outcome": "passed", "message": "", "detail": ""}
        start = time.perf_counter()
        self.say("begin", key=self.key)
        result = yield
        seconds = round(time.perf_counter() - start, 4)
        self.say("end", key=self.key, seconds=seconds, **self.outcome)
        if self.outcome["outcome"] == "failed" and nextitem and (why := self.device.broken()):
            self.say("broken", message=why)
            item.session.shouldfail = why
        return result

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, call):
        report = yield
        if report.failed:
            message = str(call.excinfo.value) or call.excinfo.typename
            if not call.excinfo.errisinstance(AssertionError):
                message = f"{call.excinfo.typename}: {message}"
            self.outcome = {
                "outcome": "failed",
                "message": message,
                "detail": report.longreprtext,
            }
        elif report.skipped and self.outcome["outcome"] == "passed":
            self.outcome = {"outcome": "not_run", "message": call.excinfo.value.msg, "detail": ""}
        return report

    def pytest_sessionfinish(self):
        self.say("finished")


def begun_rows(events: Path) -> set[str]:
    entries = (json.loads(line) for line in events.read_text().splitlines() if line.endswith("}"))
    return {entry["key"] for entry in entries if entry["event"] == "begin"}


def loaded_cann():
    """The libascendcl.so of this process, and the version of hostcann if it is hostcann's."""
    for line in Path("/proc/self/maps").read_text().splitlines():
        # The name of a file that was replaced since ends with " (deleted)".
        found = re.search(r"\s(/.*/libascendcl\.so\S*)( \(deleted\))?$", line)
        if found:
            library = Path(os.path.realpath(found[1]))
            marker = library.parent.parent / "hostcann-version"
            return library, marker.read_text().strip() if marker.exists() else None
    raise RuntimeError("expected torch_npu to have loaded libascendcl.so, got a process without it")
