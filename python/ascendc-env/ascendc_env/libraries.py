# SPDX-License-Identifier: Apache-2.0
"""Checks of the shared libraries: those torch_npu needs, their symbols, and the C++ runtime."""

import re
from collections import defaultdict
from collections.abc import Iterator

from . import mismatch
from . import versions as known
from .case import Case
from .finding import Finding, note, ok, wrong
from .linker import Library
from .mismatch import Mismatch

SYSTEM = re.compile(
    r"(lib(c|m|stdc\+\+|gcc_s|pthread|dl|rt|gomp|python[\d.]+|z|atomic)|ld-linux[\w-]*)\.so(\.\d+)*"
)
DRIVER = re.compile(r"lib(ascend_hal|drv\w*|dcmi\w*)\.so")
# With the CUDA libraries that a CUDA build of torch brings.
TORCH = re.compile(r"lib(torch\w*|c10\w*|shm|tensorpipe|npu_profiler|(cu|nv)\w*)\.so(\.\d+)*")
# The interpreter's own program brings these.
PYTHON_SYMBOL = re.compile(r"_?Py")
SHOWN = 3


# The libraries that `import torch_npu` would load, by name.
Process = dict[str, Library]


def process(case: Case) -> Process:
    """torch's libraries are in the process when torch_npu's are looked for."""
    loaded: Process = {}
    torch, torch_npu = case.folder("torch"), case.folder("torch_npu")
    if torch and torch_npu:
        case.linker.load(f"{torch}/lib/libtorch_python.so", loaded)
        case.linker.load(f"{torch_npu}/lib/libtorch_npu.so", loaded)
        for said in case.machine.glob(torch_npu, f"_C{case.machine.python.suffix}"):
            case.linker.load(said, loaded)
    return loaded


def check(case: Case) -> Iterator[Finding]:
    loaded = process(case)
    if not loaded:
        return
    missing = list(lacking(case, loaded))
    yield from missing
    if not missing:
        yield ok("libraries", " ".join(places(case, loaded)), "every library torch_npu needs")
        # Of a library that is missing, every symbol would be.
        yield from symbols(case, loaded)
    yield from symbol_versions(case, loaded)
    yield from gomp(case)
    yield from leak(case)


def kind(library: Library) -> str:
    for name, pattern in (("driver", DRIVER), ("torch", TORCH), ("system", SYSTEM)):
        if pattern.fullmatch(library.name):
            return name
    return "CANN"


def is_ours(case: Case, library: Library) -> bool:
    """Of a Python package that is checked."""
    return any(folder and library.said.startswith(f"{folder}/") for folder in folders(case))


def folders(case: Case) -> list[str]:
    return [case.folder(name) for name in ("torch", "torch_npu", "ascendc_ops", "ascendc_ops_lib")]


def places(case: Case, loaded: Process) -> Iterator[str]:
    """The libraries by folder, CANN's and the driver's by name."""
    lying: dict[str, list[str]] = defaultdict(list)
    for library in loaded.values():
        named = kind(library) in ("CANN", "driver") and not is_ours(case, library)
        lying[library.said.rpartition("/")[0] if named else ""].append(library.name)
    for folder, names in lying.items():
        if folder:
            yield f"{', '.join(names)} in {folder};"
    yield f"{len(lying.get('', []))} others of torch and the system"


def lacking(case: Case, loaded: Process) -> Iterator[Finding]:
    kinds: dict[str, list[Library]] = defaultdict(list)
    for library in loaded.values():
        if library.elf is None:
            kinds[kind(library)].append(library)
    for name, libraries in kinds.items():
        expected = ", ".join(f"{lib.name} (for {lib.needed_by})" for lib in libraries)
        problem = Mismatch(expected, "none in the library path", "")
        if name == "CANN":
            problem = problem._replace(fix=cann_fix(case, libraries))
        elif name == "driver":
            problem = problem._replace(fix=driver_fix(case, libraries[0]))
        elif name == "torch":
            torch = mismatch.public(case.torch)
            fix = f"reinstall torch=={torch} and torch_npu=={case.torch_npu}"
            packages = [case.folder("torch"), case.folder("torch_npu")]
            shut = (p for p in packages if case.machine.unreadable(f"{p}/lib"))
            if package := next(shut, ""):
                fix = f"as root: chmod -R a+rX {package}"
            problem = problem._replace(fix=fix)
        else:
            fix = "install the system's package that has it"
            problem = problem._replace(fix=fix)
        yield wrong("libraries", problem)


