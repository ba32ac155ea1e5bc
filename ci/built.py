# SPDX-License-Identifier: Apache-2.0
"""Runs a build and writes down, beside each wheel it made, what it was made from.

The record, <file>.built.json, is what ci/evidence.py attests. None is written where git does not
know the checkout, or when the checkout changed while it was built.
--forget: wheels of another state of the checkout count as not built, so that make builds them.
"""

import argparse
import functools
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import device
from lock_file import LockError, Requirement, lock_path, read_lock, sha256
from versions import ROOT, chosen, load_versions
from wheel_cache import BootstrapError, digest_of, wheels_of

WHEELS = ROOT / "build" / "wheels"
DONE = ROOT / "build" / "done"
SHOWN = 3
BUILD_TYPE = "urn:ascendc-ops:make-build"
# The group of the lock that every stack has.
FIRST = next(iter(load_versions()["lock"]["groups"]))


class BuiltError(Exception):
    """A sentence for the user."""


def git(*arguments: str, index: Path | None = None) -> bytes:
    env = os.environ | ({"GIT_INDEX_FILE": str(index)} if index else {})
    try:
        command = ["git", "-C", str(ROOT), *arguments]
        done = subprocess.run(command, env=env, capture_output=True)
    except OSError as error:
        raise BuiltError(f"git: {error.strerror}") from error
    if done.returncode:
        why = " ".join(done.stderr.decode(errors="replace").split())
        raise BuiltError(f"git {arguments[0]}: {why}")
    return done.stdout


def line_of_git(*arguments: str, index: Path | None = None) -> str:
    return git(*arguments, index=index).decode().strip()


def tree() -> str:
    """git's name for the files as they are now, committed or not, without the ignored ones."""
    with tempfile.TemporaryDirectory() as folder:
        index = Path(folder, "index")
        # What git knows of unchanged files saves reading them.
        shutil.copy(ROOT / line_of_git("rev-parse", "--git-path", "index"), index)
        git("add", "--all", index=index)
        return line_of_git("write-tree", index=index)


def source() -> dict:
    """The state of the checkout: its commit, its files, and which of them the commit lacks."""
    changed = git("status", "--porcelain", "-z", "--no-renames", "--untracked-files=all").decode()
    return {
        "gitCommit": line_of_git("rev-parse", "HEAD"),
        "gitTree": tree(),
        "changedFiles": [line[3:] for line in changed.split("\0") if line],
    }


def revision() -> str:
    """The commit, and whether the checkout differs from it."""
    try:
        now = source()
    except BuiltError:
        return "unknown"
    return now["gitCommit"] + ("-dirty" if now["changedFiles"] else "")


def lock_file() -> Path:
    return lock_path(chosen(), platform.machine(), FIRST)


@functools.cache
def installed_wheels() -> dict[str, tuple[Requirement, str]]:
    """Name -> requirement and SHA-256 of the wheel that .venv was made from."""
    wheels = wheels_of(FIRST)
    return {held.name: (held, digest_of(wheels[held.pin])) for held in read_lock(lock_file())}


def tool_version(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True)
    return done.stdout.splitlines()[0] if done.returncode == 0 and done.stdout else "not found"


def dependencies(now: dict, *files: Path) -> list[dict]:
    """The sources, the files that decide what is downloaded, and what was, each with its hash."""
    commit = {"name": "source", "digest": {key: now[key] for key in ("gitCommit", "gitTree")}}
    held = [
        {"name": str(path.relative_to(ROOT)), "digest": {"sha256": sha256(path)}}
        for path in (ROOT / "versions.toml", lock_file(), *files)
    ]
    wheels = [
        {"name": held.pin, "digest": {"sha256": digest}}
        for held, digest in installed_wheels().values()
    ]
    return [commit, *held, *wheels]


