# SPDX-License-Identifier: Apache-2.0
"""Reads versions.toml."""

import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def load_versions(root: Path = ROOT) -> dict:
    return tomllib.loads((root / "versions.toml").read_text(encoding="utf-8"))
