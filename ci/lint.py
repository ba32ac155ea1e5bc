# SPDX-License-Identifier: Apache-2.0
"""Runs every linter over the files git knows or would know; --fix runs the formatters instead.

Every tool runs even when another failed; FILES limits the run to these.
"""

import argparse
import hashlib
import json
import os
import shlex
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

import house_rules
import lock
from versions import ROOT, load_versions

BIN = ROOT / ".venv" / "bin"
CPP = ("*.c", "*.cpp", "*.h", "*.asc")
CMAKE = ("CMakeLists.txt", "*/CMakeLists.txt", "*.cmake")
WORKFLOWS = (".github/workflows/*.yml",)
# The trees whose compile commands clang-tidy reads.
TREES = ("wrappers", "hostcann")
TIDY_CACHE = ROOT / "build" / "lint" / "clang-tidy"


@dataclass
class Tool:
    name: str
    files: tuple[str, ...]
    check: str
    fix: str = ""


TOOLS = [
    Tool("clang-format", CPP, "clang-format --dry-run -Werror --ferror-limit=1", "clang-format -i"),
    Tool("ruff check", ("*.py", "*.pyi"), "ruff check --quiet", "ruff check --quiet --fix"),
    Tool("ruff format", ("*.py", "*.pyi"), "ruff format --quiet --diff", "ruff format --quiet"),
    Tool("shellcheck", ("*.sh",), "shellcheck"),
    Tool("shfmt", ("*.sh",), "shfmt -i 4 -ci -d", "shfmt -i 4 -ci -w"),
    Tool("hadolint", ("*/Dockerfile*",), "hadolint --config .hadolint.yaml"),
    Tool("kubernetes", ("ci/k8s/*.yaml",), "kubernetes-validate --strict --quiet"),
    Tool("gersemi", CMAKE, "gersemi -q --check --diff", "gersemi -q -i"),
    Tool("yamllint", ("*.yaml", "*.yml"), "yamllint --strict"),
    Tool("actionlint", WORKFLOWS, f"python {shlex.quote(str(ROOT / 'ci' / 'actionlint.py'))}"),
    Tool("zizmor", WORKFLOWS, "zizmor --offline --quiet"),
    Tool("pymarkdown", ("*.md",), "pymarkdown --config .pymarkdown.json scan"),
    Tool("codespell", ("*",), "codespell"),
]


@dataclass
class Result:
    name: str
    seconds: float
    files: int
    # What is wrong; nothing when all is well.
    output: str


def tracked(root: Path) -> list[str]:
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    return sorted(name for name in done.stdout.split("\0") if name and (root / name).is_file())


def is_shell(name: str) -> bool:
    if Path(name).suffix:
        return False
    with (ROOT / name).open("rb") as file:
        return file.readline().startswith((b"#!/usr/bin/env bash", b"#!/bin/sh"))


def matching(tool: Tool, names: list[str]) -> list[str]:
    found = [name for name in names if any(fnmatch(name, pattern) for pattern in tool.files)]
    if "*.sh" in tool.files:
        found += [name for name in names if is_shell(name)]
    return found


def run(command: list[str]) -> str:
    """The output of a tool that failed; nothing when it passed."""
    path = f"{BIN}{os.pathsep}{os.environ['PATH']}"
    try:
        done = subprocess.run(
            command, cwd=ROOT, env=os.environ | {"PATH": path}, capture_output=True, text=True
        )
    except FileNotFoundError:
        return f"{command[0]} is not there: apt-get install {command[0]}"
    return done.stdout + done.stderr if done.returncode else ""


def timed(name: str, files: int, job: Callable[[], str]) -> Result:
    start = time.monotonic()
    output = job()
    return Result(name, time.monotonic() - start, files, output.strip())


def compile_commands(names: list[str]) -> dict[str, dict]:
    """Source file -> the compile command of the first tree that builds it."""
    found: dict[str, dict] = {}
    for tree in TREES:
        database = ROOT / "build" / "cmake" / tree / "compile_commands.json"
        if not database.is_file():
            raise SystemExit(f"lint: expected {database.relative_to(ROOT)}: run make build first")
        for entry in json.loads(database.read_text(encoding="utf-8")):
            name = os.path.relpath(Path(entry["directory"], entry["file"]), ROOT)
            # Test sources are in a tree or not, depending on what was run before.
            if name in names and name.endswith(".cpp") and "/tests/" not in name:
                found.setdefault(name, {**entry, "tree": str(database.parent)})
    return found


def tidy_one(name: str, entry: dict, headers: bytes) -> str:
    digest = hashlib.sha256(headers + (ROOT / name).read_bytes())
    digest.update(json.dumps(entry, sort_keys=True).encode())
    passed = TIDY_CACHE / digest.hexdigest()
    if passed.exists():
        return ""
    output = run(["clang-tidy", "--quiet", "-p", entry["tree"], name])
    if not output:
        passed.parent.mkdir(parents=True, exist_ok=True)
        passed.touch()
    return output


def tidy_jobs(names: list[str]) -> list[tuple[str, int, Callable[[], str]]]:
    if not any(name.endswith(".cpp") for name in names):
        return []
    headers = hashlib.sha256()
    for name in [*tracked(ROOT), ".clang-tidy"]:
        if name.endswith(".h") or name in ("versions.toml", ".clang-tidy"):
            headers.update((ROOT / name).read_bytes())
    key = headers.digest()
    return [
        (f"clang-tidy {name}", 1, lambda n=name, e=entry: tidy_one(n, e, key))
        for name, entry in compile_commands(names).items()
    ]


def jobs(names: list[str], fix: bool) -> list[tuple[str, int, Callable[[], str]]]:
    found: list[tuple[str, int, Callable[[], str]]] = []
    if not fix:
        found += tidy_jobs(names)
    for tool in TOOLS:
        files = matching(tool, names)
        command = shlex.split(tool.fix if fix else tool.check)
        if files and command:
            found.append((tool.name, len(files), lambda c=command, f=files: run([*c, *f])))
    if not fix:
        rules = "\n".join
        found.append(("house rules", len(names), lambda: rules(house_rules.check(ROOT, names))))
        found.append(("lock", 1, lambda: rules(lock.problems(load_versions(), ROOT))))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fix", action="store_true", help="fix what formatters can fix")
    parser.add_argument("files", nargs="*", type=Path, metavar="FILES")
    options = parser.parse_args()
    names = tracked(ROOT)
    if options.files:
        wanted = {os.path.relpath(path, ROOT) for path in options.files}
        if unknown := wanted - set(names):
            listed = ", ".join(sorted(unknown))
            raise SystemExit(f"lint: expected files of this repository, got {listed}")
        names = [name for name in names if name in wanted]

    start = time.monotonic()
    # ruff's fixes and its formatting touch the same files, so fixing takes turns.
    with ThreadPoolExecutor(1 if options.fix else os.cpu_count()) as pool:
        results = list(pool.map(lambda job: timed(*job), jobs(names, options.fix)))
    failed = [result for result in results if result.output]
    for result in results:
        verdict = "failed" if result.output else "ok"
        print(f"{result.name:<44} {result.files:>4} files {result.seconds:>6.1f} s  {verdict}")
    for result in failed:
        print(f"\n{result.name}:\n{result.output}", file=sys.stderr)
    seconds = time.monotonic() - start
    print(f"lint: {len(results) - len(failed)} passed, {len(failed)} failed in {seconds:.1f} s")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
