# SPDX-License-Identifier: Apache-2.0
"""Import torch and torch_npu for a package built against them, or say in one sentence why not."""

import importlib
import importlib.metadata
import os
import sys
import sysconfig
from pathlib import Path

from . import _mismatch


def _in_subinterpreter() -> bool:
    for name in ("_interpreters", "_xxsubinterpreters"):
        try:
            interpreters = importlib.import_module(name)
        except ImportError:
            continue
        return interpreters.get_current() != interpreters.get_main()
    return False


def _check_interpreter(package: str) -> None:
    if sysconfig.get_config_var("Py_GIL_DISABLED"):
        raise ImportError(f"{package}: {_mismatch.free_threaded(package)}")
    if _in_subinterpreter():
        raise ImportError(f"{package}: {_mismatch.subinterpreter(package)}")


def _check_unpacked(package: str) -> None:
    folder = Path(__file__).parent
    if not folder.is_dir():
        raise ImportError(f"{package}: {_mismatch.packed(package, folder)}")


def _check_version(package: str, distribution: str, built: str) -> None:
    try:
        found = importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError as error:
        fix = f"install {distribution}=={_mismatch.public(built)}"
        problem = _mismatch.absent(distribution, sys.executable, fix)
        raise ImportError(f"{package}: {problem}") from error
    if problem := _mismatch.not_what_it_was_built_for(package, distribution, built, found):
        raise ImportError(f"{package}: {problem}")


def _check_cann(package: str, built: str) -> None:
    folder = Path(os.environ.get("ASCEND_HOME_PATH", ""))
    # Unset, or no folder: torch_npu then says what it misses.
    if not folder.is_absolute() or not folder.is_dir():
        return
    if problem := _mismatch.other_kind_of_cann(package, built, _mismatch.cann_name(folder)):
        raise ImportError(f"{package}: {problem}")


def _cause(error: BaseException) -> str:
    """The reason of a failed import, as the end of a sentence."""
    messages = []
    link: BaseException | None = error
    while link is not None:
        messages.append(str(link))
        link = link.__cause__ or link.__context__
    text = "\n".join(messages)
    if problem := _mismatch.not_loaded(text):
        return str(problem)
    first = text.strip().splitlines()
    return first[0] if first else repr(error)


def import_stack(package: str, torch: str, torch_npu: str, cann: str) -> None:
    """Import torch and torch_npu, if this is the place and they are what `package` was built for.

    Args:
        package: name of the importing package, the start of every message.
        torch: version of torch the package was built for.
        torch_npu: version of torch_npu the package was built for.
        cann: name of the CANN its kernels were compiled with.

    Raises:
        ImportError: one sentence with the cause; the original error is chained.
    """
    _check_interpreter(package)
    _check_unpacked(package)
    _check_version(package, "torch", torch)
    _check_version(package, "torch_npu", torch_npu)
    _check_cann(package, cann)
    # torch autoloads torch_npu while it is itself half imported and hides the reason of a failure,
    # so the two are imported one after the other.
    variable = "TORCH_DEVICE_BACKEND_AUTOLOAD"
    before = os.environ.get(variable)
    os.environ[variable] = "0"
    try:
        for name in ("torch", "torch_npu"):
            try:
                importlib.import_module(name)
            except Exception as error:
                raise ImportError(f"{package}: cannot import {name}: {_cause(error)}") from error
    finally:
        if before is None:
            del os.environ[variable]
        else:
            os.environ[variable] = before
