# SPDX-License-Identifier: Apache-2.0
"""Builds, tests and compares the conda packages, without conda and without a network."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
WORK = ROOT / "build" / "conda"
CHANNEL = ROOT / "build" / "channel"


class CondaError(Exception):
    """A sentence for the user."""
