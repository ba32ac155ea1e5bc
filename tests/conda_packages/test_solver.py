# SPDX-License-Identifier: Apache-2.0
"""What may not be installed together: the solver refuses it, and its words name the reason."""

from pathlib import Path

import pytest
from conda import CondaError, prefix, recipe
from versions import load_versions

from .conftest import Shelf

STACK = load_versions()["stack"]
PYTHON = STACK["python"]
TAG = PYTHON.replace(".", "")
NPU_ARCH = "dav-2201"
OTHERS = [
    {"name": "pytorch", "version": STACK["torch"], "build": "cpu_generic_0"},
    {"name": "cann-toolkit", "version": STACK["cann"], "build": "0"},
    {"name": "cann-toolkit", "version": "9.0.0", "build": "0"},
    {"name": "cann-toolkit", "version": "9.1.0.beta", "build": "0"},
    {"name": "python", "version": "3.12.5", "build": "0_cpython"},
    {"name": "python_abi", "version": "3.12", "build": "0_cp312"},
]


@pytest.fixture
def channel(built: Path, shelf: Shelf) -> Path:
    """One channel of what this machine made and what others hold: CANN, torch, our npu packages.

    The npu packages are the recipe's metadata without files: nothing here can build them.
    """
    shelf.take(built)
    for record in OTHERS:
        shelf.add(record)
    chosen = {"python": PYTHON, "device": "npu", "npu_arch": NPU_ARCH}
    for output in recipe.render(recipe.FOLDER, **chosen):
        described = output.recipe
        requirements = described.get("requirements", {})
        shelf.add(
            {
                "name": output.name,
                "version": described["package"]["version"],
                "build": described["build"]["string"],
                "subdir": output.subdir,
                "depends": [*requirements.get("run", []), f"python_abi {PYTHON}.* *_cp{TAG}"]
                if requirements
                else [],
                # What the recipe's down_prioritize_variant becomes.
                "track_features": f"{output.name}-p-0",
            }
        )
    return shelf.ready()


def names(records: list) -> set[str]:
    return {f"{one.name.normalized} {one.build}" for one in records}


def test_the_host_is_the_default(channel: Path) -> None:
    chosen = names(prefix.solve([channel], ["ascendc-ops-pybind", "ascendc-ops-lib"]))
    build = f"host_dav2201_py{TAG}_0"
    assert {
        f"ascendc-ops-pybind {build}",
        f"ascendc-ops-lib {build}",
        f"hostcann {build}",
        "ascendc-device host",
    } <= chosen
    assert not any(name.startswith("cann-toolkit") for name in chosen)


def test_the_npu_is_taken_when_asked_for_with_cann_of_its_line(channel: Path) -> None:
    chosen = prefix.solve([channel], ["ascendc-ops-pybind", "ascendc-device * npu"])
    assert f"ascendc-ops-pybind npu_dav2201_py{TAG}_0" in names(chosen)
    assert not any(name.startswith("hostcann ") for name in names(chosen))
    (toolkit,) = [one for one in chosen if one.name.normalized == "cann-toolkit"]
    assert str(toolkit.version) == STACK["cann"]


REFUSED = [
    pytest.param(
        ["ascendc-ops-pybind * host_*", "ascendc-ops-lib * npu_*"],
        {},
        ["ascendc-ops-lib * npu_*", "ascendc-ops-pybind * host_*", "cann-toolkit <0a0"],
        id="one-package-for-the-host-and-one-for-the-npu",
    ),
    pytest.param(
        ["ascendc-ops-lib * host_*", "ascendc-device * npu"],
        {},
        ["ascendc-device ==1 host"],
        id="a-package-for-the-other-device",
    ),
    pytest.param(
        ["ascendc-ops-pybind", "pytorch"], {}, ["pytorch <0a0"], id="another-build-of-torch"
    ),
    pytest.param(
        ["ascendc-ops-lib", "python 3.12.*"],
        {},
        [f"python {PYTHON}.*"],
        id="a-python-without-a-build",
    ),
    pytest.param(
        ["ascendc-ops-lib * npu_*", "cann-toolkit 9.0.*"],
        {},
        ["cann-toolkit >=9.1,<9.2.0a0"],
        id="cann-of-another-line",
    ),
    pytest.param(
        ["ascendc-ops-lib * npu_*", "cann-toolkit ==9.1.0.beta"],
        {},
        ["cann-toolkit >=9.1,<9.2.0a0"],
        id="cann-before-its-release",
    ),
    pytest.param(
        ["hostcann", "cann-toolkit"], {}, ["cann-toolkit <0a0"], id="hostcann-beside-cann"
    ),
    pytest.param(
        ["ascendc-ops-lib * npu_*"], {"glibc": "2.17"}, ["__glibc"], id="a-c-library-too-old"
    ),
    pytest.param(
        ["ascendc-ops-lib", "torch-npu ==2.12.0"], {}, ["torch-npu"], id="another-torch-npu"
    ),
]


@pytest.mark.parametrize(("specs", "machine", "words"), REFUSED)
def test_a_mix_is_refused_with_its_reason(
    channel: Path, specs: list[str], machine: dict[str, str], words: list[str]
) -> None:
    with pytest.raises(CondaError) as refused:
        prefix.solve([channel], specs, **machine)
    said = str(refused.value)
    assert said.startswith(
        f"cannot install {', '.join(specs)}: Cannot solve the request because of"
    )
    assert [word for word in words if word not in said] == []


@pytest.mark.parametrize("spec", ["ascendc-ops-pybind", "ascendc-ops-lib"])
def test_each_package_alone_is_no_mix(channel: Path, spec: str) -> None:
    assert prefix.solve([channel], [spec])
