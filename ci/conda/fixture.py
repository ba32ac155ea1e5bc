# SPDX-License-Identifier: Apache-2.0
"""The packages a conda channel would bring, made from this machine: interpreter, compiler, wheels.

They stand in for conda-forge's where there is no network; they are good for this machine only.
"""

import email.message
import os
import platform
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from packaging.requirements import Requirement

from . import archive

# As long as build tools make it: every prefix that is installed into is shorter.
PLACEHOLDER = archive.placeholder(255)
PYTHON = ".".join(platform.python_version_tuple()[:2])
SUBDIR = {"x86_64": "linux-64", "aarch64": "linux-aarch64"}[platform.machine()]
PYTHON_BUILD = "fixture_0_cpython"
WHEEL_BUILD = f"fixture_py{PYTHON.replace('.', '')}_0"
SITE = f"lib/python{PYTHON}/site-packages"
# Big, and of no use to a package.
LEFT_OUT = ("site-packages", "dist-packages", "idlelib", "turtledemo", "tkinter", "ensurepip")
ACTIVATE_COMPILER = """\
export CC=gcc CXX=g++ CFLAGS="-O2" CXXFLAGS="-O2" LDFLAGS=""
"""


@dataclass
class Recorded:
    """A package as its metadata describes it, and its files."""

    name: str
    version: str
    build: str = "fixture_0"
    depends: list[str] = field(default_factory=list)
    constrains: list[str] = field(default_factory=list)
    license: str = ""
    run_exports: dict[str, list[str]] = field(default_factory=dict)
    files: list[archive.File] = field(default_factory=list)
    # What it stands for on this machine, where name and version do not tell.
    origin: str = ""

    @property
    def filename(self) -> str:
        return f"{self.name}-{self.version}-{self.build}.conda"

    def write(self, folder: Path) -> None:
        index = {
            "name": self.name,
            "version": self.version,
            "build": self.build,
            "build_number": 0,
            "depends": sorted(self.depends),
            "constrains": sorted(self.constrains),
            "license": self.license,
            "subdir": SUBDIR,
            "platform": "linux",
            "arch": platform.machine(),
            "timestamp": archive.EARLIEST * 1000,
        }
        info = {
            "index.json": archive.to_json(index),
            "about.json": archive.to_json({"license": self.license}),
            "paths.json": archive.paths_json(self.files),
        }
        if self.run_exports:
            info["run_exports.json"] = archive.to_json(self.run_exports)
        archive.write(folder / self.filename, info, self.files, archive.EARLIEST, 1)


def tree(folder: Path, prefix: str = "") -> list[archive.File]:
    """Every file below a folder, under `prefix` in the package."""
    files = []
    for path in sorted(folder.rglob("*")):
        name = prefix + str(path.relative_to(folder))
        if path.is_symlink():
            files.append(archive.File(name, bytes, link=str(path.readlink())))
        elif path.is_file():
            files.append(archive.File(name, path.read_bytes, bool(path.stat().st_mode & 0o100)))
    return files


def compile_bytecode(root: Path) -> None:
    """Beside every module, valid whenever it was unpacked (no date is in it), and always the same.

    So one process does it, file after file, and a new one: what it has interned for another file
    shows in the bytes, as the order of a set does.
    """
    command = [sys.executable, "-m", "compileall", "-qq", "--invalidation-mode", "unchecked-hash"]
    # Some files are for another Python or templates, and do not compile.
    subprocess.run([*command, "-s", str(root), str(root)], env={"PYTHONHASHSEED": "0"}, check=False)


def relocated(file: archive.File, old: str) -> archive.File:
    """A text file that names the interpreter's own prefix names the one it is installed into."""
    content = b"" if file.link else file.read()
    if b"\0" in content or old.encode() not in content:
        return file
    content = content.replace(old.encode(), PLACEHOLDER.encode())
    return archive.File(file.path, lambda: content, file.executable, placeholder=PLACEHOLDER)


