# SPDX-License-Identifier: Apache-2.0
"""Checks of the interpreter, torch, torch_npu and the compiler."""

import re
from collections.abc import Iterator
from pathlib import Path

from . import mismatch
from . import versions as known
from .case import Case
from .finding import Finding, note, ok, wrong
from .mismatch import Mismatch, release

ABI_MACRO = "_GLIBCXX_USE_CXX11_ABI"
# Ss is how the old std::string is mangled.
OLD_STRING = re.compile(r"_ZN.*Ss")


def minor(version: str) -> str:
    return ".".join(version.split(".")[:2])


def interpreter(case: Case) -> Iterator[Finding]:
    python = case.machine.python
    if python.problem:
        yield wrong(
            "interpreter",
            Mismatch(
                f"an interpreter that runs at {python.executable}",
                python.problem,
                "repair it, or name another with --python",
            ),
        )
        return
    name = f"{python.implementation} {python.version} ({python.executable})"
    wanted = release(case.torch or case.versions["stack"]["torch"])
    supported = case.versions["torch_pythons"].get(wanted, [])
    expected = f"Python {', '.join(supported)} for torch {wanted}"
    if python.free_threaded:
        yield wrong("interpreter", mismatch.free_threaded("ascendc_ops"))
    elif supported and minor(python.version) not in supported:
        yield wrong(
            "interpreter",
            Mismatch(expected, name, f"use Python {case.versions['stack']['python']}"),
        )
    else:
        yield ok("interpreter", name, expected if supported else "")
    yield headers(case)


def headers(case: Case) -> Finding:
    python = case.machine.python
    text = case.machine.read(f"{python.include}/patchlevel.h")
    found = re.search(r'define\s+PY_VERSION\s+"([\w.+]+)"', text)
    expected = f"Python.h of {minor(python.version)} in {python.include}"
    fix = f"install the interpreter's headers: apt-get install python{minor(python.version)}-dev"
    if not case.machine.exists(f"{python.include}/Python.h"):
        return note("headers", Mismatch(expected, "none: nothing can be built here", fix))
    if found and minor(found[1]) != minor(python.version):
        return wrong("headers", Mismatch(expected, f"headers of {found[1]}", fix))
    return ok("headers", f"{python.include}/Python.h", expected)


def torch(case: Case) -> Iterator[Finding]:
    for package, version in (("torch", case.torch), ("torch_npu", case.torch_npu)):
        yield installed(case, package, version)


def installed(case: Case, package: str, version: str) -> Finding:
    python = case.machine.python
    folder = case.folder(package)
    if not folder:
        if shut := next(filter(case.machine.unreadable, python.path), ""):
            found = f"{shut}, which is not readable"
            expected = f"{package} in {python.executable}"
            return wrong(package, Mismatch(expected, found, f"as root: chmod -R a+rX {shut}"))
        fix = f"install {package}=={fitting(case, package)}"
        return wrong(package, mismatch.absent(package, python.executable, fix))
    if problem := damaged(case, package, version):
        return wrong(package, problem)
    releases = python.releases.get(package, [])
    if len(releases) > 1:
        fix = f"pip uninstall {package} until none is left, and install the one that is wanted"
        found = f"{' and '.join(releases)} in {folder.rpartition('/')[0]}"
        return wrong(package, Mismatch(f"one {package}", found, fix))
    if problem := extension(case, package, f"{package}=={mismatch.public(version)}"):
        return wrong(package, problem)
    if case.machine.exists(f"{folder}/lib/libtorch_cuda.so"):
        # torch_npu refuses to be imported where torch sees a GPU as well.
        build = case.versions["torch"]["build"]
        expected, found = "a CPU build of torch", f"torch {version}, a CUDA build"
        fix = f"install torch=={mismatch.public(version)}{build} if the machine has a GPU"
        return note(package, Mismatch(expected, found, fix))
    return ok(package, f"{package} {version} in {folder}")


def damaged(case: Case, package: str, version: str) -> Mismatch | None:
    """Only a part of the package is there, as an installation leaves it that was stopped."""
    machine, folder = case.machine, case.folder(package)
    if machine.is_file(folder):
        return Mismatch(f"the package {package}", f"the file {folder}", f"rename {folder}")
    wanted = mismatch.public(version) or fitting(case, package)
    fix = f"pip install --force-reinstall --no-deps {package}=={wanted}"
    if not version:
        found = f"{folder} without one: its .dist-info is gone or damaged"
        return Mismatch(f"{package} with a record of its release", found, fix)
    if not machine.exists(f"{folder}/__init__.py"):
        return Mismatch(f"{folder}/__init__.py", "none", fix)
    # One for another interpreter is told by its name.
    own = f"{folder}/_C{machine.python.suffix}"
    if not machine.glob(folder, "_C.*.so"):
        return Mismatch(own, "none", fix)
    if machine.exists(own) and case.linker.open(own) is None:
        return Mismatch(own, "a damaged file", fix)
    return None


