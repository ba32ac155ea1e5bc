# SPDX-License-Identifier: Apache-2.0
"""The command line of bisheng, and what its objects, dependency files and errors say."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ARCH = "--npu-arch=dav-2201"
KERNEL = """\
#include "shared.h"
#include "kernel_operator.h"

__global__ __vector__ void kernel(__gm__ int64_t* out) {
  AscendC::GlobalTensor<int64_t> tensor;
  tensor.SetGlobalBuffer(out);
  tensor.SetValue(0, kValue + __NPU_ARCH__ + __CCE_AICORE__);
}
extern "C" void launch(void* stream, int64_t* out) { kernel<<<1, nullptr, stream>>>(out); }
extern "C" int answer() { return kValue; }
"""


@pytest.fixture
def sources(tmp_path):
    """A kernel, the header it includes, and a main program that only asks the host part."""
    (tmp_path / "shared.h").write_text("#pragma once\nconstexpr int kValue = 42;\n")
    (tmp_path / "kernel.asc").write_text(KERNEL)
    (tmp_path / "main.cpp").write_text(
        'extern "C" int answer();\nint main() { return answer() == VALUE ? 0 : 1; }\n'
    )
    return tmp_path


# row: command line -> sentence
REFUSED = {
    "no-arch": (
        ["-c", "kernel.asc"],
        "expected --npu-arch to be one of dav-2002, dav-2201, dav-3510, got none",
    ),
    "unknown-arch": (
        ["--npu-arch=dav-9999", "-c", "kernel.asc"],
        "expected --npu-arch to be one of dav-2002, dav-2201, dav-3510, got 'dav-9999'",
    ),
    "two-archs": (
        [ARCH, "--npu-arch=dav-3510", "-c", "kernel.asc"],
        "expected one --npu-arch, got dav-2201 and dav-3510",
    ),
    "arch-2002": (
        ["--npu-arch=dav-2002", "-c", "kernel.asc"],
        "--npu-arch=dav-2002 is not implemented by hostcann; it implements dav-2201",
    ),
    "arch-3510": (
        ["--npu-arch=dav-3510", "-c", "kernel.asc"],
        "--npu-arch=dav-3510 is not implemented by hostcann; it implements dav-2201",
    ),
    "arch-of-a-link": (
        ["--npu-arch=dav-3510", "-shared", "-o", "lib.so", "kernel.o"],
        "--npu-arch=dav-3510 is not implemented by hostcann; it implements dav-2201",
    ),
    "simt": (
        [ARCH, "--enable-simt", "-c", "kernel.asc"],
        "--enable-simt is not implemented by hostcann",
    ),
    "sim": (
        [ARCH, "--run-mode=sim", "-c", "kernel.asc"],
        "--run-mode is not implemented by hostcann",
    ),
    "soc": (
        ["--npu-soc=Ascend910B1", "-c", "kernel.asc"],
        "--npu-soc is not implemented by hostcann",
    ),
    "no-input": ([ARCH], "expected a source or an object file, got none"),
    "missing-input": (
        [ARCH, "-c", "none.asc"],
        "expected an input file, got 'none.asc', which does not exist",
    ),
    "missing-value": (
        [ARCH, "kernel.asc", "-o"],
        "expected a value after -o, got the end of the line",
    ),
    "two-sources-one-object": (
        [ARCH, "-c", "-o", "x.o", "kernel.asc", "main.cpp"],
        "expected one source with -c and -o, got 2",
    ),
}


@pytest.mark.parametrize(("arguments", "sentence"), REFUSED.values(), ids=REFUSED)
def test_refused_command_line(bisheng, sources, arguments, sentence):
    done = bisheng(*arguments, status=1, cwd=sources)
    assert (done.stdout, done.stderr) == ("", f"bisheng: {sentence}\n")
    assert not list(sources.glob("*.o"))


# row: environment, directory of programs -> sentence
NO_COMPILER = {
    "none": (
        {"CXX": ""},
        "expected a C++ compiler on PATH, got neither g++ nor c++; install the Debian package g++",
    ),
    "not-a-program": (
        {"CXX": "no-such-compiler -m64"},
        "expected CXX to name a C++ compiler, got 'no-such-compiler -m64', which is not a program;"
        " unset CXX or install the Debian package g++",
    ),
}


@pytest.mark.parametrize(("environment", "sentence"), NO_COMPILER.values(), ids=NO_COMPILER)
def test_no_host_compiler(driver, sources, environment, sentence):
    done = subprocess.run(
        [sys.executable, driver, ARCH, "-c", "kernel.asc"],
        env={"PATH": str(sources)} | environment,
        cwd=sources,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (1, f"bisheng: {sentence}\n")


def test_itself_as_host_compiler(bisheng, driver, sources):
    done = bisheng(ARCH, "-c", "kernel.asc", status=1, cwd=sources, env={"CXX": str(driver)})
    sentence = f"expected CXX to name the host's compiler, got '{driver}'; unset CXX"
    assert done.stderr == f"bisheng: {sentence}\n"


def test_compiler_of_the_environment_is_used(bisheng, sources):
    wrapper = sources / "wrapper"
    wrapper.write_text('#!/bin/sh\necho "$1" >> used\nshift\nexec g++ "$@"\n')
    wrapper.chmod(0o755)
    bisheng(ARCH, "-c", "kernel.asc", cwd=sources, env={"CXX": f"{wrapper} --marked"})
    assert (sources / "used").read_text() == "--marked\n--marked\n"


def test_version_says_what_it_is(bisheng, prefix):
    number = (prefix / "hostcann-version").read_text().strip()
    expected = f"hostcann {number} bisheng: compiles Ascend C for the host, not for an NPU\n"
    assert bisheng("--version").stdout == expected


def test_works_from_a_moved_prefix(prefix, sources):
    moved = sources / "elsewhere"
    shutil.copytree(prefix, moved, symlinks=True)
    (driver,) = moved.glob("*-linux/ccec_compiler/bin/bisheng")
    arguments = [ARCH, "-MD", "-MF", "deps", "-c", "-o", "kernel.o", "kernel.asc"]
    subprocess.run([driver, *arguments], check=True, cwd=sources)
    assert str(moved / "include" / "kernel_operator.h") in (sources / "deps").read_text()


def run_main(program, prefix, *libraries):
    path = os.pathsep.join([str(prefix / "lib64"), *map(str, libraries)])
    environment = os.environ | {"LD_LIBRARY_PATH": path}
    return subprocess.run([program], env=environment, check=False).returncode


def test_compile_line_and_link_line_of_cmake(bisheng, prefix, sources):
    compile_flags = ["-DNAME=1", "-I", sources, "-std=c++17", "-O2", ARCH, ARCH, "-fPIC"]
    dependencies = ["-MD", "-MT", "kernel.asc.o", "-MF", "kernel.asc.o.d"]
    output = ["-o", "kernel.asc.o", "-c", "--asc-aicore-lang", "kernel.asc"]
    bisheng(*compile_flags, *dependencies, *output, cwd=sources)
    bisheng(
        *(ARCH, "-shared", "-Wl,-soname,libkernel.so", "-o", "libkernel.so", "kernel.asc.o"),
        cwd=sources,
    )
    bisheng(*("-DVALUE=42", "main.cpp", "-o", "main", "-L.", "-lkernel"), cwd=sources)
    assert run_main(sources / "main", prefix, sources) == 0
    dynamic = subprocess.run(
        ["readelf", "-d", sources / "libkernel.so"], check=True, capture_output=True, text=True
    ).stdout
    assert "Library soname: [libkernel.so]" in dynamic
    assert "Shared library: [libascendcl.so]" in dynamic
    assert "RPATH" not in dynamic
    assert "RUNPATH" not in dynamic


# row: how main.cpp and kernel.asc become a program
PROGRAMS = {
    "in-one-step": [[ARCH, "-DVALUE=42", "main.cpp", "kernel.asc", "-o", "main"]],
    "separately": [
        [ARCH, "-dc", "kernel.asc", "-o", "k.o"],
        ["-DVALUE=42", "-c", "main.cpp", "-o", "m.o"],
        ["m.o", "k.o", "-o", "main"],
    ],
    "by-language-option": [
        [ARCH, "-c", "-x", "asc", "kernel.txt"],
        ["-DVALUE=42", "main.cpp", "kernel.o", "-o", "main"],
    ],
    "cpp-compiled-as-asc": [
        [ARCH, "-c", "--asc-aicore-lang", "kernel.cpp"],
        ["-DVALUE=42", "main.cpp", "kernel.o", "-o", "main"],
    ],
    "static-library": [
        [ARCH, "-lib", "kernel.asc", "-o", "libkernel.a"],
        ["-DVALUE=42", "main.cpp", "libkernel.a", "-o", "main"],
    ],
    "shared-library": [
        [ARCH, "-shared", "-fPIC", "kernel.asc", "-o", "libkernel.so"],
        ["-DVALUE=42", "main.cpp", "-o", "main", "-L.", "-lkernel"],
    ],
    "device-options-that-do-nothing-here": [
        [
            *(ARCH, "-mllvm", "-cce-aicore-stack-size=0x8000", "--cce-auto-sync=off"),
            *("-Xaicore-start", "-O3", "-DVALUE=7", "-Xaicore-end", "--cce-res-usage"),
            *("--gcc-toolchain=/usr", "--sanitizer", "-c", "kernel.asc"),
        ],
        ["-DVALUE=42", "main.cpp", "kernel.o", "-o", "main"],
    ],
    "through-assembly": [
        [ARCH, "-S", "kernel.asc"],
        ["-DVALUE=42", "main.cpp", "kernel.s", "-o", "main"],
    ],
}


@pytest.mark.parametrize("steps", PROGRAMS.values(), ids=PROGRAMS)
def test_program(bisheng, prefix, sources, steps):
    for other in ("kernel.txt", "kernel.cpp"):
        shutil.copy(sources / "kernel.asc", sources / other)
    for step in steps:
        bisheng(*step, cwd=sources)
    assert run_main(sources / "main", prefix, sources) == 0


def test_dependency_file_lists_the_users_files(bisheng, prefix, sources):
    (sources / "build").mkdir()
    arguments = [ARCH, "-MD", "-MF", "build/deps", "-MT", "target", "-o", "build/kernel.o", "-c"]
    bisheng(*arguments, sources / "kernel.asc", cwd=sources)
    words = (sources / "build" / "deps").read_text().replace("\\\n", " ").split()
    assert words[:2] == ["target:", str(sources / "kernel.asc")]
    assert str(sources / "shared.h") in words
    assert str(prefix / "include" / "kernel_operator.h") in words
    assert [word for word in words[1:] if not Path(word).is_file()] == []


# row: command line -> (dependency file, its target)
DEFAULT_DEPENDENCIES = {
    "object": (["-c", "-o", "out.o"], "out.d", "out.o:"),
    "no-output": (["-c"], "kernel.d", "kernel.o:"),
    "library": (["-shared", "-fPIC", "-o", "libout.so"], "libout.d", "libout.so:"),
}


@pytest.mark.parametrize(
    ("arguments", "file", "target"), DEFAULT_DEPENDENCIES.values(), ids=DEFAULT_DEPENDENCIES
)
def test_default_name_of_the_dependency_file(bisheng, sources, arguments, file, target):
    bisheng(ARCH, "-MD", *arguments, "kernel.asc", cwd=sources)
    assert (sources / file).read_text().split()[:2] == [target, "kernel.asc"]


def test_objects_are_equal_and_without_foreign_paths(bisheng, sources):
    objects = []
    for folder in ("one", "two"):
        (sources / folder).mkdir()
        output = sources / folder / "kernel.o"
        arguments = [ARCH, "-O2", "-fPIC", "-c", "-o", output, sources / "kernel.asc"]
        bisheng(*arguments, cwd=sources / folder)
        objects.append(output.read_bytes())
    assert objects[0] == objects[1]
    assert str(sources).encode() not in objects[0]
    assert b"bisheng" not in objects[0]


def test_library_exports_no_device_code(bisheng, sources):
    # Kernels of two libraries may have classes of one name: neither may see the other's functions.
    (sources / "kernel.asc").write_text(
        '#include "kernel_operator.h"\n'
        "struct Body { void run(GM_ADDR); };\n"
        "__aicore__ inline void Body::run(GM_ADDR out) { AscendC::GlobalTensor<int> tensor;"
        " tensor.SetGlobalBuffer((__gm__ int*)out, 1); tensor.SetValue(0, 1); }\n"
        'extern "C" __global__ __vector__ void kernel(GM_ADDR out) { Body body; body.run(out); }\n'
        'extern "C" void launch(void* s, uint8_t* out) { kernel<<<1, nullptr, s>>>(out); }\n'
    )
    bisheng(ARCH, "-O0", "-shared", "-fPIC", "kernel.asc", "-o", "lib.so", cwd=sources)
    symbols = subprocess.run(
        ["nm", "-DC", "--defined-only", sources / "lib.so"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    named = [line.split(" ", 2)[2] for line in symbols.splitlines()]
    assert [name for name in named if "AscendC" in name or "Body" in name] == []
    assert {"kernel", "launch"} <= set(named)


def test_no_temporary_is_left(bisheng, sources):
    scratch = sources / "scratch"
    scratch.mkdir()
    (sources / "broken.asc").write_text("void f() { g(); }\n")
    here = {"TMPDIR": str(scratch)}
    bisheng(ARCH, "-shared", "-fPIC", "kernel.asc", "-o", "lib.so", cwd=sources, env=here)
    bisheng(ARCH, "-c", "broken.asc", status=1, cwd=sources, env=here)
    bisheng(ARCH, "kernel.asc", "broken.asc", status=1, cwd=sources, env=here)
    assert list(scratch.iterdir()) == []
    assert not (sources / "broken.o").exists()
    assert not (sources / "a.out").exists()


def test_debug_information_names_the_users_lines(bisheng, sources):
    bisheng(ARCH, "-g", "-O0", "-c", "kernel.asc", cwd=sources)
    lines = subprocess.run(
        ["readelf", "--debug-dump=decodedline", sources / "kernel.o"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    rows = [line.split() for line in lines.splitlines() if line.startswith("kernel.asc ")]
    named = {int(row[1]) for row in rows if row[1].isdigit()}
    assert {4, 5, 6, 7, 8, 9, 10} <= named <= set(range(1, KERNEL.count("\n") + 1))


# Counts what it compiles itself; what it compiled before it gives again, by the arguments and the
# text, as a compiler cache does.
CACHE = """\
#!{python}
import hashlib, pathlib, subprocess, sys
arguments = sys.argv[1:]
store = pathlib.Path(__file__).parent / "store"
store.mkdir(exist_ok=True)
inputs = [a for a in arguments if a.endswith(".ii")]
if "-c" not in arguments or len(inputs) != 1:
    sys.exit(subprocess.call(arguments))
