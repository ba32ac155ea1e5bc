# SPDX-License-Identifier: Apache-2.0
"""The runner itself, without a device: what it makes of processes that misbehave."""

from __future__ import annotations

import json
import signal
import sys
from types import SimpleNamespace
from xml.etree import ElementTree

import pytest

from matrix import hardening, report, row, run

PREAMBLE = """
import json, os, signal, sys, time
before = [json.loads(line) for line in open(sys.argv[1])]
begun = [entry["key"] for entry in before if entry["event"] == "begin"]
keys = [key for key in sys.argv[2:] if key not in begun]
events = open(sys.argv[1], "a")
def say(event, **fields):
    events.write(json.dumps({"event": event, **fields}) + "\\n")
    events.flush()
def start(devices=2):
    say("started", device_count=devices, stack={"python": "3.11", "torch": "2", "hostcann": "0"})
def end(key, outcome="passed", message=""):
    say("begin", key=key)
    say("end", key=key, outcome=outcome, message=message, detail="", seconds=0.5)
"""
WELL = "start()\nfor key in keys: end(key)\nsay('finished')"


def passing(subject):
    pass


def operator():
    rows = (
        row.Row("precision", "seed", "the seed case", passing),
        row.Row("streams", "other-device", "npu:1", passing, devices=2),
        row.Row("streams", "queue-0", "queue off", passing, task_queue="0"),
        row.Row("rejection", "x-<b>", "x is <script>alert(1)</script>", passing),
        row.Row("parity", "seed", "same bits", passing),
    )
    return row.Operator("op_under_test", ("x",), None, None, None, rows)


@pytest.fixture
def matrix(tmp_path, monkeypatch):
    """The runner with one script per lane in place of pytest; gives (exit code, JSON, folder)."""
    table = row.cases(of=[operator()])
    monkeypatch.setattr(row, "operators", lambda: (operator(),))
    monkeypatch.setattr(run, "require_installed", lambda _variants: None)
    environment = {"PATH": "/usr/bin:/bin"}
    device = SimpleNamespace(
        kind="host", npu_arch="dav-2201", env=environment, description="host (hostcann 0)"
    )
    monkeypatch.setattr(run, "choose_device", lambda _wanted, _npu_arch: device)

    # main takes the signal for the process; what pytest does with it comes back after the test.
    before = signal.getsignal(signal.SIGTERM)

    def go(timeout=20, record="", **scripts):
        def command(lane, _variants, _kind, events):
            keys = [case.key for case in table if case.lane == lane.name]
            script = PREAMBLE + scripts.get(lane.name.replace("-", "_"), WELL)
            return [sys.executable, "-I", "-c", script, str(events), *keys]

        monkeypatch.setattr(run, "lane_command", command)
        arguments = ["run.py", "--report", str(tmp_path / "report"), "--timeout", str(timeout)]
        arguments += ["--record", record]
        monkeypatch.setattr(sys, "argv", arguments)
        with pytest.raises(SystemExit) as ended:
            run.main()
        written = tmp_path / "report" / "matrix.json"
        report = json.loads(written.read_text()) if written.is_file() else None
        return ended.value.code, report, tmp_path / "report"

    yield go
    signal.signal(signal.SIGTERM, before)


def failed(written):
    return {
        f"{case['variant']}/{case['id']}": case["message"]
        for case in written["cases"]
        if case["outcome"] == "failed"
    }


def test_all_rows_passed(matrix, capsys):
    code, written, folder = matrix()
    said = capsys.readouterr().out
    assert code == 0
    assert written["passed"] is True
    assert written["device"] == "host (hostcann 0)"
    assert written["stack"]["npu_arch"] == "dav-2201"
    assert written["variants"] == {
        "pybind": {"passed": 4, "failed": 0, "not_run": 0},
        "lib": {"passed": 4, "failed": 0, "not_run": 0},
    }
    assert written["parity"] == {"passed": 2, "failed": 0, "not_run": 0}
    assert said.startswith("device: host (hostcann 0), npu-arch dav-2201\nstack:  Python 3.11")
    assert said.endswith("matrix: 10 passed, 0 failed\n")
    suites = ElementTree.parse(folder / "matrix.xml").getroot()
    assert [suite.get("tests") for suite in suites] == ["4", "4", "2"]
    assert sorted(path.name for path in folder.iterdir()) == [
        "matrix-processes",
        "matrix.html",
        "matrix.json",
        "matrix.xml",
    ]


