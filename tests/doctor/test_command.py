# SPDX-License-Identifier: Apache-2.0
"""The command: a healthy machine, loading in children, its formats, wrong arguments."""

import json
import os
import platform
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import ascendc_env.__main__
import pytest
from ascendc_env import doctor, machine

from .environment import DRIVER, INCLUDE, SITE, TREE, Environment
from .library import MACHINE, make
from .rows import GXX

ABORT = "void abort(void); __attribute__((constructor)) static void start(void) { abort(); }\n"


def command(*arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
    script = Path(sys.executable).with_name("ascendc-env")
    return subprocess.run(
        [script, "doctor", *arguments],
        env={**os.environ, **env},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def processor_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def test_nothing_is_wrong_on_this_machine_and_it_takes_two_seconds() -> None:
    before = processor_seconds()
    done = command("--json")
    assert processor_seconds() - before < 2
    assert done.stderr == ""
    result = json.loads(done.stdout)
    assert [f for f in result["findings"] if f["verdict"] != "ok"] == []
    assert done.returncode == 0
    topics = [finding["topic"] for finding in result["findings"]]
    assert topics[:4] == ["interpreter", "headers", "torch", "torch_npu"]
    assert {"cann-release", "devices", "libraries", "symbols", "runtime", "loading"} <= set(topics)


def test_the_table_says_expected_found_and_fix(tmp_path: Path) -> None:
    environment = Environment(tmp_path)
    environment.torch("2.8.0")
    done = environment.doctor()
    assert done.returncode == 1
    lines = [" ".join(line.split()) for line in done.stdout.splitlines()]
    start = lines.index("wrong pairing expected torch_npu for torch 2.8.0")
    assert lines[start + 1 : start + 3] == [
        "found torch 2.8.0 with torch_npu 2.9.0.post2",
        "fix install torch_npu==2.8.0.post4 or torch==2.9.0",
    ]
    assert lines[-1].startswith("doctor: 20 ok, 0 note, 1 wrong in ")


def test_the_json_has_these_keys_and_no_other(tmp_path: Path) -> None:
    result = json.loads(Environment(tmp_path).doctor("--json").stdout)
    assert list(result) == ["schema", "ok", "note", "wrong", "findings"]
    assert (result["schema"], result["note"], result["wrong"]) == (1, 0, 0)
    assert result["ok"] == len(result["findings"])
    for finding in result["findings"]:
        assert list(finding) == ["topic", "verdict", "found", "expected", "fix"]


def test_what_is_in_order_says_what_was_found(tmp_path: Path) -> None:
    environment = Environment(tmp_path)
    environment.old_cann("8.5.0")
    environment.package("ascendc_ops_lib")
    result = environment.examine()
    site = f"{SITE}/torch"
    assert {f["topic"]: f["found"] for f in result.findings} == {
        "interpreter": f"CPython {platform.python_version()} (/opt/venv/bin/python)",
        "headers": f"{INCLUDE}/Python.h",
        "torch": f"torch 2.9.0+cpu in {site}",
        "torch_npu": f"torch_npu 2.9.0.post2 in {site}_npu",
        "pairing": "torch 2.9.0+cpu with torch_npu 2.9.0.post2",
        "abi": "_GLIBCXX_USE_CXX11_ABI=1",
        "compiler": f"/usr/bin/g++ {GXX}",
        "cann": "CANN 9.0.0 in /usr/local/Ascend/cann (ASCEND_HOME_PATH); also installed: CANN "
        "8.5.0 in /usr/local/Ascend/ascend-toolkit/latest",
        "cann-environment": "every variable names /usr/local/Ascend/cann",
        "cann-architecture": f"/usr/local/Ascend/cann is for {MACHINE}",
        "cann-release": "CANN 9.0.0 (vendor table)",
        "cann-modules": "attr, decorator, numpy, psutil, scipy, yaml",
        "container": "no container; 1 NPU",
        "devices": "/dev/davinci0, /dev/davinci_manager, /dev/devmm_svm, /dev/hisi_hdc",
        "driver": "driver 25.2.0, firmware 7.7.0.1.231",
        "npu-smi": "/usr/local/bin/npu-smi",
        "chip": "Ascend910B1, --npu-arch=dav-2201",
        "libraries": "libhccl.so, libascendcl.so, libge_runner.so in /usr/local/Ascend/cann/lib64; "
        "libascend_hal.so in /usr/local/Ascend/driver/lib64/driver; 4 others of torch and the "
        "system",
        "symbols": "all 2 that torch_npu needs are there",
        "autoload": "on: import torch fails where torch_npu does; "
        "TORCH_DEVICE_BACKEND_AUTOLOAD=0 is off",
        "ascendc-ops-lib": "built for torch 2.9.0+cpu, torch_npu 2.9.0.post2, CANN 9.0.0, dav-2201",
    }


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        pytest.param(
            ["--root", "/no/such/folder"],
            "ascendc-env: --root: expected a folder, got /no/such/folder",
            id="root",
        ),
        pytest.param(
            ["--user", "nobody-of-this-name"],
            "ascendc-env: --user: expected a user of /etc/passwd, got 'nobody-of-this-name'",
            id="user",
        ),
    ],
)
def test_a_wrong_argument_is_one_sentence_and_exit_code_2(
    arguments: list[str], sentence: str
) -> None:
    done = command(*arguments)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", sentence + "\n")


