# SPDX-License-Identifier: Apache-2.0
"""Debian packages by hash: docker/debian/<machine>-<stage>.sha256 lists them, as sha256sum does.

A line names a file of the archive's pool, so that no package index is needed to fetch it.
"""

import os
import re
import subprocess
import tempfile
import time
from pathlib import Path
from urllib.parse import quote, unquote

from lock_file import LockError, sha256
from versions import ROOT

STAGES = ("base", "build")
ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
HELPER = "/usr/lib/apt/apt-helper"
# Debian's archive drops a version when the next one is out; the variable names one that keeps
# what Debian ever had.
SNAPSHOTS = "DEBIAN_SNAPSHOTS"
HEADER = """\
# SPDX-License-Identifier: Apache-2.0
# Generated from versions.toml by `make lock`, of the archive as it was at {when}.
"""


class GoneError(LockError):
    """The archive has another version now than the lock names."""


def lock_path(machine: str, stage: str, root: Path = ROOT) -> Path:
    return root / "docker" / "debian" / f"{machine}-{stage}.sha256"


def lock_paths(versions: dict, root: Path = ROOT) -> list[Path]:
    return [
        lock_path(machine, stage, root) for machine in versions["platforms"] for stage in STAGES
    ]


def read_lock(path: Path) -> dict[str, str]:
    """File of the pool -> SHA-256."""
    held = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if line.startswith("#"):
            continue
        found = re.fullmatch(r"([0-9a-f]{64})  (pool/\S+\.deb)", line)
        if not found:
            raise LockError(f"{path.name}:{number}: expected '<sha256>  pool/….deb', got '{line}'")
        held[found[2]] = found[1]
    return held


def taken(path: Path) -> str:
    """When the archive had every file of a lock."""
    return re.search(r"as it was at (\d{8}T\d{6}Z)\.$", path.read_text(), re.MULTILINE)[1]


def snapshot(address: str, file: str, when: str) -> str:
    """Where a file of the pool lies for good."""
    archive = "debian-security" if file.startswith("pool/updates/") else "debian"
    return f"{address.rstrip('/')}/{archive}/{when}/{quote(file)}"


def package(file: str) -> str:
    """The package of a file such as pool/main/b/bash/bash_5.2.15-2_amd64.deb."""
    return Path(file).name.partition("_")[0]


def apt(*arguments: str) -> str:
    try:
        done = subprocess.run(arguments, capture_output=True, text=True)
    except FileNotFoundError as error:
        raise LockError(
            f"{arguments[0]} is not there: Debian packages are collected on Debian or a relative; "
            "copy build/wheelhouse from such a machine"
        ) from error
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if line.startswith("E:")]
        raise LockError(" ".join(lines or done.stderr.split()))
    return done.stdout


def archives(codename: str) -> list[tuple[str, str]]:
    """(address, suite) of the Debian archives that this machine's apt is told to use."""
    fields = "$(REPO_URI) $(RELEASE) $(COMPONENT)"
    listed = apt("apt-get", "indextargets", "--no-release-info", "--format", fields)
    suites = (codename, f"{codename}-updates", f"{codename}-security")
    found = []
    for line in dict.fromkeys(listed.splitlines()):
        address, suite, component = line.split()
        if component == "main" and suite in suites:
            found.append((address, suite))
    if not found:
        raise LockError(
            f"expected an archive of Debian {codename} among apt's sources, found none: "
            "copy build/wheelhouse from a machine of that release"
        )
    return found


class Solver:
    """apt in a folder of its own: it knows the archives and no installed package."""

    def __init__(self, folder: Path, machine: str, codename: str) -> None:
        signed = "[signed-by=/usr/share/keyrings/debian-archive-keyring.gpg]"
        sources = "".join(
            f"deb {signed} {address} {suite} main\n" for address, suite in archives(codename)
        )
        (folder / "sources.list").write_text(sources, encoding="utf-8")
        (folder / "status").touch()
        (folder / "lists" / "partial").mkdir(parents=True)
        architecture = ARCHITECTURES[machine]
        settings = {
            "Dir::Etc::sourcelist": folder / "sources.list",
            "Dir::Etc::sourceparts": "/dev/null",
            "Dir::Etc::preferencesparts": "/dev/null",
            "Dir::State": folder,
            "Dir::State::status": folder / "status",
            "Dir::Cache": folder,
            "APT::Architecture": architecture,
            "APT::Architectures": architecture,
            "APT::Sandbox::User": "root",
            "Acquire::ForceHash": "SHA256",
            "Acquire::Languages": "none",
        }
        self.command = ["apt-get", "-qq"]
        for name, value in settings.items():
            self.command += ["-o", f"{name}={value}"]
        apt(*self.command, "update")

    def solve(self, packages: list[str]) -> dict[str, str]:
        """What these packages and the essential ones need."""
        options = ["--yes", "--no-install-recommends", "--print-uris", "install"]
        # apt counts itself as essential; an image that installs nothing later has no use for it.
        options.append("?and(?essential, ?not(?exact-name(apt)))")
        lines = apt(*self.command, *options, *packages).splitlines()
        found = re.findall(
            r"^'\S+?/(pool/\S+)' \S+ \d+ SHA256:([0-9a-f]{64})$", "\n".join(lines), re.MULTILINE
        )
        if len(found) != len(lines):
            raise LockError(f"lock: expected a SHA-256 for each of {len(lines)} Debian packages")
        return {unquote(file): digest for file, digest in found}


