# SPDX-License-Identifier: Apache-2.0
"""Creates .venv from the hash-locked requirements; downloads are kept in one cache folder.

Run by ci/bootstrap.sh, with nothing but the standard library.
"""

import fcntl
import hashlib
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from contextlib import contextmanager
from pathlib import Path

from lock_file import (
    LockError,
    Requirement,
    die,
    lock_path,
    normalize,
    read_lock,
    refuse_unhashed,
)
from versions import ROOT, load_versions

VENV = ROOT / ".venv"
STAMP = VENV / "installed"
LOG = ROOT / "build" / "log" / "environment.log"


class BootstrapError(Exception):
    """A sentence for the user."""


def cache_folder() -> Path:
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(os.environ.get("ASCENDC_OPS_CACHE") or Path(home) / "ascendc-ops").absolute()


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


def sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def cached_wheels(folder: Path, requirements: list[Requirement]) -> dict[str, Path]:
    """Pin -> wheel, of those in the cache that have the lock's hash; damaged ones are removed."""
    found = {}
    by_key = {(r.name, r.version): r for r in requirements}
    for wheel in folder.glob("*.whl"):
        name, version = wheel.name.split("-")[:2]
        requirement = by_key.get((normalize(name), version))
        if requirement is None:
            continue
        if sha256(wheel) in requirement.hashes:
            found[requirement.pin] = wheel
        else:
            print(f"environment: {wheel.name} in the cache is damaged: fetched again", flush=True)
            wheel.unlink()
    return found


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


def key(locks: list[Path]) -> str:
    """What .venv was made from: when this changes, it is made again."""
    digest = hashlib.sha256()
    for path in [*locks, Path(__file__)]:
        digest.update(path.read_bytes())
    digest.update(f"{os.path.realpath(sys.executable)} {sys.version} {VENV}".encode())
    return digest.hexdigest()


def is_current(wanted: str) -> bool:
    try:
        return STAMP.read_text(encoding="utf-8") == wanted and (VENV / "bin" / "python").exists()
    except OSError:
        return False


def main() -> None:
    versions = load_versions()
    machine = platform.machine()
    if machine not in versions["platforms"]:
        raise BootstrapError(
            f"expected a machine of {' or '.join(versions['platforms'])}, got {machine}"
        )
    locks = [lock_path(versions, machine, group) for group in versions["lock"]]
    wanted = key(locks)
    if is_current(wanted):
        return
    requirements: dict[str, Requirement] = {}
    for path in locks:
        held = read_lock(path)
        refuse_unhashed(path, held)
        requirements |= {r.pin: r for r in held}
    start = time.monotonic()
    cache = cache_folder()
    folder = cache / "wheels" / f"{machine}-{locks[0].name.split('-')[1]}"
    folder.mkdir(parents=True, exist_ok=True)
    with (cache / "lock").open("w") as turn:
        # Two clones that start together share the downloads instead of racing for them.
        fcntl.flock(turn, fcntl.LOCK_EX)
        if is_current(wanted):
            return
        STAMP.unlink(missing_ok=True)
        with step("check the wheels in the cache"):
            wheels = cached_wheels(folder, list(requirements.values()))
        missing = [r for pin, r in requirements.items() if pin not in wheels]
        if missing:
            download(missing, folder, cache, versions["torch"]["index"])
            wheels = cached_wheels(folder, list(requirements.values()))
        install(locks, wheels, folder, cache)
        STAMP.write_text(wanted, encoding="utf-8")
    print(f"environment: .venv is ready: {time.monotonic() - start:.1f} s", flush=True)


if __name__ == "__main__":
    try:
        main()
    except (BootstrapError, LockError) as error:
        die(f"environment: {error}")
    except OSError as error:
        die(f"environment: cannot write {error.filename}: {error.strerror}")
