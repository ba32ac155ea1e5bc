# SPDX-License-Identifier: Apache-2.0
"""A made-up machine: a healthy NPU host in a folder, of which a row spoils one thing."""

import json
import os
import platform
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any, NamedTuple

from .library import MACHINE, make, of_machine

PYTHON = "{}.{}".format(*sys.version_info)
SITE = f"/opt/venv/lib/python{PYTHON}/site-packages"
INCLUDE = sysconfig.get_path(
    "include", vars={"base": sys.base_prefix, "installed_base": sys.base_prefix}
)
SUFFIX = sysconfig.get_config_var("EXT_SUFFIX")
CANN = "/usr/local/Ascend/cann"
# Where that link leads.
TREE = "/usr/local/Ascend/cann-9.0.0"
DRIVER = "/usr/local/Ascend/driver"
CANN_LIBRARIES = ("libhccl.so", "libascendcl.so", "libge_runner.so")
NODES = ("davinci0", "davinci_manager", "devmm_svm", "hisi_hdc")
USER = 23456
# How a std::string is mangled, and torch's function that takes one.
NEW_STRING = "NSt7__cxx1112basic_stringIcE"
STRING = f"_ZN3c105ErrorC1E{NEW_STRING}"

# As npu-smi prints them.
SMI = """\
+------------------------------------------------------------------------------------------------+
| npu-smi 25.2.0                   Version: 25.2.0                                               |
+---------------------------+---------------+----------------------------------------------------+
| NPU   Name                | Health        | Power(W)    Temp(C)           Hugepages-Usage(page)|
+===========================+===============+====================================================+
| 0     {name:<20}| OK            | 93.6        49                0    / 0             |
+===========================+===============+====================================================+
"""


class Result(NamedTuple):
    code: int
    findings: list[dict[str, str]]
    stderr: str

    def problems(self) -> list[tuple[str, str, str]]:
        """Topic, verdict and the whole sentence of all that is not ok."""
        return [
            (f["topic"], f["verdict"], f"expected {f['expected']}, got {f['found']}; {f['fix']}")
            for f in self.findings
            if f["verdict"] != "ok"
        ]


