# SPDX-License-Identifier: Apache-2.0
"""Decides which device the build and the tests use, in one place.

DEVICE=auto|host|npu: auto takes the NPU when device nodes and a real CANN are there, else the host.
NPU_ARCH: the --npu-arch of the kernels; from the chip found, or the one hostcann stands for.
"""

import argparse
import fnmatch
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from versions import ROOT, load_versions

HOSTCANN = ROOT / "build" / "hostcann"
KINDS = ("auto", "host", "npu")
ASK_ACL = """
import ctypes, sys
acl = ctypes.CDLL(sys.argv[1])
acl.aclrtGetSocName.restype = ctypes.c_char_p
assert acl.aclInit(None) == 0
print((acl.aclrtGetSocName() or b"").decode())
"""


class DeviceError(Exception):
    """A sentence for the user."""


@dataclass(frozen=True)
class Device:
    kind: str
    npu_arch: str
    env: dict[str, str]
    # What a report says: `host (hostcann 0.1.0)` or `npu (Ascend910B1, CANN 9.1.0)`.
    description: str


def device_nodes(dev: Path) -> list[str]:
    return sorted(node.name for node in dev.glob("davinci[0-9]*"))


def cann_problem(env: Mapping[str, str]) -> str:
    """Why ASCEND_HOME_PATH names no CANN; empty when it does."""
    home = env.get("ASCEND_HOME_PATH", "")
    if not home:
        return "ASCEND_HOME_PATH is not set: source CANN's set_env.sh first"
    if not Path(home).is_dir():
        return f"ASCEND_HOME_PATH names no folder: {home}"
    if (Path(home) / "hostcann-version").exists():
        return f"ASCEND_HOME_PATH is hostcann, not CANN: {home}; source CANN's set_env.sh instead"
    return ""


def choose_kind(wanted: str, env: Mapping[str, str], dev: Path) -> str:
    if wanted not in KINDS:
        raise DeviceError(f"DEVICE: expected {', '.join(KINDS)}, got '{wanted}'")
    nodes = device_nodes(dev)
    problem = cann_problem(env)
    if wanted == "npu" and not nodes:
        raise DeviceError(
            f"DEVICE=npu: expected an NPU's device node {dev}/davinci0, found none: "
            "run on an Ascend host, pass the node into the container, or use DEVICE=host"
        )
    if wanted == "npu" and problem:
        raise DeviceError(f"DEVICE=npu: {problem}")
    if wanted == "auto":
        return "npu" if nodes and not problem else "host"
    return wanted


def source(script: Path, env: Mapping[str, str]) -> dict[str, str]:
    """The environment after `source script`."""
    command = ["bash", "-c", 'source "$1" >/dev/null && env -0', "bash", str(script)]
    done = subprocess.run(command, env=dict(env), capture_output=True, text=True)
    if done.returncode:
        raise DeviceError(f"{script} could not be sourced: {' '.join(done.stderr.split())}")
    pairs = (line.partition("=") for line in done.stdout.split("\0") if "=" in line)
    # bash's own bookkeeping is not part of what the script sets.
    return {name: value for name, _, value in pairs if name not in ("_", "SHLVL")}


