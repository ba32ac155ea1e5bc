# SPDX-License-Identifier: Apache-2.0
"""What is inside the packages of the channel, to the file."""

import io
import json
import re
from pathlib import Path

import pytest
from conda import ROOT, archive
from elftools.elf.dynamic import DynamicSection
from elftools.elf.elffile import ELFFile
from versions import load_versions

VERSIONS = load_versions()
STACK = VERSIONS["stack"]
PYTHON = STACK["python"]
TAG = PYTHON.replace(".", "")
VERSION = VERSIONS["project"]["version"]
SITE = f"lib/python{PYTHON}/site-packages"
OURS = ("ascendc-device", "hostcann", "ascendc-ops-pybind", "ascendc-ops-lib")
REPACKED = ("torch", "torch-npu")
MEGABYTE = 1 << 20


def module_files(name: str, variant: str, *more: str) -> set[str]:
    common = ("__init__", "_built_for", "_mismatch", "_stack")
    files = {*(f"{one}.py" for one in common), "libascendc_kernels.so", "py.typed", *more}
    files |= {f"__pycache__/{one}.cpython-{TAG}.pyc" for one in common}
    info = f"ascendc_ops_{variant}-{VERSION}.dist-info"
    return {
        *(f"{SITE}/{name}/{file}" for file in files),
        *(f"{SITE}/{info}/{file}" for file in ("INSTALLER", "METADATA", "RECORD", "WHEEL")),
        f"share/ascendc-ops/ascendc-ops-{variant}.built_with.json",
        f"etc/conda/test-files/ascendc-ops-{variant}/0/op_call.py",
    }


EXTENSION = f"_C.cpython-{TAG}-x86_64-linux-gnu.so"
CONTENTS = {
    "ascendc-device": set(),
    "ascendc-ops-pybind": module_files("ascendc_ops", "pybind", EXTENSION, "_C.pyi"),
    "ascendc-ops-lib": module_files(
        "ascendc_ops_lib",
        "lib",
        "libascendc_ops.so",
        "share/cmake/ascendc_ops/ascendc_ops-config.cmake",
        "share/cmake/ascendc_ops/torch_stack_targets.cmake",
    ),
}


@pytest.mark.parametrize("name", CONTENTS)
def test_a_package_holds_exactly_its_files(name: str, packages: dict[str, Path]) -> None:
    with archive.read_files(packages[name]) as files:
        assert {file.path for file in files} == CONTENTS[name]


def test_hostcann_holds_what_make_hostcann_installs(packages: dict[str, Path]) -> None:
    made = ROOT / "build" / "hostcann"
    expected = {str(path.relative_to(made)) for path in made.rglob("*") if path.is_file()}
    expected |= {f"{folder}/.keep" for folder in ("compiler", "opp", "runtime")} - {
        "compiler/.keep"
    }
    with archive.read_files(packages["hostcann"]) as files:
        found = {file.path for file in files}
    inside = {path.removeprefix("opt/hostcann/") for path in found if "opt/hostcann/" in path}
    assert inside == {path for path in expected if "__pycache__" not in path}
    assert {path for path in found if not path.startswith("opt/hostcann/")} == {
        "bin/bisheng",
        "etc/conda/activate.d/hostcann.sh",
        "etc/conda/deactivate.d/hostcann.sh",
        "share/ascendc-ops/hostcann.built_with.json",
    }


@pytest.mark.parametrize("name", OURS)
def test_our_packages_are_small(name: str, packages: dict[str, Path]) -> None:
    assert packages[name].stat().st_size <= 2 * MEGABYTE


@pytest.mark.parametrize("name", OURS)
def test_no_path_of_the_build_is_left(name: str, packages: dict[str, Path]) -> None:
    foreign = [str(ROOT), str(Path.home()) + "/", "/tmp/", "placehold", "rattler-build"]
    described = b"".join(archive.read_info(packages[name]).values())
    found = [f"info: {path}" for path in foreign if path.encode() in described]
    with archive.read_files(packages[name]) as files:
        for file in files:
            content = b"" if file.link else file.read()
            found += [f"{file.path}: {path}" for path in foreign if path.encode() in content]
    assert found == []