text = pathlib.Path(inputs[0]).read_bytes()
output = arguments[arguments.index("-o") + 1]
rest = " ".join(a for a in arguments if a not in (inputs[0], output))
kept = store / hashlib.sha256(rest.encode() + text).hexdigest()
if not kept.exists():
    status = subprocess.call(arguments)
    if status:
        sys.exit(status)
    kept.write_bytes(pathlib.Path(output).read_bytes())
pathlib.Path(output).write_bytes(kept.read_bytes())
"""


def test_compiler_cache(bisheng, sources):
    """The same source is compiled once, a changed one again, and the object is the same."""
    cache = sources / "cache"
    cache.write_text(CACHE.format(python=sys.executable))
    cache.chmod(0o755)
    cached = {"CXX": f"{cache} g++"}
    store = sources / "store"
    for name in ("first.o", "second.o"):
        bisheng(ARCH, "-g", "-c", "-o", name, "kernel.asc", cwd=sources, env=cached)
    assert len(list(store.iterdir())) == 1
    bisheng(ARCH, "-g", "-c", "-o", "plain.o", "kernel.asc", cwd=sources)
    objects = [(sources / name).read_bytes() for name in ("first.o", "second.o", "plain.o")]
    assert objects[0] == objects[1] == objects[2]
    (sources / "shared.h").write_text("#pragma once\nconstexpr int kValue = 43;\n")
    bisheng(ARCH, "-g", "-c", "-o", "third.o", "kernel.asc", cwd=sources, env=cached)
    assert len(list(store.iterdir())) == 2
    assert (sources / "third.o").read_bytes() != objects[0]


@pytest.mark.skipif(shutil.which("ccache") is None, reason="ccache is not installed")
def test_ccache(bisheng, sources):
    environment = {"CXX": "ccache g++", "CCACHE_DIR": str(sources / "ccache")}
    for name in ("first.o", "second.o"):
        bisheng(ARCH, "-c", "-o", name, "kernel.asc", cwd=sources, env=environment)
    statistics = subprocess.run(
        ["ccache", "--print-stats"],
        check=True,
        capture_output=True,
        text=True,
        env=os.environ | environment,
    ).stdout
    counted = dict(line.split("\t") for line in statistics.splitlines())
    hits = int(counted["preprocessed_cache_hit"]) + int(counted["direct_cache_hit"])
    assert (hits, counted["cache_miss"]) == (1, "1")


DEBUGGED = """\
#include "kernel_operator.h"
extern "C" int aclrtSetDevice(int);
extern "C" int aclrtSynchronizeDevice();