def extension(case: Case, package: str, wanted: str) -> Mismatch | None:
    """The package's extension module is for another interpreter or another machine."""
    python, folder = case.machine.python, case.folder(package)
    built = case.machine.glob(folder, "_C.*.so")
    if built and f"{folder}/_C{python.suffix}" not in built:
        return mismatch.other_interpreter(package, python.executable, python.suffix, Path(built[0]))
    foreign = [
        said
        for said in built
        if (found := case.linker.open(said)) and found.machine != case.machine.architecture
    ]
    if foreign:
        return Mismatch(
            f"{package} for {case.machine.architecture}",
            f"{package} for {case.linker.open(foreign[0]).machine} in {folder}",
            f"install {wanted} for this machine",
        )
    return None


def fitting(case: Case, package: str) -> str:
    """The release of a package that is missing: the one that goes with what is there."""
    if package == "torch" and case.torch_npu:
        return release(case.torch_npu)
    if package == "torch_npu" and case.torch:
        right = known.torch_npu_for(case.versions, case.torch, case.cann_release)
        return right or f"{release(case.torch)}.*"
    return case.versions["stack"][package]


def pairing(case: Case) -> Iterator[Finding]:
    if not case.torch or not case.torch_npu:
        return
    right = known.torch_npu_for(case.versions, case.torch, case.cann_release)
    if problem := mismatch.unpaired(case.torch, case.torch_npu, right):
        yield wrong("pairing", problem)
    else:
        yield ok(
            "pairing",
            f"torch {case.torch} with torch_npu {case.torch_npu}",
            f"torch_npu for torch {release(case.torch)}",
        )


def abi_of(case: Case, package: str, library: str) -> str:
    """1 when the library was compiled with the new std::string, 0 with the old one, or nothing."""
    folder = case.folder(package)
    found = case.linker.open(f"{folder}/lib/{library}") if folder else None
    if found is None:
        return ""
    names = found.defined | found.undefined
    if any("__cxx11" in name for name in names):
        return "1"
    return "0" if any(OLD_STRING.match(name) for name in names) else ""


def abi(case: Case) -> Iterator[Finding]:
    ours = abi_of(case, "torch", "libc10.so")
    if not ours:
        return
    expected = f"{ABI_MACRO}={ours}, as torch {case.torch} was compiled with"
    theirs = abi_of(case, "torch_npu", "libtorch_npu.so")
    if theirs and theirs != ours:
        yield wrong(
            "abi",
            Mismatch(
                expected,
                f"torch_npu compiled with {ABI_MACRO}={theirs}",
                "install torch and torch_npu from the same kind of wheel",
            ),
        )
    else:
        yield ok("abi", f"{ABI_MACRO}={ours}", expected)
    yield from compiler(case, ours, expected)
    yield from atb(case, ours, expected)


def compiler(case: Case, ours: str, expected: str) -> Iterator[Finding]:
    for variable in ("CXXFLAGS", "CFLAGS", "CPPFLAGS"):
        set_to = re.findall(rf"-D\s*{ABI_MACRO}=(\d)", case.machine.env.get(variable, ""))
        if set_to and set_to[-1] != ours:
            yield wrong(
                "compiler",
                Mismatch(
                    expected,
                    f"-D{ABI_MACRO}={set_to[-1]} in {variable}",
                    f"remove it from {variable}: the build takes torch's own value",
                ),
            )
    # The words behind the first are arguments, a compiler behind ccache among them.
    name, *first = case.machine.env.get("CXX", "").split() or [""]
    where = case.machine.find_program(name or "g++")
    if name and not where and case.machine.exists(name):
        where = name
    if not where:
        wanted = name or "g++"
        fix = "apt-get install g++" if case.machine.entries("PATH") else "set PATH"
        fix = "correct CXX" if name else fix
        yield note(
            "compiler",
            Mismatch(f"the C++ compiler {wanted}", "none: nothing can be built here", fix),
        )
        return
    # The build asks for torch's value; a compiler that knows one string alone keeps its own.
    asked = [f"-D{ABI_MACRO}={ours}", "-dM", "-E", "-x", "c++", "-include", "string", "/dev/null"]
    done = case.machine.run(where, *first, *asked)
    value = re.search(rf"define {ABI_MACRO} (\d)", done.stdout)
    release = re.search(r'define __VERSION__ "([^"]+)"', done.stdout)
    if done.returncode or not release:
        why = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[0]
        yield note(
            "compiler",
            Mismatch(f"the C++ compiler {where} to work", why, "reinstall it, or set CXX"),
        )
    elif value and value[1] != ours:
        yield wrong(
            "compiler",
            Mismatch(
                expected,
                f"{where} {release[1]}, which compiles with {ABI_MACRO}={value[1]}",
                "use a compiler whose std::string is torch's, or set CXX",
            ),
        )
    else:
        yield ok("compiler", f"{where} {release[1]}", expected)


def atb(case: Case, ours: str, expected: str) -> Iterator[Finding]:
    """ATB keeps one folder per ABI, and its environment script picks one."""
    for variable in ("ATB_HOME_PATH", "LD_LIBRARY_PATH"):
        for folder in case.machine.entries(variable):
            found = re.search(r"cxx_abi_([01])", folder)
            if found and found[1] != ours:
                right = folder.replace(found[0], f"cxx_abi_{ours}")
                yield wrong(
                    "atb",
                    Mismatch(
                        expected,
                        f"{folder} in {variable}",
                        f"source ATB's set_env.sh with --cxx_abi={ours}, so that it is {right}",
                    ),
                )
                return
