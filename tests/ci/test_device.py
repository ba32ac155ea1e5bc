# SPDX-License-Identifier: Apache-2.0
"""ci/device.py: which device is chosen, and the sentence of every refusal."""

import os
import subprocess
import sys
from pathlib import Path

import device
import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
ARCHS = "dav-2002, dav-2201, dav-3510"
CHIPS = "Ascend910B*, Ascend910_93*, Ascend310P*, Ascend950*"

# As npu-smi prints them: 910B and 310P boards by their chip, A3 boards by their family.
SMI = """\
+------------------------------------------------------------------------------------------------+
| npu-smi 25.2.0                   Version: 25.2.0                                               |
+---------------------------+---------------+----------------------------------------------------+
| NPU   Name                | Health        | Power(W)    Temp(C)           Hugepages-Usage(page)|
| Chip                      | Bus-Id        | AICore(%)   Memory-Usage(MB)  HBM-Usage(MB)        |
+===========================+===============+====================================================+
| 0     {name:<20}| OK            | 93.6        49                0    / 0             |
| 0                         | 0000:C1:00.0  | 0           0    / 0          3350 / 65536         |
+===========================+===============+====================================================+
"""

ACL = """
int aclInit(const char* path) { (void)path; return FAILS; }
const char* aclrtGetSocName(void) { return SOC; }
"""