def without_rpath(path: Path, old: str) -> bytes:
    """The interpreter, looking for its library beside itself instead of where it was built for."""
    content = path.read_bytes()
    new = b"$ORIGIN/../lib"
    where = f"{old}/lib".encode() + b"\0"
    if where in content and len(where) > len(new):
        content = content.replace(where, new.ljust(len(where), b"\0"))
    return content


def undo_debian(stdlib: Path) -> None:
    """Debian's interpreter installs into dist-packages and does not look into site-packages."""
    sysconfig_file = stdlib / "sysconfig.py"
    text = sysconfig_file.read_text(encoding="utf-8")
    outside = 'sys.base_prefix != sys.prefix or hasattr(sys, "real_prefix")'
    if outside in text:
        sysconfig_file.write_text(text.replace(outside, "True"), encoding="utf-8")
        # site itself is frozen into the interpreter.
        code = f"import site, sys\n\nsite.addsitedir(sys.prefix + '/{SITE}')\n"
        (stdlib / "sitecustomize.py").unlink(missing_ok=True)
        (stdlib / "sitecustomize.py").write_text(code, encoding="utf-8")


def python(scratch: Path) -> Recorded:
    base = sys.base_prefix
    library = Path(sysconfig.get_path("stdlib", vars={"base": base, "installed_base": base}))
    stdlib = scratch / f"lib/python{PYTHON}"
    shutil.copytree(
        library,
        stdlib,
        symlinks=True,
        ignore=lambda folder, names: [
            name
            for name in names
            if name in ("__pycache__", "test", "tests")
            or name.endswith((".a", ".exe"))
            or (Path(folder) == library and name in LEFT_OUT)
        ],
    )
    undo_debian(stdlib)
    compile_bytecode(scratch)
    binary = Path(os.path.realpath(sys.executable))
    files = [relocated(file, base) for file in tree(scratch) if "/config-" not in file.path]
    files += [
        archive.File(f"bin/python{PYTHON}", lambda: without_rpath(binary, base), True),
        *(
            archive.File(f"bin/{name}", bytes, link=f"python{PYTHON}")
            for name in ("python", "python3")
        ),
        archive.File(f"{SITE}/README.txt", lambda: b"Packages are installed here.\n"),
    ]
    for folder in {sysconfig.get_path("include"), sysconfig.get_path("platinclude")}:
        files += tree(Path(folder), f"include/python{PYTHON}/")
    shared = Path(sysconfig.get_config_var("LIBDIR")) / sysconfig.get_config_var("INSTSONAME")
    if sysconfig.get_config_var("Py_ENABLE_SHARED") and shared.exists():
        files.append(archive.File(f"lib/{shared.name}", lambda: without_rpath(shared, base)))
    tag = PYTHON.replace(".", "")
    return Recorded(
        "python",
        platform.python_version(),
        PYTHON_BUILD,
        constrains=[f"python_abi {PYTHON}.* *_cp{tag}"],
        license="Python-2.0",
        run_exports={"weak": [f"python_abi {PYTHON}.* *_cp{tag}"], "noarch": ["python"]},
        files=files,
    )


def python_abi() -> Recorded:
    tag = PYTHON.replace(".", "")
    return Recorded("python_abi", PYTHON, f"0_cp{tag}", constrains=[f"python {PYTHON}.* *_cpython"])


