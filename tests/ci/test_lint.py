# SPDX-License-Identifier: Apache-2.0
"""ci/lint.py: every linter finds what it is there for, and --fix mends what a formatter can."""

import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import lint
import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
SETTINGS = (
    ".clang-format",
    ".gersemirc",
    ".hadolint.yaml",
    ".pymarkdown.json",
    ".yamllint",
    "pyproject.toml",
)
TOOLS = {tool.name: tool for tool in lint.TOOLS}

JOB = """\
on: push
permissions: {{}}
jobs:
  one:
    runs-on: ubuntu-latest
    steps: [{{run: 'echo "{}"'}}]
"""

POD = """\
apiVersion: v1
kind: Pod
metadata: {name: a}
spec: {containers: [{name: a, imag: b}]}
"""

# Linter -> a file with one thing wrong.
SAMPLES = {
    "clang-format": ("a.cpp", "int  main() {}\n"),
    "ruff check": ("a.py", "import os\n"),
    "ruff format": ("a.py", "x = {  }\n"),
    "shellcheck": ("a.sh", "#!/bin/sh\nrm $1\n"),
    "shfmt": ("a.sh", "if true; then\n  true\nfi\n"),
    "gersemi": ("CMakeLists.txt", "project( a )\n"),
    "hadolint": ("docker/Dockerfile", "FROM debian:12\nRUN cd /tmp\n"),
    "kubernetes": ("ci/k8s/a.yaml", POD),
    "yamllint": ("a.yaml", "a: 1\na: 2\n"),
    "pymarkdown": ("a.md", "# Title\n### Deep\n"),
    "actionlint": (".github/workflows/a.yml", JOB.format("${{ github.nothing }}")),
    "zizmor": (".github/workflows/a.yml", JOB.format("${{ github.event.issue.title }}")),
    "codespell": ("a.txt", "recie" + "ve\n"),
}


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in SETTINGS:
        shutil.copy(REPOSITORY / name, tmp_path)
    monkeypatch.setattr(lint, "ROOT", tmp_path)
    return tmp_path


def test_every_linter_has_a_sample() -> None:
    assert set(SAMPLES) == set(TOOLS)


@pytest.mark.parametrize("name", SAMPLES)
def test_a_linter_finds_its_sample(root: Path, name: str) -> None:
    file, text = SAMPLES[name]
    (root / file).parent.mkdir(parents=True, exist_ok=True)
    (root / file).write_text(text)
    assert lint.matching(TOOLS[name], [file]) == [file]
    assert file in lint.run([*shlex.split(TOOLS[name].check), file])


@pytest.mark.parametrize("name", [name for name in SAMPLES if TOOLS[name].fix])
def test_a_formatter_mends_its_sample(root: Path, name: str) -> None:
    file, text = SAMPLES[name]
    (root / file).write_text(text)
    assert lint.run([*shlex.split(TOOLS[name].fix), file]) == ""
    assert lint.run([*shlex.split(TOOLS[name].check), file]) == ""
    assert (root / file).read_text() != text


def test_scripts_without_a_suffix_are_shell(root: Path) -> None:
    (root / "run").write_text("#!/usr/bin/env bash\n")
    (root / "notes").write_text("bash\n")
    assert lint.matching(TOOLS["shellcheck"], ["run", "notes"]) == ["run"]


def test_ignored_files_are_not_looked_at(root: Path) -> None:
    subprocess.run(["git", "init", "--quiet", root], check=True)
    (root / ".gitignore").write_text("/build/\n")
    (root / "build").mkdir()
    (root / "build" / "a.py").touch()
    (root / "b.py").touch()
    assert set(lint.tracked(root)) == {".gitignore", "b.py", *SETTINGS}


def test_a_linter_that_is_not_there_is_a_failure(root: Path) -> None:
    assert lint.run(["no-such-linter"]) == (
        "no-such-linter is not there: apt-get install no-such-linter"
    )
    assert root.is_dir()


def test_a_file_of_elsewhere_is_refused(tmp_path: Path) -> None:
    command = [sys.executable, REPOSITORY / "ci" / "lint.py", tmp_path / "a.py"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("lint: expected files of this repository, got ")
