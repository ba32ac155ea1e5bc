# SPDX-License-Identifier: Apache-2.0
"""The figures of the long runs, in build/report/hardening.json; the page shows them.

They outlive a run of the matrix, so each says of which commit it is.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2] / "build" / "report"
NAME = "hardening.json"


def read(folder: Path) -> dict[str, dict]:
    """Run -> its figures, those of the last run of each."""
    file = folder / NAME
    return json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}


def record(
    run: str, revision: str, passed: bool, figures: dict, folder: Path | None = None
) -> None:
    """Puts the figures of one run in the place of those of the last one, in one step."""
    folder = folder or FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / f"{NAME}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        held = read(folder) | {run: {"revision": revision, "passed": passed, "figures": figures}}
        scratch = folder / f"{NAME}.{os.getpid()}"
        scratch.write_text(json.dumps(held, indent=1) + "\n", encoding="utf-8")
        scratch.replace(folder / NAME)


@contextmanager
def recording(run: str, revision: str, figures: dict, folder: Path | None = None) -> Iterator[None]:
    """Records the figures of a run whose checks stand in the block: failed if it raises."""
    passed = False
    try:
        yield
        passed = True
    finally:
        record(run, revision, passed, figures, folder)
