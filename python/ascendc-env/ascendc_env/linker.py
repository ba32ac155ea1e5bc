# SPDX-License-Identifier: Apache-2.0
"""Finds shared libraries as the dynamic linker of the machine would."""

import os
from dataclasses import dataclass
from pathlib import Path

from . import elf
from .elf import Elf
from .machine import Machine


@dataclass(frozen=True)
class Library:
    """A library of a process: who needs it, and where it is; nothing when it cannot be read."""

    name: str
    needed_by: str
    said: str = ""
    elf: Elf | None = None


class Linker:
    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.read: dict[str, Elf | None] = {}
        self.names: dict[str, frozenset[str] | None] = {}
        program = self.open(machine.python.binary) if machine.python.binary else None
        # A program's RPATH serves everything it loads; its RUNPATH does not.
        self.program = self._origins(program.rpath, program) if program else []
        self.defaults = [*self._configured("/etc/ld.so.conf", set()), *self._standard()]

    def open(self, said: str) -> Elf | None:
        if said not in self.read:
            there = self.machine.is_file(said)
            self.read[said] = elf.read(self.machine.path(said), said) if there else None
        return self.read[said]

    def _origins(self, entries: tuple[str, ...], owner: Elf) -> list[str]:
        # $ORIGIN is the folder that a library was found in, before links are followed.
        origin = str(Path(owner.said).parent)
        plain = (entry.replace("$ORIGIN", origin).replace("${ORIGIN}", origin) for entry in entries)
        return [os.path.normpath(entry) for entry in plain if entry]

    def _configured(self, said: str, seen: set[str]) -> list[str]:
        """The folders of an ld.so.conf and of what it includes, each file once."""
        if said in seen:
            return []
        seen.add(said)
        found = []
        for line in self.machine.read(said).splitlines():
            words = line.partition("#")[0].split()
            if words[:1] == ["include"]:
                for pattern in words[1:]:
                    folder, _, name = str(Path("/etc", pattern)).rpartition("/")
                    for other in self.machine.glob(folder, name):
                        found += self._configured(other, seen)
            else:
                found += words
        return found

    def _standard(self) -> list[str]:
        multiarch = f"{self.machine.architecture}-linux-gnu"
        folders = [f"/lib/{multiarch}", f"/usr/lib/{multiarch}", "/lib64", "/usr/lib64"]
        return [*folders, "/lib", "/usr/lib"]

    def folders(self, owner: Elf | None) -> list[str]:
        """Where a library needed by `owner` is looked for, in order."""
        rpath, runpath = [], []
        if owner is not None and owner.runpath:
            runpath = self._origins(owner.runpath, owner)
        elif owner is not None:
            rpath = [*self._origins(owner.rpath, owner), *self.program]
        return [*rpath, *self.machine.entries("LD_LIBRARY_PATH"), *runpath, *self.defaults]

    def may_have(self, folder: str, name: str) -> bool:
        """Asked of a list of the folder's names: it is looked into for every library."""
        if folder not in self.names:
            try:
                with os.scandir(self.machine.path(folder)) as entries:
                    self.names[folder] = frozenset(entry.name for entry in entries)
            except PermissionError:
                # What cannot be listed may still be passed through.
                self.names[folder] = None
            except (OSError, RuntimeError):
                self.names[folder] = frozenset()
        names = self.names[folder]
        return names is None or name in names

    def find(self, name: str, owner: Elf | None = None) -> str:
        for folder in self.folders(owner):
            if "/" not in name and not self.may_have(folder, name):
                continue
            said = f"{folder}/{name}"
            found = self.open(said)
            # As the linker does, a library of another architecture is passed over.
            if found is not None and found.machine == self.machine.architecture:
                return said
        return ""

    def load(self, said: str, loaded: dict[str, Library]) -> None:
        """Adds a library and all it needs to `loaded`, in the linker's order."""
        first = self.open(said)
        name = Path(said).name
        loaded.setdefault(
            name, Library(name, said.rpartition("/")[0], said if first else "", first)
        )
        waiting = [first] if first else []
        while waiting:
            owner = waiting.pop(0)
            for name in owner.needed:
                if name in loaded:
                    continue
                where = self.find(name, owner)
                library = Library(
                    name, Path(owner.said).name, where, self.open(where) if where else None
                )
                loaded[name] = library
                if library.elf is not None:
                    waiting.append(library.elf)
