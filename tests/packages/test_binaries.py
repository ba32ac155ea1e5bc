# SPDX-License-Identifier: Apache-2.0
"""What is inside the installed binaries: needed libraries, exports, RPATH, no foreign path."""

import importlib.metadata
import os
import re
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from elftools.elf.dynamic import DynamicSection
from elftools.elf.elffile import ELFFile

SITE = Path(sysconfig.get_path("platlib"))
REPOSITORY = Path(__file__).resolve().parents[2]
SUFFIX = sysconfig.get_config_var("EXT_SUFFIX")
TORCH = {"libc10.so", "libtorch_cpu.so", "libtorch_npu.so"}
PLATFORM = re.compile(r"(libc|libm|libstdc\+\+|libgcc_s|ld-linux[\w-]*|libpthread|libdl)\.so\.\d+")

# file -> (libraries it must need, symbols it may export)
BINARIES = {
    f"ascendc_ops/_C{SUFFIX}": (
        {*TORCH, "libtorch_python.so", "libascendc_kernels.so"},
        {"PyInit__C"},
    ),
    "ascendc_ops/libascendc_kernels.so": (None, {"add_custom_impl"}),
    "ascendc_ops_lib/libascendc_ops.so": ({*TORCH, "libascendc_kernels.so"}, set()),
    "ascendc_ops_lib/libascendc_kernels.so": (None, {"add_custom_impl"}),
}
WRAPPERS = [name for name, (needed, _) in BINARIES.items() if needed]

CONTENTS = {
    "ascendc-ops-pybind": {
        "ascendc_ops/__init__.py",
        f"ascendc_ops/_C{SUFFIX}",
        "ascendc_ops/_C.pyi",
        "ascendc_ops/_built_for.py",
        "ascendc_ops/_mismatch.py",
        "ascendc_ops/_stack.py",
        "ascendc_ops/libascendc_kernels.so",
        "ascendc_ops/py.typed",
    },
    "ascendc-ops-lib": {
        "ascendc_ops_lib/__init__.py",
        "ascendc_ops_lib/_built_for.py",
        "ascendc_ops_lib/_mismatch.py",
        "ascendc_ops_lib/_stack.py",
        "ascendc_ops_lib/libascendc_kernels.so",
        "ascendc_ops_lib/libascendc_ops.so",
        "ascendc_ops_lib/py.typed",
        "ascendc_ops_lib/share/cmake/ascendc_ops/ascendc_ops-config.cmake",
        "ascendc_ops_lib/share/cmake/ascendc_ops/torch_stack_targets.cmake",
    },
}


def dynamic(file: Path) -> list[tuple[str, str]]:
    with file.open("rb") as stream:
        section = ELFFile(stream).get_section_by_name(".dynamic")
        assert isinstance(section, DynamicSection)
        return [
            (tag.entry.d_tag, getattr(tag, tag.entry.d_tag.removeprefix("DT_").lower(), ""))
            for tag in section.iter_tags()
        ]


def symbols(file: Path, *, defined: bool) -> set[str]:
    """Dynamic symbols of `file`, without version suffix; weak undefined ones are left out."""
    kind = "--defined-only" if defined else "--undefined-only"
    lines = subprocess.run(
        ["nm", "-D", kind, "--format=posix", file], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    rows = (line.split() for line in lines)
    return {row[0].partition("@")[0] for row in rows if defined or row[1] == "U"}


@pytest.mark.parametrize("name", CONTENTS)
def test_package_contains_exactly_its_files(name: str) -> None:
    files = importlib.metadata.files(name)
    assert files is not None
    found = {
        str(file)
        for file in files
        if ".dist-info/" not in str(file) and "__pycache__" not in str(file)
    }
    assert found == CONTENTS[name]


@pytest.mark.parametrize("name", CONTENTS)
def test_package_requires_the_stack_it_was_built_for(name: str) -> None:
    expected = {
        f"{package}=={importlib.metadata.version(package).partition('+')[0]}"
        for package in ("torch", "torch_npu")
    }
    assert set(importlib.metadata.requires(name) or ()) == expected


@pytest.mark.parametrize("name", BINARIES)
def test_exports_are_the_interface_and_nothing_else(name: str) -> None:
    assert symbols(SITE / name, defined=True) == BINARIES[name][1]


@pytest.mark.parametrize("name", WRAPPERS)
def test_wrapper_needs_its_kernels_torch_and_nothing_unexpected(name: str) -> None:
    needed = {value for tag, value in dynamic(SITE / name) if tag == "DT_NEEDED"}
    assert {library for library in needed if not PLATFORM.fullmatch(library)} == BINARIES[name][0]


@pytest.mark.parametrize("name", WRAPPERS)
def test_wrapper_finds_its_kernels_beside_it(name: str) -> None:
    paths = [entry for entry in dynamic(SITE / name) if entry[0] in ("DT_RPATH", "DT_RUNPATH")]
    # Before LD_LIBRARY_PATH, unlike a DT_RUNPATH.
    assert paths == [("DT_RPATH", "$ORIGIN")]


@pytest.mark.parametrize("name", BINARIES)
def test_binary_holds_no_path_of_the_build(name: str) -> None:
    content = (SITE / name).read_bytes()
    foreign = [
        str(REPOSITORY),
        sys.prefix,
        os.environ["ASCEND_HOME_PATH"],
        str(Path.home()) + "/",
        "/tmp/",
    ]
    assert [path for path in foreign if path.encode() in content] == []


@pytest.mark.parametrize("name", WRAPPERS)
def test_every_symbol_has_a_provider(name: str) -> None:
    """A symbol nobody exports would show at load only: the extension module links with gaps."""
    torch, torch_npu = SITE / "torch/lib", SITE / "torch_npu/lib"
    provided: set[str] = set()
    for tag, library in dynamic(SITE / name):
        if tag != "DT_NEEDED" or PLATFORM.fullmatch(library):
            continue
        places = [folder / library for folder in ((SITE / name).parent, torch, torch_npu)]
        provided |= symbols(next(place for place in places if place.exists()), defined=True)
    missing = {
        symbol
        for symbol in symbols(SITE / name, defined=False) - provided
        if not symbol.startswith(("Py", "_Py"))
    }
    # What is left must come from the C and C++ runtimes, which carry symbol versions.
    unversioned = subprocess.run(
        ["nm", "-D", "--undefined-only", "--format=posix", SITE / name],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    bare = {line.split()[0] for line in unversioned.splitlines() if "@" not in line.split()[0]}
    assert missing & bare == set()
