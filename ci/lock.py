# SPDX-License-Identifier: Apache-2.0
"""Generates ci/requirements/*.txt from versions.toml; --check proves, offline, that they match."""

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from lock_file import UNRESOLVED, LockError, die, lock_path, normalize, read_lock
from versions import ROOT, load_versions

# What only a CUDA build of torch asks for.
CUDA_ONLY = re.compile(r"(nvidia|cuda)-|triton(==|$)")
HEADER = """\
# SPDX-License-Identifier: Apache-2.0
# Generated from versions.toml by `make lock`.
"""


def pins(versions: dict, machine: str, group: str) -> dict[str, str]:
    """Name -> version of what a lock file is asked to hold."""
    wanted: dict[str, str] = {}
    for table in versions["lock"][group]:
        for name, version in versions[table].items():
            if name in ("python", "cann", *versions["platforms"][machine]["without"]):
                continue
            build = versions["torch"]["build"] if name == "torch" else ""
            wanted[normalize(name)] = version + build
    return wanted


class Solver:
    """Runs uv for one platform; the result is the text of a lock file."""

    def __init__(self, versions: dict, machine: str) -> None:
        self.versions = versions
        self.machine = machine
        self.wheels = versions["platforms"][machine]["wheels"]
        self.torch = versions["stack"]["torch"] + versions["torch"]["build"]

    def fetch_torch(self, folder: Path) -> bool:
        """Looks for torch's CPU wheel where the user's pip is told to look: a mirror, a folder."""
        python = self.versions["stack"]["python"]
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest"]
        command += [str(folder), "--only-binary=:all:", "--python-version", python]
        command += ["--platform", f"{self.wheels}_{self.machine}", f"torch=={self.torch}"]
        return subprocess.run(command, capture_output=True).returncode == 0

    def compile(self, wanted: dict[str, str], constraints: Path | None, *options: str) -> str:
        uv = Path(sys.executable).with_name("uv")
        command = [str(uv), "--no-config", "pip", "compile", "-", "--quiet", "--generate-hashes"]
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
        if "torch" not in wanted or not self.versions["torch"]["build"]:
            return self.compile(wanted, constraints)
        with tempfile.TemporaryDirectory() as folder:
            if self.fetch_torch(Path(folder)):
                return self.compile(wanted, constraints, "--find-links", folder)
        try:
            index = self.versions["torch"]["index"]
            return self.compile(wanted, constraints, "--index", index)
        except LockError:
            return self.solve_from_cuda_build(wanted, constraints)

    def solve_from_cuda_build(self, wanted: dict[str, str], constraints: Path | None) -> str:
        """The CPU wheel is out of reach: it needs what the CUDA wheel needs, less CUDA."""
        plain = dict(wanted, torch=self.versions["stack"]["torch"])
        text = self.compile(plain, constraints)
        blocks = re.findall(r"^\S.*\n(?:[ \t].*\n)*", text, re.MULTILINE)
        kept = [block for block in blocks if not CUDA_ONLY.match(block)]
        return "".join(self.torch_block() if b.startswith("torch==") else b for b in kept)

    def torch_block(self) -> str:
        digest = self.versions["torch"]["sha256"].get(f"{self.torch} {self.machine}")
        if digest:
            return f"torch=={self.torch} \\\n    --hash=sha256:{digest}\n"
        index = self.versions["torch"]["index"]
        why = f"no wheel of it was found; run make lock where {index} answers"
        return f"torch=={self.torch}\n    {UNRESOLVED}{why}\n"


def generate(versions: dict, root: Path) -> None:
    for machine in versions["platforms"]:
        solver = Solver(versions, machine)
        constraints = None
        for group in versions["lock"]:
            path = lock_path(versions, machine, group, root)
            text = HEADER + solver.solve(pins(versions, machine, group), constraints)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            constraints = constraints or pins_only(path)
            print(f"lock: {path.relative_to(root)}: {len(read_lock(path))} requirements")


def pins_only(path: Path) -> Path:
    """A constraints file: the pins of a lock without its hashes."""
    file = Path(tempfile.mkdtemp()) / "constraints.txt"
    file.write_text("".join(r.pin + "\n" for r in read_lock(path)), encoding="utf-8")
    return file


def problems(versions: dict, root: Path) -> list[str]:
    """Every way in which the lock files are not what versions.toml says."""
    found = []
    expected = set()
    for machine in versions["platforms"]:
        held: dict[str, str] = {}
        for group in versions["lock"]:
            path = lock_path(versions, machine, group, root)
            expected.add(path)
            if not path.is_file():
                found.append(f"{path.relative_to(root)}: expected a lock file, found none")
                continue
            found += file_problems(path, pins(versions, machine, group), held, root)
    for path in sorted((root / "ci" / "requirements").glob("*.txt")):
        if path not in expected:
            found.append(f"{path.relative_to(root)}: versions.toml asks for no such lock file")
    return found


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
    versions = load_versions(options.root)
    if not options.check:
        try:
            generate(versions, options.root)
        except LockError as error:
            die(error)
    found = problems(versions, options.root)
    if found:
        sentence = "lock: the lock files are not what versions.toml says; run make lock"
        die("\n".join([*found, sentence]))
    print("lock: every lock file is what versions.toml says")


if __name__ == "__main__":
    main()