def test_the_page_shows_the_figures_of_the_long_runs(matrix):
    _, _, folder = matrix()
    assert "<h2>Hardening" not in (folder / "matrix.html").read_text()
    hardening.record("fuzz", "abc<1>", True, {"examples": 1234}, folder)
    killed = {"kernel-no-op": "pybind/precision/seed"}
    hardening.record("mutants", "abc", False, {"survivors": 1, "killed_by": killed}, folder)
    hardening.record("fuzz", "abc<2>", True, {"examples": 5678}, folder)
    matrix()
    page = (folder / "matrix.html").read_text()
    assert "examples 5678" in page
    assert "abc&lt;2&gt;" in page
    assert "examples 1234" not in page
    assert "survivors 1" in page
    assert "kernel-no-op</td><td><code>pybind/precision/seed" in page


def test_a_matrix_that_is_no_ordinary_one_is_recorded(matrix, monkeypatch, tmp_path):
    monkeypatch.setattr(hardening, "FOLDER", tmp_path)
    matrix()
    assert hardening.read(tmp_path) == {}
    matrix(record="matrix under address", pybind_then_lib="start()\nsys.exit(3)")
    found = hardening.read(tmp_path)["matrix under address"]
    assert found["passed"] is False
    assert (found["figures"]["passed"], found["figures"]["failed"]) == (9, 1)


def test_a_record_is_of_the_revision_that_the_run_began_with(matrix, monkeypatch, tmp_path):
    import built

    lanes = tmp_path / "report" / "matrix-processes"
    monkeypatch.setattr(hardening, "FOLDER", tmp_path)
    monkeypatch.setattr(built, "revision", lambda: "late" if [*lanes.glob("*.log")] else "early")
    matrix(record="matrix under address")
    assert built.revision() == "late"
    assert hardening.read(tmp_path)["matrix under address"]["revision"] == "early"


def test_a_run_is_recorded_with_its_figures_whether_its_checks_hold_or_not(tmp_path):
    figures = {"calls": 0}
    with hardening.recording("long run", "abc", figures, tmp_path):
        figures["calls"] = 7
    with (
        pytest.raises(AssertionError),
        hardening.recording("faults", "abc", {"wrong": 1}, tmp_path),
    ):
        raise AssertionError
    assert hardening.read(tmp_path) == {
        "long run": {"revision": "abc", "passed": True, "figures": {"calls": 7}},
        "faults": {"revision": "abc", "passed": False, "figures": {"wrong": 1}},
    }


def test_values_are_escaped(matrix):
    _, _, folder = matrix()
    page = (folder / "matrix.html").read_text()
    assert "<script>" not in page
    assert "x is &lt;script&gt;alert(1)&lt;/script&gt;" in page


