# SPDX-License-Identifier: Apache-2.0
"""Shared libraries made on the fly: real ELF files with just the names a row is about."""

import functools
import platform
import subprocess
import tempfile
from pathlib import Path

MACHINE = platform.machine()
OTHER = {"x86_64": "aarch64", "aarch64": "x86_64"}[MACHINE]
# e_machine of an ELF header, 16 bits at offset 18.
NUMBER = {"x86_64": 62, "aarch64": 183}
FOLDER = tempfile.TemporaryDirectory(prefix="doctor-libraries-")


@functools.cache
def make(
    name: str,
    needed: tuple[str, ...] = (),
    defined: tuple[str, ...] = (),
    undefined: tuple[str, ...] = (),
    *,
    weak: tuple[str, ...] = (),
    version: str = "",
    wants: tuple[str, str] | None = None,
    rpath: str = "",
    runpath: str = "",
) -> bytes:
    """A shared library's content.

    Args:
        name: its file name and SONAME.
        needed: the libraries it names as NEEDED.
        defined: functions it exports, all under the symbol version `version` if there is one.
        undefined: functions it calls and does not have.
        weak: functions it would call if there were any.
        version: as GLIBCXX_3.4.25.
        wants: library and symbol version that it needs, as ("libstdc++.so.6", "GLIBCXX_3.4.30").
        rpath: its DT_RPATH.
        runpath: its DT_RUNPATH.
    """
    with tempfile.TemporaryDirectory(dir=FOLDER.name) as folder:
        work = Path(folder)
        command = ["gcc", "-shared", "-nostdlib", "-fPIC", "-x", "c", "-", "-o", str(work / name)]
        command += [f"-Wl,-soname,{name}", "-Wl,--no-as-needed", f"-L{work}"]
        source = "".join(f"void {symbol}(void) {{}}\n" for symbol in defined)
        calls = [*undefined, *weak, *(["of_a_version"] if wants else [])]
        source += "".join(f"void {symbol}(void);\n" for symbol in calls)
        source += "".join(f"#pragma weak {symbol}\n" for symbol in weak)
        source += f"void caller_in_{MACHINE}(void) {{ {' '.join(f'{s}();' for s in calls)} }}\n"
        for other in needed:
            (work / other).write_bytes(make(other))
            command += [f"-l:{other}"]
        if wants:
            provider, wanted = wants
            (work / provider).write_bytes(make(provider, defined=("of_a_version",), version=wanted))
            command += [f"-l:{provider}"]
        if version:
            (work / "script.map").write_text(f"{version} {{ global: *; }};\n")
            command += [f"-Wl,--version-script={work / 'script.map'}"]
        if rpath:
            command += ["-Wl,--disable-new-dtags", f"-Wl,-rpath,{rpath}"]
        if runpath:
            command += ["-Wl,--enable-new-dtags", f"-Wl,-rpath,{runpath}"]
        subprocess.run(command, input=source, text=True, check=True)
        return (work / name).read_bytes()


def of_machine(content: bytes, machine: str) -> bytes:
    """The same library, by its header for another machine."""
    return content[:18] + NUMBER[machine].to_bytes(2, "little") + content[20:]
