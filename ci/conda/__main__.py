# SPDX-License-Identifier: Apache-2.0
"""Builds, tests and compares the conda packages, without conda and without a network."""

import argparse
import os
import sys
import time
from pathlib import Path

import wheel_cache
from ascendc_env import mismatch
from ascendc_env import versions as known
from files import turn, unusable
from lock_file import LockError
from versions import load_versions

from . import CHANNEL, WORK, CondaError, fixture
from .build import Builder, Built, write_channel
from .environment_files import write_environment_files
from .repro import repro
from .trial import trial, without_network

DEVICES = ("host", "npu")


def builder(options: argparse.Namespace) -> Builder:
    """For the device that is asked for; an npu package needs the CANN it is built against."""
    versions = load_versions()
    if options.device not in DEVICES:
        raise CondaError(f"DEVICE: expected {', '.join(DEVICES)}, got '{options.device}'")
    if options.device == "host":
        return Builder("host", versions["hostcann"]["npu_arch"])
    home = os.environ.get("ASCEND_HOME_PATH", "")
    if problem := mismatch.no_cann(home, Path(home), "CANN"):
        raise CondaError(f"DEVICE=npu: {problem}")
    if problem := known.unknown_arch(versions, options.npu_arch):
        raise CondaError(f"DEVICE=npu: {problem}")
    toolkit = fixture.cann_toolkit(Path(home), mismatch.cann_release(Path(home)))
    return Builder("npu", options.npu_arch, toolkit)


def build(options: argparse.Namespace) -> Builder:
    start = time.monotonic()
    made = builder(options)
    made.build()
    write_channel(CHANNEL, made.packages)
    write_environment_files(CHANNEL)
    print(f"\n{'package':<52} {'KiB':>7}  seconds")
    for one in made.packages:
        print(line(one))
    seconds = time.monotonic() - start
    print(f"conda: build/channel for device {made.device}: {seconds:.1f} s", flush=True)
    return made


def line(one: Built) -> str:
    name = one.filename.removesuffix(".conda")
    seconds = "kept" if one.seconds is None else f"{one.seconds:.1f}"
    return f"{name:<52} {one.path.stat().st_size >> 10:>7}  {seconds:>7}"


def build_again(options: argparse.Namespace) -> None:
    repro(build(options))


def try_out(_options: argparse.Namespace) -> None:
    without_network(sys.argv[1:])
    trial()


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m conda", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, run, about in (
        ("build", build, "build the channel of one device in build/channel"),
        ("test", try_out, "install from the channel and run the matrix, without a network"),
        ("repro", build_again, "build again elsewhere and compare every package to the bit"),
    ):
        command = commands.add_parser(name, help=about, description=about)
        command.set_defaults(run=run)
        if run is not try_out:
            command.add_argument("--device", default="host", help="host or npu")
            command.add_argument("--npu-arch", default="", help="of the chip, for --device npu")
    return parser.parse_args()


def main() -> int:
    options = parse()
    os.environ["RATTLER_CACHE_DIR"] = str(WORK / "cache")
    try:
        WORK.mkdir(parents=True, exist_ok=True)
        # Two runs would build in the same folders.
        with turn(WORK / "lock", "conda"):
            options.run(options)
    except (CondaError, wheel_cache.BootstrapError, LockError) as error:
        print(f"conda: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"conda: {unusable(error)}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    sys.stderr.flush()
    # A thread of the solver may still be leaving, which Python's own way out does not survive.
    os._exit(code)
