# SPDX-License-Identifier: Apache-2.0
"""Folders that several runs share, and files that the system refuses."""

import fcntl
import sys
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def turn(lock: Path, who: str):
    """Holds the lock file for as long as the block runs; who has to wait says so.

    Raises:
        OSError: the file cannot be written.
    """
    with lock.open("w", encoding="utf-8") as held:
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print(
                f"{who}: another run uses {lock.parent}, waiting for it to end ...",
                file=sys.stderr,
                flush=True,
            )
            fcntl.flock(held, fcntl.LOCK_EX)
        yield


def unusable(error: OSError) -> str:
    """The sentence for a file that the system refuses, or for a full disk."""
    where = error.filename2 or error.filename
    what = f"{where}: expected to read and write it" if where else "expected to write a file"
    return f"{what}, got '{error.strerror}'; put that right and run it again"
