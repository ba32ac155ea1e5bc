# SPDX-License-Identifier: Apache-2.0
"""Checks of the NPU: container, device nodes, driver and firmware, chip."""

import re
import stat
from collections.abc import Iterator

from . import versions as known
from .case import CHIP_NODE, SHARED_NODES, Case
from .finding import Finding, note, ok, wrong
from .mismatch import Mismatch

# What npu-smi's error codes mean: found, fix.
SMI_ERRORS = {
    "-8005": (
        "the driver does not answer (-8005)",
        "check on the host that npu-smi info works; if it does, pass /dev/davinci_manager and the "
        "driver's folders into the container, else install the driver for the running kernel",
    ),
    "-8020": (
        "the NPU is in use by another container, or dcmi is not mounted (-8020)",
        "stop the other container, and mount /usr/local/dcmi",
    ),
}

VISIBLE = "ASCEND_RT_VISIBLE_DEVICES"


def device_options(nodes: list[str]) -> str:
    return " ".join(f"--device {node}" for node in nodes)


def mount_options(case: Case) -> str:
    driver = case.driver
    mounted = (f"{driver}/lib64", f"{driver}/version.info", "/etc/ascend_install.info")
    return " ".join(f"-v {path}:{path}:ro" for path in mounted)


def container(case: Case) -> Iterator[Finding]:
    count = f"{len(case.nodes)} NPU{'' if len(case.nodes) == 1 else 's'}"
    asked = case.machine.env.get("ASCEND_VISIBLE_DEVICES", "")
    if not case.container:
        yield ok("container", f"no container; {count}")
        return
    where = f"a container ({case.container})"
    if asked and asked != "void" and not case.nodes:
        yield wrong(
            "container",
            Mismatch(
                f"the NPUs of ASCEND_VISIBLE_DEVICES={asked}",
                f"{where} without NPUs: Ascend Docker Runtime did not start it",
                f"docker run --runtime=ascend …, or {every_device(case)}",
            ),
        )
    elif asked == "void" and case.has_cann and not case.on_hostcann:
        yield note(
            "container",
            Mismatch(
                "NPUs in the container",
                "ASCEND_VISIBLE_DEVICES=void, which asks for none",
                "set ASCEND_VISIBLE_DEVICES=0 if it shall have one",
            ),
        )
    else:
        yield ok("container", f"{where}; {count}")


def every_device(case: Case) -> str:
    nodes = ["/dev/davinci0", *(f"/dev/{name}" for name in SHARED_NODES)]
    return f"docker run {device_options(nodes)} {mount_options(case)} …"


def devices(case: Case) -> Iterator[Finding]:
    machine = case.machine
    shared = [f"/dev/{name}" for name in SHARED_NODES]
    there = [node for node in shared if machine.exists(node)]
    missing = [node for node in shared if node not in there]
    strange = [
        said
        for said in machine.glob("/dev", "dav*")
        if not CHIP_NODE.fullmatch(said[5:]) and said not in shared
    ]
    expected = no_nodes(case).expected
    if not case.nodes and not there:
        if case.on_hostcann or not case.has_cann:
            yield ok("devices", "no NPU on this machine; nothing here needs one")
        else:
            yield note("devices", no_nodes(case))
        return
    if not case.nodes:
        fix = "docker run --device /dev/davinci0 …" if case.container else "install the driver"
        found = f"{', '.join(there)} without a chip's node"
        yield wrong("devices", Mismatch(expected, found, fix))
    if missing:
        found = f"no {', '.join(missing)}" + (f", but {', '.join(strange)}" if strange else "")
        fix = f"docker run {device_options(missing)} …" if case.container else "load the driver"
        yield wrong("devices", Mismatch(expected, found, fix))
    bad = closed(case)
    yield from (wrong("devices", problem) for problem in bad)
    if not (bad or missing) and case.nodes:
        if case.on_hostcann:
            fix = "source CANN's set_env.sh to use them"
            found = f"{', '.join(case.nodes)}, and hostcann in ASCEND_HOME_PATH"
            yield note("devices", Mismatch("CANN where there are NPUs", found, fix))
        else:
            yield ok("devices", ", ".join([*case.nodes, *there]), expected)


