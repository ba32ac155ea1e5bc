# SPDX-License-Identifier: Apache-2.0
"""The table: one thing spoiled per row, and every sentence that the doctor must then say."""

import os
import platform
import shutil
import subprocess
from collections.abc import Callable
from typing import NamedTuple

from ascendc_env import versions

from .environment import (
    CANN,
    DRIVER,
    INCLUDE,
    PYTHON,
    SITE,
    SUFFIX,
    TREE,
    Environment,
)
from .library import MACHINE, OTHER, make, of_machine

GXX = subprocess.run(
    ["g++", "-dumpfullversion"], capture_output=True, text=True, check=True
).stdout.strip()
GID = os.getegid()
FULL = platform.python_version()
STACK = versions.load()["stack"]
PATTERNS = "Ascend910B*, Ascend910_93*, Ascend310P*, Ascend950*"
ARCHS = "dav-2002, dav-2201, dav-3510"
NINE_ZERO = "torch_npu for CANN 9.0.0: 2.9.0.post2, 2.8.0.post4, 2.7.1.post4, 2.10.0"
ABI = "_GLIBCXX_USE_CXX11_ABI=1, as torch 2.9.0+cpu was compiled with"
WRONG, NOTE = "wrong", "note"
EIGHT = "/usr/local/Ascend/ascend-toolkit/latest"
SOURCE_CANN = f"start a new shell and source {CANN}/set_env.sh alone"
LIBRARIES = f"{DRIVER}/lib64"
MOUNTS = " ".join(
    f"-v {p}:{p}:ro" for p in (LIBRARIES, f"{DRIVER}/version.info", "/etc/ascend_install.info")
)
NODES = " ".join(
    f"--device /dev/{name}" for name in ("davinci0", "davinci_manager", "devmm_svm", "hisi_hdc")
)
KERNELS = f"{SITE}/ascendc_ops_lib/libascendc_kernels.so"
ALL_NODES = "/dev/davinci0 and /dev/davinci_manager, /dev/devmm_svm, /dev/hisi_hdc"
# Of four NPUs: the fact, the value, and the value that it should have been if one is known.
SELECTED_WRONGLY = (
    ("by-nothing", "", ""),
    ("by-name", "davinci0", ""),
    ("with-a-space", "1, 2", "1,2"),
    ("with-a-comma-too-many", "0,1,", "0,1"),
    ("as-a-span", "0-3", ""),
    ("below-zero", "-1", ""),
    ("twice", "1,1", "1"),
    ("in-another-order", "2,0", "0,2"),
    ("that-is-not-there", "0,4", "0"),
    ("all-beyond-the-last", "8,9", ""),
    ("with-a-leading-zero", "01", ""),
    ("in-other-digits", "\uff11", ""),
    ("by-a-number-without-end", "9" * 5000, ""),
)
# No file system takes such a name.
LONG = "x" * 5000


class Row(NamedTuple):
    fact: str
    change: Callable[[Environment], object]
    # (topic, verdict, sentence), in the order of the table; none where all is in order.
    problems: tuple[tuple[str, str, str], ...] = ()


def wrong(topic: str, sentence: str) -> tuple[tuple[str, str, str], ...]:
    return ((topic, WRONG, sentence),)


def note(topic: str, sentence: str) -> tuple[tuple[str, str, str], ...]:
    return ((topic, NOTE, sentence),)


def visible(last: int, value: str, right: str) -> str:
    """The sentence on ASCEND_RT_VISIBLE_DEVICES, with the value it should have if one is known."""
    named = f"set ASCEND_RT_VISIBLE_DEVICES={right}" if right else "name those that are wanted"
    return (
        f"expected ASCEND_RT_VISIBLE_DEVICES to name NPUs of 0 to {last}, ascending, with commas "
        f"alone between, got '{value}'; {named}, or unset it for all NPUs; it counts those that "
        "are passed, from 0"
    )


REINSTALL = "pip install --force-reinstall --no-deps torch==2.9.0"
INCLUDE_ALL = "include ld.so.conf.d/*.conf\n"
NO_PATH = "Driver_Install_Path_Param=opt\n"
THOUSAND = ":".join(f"/opt/{number}" for number in range(1000))
TORCH_INFO = f"{SITE}/torch-2.9.0+cpu.dist-info"


def stack(torch: str, torch_npu: str, cann: str) -> Callable[[Environment], None]:
    """Another torch, torch_npu and CANN."""

    def change(e: Environment) -> None:
        e.torch(torch)
        e.torch_npu(torch_npu)
        e.release(cann)

    return change


RIGHT = [
    Row("npu-host", lambda _: None),
    Row("newest-of-the-vendor", stack("2.12.0+cpu", "2.12.0", "9.1.0")),
    Row("post-release-for-an-older-line", stack("2.7.1", "2.7.1.post2", "8.5.0")),
    Row("release-candidate-of-cann", stack("2.8.0", "2.8.0", "8.3.RC1")),
    Row("torch-without-a-local-version", lambda e: e.torch("2.9.0")),
    Row("cann-in-the-layout-of-8", lambda e: layout_of_8(e)),
    Row("cann-in-a-conda-prefix", lambda e: conda_cann(e)),
    Row("cann-by-a-relative-link", lambda e: relative_link(e)),
    Row("two-canns-and-one-in-use", lambda e: e.old_cann("8.5.0")),
    Row("hostcann-on-a-cpu-machine", lambda e: e.hostcann()),
    Row("container-with-an-npu", lambda e: e.container()),
    Row("a3-board", lambda e: e.npu("910_9391")),
    Row("310p-board", lambda e: e.npu("310P3")),
    Row("a5-board", lambda e: e.npu("Ascend950PR")),
    Row("npu-arch-of-the-chip", lambda e: e.env.update(NPU_ARCH="dav-2201")),
    Row("autoload-off", lambda e: e.env.update(TORCH_DEVICE_BACKEND_AUTOLOAD="0")),
    Row("user-in-the-group", lambda e: (e.nodes(0o660), e.user("someone", "HwHiAiUser"))),
    Row("nodes-open-to-all", lambda e: e.user("someone")),
    Row("torch-of-the-old-abi-and-a-compiler-with-both", lambda e: e.torch("2.9.0", strings="Ss")),
    Row("package-built-for-this-stack", lambda e: e.package("ascendc_ops")),
    Row("package-built-on-this-line", lambda e: e.package("ascendc_ops", cann="CANN 9.0.2")),
    Row("torch-built-from-its-sources", lambda e: e.torch("2.9.0a0+git1a2b3c4")),
    Row("torch_npu-built-from-its-sources", lambda e: e.torch_npu("2.9.0.post2+git1a2b3c4")),
    Row("cann-in-a-folder-of-any-name", lambda e: own_cann(e, "/opt/my\n\u4e2d [c]*nn")),
    Row("cann-with-an-inner-version", lambda e: e.info("innerversion=V1\r\nversion=9.0.0\r\n")),
    Row("cann-with-a-record-without-end", lambda e: lengthen(e, e.info("version=9.0.0\n"))),
    Row(
        "library-path-with-semicolons-and-empty-parts",
        lambda e: e.env.update(LD_LIBRARY_PATH=f";{e.env['LD_LIBRARY_PATH'].replace(':', '::;')};"),
    ),
    Row(
        "path-lists-of-a-thousand-folders",
        lambda e: [
            e.env.update({name: f"{THOUSAND}:{e.env.get(name, '/opt')}"})
            for name in ("LD_LIBRARY_PATH", "PATH", "CPATH", "PYTHONPATH")
        ],
    ),
    Row(
        "firmware-that-the-driver-says-nothing-of",
        lambda e: e.write(f"{DRIVER}/version.info", "Version=1\ncompatible_version_fw=[..,.]\n"),
    ),
    Row("driver-record-that-is-no-path", lambda e: e.write("/etc/ascend_install.info", NO_PATH)),
    Row(
        "compiler-behind-a-cache",
        lambda e: (e.program("/usr/bin/ccache", 'exec "$@"'), e.env.update(CXX="ccache g++")),
    ),
    Row("npu-selected", lambda e: e.env.update(ASCEND_RT_VISIBLE_DEVICES="0")),
    Row(
        "npus-selected",
        lambda e: (
            [chip(e, number) for number in range(1, 12)],
            e.env.update(ASCEND_RT_VISIBLE_DEVICES="0,2,9,10"),
        ),
    ),
    Row(
        "npus-of-hostcann-selected",
        lambda e: (
            e.hostcann(),
            e.env.update(HOSTCANN_DEVICE_COUNT="4", ASCEND_RT_VISIBLE_DEVICES="1,3"),
        ),
    ),
]


def chip(e: Environment, number: int) -> None:
    """One more of them."""
    e.write(f"/dev/davinci{number}")
    e.path(f"/dev/davinci{number}").chmod(0o666)


def own_cann(e: Environment, home: str) -> None:
    e.cann("9.0.0", home)
    e.use(home)


def lengthen(e: Environment, name: str) -> None:
    with e.path(name).open("r+b") as file:
        file.truncate(3 << 30)


def pipe(e: Environment, name: str) -> None:
    e.remove(name)
    os.mkfifo(e.path(name))


def layout_of_8(e: Environment) -> None:
    e.use(e.old_cann("8.5.0"))
    e.torch_npu("2.9.0")


def conda_cann(e: Environment) -> None:
    e.cann("9.0.0", "/opt/venv/Ascend/cann")
    e.env["CONDA_PREFIX"] = "/opt/venv"
    e.use("/opt/venv/Ascend/cann")


def relative_link(e: Environment) -> None:
    e.remove(CANN)
    e.link(CANN, "../Ascend/./cann-9.0.0")