@pytest.mark.parametrize("name", OURS)
def test_a_library_looks_for_others_beside_itself_only(
    name: str, packages: dict[str, Path]
) -> None:
    paths = {}
    with archive.read_files(packages[name]) as files:
        for file in files:
            content = b"" if file.link else file.read()
            if content.startswith(b"\x7fELF"):
                paths[file.path] = search_paths(content)
    wrappers = {path for path in paths if re.search(r"/(_C\.[^/]*|libascendc_ops)\.so$", path)}
    assert len(wrappers) == (1 if name.startswith("ascendc-ops") else 0)
    assert paths == {path: ["$ORIGIN"] if path in wrappers else [] for path in paths}


def search_paths(content: bytes) -> list[str]:
    section = ELFFile(io.BytesIO(content)).get_section_by_name(".dynamic")
    assert isinstance(section, DynamicSection)
    return [
        getattr(tag, tag.entry.d_tag.removeprefix("DT_").lower())
        for tag in section.iter_tags()
        if tag.entry.d_tag in ("DT_RPATH", "DT_RUNPATH")
    ]


@pytest.mark.parametrize("name", [*OURS, *REPACKED])
def test_the_licence_comes_with_the_package(name: str, packages: dict[str, Path]) -> None:
    info = archive.read_info(packages[name])
    assert len(info["licenses/LICENSE"]) > 1000
    assert json.loads(info["index.json"])["license"] in ("Apache-2.0", "BSD-3-Clause")


@pytest.mark.parametrize("name", [*OURS[1:], *REPACKED])
def test_the_requirements_are_pinned(name: str, packages: dict[str, Path]) -> None:
    depends = json.loads(archive.read_info(packages[name])["index.json"])["depends"]
    assert depends == sorted(depends)
    assert f"python_abi {PYTHON}.* *_cp{TAG}" in depends
    assert any(one.startswith("__glibc >=") for one in depends)
    if name != "torch":
        assert f"torch =={STACK['torch']} cpu_*" in depends
    if name in OURS:
        assert f"torch-npu =={STACK['torch_npu']}" in depends
        assert "ascendc-device ==1 host" in depends


@pytest.mark.parametrize("name", OURS[1:])
def test_a_package_says_what_it_was_built_with(name: str, packages: dict[str, Path]) -> None:
    index = json.loads(archive.read_info(packages[name])["index.json"])
    with archive.read_files(packages[name]) as files:
        path = f"share/ascendc-ops/{name}.built_with.json"
        said = json.loads(next(file.read() for file in files if file.path == path))
    assert re.fullmatch(r"[0-9a-f]{40}(-dirty)?|unknown", said.pop("source_commit"))
    assert re.fullmatch(r"g\+\+ \d+\.\d+\.\d+", said.pop("compiler"))
    assert said.pop("torch").partition("+")[0] == STACK["torch"]
    assert said == {
        "package": name,
        "version": index["version"],
        "build": index["build"],
        "device": "host",
        "npu_arch": VERSIONS["hostcann"]["npu_arch"],
        "python": PYTHON,
        "torch_npu": STACK["torch_npu"],
        "cann": f"hostcann {VERSIONS['hostcann']['version']}",
    }


@pytest.mark.parametrize("name", [*OURS, *REPACKED])
def test_nothing_is_left_that_differs_from_build_to_build(
    name: str, packages: dict[str, Path]
) -> None:
    info = archive.read_info(packages[name])
    assert [one for one in info if one.startswith("recipe/") or one == "hash_input.json"] == []
    with archive.read_files(packages[name]) as files:
        bytecode = [file.read() for file in files if file.path.endswith(".pyc")]
    # The second word says that the source's date is not looked at.
    assert {content[4:8] for content in bytecode} <= {b"\x01\0\0\0"}
