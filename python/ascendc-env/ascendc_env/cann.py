# SPDX-License-Identifier: Apache-2.0
"""Checks of the CANN in use: which one, why, and whether all of the environment means the same."""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import PurePosixPath

from . import mismatch
from . import versions as known
from .case import ASCEND, Case
from .finding import Finding, note, ok, wrong
from .machine import CANN_MODULES
from .mismatch import Mismatch

OTHER = {"x86_64": "aarch64", "aarch64": "x86_64"}
# Variables in which a folder of CANN is named.
FOLDERS = ("LD_LIBRARY_PATH", "LIBRARY_PATH", "CPATH", "PATH", "PYTHONPATH", "CMAKE_PREFIX_PATH")


def is_cann(case: Case, home: str) -> bool:
    # The folders above those of a path list are asked about again and again.
    if home not in case.canns:
        machine = case.machine
        signs = (f"{home}/{sign}" for sign in ("lib64/libascendcl.so", "hostcann-version"))
        case.canns[home] = machine.is_dir(home) and (
            any(machine.exists(sign) for sign in signs)
            or bool(machine.glob(home, "*-linux/lib64/libascendcl.so"))
        )
    return case.canns[home]


def installed(case: Case) -> list[str]:
    """Every CANN that lies where one is installed, without second names of the same."""
    machine = case.machine
    recorded = machine.value("/etc/Ascend/ascend_cann_install.info", r"\w*Install_?Path\w*")
    prefixes = [p for p in (machine.env.get("CONDA_PREFIX"), machine.python.prefix) if p]
    bases = [ASCEND, recorded, f"{machine.env.get('HOME', '')}/Ascend"]
    bases += [f"{prefix}/Ascend" for prefix in prefixes]
    homes = []
    for base in (base.rstrip("/") for base in bases if base.startswith("/")):
        homes += [f"{base}/cann", f"{base}/ascend-toolkit/latest"]
        homes += machine.glob(base, "cann-*") + machine.glob(base, "ascend-toolkit/[0-9]*")
    homes += [f"{prefix}/opt/hostcann" for prefix in prefixes]
    found: dict[str, str] = {}
    for home in homes:
        if is_cann(case, home):
            found.setdefault(machine.real(home), home)
    return list(found.values())


def script(case: Case, home: str) -> str:
    """The set_env.sh of a CANN: in its folder (9.x), or in the one above (8.x)."""
    above = home.rpartition("/")[0]
    if not case.machine.exists(f"{home}/set_env.sh") and case.machine.exists(f"{above}/set_env.sh"):
        return f"{above}/set_env.sh"
    return f"{home}/set_env.sh"


def in_use(case: Case) -> Iterator[Finding]:
    machine, home = case.machine, case.home
    every = installed(case)
    signs = [home, f"{home}/lib64", f"{home}/lib64/libascendcl.so"] if home else []
    if closed := [sign for sign in signs if machine.unreadable(sign)]:
        expected = "ASCEND_HOME_PATH to name CANN or hostcann"
        fix = f"as root: chmod -R a+rX {closed[0]}, and a+x the folders above it"
        # Not the user of --user: these are the eyes of the one who looks.
        me = replace(machine, user_name="").user.name
        found = f"{closed[0]}, which is not readable by {me}"
        yield wrong("cann", Mismatch(expected, found, fix))
        return
    problem = mismatch.no_cann(home, machine.path(home or "/"))
    if not problem and not home.startswith("/"):
        expected = "ASCEND_HOME_PATH to name CANN or hostcann from the root"
        problem = Mismatch(expected, f"{home}, which another folder would not find", "")
    if not problem and not is_cann(case, home):
        problem = Mismatch(
            "ASCEND_HOME_PATH to name CANN or hostcann",
            f"{home}, which has no lib64/libascendcl.so",
            "source its set_env.sh first",
        )
    if problem:
        if every:
            fix = f"source {script(case, every[0])} first"
        else:
            wanted = case.versions["stack"]["cann"]
            fix = f"install CANN {wanted}, or build hostcann, and source its set_env.sh first"
        yield wrong("cann", problem._replace(fix=fix))
        return
    others = [other for other in every if machine.real(other) != machine.real(home)]
    also = "".join(f"; also installed: {case.cann_at(other)} in {other}" for other in others)
    yield ok(
        "cann",
        f"{case.cann} in {home} (ASCEND_HOME_PATH){also}",
        "ASCEND_HOME_PATH to name CANN or hostcann",
    )
    yield one_cann(case)
    yield architecture(case)
    yield from release(case)
    yield from modules(case)