def cann_fix(case: Case, libraries: list[Library]) -> str:
    if not case.has_cann:
        return mismatch.missing_library("").fix
    home, ours = case.home, case.machine.architecture
    there = [case.linker.open(f"{home}/lib64/{library.name}") for library in libraries]
    foreign = {elf.machine for elf in there if elf is not None} - {ours}
    if foreign:
        return f"install {case.cann} for {ours}: {home}/lib64 has them for {', '.join(foreign)}"
    for library, elf in zip(libraries, there, strict=True):
        said = f"{home}/lib64/{library.name}"
        if elf is None and case.machine.unreadable(said):
            return f"as root: chmod a+r {said}: it is not readable"
        if elf is None and case.machine.exists(said):
            return f"reinstall CANN: {said} is damaged"
    if all(case.machine.exists(f"{home}/lib64/{library.name}") for library in libraries):
        return f"source {home}/set_env.sh, which adds {home}/lib64 to LD_LIBRARY_PATH"
    return f"install {case.cann} completely: {home}/lib64 lacks it"


def driver_fix(case: Case, library: Library) -> str:
    driver = f"{case.driver}/lib64"
    there = case.machine.glob(driver, f"**/{library.name}")
    if there:
        return f"add {there[0].rpartition('/')[0]} to LD_LIBRARY_PATH, as CANN's set_env.sh does"
    if case.container:
        return (
            f"docker run -v {driver}:{driver}:ro …: the driver's libraries are not in the container"
        )
    if not case.nodes:
        return "build with TORCH_DEVICE_BACKEND_AUTOLOAD=0; torch_npu needs a driver to run"
    return "install the driver"


def listed(names: list[str]) -> str:
    rest = len(names) - SHOWN
    return ", ".join(names[:SHOWN]) + (f" and {rest} more" if rest > 0 else "")


def symbols(case: Case, loaded: Process) -> Iterator[Finding]:
    folder = f"{case.folder('torch_npu')}/"
    elves = [library.elf for library in loaded.values() if library.elf is not None]
    provided: set[str] = set()
    for library in elves:
        provided |= library.defined
    wanted: set[str] = set()
    for library in elves:
        if library.said.startswith(folder):
            wanted |= library.undefined
    lacked = sorted(name for name in wanted - provided if not PYTHON_SYMBOL.match(name))
    # No C++ symbol of CANN is linked by torch_npu: these are torch's.
    mangled = [name for name in lacked if name.startswith("_Z")]
    plain = [name for name in lacked if not name.startswith("_Z")]
    if mangled:
        problem = Mismatch(
            f"a torch with every symbol that torch_npu {case.torch_npu} needs",
            f"torch {case.torch} without {listed(mangled)}",
            f"install the torch=={mismatch.release(case.torch_npu)} that torch_npu was built with",
        )
        yield wrong("symbols", problem)
    if plain:
        wanted_canns = known.canns_of(case.versions, case.torch_npu)
        right = known.torch_npu_for(case.versions, case.torch, case.cann_release)
        fixes = [f"CANN {' or '.join(wanted_canns)}"] if wanted_canns else []
        if right and right != case.torch_npu:
            fixes.insert(0, f"torch_npu=={right}")
        problem = Mismatch(
            f"a CANN with every symbol that torch_npu {case.torch_npu} needs",
            f"{case.cann or 'libraries'} without {listed(plain)}",
            f"install {' or '.join(fixes) or 'the CANN that it was built for'} completely",
        )
        yield wrong("symbols", problem)
    if not lacked:
        yield ok("symbols", f"all {len(wanted)} that torch_npu needs are there")


