# SPDX-License-Identifier: Apache-2.0
"""The variants of the conda recipes: `make lock` writes them, from versions.toml and the locks."""

import re
import subprocess
import sys
import tomllib
from itertools import zip_longest
from pathlib import Path

from lock_file import LockError, lock_path, read_lock
from versions import select

HEADER = """\
# SPDX-License-Identifier: Apache-2.0
# Generated from versions.toml by `make lock`.
"""
NPU_FILE = "conda-recipe/torch-npu/variants.yaml"
SHA256 = re.compile(r"\b[0-9a-f]{64}\b")


def pythons(versions: dict) -> list[str]:
    return [python for python in versions["lock"]["pythons"] if python in supported(versions)]


def supported(versions: dict) -> list[str]:
    return versions["torch_pythons"][versions["stack"]["torch"]]


def line(key: str, *values: str) -> str:
    return f"{key}: [{', '.join(quoted(value) for value in values)}]\n"


def quoted(value: str) -> str:
    # A number, which YAML would make of a version, is not one.
    return value if re.match(r"[a-z]", value) else f'"{value}"'


def by_machine(key: str, first: list[str], other: list[str]) -> str:
    lines = [f"{key}:", "  - if: x86_64"]
    for word, values in (("then", first), ("else", other)):
        lines += [f"    {word}:", *(f'      - "{value}"' for value in values)]
    return "\n".join(lines) + "\n"


def tag(versions: dict) -> tuple[str, str]:
    """What the tag of the wheels says: the platform, and the C library it stands for."""
    (wheels,) = {platform["wheels"] for platform in versions["platforms"].values()}
    return wheels, ".".join(re.findall(r"\d+", wheels))


def choices(versions: dict) -> str:
    """Of the project's own recipe: every Python, on the host and on every kind of chip."""
    stack, build, conda = versions["stack"], versions["build"], versions["conda"]["recipe"]
    archs = sorted({chip["npu_arch"] for chip in versions["chips"].values()})
    devices = ["host", *("npu" for _ in archs)]
    pairs = [versions["hostcann"]["npu_arch"], *archs]
    return (
        line("python", *pythons(versions))
        + line("device", *devices)
        + line("npu_arch", *pairs)
        + "zip_keys:\n  - [device, npu_arch]\n"
        + line("ascendc_ops", versions["project"]["version"])
        + line("hostcann_version", versions["hostcann"]["version"])
        + line("build_number", "0")
        + line("torch", stack["torch"])
        + line("torch_npu", stack["torch_npu"])
        + line("cann", stack["cann"])
        + line("glibc", tag(versions)[1])
        + line("pybind11", build["pybind11"])
        + line("scikit_build_core", build["scikit-build-core"])
        + line("cxx_compiler", "gxx")
        + line("cxx_compiler_version", conda["gxx"])
        + line("c_stdlib", "sysroot")
        + line("c_stdlib_version", conda["sysroot"])
    )


def torch(versions: dict, root: Path) -> str:
    """Of torch: the Pythons whose wheel is known by its hash."""
    found: dict[str, dict[str, str]] = {}
    for machine in versions["platforms"]:
        found[machine] = {}
        for python in pythons(versions):
            selected = select(versions, "default", python)
            held = {r.name: r for r in read_lock(lock_path(selected, machine, "dev", root))}
            for digest in held["torch"].hashes:
                found[machine][python] = digest
    both = [found[machine] for machine in ("x86_64", "aarch64")]
    wheels, glibc = tag(versions)
    return (
        by_machine("python", *(list(one) for one in both))
        + by_machine("torch_sha256", *(list(one.values()) for one in both))
        + "zip_keys:\n  - [python, torch_sha256]\n"
        + line("torch", versions["stack"]["torch"])
        + line("torch_build", versions["torch"]["build"])
        + line("wheels", wheels)
        + line("glibc", glibc)
    )


def torch_npu(versions: dict, digests: list[str]) -> str:
    """Of torch_npu; the digests are those of x86_64 and then of aarch64, by Python."""
    count = len(pythons(versions))
    wheels, glibc = tag(versions)
    return (
        line("python", *pythons(versions))
        + by_machine("torch_npu_sha256", digests[:count], digests[count:])
        + "zip_keys:\n  - [python, torch_npu_sha256]\n"
        + line("torch", versions["stack"]["torch"])
        + line("torch_npu", versions["stack"]["torch_npu"])
        + line("wheels", wheels)
        + line("glibc", glibc)
    )


def resolve(versions: dict) -> list[str]:
    """The digests of torch_npu's wheels, asked of the package index."""
    return [
        ask(versions, machine, python)
        for machine in ("x86_64", "aarch64")
        for python in pythons(versions)
    ]


def ask(versions: dict, machine: str, python: str) -> str:
    wheels = versions["platforms"][machine]["wheels"]
    command = [
        str(Path(sys.executable).with_name("uv")),
        "--no-config",
        "--system-certs",
        "pip",
        "compile",
        "-",
    ]
    command += ["--quiet", "--no-deps", "--format=pylock.toml", "--only-binary=:all:"]
    command += ["--python-version", python, "--python-platform", f"{machine}-{wheels}"]
    wanted = f"torch_npu=={versions['stack']['torch_npu']}\n"
    done = subprocess.run(command, input=wanted, text=True, capture_output=True)
    if done.returncode:
        raise LockError(f"lock: torch_npu: {' '.join(done.stderr.split())}")
    (package,) = tomllib.loads(done.stdout)["packages"]
    (wheel,) = package["wheels"]
    return wheel["hashes"]["sha256"]


def texts(versions: dict, root: Path, digests: list[str]) -> dict[str, str]:
    """File -> its whole text."""
    return {
        "conda-recipe/variants.yaml": HEADER + choices(versions),
        "conda-recipe/torch/variants.yaml": HEADER + torch(versions, root),
        NPU_FILE: HEADER + torch_npu(versions, digests),
    }


def problems(versions: dict, root: Path) -> list[str]:
    """Offline: the digests of torch_npu are taken from its file, and must stand in the locks."""
    found = []
    held = (root / NPU_FILE).read_text(encoding="utf-8")
    digests = SHA256.findall(held)
    for name, text in texts(versions, root, digests).items():
        lines = (root / name).read_text(encoding="utf-8").splitlines()
        pairs = zip_longest(lines, text.splitlines(), fillvalue="")
        for number, (got, expected) in enumerate(pairs, 1):
            if got != expected:
                found.append(f"{name}:{number}: expected '{expected}', got '{got}'")
    locked: set[str] = set()
    for machine in versions["platforms"]:
        for requirement in read_lock(lock_path(versions, machine, "dev", root)):
            if requirement.name == "torch-npu":
                locked |= requirement.hashes
    return found + [
        f"{NPU_FILE}: expected a hash of torch_npu in the lock files, got {digest}"
        for digest in digests
        if digest not in locked
    ]
