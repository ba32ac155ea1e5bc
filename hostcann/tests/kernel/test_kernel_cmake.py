# SPDX-License-Identifier: Apache-2.0
"""find_package(ASC) and project(… LANGUAGES ASC CXX): builds, rebuilds and refusals."""

import functools
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ARCH = "-DCMAKE_ASC_ARCHITECTURES=dav-2201"
# The interpreter's own folder first: cmake and ninja are installed beside pytest.
TOOLS = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])


def find_cmakes():
    """Every cmake there is: the one of the environment, and the distribution's."""
    found = {}
    for folder in TOOLS.split(os.pathsep):
        program = Path(folder) / "cmake"
        if program.is_file():
            words = subprocess.run(
                [program, "--version"], check=True, capture_output=True, text=True
            )
            found.setdefault(words.stdout.split()[2], program)
    return found


CMAKES = find_cmakes()


NEWEST = next(iter(CMAKES), None)
# The environment's own cmake with both generators, any other with the first.
BUILDS = [(NEWEST, "Ninja"), *((version, "Unix Makefiles") for version in CMAKES)]


@pytest.fixture
def cmake(prefix):
    """Runs cmake; it must succeed unless `status` says otherwise."""

    def call(*arguments, status=0, env=None, version=NEWEST):
        environment = os.environ | {"PATH": TOOLS, "CMAKE_PREFIX_PATH": str(prefix / "lib64/cmake")}
        environment |= {"LC_ALL": "C"} | (env or {})
        done = subprocess.run(
            [CMAKES[version], *map(str, arguments)],
            env={name: value for name, value in environment.items() if value is not None},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == status, done.stdout + done.stderr
        return done

    return call


@pytest.fixture
def project(tmp_path):
    shutil.copytree(HERE / "cmake_project", tmp_path / "project")
    return tmp_path / "project"


def printed(program, prefix):
    environment = os.environ | {"LD_LIBRARY_PATH": str(prefix / "lib64")}
    return subprocess.run(
        [program], env=environment, check=True, capture_output=True, text=True
    ).stdout


def dynamic_section(binary):
    return subprocess.run(
        ["readelf", "-d", binary], check=True, capture_output=True, text=True
    ).stdout


def test_cmake_is_found():
    assert CMAKES, f"expected a cmake in one of '{TOOLS}', got none"


@pytest.mark.parametrize(("version", "generator"), BUILDS)
def test_build_change_and_install(cmake, prefix, project, tmp_path, version, generator):
    cmake = functools.partial(cmake, version=version)
    build = tmp_path / "build"
    release = "-DCMAKE_BUILD_TYPE=Release"
    cmake("-S", project, "-B", build, "-G", generator, ARCH, release)
    cmake("--build", build, "-j2")
    for program, factor in (("uses_shared", 3), ("uses_static", 4), ("uses_mixed", 5)):
        assert printed(build / program, prefix) == f"{7 * factor + 1000}\n"

    # The compiler's dependency files lead from the header to the kernels, and only to them.
    (project / "value.h").write_text("#pragma once\nconstexpr int kValue = 8;\n")
    log = cmake("--build", build, "-j2").stdout
    assert log.count("Building ASC object") == 3
    assert "Building CXX object" not in log
    assert printed(build / "uses_shared", prefix) == f"{8 * 3 + 1000}\n"
    assert "Building" not in cmake("--build", build).stdout

    cmake("--install", build, "--prefix", tmp_path / "installed")
    installed = tmp_path / "installed"
    assert printed(installed / "uses_shared", prefix) == f"{8 * 3 + 1000}\n"
    # Only what C++ links gets a run-time search path, as with CANN.
    assert "Library runpath: [$ORIGIN]" in dynamic_section(installed / "uses_shared")
    for binary in ("libkernels.so", "uses_mixed"):
        assert "runpath" not in dynamic_section(installed / binary)
        assert "Shared library: [libascendcl.so]" in dynamic_section(installed / binary)
    assert "Library soname: [libkernels.so]" in dynamic_section(installed / "libkernels.so")


def test_configurations_and_options_reach_the_compiler(cmake, prefix, project, tmp_path):
    build = tmp_path / "build"
    options = ["-DCMAKE_CONFIGURATION_TYPES=Debug;Release", "-DCMAKE_ASC_STANDARD=20", ARCH]
    cmake("-S", project, "-B", build, "-G", "Ninja Multi-Config", *options)
    shared = ["--target", "uses_shared", "-v"]
    log = cmake("--build", build, "--config", "Debug", *shared).stdout
    assert "-std=c++20 -g -O0" in log
    assert printed(build / "Debug" / "uses_shared", prefix) == f"{7 * 3}\n"
    log = cmake("--build", build, "--config", "Release", *shared).stdout
    assert "-std=c++20 -O3 -DNDEBUG" in log
    assert printed(build / "Release" / "uses_shared", prefix) == f"{7 * 3 + 1000}\n"


# row: cmake options, environment -> sentence
REFUSED = {
    "home-unset": (
        [ARCH],
        {"ASCEND_HOME_PATH": None},
        "ASC: expected the environment variable ASCEND_HOME_PATH to name hostcann or CANN, got it"
        " unset; source its set_env.sh first",
    ),
    "home-missing": (
        [ARCH],
        {"ASCEND_HOME_PATH": "/nowhere/cann"},
        "ASC: expected the CMake modules of hostcann or CANN in ASCEND_HOME_PATH, got none in"
        " '/nowhere/cann'; source the set_env.sh of an installation first",
    ),
    "unknown-arch": (
        ["-DCMAKE_ASC_ARCHITECTURES=dav-9"],
        {},
        "ASC: expected CMAKE_ASC_ARCHITECTURES to be one of dav-2002, dav-2201, dav-3510, got"
        " 'dav-9'",
    ),
    "known-arch": (
        ["-DCMAKE_ASC_ARCHITECTURES=dav-3510"],
        {},
        "ASC: CMAKE_ASC_ARCHITECTURES=dav-3510 is not implemented by hostcann; it implements"
        " dav-2201",
    ),
    "two-archs": (
        ["-DCMAKE_ASC_ARCHITECTURES=dav-2201;dav-3510"],
        {},
        "ASC: expected one architecture in CMAKE_ASC_ARCHITECTURES, got dav-2201, dav-3510",
    ),
    "mode-cpu": (
        [ARCH, "-DCMAKE_ASC_RUN_MODE=cpu"],
        {},
        "ASC: CMAKE_ASC_RUN_MODE=cpu is not implemented by hostcann; leave it at npu, kernels run"
        " on the host all the same",
    ),
    "mode-sim": (
        [ARCH, "-DCMAKE_ASC_RUN_MODE=sim"],
        {},
        "ASC: CMAKE_ASC_RUN_MODE=sim is not implemented by hostcann; leave it at npu, kernels run"
        " on the host all the same",
    ),
    "mode-unknown": (
        [ARCH, "-DCMAKE_ASC_RUN_MODE=fast"],
        {},
        "ASC: expected CMAKE_ASC_RUN_MODE to be npu, cpu or sim, got 'fast'",
    ),
    "simt": (
        [ARCH, "-DCMAKE_ASC_ENABLE_SIMT=ON"],
        {},
        "ASC: CMAKE_ASC_ENABLE_SIMT is not implemented by hostcann; leave it off",
    ),
    "standard": (
        [ARCH, "-DCMAKE_ASC_STANDARD=14"],
        {},
        "ASC: expected CMAKE_ASC_STANDARD to be 17, 20 or 23, got '14'",
    ),
}


@pytest.mark.parametrize(("options", "environment", "sentence"), REFUSED.values(), ids=REFUSED)
def test_refused_configuration(cmake, project, tmp_path, options, environment, sentence):
    done = cmake("-S", project, "-B", tmp_path / "build", *options, status=1, env=environment)
    # CMake wraps messages and indents them by two.
    said = " ".join(done.stderr.split())
    assert sentence in said
    assert said.count("CMake Error") == 1


def test_compiler_of_another_toolkit(cmake, project, tmp_path):
    foreign = tmp_path / "bisheng"
    foreign.write_text('#!/bin/sh\necho "clang version 15.0.5"\necho "Target: aarch64"\n')
    foreign.chmod(0o755)
    option = f"-DCMAKE_ASC_COMPILER={foreign}"
    done = cmake("-S", project, "-B", tmp_path / "build", ARCH, option, status=1)
    sentence = (
        f"ASC: expected '{foreign}' to be the bisheng of hostcann, got 'clang version 15.0.5';"
        " unset CMAKE_ASC_COMPILER"
    )
    assert sentence in " ".join(done.stderr.split())


def test_no_host_compiler(cmake, tmp_path):
    # Without C++ in the project, which CMake would miss the compiler for first.
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.22)\nfind_package(ASC REQUIRED)\n"
        "project(kernels_only LANGUAGES ASC)\n"
    )
    environment = {"CXX": "no-such-compiler"}
    done = cmake("-S", tmp_path, "-B", tmp_path / "build", ARCH, status=1, env=environment)
    sentence = (
        "ASC: expected bisheng to compile a kernel source, got: bisheng: expected CXX to name a C++"
        " compiler, got 'no-such-compiler', which is not a program; unset CXX or install the Debian"
        " package g++"
    )
    assert sentence in " ".join(done.stderr.split())


def test_other_build_types_draw_a_warning(cmake, project, tmp_path):
    build_type = "-DCMAKE_BUILD_TYPE=RelWithDebInfo"
    done = cmake("-S", project, "-B", tmp_path / "build", ARCH, build_type)
    said = " ".join(done.stderr.split())
    assert "ASC: CANN knows the build types Debug and Release, got 'RelWithDebInfo'" in said


def test_the_project_may_pass_the_architecture_alone(cmake, project, tmp_path):
    build = tmp_path / "build"
    cmake("-S", project, "-B", build)
    cmake("--build", build, "--target", "kernels")
    done = cmake("--build", build, "--target", "kernels_static", status=2)
    sentence = "expected --npu-arch to be one of dav-2002, dav-2201, dav-3510, got none"
    assert f"bisheng: {sentence}" in (done.stdout + done.stderr).splitlines()
