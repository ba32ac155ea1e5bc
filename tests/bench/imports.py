# SPDX-License-Identifier: Apache-2.0
"""What importing a package adds to `import torch, torch_npu`, and how large the package is."""

from __future__ import annotations

import argparse
import importlib.util
import subprocess
import sys
from pathlib import Path

from bench.measure import Figures, in_turn

PACKAGES = {"pybind": "ascendc_ops", "lib": "ascendc_ops_lib"}
IMPORT = """
import time
start = time.perf_counter()
import torch, torch_npu
middle = time.perf_counter()
import {packages}
print(middle - start, time.perf_counter() - middle)
"""


def import_seconds(packages: str, env: dict[str, str] | None = None) -> tuple[float, float]:
    """Of torch and torch_npu, and of the packages after them."""
    # -P: the current folder may hold a package of that name.
    command = [sys.executable, "-P", "-W", "ignore", "-c", IMPORT.format(packages=packages)]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
    stack, added = map(float, done.stdout.split()[-2:])
    return stack, added


def size(package: str) -> int:
    folder = Path(importlib.util.find_spec(package).submodule_search_locations[0])
    files = (path for path in folder.rglob("*") if "__pycache__" not in path.parts)
    return sum(path.stat().st_size for path in files if path.is_file())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, required=True)
    parser.add_argument("--output", type=Path, required=True)
    options = parser.parse_args()
    stack: list[float] = []

    def take(package: str) -> float:
        before, added = import_seconds(package)
        stack.append(before)
        return added

    warmups = 1
    values = in_turn(
        {name: lambda package=package: take(package) for name, package in PACKAGES.items()},
        options.rounds,
        warmups,
    )
    # One process per subject and round: each round's first stands for what they are added to.
    values["torch, torch_npu"] = stack[len(PACKAGES) * warmups :: len(PACKAGES)]
    figures = Figures()
    figures.add("import", values, "torch, torch_npu")
    sizes = {name: [size(package)] for name, package in PACKAGES.items()}
    figures.add("package size", sizes, unit="byte")
    figures.write(options.output)


if __name__ == "__main__":
    main()
