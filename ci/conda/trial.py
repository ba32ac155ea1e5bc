# SPDX-License-Identifier: Apache-2.0
"""Installs each variant, and both, from the channel alone, runs the matrix, takes them out."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from . import CHANNEL, ROOT, WORK, CondaError, prefix

ENVIRONMENTS = {
    "pybind": ["ascendc-ops-pybind"],
    "lib": ["ascendc-ops-lib"],
    "both": ["ascendc-ops-pybind", "ascendc-ops-lib"],
}
OURS = ("ascendc-ops-pybind", "ascendc-ops-lib", "hostcann", "ascendc-device")
# What the matrix is made of, copied out of the checkout so that nothing built there can help.
MATRIX = (
    "tests/matrix",
    "ci/device.py",
    "ci/files.py",
    "ci/versions.py",
    "python/ascendc-env/ascendc_env",
    "versions.toml",
)
OFF = "ASCENDC_OPS_NETWORK_OFF"


@dataclass
class Row:
    environment: str
    packages: int
    install: float
    matrix: str
    seconds: float
    left: str


def without_network(arguments: list[str]) -> None:
    """Goes on in a network name space without an interface, where that is permitted."""
    if OFF in os.environ:
        return
    os.environ[OFF] = "yes"
    if subprocess.run(["unshare", "-rn", "true"], capture_output=True).returncode == 0:
        os.execvp("unshare", ["unshare", "-rn", sys.executable, "-m", "conda", *arguments])


def network() -> str:
    lines = Path("/proc/self/net/dev").read_text(encoding="utf-8").splitlines()[2:]
    interfaces = {line.partition(":")[0].strip() for line in lines}
    if interfaces <= {"lo"}:
        return "network: off, no interface but lo"
    return "network: not cut off, unshare -n is not permitted here; the only channel is a folder"


def copy_matrix(folder: Path) -> Path:
    for name in MATRIX:
        source, target = ROOT / name, folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, target)
    return folder / "tests" / "matrix" / "run.py"


def run_matrix(home: Path, runner: Path, variant: str, folder: Path) -> tuple[str, float]:
    """What the matrix said, and its seconds."""
    kept = {name: os.environ[name] for name in ("HOME", "LANG", "TMPDIR") if name in os.environ}
    env = prefix.environment(home, kept | {"PATH": os.defpath, "DEVICE": "host"})
    report = folder / "report"
    command = [home / "bin" / "python", runner, "--variant", variant, "--report", report]
    start = time.monotonic()
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True)
    seconds = time.monotonic() - start
    lines = done.stdout.strip().splitlines()
    if done.returncode or not lines:
        raise CondaError(f"{variant}: the matrix failed:\n{done.stdout}{done.stderr}")
    device = json.loads((report / "matrix.json").read_text(encoding="utf-8"))["device"]
    if not device.startswith("host (hostcann"):
        raise CondaError(f"{variant}: expected the matrix on host (hostcann …), got {device}")
    return lines[-1].removeprefix("matrix: "), seconds


def take_out(home: Path, cache: Path, records: list) -> str:
    """Uninstalls our packages and then everything; the files that were left behind."""
    others = [one for one in records if one.name.normalized not in OURS]
    prefix.install(others, home, cache)
    expected = {path for record in prefix.installed(home).values() for path in record["files"]}
    left = prefix.files(home) - expected
    prefix.install([], home, cache)
    left |= prefix.files(home)
    # The installer's own mark on a prefix, which no package brought.
    left.discard("CACHEDIR.TAG")
    return ", ".join(sorted(left)[:5]) or "nothing"


def try_one(name: str, folder: Path, cache: Path) -> Row:
    home = folder / name / "prefix"
    start = time.monotonic()
    # The matrix needs pytest, which is no requirement of ours.
    records = prefix.solve([CHANNEL], [*ENVIRONMENTS[name], "pytest"])
    prefix.install(records, home, cache)
    install = time.monotonic() - start
    print(f"conda: {name}: installed: {install:.1f} s", flush=True)
    runner = copy_matrix(folder / name)
    said, seconds = run_matrix(home, runner, name, folder / name)
    print(f"conda: {name}: matrix: {seconds:.1f} s", flush=True)
    left = take_out(home, cache, records)
    return Row(name, len(records), install, said, seconds, left)


def trial() -> None:
    print(network(), flush=True)
    if not (CHANNEL / "noarch" / "repodata.json").exists():
        raise CondaError(f"expected a channel in {CHANNEL}, found none; run make conda")
    rows = []
    with tempfile.TemporaryDirectory(prefix="ascendc-ops-") as folder:
        for name in ENVIRONMENTS:
            rows.append(try_one(name, Path(folder), WORK / "cache" / "pkgs"))
    print(f"\n{'environment':<12} packages  install  matrix                        left behind")
    for row in rows:
        matrix = f"{row.matrix} in {row.seconds:.0f} s"
        start = f"{row.environment:<12} {row.packages:>8} {row.install:>6.1f} s"
        print(f"{start}  {matrix:<29} {row.left}")
    if wrong := [row.environment for row in rows if row.left != "nothing"]:
        raise CondaError(f"{', '.join(wrong)}: uninstalling left files behind")