class Environment:
    """Torch 2.9.0, torch_npu 2.9.0.post2 and CANN 9.0.0 on an Ascend910B1, all in order."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.arguments: list[str] = []
        # Put before the command: how it is started.
        self.starter: list[str] = []
        self.env = {
            "PATH": "/usr/local/bin:/usr/bin",
            "HOME": "/var/someone",
            "ASCEND_HOME_PATH": CANN,
            "ASCEND_TOOLKIT_HOME": CANN,
            "ASCEND_OPP_PATH": f"{CANN}/opp",
            "LD_LIBRARY_PATH": f"{CANN}/lib64:{DRIVER}/lib64/driver",
        }
        self.interpreter()
        self.torch("2.9.0+cpu")
        self.torch_npu("2.9.0.post2")
        self.cann("9.0.0", TREE)
        # An absolute link, as CANN's installer makes it: it must not lead out of the root.
        self.link(CANN, TREE)
        self.npu("910B1")

    def path(self, name: str) -> Path:
        return self.root / name.lstrip("/")

    def write(self, name: str, content: str | bytes = "") -> None:
        path = self.path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)

    def program(self, name: str, script: str) -> None:
        self.write(name, f"#!/bin/sh\n{script}\n")
        self.path(name).chmod(0o755)

    def link(self, name: str, target: str) -> None:
        self.path(name).parent.mkdir(parents=True, exist_ok=True)
        self.path(name).symlink_to(target)

    def remove(self, *names: str) -> None:
        for name in names:
            self.path(name).unlink()

    def interpreter(self) -> None:
        """A venv of the real interpreter, the headers where it looks for them, and a compiler."""
        real = os.path.realpath(sys.executable)
        self.link("/opt/venv/bin/python", real)
        self.write(
            "/opt/venv/pyvenv.cfg",
            f"home = {Path(real).parent}\ninclude-system-site-packages = false\n",
        )
        self.path(SITE).mkdir(parents=True)
        self.headers(platform.python_version())
        self.program("/usr/bin/g++", 'exec g++ "$@"')
        for module in ("attr", "decorator", "numpy", "psutil", "scipy", "yaml"):
            self.write(f"{SITE}/{module}/__init__.py")

    def headers(self, version: str) -> None:
        self.write(f"{INCLUDE}/Python.h")
        self.write(f"{INCLUDE}/patchlevel.h", f'#define PY_VERSION "{version}"\n')

    def distribution(self, name: str, version: str, entry_points: str = "") -> None:
        for old in self.path(SITE).glob(f"{name}-*.dist-info"):
            shutil.rmtree(old)
        info = f"{SITE}/{name}-{version}.dist-info"
        self.write(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        self.write(f"{info}/entry_points.txt", entry_points)

    def torch(self, version: str, strings: str = NEW_STRING) -> None:
        self.distribution("torch", version)
        self.write(f"{SITE}/torch/__init__.py", "raise SystemExit('the doctor imported torch')\n")
        self.write(f"{SITE}/torch/_C{SUFFIX}", make("_C.so"))
        error = f"_ZN3c105ErrorC1E{strings}"
        lib = f"{SITE}/torch/lib"
        self.write(f"{lib}/libc10.so", make("libc10.so", defined=(error,)))
        self.write(
            f"{lib}/libtorch_python.so",
            make(
                "libtorch_python.so", ("libc10.so",), ("_ZN5torch10ValueErrorE",), rpath="$ORIGIN"
            ),
        )

    def nothing_installed(self) -> None:
        for name in ("torch", "torch_npu"):
            shutil.rmtree(self.path(f"{SITE}/{name}"))
            shutil.rmtree(next(self.path(SITE).glob(f"{name}-*.dist-info")))

    def torch_npu(
        self,
        version: str,
        needed: tuple[str, ...] = (),
        undefined: tuple[str, ...] = (),
        **more: Any,
    ) -> None:
        self.distribution(
            "torch_npu", version, "[torch.backends]\ntorch_npu = torch_npu:_autoload\n"
        )
        self.write(f"{SITE}/torch_npu/__init__.py", "raise SystemExit('imported torch_npu')\n")
        library = make(
            "libtorch_npu.so",
            (*CANN_LIBRARIES, "libtorch_python.so", *needed),
            (),
            ("aclrtMalloc", "_ZN5torch10ValueErrorE", *undefined),
            **more,
        )
        self.write(f"{SITE}/torch_npu/lib/libtorch_npu.so", library)
        self.write(f"{SITE}/torch_npu/_C{SUFFIX}", make("_C.so", ("libtorch_npu.so",)))

    def cann(self, release: str, home: str, machine: str = MACHINE) -> None:
        folder = f"{home}/{machine}-linux"
        info = f"package_name=Ascend-cann-toolkit\nversion={release}\narch={machine}\n"
        self.write(f"{folder}/ascend_toolkit_install.info", info)
        self.write(f"{home}/set_env.sh")
        self.path(f"{home}/opp").mkdir(parents=True, exist_ok=True)
        self.libraries(f"{home}/lib64", machine)

    def info(self, text: str) -> str:
        """What CANN says of itself, and where."""
        name = f"{TREE}/{MACHINE}-linux/ascend_toolkit_install.info"
        self.write(name, text)
        return name

    def release(self, release: str) -> None:
        """Another release in the same place."""
        self.cann(release, TREE)

    def libraries(self, folder: str, machine: str = MACHINE) -> None:
        for name in CANN_LIBRARIES:
            acl = name == "libascendcl.so"
            library = make(
                name,
                ("libascend_hal.so",) if acl else (),
                ("aclrtMalloc", "aclInit") if acl else (),
            )
            self.write(f"{folder}/{name}", of_machine(library, machine))

    def old_cann(self, release: str) -> str:
        """One in the layout of 8.x, with its environment script above it."""
        home = f"/usr/local/Ascend/ascend-toolkit/{release}"
        self.cann(release, home)
        self.remove(f"{home}/set_env.sh")
        self.write("/usr/local/Ascend/ascend-toolkit/set_env.sh")
        self.link("/usr/local/Ascend/ascend-toolkit/latest", release)
        return "/usr/local/Ascend/ascend-toolkit/latest"

    def use(self, home: str) -> None:
        """What the set_env.sh of a CANN sets."""
        self.env |= {
            "ASCEND_HOME_PATH": home,
            "ASCEND_TOOLKIT_HOME": home,
            "ASCEND_OPP_PATH": f"{home}/opp",
            "LD_LIBRARY_PATH": f"{home}/lib64:{DRIVER}/lib64/driver",
        }

    def npu(self, name: str) -> None:
        self.write("/etc/ascend_install.info", "Driver_Install_Path_Param=/usr/local/Ascend\n")
        self.write(
            f"{DRIVER}/version.info",
            "Version=25.2.0\nascendhal_version=7.35.23\ncompatible_version_fw=[6.4.0,6.4.99],[7.0.0,8.9.9]\n",
        )
        self.write("/usr/local/Ascend/firmware/version.info", "Version=7.7.0.1.231\n")
        self.write(f"{DRIVER}/lib64/driver/libascend_hal.so", make("libascend_hal.so"))
        for node in NODES:
            self.write(f"/dev/{node}")
            self.path(f"/dev/{node}").chmod(0o666)
        self.smi(SMI.format(name=name))

    def smi(self, says: str) -> None:
        self.program("/usr/local/bin/npu-smi", f"cat <<'TEXT'\n{says}TEXT")

    def no_npu(self) -> None:
        self.remove(*(f"/dev/{node}" for node in NODES))

    def hostcann(self, home: str = "/opt/hostcann") -> None:
        """A machine without an NPU, driver and CANN."""
        self.no_npu()
        self.remove(f"{DRIVER}/version.info", "/usr/local/bin/npu-smi", CANN)
        self.cann("9.1.0", home)
        self.write(f"{home}/lib64/libascendcl.so", make("libascendcl.so", (), ("aclrtMalloc",)))
        self.write(f"{home}/hostcann-version", "0.1.0\n")
        self.use(home)
        for name in CANN_LIBRARIES:
            self.remove(f"{TREE}/lib64/{name}")

    def container(self) -> None:
        self.write("/.dockerenv")
        self.path("/usr/local/dcmi").mkdir(parents=True)

    def nodes(self, mode: int) -> None:
        for node in NODES:
            self.path(f"/dev/{node}").chmod(mode)

    def close(self, name: str) -> None:
        """Nobody may read it, and the superuser's rights over files are laid down."""
        self.path(name).chmod(0)
        if os.geteuid() == 0:
            setpriv = shutil.which("setpriv") or "/usr/bin/setpriv"
            self.starter = [setpriv, "--bounding-set=-all", "--inh-caps=-all"]

    def preload_gomp(self) -> None:
        # Outside of the made-up machine, so that the real linker finds it too.
        library = self.root.with_name(f"{self.root.name}-libgomp.so.1")
        library.write_bytes(make("libgomp.so.1"))
        self.env["LD_PRELOAD"] = str(library)

    def user(self, name: str, *groups: str) -> None:
        """Looks with the eyes of a user; the nodes' group is HwHiAiUser."""
        gid = self.path("/dev/davinci0").stat().st_gid
        self.write("/etc/passwd", f"{name}:x:{USER}:{USER}::/home/{name}:/bin/sh\n")
        members = name if "HwHiAiUser" in groups else ""
        self.write("/etc/group", f"HwHiAiUser:x:{gid}:{members}\n{name}:x:{USER}:\n")
        self.arguments += ["--user", name]

    def package(self, name: str, **built_for: str) -> None:
        known = {"torch": "2.9.0+cpu", "torch_npu": "2.9.0.post2", "cann": "CANN 9.0.0"}
        lines = (known | {"npu_arch": "dav-2201"} | built_for).items()
        text = "".join(f'{key.upper()} = "{value}"\n' for key, value in lines)
        self.write(f"{SITE}/{name}/__init__.py", f"raise SystemExit('imported {name}')\n")
        self.write(f"{SITE}/{name}/_built_for.py", text)
        front = f"_C{SUFFIX}" if name == "ascendc_ops" else "libascendc_ops.so"
        self.library(f"{SITE}/{name}/{front}", ("libascendc_kernels.so", "libtorch_npu.so"))
        self.library(f"{SITE}/{name}/libascendc_kernels.so", ("libascendcl.so",), ("aclrtMalloc",))

    def library(
        self, name: str, needed: tuple[str, ...] = (), undefined: tuple[str, ...] = ()
    ) -> None:
        content = make(Path(name).name, needed, (), undefined, runpath="$ORIGIN")
        self.write(name, content)

    def conda(self, **built_with: str) -> None:
        content = {"package": "ascendc-ops-lib", **built_with}
        record = "/opt/venv/share/ascendc-ops/ascendc-ops-lib.built_with.json"
        self.write(record, json.dumps(content))

    def doctor(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = [
            *self.starter,
            sys.executable,
            # As the installed command, which does not look into the working folder.
            "-P",
            "-m",
            "ascendc_env",
            "doctor",
            "--root",
            str(self.root),
        ]
        command += ["--python", "/opt/venv/bin/python", *self.arguments, *arguments]
        return subprocess.run(
            command,
            env=self.env,
            cwd=self.root,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    def examine(self) -> Result:
        done = self.doctor("--json")
        findings = json.loads(done.stdout)["findings"] if done.stdout else []
        return Result(done.returncode, findings, done.stderr)
