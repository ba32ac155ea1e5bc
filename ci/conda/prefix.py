# SPDX-License-Identifier: Apache-2.0
"""Installs from one channel into a prefix, activates it and takes packages out again."""

import asyncio
import json
import os
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import unquote, urlsplit

import rattler
from rattler.exceptions import (
    ExtractError,
    InstallerError,
    IoError,
    LinkError,
    SolverError,
    TransactionError,
)
from rattler.package.build_string import BuildString
from rattler.shell import ActivationVariables, Shell, activate

from . import CondaError, archive, fixture


def virtual_packages(**versions: str) -> list[rattler.GenericVirtualPackage]:
    """What the machine says it has; `glibc="2.17"` says another one."""
    found = {
        one.name.normalized: one
        for one in (p.into_generic() for p in rattler.VirtualPackage.detect())
    }
    for name, version in versions.items():
        full = rattler.PackageName(f"__{name}")
        release, build = rattler.Version(version), BuildString("0")
        found[full.normalized] = rattler.GenericVirtualPackage(full, release, build)
    return list(found.values())


def solve(
    channels: Sequence[Path],
    specs: Sequence[str],
    locked: Sequence[rattler.RepoDataRecord] = (),
    **versions: str,
) -> list[rattler.RepoDataRecord]:
    """The packages of the channels that the specs need.

    Raises:
        CondaError: there is no such set; the message is the solver's.
    """

    async def run() -> list[rattler.RepoDataRecord]:
        # A cache of its own, because a channel in a folder may have changed since the last run.
        with tempfile.TemporaryDirectory() as cache:
            return await rattler.solve(
                sources=[rattler.Channel(folder.absolute().as_uri()) for folder in channels],
                specs=list(specs),
                gateway=rattler.Gateway(cache_dir=cache),
                platforms=[fixture.SUBDIR, "noarch"],
                virtual_packages=virtual_packages(**versions),
                locked_packages=list(locked),
            )

    try:
        return asyncio.run(run())
    except SolverError as error:
        raise CondaError(f"cannot install {', '.join(specs)}: {error}") from error


def install(records: Sequence[rattler.RepoDataRecord], prefix: Path, cache: Path) -> None:
    """Makes the prefix hold these packages and no others.

    Raises:
        CondaError: a package is not the one that the index describes, or cannot be placed.
    """
    # rattler looks at the hash of what it downloads, not of what a folder holds.
    for record in records:
        package = Path(unquote(urlsplit(record.url).path))
        if (found := archive.file_sha256(package)) != record.sha256.hex():
            raise CondaError(
                f"{package.name}: expected sha256 {record.sha256.hex()[:16]}…, got {found[:16]}…: "
                "the package is damaged; run make conda"
            )
    try:
        asyncio.run(
            rattler.install(
                records=list(records),
                # A relative one would be written into the files as it is.
                target_prefix=prefix.absolute(),
                cache_dir=cache,
                show_progress=False,
            )
        )
    except (ExtractError, InstallerError, IoError, LinkError, TransactionError) as error:
        # Its causes are on lines of their own.
        why = ": ".join(line.strip() for line in str(error).splitlines())
        raise CondaError(f"cannot install into {prefix}: {why}") from error


def installed(prefix: Path) -> dict[str, dict]:
    """Name -> conda's record of an installed package."""
    records = [
        json.loads(path.read_text(encoding="utf-8"))
        for path in sorted((prefix / "conda-meta").glob("*.json"))
    ]
    return {record["name"]: record for record in records}


def environment(prefix: Path, before: dict[str, str]) -> dict[str, str]:
    """The variables after `conda activate`, which runs the scripts that packages brought."""
    variables = ActivationVariables(None, before.get("PATH", os.defpath).split(os.pathsep))
    script = activate(prefix.absolute(), variables, Shell.bash).script
    command = ["bash", "--norc", "-euo", "pipefail", "-c", script + "\nenv -0"]
    done = subprocess.run(command, env=before, capture_output=True, text=True)
    if done.returncode:
        raise CondaError(f"{prefix} cannot be activated: {done.stderr.strip()}")
    pairs = (line.partition("=") for line in done.stdout.split("\0") if "=" in line)
    return {name: value for name, _, value in pairs}


def files(prefix: Path) -> set[str]:
    """Every file in a prefix except the records of what is installed."""
    return {
        str(path.relative_to(prefix))
        for path in prefix.rglob("*")
        if (path.is_symlink() or not path.is_dir()) and "conda-meta" not in path.parts
    }