def compiler_release() -> str:
    done = subprocess.run(["g++", "-dumpfullversion"], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def glibc_release() -> str:
    return platform.libc_ver()[1]


def system_library(name: str) -> Path:
    command = ["g++", f"-print-file-name={name}"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return Path(done.stdout.strip()).resolve()


def compilers() -> list[Recorded]:
    """The system's g++ under the names that a recipe's compiler('cxx') and stdlib('c') become."""
    release = compiler_release()
    major = release.partition(".")[0]
    machine = platform.machine()
    runtimes = []
    for name, library in (("libstdcxx", "libstdc++.so.6"), ("libgcc", "libgcc_s.so.1")):
        path = system_library(library)
        file = archive.File(f"lib/{library}", path.read_bytes)
        runtimes.append(Recorded(name, release, files=[file]))
    sysroot = f"{machine}-conda-linux-gnu/sysroot/lib64"
    names = ("libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1")
    loader = {"x86_64": "ld-linux-x86-64.so.2", "aarch64": "ld-linux-aarch64.so.1"}[machine]
    c_files = [
        archive.File(f"{sysroot}/{name}", system_library(name).read_bytes)
        for name in (*names, loader)
    ]
    script = archive.File("etc/conda/activate.d/compiler.sh", lambda: ACTIVATE_COMPILER.encode())
    exports = [f"libstdcxx >={major}", f"libgcc >={major}"]
    glibc = glibc_release()
    return [
        *runtimes,
        Recorded(f"gxx_{SUBDIR}", release, files=[script], run_exports={"strong": exports}),
        Recorded(
            f"sysroot_{SUBDIR}",
            glibc,
            files=c_files,
            run_exports={"strong": [f"__glibc >={glibc},<3.0.a0"]},
        ),
    ]


def identity(wheel: Path) -> tuple[str, str]:
    """conda's name for what is in a wheel, and its version."""
    name, version = wheel.name.split("-")[:2]
    return conda_name(name), version


def conda_name(name: str) -> str:
    spelled = re.sub(r"[-_.]+", "-", name).lower()
    return {"typing-extensions": "typing_extensions"}.get(spelled, spelled)


def filename_of(wheel: Path) -> str:
    return "{}-{}-{}.conda".format(*identity(wheel), WHEEL_BUILD)


def metadata(wheel: Path) -> email.message.Message:
    with zipfile.ZipFile(wheel) as source:
        name = next(n for n in source.namelist() if n.endswith(".dist-info/METADATA"))
        return email.message_from_bytes(source.read(name))


def depends_of(described: email.message.Message) -> list[str]:
    wanted = [f"python {PYTHON}.*"]
    for text in described.get_all("Requires-Dist") or []:
        requirement = Requirement(text)
        if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
            wanted.append(f"{conda_name(requirement.name)} {requirement.specifier}".strip())
    return wanted


def from_wheel(wheel: Path, scratch: Path) -> Recorded:
    """A wheel unpacked where an installer would put it, without the scripts in bin."""
    described = metadata(wheel)
    name, version = identity(wheel)
    site = scratch / SITE
    with zipfile.ZipFile(wheel) as source:
        source.extractall(site)
    data = next(site.glob("*.data"), None)
    if data:
        for kind, place in (("scripts", "bin"), ("purelib", SITE), ("platlib", SITE), ("data", "")):
            if (data / kind).is_dir():
                shutil.copytree(data / kind, scratch / place, dirs_exist_ok=True)
        shutil.rmtree(data)
    depends = depends_of(described)
    if name == "cmake":
        # A build environment has no Python of its own.
        shutil.move(site / "cmake" / "data", scratch / "tool")
        scratch, depends = scratch / "tool", []
    elif name == "ninja":
        shutil.rmtree(scratch / "lib")
        depends = []
    else:
        compile_bytecode(scratch)
    files = tree(scratch)
    if not depends:
        for file in files:
            file.executable |= file.path.startswith("bin/")
    return Recorded(
        name,
        version,
        WHEEL_BUILD,
        depends=depends,
        license=described.get("License-Expression") or "",
        files=files,
    )


def python_filename() -> str:
    return f"python-{platform.python_version()}-{PYTHON_BUILD}.conda"


def make_python(folder: Path) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        python(Path(scratch)).write(folder)


def small_ones(toolkit: Recorded | None) -> list[Recorded]:
    return [python_abi(), *compilers(), *([toolkit] if toolkit else [])]


def cann_toolkit(home: Path, release: str) -> Recorded:
    """Stands for the CANN in ASCEND_HOME_PATH: it has the release and none of the files."""
    facts = [file.read_bytes() for file in sorted(home.glob("*/ascend_toolkit_install.info"))]
    origin = f"{home.resolve()} {archive.sha256(b''.join(facts))}"
    return Recorded("cann-toolkit", release, origin=origin)


def wheel_maker(wheel: Path) -> Callable[[Path], None]:
    def make(folder: Path) -> None:
        with tempfile.TemporaryDirectory() as scratch:
            from_wheel(wheel, Path(scratch)).write(folder)

    return make
