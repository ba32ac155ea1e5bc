# SPDX-License-Identifier: Apache-2.0
"""A Python that the scripts of ci/ cannot use is one sentence, whichever of them is started."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

CI = Path(__file__).resolve().parents[2] / "ci"
# One runs in .venv alone, the other is content with any Python 3.
ELSEWHERE = ("hostcann_ops.py", "layers.py")
STARTED = sorted(
    file.name
    for file in CI.glob("*.py")
    if re.search(r"^if __name__", file.read_text(encoding="utf-8"), re.MULTILINE)
    and file.name not in ELSEWHERE
)
# Says that it is 3.10, and has no tomllib, as 3.10 has none.
OLDER = """
import runpy, sys
sys.version_info = (3, 10, 13, "final", 0)
sys.version = "3.10.13 (made up)"
sys.modules["tomllib"] = None
sys.path.insert(0, sys.argv[1])
runpy.run_path(f"{sys.argv[1]}/{sys.argv[2]}", run_name="__main__")
"""


@pytest.mark.parametrize("script", STARTED)
def test_an_older_python_is_one_sentence(script: str) -> None:
    command = [sys.executable, "-c", OLDER, str(CI), script]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stderr == (
        "PYTHON: expected Python 3.11 or later for the scripts in ci/, got 3.10.13 "
        f"({sys.executable}); install python3.11 and say PYTHON=python3.11\n"
    )
    assert (done.returncode, done.stdout) == (1, "")
