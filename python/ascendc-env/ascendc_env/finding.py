# SPDX-License-Identifier: Apache-2.0
"""What a check says."""

from dataclasses import asdict, dataclass

from .mismatch import Mismatch

OK, NOTE, WRONG = "ok", "note", "wrong"


@dataclass(frozen=True)
class Finding:
    topic: str
    verdict: str
    found: str
    expected: str = ""
    fix: str = ""

    def as_json(self) -> dict[str, str]:
        return asdict(self)


def ok(topic: str, found: str, expected: str = "") -> Finding:
    return Finding(topic, OK, found, expected)


def note(topic: str, mismatch: Mismatch) -> Finding:
    """Not wrong by itself, but worth knowing when something is."""
    return Finding(topic, NOTE, mismatch.found, mismatch.expected, mismatch.fix)


def wrong(topic: str, mismatch: Mismatch) -> Finding:
    return Finding(topic, WRONG, mismatch.found, mismatch.expected, mismatch.fix)
