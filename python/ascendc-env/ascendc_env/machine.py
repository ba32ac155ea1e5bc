# SPDX-License-Identifier: Apache-2.0
"""The machine that is looked at: its files below a root, its environment, its user, its Python."""

import json
import os
import platform
import re
import selectors
import signal
import stat
import subprocess
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from .mismatch import holds, text_of

# A child that does not answer is given up; torch may be loaded from a slow disk.
SECONDS = 20
LOADING_SECONDS = 120
# As is one that says more than this.
SPOKEN = 1 << 20

# Run by the interpreter that is looked at, which may be any Python, so it is told by its version.
# Imports none of the packages it asks about.
# A folder of such a name where the doctor is called is not what a program would import.
NOT_HERE = "import sys; sys.path[:] = [folder for folder in sys.path if folder]\n"
ASK_PYTHON = r"""
import json, os, platform, sys, sysconfig
try:
    import importlib.metadata as metadata, importlib.util as util
except ImportError:
    metadata = util = None
def version(name):
    try:
        return metadata.version(name) or ""
    except Exception:
        return ""
def releases(name):
    # Of the folder that the first is in: another one behind it is hidden, as in any venv.
    try:
        found = list(metadata.distributions(name=name))
        first = [d for d in found if d.locate_file("") == found[0].locate_file("")]
        return sorted(set(d.version for d in first))
    except Exception:
        return []
def folder(name):
    try:
        spec = util.find_spec(name)
        return (spec.submodule_search_locations or [spec.origin or ""])[0]
    except Exception:
        return ""
def backends():
    points = metadata.entry_points() if metadata else {}
    group = "torch.backends"
    found = points.select(group=group) if hasattr(points, "select") else points.get(group, ())
    return sorted(point.name for point in found)
names = sys.argv[2].split()
print("\n" + sys.argv[1] + json.dumps({
    "implementation": platform.python_implementation(),
    "version": platform.python_version(),
    "prefix": sys.prefix,
    "binary": os.path.realpath(sys.executable),
    "include": sysconfig.get_path("include"),
    "suffix": sysconfig.get_config_var("EXT_SUFFIX") or "",
    "free_threaded": bool(sysconfig.get_config_var("Py_GIL_DISABLED")),
    "versions": dict((name, version(name)) for name in names),
    "releases": dict((name, releases(name)) for name in names[:2]),
    "folders": dict((name, folder(name)) for name in names),
    "backends": backends(),
    "path": sys.path,
}))
"""
# Looked for in the interpreter: the stack, our packages, and what CANN's own Python code imports.
CANN_MODULES = ("attr", "decorator", "numpy", "psutil", "scipy", "yaml")
ASKED = ("torch", "torch_npu", "ascendc_ops", "ascendc_ops_lib", *CANN_MODULES)


class MachineError(Exception):
    """A sentence for the user."""


@dataclass(frozen=True)
class Python:
    """The interpreter that is looked at; paths as the machine says them."""

    executable: str
    # Why it could not be asked; everything below is empty then.
    problem: str = ""
    version: str = ""
    implementation: str = ""
    prefix: str = ""
    binary: str = ""
    include: str = ""
    suffix: str = ""
    free_threaded: bool = False
    versions: dict[str, str] = field(default_factory=dict)
    # Of torch and torch_npu, every release with a record in the folder: more than one is wrong.
    releases: dict[str, list[str]] = field(default_factory=dict)
    folders: dict[str, str] = field(default_factory=dict)
    backends: list[str] = field(default_factory=list)
    # Where it looks for packages.
    path: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class User:
    name: str
    uid: int
    gids: frozenset[int]

    def may_use(self, status: os.stat_result) -> bool:
        """Whether the mode bits let this user read and write."""
        if self.uid == 0:
            return True
        if self.uid == status.st_uid:
            return status.st_mode & 0o600 == 0o600
        if status.st_gid in self.gids:
            return status.st_mode & 0o060 == 0o060
        return status.st_mode & 0o006 == 0o006