INTERPRETER = [
    Row(
        "no-interpreter",
        lambda e: e.remove("/opt/venv/bin/python"),
        wrong(
            "interpreter",
            "expected an interpreter that runs at /opt/venv/bin/python, got No such file or "
            "directory; repair it, or name another with --python",
        ),
    ),
    Row(
        "interpreter-that-fails",
        lambda e: (
            e.remove("/opt/venv/bin/python"),
            e.program("/opt/venv/bin/python", "echo no libffi.so.7 >&2; exit 3"),
        ),
        wrong(
            "interpreter",
            "expected an interpreter that runs at /opt/venv/bin/python, got no libffi.so.7; "
            "repair it, or name another with --python",
        ),
    ),
    Row(
        "python-without-the-gil",
        lambda e: e.write(
            # Not sitecustomize: Debian's Python has one of its own.
            f"{SITE}/free_threaded.pth",
            "import sysconfig; sysconfig.get_config_vars()['Py_GIL_DISABLED'] = 1\n",
        ),
        wrong(
            "interpreter",
            "expected a Python with the GIL, got a free-threaded build; use the ordinary build: "
            "neither torch_npu nor ascendc_ops has one that is free-threaded",
        ),
    ),
    Row(
        "python-too-new-for-torch",
        stack("1.11.0", "1.11.0.post14", "8.0.RC2"),
        wrong(
            "interpreter",
            f"expected Python 3.7, 3.8, 3.9, 3.10 for torch 1.11.0, got CPython {FULL} "
            f"(/opt/venv/bin/python); use Python {STACK['python']}",
        ),
    ),
    Row(
        "no-headers",
        lambda e: e.remove(f"{INCLUDE}/Python.h"),
        note(
            "headers",
            f"expected Python.h of {PYTHON} in {INCLUDE}, got none: nothing can be built here; "
            f"install the interpreter's headers: apt-get install python{PYTHON}-dev",
        ),
    ),
    Row(
        "headers-of-another-python",
        lambda e: e.headers("3.6.9"),
        wrong(
            "headers",
            f"expected Python.h of {PYTHON} in {INCLUDE}, got headers of 3.6.9; "
            f"install the interpreter's headers: apt-get install python{PYTHON}-dev",
        ),
    ),
    Row(
        "noise-on-standard-output",
        lambda e: e.write(f"{SITE}/noise.pth", "import sys; print('hello'); print('{}')\n"),
    ),
    Row(
        "answer-that-is-forged",
        lambda e: e.write(
            f"{SITE}/forged.pth",
            "import atexit; atexit.register(print, '\\nascendc-env: {}')\n",
        ),
    ),
    Row(
        "decoys-of-python-where-the-doctor-is-called",
        lambda e: [
            e.write(f"/{name}.py", "raise SystemExit('decoy')\n") for name in ("json", "platform")
        ],
    ),
]

TORCH = [
    Row(
        "no-torch",
        lambda e: shutil.rmtree(e.path(f"{SITE}/torch")),
        wrong(
            "torch",
            "expected torch in /opt/venv/bin/python, got an interpreter without it; "
            "install torch==2.9.0",
        ),
    ),
    Row(
        "no-torch-and-no-torch_npu",
        lambda e: e.nothing_installed(),
        (
            (
                "torch",
                WRONG,
                "expected torch in /opt/venv/bin/python, got an interpreter without it; "
                f"install torch=={STACK['torch']}",
            ),
            (
                "torch_npu",
                WRONG,
                "expected torch_npu in /opt/venv/bin/python, got an interpreter without it; "
                f"install torch_npu=={STACK['torch_npu']}",
            ),
        ),
    ),
    Row(
        "no-torch_npu",
        lambda e: shutil.rmtree(e.path(f"{SITE}/torch_npu")),
        wrong(
            "torch_npu",
            "expected torch_npu in /opt/venv/bin/python, got an interpreter without it; "
            "install torch_npu==2.9.0.post2",
        ),
    ),
    Row(
        "torch-of-another-interpreter",
        lambda e: e.path(f"{SITE}/torch/_C{SUFFIX}").rename(
            e.path(f"{SITE}/torch/_C.cpython-38-{MACHINE}-linux-gnu.so")
        ),
        wrong(
            "torch",
            f"expected torch for /opt/venv/bin/python (_C{SUFFIX}), got "
            f"_C.cpython-38-{MACHINE}-linux-gnu.so in {SITE}/torch; use the interpreter torch is "
            "installed for",
        ),
    ),
    Row(
        "torch-of-another-machine",
        lambda e: e.write(f"{SITE}/torch/_C{SUFFIX}", of_machine(make("_C.so"), OTHER)),
        wrong(
            "torch",
            f"expected torch for {MACHINE}, got torch for {OTHER} in {SITE}/torch; "
            "install torch==2.9.0 for this machine",
        ),
    ),
    Row(
        "torch-with-cuda",
        lambda e: e.write(f"{SITE}/torch/lib/libtorch_cuda.so"),
        note(
            "torch",
            "expected a CPU build of torch, got torch 2.9.0+cpu, a CUDA build; "
            "install torch==2.9.0+cpu if the machine has a GPU",
        ),
    ),
    Row(
        "two-records-of-torch",
        lambda e: e.write(
            f"{SITE}/torch-2.8.0.dist-info/METADATA", "Name: torch\nVersion: 2.8.0\n"
        ),
        wrong(
            "torch",
            f"expected one torch, got 2.8.0 and 2.9.0+cpu in {SITE}; "
            "pip uninstall torch until none is left, and install the one that is wanted",
        ),
    ),
    *(
        Row(
            f"torch-{what}",
            change,
            wrong("torch", f"expected {expected}, got {found}; {REINSTALL}"),
        )
        for what, change, expected, found in (
            (
                "with-a-record-of-noise",
                lambda e: e.write(f"{TORCH_INFO}/METADATA", bytes(range(256))),
                "torch with a record of its release",
                f"{SITE}/torch without one: its .dist-info is gone or damaged",
            ),
            (
                "without-its-record",
                lambda e: shutil.rmtree(e.path(TORCH_INFO)),
                "torch with a record of its release",
                f"{SITE}/torch without one: its .dist-info is gone or damaged",
            ),
            (
                "without-its-python",
                lambda e: e.remove(f"{SITE}/torch/__init__.py"),
                f"{SITE}/torch/__init__.py",
                "none",
            ),
            (
                "without-its-extension",
                lambda e: e.remove(f"{SITE}/torch/_C{SUFFIX}"),
                f"{SITE}/torch/_C{SUFFIX}",
                "none",
            ),
            (
                "with-a-damaged-extension",
                lambda e: e.write(f"{SITE}/torch/_C{SUFFIX}", make("_C.so")[:99]),
                f"{SITE}/torch/_C{SUFFIX}",
                "a damaged file",
            ),
        )
    ),
    Row(
        "torch_npu-that-was-not-installed-to-its-end",
        lambda e: e.remove(f"{SITE}/torch_npu-2.9.0.post2.dist-info/METADATA"),
        wrong(
            "torch_npu",
            f"expected torch_npu with a record of its release, got {SITE}/torch_npu without one: "
            "its .dist-info is gone or damaged; pip install --force-reinstall --no-deps "
            "torch_npu==2.9.0.post2",
        ),
    ),
    Row(
        "torch_npu-of-another-user",
        lambda e: e.close(f"{SITE}/torch_npu/lib"),
        wrong(
            "libraries",
            f"expected libtorch_npu.so (for {SITE}/torch_npu/lib), got none in the library path; "
            f"as root: chmod -R a+rX {SITE}/torch_npu",
        ),
    ),
    Row(
        "packages-of-another-user",
        lambda e: e.close(SITE),
        tuple(
            (
                name,
                WRONG,
                f"expected {name} in /opt/venv/bin/python, got {SITE}, which is not readable; "
                f"as root: chmod -R a+rX {SITE}",
            )
            for name in ("torch", "torch_npu")
        )
        + note(
            "cann-modules",
            "expected the Python modules that CANN's own code imports: attr, decorator, numpy, "
            "psutil, scipy, yaml, got no attr, decorator, numpy, psutil, scipy, yaml; "
            "pip install attrs decorator numpy psutil scipy pyyaml",
        ),
    ),
    Row(
        "file-named-torch",
        lambda e: (
            e.write("/opt/mine/torch.py"),
            e.env.update(PYTHONPATH=str(e.path("/opt/mine"))),
        ),
        (
            (
                "torch",
                WRONG,
                "expected the package torch, got the file /opt/mine/torch.py; "
                "rename /opt/mine/torch.py",
            ),
            (
                "libraries",
                WRONG,
                "expected libtorch_python.so (for /opt/mine/torch.py/lib), got none in the library "
                "path; reinstall torch==2.9.0 and torch_npu==2.9.0.post2",
            ),
        ),
    ),
    Row("decoy-of-torch-where-the-doctor-is-called", lambda e: e.write("/torch/__init__.py")),
    Row(
        "torch-newer-than-torch_npu",
        lambda e: e.torch("2.10.0+cpu"),
        wrong(
            "pairing",
            "expected torch_npu for torch 2.10.0, got torch 2.10.0+cpu with torch_npu 2.9.0.post2; "
            "install torch_npu==2.10.0 or torch==2.9.0",
        ),
    ),
    Row(
        "torch-older-than-torch_npu",
        lambda e: e.torch("2.8.0"),
        wrong(
            "pairing",
            "expected torch_npu for torch 2.8.0, got torch 2.8.0 with torch_npu 2.9.0.post2; "
            "install torch_npu==2.8.0.post4 or torch==2.9.0",
        ),
    ),
    Row(
        "torch-that-no-torch_npu-has-on-this-cann",
        lambda e: e.torch("2.12.0"),
        wrong(
            "pairing",
            "expected torch_npu for torch 2.12.0, got torch 2.12.0 with torch_npu 2.9.0.post2; "
            "install torch_npu==2.12.0.* or torch==2.9.0",
        ),
    ),
    Row(
        "symbol-that-only-another-torch-has",
        lambda e: e.torch_npu("2.9.0.post2", undefined=("_ZN5torch7NewNameE",)),
        wrong(
            "symbols",
            "expected a torch with every symbol that torch_npu 2.9.0.post2 needs, got torch "
            "2.9.0+cpu without _ZN5torch7NewNameE; install the torch==2.9.0 that torch_npu was "
            "built with",
        ),
    ),
]

