# SPDX-License-Identifier: Apache-2.0
"""Every public header compiles alone and without a warning."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

INCLUDE = Path(os.environ.get("ASCEND_HOME_PATH", "")) / "include"
HEADERS = sorted(str(path.relative_to(INCLUDE)) for path in INCLUDE.rglob("*.h"))
FLAGS = ["-fsyntax-only", "-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Werror", "-fopenmp-simd"]


def test_headers_are_found():
    assert "kernel_operator.h" in HEADERS, f"expected hostcann's headers in '{INCLUDE}', got none"


def compile_header(folder, header, standard):
    source = folder / "header.cpp"
    # Twice: the include guard is part of the header.
    source.write_text(f'#include "{header}"\n' * 2)
    command = [shutil.which("g++") or "c++", f"-std={standard}", *FLAGS, f"-I{INCLUDE}", source]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("header", HEADERS)
def test_header_compiles_alone(tmp_path, header):
    compile_header(tmp_path, header, "c++17")


def test_headers_compile_as_newer_cpp(tmp_path):
    compile_header(tmp_path, "kernel_operator.h", "c++20")


def test_launch_interface_is_c(tmp_path):
    source = tmp_path / "launch.c"
    source.write_text('#include "hostcann/launch.h"\n')
    command = ["gcc", "-std=c11", *FLAGS, f"-I{INCLUDE}", source]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
