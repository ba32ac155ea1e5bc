# SPDX-License-Identifier: Apache-2.0
"""What belongs together, as versions.toml says it."""

import re
import sys
from fnmatch import fnmatchcase
from pathlib import Path

from .mismatch import Mismatch, public, release

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


# What npu-smi calls boards of several chips, some of them supported.
FAMILY = "Ascend910"


def load() -> dict:
    return tomllib.loads(Path(__file__).with_name("versions.toml").read_text(encoding="utf-8"))


def line(cann: str) -> str:
    """9.1 for 9.1.0 and 9.1.1: the releases of a line are made to replace each other."""
    return ".".join(re.findall(r"\d+", cann)[:2])


def stand_ins(versions: dict, cann: str) -> list[str]:
    """The releases in the tables that this one counts as: itself, else those of its line.

    A candidate counts as a final release only where the line has no other candidate."""
    tables = versions["compatibility"].values()
    every = list(dict.fromkeys(release for table in tables for release in table))
    if cann in every:
        return [cann]
    same = [other for other in every if line(other) == line(cann)]
    return [other for other in same if ("RC" in other) == ("RC" in cann)] or same


def replaces(versions: dict, cann: str, other: str) -> bool:
    """Whether what was made for one of the two CANNs is meant to run on the other."""
    if line(cann) != line(other):
        return False
    ours, theirs = stand_ins(versions, cann), stand_ins(versions, other)
    return not ours or not set(ours).isdisjoint(theirs)


def chip_of(versions: dict, name: str) -> str:
    """The chip in versions.toml of what a tool calls it; empty when no pattern matches."""
    for chip, kind in versions["chips"].items():
        if any(fnmatchcase(name, pattern) for pattern in kind["names"]):
            return chip
    return ""


def arch_of(versions: dict, name: str) -> str:
    """The --npu-arch of a chip by its name; empty when no pattern matches."""
    chip = chip_of(versions, name)
    return versions["chips"][chip]["npu_arch"] if chip else ""


def archs(versions: dict) -> str:
    return ", ".join(sorted({kind["npu_arch"] for kind in versions["chips"].values()}))


def unknown_arch(versions: dict, arch: str) -> Mismatch | None:
    """NPU_ARCH, `arch`, is no --npu-arch of a chip."""
    if arch in archs(versions).split(", "):
        return None
    fix = "correct it, or leave it unset"
    return Mismatch(f"NPU_ARCH to be one of {archs(versions)}", f"'{arch}'", fix)


def not_emulated(versions: dict, arch: str) -> Mismatch | None:
    """NPU_ARCH, `arch`, is not the one of hostcann."""
    own = versions["hostcann"]["npu_arch"]
    if arch == own:
        return None
    fix = "leave NPU_ARCH unset on the host"
    return Mismatch(f"NPU_ARCH={own}, the one hostcann emulates", arch, fix)


def unknown_chip(versions: dict, chip: str) -> Mismatch | None:
    if arch_of(versions, chip):
        return None
    patterns = ", ".join(p for kind in versions["chips"].values() for p in kind["names"])
    expected = f"a chip of {patterns}"
    if not chip or chip == FAMILY:
        found = chip or "no answer from npu-smi or aclrtGetSocName"
        return Mismatch(expected, found, f"set NPU_ARCH to one of {archs(versions)}")
    return Mismatch(expected, f"{chip}, which is not supported", "use an NPU with one of these")


def canns_of(versions: dict, torch_npu: str) -> dict[str, str]:
    """CANN release -> who says that this torch_npu, or a build of its sources, goes with it."""
    torch_npu = public(torch_npu)
    return {
        cann: source
        for source, table in versions["compatibility"].items()
        for cann, releases in table.items()
        if torch_npu in releases
    }


def torch_npus_of(versions: dict, cann: str) -> list[str]:
    """Every torch_npu that goes with this CANN, the vendor's own table first."""
    return [
        torch_npu
        for table in versions["compatibility"].values()
        for other in stand_ins(versions, cann)
        for torch_npu in table.get(other, ())
    ]


def torch_npu_for(versions: dict, torch: str, cann: str) -> str:
    """The torch_npu for this torch on this CANN; empty when the tables know none."""
    found = [n for n in torch_npus_of(versions, cann) if release(n) == release(torch)]
    return found[0] if found else ""


def other_cann(versions: dict, torch: str, torch_npu: str, cann: str) -> Mismatch | None:
    """torch_npu is, by every table, for another CANN than this one."""
    wanted = canns_of(versions, torch_npu)
    if not wanted or not cann or not wanted.keys().isdisjoint(stand_ins(versions, cann)):
        return None
    releases = " or ".join(wanted)
    if right := torch_npu_for(versions, torch, cann):
        fix = f"install torch_npu=={right} or CANN {releases}"
    elif others := torch_npus_of(versions, cann):
        fix = f"install CANN {releases}, or a torch_npu for CANN {cann}: {', '.join(others)}"
    else:
        fix = f"install CANN {releases}"
    return Mismatch(f"CANN {releases} for torch_npu {torch_npu}", f"CANN {cann}", fix)
