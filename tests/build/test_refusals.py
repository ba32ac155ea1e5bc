# SPDX-License-Identifier: Apache-2.0
"""CMake refuses, with one sentence each, a configuration that could only fail later."""

import importlib.metadata
import os
import platform
import re
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
CMAKE = shutil.which("cmake", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
TORCH = importlib.metadata.version("torch")
TORCH_NPU = importlib.metadata.version("torch_npu")
ARCHITECTURES = "dav-2002, dav-2201, dav-3510"


def configure(
    build: Path, *arguments: str, **environment: str | None
) -> subprocess.CompletedProcess[str]:
    merged = {**os.environ, **{k: v for k, v in environment.items() if v is not None}}
    for name, value in environment.items():
        if value is None:
            merged.pop(name, None)
    assert CMAKE is not None
    return subprocess.run(
        [CMAKE, "-S", REPOSITORY, "-B", build, "-G", "Ninja", *arguments],
        env=merged,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def sentence(result: subprocess.CompletedProcess[str]) -> str:
    """CMake's first error on one line: it wraps long messages."""
    found = re.search(
        r"CMake Error at [^\n]*\n(.*?)(?:\n\n|Call Stack|\Z)", result.stderr, re.DOTALL
    )
    return " ".join(found.group(1).split()) if found else result.stderr


def arguments(python: str = sys.executable, arch: str = "dav-2201") -> list[str]:
    return [f"-DCMAKE_ASC_ARCHITECTURES={arch}", f"-DPython3_EXECUTABLE={python}"]


def hide(folder: Path, name: str, version: str) -> str:
    """A PYTHONPATH on which distribution `name` looks like `version`."""
    info = folder / f"{name}-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    return str(folder)


def test_valid_configuration_is_accepted(tmp_path: Path) -> None:
    result = configure(tmp_path / "build", *arguments())
    assert result.returncode == 0, result.stderr
    assert "CMake Warning" not in result.stderr


def test_unset_ascend_home_path(tmp_path: Path) -> None:
    result = configure(tmp_path / "build", *arguments(), ASCEND_HOME_PATH=None)
    assert result.returncode != 0
    assert sentence(result) == (
        "ascendc_ops: expected ASCEND_HOME_PATH to name CANN or hostcann, got it unset; "
        "source its set_env.sh first"
    )


def test_ascend_home_path_that_is_no_folder(tmp_path: Path) -> None:
    gone = str(tmp_path / "gone")
    result = configure(tmp_path / "build", *arguments(), ASCEND_HOME_PATH=gone)
    assert result.returncode != 0
    assert sentence(result) == (
        f"ascendc_ops: expected ASCEND_HOME_PATH to name CANN or hostcann, got {gone}, which is no "
        "folder; source its set_env.sh first"
    )


def test_cann_that_is_not_for_this_torch_npu(tmp_path: Path) -> None:
    # hostcann's tree as CANN of another line: without the file by which it says what it is.
    home = tmp_path / "cann"
    home.mkdir()
    for part in Path(os.environ["ASCEND_HOME_PATH"]).iterdir():
        if part.name != "hostcann-version" and not part.name.endswith("-linux"):
            (home / part.name).symlink_to(part)
    info = home / f"{platform.machine()}-linux" / "ascend_toolkit_install.info"
    info.parent.mkdir()
    info.write_text("package_name=Ascend-cann-toolkit\nversion=8.2.RC1\n")
    result = configure(tmp_path / "build", *arguments(), ASCEND_HOME_PATH=str(home))
    assert result.returncode != 0
    assert sentence(result) == (
        f"ascendc_ops: expected CANN 9.1.0 for torch_npu {TORCH_NPU}, got CANN 8.2.RC1; install "
        "CANN "
        "9.1.0, or a torch_npu for CANN 8.2.RC1: 2.6.0, 2.5.1.post1, 2.1.0.post13"
    )


@pytest.mark.parametrize("arch", ["", "ascend910b1", "dav-9999", " dav-2201", "DAV-2201"])
def test_missing_or_unknown_npu_arch(arch: str, tmp_path: Path) -> None:
    result = configure(tmp_path / "build", *arguments(arch=arch))
    assert result.returncode != 0
    assert sentence(result) == (
        f"ascendc_ops: expected --npu-arch to be one of {ARCHITECTURES}, got "
        f"'{arch}'; configure with "
        "-DCMAKE_ASC_ARCHITECTURES=<the architecture of the chip>"
    )


def test_unknown_variant(tmp_path: Path) -> None:
    result = configure(tmp_path / "build", *arguments(), "-DASCENDC_OPS_VARIANT=nanobind")
    assert result.returncode != 0
    assert sentence(result) == (
        "ascendc_ops: expected ASCENDC_OPS_VARIANT to be pybind, lib or both, got 'nanobind'"
    )


def test_interpreter_without_torch(tmp_path: Path) -> None:
    venv.create(tmp_path / "empty", with_pip=False)
    python = str(tmp_path / "empty/bin/python")
    result = configure(tmp_path / "build", *arguments(python=python))
    assert result.returncode != 0
    assert sentence(result) == (
        f"ascendc_ops: expected torch in {python}, got an interpreter without it; configure with "
        "-DPython3_EXECUTABLE=<the interpreter torch is installed for>"
    )


def test_torch_of_another_interpreter(tmp_path: Path) -> None:
    torch = tmp_path / "other/torch"
    torch.mkdir(parents=True)
    (torch / "__init__.py").touch()
    (torch / "_C.cpython-38-x86_64-linux-gnu.so").touch()
    result = configure(tmp_path / "build", *arguments(), PYTHONPATH=str(torch.parent))
    assert result.returncode != 0
    text = sentence(result)
    assert text.startswith(f"ascendc_ops: expected torch for {sys.executable} (_C.cpython-3")
    assert text.endswith(
        f"got _C.cpython-38-x86_64-linux-gnu.so in {torch}; configure with "
        "-DPython3_EXECUTABLE=<the interpreter torch is installed for>"
    )


@pytest.mark.parametrize("version", ["2.12.0", "2.12.0.post6"])
def test_torch_npu_of_another_torch(version: str, tmp_path: Path) -> None:
    path = hide(tmp_path, "torch_npu", version)
    result = configure(tmp_path / "build", *arguments(), PYTHONPATH=path)
    assert result.returncode != 0
    release = TORCH.partition("+")[0]
    assert sentence(result) == (
        f"ascendc_ops: expected torch_npu for torch {release}, got torch {TORCH} with torch_npu "
        f"{version}; install torch_npu=={TORCH_NPU} or torch==2.12.0"
    )


def test_post_release_of_the_same_torch_is_accepted(tmp_path: Path) -> None:
    path = hide(tmp_path, "torch_npu", f"{TORCH.partition('+')[0]}.post9")
    result = configure(tmp_path / "build", *arguments(), PYTHONPATH=path)
    assert result.returncode == 0, result.stderr


def test_torch_npu_is_located_without_importing_it(tmp_path: Path) -> None:
    # No CANN library can be loaded, as in a `docker build`, and the probe prints noise.
    site = tmp_path / "site"
    site.mkdir()
    (site / "sitecustomize.py").write_text(
        "import sys\n"
        "if any('torch_stack.py' in argument for argument in sys.orig_argv):\n"
        "    print('set(STACK_TORCH_DIR noise)')\n"
    )
    result = configure(
        tmp_path / "build",
        *arguments(),
        PYTHONPATH=str(site),
        LD_LIBRARY_PATH=None,
        TORCH_DEVICE_BACKEND_AUTOLOAD="1",
    )
    assert result.returncode == 0, result.stderr


def test_a_symbol_torch_npu_does_not_export_fails_the_build(tmp_path: Path) -> None:
    root = tmp_path / "copy"
    for name in ("kernels", "csrc", "python"):
        shutil.copytree(REPOSITORY / name, root / name)
    for name in ("CMakeLists.txt", "versions.toml"):
        shutil.copy(REPOSITORY / name, root / name)
    (root / "csrc/check.cpp").unlink()
    (root / "csrc/ascendc_add.cpp").write_text(
        '#include "ascendc_add.h"\n'
        "namespace at_npu::native { int64_t not_exported(const at::Tensor&); }\n"
        "at::Tensor ascendc_ops::ascendc_add(const at::Tensor& x, const at::Tensor& y) {\n"
        "  return at_npu::native::not_exported(x) ? x : y;\n"
        "}\n"
    )
    assert CMAKE is not None
    build = tmp_path / "build"
    subprocess.run(
        [CMAKE, "-S", root, "-B", build, "-G", "Ninja", *arguments(), "-DASCENDC_OPS_VARIANT=lib"],
        capture_output=True,
        check=True,
    )
    result = subprocess.run(
        [CMAKE, "--build", build], capture_output=True, text=True, timeout=300, check=False
    )
    assert result.returncode != 0
    assert (
        "undefined reference to `at_npu::native::not_exported(at::Tensor const&)'" in result.stdout
    )
