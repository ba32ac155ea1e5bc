# SPDX-License-Identifier: Apache-2.0
"""ci/tree.sh: a CMake tree that was made elsewhere is made again, one's own is kept."""

import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "ci" / "tree.sh"


@pytest.mark.parametrize(("made_in", "kept"), [("here", True), ("elsewhere", False)])
def test_a_tree_of_another_place_is_made_again(made_in: str, kept: bool, tmp_path: Path) -> None:
    tree = tmp_path / "build" / "cmake" / "wrappers"
    tree.mkdir(parents=True)
    home = tree if made_in == "here" else f"/another/clone{tree}"
    (tree / "CMakeCache.txt").write_text(f"CMAKE_CACHEFILE_DIR:INTERNAL={home}\n")
    done = subprocess.run(
        [
            "bash",
            "-euo",
            "pipefail",
            "-c",
            f'source {SCRIPT}; enter_tree "$1" wrappers; echo "$tree"',
            "bash",
            str(tmp_path),
        ],
        env={"PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == f"{tree}\n"
    assert tree.exists() is kept
