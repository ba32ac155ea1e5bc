# SPDX-License-Identifier: Apache-2.0
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

# What set_env.sh of CANN or hostcann adds; without these the stack has no CANN.
CANN_VARIABLES = ("ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME", "ASCEND_OPP_PATH", "LD_LIBRARY_PATH")

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def run_python(tmp_path: Path) -> Run:
    """Run a script in a fresh interpreter: `run_python(code, cann=False, path=folder, NAME="x")`"""

    def run(
        code: str,
        *,
        cann: bool = True,
        path: Path | None = None,
        cwd: Path = tmp_path,
        **variables: str,
    ) -> subprocess.CompletedProcess[str]:
        environment = dict(os.environ)
        if not cann:
            for name in CANN_VARIABLES:
                environment.pop(name, None)
        environment |= variables
        if path is not None:
            inherited = environment.get("PYTHONPATH")
            environment["PYTHONPATH"] = os.pathsep.join(filter(None, [str(path), inherited]))
        return subprocess.run(
            [sys.executable, "-c", code],
            env=environment,
            cwd=cwd,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    return run


def last_line(result: subprocess.CompletedProcess[str]) -> str:
    """The sentence a failed interpreter ends with."""
    lines = result.stderr.strip().splitlines()
    return lines[-1] if lines else ""