RELEASE = [
    Row(
        "torch_npu-without-its-post",
        lambda e: e.torch_npu("2.9.0"),
        wrong(
            "cann-release",
            "expected CANN 8.5.0 for torch_npu 2.9.0, got CANN 9.0.0; "
            "install torch_npu==2.9.0.post2 or CANN 8.5.0",
        ),
    ),
    Row(
        "post-release-for-a-newer-cann",
        lambda e: e.torch_npu("2.9.0.post6"),
        wrong(
            "cann-release",
            "expected CANN 9.1.0 for torch_npu 2.9.0.post6, got CANN 9.0.0; "
            "install torch_npu==2.9.0.post2 or CANN 9.1.0",
        ),
    ),
    Row(
        "cann-upgraded-and-torch_npu-not",
        lambda e: e.release("9.1.0"),
        wrong(
            "cann-release",
            "expected CANN 9.0.0 for torch_npu 2.9.0.post2, got CANN 9.1.0; "
            "install torch_npu==2.9.0.post6 or CANN 9.0.0",
        ),
    ),
    Row(
        "cann-downgraded-to-a-candidate",
        lambda e: e.release("8.3.RC1"),
        wrong(
            "cann-release",
            "expected CANN 9.0.0 for torch_npu 2.9.0.post2, got CANN 8.3.RC1; install CANN 9.0.0, "
            "or a torch_npu for CANN 8.3.RC1: 2.8.0, 2.7.1, 2.6.0.post3, 2.1.0.post17",
        ),
    ),
    Row(
        "torch-that-this-cann-never-had",
        stack("2.11.0", "2.11.0", "9.0.0"),
        wrong(
            "cann-release",
            "expected CANN 9.1.0 for torch_npu 2.11.0, got CANN 9.0.0; install CANN 9.1.0, or a "
            f"{NINE_ZERO}",
        ),
    ),
    Row(
        "cann-of-no-table",
        lambda e: e.release("77.0.0"),
        wrong(
            "cann-release",
            "expected CANN 9.0.0 for torch_npu 2.9.0.post2, got CANN 77.0.0; install CANN 9.0.0",
        ),
    ),
    Row(
        "cann-of-the-same-line",
        lambda e: e.release("9.0.1"),
        note(
            "cann-release",
            "expected CANN 9.0.0 for torch_npu 2.9.0.post2, got CANN 9.0.1; "
            "install CANN 9.0.0 if something fails: it is of the same line",
        ),
    ),
    Row(
        "beta-of-cann",
        lambda e: e.release("9.0.0-beta.1"),
        note(
            "cann-release",
            "expected CANN 9.0.0 for torch_npu 2.9.0.post2, got CANN 9.0.0-beta.1; "
            "install CANN 9.0.0 if something fails: it is of the same line",
        ),
    ),
    Row(
        "torch_npu-for-the-final-release-on-a-candidate",
        stack("2.4.0", "2.4.0.post2", "8.0.RC3"),
        wrong(
            "cann-release",
            "expected CANN 8.0.0 for torch_npu 2.4.0.post2, got CANN 8.0.RC3; "
            "install torch_npu==2.4.0 or CANN 8.0.0",
        ),
    ),
    Row(
        "candidate-that-no-table-has",
        stack("2.8.0", "2.8.0", "8.3.RC2"),
        note(
            "cann-release",
            "expected CANN 8.3.RC1 for torch_npu 2.8.0, got CANN 8.3.RC2; "
            "install CANN 8.3.RC1 if something fails: it is of the same line",
        ),
    ),
    Row(
        "cann-that-does-not-say-its-release",
        lambda e: e.remove(f"{TREE}/{MACHINE}-linux/ascend_toolkit_install.info"),
        note(
            "cann-release",
            "expected CANN 9.0.0 for torch_npu 2.9.0.post2, got CANN of unknown release; reinstall "
            f"CANN: {CANN} has no *_toolkit_install.info that names its release",
        ),
    ),
    Row(
        "pipe-in-the-place-of-a-record",
        lambda e: pipe(e, f"{TREE}/{MACHINE}-linux/ascend_toolkit_install.info"),
        note(
            "cann-release",
            "expected CANN 9.0.0 for torch_npu 2.9.0.post2, got CANN of unknown release; reinstall "
            f"CANN: {CANN} has no *_toolkit_install.info that names its release",
        ),
    ),
    Row(
        "record-of-cann-that-is-not-readable",
        lambda e: e.close(e.info("version=9.0.0\n")),
        note(
            "cann-release",
            "expected CANN 9.0.0 for torch_npu 2.9.0.post2, got CANN of unknown release; as root: "
            f"chmod a+r {CANN}/{MACHINE}-linux/ascend_toolkit_install.info",
        ),
    ),
    Row(
        "torch_npu-of-a-development-branch",
        lambda e: e.torch_npu("2.9.0.post2.dev20260101"),
        note(
            "cann-release",
            "expected a torch_npu of the compatibility table, got torch_npu "
            "2.9.0.post2.dev20260101; install torch_npu==2.9.0.post2",
        ),
    ),
    Row(
        "torch_npu-of-no-table",
        lambda e: e.torch_npu("2.9.0.post99"),
        note(
            "cann-release",
            "expected a torch_npu of the compatibility table, got torch_npu 2.9.0.post99; "
            "install torch_npu==2.9.0.post2",
        ),
    ),
    Row(
        "torch-of-no-table",
        stack("77.0.0", "77.0.0", "9.0.0"),
        note(
            "cann-release",
            "expected a torch_npu of the compatibility table, got torch_npu 77.0.0; "
            "look it up in torch_npu's own table",
        ),
    ),
    Row(
        "symbol-that-is-only-used-where-it-is",
        lambda e: e.torch_npu("2.9.0.post2", weak=("aclrtNewest",)),
    ),
    Row(
        "symbol-that-this-cann-lacks",
        lambda e: e.torch_npu(
            "2.9.0.post6", undefined=("aclrtOne", "aclrtTwo", "aclrtThree", "aclrtZz")
        ),
        (
            (
                "cann-release",
                WRONG,
                "expected CANN 9.1.0 for torch_npu 2.9.0.post6, got CANN 9.0.0; "
                "install torch_npu==2.9.0.post2 or CANN 9.1.0",
            ),
            (
                "symbols",
                WRONG,
                "expected a CANN with every symbol that torch_npu 2.9.0.post6 needs, got CANN "
                "9.0.0 "
                "without aclrtOne, aclrtThree, aclrtTwo and 1 more; install torch_npu==2.9.0.post2 "
                "or CANN 9.1.0 completely",
            ),
        ),
    ),
]

ABIS = [
    Row(
        "atb-of-the-old-abi",
        lambda e: e.env.update(ATB_HOME_PATH="/usr/local/Ascend/nnal/atb/latest/atb/cxx_abi_0"),
        wrong(
            "atb",
            f"expected {ABI}, got /usr/local/Ascend/nnal/atb/latest/atb/cxx_abi_0 in "
            "ATB_HOME_PATH; source ATB's set_env.sh with --cxx_abi=1, so that it is "
            "/usr/local/Ascend/nnal/atb/latest/atb/cxx_abi_1",
        ),
    ),
    Row(
        "old-abi-in-compiler-flags",
        lambda e: e.env.update(CXXFLAGS="-O2 -D_GLIBCXX_USE_CXX11_ABI=0"),
        wrong(
            "compiler",
            f"expected {ABI}, got -D_GLIBCXX_USE_CXX11_ABI=0 in CXXFLAGS; "
            "remove it from CXXFLAGS: the build takes torch's own value",
        ),
    ),
    Row(
        "compiler-that-has-the-old-abi-alone",
        lambda e: e.program("/usr/bin/g++", 'exec g++ "$@" -D_GLIBCXX_USE_CXX11_ABI=0 2>/dev/null'),
        wrong(
            "compiler",
            f"expected {ABI}, got /usr/bin/g++ {GXX}, which compiles with "
            "_GLIBCXX_USE_CXX11_ABI=0; use a compiler whose std::string is torch's, or set CXX",
        ),
    ),
    Row(
        "no-compiler",
        lambda e: e.remove("/usr/bin/g++"),
        note(
            "compiler",
            "expected the C++ compiler g++, got none: nothing can be built here; "
            "apt-get install g++",
        ),
    ),
    Row(
        "no-path-at-all",
        lambda e: (e.hostcann(), e.env.pop("PATH")),
        note(
            "compiler",
            "expected the C++ compiler g++, got none: nothing can be built here; set PATH",
        ),
    ),
    Row(
        "cxx-that-is-not-there",
        lambda e: e.env.update(CXX="/opt/rh/g++"),
        note(
            "compiler",
            "expected the C++ compiler /opt/rh/g++, got none: nothing can be built here; correct "
            "CXX",
        ),
    ),
    Row(
        "cxx-by-its-path",
        lambda e: (e.program("/opt/rh/g++", 'exec g++ "$@"'), e.env.update(CXX="/opt/rh/g++ -m64")),
    ),
    Row(
        "compiler-that-does-not-work",
        lambda e: e.program("/usr/bin/g++", "echo cannot execute cc1plus >&2; exit 1"),
        note(
            "compiler",
            "expected the C++ compiler /usr/bin/g++ to work, got cannot execute cc1plus; "
            "reinstall it, or set CXX",
        ),
    ),
    Row(
        "torch_npu-of-the-old-abi",
        lambda e: e.torch_npu("2.9.0.post2", undefined=("_ZN3c105ErrorC1ESs",)),
        (
            (
                "abi",
                WRONG,
                f"expected {ABI}, got torch_npu compiled with _GLIBCXX_USE_CXX11_ABI=0; "
                "install torch and torch_npu from the same kind of wheel",
            ),
            (
                "symbols",
                WRONG,
                "expected a torch with every symbol that torch_npu 2.9.0.post2 needs, got torch "
                "2.9.0+cpu without _ZN3c105ErrorC1ESs; install the torch==2.9.0 that torch_npu was "
                "built with",
            ),
        ),
    ),
]

