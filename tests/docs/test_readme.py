# SPDX-License-Identifier: Apache-2.0
"""What the READMEs tell people to type works, and what they show is what comes out."""

import json
import os
import re
import subprocess
import tomllib
from collections import Counter
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
READMES = ("README.md", "README.zh-CN.md")
VERSIONS = tomllib.loads((REPOSITORY / "versions.toml").read_text())


def blocks(readme: str, language: str) -> list[str]:
    text = (REPOSITORY / readme).read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


def run(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, cwd=REPOSITORY, capture_output=True, text=True, timeout=300, check=False
    )


@pytest.mark.parametrize("readme", READMES)
def test_every_make_command_names_a_target(readme: str) -> None:
    text = (REPOSITORY / readme).read_text(encoding="utf-8")
    commands = {
        tuple(line.split()) for block in blocks(readme, "bash") for line in block.splitlines()
    }
    commands |= {tuple(found.split()) for found in re.findall(r"`(make [^`]+)`", text)}
    makes = sorted(command for command in commands if command[0] == "make")
    assert ("make", "matrix") in makes
    assert ("make", "test") in makes
    for command in makes:
        result = run("make", "--dry-run", *command[1:])
        assert result.returncode == 0, f"{' '.join(command)}: {result.stderr}"


@pytest.mark.parametrize("readme", READMES)
def test_python_examples_run_after_the_shell_commands(readme: str) -> None:
    # `make matrix` and `make test` are what runs this test; the others set the stage for Python.
    setup = [
        line
        for block in blocks(readme, "bash")
        for line in block.splitlines()
        if not line.startswith("make ")
    ]
    examples = blocks(readme, "python")
    assert setup
    assert examples
    for example in examples:
        script = "\n".join([*setup, '.venv/bin/python - <<"EXAMPLE"', example, "EXAMPLE"])
        environment = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("ASCEND", "LD_"))
        }
        result = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", script],
            cwd=REPOSITORY,
            env=environment,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("readme", READMES)
def test_shown_table_is_what_the_matrix_prints(readme: str) -> None:
    report = json.loads((REPOSITORY / "build/report/matrix.json").read_text())
    counts = Counter((case["variant"], case["group"]) for case in report["cases"])
    shown = next(block for block in blocks(readme, "text") if "matrix: " in block).splitlines()
    groups = next(line for line in shown if line.startswith("  ")).split()
    for variant in ("pybind", "lib", "both"):
        cells = re.split(r" {2,}", next(line for line in shown if line.startswith(variant)))
        assert cells[1:] == [
            f"{counts[variant, group]} passed" if counts[variant, group] else "-"
            for group in groups
        ], f"replace the table in {readme} by what make matrix prints"
    assert shown[-1] == f"matrix: {len(report['cases'])} passed, 0 failed"
