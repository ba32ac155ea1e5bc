# SPDX-License-Identifier: Apache-2.0
"""A failed run under sanitizers says what they found, and where all of it stands."""

import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
OVERFLOW = "==7==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x1\n    #0 0x2 in tile\n"
SHIFT = "csrc/check.cpp:9:3: runtime error: shift exponent 33 is too large\n    #0 0x3 in shifted\n"


def found(folder: Path) -> str:
    command = f"set -- runtime; source ci/sanitize.sh; tell_found '{folder}'"
    done = subprocess.run(["bash", "-c", command], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_findings_of_files_and_of_rows_are_told(tmp_path: Path) -> None:
    rows = tmp_path / "report" / "matrix-processes"
    rows.mkdir(parents=True)
    (tmp_path / "found.7").write_text(OVERFLOW)
    (rows / "lib.log").write_text(f"a row begins\n{SHIFT}")
    (rows / "pybind.log").write_text("nothing of note\n")
    assert found(tmp_path) == (
        f"sanitize: found, see {tmp_path}/found.7:\n{OVERFLOW}"
        f"sanitize: found, see {rows}/lib.log:\n{SHIFT}"
    )


def test_without_findings_nothing_is_told(tmp_path: Path) -> None:
    assert found(tmp_path) == ""
