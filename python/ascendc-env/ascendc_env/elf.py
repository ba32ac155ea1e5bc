# SPDX-License-Identifier: Apache-2.0
"""What the dynamic linker would find in a shared library, read without loading it."""

import struct
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.elf.dynamic import DynamicSection
from elftools.elf.elffile import ELFFile
from elftools.elf.gnuversions import GNUVerDefSection, GNUVerNeedSection
from elftools.elf.sections import Section

STB_WEAK = 2
KINDS = ("SHT_DYNAMIC", "SHT_GNU_verneed", "SHT_GNU_verdef", "SHT_DYNSYM", "SHT_GNU_versym")
MACHINES = {"x64": "x86_64", "AArch64": "aarch64"}


@dataclass(frozen=True)
class Elf:
    # Its path as the machine says it.
    said: str
    machine: str
    needed: tuple[str, ...] = ()
    rpath: tuple[str, ...] = ()
    runpath: tuple[str, ...] = ()
    defined: frozenset[str] = frozenset()
    # Without the weak ones and those that name a version, which `version_needs` has.
    undefined: frozenset[str] = frozenset()
    # Library -> the symbol versions wanted of it, as GLIBCXX_3.4.30.
    version_needs: dict[str, frozenset[str]] = field(default_factory=dict)
    versions: frozenset[str] = frozenset()


def read(path: Path, said: str) -> Elf | None:
    """The file `path`, called `said` on its machine; None when it is no ELF file to be read."""
    try:
        with path.open("rb") as stream:
            file = ELFFile(stream)
            # The table of sections is the last thing in a file: without it, it was cut short.
            end = file["e_shoff"] + file["e_shnum"] * file["e_shentsize"]
            return _read(said, file) if end <= path.stat().st_size else None
    except (OSError, ELFError, struct.error, ValueError, UnicodeDecodeError):
        return None


def _sections(file: ELFFile) -> dict[str, Section]:
    """Those that are read here. Made one by one: the hash tables would be parsed with the rest."""
    found = {}
    for number in range(file.num_sections()):
        with suppress(ELFError):
            section = file.get_section(number, type=KINDS)
            found[section["sh_type"]] = section
    return found


def _read(said: str, file: ELFFile) -> Elf:
    machine = MACHINES.get(file.get_machine_arch(), file.get_machine_arch())
    sections = _sections(file)
    dynamic, needs, defines = (sections.get(kind) for kind in KINDS[:3])
    tags = [*dynamic.iter_tags()] if isinstance(dynamic, DynamicSection) else []
    paths = {
        kind: tuple(
            folder
            for tag in tags
            if tag.entry.d_tag == kind
            for folder in getattr(tag, kind.removeprefix("DT_").lower()).split(":")
        )
        for kind in ("DT_RPATH", "DT_RUNPATH")
    }
    defined, undefined = _symbols(file, sections)
    return Elf(
        said,
        machine,
        tuple(tag.needed for tag in tags if tag.entry.d_tag == "DT_NEEDED"),
        paths["DT_RPATH"],
        paths["DT_RUNPATH"],
        defined,
        undefined,
        {
            library.name: frozenset(version.name for version in versions)
            for library, versions in needs.iter_versions()
        }
        if isinstance(needs, GNUVerNeedSection)
        else {},
        frozenset(next(names).name for _, names in defines.iter_versions())
        if isinstance(defines, GNUVerDefSection)
        else frozenset(),
    )


def _symbols(file: ELFFile, sections: dict[str, Section]) -> tuple[frozenset[str], frozenset[str]]:
    """Defined and undefined names. Read as one block: torch's libraries have 75000 of them."""
    table, versions = (sections.get(kind) for kind in KINDS[3:])
    if table is None or file.elfclass != 64:
        return frozenset(), frozenset()
    names = file.get_section(table["sh_link"]).data()
    order = "<" if file.little_endian else ">"
    data = versions.data() if versions is not None else b""
    numbers = [number for (number,) in struct.iter_unpack(f"{order}H", data)]
    entries = struct.iter_unpack(f"{order}IBBHQQ", table.data())
    defined, undefined = set(), set()
    for index, (at, info, _, section, _, _) in enumerate(entries):
        name = names[at : names.index(b"\0", at)].decode()
        if section:
            defined.add(name)
        # 0 and 1 say that no version is asked for; the highest bit only hides a version.
        elif name and info >> 4 != STB_WEAK and (not numbers or numbers[index] & 0x7FFF < 2):
            undefined.add(name)
    return frozenset(defined), frozenset(undefined)
