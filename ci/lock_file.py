# SPDX-License-Identifier: Apache-2.0
"""Reads the hash-locked requirements files in ci/requirements."""

import hashlib
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path

from versions import ROOT

UNRESOLVED = "# unresolved: "


class LockError(Exception):
    """A sentence for the user."""


@dataclass
class Requirement:
    """One `name==version --hash=…` of a lock file; `unresolved` says why there is no hash."""

    name: str
    version: str
    line: int
    hashes: set[str] = field(default_factory=set)
    unresolved: str = ""

    @property
    def pin(self) -> str:
        return f"{self.name}=={self.version}"


def normalize(name: str) -> str:
    """The package index's one spelling of a name."""
    return re.sub(r"[-_.]+", "-", name).lower()


def python_tag(versions: dict) -> str:
    return "py" + versions["stack"]["python"].replace(".", "")


def lock_path(versions: dict, machine: str, group: str, root: Path = ROOT) -> Path:
    """The lock of `versions["stack"]`, the default one or the one that was selected."""
    folder = root / "ci" / "requirements" / versions["stack"]["name"]
    return folder / f"{machine}-{python_tag(versions)}-{group}.txt"


def read_lock(path: Path) -> list[Requirement]:
    return parse_lock(path.name, path.read_text(encoding="utf-8"))


def parse_lock(file: str, content: str) -> list[Requirement]:
    """The requirements in a lock file's text; `file` is its name for what is refused."""
    requirements: list[Requirement] = []
    for number, text in enumerate(content.splitlines(), 1):
        body = text.strip().removesuffix("\\").strip()
        if pin := re.match(r"([A-Za-z0-9._-]+)==([A-Za-z0-9.+!_-]+)$", body):
            requirements.append(Requirement(normalize(pin[1]), pin[2], number))
        elif digest := re.match(r"--hash=sha256:([0-9a-f]{64})$", body):
            if not requirements:
                raise LockError(f"{file}:{number}: expected a requirement before its hash")
            requirements[-1].hashes.add(digest[1])
        elif body.startswith(UNRESOLVED) and requirements:
            requirements[-1].unresolved = body.removeprefix(UNRESOLVED)
        elif body and not body.startswith("#"):
            where = f"{file}:{number}"
            raise LockError(f"{where}: expected name==version or a sha256, got '{body}'")
    return requirements


def sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def refuse_unhashed(path: Path, requirements: list[Requirement]) -> None:
    """No requirement is installed whose content is not known beforehand."""
    for requirement in requirements:
        if not requirement.hashes:
            why = requirement.unresolved or "it has no hash; run make lock"
            where = f"{path.name}:{requirement.line}"
            raise LockError(f"{where}: {requirement.pin} is unresolved: {why}")


def die(message: object) -> None:
    print(message, file=sys.stderr)
    sys.exit(1)