class Host:
    """A made-up machine: device nodes, CANN, npu-smi, libascendcl.so, each when asked for."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch):
        self.root = root
        self.dev = root / "dev"
        self.cann = root / "cann"
        self.bin = root / "bin"
        self.monkeypatch = monkeypatch
        self.dev.mkdir()
        self.bin.mkdir()
        for name in ("ASCEND_HOME_PATH", "DEVICE", "NPU_ARCH"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("PATH", f"{self.bin}{os.pathsep}{os.environ['PATH']}")

    def nodes(self, *names: str) -> None:
        for name in names:
            (self.dev / name).touch()

    def toolkit(self, release: str = "9.1.0") -> None:
        info = self.cann / "aarch64-linux" / "ascend_toolkit_install.info"
        info.parent.mkdir(parents=True)
        info.write_text(f"package_name=Ascend-cann-toolkit\nversion={release}\n")
        self.monkeypatch.setenv("ASCEND_HOME_PATH", str(self.cann))

    def npu_smi(self, text: str) -> None:
        tool = self.bin / "npu-smi"
        tool.write_text(f"#!/bin/sh\ncat <<'TEXT'\n{text}TEXT\n")
        tool.chmod(0o755)

    def acl(self, soc: str, fails: int = 0) -> None:
        library = self.cann / "lib64" / "libascendcl.so"
        library.parent.mkdir()
        command = ["g++", "-x", "c", "-shared", "-fPIC", f'-DSOC="{soc}"', f"-DFAILS={fails}"]
        command += ["-o", str(library), "-"]
        subprocess.run(command, input=ACL, text=True, check=True)

    def decide(self, kind: str = "", npu_arch: str = "") -> device.Device:
        return device.decide(kind, npu_arch, self.root)


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Host:
    return Host(tmp_path, monkeypatch)


@pytest.mark.parametrize(
    ("nodes", "cann", "wanted", "kind"),
    [
        pytest.param([], False, "auto", "host", id="auto-on-a-plain-machine"),
        pytest.param(["davinci0"], False, "auto", "host", id="auto-with-nodes-but-no-cann"),
        pytest.param([], True, "auto", "host", id="auto-with-cann-but-no-nodes"),
        pytest.param(["davinci_manager"], True, "auto", "host", id="auto-with-the-manager-only"),
        pytest.param(["davinci0"], True, "auto", "npu", id="auto-on-an-npu-host"),
        pytest.param(["davinci12"], True, "auto", "npu", id="auto-with-a-two-digit-node"),
        pytest.param(["davinci0"], True, "host", "host", id="host-asked-for-on-an-npu-host"),
        pytest.param(["davinci0"], True, "npu", "npu", id="npu-asked-for-on-an-npu-host"),
        pytest.param(["davinci0"], True, "", "npu", id="nothing-said-is-auto"),
    ],
)
def test_the_device_is_the_npu_only_with_nodes_and_cann(
    host: Host, nodes: list[str], cann: bool, wanted: str, kind: str
) -> None:
    host.nodes(*nodes)
    if cann:
        host.toolkit()
    host.npu_smi(SMI.format(name="910B1"))
    assert host.decide(wanted).kind == kind


@pytest.mark.parametrize(
    ("building", "npu_arch", "cann", "refused"),
    [
        pytest.param("1", "dav-2002", True, "", id="cann-and-the-architecture-are-enough"),
        pytest.param("1", "", True, "davinci0", id="the-chip-would-have-to-be-asked"),
        pytest.param("1", "dav-2002", False, "ASCEND_HOME_PATH", id="no-cann-to-build-with"),
        pytest.param("", "dav-2002", True, "davinci0", id="something-is-run"),
    ],
)
def test_what_is_only_built_needs_no_npu(
    host: Host, building: str, npu_arch: str, cann: bool, refused: str
) -> None:
    host.nodes()
    if cann:
        host.toolkit()
    host.monkeypatch.setenv("BUILDING", building)
    host.monkeypatch.setenv("NPU_ARCH", npu_arch)
    if not refused:
        assert host.decide("npu").npu_arch == npu_arch
        return
    with pytest.raises(device.DeviceError, match=refused):
        host.decide("npu")


def test_hostcann_in_ascend_home_path_is_not_an_npu_toolkit(host: Host) -> None:
    host.nodes("davinci0")
    host.toolkit()
    (host.cann / "hostcann-version").write_text("0.1.0\n")
    assert host.decide("auto").kind == "host"
    with pytest.raises(device.DeviceError) as refused:
        host.decide("npu")
    assert str(refused.value) == (
        f"DEVICE=npu: expected ASCEND_HOME_PATH to name CANN, got hostcann in {host.cann}; "
        "source CANN's set_env.sh instead"
    )


def test_npu_without_device_nodes_is_refused(host: Host) -> None:
    host.toolkit()
    with pytest.raises(device.DeviceError) as refused:
        host.decide("npu")
    assert str(refused.value) == (
        "DEVICE=npu: expected /dev/davinci0 and /dev/davinci_manager, /dev/devmm_svm, "
        "/dev/hisi_hdc, "
        "got none: builds work, runs do not; run on an Ascend host, pass the nodes into the "
        "container, "
        "or use DEVICE=host"
    )


def test_a_node_that_may_not_be_opened_is_refused(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    host.nodes("davinci0")
    host.toolkit()
    (host.dev / "davinci0").chmod(0o660)
    # Root may open everything, and tests often are root.
    for name, value in (("geteuid", 23456), ("getegid", 23456), ("getgroups", [])):
        monkeypatch.setattr(os, name, lambda value=value: value)
    with pytest.raises(device.DeviceError) as refused:
        host.decide("npu")
    group = (host.dev / "davinci0").stat().st_gid
    assert str(refused.value) == (
        "DEVICE=npu: expected /dev/davinci0 to be readable and writable by 23456, got it with mode "
        f"0660, group {group}, and 23456 not let in; usermod -aG {group} 23456, then log in again"
    )


def test_npu_without_cann_is_refused(host: Host) -> None:
    host.nodes("davinci0")
    with pytest.raises(device.DeviceError) as refused:
        host.decide("npu")
    assert str(refused.value) == (
        "DEVICE=npu: expected ASCEND_HOME_PATH to name CANN, got it unset; source its set_env.sh "
        "first"
    )


def test_npu_with_a_cann_that_is_not_there_is_refused(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    host.nodes("davinci0")
    monkeypatch.setenv("ASCEND_HOME_PATH", str(host.root / "gone"))
    with pytest.raises(device.DeviceError) as refused:
        host.decide("npu")
    assert str(refused.value) == (
        f"DEVICE=npu: expected ASCEND_HOME_PATH to name CANN, got {host.root / 'gone'}, which is "
        "no "
        "folder; source its set_env.sh first"
    )


@pytest.mark.parametrize(
    ("smi", "soc", "chip", "arch"),
    [
        pytest.param("910B1", None, "Ascend910B1", "dav-2201", id="910b-by-npu-smi"),
        pytest.param("910B4-1", None, "Ascend910B4-1", "dav-2201", id="910b4-1-by-npu-smi"),
        pytest.param("310P3", None, "Ascend310P3", "dav-2002", id="310p-by-npu-smi"),
        pytest.param("Ascend950PR", None, "Ascend950PR", "dav-3510", id="950-with-its-full-name"),
        pytest.param("Ascend910", "Ascend910_9391", "Ascend910_9391", "dav-2201", id="a3-by-acl"),
        pytest.param(None, "Ascend910B2", "Ascend910B2", "dav-2201", id="by-acl-without-npu-smi"),
    ],
)
def test_the_arch_comes_from_the_chip(
    host: Host, smi: str | None, soc: str | None, chip: str, arch: str
) -> None:
    host.nodes("davinci0")
    host.toolkit()
    host.npu_smi(SMI.format(name=smi) if smi else "")
    if soc:
        host.acl(soc)
    found = host.decide("npu")
    assert found.npu_arch == arch
    assert device.line(found) == f"device: npu ({chip}, CANN 9.1.0), npu-arch {arch}"


@pytest.mark.parametrize(
    ("smi", "fails", "got"),
    [
        pytest.param(
            "910Z9",
            1,
            "Ascend910Z9, which is not supported; use an NPU with one of these",
            id="a-chip-nobody-knows",
        ),
        pytest.param(
            None,
            1,
            f"no answer from npu-smi or aclrtGetSocName; set NPU_ARCH to one of {ARCHS}",
            id="nobody-answers",
        ),
    ],
)
def test_an_unknown_chip_is_refused(host: Host, smi: str | None, fails: int, got: str) -> None:
    host.nodes("davinci0")
    host.toolkit()
    host.npu_smi(SMI.format(name=smi) if smi else "")
    host.acl("Ascend910B1", fails)
    with pytest.raises(device.DeviceError) as refused:
        host.decide("npu")
    assert str(refused.value) == f"expected a chip of {CHIPS}, got {got}"


def test_npu_arch_decides_for_an_unknown_chip(host: Host) -> None:
    host.nodes("davinci0")
    host.toolkit("9.0.0")
    host.npu_smi(SMI.format(name="910Z9"))
    found = host.decide("npu", "dav-3510")
    assert found.npu_arch == "dav-3510"
    assert found.description == "npu (Ascend910Z9, CANN 9.0.0)"


@pytest.mark.parametrize("kind", ["host", "npu"])
def test_a_wrong_npu_arch_lists_the_right_ones(host: Host, kind: str) -> None:
    host.nodes("davinci0")
    host.toolkit()
    with pytest.raises(device.DeviceError) as refused:
        host.decide(kind, "dav-9999")
    assert str(refused.value) == (
        f"expected NPU_ARCH to be one of {ARCHS}, got 'dav-9999'; correct it, or leave it unset"
    )


def test_a_wrong_device_lists_the_right_ones(host: Host) -> None:
    with pytest.raises(device.DeviceError) as refused:
        host.decide("gpu")
    assert str(refused.value) == "DEVICE: expected auto, host, npu, got 'gpu'"


def test_the_variables_are_read_where_nothing_is_said(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DEVICE", "host")
    monkeypatch.setenv("NPU_ARCH", "dav-2002")
    host.nodes("davinci0")
    host.toolkit()
    with pytest.raises(device.DeviceError) as refused:
        host.decide()
    assert str(refused.value) == (
        "expected NPU_ARCH=dav-2201, the one hostcann emulates, got dav-2002; "
        "leave NPU_ARCH unset on the host"
    )
    monkeypatch.delenv("NPU_ARCH")
    assert host.decide().kind == "host"


def test_the_host_environment_is_what_set_env_sets(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    prefix = host.root / "hostcann"
    prefix.mkdir()
    (prefix / "hostcann-version").write_text("0.1.0\n")
    (prefix / "set_env.sh").write_text(
        f'export ASCEND_HOME_PATH={prefix}\nexport TWO_LINES="a=b\nc"\necho chatter\n'
    )
    monkeypatch.setattr(device, "HOSTCANN", prefix)
    found = device.resolve("host", "", host.root)
    assert device.line(found) == "device: host (hostcann 0.1.0), npu-arch dav-2201"
    assert found.env["ASCEND_HOME_PATH"] == str(prefix)
    assert found.env["TWO_LINES"] == "a=b\nc"
    assert (found.env["DEVICE"], found.env["NPU_ARCH"]) == ("host", "dav-2201")


@pytest.mark.parametrize(("where", "used"), [("build", True), ("elsewhere", False)])
def test_a_toolkit_that_was_built_here_in_another_way_is_used_when_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str, used: bool
) -> None:
    ordinary, named = tmp_path / "build" / "hostcann", tmp_path / where / "sanitize" / "hostcann"
    for prefix in (ordinary, named):
        prefix.mkdir(parents=True)
        (prefix / "hostcann-version").touch()
    monkeypatch.setattr(device, "HOSTCANN", ordinary)
    assert device.hostcann({"ASCEND_HOME_PATH": str(named)}) == (named if used else ordinary)
    assert device.hostcann({}) == ordinary


def test_the_host_without_its_toolkit_is_refused(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(device, "HOSTCANN", host.root / "none")
    assert host.decide("host").description == "host (hostcann not built yet)"
    with pytest.raises(device.DeviceError) as refused:
        device.resolve("host", "", host.root)
    assert str(refused.value) == (
        f"DEVICE=host: expected {host.root}/none/set_env.sh, got none: run make hostcann first"
    )


def test_a_broken_set_env_is_a_sentence(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    (host.root / "set_env.sh").write_text("echo no disk >&2\nreturn 3\n")
    monkeypatch.setattr(device, "HOSTCANN", host.root)
    with pytest.raises(device.DeviceError) as refused:
        device.resolve("host", "", host.root)
    assert str(refused.value) == f"{host.root}/set_env.sh could not be sourced: no disk"


def command_line(*argv: str, **variables: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(REPOSITORY / "ci" / "device.py"), *argv]
    env = {k: v for k, v in os.environ.items() if k not in ("DEVICE", "NPU_ARCH")} | variables
    return subprocess.run(command, env=env, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("argv", "variables", "sentence"),
    [
        pytest.param(
            ["print"], {"DEVICE": "gpu"}, "DEVICE: expected auto, host, npu, got 'gpu'", id="print"
        ),
        pytest.param(
            ["exec", "--", "true"],
            {"NPU_ARCH": "x"},
            f"expected NPU_ARCH to be one of {ARCHS}, got 'x'; correct it, or leave it unset",
            id="exec",
        ),
        pytest.param(
            ["exec", "--"],
            {},
            "device.py exec: expected a command after --, got none",
            id="nothing",
        ),
    ],
)
def test_a_refusal_is_one_line_and_exit_code_1(
    argv: list[str], variables: dict[str, str], sentence: str
) -> None:
    done = command_line(*argv, **variables)
    assert (done.returncode, done.stdout, done.stderr) == (1, "", sentence + "\n")
