# SPDX-License-Identifier: Apache-2.0
"""Creates .venv from the hash-locked requirements; downloads are kept in one cache folder.

An argument is a group of versions.toml's [lock] to add that is installed on demand. Run by
ci/bootstrap.sh, with nothing but the standard library.
"""

import hashlib
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path

from files import turn, unusable
from lock_file import (
    LockError,
    Requirement,
    die,
    lock_path,
    read_lock,
    refuse_unhashed,
)
from versions import ROOT, VersionsError, chosen, load_versions
from wheel_cache import BootstrapError, cache_folder, cached_wheels, wheel_folder

VENV = ROOT / ".venv"
STAMP = VENV / "installed"
LOG = ROOT / "build" / "log" / "environment.log"


@contextmanager
def step(what: str):
    """Says what is being done before, and how long it took after."""
    print(f"environment: {what} ...", flush=True)
    start = time.monotonic()
    yield
    print(f"environment: {what}: {time.monotonic() - start:.1f} s", flush=True)


def run(command: list, **environment: str) -> None:
    """Runs a tool with its chatter in the log; its last error line becomes the exception."""
    LOG.parent.mkdir(parents=True, exist_ok=True)
    with LOG.open("a", encoding="utf-8") as log:
        log.write(f"$ {' '.join(map(str, command))}\n")
        log.flush()
        start = log.tell()
        clean = {k: v for k, v in os.environ.items() if not k.startswith("UV_")}
        done = subprocess.run(command, stdout=log, stderr=log, env=clean | environment)
    if done.returncode:
        lines = LOG.read_text(encoding="utf-8", errors="replace")[start:].splitlines()
        errors = [line for line in lines if line.lower().startswith("error")] or lines[-1:]
        raise BootstrapError(errors[-1] if errors else f"exit code {done.returncode}")


def prepare_pip(cache: Path) -> Path:
    """An interpreter with the pip that Python brings, kept for the next download."""
    interpreter = os.path.realpath(sys.executable)
    home = cache / f"pip-{hashlib.sha256(interpreter.encode()).hexdigest()[:16]}"
    if not (home / "bin" / "python").exists():
        shutil.rmtree(home, ignore_errors=True)
        with tempfile.TemporaryDirectory(dir=cache) as scratch, step("prepare pip"):
            made = Path(scratch) / "pip"
            run([sys.executable, "-m", "venv", made])
            made.rename(home)
    return home / "bin" / "python"


def download(requirements: list[Requirement], folder: Path, cache: Path, index: str) -> None:
    """pip takes them from wherever the user's pip is configured to look."""
    pip = prepare_pip(cache)
    with tempfile.TemporaryDirectory(dir=cache) as scratch:
        # torch comes alone: its CPU build may need an index that nothing else is taken from.
        torch = [r for r in requirements if r.name == "torch"]
        rest = [r for r in requirements if r.name != "torch"]
        for batch in (torch, rest):
            if batch:
                names = batch[0].pin if len(batch) == 1 else f"{len(batch)} packages"
                with step(f"download {names}"):
                    fetch(pip, batch, Path(scratch), folder, index if batch is torch else "")


def fetch(pip: Path, batch: list[Requirement], scratch: Path, folder: Path, index: str) -> None:
    lines = [" ".join([r.pin, *(f"--hash=sha256:{h}" for h in sorted(r.hashes))]) for r in batch]
    wanted = scratch / "wanted.txt"
    wanted.write_text("\n".join(lines) + "\n", encoding="utf-8")
    arrived = Path(tempfile.mkdtemp(dir=scratch))
    command = [pip, "-m", "pip", "download", "--no-cache-dir"]
    command += ["--disable-pip-version-check", "--require-hashes", "--no-deps"]
    command += ["--only-binary=:all:", "--dest", arrived, "--requirement", wanted]
    try:
        try:
            run(command)
        except BootstrapError:
            if not index:
                raise
            run([*command, "--extra-index-url", index])
    except BootstrapError as error:
        raise BootstrapError(
            f"pip could not download {', '.join(r.pin for r in batch)} ({error}): check the "
            f"network and pip's index settings; the whole output is in {LOG.relative_to(ROOT)}"
        ) from error
    for wheel in arrived.iterdir():
        wheel.replace(folder / wheel.name)


def collect(locks: list[Path], folder: Path, cache: Path, index: str) -> dict[str, Path]:
    """Pin -> wheel, of everything that the locks hold: from the cache, or downloaded into it."""
    requirements: dict[str, Requirement] = {}
    for path in locks:
        held = read_lock(path)
        refuse_unhashed(path, held)
        requirements |= {r.pin: r for r in held}
    folder.mkdir(parents=True, exist_ok=True)
    with step("check the wheels in the cache"):
        wheels = cached_wheels(folder, list(requirements.values()))
    missing = [r for pin, r in requirements.items() if pin not in wheels]
    if missing:
        download(missing, folder, cache, index)
        wheels = cached_wheels(folder, list(requirements.values()))
    return wheels


