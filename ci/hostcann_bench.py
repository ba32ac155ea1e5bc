# SPDX-License-Identifier: Apache-2.0
"""Measures what hostcann's runtime costs: its own calls, and the import of torch_npu on it.

The import is compared with one on libraries that export the same names and do nothing.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from hostcann_contract import symbols
from versions import ROOT

PREFIX = ROOT / "build" / "hostcann"
# By the wall and by the processor, which a busy machine does not change.
IMPORT = (
    "import torch, time; wall, cpu = time.perf_counter(), time.process_time(); import torch_npu; "
    "print(time.perf_counter() - wall, time.process_time() - cpu)"
)


def make_stubs(folder: Path) -> None:
    """Libraries of the same names that return 0."""
    libraries = [p for p in sorted((PREFIX / "lib64").glob("*.so")) if p.name != "libopapi.so"]
    for library in libraries:
        with library.open("rb") as file:
            exported = symbols(file).exported
        source = folder / "stub.c"
        source.write_text("".join(f"long {name}(void) {{ return 0; }}\n" for name in exported))
        command = ["gcc", "-w", "-shared", "-fPIC", "-o", folder / library.name, source]
        subprocess.run([*command, f"-Wl,-soname,{library.name}"], check=True)


def import_seconds(libraries: Path) -> tuple[float, float]:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", IMPORT],
        env=os.environ
        | {
            "LD_LIBRARY_PATH": str(libraries),
            "ASCEND_HOME_PATH": str(PREFIX),
            "ASCEND_OPP_PATH": str(PREFIX / "opp"),
            "TORCH_DEVICE_BACKEND_AUTOLOAD": "0",
        },
        capture_output=True,
        text=True,
    )
    if done.returncode:
        sys.exit(f"hostcann-bench: torch_npu cannot be imported on {libraries}: {done.stderr}")
    wall, cpu = done.stdout.splitlines()[-1].split()
    return float(wall), float(cpu)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--imports", type=int, default=9, help="how often torch_npu is imported")
    repeats = parser.parse_args().imports
    os.chdir(ROOT)
    subprocess.run(["ci/step.sh", "hostcann tests", "ci/hostcann.sh", "--tests"], check=True)
    tree = ROOT / "build" / "cmake" / "hostcann"
    subprocess.run(
        [ROOT / ".venv/bin/cmake", "--build", tree, "--target", "hostcann_benchmark"],
        check=True,
        stdout=subprocess.DEVNULL,
        # make keeps its jobs to itself.
        env={name: value for name, value in os.environ.items() if name != "MAKEFLAGS"},
    )
    subprocess.run([tree / "tests" / "hostcann_benchmark"], check=True)
    with tempfile.TemporaryDirectory() as name:
        stubs = Path(name)
        make_stubs(stubs)
        # In turn, so that both see the same machine; the first pair only fills caches.
        pairs = [
            (import_seconds(PREFIX / "lib64"), import_seconds(stubs)) for _ in range(repeats + 1)
        ][1:]
    for which, meaning in enumerate(("wall", "CPU")):
        sides = zip(*pairs, strict=True)
        ours, theirs = (statistics.median(times[which] for times in side) for side in sides)
        print(
            f"import of torch_npu, median {meaning} time: {ours:.2f} s, on empty stubs "
            f"{theirs:.2f} s, {ours / theirs:.2f} of it"
        )


if __name__ == "__main__":
    main()
