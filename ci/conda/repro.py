# SPDX-License-Identifier: Apache-2.0
"""Builds every package again, elsewhere and otherwise, and compares them to the bit."""

import os
import shutil
import tempfile
from dataclasses import replace
from pathlib import Path

from . import ROOT, CondaError, archive, recipe
from .build import Builder, Built


def copy_backwards(builder: Builder, folder: Path) -> None:
    """The inputs of every package, in another folder, created in the reverse of their order."""
    names = {
        name
        for one in recipe.RECIPES
        for output in builder.render(one)
        for name in output.inputs(ROOT)
    }
    names |= {path.relative_to(ROOT) for path in (ROOT / recipe.FOLDER).rglob("*.yaml")}
    for name in sorted(names, reverse=True):
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, target)
        os.utime(target, (2**30, 2**30))


def contents(package: Path) -> dict[str, tuple]:
    """Everything that may differ between two packages, by name."""
    info = archive.read_info(package)
    found = {f"info/{name}": (archive.sha256(data),) for name, data in info.items()}
    with archive.read_files(package) as files:
        for file in files:
            content = b"" if file.link else file.read()
            found[file.path] = (archive.sha256(content), file.link, file.executable)
    return found


def difference(one: Path, other: Path) -> str:
    """The first file that differs between two packages."""
    found, expected = contents(one), contents(other)
    for name in sorted(found.keys() | expected.keys()):
        if found.get(name) != expected.get(name):
            return name
    return "the archive around the files"


def again(builder: Builder) -> list[tuple[Built, str, str]]:
    """Each package of `builder`, its hash, and what of it differs when it is built again."""
    rows = []
    with tempfile.TemporaryDirectory(prefix="another-folder-with-a-longer-name-") as folder:
        source = Path(folder) / "source"
        umask = os.umask(0o077)
        cache = os.environ["RATTLER_CACHE_DIR"]
        os.environ["RATTLER_CACHE_DIR"] = f"{folder}/cache"
        try:
            copy_backwards(builder, source)
            other = replace(
                builder, source=source, work=Path(folder) / "work", with_tests=False, packages=[]
            )
            other.build()
        finally:
            os.umask(umask)
            os.environ["RATTLER_CACHE_DIR"] = cache
        for one, same in zip(builder.packages, other.packages, strict=True):
            digest = archive.file_sha256(one.path)
            equal = digest == archive.file_sha256(same.path)
            rows.append((one, digest, "" if equal else difference(one.path, same.path)))
    return rows


def repro(builder: Builder) -> None:
    rows = again(builder)
    print(f"\n{'package':<50} {'sha256':<18} built again")
    for one, digest, differs in rows:
        name = one.filename.removesuffix(".conda")
        print(f"{name:<50} {digest[:16]}  {f'differs in {differs}' if differs else 'identical'}")
    if wrong := [one.filename for one, _, differs in rows if differs]:
        raise CondaError(f"{', '.join(wrong)}: not the same when built again")
    print(f"conda: {len(rows)} packages, each identical when built again")