class Loaded:
    """A made-up interpreter whose libraries are really loaded: by this machine's linker."""

    def __init__(self, root: Path) -> None:
        self.environment = Environment(root)
        self.site = self.environment.path(SITE)
        self.environment.write(
            f"{SITE}/torch/lib/libtorch_global_deps.so", make("libtorch_global_deps.so")
        )

    def findings(self, topic: str, *arguments: str) -> list[tuple[str, str]]:
        done = command(
            "--json",
            *("--python", str(self.environment.path("/opt/venv/bin/python")), *arguments),
            LD_LIBRARY_PATH=":".join(
                str(self.environment.path(folder))
                for folder in (f"{TREE}/lib64", f"{DRIVER}/lib64/driver")
            ),
        )
        return [
            (f["verdict"], f["found"])
            for f in json.loads(done.stdout)["findings"]
            if f["topic"] == topic
        ]


def test_a_library_that_kills_its_process_does_not_kill_the_doctor(tmp_path: Path) -> None:
    loaded = Loaded(tmp_path)
    library = loaded.site / "torch_npu/lib/libtorch_npu.so"
    healthy = loaded.findings("loading")
    assert healthy == [("ok", "libtorch_npu.so loads in a child, with all it needs")]
    build = ["gcc", "-shared", "-fPIC", "-x", "c", "-", "-o", str(library)]
    subprocess.run(build, input=ABORT, text=True, check=True)
    assert loaded.findings("loading") == [("wrong", "a child that died of SIGABRT")]


@pytest.mark.parametrize(
    ("error", "found"),
    [
        pytest.param("", ("ok", "import torch_npu works when it comes first"), id="works"),
        pytest.param(
            "OSError('/x/libgomp.so.1: cannot allocate memory in static TLS block')",
            ("wrong", "none left: it was loaded too late"),
            id="static-tls",
        ),
        pytest.param(
            "ImportError('x.so: undefined symbol: _ZN5torch10ValueErrorE, version')",
            ("wrong", "none"),
            id="symbol",
        ),
        pytest.param(
            "ImportError('libhccl.so: cannot open shared object file: No such file')",
            ("wrong", "none"),
            id="library",
        ),
        pytest.param("ValueError('no')", ("wrong", "ValueError: no"), id="anything-else"),
    ],
)
def test_load_imports_each_module_in_a_child(
    error: str, found: tuple[str, str], tmp_path: Path
) -> None:
    loaded = Loaded(tmp_path)
    (loaded.site / "torch/__init__.py").write_text("")
    (loaded.site / "torch_npu/__init__.py").write_text(f"raise {error}\n" if error else "")
    first = ("ok", "import torch works when it comes first")
    assert loaded.findings("import", "--load") == [first, found]


def test_load_needs_no_working_folder_in_the_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded = Loaded(tmp_path)
    for name in ("torch", "torch_npu"):
        (loaded.site / name / "__init__.py").write_text("")
    monkeypatch.setenv("PYTHONSAFEPATH", "1")
    assert {verdict for verdict, _ in loaded.findings("import", "--load")} == {"ok"}


@pytest.mark.parametrize(
    ("script", "found"),
    [
        # What it started holds the pipe, and ends with it.
        pytest.param("sleep 99 & sleep 99", (124, "", "no answer within 1 s"), id="silent"),
        pytest.param("echo a; echo b >&2; exit 3", (3, "a\n", "b\n"), id="answer"),
        pytest.param("sleep 9 & echo a", (0, "a\n", ""), id="answer-before-the-end"),
    ],
)
def test_a_child_is_waited_for_and_no_longer(
    script: str, found: tuple[int, str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine, "SECONDS", 1)
    start = time.monotonic()
    done = machine.Machine(os.environ, sys.executable).spawn("sh", "-c", script)
    assert (done.returncode, done.stdout, done.stderr) == found
    assert time.monotonic() - start < 30


def test_a_child_that_never_stops_talking_is_cut_off() -> None:
    done = machine.Machine(os.environ, sys.executable).spawn("yes")
    assert done.returncode == -signal.SIGPIPE
    assert machine.SPOKEN < len(done.stdout) < 2 * machine.SPOKEN


def test_without_load_nothing_is_imported(tmp_path: Path) -> None:
    environment = Environment(tmp_path)
    mark = environment.root / "imported"
    for package in ("torch", "torch_npu"):
        file = environment.path(f"{SITE}/{package}/__init__.py")
        file.write_text(f"open({str(mark)!r}, 'w')\n")
    assert environment.doctor().returncode == 0
    assert not mark.exists()


def test_what_the_doctor_did_not_think_of_is_one_sentence_and_exit_code_2(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object) -> None:
        raise KeyError("a\nb")

    monkeypatch.setattr(sys, "argv", ["ascendc-env", "doctor"])
    monkeypatch.setattr(doctor, "run", fail)
    with pytest.raises(SystemExit) as ended:
        ascendc_env.__main__.main()
    assert ended.value.code == 2
    assert capsys.readouterr() == (
        "",
        "ascendc-env: expected to look at everything, got KeyError: 'a\\nb'; report it\n",
    )


def test_a_terminal_that_takes_ascii_alone_gets_the_table(tmp_path: Path) -> None:
    environment = Environment(tmp_path)
    environment.env |= {"PYTHONIOENCODING": "ascii", "ASCEND_HOME_PATH": "/opt/\u4e2d"}
    done = environment.doctor()
    assert (done.returncode, done.stderr) == (1, "")
    assert "/opt/\\u4e2d, which is no folder" in " ".join(done.stdout.split())


def test_a_reader_that_stops_early_changes_nothing(tmp_path: Path) -> None:
    environment = Environment(tmp_path)
    environment.torch("2.8.0")
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [sys.executable, "-m", "ascendc_env", "doctor", f"--root={tmp_path}"],
        env=environment.env,
        stdout=writing,
        stderr=subprocess.PIPE,
        text=True,
        timeout=60,
        check=False,
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (1, "")
