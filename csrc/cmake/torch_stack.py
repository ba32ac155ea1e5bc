# SPDX-License-Identifier: Apache-2.0
"""Print, as CMake `set` lines, where this interpreter's torch, torch_npu and pybind11 lie.

torch_npu is never imported: a `docker build` has no driver, so importing it fails there. Exit 1
with one sentence on stderr when something is missing or does not belong together.
"""

import importlib.metadata
import importlib.util
import os
import sys
import sysconfig
from pathlib import Path
from typing import NoReturn

# The sentences are ascendc-env's, which need not be installed here.
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python" / "ascendc-env"))
from ascendc_env import mismatch, versions


def fail(sentence: object) -> NoReturn:
    sys.exit(f"ascendc_ops: {sentence}")


def another_interpreter(problem: mismatch.Mismatch, package: str) -> NoReturn:
    fix = f"configure with -DPython3_EXECUTABLE=<the interpreter {package} is installed for>"
    fail(problem._replace(fix=fix))


def package_dir(name: str) -> Path:
    """Folder of the package `name`, found without importing it."""
    spec = importlib.util.find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        another_interpreter(mismatch.absent(name, sys.executable), name)
    # As CMake writes it on the command line, so that no link hides it from -ffile-prefix-map.
    return Path(spec.submodule_search_locations[0]).resolve()


def version(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        fail(f"expected {name} to be installed, got a folder without metadata; reinstall it")


def main() -> None:
    # Importing torch must not load torch_npu by way of torch's backend autoloading.
    os.environ["TORCH_DEVICE_BACKEND_AUTOLOAD"] = "0"
    torch_dir = package_dir("torch")
    suffix = sysconfig.get_config_var("EXT_SUFFIX")
    built = sorted(torch_dir.glob("_C.*.so"))
    if built and torch_dir / f"_C{suffix}" not in built:
        problem = mismatch.other_interpreter("torch", sys.executable, suffix, built[0])
        another_interpreter(problem, "torch")
    torch_version, npu_version = version("torch"), version("torch_npu")
    npu_dir = package_dir("torch_npu")
    home = Path(os.environ["ASCEND_HOME_PATH"])
    cann, release = mismatch.cann_name(home), mismatch.cann_release(home)
    table = versions.load()
    right = versions.torch_npu_for(table, torch_version, release)
    problem = mismatch.unpaired(torch_version, npu_version, right)
    # hostcann serves every torch_npu, whatever the release that it stands in for.
    if not problem and not cann.startswith("hostcann"):
        problem = versions.other_cann(table, torch_version, npu_version, release)
    if problem:
        fail(problem)
    try:
        import torch
    except Exception as error:
        fail(f"expected an importable torch in {sys.executable}, got {error!r}; reinstall torch")
    values = {
        "TORCH_VERSION": torch_version,
        "TORCH_DIR": torch_dir,
        "TORCH_CXX11_ABI": int(torch._C._GLIBCXX_USE_CXX11_ABI),
        "TORCH_NPU_VERSION": npu_version,
        "TORCH_NPU_DIR": npu_dir,
        "CANN": cann,
        "PYBIND11_DIR": package_dir("pybind11") / "share/cmake/pybind11",
        "SITE_PACKAGES": torch_dir.parent,
    }
    # A bracketed argument keeps every character of a path as it is.
    for name, value in values.items():
        print(f"set(STACK_{name} [==[{value}]==])")


if __name__ == "__main__":
    main()
