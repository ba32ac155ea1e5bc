# SPDX-License-Identifier: Apache-2.0
"""hostcann's wheel in a folder of its own, and a project that knows nothing of this one."""

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import CANN_VARIABLES, last_line

REPOSITORY = Path(__file__).resolve().parents[2]

SETUP = """\
from setuptools import setup
from torch.utils.cpp_extension import BuildExtension
from torch_npu.utils.cpp_extension import NpuExtension

setup(
    name="twice",
    ext_modules=[NpuExtension("twice", ["twice.cpp"], extra_compile_args=["-O0", "-std=c++20"])],
    cmdclass={"build_ext": BuildExtension},
)
"""
# On the current stream: the second half is a copy of the first.
SOURCE = """\
#include <Python.h>
#include <ATen/ops/cat.h>
#include <torch/library.h>
#include <torch_npu/csrc/core/npu/NPUStream.h>
#include <acl/acl_rt.h>

at::Tensor twice(const at::Tensor& x) {
  at::Tensor z = at::cat({x, x}).zero_();
  auto* to = static_cast<char*>(z.data_ptr());
  for (int half = 0; half < 2; ++half, to += x.nbytes()) {
    TORCH_CHECK(aclrtMemcpyAsync(to, x.nbytes(), x.data_ptr(), x.nbytes(),
                                 ACL_MEMCPY_DEVICE_TO_DEVICE,
                                 c10_npu::getCurrentNPUStream().stream()) == ACL_SUCCESS);
  }
  return z;
}

TORCH_LIBRARY(second, m) { m.def("twice(Tensor x) -> Tensor"); }
TORCH_LIBRARY_IMPL(second, PrivateUse1, m) { m.impl("twice", twice); }
static PyModuleDef module_ = {PyModuleDef_HEAD_INIT, "twice", nullptr, -1, nullptr};
PyMODINIT_FUNC PyInit_twice() { return PyModule_Create(&module_); }
"""
CONFTEST = """\
import hostcann
import torch
import twice
"""
TEST = """\
import torch

def test_it_is_there_twice():
    x = torch.arange(5.0, device="npu:0")
    assert torch.ops.second.twice(x).cpu().tolist() == [0, 1, 2, 3, 4] * 2
"""

Shell = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if os.environ.get("DEVICE") == "npu":
        pytest.skip("on an NPU the toolkit is CANN, not hostcann")
    folder = tmp_path_factory.mktemp("site")
    (wheel,) = (REPOSITORY / "build" / "wheels" / "hostcann").glob("*.whl")
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index"]
    subprocess.run([*command, "--target", str(folder), str(wheel)], check=True)
    return folder


@pytest.fixture
def shell(site: Path, tmp_path: Path) -> Shell:
    """Run a script where hostcann is installed and no CANN is set up."""

    def run(script: str, cwd: Path = tmp_path, **variables: str):
        environment = {k: v for k, v in os.environ.items() if k not in CANN_VARIABLES}
        environment["PYTHONPATH"] = str(site)
        folders = (str(site / "bin"), str(Path(sys.executable).parent), environment["PATH"])
        environment |= {"PATH": os.pathsep.join(folders)} | variables
        return subprocess.run(
            ["bash", "-euc", script],
            cwd=cwd,
            env=environment,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    return run


def test_a_second_project_builds_and_tests_its_extension(shell: Shell, tmp_path: Path) -> None:
    files = {"setup.py": SETUP, "twice.cpp": SOURCE, "conftest.py": CONFTEST, "test_it.py": TEST}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    built = shell("hostcann run python setup.py --quiet build_ext --inplace")
    assert built.returncode == 0, built.stdout + built.stderr
    done = shell("python -m pytest -q -p no:cacheprovider")
    assert done.stdout.splitlines()[-1].startswith("1 passed"), done.stdout + done.stderr


def test_what_a_process_starts_has_hostcann_too(shell: Shell, tmp_path: Path) -> None:
    parent = "import hostcann, subprocess, sys; subprocess.run([sys.executable, 'child.py'])"
    (tmp_path / "parent.py").write_text(parent)
    (tmp_path / "child.py").write_text(
        "import torch; print(torch.ones(2, device='npu:0').tolist())"
    )
    done = shell("python parent.py")
    assert done.stdout == "[1.0, 1.0]\n", done.stderr


def test_the_operators_are_found_when_torch_npu_is_imported_by_name(shell: Shell) -> None:
    code = "import hostcann, torch, torch_npu; print((torch.ones(2, device='npu:0') + 1).tolist())"
    done = shell(f'python -c "{code}"', TORCH_DEVICE_BACKEND_AUTOLOAD="0")
    assert done.stdout == "[2.0, 2.0]\n", done.stderr


def test_env_prints_what_run_sets(shell: Shell, site: Path) -> None:
    names = "$ASCEND_HOME_PATH $ASCEND_OPP_PATH $LD_LIBRARY_PATH $CMAKE_PREFIX_PATH $PATH"
    evaluated = shell(f'eval "$(hostcann env)"; echo "{names}"').stdout
    assert evaluated == shell(f"hostcann run sh -c 'echo \"{names}\"'").stdout
    assert evaluated.startswith(f"{site}/hostcann_toolkit/prefix ")


def test_run_is_the_command(shell: Shell) -> None:
    done = shell("hostcann run -- sh -c 'echo \"$1\"; exit 7' sh 'two words'")
    assert (done.stdout, done.returncode) == ("two words\n", 7)
    assert shell("hostcann run bisheng --version").returncode == 0


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("hostcann run", "hostcann: run: expected a command, got none: "),
        (
            "hostcann run no-such",
            "hostcann: run: expected a command, got 'no-such', which is not on PATH",
        ),
    ],
)
def test_run_without_a_command_is_refused(shell: Shell, script: str, said: str) -> None:
    done = shell(script)
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert done.stderr.startswith(said)