def symbol_versions(case: Case, loaded: Process) -> Iterator[Finding]:
    """libstdc++ and the C library are new enough for torch, torch_npu and our packages."""
    for package in ("ascendc_ops", "ascendc_ops_lib"):
        for said in case.libraries_of(package):
            case.linker.load(said, loaded)
    # provider -> version -> who needs it
    wanted: dict[str, dict[str, str]] = defaultdict(dict)
    for library in loaded.values():
        if library.elf is not None and is_ours(case, library):
            for provider, versions in library.elf.version_needs.items():
                for version in versions:
                    wanted[provider].setdefault(version, library.name)
    good = []
    for provider, versions in sorted(wanted.items()):
        there = loaded.get(provider)
        if there is None or there.elf is None:
            continue
        newest = max(versions, key=order)
        lacked = sorted(versions.keys() - there.elf.versions, key=order)
        if lacked:
            version = lacked[-1]
            expected = f"{provider} with {version}, which {versions[version]} needs"
            fix = newer(case, provider, version)
            yield wrong("runtime", Mismatch(expected, f"{there.said} without it", fix))
        elif provider.startswith(("libstdc++", "libc.")):
            good.append(f"{there.said} has {newest}")
    if good:
        yield ok("runtime", ", ".join(good), "every symbol version that the packages need")


def order(version: str) -> tuple[str, list[int]]:
    return version.partition("_")[0], [int(part) for part in re.findall(r"\d+", version)]


def newer(case: Case, provider: str, version: str) -> str:
    for folder in case.linker.defaults:
        elf = case.linker.open(f"{folder}/{provider}")
        if elf is not None and version in elf.versions:
            return f"update it (conda: libstdcxx), or export LD_PRELOAD={folder}/{provider}"
    if provider.startswith("libstdc++"):
        return "install a newer libstdc++ (conda: libstdcxx)"
    return "use a newer system, or its container: this library cannot be exchanged alone"


def gomp(case: Case) -> Iterator[Finding]:
    """On aarch64 a libgomp that comes late may find no static TLS left."""
    machine = case.machine
    site = case.folder("torch").rpartition("/")[0]
    own = machine.glob(site, "torch/lib/libgomp*.so*") + machine.glob(site, "torch.libs/libgomp*")
    others = [s for s in machine.glob(site, "*.libs/libgomp*.so*") if s not in own]
    first = case.linker.open(own[0]) if own else None
    if first is None or first.machine != "aarch64" or not others:
        return
    preloaded = machine.env.get("LD_PRELOAD", "")
    if re.search(r"libgomp[\w.-]*\.so", preloaded):
        yield ok("libgomp", f"LD_PRELOAD={preloaded}")
        return
    names = ", ".join(other.removeprefix(f"{site}/") for other in others)
    yield note(
        "libgomp",
        Mismatch(
            "one libgomp in the process",
            f"torch's and {names}: the later one may fail with 'cannot allocate memory in static "
            "TLS block'",
            f"import torch first, or export LD_PRELOAD={own[0]}",
        ),
    )


def leak(case: Case) -> Iterator[Finding]:
    """conda's programs find their libraries without LD_LIBRARY_PATH; others then find them too."""
    prefix = case.machine.env.get("CONDA_PREFIX", "")
    if not prefix or f"{prefix}/lib" not in case.machine.entries("LD_LIBRARY_PATH"):
        return
    yield note(
        "conda",
        Mismatch(
            "LD_LIBRARY_PATH without the libraries of conda",
            f"{prefix}/lib, from which programs of the system, npu-smi among them, then load",
            "remove it from LD_LIBRARY_PATH",
        ),
    )