def install(locks: list[Path], wheels: dict[str, Path], folder: Path, cache: Path) -> None:
    uv_wheel = next((path for pin, path in wheels.items() if pin.startswith("uv==")), None)
    if uv_wheel is None:
        raise BootstrapError(f"expected uv in {locks[0].name}, found none; run make lock")
    with tempfile.TemporaryDirectory(dir=cache) as scratch, step("create .venv"):
        with zipfile.ZipFile(uv_wheel) as archive:
            member = next(n for n in archive.namelist() if n.endswith(".data/scripts/uv"))
            uv = Path(archive.extract(member, scratch))
        uv.chmod(0o755)
        run([sys.executable, "-m", "venv", "--without-pip", "--clear", VENV])
        command = [uv, "--no-config", "pip", "sync", "--python", VENV / "bin" / "python"]
        command += ["--compile-bytecode", "--require-hashes", "--no-index"]
        command += ["--find-links", folder, *locks]
        try:
            run(command, UV_CACHE_DIR=str(cache / "uv"))
        except BootstrapError:
            # The unpacked copies may be what is broken; the wheels were just checked.
            shutil.rmtree(cache / "uv", ignore_errors=True)
            try:
                run(command, UV_CACHE_DIR=str(cache / "uv"))
            except BootstrapError as error:
                raise BootstrapError(
                    f"uv could not install into .venv ({error}); "
                    f"the whole output is in {LOG.relative_to(ROOT)}"
                ) from error


def add(locks: list[Path], _wheels: dict[str, Path], folder: Path, cache: Path) -> None:
    """More for the .venv that is there; its uv is in it."""
    command = [VENV / "bin" / "uv", "--no-config", "pip", "install", "--compile-bytecode"]
    command += ["--python", VENV / "bin" / "python", "--require-hashes", "--no-deps"]
    command += ["--no-index", "--find-links", folder]
    for lock in locks:
        command += ["--requirements", lock]
    with step("add to .venv"):
        run(command, UV_CACHE_DIR=str(cache / "uv"))


def key(locks: list[Path]) -> str:
    """What .venv was made from: when this changes, it is made again."""
    digest = hashlib.sha256()
    for path in [*locks, Path(__file__)]:
        digest.update(path.read_bytes())
    digest.update(f"{os.path.realpath(sys.executable)} {sys.version} {VENV}".encode())
    return digest.hexdigest()


def is_current(stamp: Path, wanted: str) -> bool:
    try:
        return stamp.read_text(encoding="utf-8") == wanted and (VENV / "bin" / "python").exists()
    except OSError:
        return False


def main() -> None:
    versions = chosen()
    machine = platform.machine()
    if machine not in versions["platforms"]:
        raise BootstrapError(
            f"expected a machine of {' or '.join(versions['platforms'])}, got {machine}"
        )
    lock = versions["lock"]
    groups = [group for group in lock["groups"] if group not in lock["on_demand"]]
    provide(versions, [lock_path(versions, machine, group) for group in groups], STAMP, install)
    # Tools are locked for the default stack, and go with every other one.
    tools = load_versions()
    for group in sys.argv[1:]:
        stamp = STAMP.with_name(f"installed-{group}")
        provide(tools, [lock_path(tools, machine, group)], stamp, add)


def provide(versions: dict, locks: list[Path], stamp: Path, place: Callable) -> None:
    """Downloads what the locks hold and places it, unless the stamp says that it is there."""
    wanted = key(locks)
    if is_current(stamp, wanted):
        return
    start = time.monotonic()
    cache = cache_folder()
    cache.mkdir(parents=True, exist_ok=True)
    # Two clones that start together share the downloads instead of racing for them.
    with turn(cache / "lock", "environment"):
        if is_current(stamp, wanted):
            return
        stamp.unlink(missing_ok=True)
        folder = wheel_folder(versions)
        wheels = collect(locks, folder, cache, versions["torch"]["index"])
        place(locks, wheels, folder, cache)
        stamp.write_text(wanted, encoding="utf-8")
    print(f"environment: .venv is ready: {time.monotonic() - start:.1f} s", flush=True)


if __name__ == "__main__":
    try:
        main()
    except (BootstrapError, LockError, VersionsError) as error:
        die(f"environment: {error}")
    except OSError as error:
        die(f"environment: {unusable(error)}")
    except KeyboardInterrupt:
        sys.exit(130)
