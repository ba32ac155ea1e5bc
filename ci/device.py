# SPDX-License-Identifier: Apache-2.0
"""Decides which device the build and the tests use, in one place.

DEVICE=auto|host|npu: auto takes the NPU when device nodes and a real CANN are there, else the host.
NPU_ARCH: the --npu-arch of the kernels; from the chip found, or the one hostcann stands for.
BUILDING=1: nothing is run, so that DEVICE=npu with NPU_ARCH needs a CANN, but no NPU.
"""

import argparse
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from versions import ROOT, load_versions

# From the sources: this runs before .venv is there. The doctor says the same sentences.
sys.path.insert(0, str(ROOT / "python" / "ascendc-env"))
from ascendc_env import mismatch, npu
from ascendc_env import versions as known
from ascendc_env.case import Case
from ascendc_env.machine import Machine

HOSTCANN = ROOT / "build" / "hostcann"
KINDS = ("auto", "host", "npu")


class DeviceError(Exception):
    """A sentence for the user."""


@dataclass(frozen=True)
class Device:
    kind: str
    npu_arch: str
    env: dict[str, str]
    # What a report says: `host (hostcann 0.1.0)` or `npu (Ascend910B1, CANN 9.1.0)`.
    description: str


def choose_kind(wanted: str, case: Case) -> str:
    if wanted not in KINDS:
        raise DeviceError(f"DEVICE: expected {', '.join(KINDS)}, got '{wanted}'")
    if wanted == "host":
        return "host"
    problem = mismatch.no_cann(case.home, case.machine.path(case.home or "/"), "CANN")
    if wanted == "auto":
        return "npu" if case.nodes and not problem else "host"
    env = case.machine.env
    needs_npu = env.get("BUILDING") != "1" or not env.get("NPU_ARCH")
    if needs_npu and not case.nodes:
        fix = "run on an Ascend host, pass the nodes into the container, or use DEVICE=host"
        problem = npu.no_nodes(case)._replace(fix=fix)
    elif needs_npu:
        problem = problem or next(iter(npu.closed(case)), None)
    if problem:
        raise DeviceError(f"DEVICE=npu: {problem}")
    return "npu"


def source(script: Path, env: Mapping[str, str]) -> dict[str, str]:
    """The environment after `source script`."""
    command = ["bash", "-c", 'source "$1" >/dev/null && env -0', "bash", str(script)]
    done = subprocess.run(command, env=dict(env), capture_output=True, text=True)
    if done.returncode:
        raise DeviceError(f"{script} could not be sourced: {' '.join(done.stderr.split())}")
    pairs = (line.partition("=") for line in done.stdout.split("\0") if "=" in line)
    # bash's own bookkeeping is not part of what the script sets.
    return {name: value for name, _, value in pairs if name not in ("_", "SHLVL")}


def choose_arch(wanted: str, case: Case) -> str:
    if wanted:
        if problem := known.unknown_arch(case.versions, wanted):
            raise DeviceError(str(problem))
        return wanted
    if problem := known.unknown_chip(case.versions, case.chip):
        raise DeviceError(str(problem))
    return known.arch_of(case.versions, case.chip)


def hostcann(env: Mapping[str, str]) -> Path:
    """The one built here; where none is, the one of the environment, such as conda's.

    One of the environment that was built here in another way, with a sanitizer, goes first.
    """
    named = Path(env.get("ASCEND_HOME_PATH") or "/")
    ours = named.is_relative_to(HOSTCANN.parent)
    if (ours or not HOSTCANN.is_dir()) and (named / "hostcann-version").is_file():
        return named
    return HOSTCANN


def decide(device: str = "", npu_arch: str = "", root: Path = Path("/")) -> Device:
    """Which device it will be; on the host its toolkit need not be built yet."""
    env = dict(os.environ)
    case = Case(Machine(env, sys.executable, root), load_versions())
    npu_arch = npu_arch or env.get("NPU_ARCH", "")
    if choose_kind(device or env.get("DEVICE") or "auto", case) == "host":
        arch = choose_arch(npu_arch or case.versions["hostcann"]["npu_arch"], case)
        if problem := known.not_emulated(case.versions, arch):
            raise DeviceError(str(problem))
        home = hostcann(env)
        built = (home / "hostcann-version").is_file()
        name = mismatch.cann_name(home) if built else "hostcann not built yet"
        return Device("host", arch, env, f"host ({name})")
    arch = choose_arch(npu_arch, case)
    return Device("npu", arch, env, f"npu ({case.chip or 'unknown chip'}, {case.cann})")


def resolve(device: str = "", npu_arch: str = "", root: Path = Path("/")) -> Device:
    """The device with the environment that its toolkit needs."""
    chosen = decide(device, npu_arch, root)
    env = chosen.env
    if chosen.kind == "host":
        script = hostcann(env) / "set_env.sh"
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
