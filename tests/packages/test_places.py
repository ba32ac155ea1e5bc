# SPDX-License-Identifier: Apache-2.0
"""Where the packages lie and what lies around them: the right files are used, or a sentence."""

import importlib.util
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from .conftest import Run, last_line

PACKAGES = ("ascendc_ops", "ascendc_ops_lib")
WORKS = {
    "ascendc_ops": "ascendc_ops.ascendc_add",
    "ascendc_ops_lib": "torch.ops.ascendc_ops.ascendc_add",
}


def installed(package: str) -> Path:
    spec = importlib.util.find_spec(package)
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent


@pytest.mark.parametrize("package", PACKAGES)
def test_a_decoy_of_the_kernels_library_is_not_loaded(
    package: str, run_python: Run, tmp_path: Path
) -> None:
    source = tmp_path / "decoy.c"
    source.write_text("void add_custom_impl(void) {}\n")
    decoy = tmp_path / "libascendc_kernels.so"
    subprocess.run(["gcc", "-shared", f"-Wl,-soname,{decoy.name}", "-o", decoy, source], check=True)
    result = run_python(
        f"import {package}, torch\n"
        "x = torch.ones(8, 2048).npu()\n"
        f"assert {WORKS[package]}(x, x).cpu().eq(2).all()\n",
        LD_LIBRARY_PATH=f"{tmp_path}:{os.environ.get('LD_LIBRARY_PATH', '')}",
    )
    assert result.returncode == 0, result.stderr


# In the place of the kernels: what a launch finds of the interpreter's lock.
WITNESS = """
int PyGILState_Check(void);
int held = -1;
void add_custom_impl(void) { held = PyGILState_Check(); }
"""


@pytest.mark.parametrize("package", PACKAGES)
def test_a_call_launches_without_the_lock_of_the_interpreter(
    package: str, run_python: Run, tmp_path: Path
) -> None:
    source = tmp_path / "witness.c"
    source.write_text(WITNESS)
    kernels = tmp_path / "site" / package / "libascendc_kernels.so"
    shutil.copytree(installed(package), kernels.parent)
    name = f"-Wl,-soname,{kernels.name}"
    subprocess.run(["gcc", "-shared", "-fPIC", name, "-o", kernels, source], check=True)
    result = run_python(
        f"import ctypes, {package}, torch\n"
        f"held = ctypes.c_int.in_dll(ctypes.CDLL({str(kernels)!r}), 'held')\n"
        "x = torch.ones(8, 2048).npu()\n"
        "print(held.value)\n"
        f"{WORKS[package]}(x, x)\n"
        "print(held.value)\n",
        path=kernels.parents[1],
    )
    assert (result.returncode, result.stdout) == (0, "-1\n0\n"), result.stderr


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_in_an_archive_is_refused(package: str, run_python: Run, tmp_path: Path) -> None:
    (tmp_path / "site").mkdir()
    shutil.copytree(installed(package), tmp_path / "site" / package)
    archive = Path(shutil.make_archive(str(tmp_path / "packed"), "zip", tmp_path / "site"))
    result = run_python(f"import {package}", path=archive)
    assert result.returncode == 1
    assert last_line(result) == (
        f"ImportError: {package}: expected the files of {package} in a folder, got "
        f"{archive}/{package}, which is packed; install the wheel with pip: a library cannot be "
        "loaded out of an archive"
    )


# Root writes in any folder, unless it gives the right to away.
READ_ONLY = """
import ctypes, os, sys
DROP_FROM_BOUNDING_SET, DAC_OVERRIDE = 24, 1
ctypes.CDLL(None).prctl(DROP_FROM_BOUNDING_SET, DAC_OVERRIDE)
os.execv(sys.executable, [sys.executable, "-c", os.environ["PROGRAM"]])
"""


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_in_a_folder_that_cannot_be_written(
    package: str, run_python: Run, tmp_path: Path
) -> None:
    site = tmp_path / "site"
    copied = site / package
    shutil.copytree(installed(package), copied, ignore=shutil.ignore_patterns("__pycache__"))
    program = (
        "import pathlib\n"
        "try:\n"
        f"    pathlib.Path({str(copied / 'probe')!r}).touch()\n"
        "    raise SystemExit('expected a folder that cannot be written')\n"
        "except PermissionError:\n"
        "    pass\n"
        f"import torch, {package}\n"
        f"assert {package}.__file__.startswith({str(copied)!r}), {package}.__file__\n"
        "x = torch.ones(8, 2048).npu()\n"
        f"assert {WORKS[package]}(x, x).cpu().eq(2).all()\n"
    )
    folders = [site, *(path for path in site.rglob("*") if path.is_dir())]
    for folder in folders:
        folder.chmod(0o555)
    try:
        result = run_python(READ_ONLY, path=site, PROGRAM=program)
    finally:
        for folder in folders:
            folder.chmod(0o755)
    assert result.returncode == 0, result.stderr
    assert not list(site.rglob("__pycache__"))


@pytest.mark.parametrize("package", PACKAGES)
def test_a_free_threaded_python_is_refused(package: str, run_python: Run) -> None:
    result = run_python(
        f"import sysconfig\nsysconfig.get_config_vars()['Py_GIL_DISABLED'] = 1\nimport {package}\n"
    )
    assert result.returncode == 1
    assert last_line(result) == (
        f"ImportError: {package}: expected a Python with the GIL, got a free-threaded build; use "
        f"the ordinary build: neither torch_npu nor {package} has one that is free-threaded"
    )


@pytest.mark.parametrize("package", PACKAGES)
def test_a_subinterpreter_is_refused(package: str, run_python: Run) -> None:
    result = run_python(
        "try:\n"
        "    import _interpreters as interpreters\n"
        "except ImportError:\n"
        "    import _xxsubinterpreters as interpreters\n"
        f"code = 'try: import {package}\\nexcept ImportError as error: print(error)'\n"
        "interpreters.run_string(interpreters.create(), code)\n"
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout.strip() == (
        f"{package}: expected the main interpreter, got a subinterpreter; import {package} in the "
        "main one: torch is there once per process"
    )


def test_a_second_copy_of_the_library_ends_the_process_with_a_sentence(
    run_python: Run, tmp_path: Path
) -> None:
    for name in ("libascendc_ops.so", "libascendc_kernels.so"):
        shutil.copy(installed("ascendc_ops_lib") / name, tmp_path)
    result = run_python(
        "import ascendc_ops_lib, torch\n"
        f"torch.ops.load_library({str(tmp_path / 'libascendc_ops.so')!r})\n"
    )
    assert result.returncode == -6
    assert "Tried to register an operator (ascendc_ops::ascendc_add(" in result.stderr
    assert "Each overload's schema should only be registered with a single call" in result.stderr