def definition(now: dict) -> dict:
    """What is built here now, in the words of SLSA's buildDefinition."""
    chosen_device = device.decide()
    cmake = Path(sys.executable).with_name("cmake")
    return {
        "buildType": BUILD_TYPE,
        "externalParameters": {"device": chosen_device.kind, "npuArch": chosen_device.npu_arch},
        "internalParameters": {
            "changedFiles": now["changedFiles"],
            "cann": chosen_device.description,
            "compiler": tool_version("g++", "--version"),
            "cmake": tool_version(str(cmake), "--version"),
            "python": platform.python_version(),
            "machine": platform.machine(),
        },
        "resolvedDependencies": dependencies(now),
    }


def record_of(artifact: Path) -> Path:
    return artifact.with_name(f"{artifact.name}.built.json")


def record(artifact: Path, before: dict) -> None:
    """Writes what was built, unless the checkout is no longer what it was `before` the build."""
    now = source()
    if now != before:
        raise BuiltError("the checkout changed while it was built")
    content = {"sha256": sha256(artifact), "buildDefinition": definition(now)}
    record_of(artifact).write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


def recorded(artifact: Path) -> dict:
    """The buildDefinition of an artifact.

    Raises:
        BuiltError: it has no record, or is not the file that the record is about.
    """
    file = record_of(artifact)
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
        digest, found = content["sha256"], content["buildDefinition"]
        state_of(found)
    except FileNotFoundError as error:
        raise BuiltError(f"expected the record of its build, {file.name}, got none") from error
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise BuiltError(
            f"expected the record of its build in {file.name}, got {error!r}"
        ) from error
    if (held := sha256(artifact)) != digest:
        raise BuiltError(f"expected sha256 {digest}, which was built, got {held}")
    return found


def state_of(definition: dict) -> dict:
    """The state of the checkout that a buildDefinition tells of."""
    commit = definition["resolvedDependencies"][0]["digest"]
    changed = definition["internalParameters"]["changedFiles"]
    return {**{key: commit[key] for key in ("gitCommit", "gitTree")}, "changedFiles": changed}


def said(state: dict) -> str:
    text = f"commit {state['gitCommit']}"
    changed = state["changedFiles"]
    if changed:
        more = f" and {len(changed) - SHOWN} more" if len(changed) > SHOWN else ""
        text += f" with other {', '.join(changed[:SHOWN])}{more} (tree {state['gitTree']})"
    return text


def attested(wheel: Path) -> dict:
    """The buildDefinition of a wheel that this checkout, as it is, has built.

    Raises:
        BuiltError: something else has, or another state of it.
    """
    found = recorded(wheel)
    built, now = state_of(found), source()
    if built != now:
        raise BuiltError(f"expected a build of {said(now)}, got one of {said(built)}")
    return found


def forget() -> None:
    for wheel in WHEELS.glob("*/*.whl"):
        try:
            attested(wheel)
        except BuiltError:
            (DONE / f"wheel-{wheel.parent.name}").unlink(missing_ok=True)


def run(folder: Path, command: list[str]) -> int:
    try:
        before = source()
    except BuiltError as error:
        before = {}
        print(f"built: no record of what is built: {error}")
    done = subprocess.run(command)
    if done.returncode == 0 and before:
        try:
            for wheel in folder.glob("*.whl"):
                record(wheel, before)
        except (BootstrapError, BuiltError, LockError, device.DeviceError) as error:
            print(f"built: no record of what is built: {error}")
    return done.returncode


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--forget", action="store_true", help="what others have built")
    parser.add_argument("folder", nargs="?", type=Path, help="where the wheels will lie")
    parser.add_argument("argv", nargs=argparse.REMAINDER, metavar="-- command …")
    options = parser.parse_args()
    if options.forget:
        forget()
        return
    argv = options.argv[1:] if options.argv[:1] == ["--"] else options.argv
    if not argv:
        sys.exit("built: expected a folder and a command, got none")
    sys.exit(run(options.folder, argv))


if __name__ == "__main__":
    main()
