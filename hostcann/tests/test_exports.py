# SPDX-License-Identifier: Apache-2.0
"""The installed libraries, read as files: what torch_npu needs of them and what they give away."""

import importlib.util
import io
import re
from importlib.metadata import version
from pathlib import Path

import pytest
from elftools.elf.dynamic import DynamicSection
from elftools.elf.elffile import ELFFile
from hostcann_contract import (
    Row,
    asks_for,
    libraries_of_folder,
    linked_names,
    read_table,
    summary,
    symbols,
)
from versions import load_versions

CANN_LIBRARIES = re.compile(
    r"lib(ascendcl|acl_op_compiler|acl_tdt_channel|ge_runner|graph|hccl|opapi)\.so"
)


class Library:
    def __init__(self, file):
        self.exported = symbols(file).exported
        sections = ELFFile(file).iter_sections()
        tags = list(next(s for s in sections if isinstance(s, DynamicSection)).iter_tags())
        self.needed = [t.needed for t in tags if t.entry.d_tag == "DT_NEEDED"]
        self.soname = next((t.soname for t in tags if t.entry.d_tag == "DT_SONAME"), None)
        self.run_paths = [t for t in tags if t.entry.d_tag in ("DT_RPATH", "DT_RUNPATH")]


@pytest.fixture(scope="module")
def libraries(prefix):
    paths = (prefix / "lib64").glob("*.so")
    return {path.name: Library(io.BytesIO(path.read_bytes())) for path in paths}


@pytest.fixture(scope="module")
def torch_npu_libraries():
    folder = Path(importlib.util.find_spec("torch_npu").origin).parent
    return {name: Library(io.BytesIO(data)) for name, data in libraries_of_folder(folder).items()}


RELEASES, ROWS = read_table()


def test_the_table_is_of_the_releases_in_versions():
    assert list(load_versions()["hostcann"]["torch_npu"]) == RELEASES


@pytest.mark.parametrize("release", RELEASES)
def test_every_name_a_release_of_torch_npu_asks_for_is_provided(libraries, release):
    text, missing = summary([release], ROWS, libraries["libascendcl.so"].exported)
    print(text)
    assert sum(row.how == "link" and release in row.releases for row in ROWS) > 60
    assert missing == 0, text


def test_a_name_that_is_not_provided_is_a_gap():
    text, missing = summary(["1.0"], [Row("aclNew", "link", frozenset(["1.0"]))], {"aclOld"})
    assert missing == 1
    assert text.endswith("aclNew")


# The other releases need another torch; make hostcann-contract reads their wheels.
def test_the_table_says_what_the_installed_torch_npu_asks_for():
    release = version("torch_npu")
    folder = Path(importlib.util.find_spec("torch_npu").origin).parent
    installed = libraries_of_folder(folder)
    assert len(installed) == 4
    of_release = [row for row in ROWS if release in row.releases]
    assert linked_names(installed) == {row.name for row in of_release if row.how == "link"}
    looked_up = {row.name for row in ROWS if row.how == "look-up"}
    assert {name for name in looked_up if asks_for(installed, name)} == {
        row.name for row in of_release if row.how == "look-up"
    }


def test_every_library_torch_npu_needs_is_there_under_its_name(libraries, torch_npu_libraries):
    needed = {name for library in torch_npu_libraries.values() for name in library.needed}
    cann = {name for name in needed if CANN_LIBRARIES.fullmatch(name)}
    assert len(cann) >= 5
    assert cann <= libraries.keys()
    assert {library.soname for library in libraries.values()} == libraries.keys()


def test_companion_libraries_lead_to_the_runtime(libraries):
    companions = {name: lib for name, lib in libraries.items() if name != "libascendcl.so"}
    assert len(companions) == 17
    for name, library in companions.items():
        assert "libascendcl.so" in library.needed, name


def test_only_the_c_interface_is_exported(libraries):
    foreign = {
        name
        for library in libraries.values()
        for name in library.exported
        if not re.fullmatch(r"(acl|rt[A-Z]|Msprof|hostcann_)\w+", name)
    }
    assert foreign == set()


def test_every_operator_has_both_of_its_functions(libraries):
    names = {name for name in libraries["libopapi.so"].exported if name.startswith("aclnn")}
    first = {name for name in names if name.endswith("GetWorkspaceSize")}
    second = names - first
    assert len(second) > 200
    # It only calculates, so there is nothing to execute.
    second -= {"aclnnNpuFormatCastCalculateSizeAndFormat"}
    assert {f"{name}GetWorkspaceSize" for name in second} == first


# A name that nobody asks for is a misspelt one.
def test_every_operator_is_one_torch_npu_asks_for(libraries):
    folder = Path(importlib.util.find_spec("torch_npu").origin).parent
    text = (folder / "lib" / "libtorch_npu.so").read_bytes()
    asked = set(re.findall(rb"\0(aclnn\w+)(?=\0)", text))
    exported = {name.encode() for name in libraries["libopapi.so"].exported}
    assert {name for name in exported if name.startswith(b"aclnn")} - asked == set()


def test_operators_bring_the_objects_they_take(libraries):
    assert "libnnopbase.so" in libraries["libopapi.so"].needed
    assert "aclCreateTensor" in libraries["libnnopbase.so"].exported


@pytest.mark.parametrize("name", ["aclmdlRICaptureBegin", "aclprofStart", "aclrtIpcMemClose"])
def test_a_name_that_is_only_looked_up_is_absent_when_not_implemented(libraries, name):
    assert name not in libraries["libascendcl.so"].exported


def test_a_moved_prefix_works_and_no_build_path_is_left(prefix, libraries):
    root = Path(__file__).parents[2]
    for name, library in libraries.items():
        assert library.run_paths == [], name
        assert str(root).encode() not in (prefix / "lib64" / name).read_bytes(), name


def documented_symbols():
    """The symbols in the first column of API.md's tables of symbols, as often as they are there."""
    text = (Path(__file__).parents[1] / "API.md").read_text(encoding="utf-8")
    tables = re.findall(r"(?m)^\| symbol \| as CANN \| differs how \|\n(?:\|.*\n)+", text)
    rows = [line for table in tables for line in table.splitlines()[2:]]
    kinds = {row.split("|")[2].strip() for row in rows}
    assert kinds <= {"yes", "partly", "no", "hostcann only"}
    return [name for row in rows for name in re.findall(r"`(\w+)`", row.split("|")[1])]


def test_the_documented_symbols_are_the_exported_ones(libraries):
    opapi = libraries["libopapi.so"].exported
    # make hostcann-ops lists the operators: their functions come in pairs.
    operators = {name for name in opapi if f"{name}GetWorkspaceSize" in opapi}
    exported = {name for library in libraries.values() for name in library.exported}
    exported -= operators | {f"{name}GetWorkspaceSize" for name in operators}
    documented = documented_symbols()
    assert sorted(documented) == sorted(set(documented)), "a symbol is documented twice"
    assert set(documented) == exported