def chip_from_npu_smi(env: Mapping[str, str]) -> str:
    tool = shutil.which("npu-smi", path=env.get("PATH")) or "/usr/local/sbin/npu-smi"
    try:
        command = [tool, "info"]
        done = subprocess.run(command, env=dict(env), capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    # A device row starts `| <number> <name> |`, the name without its "Ascend".
    row = re.search(r"^\|\s*\d+\s+(?:Ascend)?(\d{3}[\w-]*)\s*\|", done.stdout, re.MULTILINE)
    return f"Ascend{row[1]}" if row else ""


def chip_from_acl(home: Path, env: Mapping[str, str]) -> str:
    """Asked of the library itself, in a child: a driver that does not fit may crash its caller."""
    command = [sys.executable, "-c", ASK_ACL, str(home / "lib64" / "libascendcl.so")]
    try:
        done = subprocess.run(command, env=dict(env), capture_output=True, text=True, timeout=60)
    except subprocess.TimeoutExpired:
        return ""
    # CANN may log to standard output before the answer.
    return done.stdout.split()[-1] if done.returncode == 0 and done.stdout.split() else ""


def find_chip(home: Path, env: Mapping[str, str], versions: dict) -> str:
    """npu-smi names some boards only by their family, so its answer counts when it decides."""
    named = chip_from_npu_smi(env)
    if arch_of(named, versions):
        return named
    return chip_from_acl(home, env) or named


def cann_release(home: Path) -> str:
    for file in (*sorted(home.glob("*/ascend_toolkit_install.info")), home / "version.cfg"):
        if file.is_file():
            found = re.search(r"version=\W*([\w.]+)", file.read_text(errors="replace"), re.I)
            if found:
                return found[1]
    return "of unknown release"


def arch_of(chip: str, versions: dict) -> str:
    matches = (a for p, a in versions["chips"].items() if fnmatch.fnmatchcase(chip, p))
    return next(matches, "")


def choose_arch(wanted: str, chip: str, versions: dict) -> str:
    chips = versions["chips"]
    archs = sorted(set(chips.values()))
    if wanted:
        if wanted not in archs:
            raise DeviceError(f"NPU_ARCH: expected {', '.join(archs)}, got '{wanted}'")
        return wanted
    if arch := arch_of(chip, versions):
        return arch
    found = f"chip '{chip}'" if chip else "no answer from npu-smi or aclrtGetSocName"
    raise DeviceError(
        f"NPU_ARCH: expected a chip of {', '.join(chips)}, got {found}: "
        f"set NPU_ARCH to one of {', '.join(archs)}"
    )


def decide(device: str = "", npu_arch: str = "", dev: Path = Path("/dev")) -> Device:
    """Which device it will be; on the host its toolkit need not be built yet."""
    env = dict(os.environ)
    versions = load_versions()
    kind = choose_kind(device or env.get("DEVICE") or "auto", env, dev)
    npu_arch = npu_arch or env.get("NPU_ARCH", "")
    if kind == "host":
        arch = versions["hostcann"]["npu_arch"]
        # Validated like a chip's, so that a wrong NPU_ARCH is refused on every device.
        if npu_arch and choose_arch(npu_arch, "", versions) != arch:
            raise DeviceError(
                f"NPU_ARCH: expected {arch}, the one hostcann emulates, got {npu_arch}: "
                "leave NPU_ARCH unset on the host"
            )
        version = HOSTCANN / "hostcann-version"
        built = version.read_text().strip() if version.is_file() else "not built yet"
        return Device("host", arch, env, f"host (hostcann {built})")
    home = Path(env["ASCEND_HOME_PATH"])
    chip = find_chip(home, env, versions)
    arch = choose_arch(npu_arch, chip, versions)
    return Device("npu", arch, env, f"npu ({chip or 'unknown chip'}, CANN {cann_release(home)})")


def resolve(device: str = "", npu_arch: str = "", dev: Path = Path("/dev")) -> Device:
    """The device with the environment that its toolkit needs."""
    chosen = decide(device, npu_arch, dev)
    env = chosen.env
    if chosen.kind == "host":
        script = HOSTCANN / "set_env.sh"
        if not script.is_file():
            raise DeviceError(f"DEVICE=host: expected {script}, got none: run make hostcann first")
        env = source(script, env)
    env |= {"DEVICE": chosen.kind, "NPU_ARCH": chosen.npu_arch}
    return Device(chosen.kind, chosen.npu_arch, env, chosen.description)


def line(device: Device) -> str:
    return f"device: {device.description}, npu-arch {device.npu_arch}"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("print", help="print the device on one line")
    execute = commands.add_parser("exec", help="run a command in the device's environment")
    execute.add_argument("argv", nargs=argparse.REMAINDER, metavar="-- command …")
    options = parser.parse_args()
    try:
        if options.command == "print":
            print(line(decide()))
            return
        argv = options.argv[1:] if options.argv[:1] == ["--"] else options.argv
        if not argv:
            raise DeviceError("device.py exec: expected a command after --, got none")
        env = resolve().env
        program = shutil.which(argv[0], path=env.get("PATH"))
        if program is None:
            raise DeviceError(f"device.py exec: there is no command '{argv[0]}'")
        os.execve(program, argv, env)
    except DeviceError as error:
        print(error, file=sys.stderr)
        sys.exit(1)


if __name__ == "__main__":
    main()
