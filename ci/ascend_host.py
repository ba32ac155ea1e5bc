# SPDX-License-Identifier: Apache-2.0
"""What a container needs of an Ascend host: device nodes, driver, group, or the Ascend runtime."""

import os
import stat
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

MANAGERS = ("davinci_manager", "devmm_svm", "hisi_hdc")
# Read by the driver's libraries, which CANN loads; npu-smi lies in one of two places.
DRIVER = (
    "usr/local/Ascend/driver/lib64",
    "usr/local/Ascend/driver/version.info",
    "usr/local/dcmi",
    "etc/ascend_install.info",
)
NPU_SMI = ("usr/local/bin/npu-smi", "usr/local/sbin/npu-smi")


class HostError(Exception):
    """A sentence for the user: what is not there, what is needed, the fix."""


@dataclass(frozen=True)
class Npus:
    """The NPUs of this host that a container is to get."""

    numbers: tuple[int, ...]
    nodes: tuple[str, ...]
    mounts: tuple[str, ...]
    groups: tuple[int, ...]
    # The Ascend runtime of the engine passes nodes and driver itself.
    runtime: bool = False

    def arguments(self, rootless_podman: bool = False) -> list[str]:
        """Exactly what these NPUs need on the engine's command line."""
        if self.runtime:
            visible = ",".join(map(str, self.numbers))
            found = ["--runtime=ascend", f"--env=ASCEND_VISIBLE_DEVICES={visible}"]
        else:
            found = [f"--device={node}" for node in self.nodes]
            found += [f"--mount=type=bind,source={m},target={m},readonly" for m in self.mounts]
        if rootless_podman:
            # A user's podman cannot name groups of the host; it can keep the user's own.
            return [*found, "--group-add=keep-groups"]
        return found + [f"--group-add={group}" for group in self.groups]


@dataclass
class AscendHost:
    """A host seen through its file tree; tests give a made-up one."""

    root: Path = Path("/")
    may_open: Callable[[Path], bool] = field(
        default=lambda node: os.access(node, os.R_OK | os.W_OK)
    )

    def name(self, path: Path) -> str:
        """The path as the user and the engine know it."""
        return f"/{path.relative_to(self.root)}"

    def numbers(self) -> list[int]:
        nodes = (self.root / "dev").glob("davinci[0-9]*")
        return sorted(int(n.name.removeprefix("davinci")) for n in nodes if n.name[7:].isdigit())

    def find(self, wanted: str = "", runtime: bool = False, rootless: bool = False) -> Npus:
        """The NPUs, all or those of `wanted` ("0,1"), and what goes with them."""
        numbers = self.choose(wanted)
        nodes = [self.root / "dev" / f"davinci{number}" for number in numbers]
        managers = [self.root / "dev" / name for name in MANAGERS]
        for node in managers:
            if not node.exists():
                raise HostError(
                    f"DEVICE=npu: expected the node {self.name(node)} beside the NPU's, found "
                    "none: load the Ascend driver (it makes the node), or use DEVICE=host"
                )
        nodes += managers
        groups = [self.group(node, rootless) for node in nodes]
        mounts = [] if runtime else [*self.driver(), self.npu_smi()]
        return Npus(
            tuple(numbers),
            tuple(map(self.name, nodes)),
            tuple(map(self.name, mounts)),
            tuple(dict.fromkeys(groups)),
            runtime,
        )

    def choose(self, wanted: str) -> list[int]:
        there = self.numbers()
        if not there:
            raise HostError(
                "DEVICE=npu: expected an NPU's device node /dev/davinci0, found none: run on an "
                "Ascend host whose driver is loaded, or use DEVICE=host"
            )
        if not wanted:
            return there
        try:
            numbers = [int(number) for number in wanted.split(",")]
        except ValueError:
            numbers = []
        if not numbers or not set(numbers) <= set(there):
            raise HostError(
                f"NPUS: expected numbers of {', '.join(map(str, there))} with commas between, "
                f"got '{wanted}'"
            )
        return sorted(set(numbers))

    def group(self, node: Path, rootless: bool) -> int:
        """The group that may open the node: the container's user gets it."""
        status = node.stat()
        mode = stat.S_IMODE(status.st_mode)
        if mode & 0o060 != 0o060 and mode & 0o006 != 0o006:
            raise HostError(
                f"DEVICE=npu: expected {self.name(node)} to be readable and writable for its "
                f"group, got mode {mode:04o} (owner {status.st_uid}:{status.st_gid}): "
                f"chmod 0660 {self.name(node)}, as the driver's installer sets it"
            )
        if rootless and not self.may_open(node):
            raise HostError(
                f"DEVICE=npu: no permission on {self.name(node)} (mode {mode:04o}, owner "
                f"{status.st_uid}:{status.st_gid}), which a user's own podman needs: add yourself "
                f"to the group {status.st_gid} and log in again"
            )
        return status.st_gid

    def driver(self) -> list[Path]:
        found = [self.root / path for path in DRIVER]
        for path in found:
            if not path.exists():
                raise HostError(
                    f"DEVICE=npu: expected {self.name(path)} of the Ascend driver, found none: "
                    "install the driver, or the Ascend runtime of the engine, which finds it itself"
                )
        return found

    def npu_smi(self) -> Path:
        for path in NPU_SMI:
            if (self.root / path).exists():
                return self.root / path
        places = " or ".join(f"/{path}" for path in NPU_SMI)
        elsewhere = [
            Path(folder, "npu-smi")
            for folder in os.environ.get("PATH", "").split(os.pathsep)
            if os.access(Path(folder, "npu-smi"), os.X_OK)
        ]
        if elsewhere:
            raise HostError(
                f"DEVICE=npu: expected npu-smi as {places}, found {elsewhere[0]}: "
                f"ln -s {elsewhere[0]} /{NPU_SMI[0]}"
            )
        raise HostError(
            f"DEVICE=npu: expected npu-smi as {places}, found none: install the Ascend driver's "
            "tools"
        )
