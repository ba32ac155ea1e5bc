# SPDX-License-Identifier: Apache-2.0
"""The installed libraries, read as files: what torch_npu needs of them and what they give away."""

import importlib.util
import re
from pathlib import Path

import pytest
from elftools.elf.dynamic import DynamicSection
from elftools.elf.elffile import ELFFile

CANN_NAME = re.compile(r"(acl|rt[A-Z]|Msprof|Hccl|ge[A-Z])\w+")
CANN_LIBRARIES = re.compile(
    r"lib(ascendcl|acl_op_compiler|acl_tdt_channel|ge_runner|graph|hccl|opapi)\.so"
)
# Loaded by import torch_npu; libop_plugin_atb.so and torchair need operators of their own.
TORCH_NPU_LIBRARIES = ("lib/libtorch_npu.so", "lib/libtensorpipe.so", "lib/libnpu_profiler.so")


class Library:
    def __init__(self, path):
        with path.open("rb") as file:
            elf = ELFFile(file)
            symbols = list(elf.get_section_by_name(".dynsym").iter_symbols())
            self.undefined = {s.name for s in symbols if s["st_shndx"] == "SHN_UNDEF" and s.name}
            self.exported = {
                s.name
                for s in symbols
                if s["st_shndx"] != "SHN_UNDEF" and s["st_info"]["bind"] != "STB_LOCAL"
            }
            dynamic = next(s for s in elf.iter_sections() if isinstance(s, DynamicSection))
            tags = list(dynamic.iter_tags())
        self.needed = [t.needed for t in tags if t.entry.d_tag == "DT_NEEDED"]
        self.soname = next((t.soname for t in tags if t.entry.d_tag == "DT_SONAME"), None)
        self.run_paths = [t for t in tags if t.entry.d_tag in ("DT_RPATH", "DT_RUNPATH")]


@pytest.fixture(scope="module")
def libraries(prefix):
    return {path.name: Library(path) for path in (prefix / "lib64").glob("*.so")}


@pytest.fixture(scope="module")
def torch_npu_libraries():
    folder = Path(importlib.util.find_spec("torch_npu").origin).parent
    paths = [folder / name for name in TORCH_NPU_LIBRARIES]
    return {path.name: Library(path) for path in [*paths, *folder.glob("_C.*.so")]}


def test_every_name_torch_npu_links_is_provided(libraries, torch_npu_libraries):
    wanted = {
        name
        for library in torch_npu_libraries.values()
        for name in library.undefined
        if CANN_NAME.fullmatch(name)
    }
    assert len(wanted) > 60, "expected the link-time names of CANN, found almost none"
    assert wanted - libraries["libascendcl.so"].exported == set()


def test_every_library_torch_npu_needs_is_there_under_its_name(libraries, torch_npu_libraries):
    needed = {name for library in torch_npu_libraries.values() for name in library.needed}
    cann = {name for name in needed if CANN_LIBRARIES.fullmatch(name)}
    assert len(cann) >= 5
    assert cann <= libraries.keys()
    assert {library.soname for library in libraries.values()} == libraries.keys()


def test_companion_libraries_lead_to_the_runtime(libraries):
    companions = {name: lib for name, lib in libraries.items() if name != "libascendcl.so"}
    assert len(companions) == 7
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


@pytest.mark.parametrize("name", ["aclmdlRICaptureBegin", "aclprofStart", "aclrtMemcpyBatchAsync"])
def test_a_name_that_is_only_looked_up_is_absent_when_not_implemented(libraries, name):
    assert name not in libraries["libascendcl.so"].exported


def test_a_moved_prefix_works_and_no_build_path_is_left(prefix, libraries):
    root = Path(__file__).parents[2]
    for name, library in libraries.items():
        assert library.run_paths == [], name
        assert str(root).encode() not in (prefix / "lib64" / name).read_bytes(), name


def test_every_exported_function_is_documented(libraries):
    text = (Path(__file__).parents[1] / "API.md").read_text(encoding="utf-8")
    documented = set(re.findall(r"`(\w+)`", text))
    exported = libraries["libascendcl.so"].exported | libraries["libnnopbase.so"].exported
    assert exported - documented == set()
