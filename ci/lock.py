# SPDX-License-Identifier: Apache-2.0
"""Regenerates what is derived from versions.toml; --check proves, offline, that it matches.

Derived: the requirements in ci/requirements, the Debian packages in docker/debian, the digests of
CANN's images (they stand in versions.toml itself), the generated parts of documents
(ci/derived.py) and the variants of the conda recipes (ci/variants.py).
"""

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import ClassVar

import debian
import derived
import images
import variants
from lock_file import UNRESOLVED, LockError, die, lock_path, normalize, read_lock, sha256
from versions import ROOT, VersionsError, load_versions, pairings, selections

# What only a CUDA build of torch asks for.
CUDA_ONLY = re.compile(r"(nvidia|cuda)-|triton(==|$)")
# 64 bytes in base64.
SHA512 = re.compile(r"[A-Za-z0-9+/]{86}==")
SUMS = "ci/requirements/SHA256SUMS"
HEADER = """\
# SPDX-License-Identifier: Apache-2.0
# Generated from versions.toml by `make lock`.
"""


def torch_build(versions: dict, machine: str) -> str:
    """The release of torch with the local part that names its CPU build, where it needs one."""
    torch = versions["stack"]["torch"]
    plain = f"{torch} {machine}" in versions["torch"]["plain"]
    return torch if plain else torch + versions["torch"]["build"]


def pins(versions: dict, machine: str, group: str) -> dict[str, str]:
    """Name -> version of what a lock file is asked to hold."""
    instead = versions["instead"].get(versions["stack"]["python"], {})
    without = ("python", "cann", "name", "source", *versions["platforms"][machine]["without"])
    wanted: dict[str, str] = {}
    for table in versions["lock"]["groups"][group]:
        for name, version in versions[table].items():
            if name == "torch":
                version = torch_build(versions, machine)
            if isinstance(version, str) and name not in without:
                wanted[normalize(name)] = instead.get(name, version)
    return wanted


class Solver:
    """Runs uv for one stack, Python and platform; the result is the text of a lock file."""

    # Indexes that gave no answer: asked once, not once per lock.
    silent: ClassVar[set[str]] = set()

    def __init__(self, versions: dict, machine: str) -> None:
        self.versions = versions
        self.machine = machine
        self.wheels = versions["platforms"][machine]["wheels"]
        self.torch = torch_build(versions, machine)

    def fetch_torch(self, folder: Path) -> bool:
        """Looks for torch's CPU wheel where the user's pip is told to look: a mirror, a folder."""
        python = self.versions["stack"]["python"]
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest"]
        command += [str(folder), "--only-binary=:all:", "--python-version", python]
        command += ["--platform", f"{self.wheels}_{self.machine}", f"torch=={self.torch}"]
        return subprocess.run(command, capture_output=True).returncode == 0

    def compile(self, wanted: dict[str, str], constraints: Path | None, *options: str) -> str:
        uv = Path(sys.executable).with_name("uv")
        # The system's certificates, as pip takes them: a network may have an authority of its own.
        command = [str(uv), "--no-config", "--system-certs", "pip", "compile", "-", "--quiet"]
        command += ["--generate-hashes"]
        command += ["--no-annotate", "--no-header", "--only-binary=:all:"]
        command += ["--python-version", self.versions["stack"]["python"]]
        command += ["--python-platform", f"{self.machine}-{self.wheels}", *options]
        if constraints:
            command += ["--constraints", str(constraints)]
        text = "".join(f"{name}=={version}\n" for name, version in wanted.items())
        done = subprocess.run(command, input=text, text=True, capture_output=True)
        if done.returncode:
            raise LockError(f"lock: {self.machine}: {' '.join(done.stderr.split())}")
        return done.stdout

    def solve(self, wanted: dict[str, str], constraints: Path | None) -> str:
        if "torch" not in wanted or "+" not in self.torch:
            return self.compile(wanted, constraints)
        with tempfile.TemporaryDirectory() as folder:
            if self.fetch_torch(Path(folder)):
                return self.compile(wanted, constraints, "--find-links", folder)
        index = self.versions["torch"]["index"]
        if index not in self.silent:
            try:
                return self.compile(wanted, constraints, "--index", index)
            except LockError:
                self.silent.add(index)
        return self.solve_from_cuda_build(wanted, constraints)

    def solve_from_cuda_build(self, wanted: dict[str, str], constraints: Path | None) -> str:
        """The CPU wheel is out of reach: it needs what the CUDA wheel needs, less CUDA."""
        torch = self.versions["stack"]["torch"]
        with tempfile.TemporaryDirectory() as folder:
            # Some releases of torch_npu ask for torch's CPU build by its full name.
            override = Path(folder) / "override.txt"
            override.write_text(f"torch=={torch}\n", encoding="utf-8")
            text = self.compile(
                dict(wanted, torch=torch), constraints, "--overrides", str(override)
            )
        blocks = re.findall(r"^\S.*\n(?:[ \t].*\n)*", text, re.MULTILINE)
        kept = [block for block in blocks if not CUDA_ONLY.match(block)]
        return "".join(self.torch_block() if b.startswith("torch==") else b for b in kept)

    def torch_block(self) -> str:
        wheel = f"{self.torch} {self.machine} {self.versions['stack']['python']}"
        digest = self.versions["torch"]["sha256"].get(wheel)
        if digest:
            return f"torch=={self.torch} \\\n    --hash=sha256:{digest}\n"
        index = self.versions["torch"]["index"]
        why = f"no wheel of it was found; run make lock where {index} answers"
        return f"torch=={self.torch}\n    {UNRESOLVED}{why}\n"