@pytest.mark.parametrize(
    ("script", "rows"),
    [
        pytest.param(
            "if begun: say('could-not-start', message='no device any more'); sys.exit(3)\n"
            "start(); end(keys[0]); say('begin', key=keys[1])\n"
            "os.kill(os.getpid(), signal.SIGSEGV)",
            {
                "pybind/other-device": "the process died of SIGSEGV in this row",
                "pybind/x-<b>": "never ran: the process could not start: no device any more",
            },
            id="segfault-in-a-row-and-no-other-process",
        ),
        pytest.param(
            "start()\n"
            "for key in keys:\n"
            "    if 'other' in key:\n"
            "        say('begin', key=key); os.kill(os.getpid(), signal.SIGSEGV)\n"
            "    end(key)\n"
            "say('finished')",
            {"pybind/other-device": "the process died of SIGSEGV in this row"},
            id="segfault-in-a-row-takes-no-other-with-it",
        ),
        pytest.param(
            "start(); end(keys[0], 'failed', 'no fault')\n"
            "say('broken', message='stream stopped'); sys.exit(1)",
            {f"pybind/{name}": "no fault" for name in ("seed", "other-device", "x-<b>")},
            id="device-unusable-after-each-row",
        ),
        pytest.param(
            "start(); end(keys[0]); say('broken', message='stream stopped'); sys.exit(1)",
            {
                f"pybind/{name}": "the process stopped, since the device is unusable: "
                "stream stopped after this row"
                for name in ("seed", "other-device", "x-<b>")
            },
            id="device-unusable-after-rows-that-passed",
        ),
        pytest.param(
            f"{WELL}\nos.abort()",
            {"pybind/x-<b>": "the process died of SIGABRT after this row"},
            id="abort-after-the-last-row",
        ),
        pytest.param(
            "start()\nfor key in keys: end(key)\nos._exit(0)",
            {"pybind/x-<b>": "the process ended with exit code 0 out of turn after this row"},
            id="exit-0-before-the-end",
        ),
        pytest.param(
            "start(); end(keys[0]); end(keys[1]); say('finished')",
            {
                "pybind/x-<b>": "never ran: the process ended, after row "
                "op_under_test/pybind/streams/other-device"
            },
            id="row-not-reported",
        ),
        pytest.param(
            f"start(); end(keys[0])\n{WELL}",
            {"pybind/seed": "expected to run once, ran 2 times"},
            id="row-reported-twice",
        ),
        pytest.param(
            f"end('op_under_test/pybind/precision/made-up')\n{WELL}",
            {"pybind/made-up": "reported by a process, but not a row of the table"},
            id="row-not-in-the-table",
        ),
        pytest.param(
            "start()\nfor key in keys: end(key, 'not_run', 'one device')\nsay('finished')",
            {
                f"pybind/{name}": "expected to run, was skipped: one device"
                for name in ("seed", "other-device", "x-<b>")
            },
            id="one-device-claimed-where-there-are-two",
        ),
        pytest.param(
            "start(1)\nfor key in keys: end(key, 'not_run', '')\nsay('finished')",
            {
                f"pybind/{name}": "expected to run, was skipped: no reason given"
                for name in ("seed", "other-device", "x-<b>")
            },
            id="skipped-without-a-reason",
        ),
        pytest.param(
            "start(); end(keys[0], 'failed', 'expected 1, got 2'); end(keys[1]); end(keys[2])\n"
            "say('finished'); sys.exit(1)",
            {"pybind/seed": "expected 1, got 2"},
            id="row-failed",
        ),
        pytest.param(
            "say('could-not-start', message='no library'); sys.exit(3)",
            {
                f"pybind/{name}": "never ran: the process could not start: no library"
                for name in ("seed", "other-device", "x-<b>")
            },
            id="variant-cannot-be-imported",
        ),
    ],
)
def test_bad_process_makes_its_rows_failed(matrix, capsys, script, rows):
    code, written, folder = matrix(pybind=script)
    assert failed(written) == rows
    assert code == 1
    assert written["passed"] is False
    assert written["variants"]["pybind"]["failed"] == len(rows)
    assert written["variants"]["lib"]["failed"] == 0
    assert f"{len(rows)} failed" in capsys.readouterr().out.splitlines()[-1]
    suite = ElementTree.parse(folder / "matrix.xml").getroot()[0]
    assert suite.get("failures") == str(len(rows))


def test_hanging_process_is_ended(matrix):
    hang = "start(); end(keys[0]); say('begin', key=keys[1])\nsignal.pause()"
    code, written, _ = matrix(timeout=1, lib=hang)
    assert code == 1
    assert failed(written)["lib/other-device"] == (
        "the process did not finish within 1 s and was ended in this row"
    )


def test_one_device_is_not_run_with_its_reason(matrix, capsys):
    one = (
        "start(1)\n"
        "for key in keys: end(key, *(['not_run', 'one device'] if 'other' in key else []))\n"
        "say('finished')"
    )
    code, written, folder = matrix(pybind=one, lib=one)
    said = capsys.readouterr().out
    assert code == 0
    assert written["variants"]["pybind"] == {"passed": 3, "failed": 0, "not_run": 1}
    assert "not run: 2 rows: one device" in said
    assert "1 not run (one device)" in said
    assert "8 cases passed, 2 not run" in (folder / "matrix.html").read_text()


def test_hostcanns_own_sentence_says_why_nothing_started(matrix, capsys):
    cannot = (
        "print('hostcann: HOSTCANN_SOC: expected Ascend910B1, got x', flush=True)\n"
        "say('could-not-start', message='Invalid device id')\nsys.exit(3)"
    )
    code, _, _ = matrix(**{lane.name.replace("-", "_"): cannot for lane in row.LANES})
    assert code == 2
    assert capsys.readouterr().err == (
        "matrix: hostcann: HOSTCANN_SOC: expected Ascend910B1, got x\n"
    )


def test_an_interrupt_ends_every_process_and_leaves_no_report(matrix, capsys):
    interrupt = "os.kill(os.getppid(), signal.SIGINT)\nsignal.pause()"
    # A shell's background job starts with the signal ignored, and then so is this process.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        code, written, _ = matrix(timeout=60, pybind="start()\nsignal.pause()", lib=interrupt)
    finally:
        signal.signal(signal.SIGINT, before)
    assert (code, written) == (130, None)
    assert capsys.readouterr().err == "matrix: interrupted, no report\n"