def test_after_torch_npu_it_is_too_late(run_python, site: Path) -> None:
    code = f"import sys, torch, torch_npu; sys.path.insert(0, {str(site)!r}); import hostcann"
    done = run_python(code)
    library = Path(os.environ["ASCEND_HOME_PATH"], "lib64", "libascendcl.so")
    assert last_line(done) == (
        f"ImportError: hostcann: expected to be imported before torch_npu, got {library} loaded"
        " already: import hostcann before torch, which imports torch_npu by itself, or start with"
        " hostcann run"
    )


def test_it_may_be_imported_again_and_under_hostcann_run(shell: Shell) -> None:
    code = "import torch, hostcann; print(torch.zeros(1, device='npu:0').item())"
    done = shell(f'hostcann run python -c "{code}"')
    assert done.stdout == "0.0\n", done.stderr


@pytest.mark.parametrize("how", ["hostcann env", 'python -c "import hostcann"'])
def test_another_torch_is_refused(shell: Shell, site: Path, tmp_path: Path, how: str) -> None:
    info = tmp_path / "torch-2.1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: torch\nVersion: 2.1.0\n")
    done = shell(how, PYTHONPATH=f"{tmp_path}:{site}")
    assert done.returncode == 1
    said = (
        r"hostcann: expected torch (\S+), which it was built for, got 2.1.0: pip install torch==\1"
    )
    assert re.search(f"{said}$", last_line(done))


@pytest.fixture
def npu_host(tmp_path: Path) -> Path:
    """The files of a machine with an NPU and CANN."""
    lib = tmp_path / "usr" / "local" / "Ascend" / "cann" / "lib64"
    for file in (tmp_path / "dev" / "davinci0", lib / "libascendcl.so"):
        file.parent.mkdir(parents=True)
        file.touch()
    return tmp_path


def hidden(shell: Shell, root: Path, **env: str) -> str:
    code = f"from hostcann_toolkit import *; print(hidden_cann({env}, Path('{root}')))"
    done = shell(f'python -c "{code}"')
    assert done.returncode == 0, done.stderr
    return done.stdout.rstrip("\n")


def test_where_an_npu_has_its_cann_hostcann_is_refused(shell: Shell, npu_host: Path) -> None:
    cann = npu_host / "usr" / "local" / "Ascend" / "cann"
    assert hidden(shell, npu_host) == (
        f"expected a machine without an NPU, got /dev/davinci0 and CANN in {cann}: use that CANN,"
        " or set HOSTCANN_SHADOW_CANN=1 to run on the CPU all the same"
    )
    assert hidden(shell, npu_host, HOSTCANN_SHADOW_CANN="1") == "None"
    elsewhere = cann.rename(npu_host / "cann")
    assert hidden(shell, npu_host) == "None"
    assert f"CANN in {elsewhere}:" in hidden(shell, npu_host, ASCEND_HOME_PATH=str(elsewhere))
    (npu_host / "dev" / "davinci0").unlink()
    assert hidden(shell, npu_host, ASCEND_HOME_PATH=str(elsewhere)) == "None"


@pytest.mark.parametrize(
    ("use", "said"),
    [
        ("import hostcann", "ImportError: hostcann: there is one"),
        ("from hostcann_toolkit.command import main; main()", "hostcann: there is one"),
    ],
)
@pytest.mark.parametrize("argv", ["env", "run true"])
def test_whatever_uses_hostcann_is_refused_there(
    shell: Shell, tmp_path: Path, use: str, said: str, argv: str
) -> None:
    lines = (
        "import sys",
        "import hostcann_toolkit, hostcann_toolkit.command as command",
        "hostcann_toolkit.hidden_cann = command.hidden_cann = lambda env: 'there is one'",
        f"sys.argv = ['hostcann', *{argv.split()}]",
        use,
    )
    (tmp_path / "there.py").write_text("\n".join(lines))
    done = shell("python there.py")
    assert (done.returncode, done.stdout, last_line(done)) == (1, "", said)


def test_neither_a_manager_node_nor_hostcann_itself_is_a_reason(shell: Shell, npu_host) -> None:
    cann = npu_host / "usr" / "local" / "Ascend" / "cann"
    (cann / "hostcann-version").touch()
    assert hidden(shell, npu_host) == "None"
    (cann / "hostcann-version").unlink()
    (npu_host / "dev" / "davinci0").rename(npu_host / "dev" / "davinci_manager")
    assert hidden(shell, npu_host) == "None"


def test_nothing_in_it_names_the_machine_that_built_it(site: Path) -> None:
    libraries = sorted((site / "hostcann_toolkit" / "prefix" / "lib64").glob("*.so"))
    assert {"libascendcl.so", "libnnopbase.so", "libopapi.so"} < {file.name for file in libraries}
    assert [file.name for file in libraries if str(REPOSITORY).encode() in file.read_bytes()] == []
    (info,) = site.glob("hostcann-*.dist-info")
    assert (info / "licenses" / "LICENSE").read_text() == (REPOSITORY / "LICENSE").read_text()