def one_cann(case: Case) -> Finding:
    """Every other variable leads to the CANN in use too."""
    machine, home = case.machine, case.home
    topic, expected = "cann-environment", f"every variable to name {case.cann} in {home}"
    fix = f"start a new shell and source {script(case, home)} alone"
    for variable, own in (("ASCEND_TOOLKIT_HOME", home), ("ASCEND_OPP_PATH", f"{home}/opp")):
        value = machine.env.get(variable, "")
        if value and machine.real(value) != machine.real(own):
            return wrong(topic, Mismatch(expected, f"{variable}={value}", fix))
    if not machine.env.get("ASCEND_OPP_PATH"):
        # torch_npu refuses to be imported without it.
        return wrong(topic, Mismatch(f"ASCEND_OPP_PATH={home}/opp", "it unset", fix))
    if not machine.exists(machine.env["ASCEND_OPP_PATH"]):
        opp = machine.env["ASCEND_OPP_PATH"]
        fix = f"install the operator package of {case.cann}"
        return wrong(topic, Mismatch(f"the folder {opp}", "none", fix))
    loaded = case.linker.find("libascendcl.so")
    own = machine.real(f"{home}/lib64/libascendcl.so")
    if (
        loaded
        and machine.real(loaded) != own
        and not machine.real(loaded).startswith(f"{machine.real(home)}/")
    ):
        return wrong(
            topic, Mismatch(expected, f"the libraries of {loaded.rpartition('/')[0]}", fix)
        )
    # What LD_LIBRARY_PATH leads to was asked of the linker.
    for variable in (*(v for v in FOLDERS if v != "LD_LIBRARY_PATH"), "ASCEND_AICPU_PATH"):
        named = ((owner(case, said), said) for said in machine.entries(variable))
        first, said = next((pair for pair in named if pair[0]), (home, ""))
        # 8.x has folders of links to one release, so the library decides.
        library = machine.real(f"{first}/lib64/libascendcl.so")
        if machine.real(first) != machine.real(home) and library != own:
            return wrong(topic, Mismatch(expected, f"{said} first in {variable}", fix))
    return ok(topic, f"every variable names {home}", expected)


def owner(case: Case, said: str) -> str:
    """The CANN that a folder is in, by its name or by where that leads; nothing if in none."""
    for path in dict.fromkeys((PurePosixPath(said), PurePosixPath(case.machine.real(said)))):
        for folder in (path, *path.parents):
            if is_cann(case, str(folder)):
                return str(folder)
    return ""


def architecture(case: Case) -> Finding:
    machine, home = case.machine, case.home
    ours, other = machine.architecture, OTHER.get(machine.architecture, "")
    expected = f"CANN for {ours}"
    folders = [path.rpartition("/")[2] for path in machine.glob(home, "*-linux")]
    if folders and f"{ours}-linux" not in folders:
        found = f"only {', '.join(folders)} in {home}"
        return wrong("cann-architecture", Mismatch(expected, found, f"install {expected}"))
    library = case.linker.open(f"{home}/lib64/libascendcl.so")
    if library is not None and library.machine != ours:
        found = f"{home}/lib64/libascendcl.so for {library.machine}"
        return wrong("cann-architecture", Mismatch(expected, found, f"install {expected}"))
    for variable in FOLDERS:
        for folder in machine.entries(variable):
            if other and re.search(rf"/{other}-linux(/|$)", folder):
                return wrong(
                    "cann-architecture",
                    Mismatch(
                        f"folders of {ours} in {variable}",
                        folder,
                        f"write {folder.replace(f'{other}-linux', f'{ours}-linux')} there, or "
                        f"leave it to {script(case, home)}",
                    ),
                )
    return ok("cann-architecture", f"{home} is for {ours}", expected)


def release(case: Case) -> Iterator[Finding]:
    torch_npu, found = case.torch_npu, case.cann_release
    if not torch_npu:
        return
    wanted = known.canns_of(case.versions, torch_npu)
    expected = f"CANN {' or '.join(wanted)} for torch_npu {torch_npu}"
    stands_in = f"{case.cann}, in the place of CANN {found}" if case.on_hostcann else case.cann
    if not found:
        record = "*_toolkit_install.info"
        fix = f"reinstall CANN: {case.home} has no {record} that names its release"
        there = case.machine.glob(case.home, f"*-linux/{record}")
        if shut := next(filter(case.machine.unreadable, there), ""):
            fix = f"as root: chmod a+r {shut}"
        yield note("cann-release", Mismatch(expected, case.cann, fix))
    elif not wanted:
        right = known.torch_npu_for(case.versions, case.torch, found)
        fix = f"install torch_npu=={right}" if right else "look it up in torch_npu's own table"
        if not case.on_hostcann:
            yield note(
                "cann-release",
                Mismatch("a torch_npu of the compatibility table", f"torch_npu {torch_npu}", fix),
            )
    elif problem := known.other_cann(case.versions, case.torch, torch_npu, found):
        # hostcann serves every torch_npu; what differs is the release it says it stands in for.
        yield (
            ok("cann-release", stands_in) if case.on_hostcann else wrong("cann-release", problem)
        )
    elif found in wanted or case.on_hostcann:
        source = wanted.get(found, next(iter(wanted.values())))
        yield ok("cann-release", f"{stands_in} ({source})", expected)
    else:
        fix = f"install CANN {' or '.join(wanted)} if something fails: it is of the same line"
        yield note("cann-release", Mismatch(expected, case.cann, fix))


def modules(case: Case) -> Iterator[Finding]:
    """CANN compiles operators with Python code of its own, in the user's interpreter."""
    if case.on_hostcann:
        return
    python = case.machine.python
    numpy = python.versions.get("numpy", "")
    takes = case.versions["cann_numpy"].get(case.cann_release.partition(".")[0], "")
    if takes and numpy and numpy.partition(".")[0] != takes:
        expected = f"numpy {takes} for the Python code of {case.cann}"
        fix = f"pip install 'numpy=={takes}.*'"
        yield note("cann-modules", Mismatch(expected, f"numpy {numpy}", fix))
    missing = [name for name in CANN_MODULES if not python.folders.get(name)]
    expected = f"the Python modules that CANN's own code imports: {', '.join(CANN_MODULES)}"
    if missing:
        names = [{"attr": "attrs", "yaml": "pyyaml"}.get(name, name) for name in missing]
        found = f"no {', '.join(missing)}"
        yield note("cann-modules", Mismatch(expected, found, f"pip install {' '.join(names)}"))
    else:
        yield ok("cann-modules", ", ".join(CANN_MODULES), expected)
