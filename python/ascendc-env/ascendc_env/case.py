# SPDX-License-Identifier: Apache-2.0
"""What the checks look at together: one machine, what is known of versions, and what follows."""

import re
import stat
import sys
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from . import versions as known
from .machine import Machine
from .mismatch import cann_name, cann_release

if TYPE_CHECKING:
    from .linker import Linker

ASCEND = "/usr/local/Ascend"
# One such node per chip, and three that all of them share.
CHIP_NODE = re.compile(r"davinci\d+")
SHARED_NODES = ("davinci_manager", "devmm_svm", "hisi_hdc")
ASK_ACL = """
import ctypes, sys
acl = ctypes.CDLL(sys.argv[1])
acl.aclrtGetSocName.restype = ctypes.c_char_p
assert acl.aclInit(None) == 0
print((acl.aclrtGetSocName() or b"").decode())
"""


@dataclass(frozen=True)
class Smi:
    """What npu-smi said; `tool` is empty when there is none, `failure` when it answered."""

    tool: str
    chip: str
    output: str
    failure: str = ""


@dataclass(frozen=True)
class Case:
    machine: Machine
    versions: dict

    @cached_property
    def linker(self) -> "Linker":
        # Needs pyelftools, which ci/device.py, another user of this class, runs without.
        from .linker import Linker

        return Linker(self.machine)

    @cached_property
    def canns(self) -> dict[str, bool]:
        """Folder -> whether it is a CANN, of those that were looked into."""
        return {}

    @property
    def torch(self) -> str:
        return self.machine.python.versions.get("torch", "")

    @property
    def torch_npu(self) -> str:
        return self.machine.python.versions.get("torch_npu", "")

    def folder(self, package: str) -> str:
        return self.machine.python.folders.get(package, "")

    @property
    def home(self) -> str:
        """The CANN in use."""
        home = self.machine.env.get("ASCEND_HOME_PATH", "")
        return home.rstrip("/") or home[:1]

    @cached_property
    def has_cann(self) -> bool:
        return bool(self.home) and self.machine.is_dir(self.home)

    @cached_property
    def on_hostcann(self) -> bool:
        return self.has_cann and self.machine.exists(f"{self.home}/hostcann-version")

    @property
    def emulated(self) -> int:
        """How many NPUs hostcann makes up; none where CANN is in use."""
        if not self.on_hostcann:
            return 0
        count = self.machine.env.get("HOSTCANN_DEVICE_COUNT", "")
        return int(count) if re.fullmatch(r"[1-9]|1[0-6]", count) else 2

    def cann_at(self, home: str) -> str:
        return cann_name(self.machine.path(home))

    @cached_property
    def cann(self) -> str:
        return self.cann_at(self.home) if self.has_cann else ""

    @cached_property
    def cann_release(self) -> str:
        """Which CANN it is, or stands in for."""
        return cann_release(self.machine.path(self.home)) if self.has_cann else ""

    @cached_property
    def nodes(self) -> list[str]:
        """The device nodes of chips."""
        found = self.machine.glob("/dev", "davinci*")
        return [said for said in found if CHIP_NODE.fullmatch(said[5:])]

    @cached_property
    def container(self) -> str:
        """What says that this is a container; nothing when it is none."""
        for file in ("/.dockerenv", "/run/.containerenv"):
            if self.machine.exists(file):
                return file
        if "KUBERNETES_SERVICE_HOST" in self.machine.env:
            return "KUBERNETES_SERVICE_HOST"
        found = re.search(r"docker|kubepods|containerd|lxc", self.machine.read("/proc/1/cgroup"))
        return f"/proc/1/cgroup ({found[0]})" if found else ""

    @cached_property
    def driver(self) -> str:
        """The driver's folder, where its installation says or by default."""
        base = self.machine.value("/etc/ascend_install.info", "Driver_Install_Path_Param")
        return f"{base if base.startswith('/') else ASCEND}/driver"

    @cached_property
    def smi(self) -> Smi:
        tool = self.machine.find_program("npu-smi")
        if not tool:
            return Smi("", "", "")
        done = self.machine.run(tool, "info")
        # A device row starts `| <number> <name> |`, the name without its "Ascend".
        row = re.search(r"^\|\s*\d+\s+(?:Ascend)?(\d{3}[\w-]*)\s*\|", done.stdout, re.MULTILINE)
        output, failure = done.stdout + done.stderr, ""
        if done.returncode:
            failure = (output.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
        return Smi(tool, f"Ascend{row[1]}" if row else "", output, failure)

    @cached_property
    def chip(self) -> str:
        """npu-smi names some boards only by their family, so its answer counts when it decides."""
        if not self.nodes:
            return ""
        named = self.smi.chip
        if known.arch_of(self.versions, named) or not self.has_cann:
            return named
        # Asked of the library itself, in a child: a driver that does not fit may crash its caller.
        library = str(self.machine.path(f"{self.home}/lib64/libascendcl.so"))
        done = self.machine.spawn(sys.executable, "-c", ASK_ACL, library)
        # CANN may log to standard output before the answer.
        words = done.stdout.split()
        return words[-1] if done.returncode == 0 and words else named

    def is_node(self, said: str) -> bool:
        """Whether a device node is there; a made-up machine may use plain files."""
        try:
            return not stat.S_ISDIR(self.machine.path(said).stat().st_mode)
        except OSError:
            return False

    def libraries_of(self, package: str) -> list[str]:
        """The shared libraries in a package's folder."""
        folder = self.folder(package)
        return self.machine.glob(folder, "*.so") if folder else []
