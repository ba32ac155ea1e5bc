# SPDX-License-Identifier: Apache-2.0
"""Run a command, or set up a shell, with hostcann where CANN would be."""

import argparse
import importlib.metadata
import os
import shlex
import shutil
import sys

from . import environment, hidden_cann, other_torch


def arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="hostcann", description=__doc__)
    version = importlib.metadata.version("hostcann")
    parser.add_argument("--version", action="version", version=f"hostcann {version}")
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser("run", help="run a command", usage="hostcann run COMMAND …")
    run.add_argument("argv", nargs=argparse.REMAINDER)
    commands.add_parser("env", help='print shell exports: eval "$(hostcann env)"')
    return parser


def run(argv: list[str], env: dict[str, str]) -> None:
    """Become the command."""
    if not argv:
        sys.exit("hostcann: run: expected a command, got none: hostcann run pytest, for example")
    program = shutil.which(argv[0], path=env.get("PATH"))
    if program is None:
        sys.exit(f"hostcann: run: expected a command, got '{argv[0]}', which is not on PATH")
    os.execve(program, argv, env)


def main() -> None:
    options = arguments().parse_args()
    if problem := other_torch() or hidden_cann(os.environ):
        sys.exit(f"hostcann: {problem}")
    changed = environment(os.environ)
    if options.command == "env":
        for name, value in sorted(changed.items()):
            print(f"export {name}={shlex.quote(value)}")
    else:
        run(options.argv[options.argv[:1] == ["--"] :], dict(os.environ) | changed)
