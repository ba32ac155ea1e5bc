# SPDX-License-Identifier: Apache-2.0
"""Import torch and torch_npu for a package built against them, or say in one sentence why not."""

import importlib
import importlib.metadata
import os
import re
import sys


def _public(version: str) -> str:
    # 2.13.0+cpu and 2.13.0 are the same release: the local part names torch's build, not its ABI.
    return version.partition("+")[0]


def _check_version(package: str, distribution: str, built: str) -> None:
    try:
        found = importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError as error:
        raise ImportError(
            f"{package}: built for {distribution} {built}, found none in {sys.executable}; "
            f"install {distribution}=={_public(built)}"
        ) from error
    if _public(found) != _public(built):
        raise ImportError(
            f"{package}: built for {distribution} {built}, found {found}; install "
            f"{distribution}=={_public(built)} or a build of {package} for {distribution} {found}"
        )


def _cause(error: BaseException) -> str:
    """The reason of a failed import, as the end of a sentence."""
    messages = []
    link: BaseException | None = error
    while link is not None:
        messages.append(str(link))
        link = link.__cause__ or link.__context__
    text = "\n".join(messages)
    if missing := re.search(r"(lib[\w.+-]+\.so[\w.]*): cannot open shared object file", text):
        return (
            f"the library {missing[1]} of CANN was not found; source set_env.sh of CANN or "
            "hostcann before starting Python"
        )
    if symbol := re.search(r"undefined symbol: (\S+)", text):
        return (
            f"the symbol {symbol[1].rstrip(',')} is missing; install the CANN, torch and torch_npu "
            "that belong together (README, support table)"
        )
    first = text.strip().splitlines()
    return first[0] if first else repr(error)


def import_stack(package: str, torch: str, torch_npu: str) -> None:
    """Check the installed versions against the ones `package` was built for and import both.

    Args:
        package: name of the importing package, the start of every message.
        torch: version of torch the package was built for.
        torch_npu: version of torch_npu the package was built for.

    Raises:
        ImportError: one sentence with the cause; the original error is chained.
    """
    _check_version(package, "torch", torch)
    _check_version(package, "torch_npu", torch_npu)
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