def no_nodes(case: Case) -> Mismatch:
    shared = ", ".join(f"/dev/{name}" for name in SHARED_NODES)
    fix = every_device(case) if case.container else "run on a machine with an Ascend NPU"
    return Mismatch(f"/dev/davinci0 and {shared}", "none: builds work, runs do not", fix)


def closed(case: Case) -> list[Mismatch]:
    """The device nodes that the user may not use."""
    shared = [node for node in map("/dev/{}".format, SHARED_NODES) if case.machine.exists(node)]
    found = (access(case, node) for node in [*case.nodes, *shared])
    return [problem for problem in found if problem]


def access(case: Case, node: str) -> Mismatch | None:
    machine, user = case.machine, case.machine.user
    try:
        status = machine.path(node).stat()
    except OSError:
        fix = "remove it, and load the driver, which makes the nodes"
        return Mismatch(f"the device node {node}", "a link that leads nowhere", fix)
    if stat.S_ISDIR(status.st_mode):
        fix = f"pass the node with --device {node}: -v of a missing file makes a folder"
        return Mismatch(f"the device node {node}", "a folder of that name", fix)
    if user.may_use(status):
        return None
    group = machine.group_name(status.st_gid)
    mode = f"{stat.S_IMODE(status.st_mode):04o}"
    if status.st_mode & 0o060 != 0o060:
        fix = f"as root: chmod 0660 {node}"
    elif case.container:
        fix = f"docker run --group-add {status.st_gid} …"
    else:
        fix = f"usermod -aG {group} {user.name}, then log in again"
    found = f"it with mode {mode}, group {group}, and {user.name} not let in"
    return Mismatch(f"{node} to be readable and writable by {user.name}", found, fix)


def selected(case: Case) -> Iterator[Finding]:
    """CANN reads numbers that ascend, commas alone between them, up to the first other thing."""
    value = case.machine.env.get(VISIBLE)
    count = case.emulated or len(case.nodes)
    if value is None or not count:
        return
    there = [str(number) for number in range(count)]
    named = [number for number in there if number in re.split(r"[,\s]+", value)]
    if not named or ",".join(named) != value:
        expected = (
            f"{VISIBLE} to name NPUs of 0 to {count - 1}, ascending, with commas alone between"
        )
        right = f"set {VISIBLE}={','.join(named)}" if named else "name those that are wanted"
        fix = f"{right}, or unset it for all NPUs; it counts those that are passed, from 0"
        yield wrong("devices", Mismatch(expected, f"'{value}'", fix))


def driver(case: Case) -> Iterator[Finding]:
    if not case.nodes:
        yield ok("driver", "none needed without an NPU")
        return
    machine, folder = case.machine, case.driver
    version = machine.value(f"{folder}/version.info", "Version")
    inside = f"docker run {mount_options(case)} …"
    expected = f"the driver's libraries and version.info in {folder}"
    hal = case.linker.find("libascend_hal.so")
    installed = machine.glob(folder, "lib64/**/libascend_hal.so")
    if not version or not (hal or installed):
        lacking = [f"{folder}/version.info"] if not version else []
        lacking += [] if hal or installed else ["libascend_hal.so"]
        fix = inside if case.container else "install the driver"
        yield wrong("driver", Mismatch(expected, f"no {' and no '.join(lacking)}", fix))
    elif re.search(r"/(devlib|stub)s?(/|$)", hal):
        real = installed[0].rpartition("/")[0] if installed else f"{folder}/lib64/driver"
        fix = f"put {real} first in LD_LIBRARY_PATH"
        yield wrong("driver", Mismatch(expected, f"the stub {hal} before it", fix))
    elif not hal:
        where = installed[0].rpartition("/")[0]
        found = f"{installed[0]}, which is in no folder of the library path"
        fix = f"source CANN's set_env.sh, or add {where} to LD_LIBRARY_PATH"
        yield wrong("driver", Mismatch(expected, found, fix))
    else:
        yield from firmware(case, version)


