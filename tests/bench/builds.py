# SPDX-License-Identifier: Apache-2.0
"""What a build from nothing takes, beside that of two samples, and where it goes.

Both configure a fresh tree and compile without a compiler cache. The kernel is built before the
clock runs, since it is the same for both.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

from bench.measure import Figures, in_turn

ROOT = Path(__file__).resolve().parents[2]
CMAKE = Path(sys.executable).with_name("cmake")
OURS = "both variants"
SAMPLE = "samples, torch's extension.h"
KERNELS = "ascendc_kernels"
SUBJECTS = {
    OURS: (ROOT, ("ascendc_ops_pybind", "ascendc_ops_lib")),
    SAMPLE: (ROOT / "tests" / "bench" / "native", ("sample_pybind", "sample_library")),
}


def cmake(*arguments) -> float:
    """Seconds that it took."""
    launchers = ("CMAKE_CXX_COMPILER_LAUNCHER", "CMAKE_C_COMPILER_LAUNCHER")
    env = {name: value for name, value in os.environ.items() if name not in launchers}
    # The interpreter's folder has ninja.
    path = f"{CMAKE.parent}{os.pathsep}{env['PATH']}"
    start = time.perf_counter()
    command = [CMAKE, *map(str, arguments)]
    subprocess.run(command, env=env | {"CCACHE_DISABLE": "1", "PATH": path}, check=True)
    return time.perf_counter() - start


def configure(source: Path, tree: Path) -> float:
    arch = f"-DCMAKE_ASC_ARCHITECTURES={os.environ['NPU_ARCH']}"
    python = f"-DPython3_EXECUTABLE={sys.executable}"
    return cmake("-S", source, "-B", tree, "-G", "Ninja", arch, python)


def build(tree: Path, *targets: str) -> float:
    return cmake("--build", tree, *(("--target", *targets) if targets else ()))


def file_seconds(tree: Path) -> dict[str, float]:
    """Source file -> seconds of its compiler, from what ninja writes down in milliseconds."""
    lines = (tree / ".ninja_log").read_text(encoding="utf-8").splitlines()[1:]
    steps = [line.split("\t") for line in lines]
    return {
        Path(output).name.removesuffix(".o"): (int(end) - int(start)) / 1000
        for start, end, _, output, *_ in steps
        if output.endswith(".o")
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tree", type=Path, required=True, help="where to build")
    parser.add_argument("--rounds", type=int, required=True)
    parser.add_argument("--output", type=Path, required=True)
    options = parser.parse_args()
    files: dict[str, list[float]] = {}

    def take(source: Path, targets: tuple[str, ...]) -> float:
        shutil.rmtree(options.tree, ignore_errors=True)
        seconds = configure(source, options.tree)
        build(options.tree, KERNELS)
        seconds += build(options.tree, *targets)
        for file, taken in file_seconds(options.tree).items():
            files.setdefault(file, []).append(taken)
        return seconds

    subjects = {
        name: lambda source=source, targets=targets: take(source, targets)
        for name, (source, targets) in SUBJECTS.items()
    }
    figures = Figures()
    figures.add("build", in_turn(subjects, options.rounds, warmups=0), SAMPLE)
    # Each in its own compiler; as many run at once as there are cores.
    figures.add("compile", files)
    figures.write(options.output)
    shutil.rmtree(options.tree, ignore_errors=True)


if __name__ == "__main__":
    main()
