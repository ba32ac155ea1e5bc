# SPDX-License-Identifier: Apache-2.0
"""Importing the installed packages: it works in every order, or says in one sentence why not."""

import importlib.metadata
import itertools
import os
import re
import subprocess
from pathlib import Path

import pytest

from .conftest import Run, last_line

PACKAGES = ("ascendc_ops", "ascendc_ops_lib")
TORCH = importlib.metadata.version("torch")
TORCH_NPU = importlib.metadata.version("torch_npu")
HOSTCANN = Path(os.environ["ASCEND_HOME_PATH"], "hostcann-version")


def distribution(folder: Path, name: str, version: str) -> Path:
    """Metadata that hides the installed distribution `name` when `folder` is on PYTHONPATH."""
    info = folder / f"{name}-{version}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    return folder


@pytest.mark.parametrize("package", PACKAGES)
def test_without_cann_names_the_missing_library(package: str, run_python: Run) -> None:
    result = run_python(f"import {package}", cann=False)
    assert result.returncode == 1
    assert last_line(result) == (
        f"ImportError: {package}: cannot import torch_npu: expected the library libhccl.so of "
        "CANN, "
        "got none; source set_env.sh of CANN or hostcann before starting Python"
    )
    assert "The above exception was the direct cause" in result.stderr


@pytest.mark.parametrize("package", PACKAGES)
@pytest.mark.parametrize(
    ("name", "found", "built"), [("torch", "2.12.0", TORCH), ("torch_npu", "2.12.0", TORCH_NPU)]
)
def test_other_version_is_refused(
    package: str, name: str, found: str, built: str, run_python: Run, tmp_path: Path
) -> None:
    result = run_python(f"import {package}", path=distribution(tmp_path, name, found))
    assert result.returncode == 1
    public = built.partition("+")[0]
    assert last_line(result) == (
        f"ImportError: {package}: expected {name} {built}, which {package} was built for, got "
        f"{found}; install {name}=={public} or a build of {package} for {name} {found}"
    )


@pytest.mark.parametrize("package", PACKAGES)
def test_local_part_of_a_version_does_not_matter(
    package: str, run_python: Run, tmp_path: Path
) -> None:
    public = TORCH.partition("+")[0]
    result = run_python(
        f"import {package}", path=distribution(tmp_path, "torch", f"{public}+other")
    )
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("package", PACKAGES)
def test_incomplete_cann_names_the_missing_symbol(
    package: str, run_python: Run, tmp_path: Path
) -> None:
    # Libraries with the right names and nothing in them: a CANN of another release, to the linker.
    source = tmp_path / "empty.c"
    source.write_text("")
    for name in ("ascendcl", "acl_op_compiler", "acl_tdt_channel", "ge_runner", "graph", "hccl"):
        library = tmp_path / f"lib{name}.so"
        subprocess.run(
            ["g++", "-shared", f"-Wl,-soname,{library.name}", "-o", library, source], check=True
        )
    result = run_python(f"import {package}", cann=False, LD_LIBRARY_PATH=str(tmp_path))
    assert result.returncode == 1
    sentence = last_line(result)
    assert re.fullmatch(
        f"ImportError: {package}: cannot import torch_npu: expected the symbol \\w+, got none; "
        "install "
        "a CANN, torch and torch_npu that belong together; ascendc-env doctor names them",
        sentence,
    )


@pytest.mark.skipif(not HOSTCANN.is_file(), reason="the packages were not built with hostcann")
@pytest.mark.parametrize("package", PACKAGES)
def test_kernels_of_hostcann_are_refused_on_cann(
    package: str, run_python: Run, tmp_path: Path
) -> None:
    # A CANN, as far as its folder says.
    (tmp_path / "version.cfg").write_text("toolkit_installed_version=[9.1.0]\n")
    result = run_python(f"import {package}", ASCEND_HOME_PATH=str(tmp_path))
    assert result.returncode == 1
    built = f"hostcann {HOSTCANN.read_text().strip()}"
    assert last_line(result) == (
        f"ImportError: {package}: expected {built}, which the kernels of {package} were compiled "
        "with, got CANN 9.1.0; source the set_env.sh of hostcann or install a build of "
        f"{package} for CANN"
    )


# torch loads torch_npu by itself unless told not to; whatever comes first pulls in the rest.
ORDERS = [
    *((order, "1") for order in itertools.permutations(("torch", *PACKAGES))),
    (("torch", *PACKAGES), "0"),
    ((*PACKAGES, "torch"), "0"),
]


@pytest.mark.parametrize(
    ("order", "autoload"),
    ORDERS,
    ids=lambda value: "-".join(value) if isinstance(value, tuple) else value,
)
def test_every_import_order_works_and_leaves_the_device_alone(
    order: tuple[str, ...], autoload: str, run_python: Run
) -> None:
    code = "".join(f"import {name}\n" for name in order)
    code += (
        "import os\n"
        "assert not torch.npu.is_initialized(), 'importing initialised the device'\n"
        f"assert os.environ['TORCH_DEVICE_BACKEND_AUTOLOAD'] == '{autoload}'\n"
        "assert torch.ops.ascendc_ops.ascendc_add and ascendc_ops.ascendc_add\n"
    )
    result = run_python(code, TORCH_DEVICE_BACKEND_AUTOLOAD=autoload)
    assert result.returncode == 0, result.stderr