CANNS = [
    Row(
        "nothing-sourced",
        lambda e: [e.env.pop(name) for name in [*e.env] if name.startswith(("ASCEND", "LD_"))],
        (
            (
                "cann",
                WRONG,
                "expected ASCEND_HOME_PATH to name CANN or hostcann, got it unset; "
                f"source {CANN}/set_env.sh first",
            ),
            (
                "driver",
                WRONG,
                f"expected the driver's libraries and version.info in {DRIVER}, got "
                f"{DRIVER}/lib64/driver/libascend_hal.so, which is in no folder of the library "
                "path; "
                f"source CANN's set_env.sh, or add {DRIVER}/lib64/driver to LD_LIBRARY_PATH",
            ),
            (
                "libraries",
                WRONG,
                "expected libhccl.so (for libtorch_npu.so), libascendcl.so (for libtorch_npu.so), "
                "libge_runner.so (for libtorch_npu.so), got none in the library path; "
                "source set_env.sh of CANN or hostcann before starting Python",
            ),
        ),
    ),
    Row(
        "no-cann-anywhere",
        lambda e: (
            e.hostcann(),
            [
                e.env.pop(name)
                for name in [*e.env]
                if "CANN" in e.env[name] or name.startswith(("ASCEND", "LD_"))
            ],
        ),
        (
            (
                "cann",
                WRONG,
                "expected ASCEND_HOME_PATH to name CANN or hostcann, got it unset; install CANN "
                f"{STACK['cann']}, or build hostcann, and source its set_env.sh first",
            ),
            (
                "libraries",
                WRONG,
                "expected libhccl.so (for libtorch_npu.so), libascendcl.so (for libtorch_npu.so), "
                "libge_runner.so (for libtorch_npu.so), got none in the library path; "
                "source set_env.sh of CANN or hostcann before starting Python",
            ),
        ),
    ),
    Row(
        "folder-that-is-gone",
        lambda e: e.env.update(ASCEND_HOME_PATH="/usr/local/Ascend/cann-8.5.0"),
        wrong(
            "cann",
            "expected ASCEND_HOME_PATH to name CANN or hostcann, got /usr/local/Ascend/cann-8.5.0, "
            f"which is no folder; source {CANN}/set_env.sh first",
        ),
    ),
    Row(
        "folder-above-the-cann-of-8",
        lambda e: (
            e.old_cann("8.5.0"),
            e.env.update(ASCEND_HOME_PATH="/usr/local/Ascend/ascend-toolkit"),
        ),
        wrong(
            "cann",
            "expected ASCEND_HOME_PATH to name CANN or hostcann, got "
            "/usr/local/Ascend/ascend-toolkit, which has no lib64/libascendcl.so; "
            f"source {CANN}/set_env.sh first",
        ),
    ),
    Row(
        "cann-of-8-installed-but-not-sourced",
        lambda e: only_cann_of_8(e),
        wrong(
            "cann",
            "expected ASCEND_HOME_PATH to name CANN or hostcann, got it unset; "
            "source /usr/local/Ascend/ascend-toolkit/set_env.sh first",
        ),
    ),
    Row(
        "cann-where-only-its-record-knows",
        lambda e: recorded_cann(e),
        wrong(
            "cann",
            "expected ASCEND_HOME_PATH to name CANN or hostcann, got it unset; "
            "source /data/npu/cann/set_env.sh first",
        ),
    ),
    Row(
        "hostcann-of-conda-not-activated",
        lambda e: conda_hostcann(e),
        wrong(
            "cann",
            "expected ASCEND_HOME_PATH to name CANN or hostcann, got it unset; "
            "source /opt/venv/opt/hostcann/set_env.sh first",
        ),
    ),
    Row(
        "libraries-of-another-cann",
        lambda e: e.env.update(
            LD_LIBRARY_PATH=f"{e.old_cann('8.5.0')}/lib64:{DRIVER}/lib64/driver"
        ),
        wrong(
            "cann-environment",
            f"expected every variable to name CANN 9.0.0 in {CANN}, got the libraries of "
            f"{EIGHT}/lib64; {SOURCE_CANN}",
        ),
    ),
    Row(
        "toolkit-variable-of-another-cann",
        lambda e: e.env.update(ASCEND_TOOLKIT_HOME=e.old_cann("8.5.0")),
        wrong(
            "cann-environment",
            f"expected every variable to name CANN 9.0.0 in {CANN}, got "
            f"ASCEND_TOOLKIT_HOME={EIGHT}; "
            f"{SOURCE_CANN}",
        ),
    ),
    Row(
        "operators-of-another-cann",
        lambda e: e.env.update(ASCEND_OPP_PATH=f"{e.old_cann('8.5.0')}/opp"),
        wrong(
            "cann-environment",
            f"expected every variable to name CANN 9.0.0 in {CANN}, got "
            f"ASCEND_OPP_PATH={EIGHT}/opp; "
            f"{SOURCE_CANN}",
        ),
    ),
    *(
        Row(
            f"another-cann-first-in-{variable.lower()}",
            lambda e, variable=variable, below=below: second(e, variable, below),
            wrong(
                "cann-environment",
                f"expected every variable to name CANN 9.0.0 in {CANN}, got "
                f"/data/cann-8.5.0{below} first in {variable}; {SOURCE_CANN}",
            ),
        )
        for variable, below in (
            ("PYTHONPATH", "/python/site-packages"),
            ("PATH", "/bin"),
            ("CMAKE_PREFIX_PATH", "/tools/lib/cmake"),
            ("LIBRARY_PATH", "/lib64"),
            ("CPATH", "/include"),
            ("ASCEND_AICPU_PATH", ""),
        )
    ),
    Row(
        "another-cann-behind-the-one-in-use",
        lambda e: (
            e.cann("8.5.0", "/data/cann-8.5.0"),
            e.env.update(CPATH=f"{TREE}/include:/data/cann-8.5.0/include"),
        ),
    ),
    Row(
        "home-with-a-name-that-is-too-long",
        lambda e: e.env.update(ASCEND_HOME_PATH=f"/{LONG}"),
        wrong(
            "cann",
            f"expected ASCEND_HOME_PATH to name CANN or hostcann, got /{LONG}, which is no "
            f"folder; source {CANN}/set_env.sh first",
        ),
    ),
    Row(
        "home-that-is-the-root",
        lambda e: e.env.update(ASCEND_HOME_PATH="/"),
        wrong(
            "cann",
            "expected ASCEND_HOME_PATH to name CANN or hostcann, got /, which has no "
            f"lib64/libascendcl.so; source {CANN}/set_env.sh first",
        ),
    ),
    Row(
        "home-with-a-space-behind-it",
        lambda e: e.env.update(ASCEND_HOME_PATH=f"{CANN} "),
        wrong(
            "cann",
            f"expected ASCEND_HOME_PATH to name CANN or hostcann, got '{CANN} ', which is no "
            f"folder; source {CANN}/set_env.sh first",
        ),
    ),
    Row(
        "home-from-where-one-stands",
        lambda e: e.env.update(ASCEND_HOME_PATH=CANN[1:]),
        wrong(
            "cann",
            f"expected ASCEND_HOME_PATH to name CANN or hostcann from the root, got {CANN[1:]}, "
            f"which another folder would not find; source {CANN}/set_env.sh first",
        ),
    ),
    Row(
        "home-that-links-to-itself",
        lambda e: (e.link("/opt/itself", "itself"), e.env.update(ASCEND_HOME_PATH="/opt/itself")),
        wrong(
            "cann",
            "expected ASCEND_HOME_PATH to name CANN or hostcann, got /opt/itself, which is no "
            f"folder; source {CANN}/set_env.sh first",
        ),
    ),
    Row(
        "cann-below-a-folder-of-another-user",
        lambda e: (
            e.write("/etc/passwd", f"somebody:x:{os.geteuid()}:{GID}::/:/bin/sh\n"),
            e.cann("9.0.0", "/private/cann"),
            e.env.update(ASCEND_HOME_PATH="/private/cann"),
            e.close("/private"),
        ),
        wrong(
            "cann",
            "expected ASCEND_HOME_PATH to name CANN or hostcann, got /private/cann, which is not "
            "readable by somebody; as root: chmod -R a+rX /private/cann, and a+x the folders "
            "above it",
        ),
    ),
    Row(
        "home-set-by-hand-only",
        lambda e: e.env.pop("ASCEND_OPP_PATH"),
        wrong(
            "cann-environment",
            f"expected ASCEND_OPP_PATH={CANN}/opp, got it unset; {SOURCE_CANN}",
        ),
    ),
    Row(
        "no-operator-package",
        lambda e: e.path(f"{TREE}/opp").rmdir(),
        wrong(
            "cann-environment",
            f"expected the folder {CANN}/opp, got none; install the operator package of CANN 9.0.0",
        ),
    ),
    Row(
        "cann-of-the-other-architecture",
        lambda e: (shutil.rmtree(e.path(TREE)), e.cann("9.0.0", TREE, OTHER)),
        (
            (
                "cann-architecture",
                WRONG,
                f"expected CANN for {MACHINE}, got only {OTHER}-linux in {CANN}; "
                f"install CANN for {MACHINE}",
            ),
            (
                "libraries",
                WRONG,
                "expected libhccl.so (for libtorch_npu.so), libascendcl.so (for libtorch_npu.so), "
                "libge_runner.so (for libtorch_npu.so), got none in the library path; "
                f"install CANN 9.0.0 for {MACHINE}: {CANN}/lib64 has them for {OTHER}",
            ),
        ),
    ),
    Row(
        "libraries-of-the-other-architecture",
        lambda e: e.libraries(f"{TREE}/lib64", OTHER),
        (
            (
                "cann-architecture",
                WRONG,
                f"expected CANN for {MACHINE}, got {CANN}/lib64/libascendcl.so for {OTHER}; "
                f"install CANN for {MACHINE}",
            ),
            (
                "libraries",
                WRONG,
                "expected libhccl.so (for libtorch_npu.so), libascendcl.so (for libtorch_npu.so), "
                "libge_runner.so (for libtorch_npu.so), got none in the library path; "
                f"install CANN 9.0.0 for {MACHINE}: {CANN}/lib64 has them for {OTHER}",
            ),
        ),
    ),
    Row(
        "hard-coded-other-architecture",
        lambda e: e.env.update(CPATH=f"{CANN}/{OTHER}-linux/include"),
        wrong(
            "cann-architecture",
            f"expected folders of {MACHINE} in CPATH, got {CANN}/{OTHER}-linux/include; write "
            f"{CANN}/{MACHINE}-linux/include there, or leave it to {CANN}/set_env.sh",
        ),
    ),
    Row(
        "numpy-too-new-for-cann-8",
        lambda e: (layout_of_8(e), e.distribution("numpy", "2.1.0")),
        note(
            "cann-modules",
            "expected numpy 1 for the Python code of CANN 8.5.0, got numpy 2.1.0; "
            "pip install 'numpy==1.*'",
        ),
    ),
    Row("numpy-2-on-cann-9", lambda e: e.distribution("numpy", "2.1.0")),
    Row(
        "python-modules-of-cann-missing",
        lambda e: [shutil.rmtree(e.path(f"{SITE}/{name}")) for name in ("attr", "decorator")],
        note(
            "cann-modules",
            "expected the Python modules that CANN's own code imports: attr, decorator, numpy, "
            "psutil, scipy, yaml, got no attr, decorator; pip install attrs decorator",
        ),
    ),
]


