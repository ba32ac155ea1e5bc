# SPDX-License-Identifier: Apache-2.0
"""Print, as CMake `set` lines, where this interpreter's torch, torch_npu and pybind11 lie.

torch_npu is never imported: a `docker build` has no driver, so importing it fails there. Exit 1
with one sentence on stderr when something is missing or does not belong together.
"""

import importlib.metadata
import importlib.util
import os
import re
import sys
import sysconfig
from pathlib import Path
from typing import NoReturn


def fail(sentence: str) -> NoReturn:
    sys.exit(f"ascendc_ops: {sentence}")


def package_dir(name: str) -> Path:
    """Folder of the package `name`, found without importing it."""
    spec = importlib.util.find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        fail(
            f"expected {name} in {sys.executable}, got an interpreter without it; "
            f"configure with -DPython3_EXECUTABLE=<the interpreter {name} is installed for>"
        )
    return Path(spec.submodule_search_locations[0])


def version(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        fail(f"expected {name} to be installed, got a folder without metadata; reinstall it")


def release(text: str) -> str:
    """2.9.0 for 2.9.0.post6 and for 2.9.0+cpu: what torch and torch_npu must share."""
    found = re.match(r"\d+\.\d+\.\d+", text)
    return found.group() if found else text


def main() -> None:
    # Importing torch must not load torch_npu by way of torch's backend autoloading.
    os.environ["TORCH_DEVICE_BACKEND_AUTOLOAD"] = "0"
    torch_dir = package_dir("torch")
    suffix = sysconfig.get_config_var("EXT_SUFFIX")
    built_for = sorted(path.name for path in torch_dir.glob("_C.*.so"))
    if built_for and f"_C{suffix}" not in built_for:
        fail(
            f"expected torch for {sys.executable} (_C{suffix}), got {built_for[0]} in {torch_dir}; "
            "configure with -DPython3_EXECUTABLE=<the interpreter torch is installed for>"
        )
    torch_version, npu_version = version("torch"), version("torch_npu")
    npu_dir = package_dir("torch_npu")
    if release(torch_version) != release(npu_version):
        fail(
            f"expected torch_npu for torch {release(torch_version)}, got torch {torch_version} "
            f"with torch_npu {npu_version}; install the pair named in versions.toml"
        )
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
        "PYBIND11_DIR": package_dir("pybind11") / "share/cmake/pybind11",
        "SITE_PACKAGES": torch_dir.parent,
    }
    # A bracketed argument keeps every character of a path as it is.
    for name, value in values.items():
        print(f"set(STACK_{name} [==[{value}]==])")


if __name__ == "__main__":
    main()
