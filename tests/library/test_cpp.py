# SPDX-License-Identifier: Apache-2.0
"""A C++ program finds the installed library with CMake and calls it through the dispatcher."""

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import ascendc_ops_lib

SOURCE = Path(__file__).parent / "cpp"
SITE = sysconfig.get_path("platlib")
CMAKE = shutil.which("cmake", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")


def run(*command, **environment):
    return subprocess.run(
        command,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def configure(build, prefix, linker=""):
    return run(
        CMAKE,
        *("-S", SOURCE, "-B", build, "-G", "Ninja"),
        f"-DCMAKE_PREFIX_PATH={prefix}",
        f"-DCMAKE_EXE_LINKER_FLAGS={linker}",
        f"-DPython3_EXECUTABLE={sys.executable}",
    )


def test_a_program_calls_the_operator(tmp_path):
    # Some compilers drop a library that nothing is called from, unless told not to.
    done = configure(tmp_path, ascendc_ops_lib.CMAKE_PREFIX, "-Wl,--as-needed")
    assert done.returncode == 0, done.stderr
    done = run(CMAKE, "--build", tmp_path)
    assert done.returncode == 0, done.stdout
    done = run(tmp_path / "op_call", PYTHONPATH=SITE)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "npu:0 right",
        "ascendc_add: argument 'y': expected shape [8, 2048], got [8, 2047]",
    ]


def test_a_library_without_torch_npu_beside_it_is_not_found(tmp_path):
    copy = tmp_path / "site" / "ascendc_ops_lib"
    shutil.copytree(ascendc_ops_lib.CMAKE_PREFIX, copy)
    (tmp_path / "site" / "torch" / "include").mkdir(parents=True)
    done = configure(tmp_path / "build", copy)
    assert done.returncode != 0
    said = " ".join(done.stderr.split())
    site = tmp_path / "site"
    assert f"expected torch_npu in {site}, got none; install it beside ascendc-ops-lib" in said