def second(e: Environment, variable: str, below: str) -> None:
    e.cann("8.5.0", "/data/cann-8.5.0")
    rest = f":{e.env[variable]}" if variable in e.env else ""
    e.env[variable] = f"/data/cann-8.5.0{below}{rest}"


def only_cann_of_8(e: Environment) -> None:
    e.use(e.old_cann("8.5.0"))
    e.torch_npu("2.9.0")
    shutil.rmtree(e.path(TREE))
    e.remove(CANN)
    del e.env["ASCEND_HOME_PATH"]


def conda_hostcann(e: Environment) -> None:
    e.hostcann("/opt/venv/opt/hostcann")
    e.env["CONDA_PREFIX"] = "/opt/venv"
    del e.env["ASCEND_HOME_PATH"]


def recorded_cann(e: Environment) -> None:
    e.cann("9.0.0", "/data/npu/cann")
    e.use("/data/npu/cann")
    e.write("/etc/Ascend/ascend_cann_install.info", "Toolkit_InstallPath=/data/npu\n")
    shutil.rmtree(e.path(TREE))
    e.remove(CANN)
    del e.env["ASCEND_HOME_PATH"]


LIBRARY = [
    Row(
        "cann-not-in-the-library-path",
        lambda e: e.env.update(LD_LIBRARY_PATH=f"{DRIVER}/lib64/driver"),
        wrong(
            "libraries",
            "expected libhccl.so (for libtorch_npu.so), libascendcl.so (for libtorch_npu.so), "
            "libge_runner.so (for libtorch_npu.so), got none in the library path; "
            f"source {CANN}/set_env.sh, which adds {CANN}/lib64 to LD_LIBRARY_PATH",
        ),
    ),
    Row(
        "cann-installed-in-part",
        lambda e: e.remove(f"{TREE}/lib64/libhccl.so"),
        wrong(
            "libraries",
            "expected libhccl.so (for libtorch_npu.so), got none in the library path; "
            f"install CANN 9.0.0 completely: {CANN}/lib64 lacks it",
        ),
    ),
    Row("cann-in-ld.so.conf", lambda e: configured(e)),
    Row("ld.so.conf-that-includes-itself", lambda e: (configured(e), includes_itself(e))),
    Row(
        "ld.so.confs-that-include-each-other",
        lambda e: (
            configured(e),
            [e.write(f"/etc/ld.so.conf.d/{n}.conf", INCLUDE_ALL) for n in range(12)],
        ),
    ),
    *(
        Row(
            f"cann-with-a-library-that-is-{what}",
            change,
            wrong(
                "libraries",
                "expected libhccl.so (for libtorch_npu.so), got none in the library path; "
                f"reinstall CANN: {CANN}/lib64/libhccl.so is damaged",
            ),
        )
        for what, change in (
            ("empty", lambda e: e.write(f"{TREE}/lib64/libhccl.so")),
            ("text", lambda e: e.write(f"{TREE}/lib64/libhccl.so", "INPUT(libhccl.so.1)\n")),
            ("cut-short", lambda e: e.write(f"{TREE}/lib64/libhccl.so", make("libhccl.so")[:999])),
            ("a-folder", lambda e: folder(e, f"{TREE}/lib64/libhccl.so")),
        )
    ),
    Row(
        "cann-with-a-library-that-is-not-readable",
        lambda e: e.close(f"{TREE}/lib64/libhccl.so"),
        wrong(
            "libraries",
            "expected libhccl.so (for libtorch_npu.so), got none in the library path; as root: "
            f"chmod a+r {CANN}/lib64/libhccl.so: it is not readable",
        ),
    ),
    Row(
        "library-path-with-folders-that-cannot-be",
        lambda e: (
            e.link("/opt/itself", "itself"),
            e.env.update(LD_LIBRARY_PATH=f"/{LONG}:/opt/itself:{e.env['LD_LIBRARY_PATH']}"),
            e.env.update(PATH=f"/{LONG}:/opt/itself:{e.env['PATH']}"),
        ),
    ),
    Row(
        "folder-of-another-user-in-every-path",
        lambda e: (
            e.path("/private/bin").mkdir(parents=True),
            e.env.update(
                PATH=f"/private/bin:{e.env['PATH']}",
                LD_LIBRARY_PATH=f"/private/bin:{e.env['LD_LIBRARY_PATH']}",
            ),
            e.close("/private"),
        ),
    ),
    Row(
        "library-of-a-library-missing",
        lambda e: e.write(
            f"{TREE}/lib64/libge_runner.so", make("libge_runner.so", ("libruntime.so",))
        ),
        wrong(
            "libraries",
            "expected libruntime.so (for libge_runner.so), got none in the library path; "
            f"install CANN 9.0.0 completely: {CANN}/lib64 lacks it",
        ),
    ),
    Row(
        "torch-in-part",
        lambda e: e.remove(f"{SITE}/torch/lib/libc10.so"),
        wrong(
            "libraries",
            "expected libc10.so (for libtorch_python.so), got none in the library path; "
            "reinstall torch==2.9.0 and torch_npu==2.9.0.post2",
        ),
    ),
    Row(
        "driver-not-in-the-library-path",
        lambda e: e.env.update(LD_LIBRARY_PATH=f"{CANN}/lib64"),
        (
            (
                "driver",
                WRONG,
                f"expected the driver's libraries and version.info in {DRIVER}, got "
                f"{DRIVER}/lib64/driver/libascend_hal.so, which is in no folder of the library "
                f"path; source CANN's set_env.sh, or add {DRIVER}/lib64/driver to LD_LIBRARY_PATH",
            ),
            (
                "libraries",
                WRONG,
                "expected libascend_hal.so (for libascendcl.so), got none in the library path; add "
                f"{DRIVER}/lib64/driver to LD_LIBRARY_PATH, as CANN's set_env.sh does",
            ),
        ),
    ),
    Row(
        "build-on-a-host-without-a-driver",
        lambda e: (e.no_npu(), shutil.rmtree(e.path(f"{DRIVER}/lib64"))),
        (
            (
                "devices",
                NOTE,
                f"expected {ALL_NODES}, got none: builds work, runs do not; "
                "run on a machine with an Ascend NPU",
            ),
            (
                "libraries",
                WRONG,
                "expected libascend_hal.so (for libascendcl.so), got none in the library path; "
                "build with TORCH_DEVICE_BACKEND_AUTOLOAD=0; torch_npu needs a driver to run",
            ),
        ),
    ),
    Row(
        "package-built-with-a-newer-compiler",
        lambda e: built_newer(e),
        wrong(
            "runtime",
            "expected libstdc++.so.6 with GLIBCXX_3.4.32, which libascendc_ops.so needs, got "
            f"/usr/lib/{MACHINE}-linux-gnu/libstdc++.so.6 without it; "
            "install a newer libstdc++ (conda: libstdcxx)",
        ),
    ),
    Row(
        "system-older-than-torch_npu",
        lambda e: old_system(e),
        wrong(
            "runtime",
            "expected libc.so.6 with GLIBC_2.28, which libtorch_npu.so needs, got "
            f"/lib/{MACHINE}-linux-gnu/libc.so.6 without it; use a newer system, or its container: "
            "this library cannot be exchanged alone",
        ),
    ),
    Row(
        "libraries-found-by-runpath",
        lambda e: (
            e.env.update(LD_LIBRARY_PATH=f"{DRIVER}/lib64/driver"),
            e.torch_npu("2.9.0.post2", runpath=f"{CANN}/lib64"),
        ),
    ),
    Row(
        "torch_npu-cut-short",
        lambda e: e.write(f"{SITE}/torch_npu/lib/libtorch_npu.so", make("libtorch_npu.so")[:99]),
        wrong(
            "libraries",
            f"expected libtorch_npu.so (for {SITE}/torch_npu/lib), got none in the library path; "
            "reinstall torch==2.9.0 and torch_npu==2.9.0.post2",
        ),
    ),
    Row(
        "cuda-library-of-torch-missing",
        lambda e: e.write(f"{SITE}/torch/lib/libc10.so", make("libc10.so", ("libcudart.so.12",))),
        wrong(
            "libraries",
            "expected libcudart.so.12 (for libc10.so), got none in the library path; "
            "reinstall torch==2.9.0 and torch_npu==2.9.0.post2",
        ),
    ),
    Row(
        "system-library-missing",
        lambda e: e.torch_npu("2.9.0.post2", needed=("libgomp.so.1",)),
        wrong(
            "libraries",
            "expected libgomp.so.1 (for libtorch_npu.so), got none in the library path; "
            "install the system's package that has it",
        ),
    ),
    Row(
        "build-in-docker-without-a-driver",
        lambda e: (e.container(), e.no_npu(), shutil.rmtree(e.path(f"{DRIVER}/lib64"))),
        (
            (
                "devices",
                NOTE,
                f"expected {ALL_NODES}, got none: builds work, runs do not; "
                f"docker run {NODES} {MOUNTS} …",
            ),
            (
                "libraries",
                WRONG,
                "expected libascend_hal.so (for libascendcl.so), got none in the library path; "
                "docker "
                f"run -v {LIBRARIES}:{LIBRARIES}:ro …: the driver's libraries are not in the "
                "container",
            ),
        ),
    ),
    Row(
        "libstdc++-of-conda-too-old",
        lambda e: runtime(e, "GLIBCXX_3.4.25", "/opt/conda/lib"),
        wrong(
            "runtime",
            "expected libstdc++.so.6 with GLIBCXX_3.4.30, which libtorch_python.so needs, got "
            "/opt/conda/lib/libstdc++.so.6 without it; update it (conda: libstdcxx), or export "
            f"LD_PRELOAD=/usr/lib/{MACHINE}-linux-gnu/libstdc++.so.6",
        ),
    ),
    Row(
        "libstdc++-of-the-system-too-old",
        lambda e: runtime(e, "GLIBCXX_3.4.25", f"/usr/lib/{MACHINE}-linux-gnu"),
        wrong(
            "runtime",
            "expected libstdc++.so.6 with GLIBCXX_3.4.30, which libtorch_python.so needs, got "
            f"/usr/lib/{MACHINE}-linux-gnu/libstdc++.so.6 without it; "
            "install a newer libstdc++ (conda: libstdcxx)",
        ),
    ),
    Row(
        "libraries-of-conda-for-everybody",
        lambda e: e.env.update(
            CONDA_PREFIX="/opt/conda", LD_LIBRARY_PATH=f"{e.env['LD_LIBRARY_PATH']}:/opt/conda/lib"
        ),
        note(
            "conda",
            "expected LD_LIBRARY_PATH without the libraries of conda, got /opt/conda/lib, from "
            "which "
            "programs of the system, npu-smi among them, then load; remove it from LD_LIBRARY_PATH",
        ),
    ),
    Row("libstdc++-new-enough", lambda e: runtime(e, "GLIBCXX_3.4.30", "/opt/conda/lib")),
    Row(
        "two-libgomps-on-aarch64",
        lambda e: gomps(e, "aarch64"),
        note(
            "libgomp",
            "expected one libgomp in the process, got torch's and "
            "scikit_learn.libs/libgomp-d22c30c5.so.1.0.0: the later one may fail with 'cannot "
            "allocate memory in static TLS block'; import torch first, or export "
            f"LD_PRELOAD={SITE}/torch/lib/libgomp.so.1",
        ),
    ),
    Row("two-libgomps-elsewhere", lambda e: gomps(e, "x86_64")),
    Row(
        "libgomp-preloaded",
        lambda e: (gomps(e, "aarch64"), e.preload_gomp()),
    ),
    Row(
        "autoload-misspelt",
        lambda e: e.env.update(TORCH_DEVICE_BACKEND_AUTOLOAD="off"),
        note(
            "autoload",
            "expected TORCH_DEVICE_BACKEND_AUTOLOAD to be 0 or 1, got "
            "TORCH_DEVICE_BACKEND_AUTOLOAD=off, which torch takes for 0; correct it",
        ),
    ),
    Row(
        "two-backends-autoloaded",
        lambda e: e.distribution("other_npu", "1.0", "[torch.backends]\nother = other_npu:load\n"),
        note(
            "autoload",
            "expected one backend of torch, got other, torch_npu, which import torch loads all; "
            "uninstall the other, or set TORCH_DEVICE_BACKEND_AUTOLOAD=0",
        ),
    ),
]


