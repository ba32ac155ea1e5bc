# SPDX-License-Identifier: Apache-2.0
"""The rules of this repository that no linter knows; each yields `file:line: sentence`."""

import os
import re
from collections.abc import Iterator
from pathlib import Path

SPDX = "SPDX-License-Identifier: Apache-2.0"
WITHOUT_SPDX = {".md", ".json", ".csv", ".png", ".svg", ""}
SHARED_NAMES = re.compile(r"(^|_)(utils?|common|helpers?|misc|v\d+)$")
# CANN decides these names.
CANN_NAMES = ("hostcann/include/", "hostcann/cmake/")
SNAKE_CASE = {".py", ".sh", ".c", ".cpp", ".h", ".asc"}

# What a line must not hold: (where it holds, pattern, sentence).
LINES = [
    ("", re.compile(r"\b(TO[D]O|FIX[M]E|X{3})\b"), "unfinished work: finish it or file an issue"),
    (
        "",
        re.compile(r"(?<![\w.}])/(home|root|work|Users)/\w"),
        "absolute path of one machine: derive it from the checkout or an environment variable",
    ),
    ("", re.compile(r'#include "\.\./\.\.'), "include starts at an -I root, never at ../.."),
    ("", re.compile(r"[ \t]+$"), "trailing white space"),
    (
        "tests/",
        re.compile(r"\b(time\.sleep|sleep_for|usleep|nanosleep)\("),
        "a test waits for what it tests, it does not sleep",
    ),
]


def read(path: Path) -> str:
    """The text, or nothing when the file is binary."""
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return ""


def check_file(root: Path, name: str) -> Iterator[str]:
    path = root / name
    text = read(path)
    lines = text.splitlines()
    source = path.suffix not in WITHOUT_SPDX or path.name == "Makefile" or text.startswith("#!")
    if source and text and not any(SPDX in line for line in lines[:3]):
        yield f"{name}:1: expected '{SPDX}' in the first three lines, found none"
    if text and not text.endswith("\n"):
        yield f"{name}:{len(lines)}: expected a newline at the end of the file"
    for where, pattern, sentence in LINES:
        if where in name:
            yield from (
                f"{name}:{number}: {sentence}"
                for number, line in enumerate(lines, 1)
                if pattern.search(line)
            )
    if text.startswith("#!") != os.access(path, os.X_OK):
        yield f"{name}:1: expected the executable bit exactly on files with a #! line"
    yield from check_name(name)


def check_name(name: str) -> Iterator[str]:
    path = Path(name)
    if name.startswith(CANN_NAMES):
        return
    if path.suffix in SNAKE_CASE and not re.fullmatch(r"[a-z0-9_]+", path.stem):
        yield f"{name}: expected a snake_case file name"
    for part in [*path.parts[:-1], path.stem]:
        if SHARED_NAMES.search(part):
            yield f"{name}: expected a name that says what is inside, got '{part}'"


def outline(text: str) -> tuple[list[int], list[str]]:
    """Heading levels and code blocks of a Markdown text."""
    fence = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
    blocks = fence.findall(text)
    headings = re.findall(r"^(#+) ", fence.sub("", text), re.MULTILINE)
    return [len(marks) for marks in headings], blocks


def check_readmes(root: Path) -> Iterator[str]:
    """Both languages say the same: same headings, identical code blocks."""
    english, chinese = "README.md", "README.zh-CN.md"
    levels, blocks = outline(read(root / english))
    other_levels, other_blocks = outline(read(root / chinese))
    if levels != other_levels:
        yield f"{chinese}: expected heading levels {levels} as in {english}, got {other_levels}"
    if len(blocks) != len(other_blocks):
        count = len(blocks)
        yield f"{chinese}: expected {count} code blocks as in {english}, got {len(other_blocks)}"
    for number, (block, other) in enumerate(zip(blocks, other_blocks, strict=False), 1):
        if block != other:
            yield f"{chinese}: expected code block {number} to be {english}'s, got\n{other}"


def check(root: Path, names: list[str]) -> list[str]:
    found = [problem for name in names for problem in check_file(root, name)]
    return [*found, *check_readmes(root)]