def generate(versions: dict, root: Path) -> None:
    jobs = [(one, machine) for one in selections(versions) for machine in one["platforms"]]
    for number, (selected, machine) in enumerate(jobs, 1):
        held: dict[str, str] = {}
        constraints = None
        for group in selected["lock"]["groups"]:
            path = lock_path(selected, machine, group, root)
            where = f"lock: {number}/{len(jobs)} {path.relative_to(root)}"
            wanted = pins(selected, machine, group)
            if is_right(path, wanted, held, root):
                state = "unchanged"
            else:
                solver = Solver(selected, machine)
                write(path, HEADER + solver.solve(wanted, constraints))
                state = "solved"
            locked = read_lock(path)
            held |= {requirement.name: requirement.version for requirement in locked}
            constraints = constraints or pins_only(path)
            open_ends = [requirement.pin for requirement in locked if not requirement.hashes]
            note = f", unresolved: {', '.join(open_ends)}" if open_ends else ""
            print(f"{where}: {state}, {len(locked)} requirements{note}", flush=True)
    for path in superfluous(versions, root):
        path.unlink()
        print(f"lock: {path.relative_to(root)}: removed")
    expected = digests(root)
    packages = debian.lock_paths(versions, root)
    same = all(expected.get(str(p.relative_to(root))) == sha256(p) for p in packages if p.is_file())
    if debian.problems(versions, root) or not same:
        debian.generate(versions, root)
    write_digests(root)
    file = root / "versions.toml"
    write(file, images.resolve(versions, file.read_text(encoding="utf-8")))
    for name, text in derived.texts(load_versions(root), root).items():
        write(root / name, text)
        print(f"lock: {name}")
    for name, text in variants.texts(versions, root, variants.resolve(versions)).items():
        write(root / name, text)
        print(f"lock: {name}")


def is_right(path: Path, wanted: dict[str, str], held: dict[str, str], root: Path) -> bool:
    """A lock that says what is asked for, all of it by hash, is not solved again."""
    if not path.is_file() or file_problems(path, wanted, dict(held), root):
        return False
    if digests(root).get(str(path.relative_to(root))) != sha256(path):
        return False
    return all(requirement.hashes for requirement in read_lock(path))


