# SPDX-License-Identifier: Apache-2.0
"""Ascend C operators for PyTorch, registered with torch.library.

Importing this package loads its ``libascendc_ops.so``; ``torch.ops.ascendc_ops.*`` exists then.
"""

from pathlib import Path

from . import _built_for
from ._stack import import_stack

import_stack(__name__, torch=_built_for.TORCH, torch_npu=_built_for.TORCH_NPU, cann=_built_for.CANN)

import torch  # noqa: E402

__all__ = ["CMAKE_PREFIX", "LIBRARY"]

# Absolute path of the library, for torch.ops.load_library or a C++ program.
LIBRARY = str(Path(__file__).resolve().parent / "libascendc_ops.so")
# For CMAKE_PREFIX_PATH, so that a C++ program's find_package(ascendc_ops) finds the library.
CMAKE_PREFIX = str(Path(__file__).resolve().parent)


def _registered_at(operator: str) -> str:
    for line in torch._C._dispatch_dump(operator).splitlines():
        if line.startswith("debug: "):
            return line.removeprefix("debug: ")
    return "an unknown place"


def _load() -> None:
    if LIBRARY in torch.ops.loaded_libraries:
        return
    # A second definition of a schema ends the process from inside dlopen, so look before loading.
    for operator in _built_for.OPERATORS:
        if torch._C._jit_get_schemas_for_operator(operator):
            others = sorted(str(path) for path in torch.ops.loaded_libraries)
            raise ImportError(
                f"{__name__}: cannot load {LIBRARY}: {operator} is already defined "
                f"({_registered_at(operator)}; libraries loaded so far: "
                f"{', '.join(others) or 'none'}); load only one library that defines it"
            )
    try:
        torch.ops.load_library(LIBRARY)
    except OSError as error:
        raise ImportError(f"{__name__}: cannot load {LIBRARY}: {error}") from error


_load()
