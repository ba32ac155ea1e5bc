# SPDX-License-Identifier: Apache-2.0
"""The toolkit's files, and what it takes to use them in this process or another."""

import ctypes
import importlib.metadata
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

PREFIX = Path(__file__).resolve().parent / "prefix"
SHADOW = "HOSTCANN_SHADOW_CANN"


def environment(before: Mapping[str, str]) -> dict[str, str]:
    """The variables that set_env.sh sets or changes, with their values after it."""
    command = ["sh", "-c", '. "$0" && exec env -0', str(PREFIX / "set_env.sh")]
    done = subprocess.run(command, env=dict(before), capture_output=True, text=True, check=True)
    pairs = (line.partition("=") for line in done.stdout.split("\0") if "=" in line)
    after = {name: value for name, _, value in pairs if name not in ("_", "PWD", "SHLVL")}
    return {name: value for name, value in after.items() if before.get(name) != value}


def hidden_cann(env: Mapping[str, str], root: Path = Path("/")) -> str | None:
    """Why hostcann must not be used here, unless it is told to: an NPU has its CANN."""
    nodes = sorted((root / "dev").glob("davinci[0-9]*"))
    named = env.get("ASCEND_HOME_PATH")
    usual = root / "usr" / "local" / "Ascend"
    places = [Path(named)] if named else []
    places += [usual / "cann", usual / "ascend-toolkit" / "latest", usual / "latest"]
    cann = next((place for place in places if is_cann(place)), None)
    if not nodes or cann is None or env.get(SHADOW) == "1":
        return None
    return (
        f"expected a machine without an NPU, got /{nodes[0].relative_to(root)} and CANN in {cann}:"
        f" use that CANN, or set {SHADOW}=1 to run on the CPU all the same"
    )


def is_cann(folder: Path) -> bool:
    return (folder / "lib64" / "libascendcl.so").exists() and not (
        folder / "hostcann-version"
    ).exists()


def other_torch() -> str | None:
    """Why hostcann's operators cannot run on the torch that is installed."""
    for requirement in importlib.metadata.requires("hostcann") or []:
        name, _, wanted = requirement.partition("==")
        try:
            found = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found = "none"
        if found.partition("+")[0] != wanted:
            return (
                f"expected {name} {wanted}, which it was built for, got {found}:"
                f" pip install {requirement}"
            )
    return None


def loaded(name: str) -> Path | None:
    """The file of a library in this process."""
    for line in Path("/proc/self/maps").read_text().splitlines():
        file = line.partition("/")[1:]
        if file[1].endswith(f"/{name}"):
            return Path("".join(file))
    return None


def activate() -> None:
    """Use hostcann in this process and its children.

    Raises:
        ImportError: one sentence with the reason and what to do.
    """
    runtime = loaded("libascendcl.so")
    ours = PREFIX / "lib64" / "libascendcl.so"
    if runtime is not None and not runtime.samefile(ours):
        raise ImportError(
            f"hostcann: expected to be imported before torch_npu, got {runtime} loaded already:"
            " import hostcann before torch, which imports torch_npu by itself, or start with"
            " hostcann run"
        )
    if problem := other_torch() or hidden_cann(os.environ):
        raise ImportError(f"hostcann: {problem}")
    os.environ.update(environment(os.environ))
    if runtime is None:
        # What is loaded is found by its name, wherever the loader would look. The operators need
        # torch: the runtime loads them when torch_npu initialises it.
        ctypes.CDLL(str(ours))
        for library in sorted(ours.parent.glob("lib*.so")):
            if library.name != "libopapi.so":
                ctypes.CDLL(str(library))