def folder(e: Environment, name: str) -> None:
    e.remove(name)
    e.path(name).mkdir()


def includes_itself(e: Environment) -> None:
    e.write("/etc/ld.so.conf.d/again.conf", "include /etc/ld.so.conf\n")


def configured(e: Environment) -> None:
    e.env["LD_LIBRARY_PATH"] = ""
    e.write("/etc/ld.so.conf", "include ld.so.conf.d/*.conf\n")
    e.write(
        "/etc/ld.so.conf.d/ascend.conf", f"# CANN and driver\n{CANN}/lib64\n{DRIVER}/lib64/driver\n"
    )


def runtime(e: Environment, version: str, folder: str) -> None:
    """An old libstdc++ in a folder that comes first, and a torch that wants the system's."""
    for place, newest in ((f"/usr/lib/{MACHINE}-linux-gnu", "GLIBCXX_3.4.30"), (folder, version)):
        library = make("libstdc++.so.6", defined=("of_a_version",), version=newest)
        e.write(f"{place}/libstdc++.so.6", library)
    e.env["LD_LIBRARY_PATH"] += f":{folder}"
    e.write(
        f"{SITE}/torch/lib/libtorch_python.so",
        make(
            "libtorch_python.so",
            ("libc10.so",),
            ("_ZN5torch10ValueErrorE",),
            wants=("libstdc++.so.6", "GLIBCXX_3.4.30"),
            rpath="$ORIGIN",
        ),
    )


def built_newer(e: Environment) -> None:
    e.package("ascendc_ops_lib")
    wants = ("libstdc++.so.6", "GLIBCXX_3.4.32")
    library = make("libascendc_ops.so", wants=wants)
    e.write(f"{SITE}/ascendc_ops_lib/libascendc_ops.so", library)
    system = make("libstdc++.so.6", defined=("of_a_version",), version="GLIBCXX_3.4.30")
    e.write(f"/usr/lib/{MACHINE}-linux-gnu/libstdc++.so.6", system)


def old_system(e: Environment) -> None:
    # It lacks the symbol too, which is then said once: with the version it belongs to.
    e.torch_npu("2.9.0.post2", wants=("libc.so.6", "GLIBC_2.28"))
    system = make("libc.so.6", defined=("of_old",), version="GLIBC_2.17")
    e.write(f"/lib/{MACHINE}-linux-gnu/libc.so.6", system)


def gomps(e: Environment, machine: str) -> None:
    gomp = of_machine(make("libgomp.so.1"), machine)
    e.write(f"{SITE}/torch/lib/libgomp.so.1", gomp)
    e.write(f"{SITE}/scikit_learn.libs/libgomp-d22c30c5.so.1.0.0", gomp)


