# SPDX-License-Identifier: Apache-2.0
"""What the 2nd to the 50th operator costs: copies of the first, under names of their own.

They are added to a copy of the sources as CONTRIBUTING.md says. Built is from nothing, at every
number of operators.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

from bench.builds import build, cmake, configure
from bench.imports import import_seconds
from bench.measure import Figures

ROOT = Path(__file__).resolve().parents[2]
POINTS = (1, 2, 10, 25, 50)
SOURCES = (
    "CMakeLists.txt",
    "versions.toml",
    "kernels",
    "csrc",
    "python",
    "ci/device.py",
    "ci/files.py",
    "ci/versions.py",
    "tests/matrix",
)
PACKAGES = {
    "ascendc_ops": "python/ascendc-ops-pybind/ascendc_ops",
    "ascendc_ops_lib": "python/ascendc-ops-lib/ascendc_ops_lib",
}
IMPORTS = 3


def of_number(text: str, number: int) -> str:
    """What is said of the first operator and its kernel, said of another one."""
    text = re.sub(r"ascendc_add\b", f"ascendc_add_{number}", text)
    text = re.sub(r"ascendc_add_meta\b", f"ascendc_add_{number}_meta", text)
    return re.sub(r"\badd_custom(?=_impl\b|\b)", f"add_custom_{number}", text)


class Project:
    """A copy of the sources with a build tree and the packages installed from it."""

    def __init__(self, folder: Path):
        self.source = folder / "source"
        self.tree = folder / "tree"
        self.site = folder / "site"
        self.operators = 1
        for name in SOURCES:
            target = self.source / name
            target.parent.mkdir(parents=True, exist_ok=True)
            copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
            copy(ROOT / name, target)
        (self.source / "build").mkdir()
        (self.source / "build" / "hostcann").symlink_to(os.environ["ASCEND_HOME_PATH"])

    def grow(self, operators: int) -> None:
        numbers = range(self.operators + 1, operators + 1)
        for number in numbers:
            self.copy_files(number)
        self.extend("csrc/bind_library.cpp", numbers, r'#include "ascendc_add.h"\n')
        self.extend("csrc/bind_library.cpp", numbers, r'  define\(m, "ascendc_add\([^;]*;\n')
        self.extend("csrc/bind_pybind.cpp", numbers, r'#include "ascendc_add.h"\n')
        self.extend("csrc/bind_pybind.cpp", numbers, r'  define\(m, "ascendc_add",[^;]*;\n')
        pybind = PACKAGES["ascendc_ops"]
        self.extend(f"{pybind}/_C.pyi", numbers, r"def ascendc_add\(.*\n")
        self.extend(f"{pybind}/__init__.py", numbers, r"\n\ndef ascendc_add\((.|\n)*?return .*\n")
        self.operators = operators

    def copy_files(self, number: int) -> None:
        for name in (
            "csrc/ascendc_add.cpp",
            "csrc/ascendc_add.h",
            "kernels/add_custom/add_custom.asc",
            "kernels/add_custom/add_custom.h",
            "tests/matrix/rows/ascendc_add.py",
        ):
            target = self.source / of_number(name.replace(".", " ."), number).replace(" .", ".")
            target.parent.mkdir(exist_ok=True)
            text = (ROOT / name).read_text(encoding="utf-8")
            target.write_text(of_number(text, number), encoding="utf-8")

    def extend(self, name: str, numbers: range, pattern: str) -> None:
        """Repeats the lines of the first operator for each of the others, after the first's."""
        path = self.source / name
        text = path.read_text(encoding="utf-8")
        (first,) = re.finditer(pattern, text)
        more = "".join(of_number(first[0], number) for number in numbers)
        path.write_text(text[: first.end()] + more + text[first.end() :], encoding="utf-8")

    def build(self) -> float:
        """Seconds, from the sources as they are now and from nothing else."""
        shutil.rmtree(self.tree, ignore_errors=True)
        seconds = configure(self.source, self.tree) + build(self.tree)
        for package, folder in PACKAGES.items():
            cmake("--install", self.tree, "--prefix", self.site, "--component", package)
            shutil.copytree(self.source / folder, self.site / package, dirs_exist_ok=True)
        return seconds

    @property
    def env(self) -> dict[str, str]:
        return os.environ | {"PYTHONPATH": str(self.site)}

    def size(self) -> int:
        files = (path for path in self.site.rglob("*") if "__pycache__" not in path.parts)
        return sum(path.stat().st_size for path in files if path.is_file())

    def import_seconds(self) -> list[float]:
        both = ", ".join(PACKAGES)
        return [import_seconds(both, self.env)[1] for _ in range(IMPORTS + 1)][1:]

    def matrix(self) -> float:
        command = [sys.executable, self.source / "tests" / "matrix" / "run.py"]
        start = time.perf_counter()
        subprocess.run([*command, "--device", os.environ["DEVICE"]], env=self.env, check=True)
        return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, required=True, help="where to build")
    parser.add_argument("--output", type=Path, required=True)
    options = parser.parse_args()
    shutil.rmtree(options.folder, ignore_errors=True)
    project = Project(options.folder)
    found: dict[str, dict[str, list[float]]] = {}
    for operators in POINTS:
        project.grow(operators)
        taken = {
            "build": [project.build()],
            "import": project.import_seconds(),
            "matrix": [project.matrix()],
            "package size": [float(project.size())],
        }
        for what, values in taken.items():
            found.setdefault(what, {})[f"{operators} operators"] = values
    figures = Figures()
    for what, series in found.items():
        unit = "byte" if what == "package size" else "second"
        figures.add(f"growth/{what}", series, unit=unit)
    figures.write(options.output)
    shutil.rmtree(options.folder)


if __name__ == "__main__":
    main()