__global__ __vector__ void kernel(int32_t given) {
  int32_t total = given;
  total += 40;
  total *= 2;
  AscendC::GetBlockIdx();
}

int main() {
  aclrtSetDevice(0);
  kernel<<<1, nullptr, nullptr>>>(2);
  return aclrtSynchronizeDevice();
}
"""


@pytest.mark.skipif(shutil.which("gdb") is None, reason="gdb is not installed")
def test_debugger_steps_through_the_source(bisheng, tmp_path):
    (tmp_path / "steps.asc").write_text(DEBUGGED)
    bisheng(ARCH, "-g", "-O0", "-o", "steps", "steps.asc", cwd=tmp_path)
    commands = ("set pagination off", "break steps.asc:7", "run", "next", "next", "print total")
    command = ["gdb", "--nx", "--batch", *(w for c in commands for w in ("-ex", c)), "./steps"]
    said = subprocess.run(
        command,
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
        env=os.environ | {"DEBUGINFOD_URLS": ""},
    ).stdout
    assert "kernel (given=2) at steps.asc:7" in said
    assert [line for line in said.splitlines() if line.startswith(("8\t", "9\t", "$1"))] == [
        "8\t  total *= 2;",
        "9\t  AscendC::GetBlockIdx();",
        "$1 = 84",
    ]


# row: what follows three lines of the source -> what the compiler says on line 4
DIAGNOSED = {
    "plain": ("int x = y;", "error: 'y' was not declared in this scope"),
    "in-launch-values": (
        "void h() { k<<<1, nullptr, wrong>>>(1); }",
        "error: 'wrong' was not declared in this scope",
    ),
    "unknown-kernel": (
        "void h(void* s) { none<<<1, nullptr, s>>>(1); }",
        "error: 'none' was not declared in this scope",
    ),
    "preprocessor": ("#error wrong chip", "error: #error wrong chip"),
}


@pytest.mark.parametrize(("text", "error"), DIAGNOSED.values(), ids=DIAGNOSED)
def test_diagnostic_points_to_the_users_line(bisheng, tmp_path, text, error):
    source = tmp_path / "kernel.asc"
    source.write_text(f'#include "kernel_operator.h"\n\n__global__ void k(int);\n{text}\n')
    errors = bisheng(ARCH, "-c", "-o", tmp_path / "k.o", source, status=1).stderr
    first = next(line for line in errors.splitlines() if " error: " in line)
    place, _, words = first.partition(" error: ")
    assert place.startswith(f"{source}:4:")
    assert f"error: {words}" == error


def test_macros_of_the_device(bisheng, tmp_path):
    source = tmp_path / "macros.asc"
    source.write_text(
        "#ifdef ASCENDC_CPU_DEBUG\n#error cpu\n#endif\n"
        'static_assert(__NPU_ARCH__ == 2201 && __CCE_AICORE__ == 220, "chip");\n'
        'static_assert(__cplusplus == 201703L, "standard");\n'
    )
    bisheng(ARCH, "-std=c++17", "-fsyntax-only", source)