NPU = [
    Row(
        "no-npu-on-this-machine",
        lambda e: e.no_npu(),
        note(
            "devices",
            f"expected {ALL_NODES}, got none: builds work, runs do not; "
            "run on a machine with an Ascend NPU",
        ),
    ),
    Row(
        "container-without-npus",
        lambda e: (e.container(), e.no_npu()),
        note(
            "devices",
            f"expected {ALL_NODES}, got none: builds work, runs do not; "
            f"docker run {NODES} {MOUNTS} …",
        ),
    ),
    Row(
        "npus-asked-of-a-runtime-that-is-not-there",
        lambda e: (e.container(), e.no_npu(), e.env.update(ASCEND_VISIBLE_DEVICES="0,1")),
        (
            (
                "container",
                WRONG,
                "expected the NPUs of ASCEND_VISIBLE_DEVICES=0,1, got a container (/.dockerenv) "
                "without NPUs: Ascend Docker Runtime did not start it; "
                f"docker run --runtime=ascend …, or docker run {NODES} {MOUNTS} …",
            ),
            (
                "devices",
                NOTE,
                f"expected {ALL_NODES}, got none: builds work, runs do not; "
                f"docker run {NODES} {MOUNTS} …",
            ),
        ),
    ),
    Row(
        "no-npu-wished",
        lambda e: (
            e.env.update(KUBERNETES_SERVICE_HOST="10.0.0.1", ASCEND_VISIBLE_DEVICES="void"),
            e.no_npu(),
        ),
        (
            (
                "container",
                NOTE,
                "expected NPUs in the container, got ASCEND_VISIBLE_DEVICES=void, which asks for "
                "none; "
                "set ASCEND_VISIBLE_DEVICES=0 if it shall have one",
            ),
            (
                "devices",
                NOTE,
                f"expected {ALL_NODES}, got none: builds work, runs do not; "
                f"docker run {NODES} {MOUNTS} …",
            ),
        ),
    ),
    Row(
        "chip-not-passed",
        lambda e: (e.container(), e.remove("/dev/davinci0")),
        wrong(
            "devices",
            f"expected {ALL_NODES}, got /dev/davinci_manager, /dev/devmm_svm, /dev/hisi_hdc "
            "without a chip's node; docker run --device /dev/davinci0 …",
        ),
    ),
    Row(
        "manager-under-a-wrong-name",
        lambda e: (
            e.container(),
            e.path("/dev/davinci_manager").rename(e.path("/dev/dav_manager")),
        ),
        wrong(
            "devices",
            f"expected {ALL_NODES}, got no /dev/davinci_manager, but /dev/dav_manager; "
            "docker run --device /dev/davinci_manager …",
        ),
    ),
    Row(
        "shared-nodes-not-there-on-a-host",
        lambda e: e.remove("/dev/devmm_svm", "/dev/hisi_hdc"),
        wrong(
            "devices",
            f"expected {ALL_NODES}, got no /dev/devmm_svm, /dev/hisi_hdc; load the driver",
        ),
    ),
    Row(
        "node-that-docker-made-a-folder",
        lambda e: (
            e.container(),
            e.remove("/dev/hisi_hdc"),
            e.path("/dev/hisi_hdc").mkdir(),
        ),
        wrong(
            "devices",
            "expected the device node /dev/hisi_hdc, got a folder of that name; pass the node with "
            "--device /dev/hisi_hdc: -v of a missing file makes a folder",
        ),
    ),
    Row(
        "user-outside-the-group",
        lambda e: (e.path("/dev/davinci0").chmod(0o660), e.user("someone")),
        wrong(
            "devices",
            "expected /dev/davinci0 to be readable and writable by someone, got it with mode 0660, "
            "group HwHiAiUser, and someone not let in; usermod -aG HwHiAiUser someone, then log in "
            "again",
        ),
    ),
    Row(
        "container-user-without-the-group",
        lambda e: (e.container(), e.user("someone"), e.path("/dev/davinci0").chmod(0o660)),
        wrong(
            "devices",
            "expected /dev/davinci0 to be readable and writable by someone, got it with mode 0660, "
            "group HwHiAiUser, and someone not let in; docker run --group-add "
            f"{GID} …",
        ),
    ),
    Row(
        "node-for-its-owner-alone",
        lambda e: (e.user("someone", "HwHiAiUser"), e.path("/dev/devmm_svm").chmod(0o600)),
        wrong(
            "devices",
            "expected /dev/devmm_svm to be readable and writable by someone, got it with mode "
            "0600, "
            "group HwHiAiUser, and someone not let in; as root: chmod 0660 /dev/devmm_svm",
        ),
    ),
    *(
        Row(
            f"npus-selected-{what}",
            lambda e, value=value: (
                [chip(e, number) for number in range(1, 4)],
                e.env.update(ASCEND_RT_VISIBLE_DEVICES=value),
            ),
            wrong("devices", visible(3, value, right)),
        )
        for what, value, right in SELECTED_WRONGLY
    ),
    Row(
        "npu-of-hostcann-selected-that-is-not-there",
        lambda e: (e.hostcann(), e.env.update(ASCEND_RT_VISIBLE_DEVICES="0,7")),
        wrong("devices", visible(1, "0,7", "0")),
    ),
    Row(
        "hostcann-where-there-are-npus",
        lambda e: hostcann_beside_npus(e),
        note(
            "devices",
            "expected CANN where there are NPUs, got /dev/davinci0, and hostcann in "
            "ASCEND_HOME_PATH; source CANN's set_env.sh to use them",
        ),
    ),
    Row(
        "driver-not-mounted",
        lambda e: (e.container(), shutil.rmtree(e.path(DRIVER))),
        (
            (
                "driver",
                WRONG,
                f"expected the driver's libraries and version.info in {DRIVER}, got no "
                f"{DRIVER}/version.info and no libascend_hal.so; docker run {MOUNTS} …",
            ),
            (
                "libraries",
                WRONG,
                "expected libascend_hal.so (for libascendcl.so), got none in the library path; "
                "docker "
                f"run -v {LIBRARIES}:{LIBRARIES}:ro …: the driver's libraries are not in the "
                "container",
            ),
        ),
    ),
    Row(
        "no-driver-on-the-host",
        lambda e: shutil.rmtree(e.path(DRIVER)),
        (
            (
                "driver",
                WRONG,
                f"expected the driver's libraries and version.info in {DRIVER}, got no "
                f"{DRIVER}/version.info and no libascend_hal.so; install the driver",
            ),
            (
                "libraries",
                WRONG,
                "expected libascend_hal.so (for libascendcl.so), got none in the library path; "
                "install the driver",
            ),
        ),
    ),
    Row(
        "driver-in-another-place",
        lambda e: (
            e.path(DRIVER).rename(e.path("/opt/driver")),
            e.write(
                "/etc/ascend_install.info", "UserName=HwHiAiUser\nDriver_Install_Path_Param=/opt\n"
            ),
            e.env.update(LD_LIBRARY_PATH=f"{CANN}/lib64:/opt/driver/lib64/driver"),
        ),
    ),
    Row(
        "stub-of-the-driver-first",
        lambda e: (
            e.write(f"{TREE}/devlib/libascend_hal.so", make("libascend_hal.so")),
            e.env.update(LD_LIBRARY_PATH=f"{CANN}/lib64:{CANN}/devlib:{DRIVER}/lib64/driver"),
        ),
        wrong(
            "driver",
            f"expected the driver's libraries and version.info in {DRIVER}, got the stub "
            f"{CANN}/devlib/libascend_hal.so before it; put {DRIVER}/lib64/driver first in "
            "LD_LIBRARY_PATH",
        ),
    ),
    Row(
        "firmware-too-old",
        lambda e: e.write("/usr/local/Ascend/firmware/version.info", "Version=6.3.0.1.241\n"),
        wrong(
            "driver",
            "expected firmware 6.4.0 to 6.4.99 or 7.0.0 to 8.9.9 for driver 25.2.0, got firmware "
            "6.3.0.1.241; install the firmware that was published with the driver",
        ),
    ),
    Row(
        "npu-smi-not-there",
        lambda e: e.remove("/usr/local/bin/npu-smi"),
        (
            (
                "npu-smi",
                NOTE,
                "expected npu-smi, got none; mount /usr/local/bin/npu-smi if it is wanted; nothing "
                "here needs it",
            ),
            (
                "chip",
                NOTE,
                f"expected a chip of {PATTERNS}, got no answer from npu-smi or aclrtGetSocName; "
                f"set NPU_ARCH to one of {ARCHS}",
            ),
        ),
    ),
    Row(
        "npu-smi-in-sbin",
        lambda e: (
            e.path("/usr/local/sbin").mkdir(),
            e.path("/usr/local/bin/npu-smi").rename(e.path("/usr/local/sbin/npu-smi")),
        ),
    ),
    Row(
        "npu-smi-that-docker-made-a-folder",
        lambda e: (
            e.container(),
            e.remove("/usr/local/bin/npu-smi"),
            e.path("/usr/local/bin/npu-smi").mkdir(),
        ),
        (
            (
                "npu-smi",
                WRONG,
                "expected the program /usr/local/bin/npu-smi, got a folder that docker made; "
                "mount npu-smi from where the host has it: /usr/local/bin or /usr/local/sbin",
            ),
            (
                "chip",
                NOTE,
                f"expected a chip of {PATTERNS}, got no answer from npu-smi or aclrtGetSocName; "
                f"set NPU_ARCH to one of {ARCHS}",
            ),
        ),
    ),
    Row(
        "driver-that-does-not-answer",
        lambda e: e.smi("dcmi module initialize failed. ret is -8005\n"),
        (
            (
                "npu-smi",
                WRONG,
                "expected /usr/local/bin/npu-smi info to answer, got the driver does not answer "
                "(-8005); check on the host that npu-smi info works; if it does, pass "
                "/dev/davinci_manager and the driver's folders into the container, else install "
                "the "
                "driver for the running kernel",
            ),
            (
                "chip",
                NOTE,
                f"expected a chip of {PATTERNS}, got no answer from npu-smi or aclrtGetSocName; "
                f"set NPU_ARCH to one of {ARCHS}",
            ),
        ),
    ),
    Row(
        "npu-that-another-container-uses",
        lambda e: e.smi(
            "dcmi model initialized failed, because the device is used. ret is -8020\n"
        ),
        (
            (
                "npu-smi",
                WRONG,
                "expected /usr/local/bin/npu-smi info to answer, got the NPU is in use by another "
                "container, or dcmi is not mounted (-8020); stop the other container, and mount "
                "/usr/local/dcmi",
            ),
            (
                "chip",
                NOTE,
                f"expected a chip of {PATTERNS}, got no answer from npu-smi or aclrtGetSocName; "
                f"set NPU_ARCH to one of {ARCHS}",
            ),
        ),
    ),
    Row(
        "npu-smi-that-crashes",
        lambda e: e.program("/usr/local/bin/npu-smi", "kill -SEGV $$"),
        (
            (
                "npu-smi",
                WRONG,
                "expected /usr/local/bin/npu-smi info to answer, got exit code -11; check on the "
                "host that npu-smi info works; if not, load the driver or start anew",
            ),
            (
                "chip",
                NOTE,
                f"expected a chip of {PATTERNS}, got no answer from npu-smi or aclrtGetSocName; "
                f"set NPU_ARCH to one of {ARCHS}",
            ),
        ),
    ),
    Row(
        "dcmi-not-mounted",
        lambda e: (e.container(), e.path("/usr/local/dcmi").rmdir()),
        note(
            "npu-smi",
            "expected /usr/local/dcmi, which npu-smi uses, got none; "
            "docker run -v /usr/local/dcmi:/usr/local/dcmi:ro …",
        ),
    ),
    Row(
        "npu-arch-of-another-chip",
        lambda e: e.env.update(NPU_ARCH="dav-3510"),
        wrong(
            "chip",
            "expected NPU_ARCH=dav-2201 for Ascend910B1, got dav-3510; "
            "set NPU_ARCH=dav-2201, or leave it unset",
        ),
    ),
    *(
        Row(
            f"npu-arch-{what}",
            lambda e, value=value: e.env.update(NPU_ARCH=value),
            wrong(
                "chip",
                f"expected NPU_ARCH to be one of {ARCHS}, got '{value}'; "
                "correct it, or leave it unset",
            ),
        )
        for what, value in (
            ("that-is-a-chip", "ascend910b1"),
            ("that-nobody-has", "dav-9999"),
            ("between-spaces", " dav-2201 "),
            ("in-capitals", "DAV-2201"),
            ("of-two-chips", "dav-2201,dav-2002"),
        )
    ),
    Row(
        "npu-arch-that-hostcann-does-not-emulate",
        lambda e: (e.hostcann(), e.env.update(NPU_ARCH="dav-2002")),
        wrong(
            "chip",
            "expected NPU_ARCH=dav-2201, the one hostcann emulates, got dav-2002; "
            "leave NPU_ARCH unset on the host",
        ),
    ),
    Row(
        "chip-that-nobody-knows",
        lambda e: e.npu("910Z9"),
        note(
            "chip",
            f"expected a chip of {PATTERNS}, got Ascend910Z9, which is not supported; "
            "use an NPU with one of these",
        ),
    ),
    *(
        Row(
            f"chip-that-is-not-supported-{name}",
            lambda e, name=name: e.npu(name),
            note(
                "chip",
                f"expected a chip of {PATTERNS}, got Ascend{name}, which is not supported; "
                "use an NPU with one of these",
            ),
        )
        for name in ("910A", "310")
    ),
    Row(
        "chip-of-a-family-with-supported-ones",
        lambda e: e.npu("910"),
        note(
            "chip",
            f"expected a chip of {PATTERNS}, got Ascend910; set NPU_ARCH to one of {ARCHS}",
        ),
    ),
    Row(
        "node-that-is-a-link-to-nothing",
        lambda e: e.link("/dev/davinci1", "/dev/no-such-node"),
        wrong(
            "devices",
            "expected the device node /dev/davinci1, got a link that leads nowhere; "
            "remove it, and load the driver, which makes the nodes",
        ),
    ),
    Row(
        "lines-of-passwd-and-group-without-numbers",
        lambda e: (
            e.nodes(0o660),
            e.user("someone", "HwHiAiUser"),
            spoil(e, "/etc/passwd", "someone:x:none:none::/:/bin/sh\n"),
            spoil(e, "/etc/group", "staff:x:none:someone\n"),
        ),
    ),
]


