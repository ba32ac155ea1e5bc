# SPDX-License-Identifier: Apache-2.0
"""Checks of the installed ascendc-ops packages against the stack they were built for."""

import ast
import json
from collections.abc import Iterator
from pathlib import Path

from . import libraries, mismatch, stack
from . import versions as known
from .case import Case
from .finding import Finding, ok, wrong
from .mismatch import Mismatch

PACKAGES = {"ascendc_ops": "ascendc-ops-pybind", "ascendc_ops_lib": "ascendc-ops-lib"}
# What importing them loads.
LIBRARIES = {
    "ascendc_ops": ("_C{suffix}", "libascendc_kernels.so"),
    "ascendc_ops_lib": ("libascendc_ops.so", "libascendc_kernels.so"),
}
# Where a conda environment says what its packages were built with, a file for each.
CONDA_RECORDS = "share/ascendc-ops"
SUFFIX = ".built_with.json"
# What a text that is no record makes its readers say, one that is nested too deeply among them.
UNREADABLE = (SyntaxError, ValueError, TypeError, AttributeError, RecursionError, MemoryError)


def built_for(text: str) -> dict[str, str]:
    """The constants of a _built_for.py, read as text: importing it would import the package."""
    found = {}
    for node in ast.parse(text).body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            value = ast.literal_eval(node.value)
            if isinstance(value, str):
                found[node.targets[0].id.lower()] = value.strip()
    return found


def records(case: Case) -> Iterator[tuple[str, str, dict[str, str]]]:
    """Topic, file and content of every record; a file that cannot be read has none."""
    for package, distribution in PACKAGES.items():
        if folder := case.folder(package):
            file = f"{folder}/_built_for.py"
            try:
                yield distribution, file, built_for(case.machine.read(file))
            except UNREADABLE:
                yield distribution, file, {}
    folder = f"{case.machine.python.prefix}/{CONDA_RECORDS}"
    for file in case.machine.glob(folder, f"*{SUFFIX}"):
        try:
            content = json.loads(case.machine.read(file))
            content = {k: v for k, v in content.items() if isinstance(v, str)}
        except UNREADABLE:
            content = {}
        yield f"conda: {Path(file).name.removesuffix(SUFFIX)}", file, content


def check(case: Case) -> Iterator[Finding]:
    nothing, spoiled = True, set()
    for topic, file, record in records(case):
        nothing = False
        problems = list(compare(case, topic.removeprefix("conda: "), record))
        if not record.get("torch"):
            fix = f"reinstall {topic.removeprefix('conda: ')}"
            problems = [Mismatch(f"what the package was built for in {file}", "nothing", fix)]
        yield from (wrong(topic, problem) for problem in problems)
        spoiled |= {topic} if problems else set()
        if not problems:
            names = (("torch", "torch"), ("torch_npu", "torch_npu"), ("cann", ""))
            text = ", ".join(f"{n} {record[k]}".strip() for k, n in names if record.get(k))
            arch = f", {record['npu_arch']}" if record.get("npu_arch") else ""
            yield ok(topic, f"built for {text}{arch}", "the stack it was built for")
    for package, distribution in PACKAGES.items():
        # One for another stack lacks symbols too, which says nothing new.
        if case.folder(package) and distribution not in spoiled:
            yield from compiled(case, package, distribution)
    if nothing:
        yield ok("packages", "no ascendc-ops package is installed")


def compiled(case: Case, package: str, distribution: str) -> Iterator[Finding]:
    """The package's own libraries would load: what its record says is not what they are."""
    folder, suffix = case.folder(package), case.machine.python.suffix
    if problem := stack.extension(case, package, distribution):
        yield wrong(distribution, problem)
        return
    own = [f"{folder}/{name.format(suffix=suffix)}" for name in LIBRARIES[package]]
    for said in own:
        if case.linker.open(said) is None:
            found = "a damaged file" if case.machine.exists(said) else "none"
            yield wrong(distribution, Mismatch(said, found, f"reinstall {distribution}"))
            return
    # torch and torch_npu are in the process when the package is imported, and checked before.
    loaded = libraries.process(case)
    if not loaded or any(library.elf is None for library in loaded.values()):
        return
    before = set(loaded)
    for said in own:
        case.linker.load(said, loaded)
    added = {name: library for name, library in loaded.items() if name not in before}
    missing = list(libraries.lacking(case, added))
    yield from missing
    elves = [library.elf for library in loaded.values() if library.elf is not None]
    provided = frozenset().union(*(elf.defined for elf in elves))
    wanted = frozenset().union(*(case.linker.open(said).undefined for said in own))
    lacked = sorted(n for n in wanted - provided if not libraries.PYTHON_SYMBOL.match(n))
    if lacked and not missing:
        expected = f"every symbol that {distribution} needs"
        found = f"torch, torch_npu and {case.cann} without {libraries.listed(lacked)}"
        fix = f"install a build of {distribution} for this stack"
        if any(stack.OLD_STRING.match(name) for name in lacked):
            found += f", which {stack.ABI_MACRO}=0 asks for"
            fix += f", compiled without -D{stack.ABI_MACRO}=0"
        yield wrong(distribution, Mismatch(expected, found, fix))


def compare(case: Case, package: str, record: dict[str, str]) -> Iterator[Mismatch]:
    yield from filter(
        None,
        (
            mismatch.not_what_it_was_built_for(package, name, record[name], found)
            for name, found in (("torch", case.torch), ("torch_npu", case.torch_npu))
            if found and record.get(name)
        ),
    )
    if problem := other_cann(case, package, record.get("cann", "")):
        yield problem
    arch = known.arch_of(case.versions, case.chip) if case.nodes else ""
    if arch and record.get("npu_arch") and record["npu_arch"] != arch:
        yield Mismatch(
            f"kernels for {arch}, the architecture of {case.chip}",
            f"{package} with kernels for {record['npu_arch']}",
            f"install a build of {package} for {arch}",
        )


def other_cann(case: Case, package: str, built: str) -> Mismatch | None:
    # The package hostcann is one itself, and has no kernels.
    if not case.has_cann or not built or package == "hostcann":
        return None
    if problem := mismatch.other_kind_of_cann(package, built, case.cann):
        return problem
    kind, _, release = built.partition(" ")
    if kind != "CANN" or known.replaces(case.versions, release, case.cann_release):
        return None
    return Mismatch(
        f"{built}, which the kernels of {package} were compiled with",
        case.cann,
        f"install CANN {release} or a build of {package} for {case.cann}",
    )
