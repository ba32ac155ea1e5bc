# SPDX-License-Identifier: Apache-2.0
"""What only loading can tell, done in children; and what torch loads by itself."""

import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from subprocess import CompletedProcess

from . import mismatch
from .case import Case
from .finding import Finding, note, ok, wrong
from .machine import LOADING_SECONDS
from .mismatch import Mismatch

AUTOLOAD = "TORCH_DEVICE_BACKEND_AUTOLOAD"
# The libraries in the order that importing brings them, without importing.
DLOPEN = """
import ctypes, sys
for path in sys.argv[1:]:
    ctypes.CDLL(path, ctypes.RTLD_GLOBAL)
"""
IMPORTS = ("torch", "torch_npu", "ascendc_ops", "ascendc_ops_lib")


def autoload(case: Case) -> Iterator[Finding]:
    value = case.machine.env.get(AUTOLOAD, "1")
    backends = case.machine.python.backends
    if value not in ("0", "1"):
        # torch compares with "1" and takes everything else for off.
        found = f"{AUTOLOAD}={value}, which torch takes for 0"
        yield note("autoload", Mismatch(f"{AUTOLOAD} to be 0 or 1", found, "correct it"))
    elif len(backends) > 1:
        found = f"{', '.join(backends)}, which import torch loads all"
        fix = f"uninstall the other, or set {AUTOLOAD}=0"
        yield note("autoload", Mismatch("one backend of torch", found, fix))
    elif value == "0":
        yield ok("autoload", f"off ({AUTOLOAD}=0): a program imports torch_npu itself")
    elif backends:
        yield ok("autoload", f"on: import torch fails where torch_npu does; {AUTOLOAD}=0 is off")


def failure(what: str, done: CompletedProcess[str]) -> Mismatch | None:
    """Why a child ended as it did; nothing when all went well."""
    if done.returncode == 0:
        return None
    if done.returncode > 0 and (problem := mismatch.not_loaded(done.stderr)):
        return problem
    lines = done.stderr.strip().splitlines()
    found = lines[-1] if lines else f"exit code {done.returncode}"
    if done.returncode < 0:
        found = f"a child that died of {signal.Signals(-done.returncode).name}"
    return Mismatch(f"{what} to load", found, "look at every finding above")


def libraries(case: Case) -> Iterator[Finding]:
    """The dynamic linker's own word, where it can be had: on this machine."""
    torch, torch_npu = case.folder("torch"), case.folder("torch_npu")
    if case.machine.rooted or not torch or not torch_npu:
        return
    paths = [f"{torch}/lib/libtorch_global_deps.so", f"{torch}/lib/libtorch_python.so"]
    paths.append(f"{torch_npu}/lib/libtorch_npu.so")
    done = case.machine.child(DLOPEN, *paths, seconds=LOADING_SECONDS)
    if problem := failure("libtorch_npu.so", done):
        yield wrong("loading", problem)
    else:
        yield ok("loading", "libtorch_npu.so loads in a child, with all it needs")


def imports(case: Case) -> Iterator[Finding]:
    """Every module imported first, in a process of its own."""
    names = [name for name in IMPORTS if case.folder(name)]

    def run(name: str) -> CompletedProcess[str]:
        return case.machine.child(f"import {name}", seconds=LOADING_SECONDS)

    with ThreadPoolExecutor(2) as pool:
        for name, done in zip(names, pool.map(run, names), strict=True):
            if problem := failure(name, done):
                yield wrong("import", problem)
            else:
                yield ok("import", f"import {name} works when it comes first")
