# SPDX-License-Identifier: Apache-2.0
"""The figures of the long runs, in build/report/hardening.json; the matrix's page shows them."""

from __future__ import annotations

import json
import os
from pathlib import Path

FILE = Path(__file__).resolve().parents[2] / "build" / "report" / "hardening.json"


def read(file: Path = FILE) -> dict[str, dict]:
    return json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}


def record(name: str, figures: dict, file: Path = FILE) -> None:
    """Puts the figures of one run in the place of those of the last one, in one step."""
    file.parent.mkdir(parents=True, exist_ok=True)
    held = read(file) | {name: figures}
    scratch = file.with_name(f"{file.name}.{os.getpid()}")
    scratch.write_text(json.dumps(held, indent=1) + "\n", encoding="utf-8")
    scratch.replace(file)
