# SPDX-License-Identifier: Apache-2.0
"""Reads versions.toml."""

import os
import re
import sys
from pathlib import Path
from typing import NamedTuple

# Every script of ci/ comes here first, so this one place refuses a Python that they cannot use.
if sys.version_info < (3, 11):
    sys.exit(
        "PYTHON: expected Python 3.11 or later for the scripts in ci/, got "
        f"{sys.version.split()[0]} ({sys.executable}); install python3.11 and say PYTHON=python3.11"
    )
import tomllib

ROOT = Path(__file__).resolve().parent.parent
DEFAULT = "default"


class VersionsError(SystemExit):
    """A sentence for the user; where nothing catches it, the program ends with it."""


class Pairing(NamedTuple):
    """A release of torch_npu, the torch and the CANN it goes with, and who says so."""

    torch_npu: str
    torch: str
    cann: str
    source: str


def load_versions(root: Path = ROOT) -> dict:
    """versions.toml; `stack` is the default one and says its name."""
    try:
        versions = tomllib.loads((root / "versions.toml").read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise VersionsError(f"versions.toml: expected TOML, got {error}") from error
    if "stack" not in versions:
        raise VersionsError("versions.toml: expected a table [stack], found none")
    versions["stack"]["name"] = DEFAULT
    return versions


def chosen(root: Path = ROOT) -> dict:
    """The versions with the stack that STACK names."""
    return select(load_versions(root), os.environ.get("STACK") or DEFAULT)


def pythons_of(versions: dict, torch: str) -> list[str]:
    if torch not in versions["torch_pythons"]:
        raise VersionsError(
            f"versions.toml: expected the Pythons of torch {torch} in [torch_pythons], found none"
        )
    return versions["torch_pythons"][torch]


def stack_names(versions: dict) -> list[str]:
    return [DEFAULT, *versions["stacks"]]


def select(versions: dict, name: str, python: str = "") -> dict:
    """What load_versions gave, with another stack or Python in the place of the default ones.

    Only the default stack on its own Python keeps the locks of tools.

    Raises:
        VersionsError: there is no such stack, or its torch is not for that Python.
    """
    if name not in stack_names(versions):
        expected = ", ".join(stack_names(versions))
        raise VersionsError(f"STACK: expected {expected}, got '{name}'")
    stack = versions["stack"] | versions["stacks"].get(name, {})
    stack["python"] = python or stack["python"]
    if stack["python"] not in (pythons := pythons_of(versions, stack["torch"])):
        expected = ", ".join(pythons)
        raise VersionsError(
            f"stack {name}: expected Python {expected} for torch {stack['torch']}, "
            f"got {stack['python']}"
        )
    stack["name"] = name
    lock = versions["lock"]
    if stack != versions["stack"]:
        first = next(iter(lock["groups"].items()))
        lock = lock | {"groups": dict([first])}
    return versions | {"stack": stack, "lock": lock}


def selections(versions: dict) -> list[dict]:
    """Every stack on every Python that it is locked for."""
    found = []
    for name in stack_names(versions):
        torch = select(versions, name)["stack"]["torch"]
        for python in versions["lock"]["pythons"]:
            if python in pythons_of(versions, torch):
                found.append(select(versions, name, python))
    return found


def pairings(versions: dict) -> list[Pairing]:
    """The compatibility tables as rows."""
    return [
        Pairing(torch_npu, re.match(r"\d+\.\d+\.\d+", torch_npu)[0], cann, source)
        for source, table in versions["compatibility"].items()
        for cann, releases in table.items()
        for torch_npu in releases
    ]
