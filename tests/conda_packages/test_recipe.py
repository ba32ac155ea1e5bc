# SPDX-License-Identifier: Apache-2.0
"""The recipes, rendered for every variant: what each asks for is what versions.toml says."""

from pathlib import Path

import pytest
from conda import CondaError, fixture, recipe
from lock_file import lock_path, read_lock
from versions import load_versions, select

ROOT = recipe.ROOT
VERSIONS = load_versions()
STACK = VERSIONS["stack"]
PYTHONS = VERSIONS["lock"]["pythons"]
HOST_ARCH = VERSIONS["hostcann"]["npu_arch"]
CHIP_ARCHS = sorted({chip["npu_arch"] for chip in VERSIONS["chips"].values()})
DEVICES = [("host", HOST_ARCH), *(("npu", arch) for arch in CHIP_ARCHS)]
PLATFORMS = {"linux-64": "x86_64", "linux-aarch64": "aarch64"}
VERSION = VERSIONS["project"]["version"]
TOOLKIT = VERSIONS["hostcann"]["version"]
OPERATORS = ("ascendc-ops-pybind", "ascendc-ops-lib")
PAIR = {"python", f"torch =={STACK['torch']} cpu_*", f"torch-npu =={STACK['torch_npu']}"}


@pytest.fixture(scope="module", params=PLATFORMS)
def rendered(request: pytest.FixtureRequest) -> list[recipe.Output]:
    return recipe.render(recipe.FOLDER, platform=request.param)


def build_string(device: str, arch: str, python: str) -> str:
    return f"{device}_{arch.replace('-', '')}_py{python.replace('.', '')}_0"


def test_there_is_one_package_for_each_python_device_and_chip(rendered: list) -> None:
    expected = {f"ascendc-device-1-{device}" for device, _ in DEVICES}
    for python in PYTHONS:
        for device, arch in DEVICES:
            build = build_string(device, arch, python)
            expected |= {f"{name}-{VERSION}-{build}" for name in OPERATORS}
            if device == "host":
                expected.add(f"hostcann-{TOOLKIT}-{build}")
    assert {output.filename.removesuffix(".conda") for output in rendered} == expected


@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize(("device", "arch"), DEVICES)
@pytest.mark.parametrize("python", PYTHONS)
def test_an_operator_package_requires_its_stack(
    rendered: list, name: str, device: str, arch: str, python: str
) -> None:
    build = build_string(device, arch, python)
    (output,) = [one for one in rendered if one.filename == f"{name}-{VERSION}-{build}.conda"]
    toolkit = {
        "host": f"hostcann =={TOOLKIT} {build}",
        "npu": "cann-toolkit >={}.{},<{}.{}.0a0".format(*release_line(STACK["cann"])),
    }
    stack = {*PAIR, toolkit[device]}
    tools = {f"{name} =={VERSIONS['build'][name]}" for name in ("pybind11", "scikit-build-core")}
    required = output.recipe["requirements"]
    assert set(required["run"]) == {
        *stack,
        f"ascendc-device ==1 {device}",
        f"__glibc >={glibc()},<3.0.a0",
    }
    assert set(required["host"]) == {*stack, *tools, "pip"}
    assert output.rendered.variant["python"] == python


@pytest.mark.parametrize("python", PYTHONS)
def test_hostcann_requires_the_pair_it_is_built_with(rendered: list, python: str) -> None:
    build = build_string("host", HOST_ARCH, python)
    (output,) = [one for one in rendered if one.filename == f"hostcann-{TOOLKIT}-{build}.conda"]
    required = output.recipe["requirements"]
    assert set(required["host"]) == PAIR
    assert set(required["run"]) == {*PAIR, "ascendc-device ==1 host"}


def release_line(cann: str) -> tuple[str, str, str, int]:
    major, minor = cann.split(".")[:2]
    return major, minor, major, int(minor) + 1


def glibc() -> str:
    return VERSIONS["platforms"]["x86_64"]["wheels"].removeprefix("manylinux_").replace("_", ".")


def test_only_the_host_is_not_put_back(rendered: list) -> None:
    put_back = {
        (
            output.rendered.variant["device"],
            output.recipe["build"]["variant"]["down_prioritize_variant"],
        )
        for output in rendered
    }
    assert put_back == {("host", 0), ("npu", 1)}


@pytest.mark.parametrize("platform", PLATFORMS)
def test_torch_is_the_wheel_of_the_lock(platform: str) -> None:
    machine = PLATFORMS[platform]
    for output in recipe.render(recipe.FOLDER / "torch", platform=platform):
        python = output.rendered.variant["python"]
        held = read_lock(lock_path(select(VERSIONS, "default", python), machine, "dev"))
        (digest,) = next(r.hashes for r in held if r.name == "torch")
        (source,) = output.recipe["source"]
        tag = f"cp{python.replace('.', '')}"
        release = STACK["torch"] + VERSIONS["torch"]["build"]
        wheels = VERSIONS["platforms"][machine]["wheels"]
        assert source["sha256"] == digest
        assert source["url"].endswith(f"/torch-{release}-{tag}-{tag}-{wheels}_{machine}.whl")


@pytest.mark.parametrize("platform", PLATFORMS)
def test_torch_npu_is_a_wheel_of_the_lock_for_every_python(platform: str) -> None:
    outputs = recipe.render(recipe.FOLDER / "torch-npu", platform=platform)
    held = read_lock(lock_path(VERSIONS, PLATFORMS[platform], "dev"))
    locked = next(r.hashes for r in held if r.name == "torch-npu")
    digests = {output.recipe["source"][0]["sha256"] for output in outputs}
    assert len(digests) == len(outputs) == len(PYTHONS)
    assert digests <= locked


@pytest.mark.parametrize(("name", "folder"), [("torch", "torch"), ("torch_npu", "torch-npu")])
def test_a_repacked_wheel_requires_what_the_wheel_does(
    name: str, folder: str, wheels: dict[str, Path]
) -> None:
    wheel = next(path for path in wheels.values() if path.name.startswith(f"{name}-"))
    # conda has no wildcard in a version; torch's build is pinned as well.
    said = {one.partition(" ")[0] for one in fixture.depends_of(fixture.metadata(wheel))}
    (output,) = recipe.render(recipe.FOLDER / folder, python=STACK["python"])
    run = {one.partition(" ")[0] for one in output.recipe["requirements"]["run"]}
    # torch imports numpy where it is there, and everybody has it there.
    assert run - {"__glibc", "numpy"} == said - {"numpy"}


def test_a_variant_that_is_not_there_is_refused() -> None:
    with pytest.raises(CondaError) as refused:
        recipe.render(recipe.FOLDER, device="host", npu_arch="dav-3510")
    assert str(refused.value) == (
        "conda-recipe/variants.yaml: expected a variant with device host, npu_arch dav-3510, "
        "found none"
    )


def test_the_recipe_can_be_read_at_a_glance() -> None:
    assert len((ROOT / "conda-recipe/recipe.yaml").read_text(encoding="utf-8").splitlines()) <= 200