def listen(child: subprocess.Popen, seconds: float) -> tuple[str, str, float]:
    """What it says on its two streams, each up to SPOKEN, and the seconds that are left for it."""
    said = {child.stdout: b"", child.stderr: b""}
    end = time.monotonic() + seconds
    with selectors.DefaultSelector() as open_ones:
        for stream in said:
            open_ones.register(stream, selectors.EVENT_READ)
        while open_ones.get_map() and time.monotonic() < end:
            for key, _ in open_ones.select(end - time.monotonic()):
                data = os.read(key.fd, 1 << 16)
                said[key.fileobj] += data
                if not data or len(said[key.fileobj]) > SPOKEN:
                    open_ones.unregister(key.fileobj)
                    # One that goes on ends for want of a reader.
                    key.fileobj.close()
    out, err = (text.decode("utf-8", errors="replace") for text in said.values())
    return out, err, max(end - time.monotonic(), 0)


@dataclass(frozen=True)
class Machine:
    env: Mapping[str, str]
    executable: str
    root: Path = Path("/")
    user_name: str = ""

    @property
    def rooted(self) -> bool:
        """Whether the machine is a folder of this one."""
        return self.root != Path("/")

    def path(self, said: str) -> Path:
        """Where a path of the machine lies on this disk; its links stay below the root."""
        if not self.rooted:
            return Path(said)
        here = self.root
        inside = os.path.relpath(said, self.root) if said.startswith(f"{self.root}/") else said
        parts = [p for p in inside.split("/") if p not in ("", ".")]
        for _ in range(256):
            if not parts:
                return here
            part = parts.pop(0)
            if part == "..":
                here = here if here == self.root else here.parent
                continue
            step = here / part
            if holds(step.is_symlink):
                target = str(step.readlink())
                parts = [p for p in target.split("/") if p not in ("", ".")] + parts
                here = self.root if target.startswith("/") else here
            else:
                here = step
        # A circle of links: where nothing can be.
        return Path(os.devnull, "circle")

    def said(self, path: Path | str) -> str:
        """The machine's own name of a path on this disk."""
        text = str(path)
        if self.rooted and text.startswith(f"{self.root}/"):
            return text[len(str(self.root)) :]
        return text

    def real(self, said: str) -> str:
        return self.said(os.path.realpath(self.path(said)))

    def read(self, said: str) -> str:
        """The text of a file; nothing when it is not there or not readable."""
        return text_of(self.path(said))

    def value(self, said: str, key: str) -> str:
        """What `key=value` in a file says, whatever the case and spacing."""
        found = re.search(rf"^\s*{key}\s*=\s*(\S+)", self.read(said), re.I | re.M)
        return found[1].strip("\"'[]") if found else ""

    def exists(self, said: str) -> bool:
        return holds(self.path(said).exists)

    def is_dir(self, said: str) -> bool:
        return holds(self.path(said).is_dir)

    def is_file(self, said: str) -> bool:
        return holds(self.path(said).is_file)

    def unreadable(self, said: str) -> bool:
        """Whether it is there, or may be, and the one who looks has no right to it."""
        path = self.path(said)
        try:
            mode = os.R_OK | os.X_OK if stat.S_ISDIR(path.stat().st_mode) else os.R_OK
        except PermissionError:
            return True
        except OSError:
            return False
        return not os.access(path, mode)

    def glob(self, folder: str, pattern: str) -> list[str]:
        """The names in a folder that match, sorted."""
        base = self.path(folder)
        try:
            return sorted(f"{folder}/{path.relative_to(base)}" for path in base.glob(pattern))
        except (OSError, RuntimeError, ValueError):
            # No right to it, or no pattern: it may be from a file of the machine.
            return []

    def entries(self, variable: str) -> list[str]:
        """The folders that a variable such as LD_LIBRARY_PATH names."""
        # The dynamic linker takes a semicolon as well.
        between = "[:;]" if variable == "LD_LIBRARY_PATH" else ":"
        return [part for part in re.split(between, self.env.get(variable, "")) if part]

    def find_program(self, name: str) -> str:
        """Where PATH, or a folder that Ascend's tools are known to be in, has a program."""
        for folder in [*self.entries("PATH"), "/usr/local/sbin", "/usr/local/bin"]:
            found = self.path(f"{folder}/{name}")
            if holds(found.is_file) and os.access(found, os.X_OK):
                return f"{folder}/{name}"
        return ""

    def run(
        self, program: str, *arguments: str, seconds: float = 0
    ) -> subprocess.CompletedProcess[str]:
        """Runs a program of the machine in a child; exit code 127 when it cannot be started."""
        # The name itself is kept: a virtual environment knows itself by where the link lies.
        said = Path(program)
        return self.spawn(str(self.path(str(said.parent)) / said.name), *arguments, seconds=seconds)

    def child(
        self, code: str, *arguments: str, seconds: float = 0
    ) -> subprocess.CompletedProcess[str]:
        """Runs Python code with the interpreter that is looked at."""
        return self.run(self.executable, "-c", NOT_HERE + code, *arguments, seconds=seconds)

    def spawn(self, *command: str, seconds: float = 0) -> subprocess.CompletedProcess[str]:
        """Runs a program of this disk in the machine's environment."""
        seconds = seconds or SECONDS
        try:
            child = subprocess.Popen(
                command,
                env=self.env,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                # So that what it started ends with it.
                start_new_session=True,
            )
        except OSError as error:
            return subprocess.CompletedProcess(command, 127, "", error.strerror or str(error))
        with child:
            out, err, left = listen(child, seconds)
            try:
                child.wait(left)
            except subprocess.TimeoutExpired:
                os.killpg(child.pid, signal.SIGKILL)
                said = f"no answer within {seconds} s"
                return subprocess.CompletedProcess(command, 124, "", said)
        return subprocess.CompletedProcess(command, child.returncode, out, err)

    @cached_property
    def architecture(self) -> str:
        return platform.machine()

    @cached_property
    def python(self) -> Python:
        """Asked in a child, so that nothing it has installed can harm the one who asks."""
        # A site hook may print before and after, anything but this.
        mark = f"ascendc-env {os.urandom(8).hex()}: "
        done = self.child(ASK_PYTHON, mark, " ".join(ASKED))
        lines = [s for s in done.stdout.splitlines() if s.startswith(mark)]
        if done.returncode or not lines:
            why = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
            return Python(self.executable, why)
        facts = json.loads(lines[-1].removeprefix(mark))
        for name in ("prefix", "binary", "include"):
            facts[name] = self.said(facts[name])
        facts["path"] = [self.said(folder) for folder in facts["path"]]
        facts["folders"] = {name: self.said(folder) for name, folder in facts["folders"].items()}
        return Python(self.executable, **facts)

    def _lines(self, file: str) -> Iterator[list[str]]:
        for line in self.read(file).splitlines():
            # As the C library does, a line without a number is passed over.
            if line.count(":") >= 3 and line.split(":")[2].isdecimal():
                yield line.split(":")

    def group_name(self, gid: int) -> str:
        """The group's name; its number where the machine has no name for it."""
        return next((p[0] for p in self._lines("/etc/group") if p[2] == str(gid)), str(gid))

    @cached_property
    def user(self) -> User:
        """The one who shall use the NPU."""
        if not self.user_name:
            uid = os.geteuid()
            name = next((p[0] for p in self._lines("/etc/passwd") if p[2] == str(uid)), str(uid))
            return User(name, uid, frozenset({os.getegid(), *os.getgroups()}))
        entry = next((p for p in self._lines("/etc/passwd") if p[0] == self.user_name), None)
        if entry is None or not entry[3].isdecimal():
            raise MachineError(f"--user: expected a user of /etc/passwd, got '{self.user_name}'")
        groups = {int(p[2]) for p in self._lines("/etc/group") if self.user_name in p[3].split(",")}
        return User(self.user_name, int(entry[2]), frozenset({int(entry[3]), *groups}))