def test_a_stop_ends_every_process_and_leaves_a_partial_report(matrix, capsys):
    stop = "start(); end(keys[0]); say('begin', key=keys[1])\n"
    stop += "os.kill(os.getppid(), signal.SIGTERM)\nsignal.pause()"
    code, written, folder = matrix(timeout=60, pybind=stop, lib="start()\nsignal.pause()")
    said = capsys.readouterr()
    assert code == 143
    assert said.err == "matrix: stopped; a report says so, if rows had begun\n"
    assert said.out.endswith(" (partial: the run was stopped)\n")
    assert (written["partial"], written["passed"], failed(written)) == (True, False, {})
    outcomes = {f"{c['variant']}/{c['id']}": (c["outcome"], c["message"]) for c in written["cases"]}
    assert outcomes["pybind/seed"] == ("passed", "")
    for row_id in ("pybind/other-device", "pybind/x-<b>", "lib/seed"):
        assert outcomes[row_id] == ("not_run", "the run was stopped")
    assert "<dt>Partial</dt>" in (folder / "matrix.html").read_text()
    suites = ElementTree.parse(folder / "matrix.xml")
    assert {"name": "partial", "value": "stopped before every row had run"} in [
        each.attrib for each in suites.iter("property")
    ]


def test_a_report_names_the_image_it_ran_in(matrix, monkeypatch):
    monkeypatch.setenv("ASCENDC_OPS_CONTAINER", "ascendc-ops-test:host-default sha256:0")
    _, written, folder = matrix()
    assert written["container"] == "ascendc-ops-test:host-default sha256:0"
    assert "<dt>Container</dt>" in (folder / "matrix.html").read_text()


def test_two_runs_take_turns_in_one_folder(matrix):
    held = (
        "import fcntl\n"
        "lock = open(os.path.join(os.path.dirname(sys.argv[1]), 'lock'), 'w')\n"
        "try:\n"
        "    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)\n"
        "    outcome = 'failed'\n"
        "except BlockingIOError:\n"
        "    outcome = 'passed'\n"
        "start()\n"
        "for key in keys: end(key, outcome, 'the folder was free')\n"
        "say('finished')"
    )
    code, written, _ = matrix(lib=held)
    assert (code, failed(written)) == (0, {})


def test_a_folder_that_cannot_be_written_is_one_sentence(matrix, tmp_path, capsys):
    (tmp_path / "report").write_text("")
    code, _, folder = matrix()
    assert code == 2
    assert capsys.readouterr().err == (
        f"matrix: {folder}/matrix-processes: expected to read and write it, got 'Not a directory'; "
        "put that right and run it again\n"
    )


def test_nothing_started_is_one_sentence(matrix, capsys):
    cannot = "say('could-not-start', message='the library libhccl.so was not found'); sys.exit(3)"
    lanes = {lane.name.replace("-", "_"): cannot for lane in row.LANES}
    code, written, _ = matrix(**lanes)
    said = capsys.readouterr()
    assert code == 2
    assert said.err == "matrix: the library libhccl.so was not found\n"
    assert "passed" not in said.out
    assert written["passed"] is False


def test_no_old_report_survives_a_run_that_cannot_begin(matrix, monkeypatch, tmp_path, capsys):
    matrix()

    def refuse(_wanted, _npu_arch):
        raise run.CannotRunError("DEVICE=npu: expected an NPU's device node, found none")

    monkeypatch.setattr(run, "choose_device", refuse)
    with pytest.raises(SystemExit) as ended:
        run.main()
    assert ended.value.code == 2
    assert capsys.readouterr().err == (
        "matrix: DEVICE=npu: expected an NPU's device node, found none\n"
    )
    assert not any((tmp_path / "report" / name).exists() for name in report.FILES)


def test_missing_package_is_named(monkeypatch):
    monkeypatch.setitem(run.MODULES, "pybind", "ascendc_ops_of_nobody")
    with pytest.raises(
        run.CannotRunError, match=r"expected .*ascendc_ops_of_nobody.* run make matrix$"
    ):
        run.require_installed(("pybind",))


def test_every_row_has_one_place_to_run():
    table = row.cases()
    for variant in row.VARIANTS:
        alone = {case.key for case in row.cases((variant,))}
        assert alone == {case.key for case in table if case.variant == variant}
    assert {case.variant for case in table} == {*row.VARIANTS, row.BOTH}


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        pytest.param(
            [row.Row("accuracy", "seed", "", passing)],
            "row 'seed': expected a group of",
            id="unknown-group",
        ),
        pytest.param(
            [row.Row("precision", "seed", "", passing)] * 2,
            "row 'op/pybind/precision/seed': expected a unique id, got it twice",
            id="same-id-twice",
        ),
    ],
)
def test_bad_table_is_refused(rows, sentence):
    bad = row.Operator("op", ("x",), None, None, None, tuple(rows))
    with pytest.raises(ValueError, match=f"^{sentence}"):
        row.cases(of=[bad])