def write(path: Path, text: str) -> None:
    """In one step, so that a stop leaves the old file or the new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    half = path.with_name(f".{path.name}.new")
    half.write_text(text, encoding="utf-8")
    half.replace(path)


def pins_only(path: Path) -> Path:
    """A constraints file: the pins of a lock without its hashes."""
    file = Path(tempfile.mkdtemp()) / "constraints.txt"
    file.write_text("".join(r.pin + "\n" for r in read_lock(path)), encoding="utf-8")
    return file


def derived_files(root: Path) -> list[Path]:
    """The locks, of wheels and of Debian packages."""
    files = [*(root / "ci/requirements").rglob("*.txt"), *(root / "docker/debian").glob("*.sha256")]
    return sorted(files)


def digests(root: Path) -> dict[str, str]:
    """Lock -> the SHA-256 that it had when make lock wrote it."""
    file = root / SUMS
    lines = file.read_text(encoding="utf-8").splitlines() if file.is_file() else []
    return {name: digest for digest, _, name in (line.partition("  ") for line in lines)}


def write_digests(root: Path) -> None:
    lines = [f"{sha256(path)}  {path.relative_to(root)}\n" for path in derived_files(root)]
    write(root / SUMS, "".join(lines))


def digest_problems(root: Path) -> list[str]:
    """Locks that something else than make lock has written."""
    expected = digests(root)
    found = []
    for path in derived_files(root):
        name = str(path.relative_to(root))
        if expected.pop(name, "") != sha256(path):
            found.append(f"{name}:1: expected the sha256 that {SUMS} has of it, got another")
    return found + [f"{SUMS}: {name} is not there" for name in expected]


def value_problems(versions: dict, root: Path) -> list[str]:
    """Hashes in versions.toml that are none, or that the lock does not have."""
    file = root / "versions.toml"
    found = []
    for machine, value in versions["images"]["host"]["id"].items():
        if value != images.UNRESOLVED and not images.DIGEST.fullmatch(value):
            line = line_of(file, f'{machine} = "{value}"')
            found.append(
                f"versions.toml:{line}: expected {images.UNRESOLVED} or sha256:<64 hex digits> "
                f"for images.host.id, got '{value}'"
            )
    for name, pin in versions["npm"].items():
        if not SHA512.fullmatch(pin["sha512"]):
            line = line_of(file, f'sha512 = "{pin["sha512"]}"')
            found.append(f"versions.toml:{line}: expected a sha512 in base64 for {name}")
    for wheel, digest in versions["torch"]["sha256"].items():
        version, machine, python = wheel.split()
        for selected in selections(versions):
            torch = torch_build(selected, machine)
            if (torch, selected["stack"]["python"]) != (version, python):
                continue
            path = lock_path(selected, machine, next(iter(selected["lock"]["groups"])), root)
            hashes = next((one.hashes for one in read_lock(path) if one.name == "torch"), set())
            if digest not in hashes:
                line = line_of(file, f'"{wheel}"')
                where = path.relative_to(root)
                found.append(f"versions.toml:{line}: expected the hash of torch in {where}")
    return found


def superfluous(versions: dict, root: Path) -> list[Path]:
    """Lock files that versions.toml does not ask for."""
    expected = {
        lock_path(selected, machine, group, root)
        for selected in selections(versions)
        for machine in selected["platforms"]
        for group in selected["lock"]["groups"]
    }
    return sorted(set((root / "ci" / "requirements").rglob("*.txt")) - expected)


def problems(versions: dict, root: Path) -> list[str]:
    """Every way in which what is derived is not what versions.toml says."""
    found = pairing_problems(versions, root) + images.problems(versions, root)
    found += debian.problems(versions, root)
    for selected in selections(versions):
        for machine in selected["platforms"]:
            held: dict[str, str] = {}
            for group in selected["lock"]["groups"]:
                path = lock_path(selected, machine, group, root)
                if not path.is_file():
                    found.append(f"{path.relative_to(root)}: expected a lock file, found none")
                    continue
                found += file_problems(path, pins(selected, machine, group), held, root)
    for path in superfluous(versions, root):
        found.append(f"{path.relative_to(root)}: versions.toml asks for no such lock file")
    found = found or [*value_problems(versions, root), *digest_problems(root)]
    # What is written from the lock files cannot be told before they are right.
    return found or [*derived.problems(versions, root), *variants.problems(versions, root)]


def pairing_problems(versions: dict, root: Path) -> list[str]:
    """Stacks whose torch, torch_npu and CANN no compatibility table puts together."""
    found = []
    for selected in selections(versions):
        stack = selected["stack"]
        wanted = (stack["torch_npu"], stack["torch"], stack["cann"], stack["source"])
        if wanted not in pairings(versions):
            line = line_of(root / "versions.toml", f'torch_npu = "{stack["torch_npu"]}"')
            sentence = (
                f"versions.toml:{line}: stack {stack['name']}: expected torch_npu "
                f"{stack['torch_npu']} with torch {stack['torch']} and CANN {stack['cann']} in "
                f"the compatibility table '{stack['source']}', found none"
            )
            if sentence not in found:
                found.append(sentence)
    return found


def line_of(path: Path, start: str) -> int:
    lines = path.read_text(encoding="utf-8").splitlines()
    return next((n for n, line in enumerate(lines, 1) if line.startswith(start)), 0)


def file_problems(
    path: Path, wanted: dict[str, str], held: dict[str, str], root: Path
) -> list[str]:
    where = path.relative_to(root)
    try:
        requirements = read_lock(path)
    except LockError as error:
        return [f"{where.parent}/{error}"]
    found = []
    names = {r.name: r for r in requirements}
    for name, version in wanted.items():
        if name not in names:
            found.append(f"{where}: expected {name}=={version}, found no {name}")
        elif names[name].version != version:
            line = names[name].line
            found.append(f"{where}:{line}: expected {name}=={version}, got {names[name].pin}")
    for requirement in requirements:
        if not requirement.hashes and not requirement.unresolved:
            found.append(f"{where}:{requirement.line}: {requirement.pin} has no hash")
        if CUDA_ONLY.match(requirement.name):
            found.append(f"{where}:{requirement.line}: {requirement.pin} belongs to a CUDA build")
        other = held.setdefault(requirement.name, requirement.version)
        if other != requirement.version:
            found.append(
                f"{where}:{requirement.line}: expected {requirement.name}=={other} as in "
                f"the lock before it, got {requirement.pin}"
            )
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare only, offline")
    parser.add_argument("--root", type=Path, default=ROOT, help="a checkout other than this one")
    options = parser.parse_args()
    try:
        if not options.check:
            generate(load_versions(options.root), options.root)
        # make lock writes digests into versions.toml itself.
        found = problems(load_versions(options.root), options.root)
    except (LockError, VersionsError) as error:
        die(error)
    if found:
        sentence = "lock: what is derived is not what versions.toml says; run make lock"
        die("\n".join([*found, sentence]))
    print("lock: everything derived is what versions.toml says")


if __name__ == "__main__":
    main()