def firmware(case: Case, version: str) -> Iterator[Finding]:
    base = case.machine.value("/etc/ascend_install.info", "Firmware_Install_Path_Param")
    file = f"{base or case.driver.rpartition('/')[0]}/firmware/version.info"
    found = case.machine.value(file, "Version")
    spans = re.search(
        r"compatible_version_fw=(.*)", case.machine.read(f"{case.driver}/version.info")
    )
    pairs = re.findall(r"\[(\d[\d.]*),\s*(\d[\d.]*)\]", spans[1]) if spans else []
    text = f"driver {version}" + (f", firmware {found}" if found else "")
    fits = any(numbers(low) <= numbers(found) <= numbers(high) for low, high in pairs)
    if numbers(found) and pairs and not fits:
        every = " or ".join(f"{low} to {high}" for low, high in pairs)
        fix = "install the firmware that was published with the driver"
        expected = f"firmware {every} for driver {version}"
        yield wrong("driver", Mismatch(expected, f"firmware {found}", fix))
    else:
        yield ok("driver", text, f"a driver in {case.driver}")


def numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version)[:3])


def smi(case: Case) -> Iterator[Finding]:
    if not case.nodes:
        return
    machine = case.machine
    for place in ("/usr/local/bin/npu-smi", "/usr/local/sbin/npu-smi"):
        if machine.is_dir(place):
            fix = "mount npu-smi from where the host has it: /usr/local/bin or /usr/local/sbin"
            expected = f"the program {place}"
            yield wrong("npu-smi", Mismatch(expected, "a folder that docker made", fix))
            return
    if not case.smi.tool:
        fix = "mount /usr/local/bin/npu-smi if it is wanted; nothing here needs it"
        yield note("npu-smi", Mismatch("npu-smi", "none", fix))
        return
    for code, (found, fix) in SMI_ERRORS.items():
        if code in case.smi.output:
            yield wrong("npu-smi", Mismatch(f"{case.smi.tool} info to answer", found, fix))
            return
    if case.container and not machine.exists("/usr/local/dcmi"):
        fix = "docker run -v /usr/local/dcmi:/usr/local/dcmi:ro …"
        yield note("npu-smi", Mismatch("/usr/local/dcmi, which npu-smi uses", "none", fix))
        return
    if case.smi.failure:
        fix = "check on the host that npu-smi info works; if not, load the driver or start anew"
        yield wrong("npu-smi", Mismatch(f"{case.smi.tool} info to answer", case.smi.failure, fix))
        return
    yield ok("npu-smi", case.smi.tool)


def chip(case: Case) -> Iterator[Finding]:
    wanted = case.machine.env.get("NPU_ARCH", "")
    if wanted and (problem := known.unknown_arch(case.versions, wanted)):
        yield wrong("chip", problem)
        return
    if not case.nodes:
        problem = known.not_emulated(case.versions, wanted) if wanted else None
        if case.on_hostcann and problem:
            yield wrong("chip", problem)
        else:
            arch = wanted or (case.versions["hostcann"]["npu_arch"] if case.on_hostcann else "")
            build = f"kernels are built for {arch}" if arch else "NPU_ARCH says what to build for"
            yield ok("chip", f"none; {build}")
        return
    arch = known.arch_of(case.versions, case.chip)
    if problem := known.unknown_chip(case.versions, case.chip):
        yield note("chip", problem)
    elif wanted and wanted != arch:
        fix = f"set NPU_ARCH={arch}, or leave it unset"
        expected = f"NPU_ARCH={arch} for {case.chip}"
        yield wrong("chip", Mismatch(expected, wanted, fix))
    else:
        yield ok("chip", f"{case.chip}, --npu-arch={arch}")
