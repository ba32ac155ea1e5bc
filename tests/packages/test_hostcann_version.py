# SPDX-License-Identifier: Apache-2.0
"""hostcann's version stands once: changed there, it changes everywhere, the project's does not."""

import importlib.util
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import container
import pytest
import variants
from conda import recipe
from versions import ROOT

OTHER = "7.8.9"


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The checkout's parts that name it, beside a versions.toml with another one."""
    folder = tmp_path_factory.mktemp("tree")
    text = (ROOT / "versions.toml").read_text(encoding="utf-8")
    changed, count = re.subn(r'(?m)^(\[hostcann\]\nversion = )"[^"]+"$', rf'\1"{OTHER}"', text)
    assert count == 1
    (folder / "versions.toml").write_text(changed, encoding="utf-8")
    for part in ("hostcann", "conda-recipe", "python"):
        shutil.copytree(ROOT / part, folder / part, ignore=shutil.ignore_patterns("tests"))
    return folder


@pytest.fixture(scope="module")
def versions(tree: Path) -> dict:
    changed = tomllib.loads((tree / "versions.toml").read_text(encoding="utf-8"))
    assert changed["hostcann"]["version"] == OTHER != changed["project"]["version"]
    return changed


def test_it_is_in_what_cmake_builds(tree: Path, versions: dict) -> None:
    build = tree / "build"
    command = [Path(sys.executable).with_name("cmake"), "-S", tree / "hostcann", "-B", build]
    command += ["-G", "Ninja", f"-DPython3_EXECUTABLE={sys.executable}"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert (build / "hostcann-version").read_text() == f"{OTHER}\n"
    rules = (build / "build.ninja").read_text()
    assert rf"HOSTCANN_VERSION=\"{OTHER}\"" in rules
    assert rf"HOSTCANN_CANN_VERSION=\"{versions['stack']['cann']}\"" in rules


@pytest.mark.parametrize("distribution", ["hostcann", "ascendc-env", "ascendc-ops-lib"])
def test_it_is_the_version_of_its_wheel_alone(
    tree: Path, versions: dict, distribution: str
) -> None:
    project = tomllib.loads((tree / "python" / distribution / "pyproject.toml").read_text())
    (provider,) = project["tool"]["dynamic-metadata"]
    given = {key: value for key, value in provider.items() if key != "provider"}
    found = load(tree / "python" / "stack_metadata.py").dynamic_metadata(given, {})
    ours = OTHER if distribution == "hostcann" else versions["project"]["version"]
    assert found["version"] == ours


def load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_it_is_in_the_conda_packages(tree: Path, versions: dict) -> None:
    choices = tree / recipe.FOLDER / "variants.yaml"
    choices.write_text(variants.choices(versions), encoding="utf-8")
    ours = versions["project"]["version"]
    outputs = recipe.render(recipe.FOLDER, root=tree, device="host", python="3.11")
    named = {output.name: output for output in outputs}
    build = named["hostcann"].recipe["build"]["string"]
    assert named["hostcann"].filename == f"hostcann-{OTHER}-{build}.conda"
    for name in ("ascendc-ops-pybind", "ascendc-ops-lib"):
        assert named[name].filename == f"{name}-{ours}-{build}.conda"
        for when in ("host", "run"):
            assert f"hostcann =={OTHER} {build}" in named[name].recipe["requirements"][when]


def test_it_is_on_the_images(versions: dict) -> None:
    chosen = container.select(versions, container.DEFAULT)
    base = container.Base("ascendc-ops-base:bookworm", id="", own=True)
    plan = container.Plan(chosen, "host", "", "dav-2201", base, "x86_64")
    assert f", hostcann {OTHER}, " in plan.stack_line