def spoil(e: Environment, name: str, line: str) -> None:
    e.write(name, line + e.path(name).read_text())


def hostcann_beside_npus(e: Environment) -> None:
    e.cann("9.1.0", "/opt/hostcann")
    e.write("/opt/hostcann/hostcann-version", "0.1.0\n")
    e.use("/opt/hostcann")


PACKAGES = [
    Row(
        "package-for-another-torch",
        lambda e: e.package("ascendc_ops", torch="2.8.0"),
        wrong(
            "ascendc-ops-pybind",
            "expected torch 2.8.0, which ascendc-ops-pybind was built for, got 2.9.0+cpu; install "
            "torch==2.8.0 or a build of ascendc-ops-pybind for torch 2.9.0+cpu",
        ),
    ),
    Row(
        "package-for-another-torch_npu",
        lambda e: e.package("ascendc_ops_lib", torch_npu="2.9.0"),
        wrong(
            "ascendc-ops-lib",
            "expected torch_npu 2.9.0, which ascendc-ops-lib was built for, got 2.9.0.post2; "
            "install "
            "torch_npu==2.9.0 or a build of ascendc-ops-lib for torch_npu 2.9.0.post2",
        ),
    ),
    Row(
        "package-for-another-chip",
        lambda e: (e.package("ascendc_ops"), e.npu("310P3")),
        wrong(
            "ascendc-ops-pybind",
            "expected kernels for dav-2002, the architecture of Ascend310P3, got "
            "ascendc-ops-pybind "
            "with kernels for dav-2201; install a build of ascendc-ops-pybind for dav-2002",
        ),
    ),
    Row(
        "package-for-another-line-of-cann",
        lambda e: e.package("ascendc_ops", cann="CANN 8.5.0"),
        wrong(
            "ascendc-ops-pybind",
            "expected CANN 8.5.0, which the kernels of ascendc-ops-pybind were compiled with, got "
            "CANN 9.0.0; install CANN 8.5.0 or a build of ascendc-ops-pybind for CANN 9.0.0",
        ),
    ),
    Row(
        "package-of-hostcann-on-an-npu",
        lambda e: e.package("ascendc_ops", cann="hostcann 0.1.0"),
        wrong(
            "ascendc-ops-pybind",
            "expected hostcann 0.1.0, which the kernels of ascendc-ops-pybind were compiled with, "
            "got "
            "CANN 9.0.0; source the set_env.sh of hostcann or install a build of "
            "ascendc-ops-pybind "
            "for CANN",
        ),
    ),
    Row(
        "package-of-cann-on-hostcann",
        lambda e: (e.hostcann(), e.package("ascendc_ops_lib")),
        wrong(
            "ascendc-ops-lib",
            "expected CANN 9.0.0, which the kernels of ascendc-ops-lib were compiled with, got "
            "hostcann 0.1.0; source the set_env.sh of CANN or install a build of ascendc-ops-lib "
            "for "
            "hostcann",
        ),
    ),
    Row(
        "package-without-its-record",
        lambda e: (
            e.package("ascendc_ops"),
            e.write(f"{SITE}/ascendc_ops/_built_for.py", "TORCH = (\n"),
        ),
        wrong(
            "ascendc-ops-pybind",
            f"expected what the package was built for in {SITE}/ascendc_ops/_built_for.py, got "
            "nothing; reinstall ascendc-ops-pybind",
        ),
    ),
    *(
        Row(
            f"package-with-a-record-that-is-{what}",
            lambda e, text=text: (
                e.package("ascendc_ops"),
                e.write(f"{SITE}/ascendc_ops/_built_for.py", text),
            ),
            wrong(
                "ascendc-ops-pybind",
                f"expected what the package was built for in {SITE}/ascendc_ops/_built_for.py, "
                "got nothing; reinstall ascendc-ops-pybind",
            ),
        )
        for what, text in (
            ("unhashable", "TORCH = {[]: 1}\n"),
            ("nested", f"TORCH = {'-' * 9999}1\n"),
            ("blank", "TORCH = ' '\n"),
        )
    ),
    Row("package-that-names-a-blank-cann", lambda e: e.package("ascendc_ops", cann=" ")),
    Row(
        "conda-record-that-is-nested",
        lambda e: e.write("/opt/venv/share/ascendc-ops/x.built_with.json", "[" * 99999),
        wrong(
            "conda: x",
            "expected what the package was built for in "
            "/opt/venv/share/ascendc-ops/x.built_with.json, got nothing; reinstall x",
        ),
    ),
    Row(
        "package-for-another-candidate",
        lambda e: (
            stack("2.4.0", "2.4.0", "8.0.RC3")(e),
            e.package("ascendc_ops", torch="2.4.0", torch_npu="2.4.0", cann="CANN 8.0.RC1"),
        ),
        wrong(
            "ascendc-ops-pybind",
            "expected CANN 8.0.RC1, which the kernels of ascendc-ops-pybind were compiled with, "
            "got CANN 8.0.RC3; install CANN 8.0.RC1 or a build of ascendc-ops-pybind for "
            "CANN 8.0.RC3",
        ),
    ),
    Row(
        "package-of-another-machine",
        lambda e: (
            e.package("ascendc_ops"),
            e.write(f"{SITE}/ascendc_ops/_C{SUFFIX}", of_machine(make("_C.so"), OTHER)),
        ),
        wrong(
            "ascendc-ops-pybind",
            f"expected ascendc_ops for {MACHINE}, got ascendc_ops for {OTHER} in "
            f"{SITE}/ascendc_ops; install ascendc-ops-pybind for this machine",
        ),
    ),
    Row(
        "package-of-another-interpreter",
        lambda e: (
            e.package("ascendc_ops"),
            e.path(f"{SITE}/ascendc_ops/_C{SUFFIX}").rename(
                e.path(f"{SITE}/ascendc_ops/_C.cpython-38-{MACHINE}-linux-gnu.so")
            ),
        ),
        wrong(
            "ascendc-ops-pybind",
            f"expected ascendc_ops for /opt/venv/bin/python (_C{SUFFIX}), got "
            f"_C.cpython-38-{MACHINE}-linux-gnu.so in {SITE}/ascendc_ops; use the interpreter "
            "ascendc_ops is installed for",
        ),
    ),
    Row(
        "package-without-its-library",
        lambda e: (e.package("ascendc_ops"), e.remove(f"{SITE}/ascendc_ops/_C{SUFFIX}")),
        wrong(
            "ascendc-ops-pybind",
            f"expected {SITE}/ascendc_ops/_C{SUFFIX}, got none; reinstall ascendc-ops-pybind",
        ),
    ),
    Row(
        "package-cut-short",
        lambda e: (e.package("ascendc_ops_lib"), e.write(KERNELS, make("libx.so")[:99])),
        wrong(
            "ascendc-ops-lib",
            f"expected {KERNELS}, got a damaged file; reinstall ascendc-ops-lib",
        ),
    ),
    Row(
        "package-that-needs-more-of-cann",
        lambda e: (e.package("ascendc_ops_lib"), e.library(KERNELS, ("libruntime.so",))),
        wrong(
            "libraries",
            "expected libruntime.so (for libascendc_kernels.so), got none in the library path; "
            f"install CANN 9.0.0 completely: {CANN}/lib64 lacks it",
        ),
    ),
    Row(
        "package-with-a-symbol-that-nothing-has",
        lambda e: (e.package("ascendc_ops_lib"), e.library(KERNELS, (), ("aclrtNewest",))),
        wrong(
            "ascendc-ops-lib",
            "expected every symbol that ascendc-ops-lib needs, got torch, torch_npu and CANN "
            "9.0.0 without aclrtNewest; install a build of ascendc-ops-lib for this stack",
        ),
    ),
    Row(
        "package-of-the-old-abi",
        lambda e: (
            e.package("ascendc_ops_lib"),
            e.library(
                f"{SITE}/ascendc_ops_lib/libascendc_ops.so",
                ("libascendc_kernels.so",),
                ("_ZN3c105ErrorC1ESs",),
            ),
        ),
        wrong(
            "ascendc-ops-lib",
            "expected every symbol that ascendc-ops-lib needs, got torch, torch_npu and CANN "
            "9.0.0 without _ZN3c105ErrorC1ESs, which _GLIBCXX_USE_CXX11_ABI=0 asks for; install a "
            "build of ascendc-ops-lib for this stack, compiled without "
            "-D_GLIBCXX_USE_CXX11_ABI=0",
        ),
    ),
    Row(
        "conda-package-for-another-torch_npu",
        lambda e: e.conda(torch="2.9.0", torch_npu="2.9.0.post6"),
        wrong(
            "conda: ascendc-ops-lib",
            "expected torch_npu 2.9.0.post6, which ascendc-ops-lib was built for, got 2.9.0.post2; "
            "install torch_npu==2.9.0.post6 or a build of ascendc-ops-lib for torch_npu "
            "2.9.0.post2",
        ),
    ),
    Row(
        "conda-record-that-is-not-json",
        lambda e: e.write("/opt/venv/share/ascendc-ops/x.built_with.json", "{"),
        wrong(
            "conda: x",
            "expected what the package was built for in "
            "/opt/venv/share/ascendc-ops/x.built_with.json, got nothing; reinstall x",
        ),
    ),
    Row("conda-package-for-this-stack", lambda e: e.conda(torch="2.9.0", torch_npu="2.9.0.post2")),
]

ROWS = [*RIGHT, *INTERPRETER, *TORCH, *RELEASE, *ABIS, *CANNS, *LIBRARY, *NPU, *PACKAGES]
