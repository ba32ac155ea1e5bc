# SPDX-License-Identifier: Apache-2.0
"""Builds the channel of one device: this machine's fixtures, torch, torch_npu, our packages.

A package is kept under a key of everything it was made from, and made again when the key changes.
"""

import hashlib
import json
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import built
import wheel_cache
from rattler_build import Package, RattlerBuildError, ToolConfiguration
from versions import load_versions

from . import ROOT, WORK, CondaError, archive, channel, fixture, recipe

# Repacked by recipes of their own, or of no use in a conda environment.
NOT_FIXTURES = ("torch", "torch-npu", "uv")
# torch is 700 MB: a higher level takes minutes and saves a tenth.
LEVEL = 1
LOG_LINES = 40


@dataclass
class Built:
    """A package of the channel; no seconds when it was kept from an earlier run."""

    filename: str
    path: Path
    subdir: str
    key: str
    seconds: float | None = None


@dataclass
class Builder:
    """`source` is the checkout or a copy of it; git is asked in the checkout in both cases."""

    device: str
    npu_arch: str
    # The real CANN that an npu package is built against.
    toolkit: fixture.Recorded | None = None
    source: Path = ROOT
    work: Path = WORK
    # The recipes' own tests; the same package need not pass them twice.
    with_tests: bool = True
    packages: list[Built] = field(default_factory=list)

    def build(self) -> None:
        """Everything, in the order of need."""
        versions = load_versions()
        os.environ["ASCENDC_OPS_WHEELS"] = str(wheel_cache.wheel_folder(versions))
        self.take_fixtures()
        for folder in recipe.RECIPES:
            # The commit is no part of the key's rendering; it is one of the key by itself.
            os.environ.pop("SOURCE_COMMIT", None)
            for output in self.render(folder):
                self.take_output(output)
        self.forget_others()

    def take(self, filename: str, subdir: str, key: str, make: Callable[[Path], None]) -> None:
        """The package from the store, or made now."""
        kept = self.work / "store" / key / filename
        seconds = None
        if not intact(kept):
            name = filename.removesuffix(".conda")
            print(f"conda: {name} ...", flush=True)
            start = time.monotonic()
            unfinished = kept.parent.with_suffix(".new")
            shutil.rmtree(unfinished, ignore_errors=True)
            unfinished.mkdir(parents=True)
            make(unfinished)
            if not (unfinished / filename).exists():
                made = ", ".join(path.name for path in unfinished.iterdir())
                raise CondaError(f"expected {filename} to be made, got {made or 'nothing'}")
            noted(unfinished / filename).write_text(archive.file_sha256(unfinished / filename))
            shutil.rmtree(kept.parent, ignore_errors=True)
            unfinished.rename(kept.parent)
            seconds = time.monotonic() - start
            print(f"conda: {name}: {seconds:.1f} s", flush=True)
        self.packages.append(Built(filename, kept, subdir, key, seconds))

    def take_fixtures(self) -> None:
        code = "".join(archive.file_sha256(Path(one.__file__)) for one in (archive, fixture))
        interpreter = archive.file_sha256(Path(os.path.realpath(sys.executable)))
        machine = digest(code, sys.version, sys.base_prefix, interpreter)
        key = digest("python", machine)
        self.take(fixture.python_filename(), fixture.SUBDIR, key, fixture.make_python)
        compiler = archive.file_sha256(fixture.system_library("libstdc++.so.6"))
        for made in fixture.small_ones(self.toolkit):
            key = digest(made.filename, machine, compiler, fixture.glibc_release(), made.origin)
            self.take(made.filename, fixture.SUBDIR, key, made.write)
        for pin, wheel in wheel_cache.wheels_of("dev").items():
            if pin.partition("==")[0] not in NOT_FIXTURES:
                filename, key = fixture.filename_of(wheel), digest(str(wheel.name), machine)
                make = fixture.wheel_maker(wheel)
                self.take(filename, fixture.SUBDIR, key + digest(archive.file_sha256(wheel)), make)

    def render(self, folder: Path) -> list[recipe.Output]:
        """The outputs of a recipe for this device, with this machine's compiler and C library."""
        machine = {
            "cxx_compiler_version": fixture.compiler_release().partition(".")[0],
            "c_stdlib_version": fixture.glibc_release(),
        }
        chosen = {"python": fixture.PYTHON, "device": self.device, "npu_arch": self.npu_arch}
        return recipe.render(folder, self.source, machine=machine, **chosen)

    def take_output(self, output: recipe.Output) -> None:
        identity = recipe.identity(ROOT, output.inputs(self.source))
        needs = {one.filename: one.key for one in self.packages}
        needs |= {"code": archive.file_sha256(Path(archive.__file__)), "level": str(LEVEL)}
        key = output.key(self.source, identity, needs)
        self.take(
            output.filename,
            output.subdir,
            key,
            lambda folder: self.make_output(output, identity, folder),
        )

    def make_output(self, output: recipe.Output, identity: recipe.Identity, folder: Path) -> None:
        before = built.source() if identity.commit != "unknown" else {}
        scratch = self.work / "rattler"
        shutil.rmtree(scratch, ignore_errors=True)
        os.environ["SOURCE_COMMIT"] = identity.commit
        again = self.render(output.folder)
        rendered = next(one.rendered for one in again if one.filename == output.filename)
        with self.channel() as url:
            try:
                result = rendered.run_build(
                    tool_config=ToolConfiguration(keep_build=True, channel_priority="disabled"),
                    output_dir=scratch,
                    channels=[url],
                    no_build_id=True,
                    package_format="conda:-5",
                    no_include_recipe=True,
                )
            except RattlerBuildError as error:
                raise CondaError(f"{output.name}: {error}{last_lines(scratch)}") from error
        raw = Path(result.packages[0])
        archive.normalise(raw, folder / output.filename, identity.when, LEVEL)
        if before:
            self.record(folder / output.filename, before)
        shutil.rmtree(scratch)
        if self.with_tests:
            self.test(output, folder / output.filename)

    @staticmethod
    def record(package: Path, before: dict) -> None:
        """For its provenance; what is built while the checkout changes has none."""
        try:
            built.record(package, before)
        except built.BuiltError as error:
            print(f"conda: {package.name}: no record of its build: {error}", flush=True)

    def test(self, output: recipe.Output, package: Path) -> None:
        """The recipe's own tests, on the package as it will be installed."""
        # The tests are read from what was unpacked last under this name.
        cache = Path(os.environ["RATTLER_CACHE_DIR"]) / "pkgs"
        shutil.rmtree(cache / package.stem, ignore_errors=True)
        with self.channel(Built(output.filename, package, output.subdir, "")) as url:
            try:
                results = Package.from_file(package).run_tests(channel=[url])
            except RattlerBuildError as error:
                raise CondaError(f"{output.name}: a test of the recipe failed: {error}") from error
        for result in results:
            if not result.success:
                said = "\n".join(result.output[-LOG_LINES:])
                raise CondaError(f"{output.name}: its test {result.test_index} failed:\n{said}")

    @contextmanager
    def channel(self, *more: Built) -> Iterator[str]:
        """A channel of what there is so far; its name is its content, so that no cache is wrong."""
        packages = [*self.packages, *more]
        content = digest(*(f"{one.filename} {channel.sha256_of(one.path)}" for one in packages))
        folder = self.work / "channels" / content
        write_channel(folder, packages)
        yield folder.as_uri()
        shutil.rmtree(folder)

    def forget_others(self) -> None:
        """What the store has beyond this channel, except the other device's packages."""
        kept = {one.key for one in self.packages}
        names = {one.filename for one in self.packages}
        for folder in (self.work / "store").iterdir():
            if folder.name not in kept and names & {path.name for path in folder.iterdir()}:
                shutil.rmtree(folder)


def noted(package: Path) -> Path:
    """Where the store notes what a package was when it was made."""
    return package.with_name(package.name + ".sha256")


def intact(package: Path) -> bool:
    """The store has the package, as it was made: a channel shares the file, and may be altered."""
    if not (package.exists() and noted(package).exists()):
        return False
    if archive.file_sha256(package) == noted(package).read_text():
        return True
    print(f"conda: {package.name}: expected it as it was made, got another: made again", flush=True)
    return False


def digest(*parts: str) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:20]


def last_lines(scratch: Path) -> str:
    """The end of what a failed build said, to stand after the error."""
    logs = sorted(scratch.glob("bld/*/*/conda_build.log"))
    if not logs:
        return ""
    lines = logs[-1].read_text(encoding="utf-8", errors="replace").splitlines()
    return "\n".join(["", *lines[-LOG_LINES:], f"the whole output is in {logs[-1]}"])


def write_channel(folder: Path, packages: list[Built]) -> None:
    channel.make(folder, {one.path: one.subdir for one in packages})