def solve(versions: dict, machine: str) -> dict[str, dict[str, str]]:
    """Stage -> file of the pool -> SHA-256, of the archive as it is now, signed by Debian."""
    host = versions["images"]["host"]
    with tempfile.TemporaryDirectory() as folder:
        solver = Solver(Path(folder), machine, host["codename"])
        wanted: list[str] = []
        held: dict[str, str] = {}
        found = {}
        for stage in STAGES:
            wanted += host[stage]
            solved = solver.solve(wanted)
            found[stage] = {file: solved[file] for file in sorted(solved) if file not in held}
            held |= solved
    return found


def generate(versions: dict, root: Path) -> None:
    when = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    for machine in versions["platforms"]:
        for stage, files in solve(versions, machine).items():
            path = lock_path(machine, stage, root)
            path.parent.mkdir(parents=True, exist_ok=True)
            lines = "".join(f"{digest}  {file}\n" for file, digest in files.items())
            path.write_text(HEADER.format(when=when) + lines, encoding="utf-8")
            print(f"lock: {path.relative_to(root)}: {len(files)} packages")


def problems(versions: dict, root: Path) -> list[str]:
    """Every way in which the lock files are not what versions.toml says."""
    found = []
    for machine in versions["platforms"]:
        for stage in STAGES:
            path = lock_path(machine, stage, root)
            where = path.relative_to(root)
            try:
                held = {package(file) for file in read_lock(path)}
            except FileNotFoundError:
                found.append(f"{where}: expected a lock file, found none")
                continue
            except LockError as error:
                found.append(f"{where.parent}/{error}")
                continue
            missing = [name for name in versions["images"]["host"][stage] if name not in held]
            found += [f"{where}: expected {name}, found no {name}" for name in missing]
    return found


def provide(versions: dict, machine: str, cache: Path, unpinned: bool) -> dict[str, list[Path]]:
    """Stage -> its packages in the cache: the lock's, or those that took the place of some.

    Raises:
        GoneError: the archive has another version now, and that is not asked for.
    """
    locks = [lock_path(machine, stage) for stage in STAGES]
    held = {stage: read_lock(lock) for stage, lock in zip(STAGES, locks, strict=True)}
    codename = versions["images"]["host"]["codename"]
    try:
        return collect_stages(held, codename, cache, min(map(taken, locks)))
    except GoneError as error:
        if not unpinned:
            raise
        print(f"wheelhouse: {error}", flush=True)
    # One state of the archive for all stages: half of an update does not install.
    found = solve(versions, machine)
    locked = {file for files in held.values() for file in files}
    present = {file for files in found.values() for file in files}
    names = ", ".join(sorted(Path(file).name for file in present - locked))
    print(f"wheelhouse: not pinned, Debian's signature alone speaks for {names}", flush=True)
    return collect_stages(found, codename, cache)


def collect_stages(
    stages: dict[str, dict[str, str]], codename: str, cache: Path, when: str = ""
) -> dict[str, list[Path]]:
    return {stage: collect(files, codename, cache, when) for stage, files in stages.items()}


def collect(held: dict[str, str], codename: str, cache: Path, when: str = "") -> list[Path]:
    """These files of the pool, from the cache or an archive; none whose hash is another."""
    cache.mkdir(parents=True, exist_ok=True)
    for file, digest in held.items():
        cached = cache / Path(file).name
        if cached.exists() and sha256(cached) != digest:
            print(f"wheelhouse: {cached.name} in the cache is damaged: fetched again", flush=True)
            cached.unlink()
    missing = {file: d for file, d in held.items() if not (cache / Path(file).name).exists()}
    if missing:
        print(f"wheelhouse: download {len(missing)} Debian packages ...", flush=True)
        start = time.monotonic()
        fetch(missing, codename, cache, when)
        print(f"wheelhouse: downloaded in {time.monotonic() - start:.1f} s", flush=True)
    return [cache / Path(file).name for file in held]


def fetch(wanted: dict[str, str], codename: str, cache: Path, when: str) -> None:
    said = ""
    with tempfile.TemporaryDirectory(dir=cache) as folder:
        arriving = {file: Path(folder) / Path(file).name for file in wanted}
        # Security updates have a pool of their own, until they move to the other one.
        addresses = dict.fromkeys(address for address, _ in archives(codename))
        places = [lambda file, address=address: address + quote(file) for address in addresses]
        if when and (kept := os.environ.get(SNAPSHOTS)):
            places.append(lambda file: snapshot(kept, file, when))
        for place in places:
            left = {place(file): str(path) for file, path in arriving.items() if not path.exists()}
            try:
                download(left)
            except LockError as error:
                # apt says the same of each file.
                said = said or str(error).partition(" E: ")[0]
        if gone := [path.name for path in arriving.values() if not path.exists()]:
            more = f" and {len(gone) - 1} more" if gone[1:] else ""
            raise GoneError(
                f"{gone[0]}{more}: Debian's archive has it no longer ({said}): put it into "
                f"{cache}, name an archive of Debian's snapshots by {SNAPSHOTS}=, or say "
                "ALLOW_UNPINNED=1 to take what the archive has now"
            )
        for file, arrived in arriving.items():
            if sha256(arrived) != wanted[file]:
                raise LockError(
                    f"{arrived.name}: expected sha256 {wanted[file]}, got {sha256(arrived)}: the "
                    "mirror in apt's sources serves another file; use another mirror"
                )
            arrived.replace(cache / arrived.name)


def download(files: dict[str, str]) -> None:
    """Address -> where it goes."""
    if files:
        triples = (word for pair in files.items() for word in (*pair, ""))
        apt(HELPER, "-o", "Acquire::http::Timeout=20", "download-file", *triples)