def test_operator_exists_only_after_the_library_is_loaded(run_python: Run) -> None:
    result = run_python(
        "import torch, ascendc_ops\n"
        "try:\n"
        "    torch.ops.ascendc_ops.ascendc_add\n"
        "except AttributeError as error:\n"
        "    print(error)\n"
    )
    assert result.returncode == 0, result.stderr
    assert (
        result.stdout.strip()
        == "'_OpNamespace' 'ascendc_ops' object has no attribute 'ascendc_add'"
    )


def test_loading_twice_by_any_route_is_harmless(run_python: Run, tmp_path: Path) -> None:
    # A file of the same name in the working directory must not be what is loaded.
    (tmp_path / "libascendc_ops.so").write_bytes(b"")
    result = run_python(
        "import importlib, pathlib, torch, torch_npu\n"
        "root = pathlib.Path(importlib.util.find_spec('ascendc_ops_lib').origin).parent\n"
        "torch.ops.load_library(str(root / 'libascendc_ops.so'))\n"
        "import ascendc_ops_lib\n"
        "importlib.reload(ascendc_ops_lib)\n"
        "torch.ops.load_library(ascendc_ops_lib.LIBRARY)\n"
        "assert pathlib.Path(ascendc_ops_lib.LIBRARY) == root.resolve() / 'libascendc_ops.so'\n"
        "print(torch.ops.ascendc_ops.ascendc_add.default._schema)\n"
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout.strip() == "ascendc_ops::ascendc_add(Tensor x, Tensor y) -> Tensor"


def test_a_schema_defined_elsewhere_is_an_import_error(run_python: Run) -> None:
    result = run_python(
        "import torch\n"
        "other = torch.library.Library('ascendc_ops', 'DEF')\n"
        "other.define('ascendc_add(Tensor x, Tensor y) -> Tensor')\n"
        "import ascendc_ops_lib\n"
    )
    assert result.returncode == 1
    sentence = last_line(result)
    assert sentence.startswith("ImportError: ascendc_ops_lib: cannot load /")
    assert "ascendc_ops::ascendc_add is already defined (registered at " in sentence
    assert sentence.endswith("; load only one library that defines it")


def test_a_copy_loaded_by_hand_is_named(run_python: Run, tmp_path: Path) -> None:
    result = run_python(
        "import importlib, pathlib, shutil, torch, torch_npu\n"
        "root = pathlib.Path(importlib.util.find_spec('ascendc_ops_lib').origin).parent\n"
        "for name in ('libascendc_ops.so', 'libascendc_kernels.so'):\n"
        "    shutil.copy(root / name, name)\n"
        "torch.ops.load_library(str(pathlib.Path('libascendc_ops.so').resolve()))\n"
        "import ascendc_ops_lib\n"
    )
    assert result.returncode == 1
    assert f"libraries loaded so far: {tmp_path.resolve()}/libascendc_ops.so" in last_line(result)


def test_interpreter_exits_cleanly_after_use(run_python: Run) -> None:
    result = run_python(
        "import torch, ascendc_ops, ascendc_ops_lib\n"
        "x = torch.ones(8, 2048).to('npu:0')\n"
        "assert (ascendc_ops.ascendc_add(x, x).cpu() == 2).all()\n"
        "assert (torch.ops.ascendc_ops.ascendc_add(x, x).cpu() == 2).all()\n"
    )
    assert result.returncode == 0, result.stderr


def test_stub_signatures_and_schemas_name_the_same_operators(run_python: Run) -> None:
    result = run_python(
        "import inspect, pathlib, ascendc_ops\n"
        "operators = [name.split('::')[1] for name in ascendc_ops._built_for.OPERATORS]\n"
        "assert operators and sorted(ascendc_ops.__all__) == sorted(operators)\n"
        "stub = pathlib.Path(ascendc_ops.__file__).with_name('_C.pyi').read_text()\n"
        "assert stub.count('def ') == len(operators), stub\n"
        "for operator in operators:\n"
        "    signature = inspect.signature(getattr(ascendc_ops, operator))\n"
        "    names = ', '.join(f'{name}: Tensor' for name in signature.parameters)\n"
        "    assert f'def {operator}({names}) -> Tensor: ...' in stub, stub\n"
        "    assert signature.return_annotation.__name__ == 'Tensor'\n"
        "    assert getattr(ascendc_ops._C, operator).__doc__.startswith(f'{operator}(x: ')\n"
        "    try:\n"
        "        getattr(ascendc_ops._C, operator)(y=1.0, x='')\n"
        "    except TypeError as error:\n"
        "        assert str(error).endswith(\"'x': expected a torch.Tensor, got str\"), error\n"
    )
    assert result.returncode == 0, result.stderr
