# SPDX-License-Identifier: Apache-2.0
"""What can be wrong with a stack, in the one sentence that every part of ascendc-ops says it with.

The doctor, ci/device.py, CMake's probe and the import of a package all speak from here. A copy is
part of each package, so nothing but the standard library is used.
"""

import re
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

# No file that is read for what it says is longer.
LIMIT = 1 << 23


class Mismatch(NamedTuple):
    """What was expected, what was found instead, and what to do."""

    expected: str
    found: str
    fix: str

    def __str__(self) -> str:
        return f"expected {self.expected}, got {self.found}; {self.fix}"


def holds(ask: Callable[[], bool]) -> bool:
    """Whether a path is what is asked; not where nobody can tell: no right, a circle, too long."""
    try:
        return ask()
    except (OSError, RuntimeError):
        return False


def text_of(file: Path) -> str:
    """The text of a file, up to LIMIT; nothing when it is not there or not readable."""
    try:
        # A pipe of that name would be waited for without end.
        if not file.is_file():
            return ""
        with file.open("rb") as stream:
            return stream.read(LIMIT).decode("utf-8", errors="replace")
    except (OSError, RuntimeError):
        return ""


def public(version: str) -> str:
    """2.13.0 for 2.13.0+cpu: the local part names torch's build, not its ABI."""
    return version.partition("+")[0]


def release(version: str) -> str:
    """2.9.0 for 2.9.0.post6 and for 2.9.0+cpu: what torch and torch_npu must share."""
    found = re.match(r"\d+\.\d+\.\d+", version)
    return found.group() if found else version


def absent(package: str, python: str, fix: str = "") -> Mismatch:
    fix = fix or f"install {package} there, or use the interpreter {package} is installed for"
    return Mismatch(f"{package} in {python}", "an interpreter without it", fix)


def unpaired(torch: str, torch_npu: str, right: str = "") -> Mismatch | None:
    """torch and torch_npu of different releases; `right` is the torch_npu for this torch."""
    if release(torch) == release(torch_npu):
        return None
    return Mismatch(
        f"torch_npu for torch {release(torch)}",
        f"torch {torch} with torch_npu {torch_npu}",
        f"install torch_npu=={right or release(torch) + '.*'} or torch=={release(torch_npu)}",
    )


def other_interpreter(package: str, python: str, suffix: str, built: Path) -> Mismatch:
    """The package's extension module `built` is for another interpreter."""
    return Mismatch(
        f"{package} for {python} ({built.name.partition('.')[0]}{suffix})",
        f"{built.name} in {built.parent}",
        f"use the interpreter {package} is installed for",
    )


def free_threaded(package: str) -> Mismatch:
    return Mismatch(
        "a Python with the GIL",
        "a free-threaded build",
        f"use the ordinary build: neither torch_npu nor {package} has one that is free-threaded",
    )


def subinterpreter(package: str) -> Mismatch:
    return Mismatch(
        "the main interpreter",
        "a subinterpreter",
        f"import {package} in the main one: torch is there once per process",
    )


def packed(package: str, folder: Path) -> Mismatch:
    return Mismatch(
        f"the files of {package} in a folder",
        f"{folder}, which is packed",
        "install the wheel with pip: a library cannot be loaded out of an archive",
    )


def not_what_it_was_built_for(
    package: str, dependency: str, built: str, found: str
) -> Mismatch | None:
    """The installed version, `found`, of something is not the one `package` was built against."""
    if public(found) == public(built):
        return None
    return Mismatch(
        f"{dependency} {built}, which {package} was built for",
        found,
        f"install {dependency}=={public(built)} or a build of {package} for {dependency} {found}",
    )


def missing_library(library: str) -> Mismatch:
    return Mismatch(
        f"the library {library} of CANN",
        "none",
        "source set_env.sh of CANN or hostcann before starting Python",
    )


def missing_symbol(symbol: str) -> Mismatch:
    return Mismatch(
        f"the symbol {symbol}",
        "none",
        "install a CANN, torch and torch_npu that belong together; ascendc-env doctor names them",
    )


def not_loaded(text: str) -> Mismatch | None:
    """What the dynamic linker complained about in an error's text."""
    if found := re.search(r"(\S+): cannot allocate memory in static TLS block", text):
        return Mismatch(
            f"static TLS for {found[1]}",
            "none left: it was loaded too late",
            f"import it earlier, or export LD_PRELOAD={found[1]}",
        )
    if found := re.search(r"(lib[\w.+-]+\.so[\w.]*): cannot open shared object file", text):
        return missing_library(found[1])
    if found := re.search(r"undefined symbol: ([^\s,]+)", text):
        return missing_symbol(found[1])
    return None


def no_cann(home: str, folder: Path, wanted: str = "CANN or hostcann") -> Mismatch | None:
    """ASCEND_HOME_PATH, `home`, names no CANN; `folder` is where it lies on the disk."""
    expected = f"ASCEND_HOME_PATH to name {wanted}"
    if not home:
        return Mismatch(expected, "it unset", "source its set_env.sh first")
    if not holds(folder.is_dir):
        shown = home if home == home.strip() else f"'{home}'"
        return Mismatch(expected, f"{shown}, which is no folder", "source its set_env.sh first")
    if wanted == "CANN" and holds((folder / "hostcann-version").is_file):
        return Mismatch(expected, f"hostcann in {home}", "source CANN's set_env.sh instead")
    return None


def cann_release(folder: Path) -> str:
    """9.1.0 or 8.3.RC1, of the CANN in `folder`; empty when nothing there says it."""
    infos = (*folder.glob("*-linux/*_toolkit_install.info"), *folder.glob("*_nnae_install.info"))
    for file in (*sorted(infos), folder / "version.cfg"):
        # Beside the release there may be an innerversion.
        for key in (r"^\s*version", "version"):
            if found := re.search(rf"{key}\s*=\W*([\w.+-]+)", text_of(file), re.I | re.M):
                return found[1]
    return ""


def cann_name(folder: Path) -> str:
    """`CANN 9.1.0`, or `hostcann 0.1.0`, which stands in for one."""
    version = folder / "hostcann-version"
    if holds(version.is_file):
        return f"hostcann {text_of(version).strip()}"
    return f"CANN {cann_release(folder) or 'of unknown release'}"


def other_kind_of_cann(package: str, built: str, found: str) -> Mismatch | None:
    """Kernels compiled for an NPU do not run on hostcann, nor the other way round."""
    if not built.strip() or built.split()[0] == found.split()[0]:
        return None
    return Mismatch(
        f"{built}, which the kernels of {package} were compiled with",
        found,
        f"source the set_env.sh of {built.split()[0]} or install a build of {package} "
        f"for {found.split()[0]}",
    )
