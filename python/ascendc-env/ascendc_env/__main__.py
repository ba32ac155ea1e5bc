# SPDX-License-Identifier: Apache-2.0
"""The command line."""

import argparse
import os
import shutil
import sys
from pathlib import Path

import ascendc_env

from . import doctor
from .machine import Machine, MachineError
from .mismatch import holds


def arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="ascendc-env", description=ascendc_env.__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser(
        "doctor",
        help="say what of CANN, torch, torch_npu, Python, chip and driver does not belong together",
        description="Exit code 0: nothing is wrong; 1: something is; 2: the doctor could not look.",
    )
    command.add_argument("--json", action="store_true", help="print JSON instead of a table")
    command.add_argument("--load", action="store_true", help="also import everything, in children")
    command.add_argument("--python", default=sys.executable, help="the interpreter to look at")
    command.add_argument("--user", default="", help="who shall use the NPU (default: you)")
    command.add_argument(
        "--root", type=Path, default=Path("/"), help="a folder that holds another machine's files"
    )
    return parser


def main() -> None:
    options = arguments().parse_args()
    for stream in (sys.stdout, sys.stderr):
        # A terminal that takes ASCII alone shall not end it.
        stream.reconfigure(errors="backslashreplace")
    try:
        root = Path(os.path.realpath(options.root))
        # A name without a folder is looked for as the shell would.
        python = Path(shutil.which(options.python) or options.python).absolute()
        machine = Machine(dict(os.environ), str(python), root, options.user)
        width = min(shutil.get_terminal_size((120, 24)).columns, 160)
        if not holds(root.is_dir):
            raise MachineError(f"--root: expected a folder, got {options.root}")
        text, healthy = doctor.run(machine, options.load, options.json, width)
    except MachineError as error:
        print(f"ascendc-env: {error}", file=sys.stderr)
        sys.exit(2)
    except Exception as error:
        # Python's own exit code would read as a finding.
        what = " ".join(f"{type(error).__name__}: {error}".split())
        print(
            f"ascendc-env: expected to look at everything, got {what}; report it", file=sys.stderr
        )
        sys.exit(2)
    try:
        print(text, flush=True)
    except BrokenPipeError:
        # The reader has seen enough; what is left would fail again at the end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(0 if healthy else 1)


if __name__ == "__main__":
    main()
