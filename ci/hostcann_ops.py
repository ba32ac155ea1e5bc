# SPDX-License-Identifier: Apache-2.0
"""Lists the operators of the installed hostcann, as its own library tells them."""

import argparse
import ctypes
import os
from collections import Counter
from pathlib import Path
from unittest import mock

# libopapi.so needs torch's libraries; torch_npu would load a device for nothing.
with mock.patch.dict(os.environ, TORCH_DEVICE_BACKEND_AUTOLOAD="0"):
    import torch  # noqa: F401


def operators(prefix: Path) -> list[tuple[str, str, str]]:
    """(name, family, kinds of its arguments) of every operator, by family and name."""
    library = ctypes.CDLL(str(prefix / "lib64" / "libopapi.so"))
    strings = [ctypes.c_char_p() for _ in range(3)]
    found = []
    index = 0
    while library.hostcann_operator(ctypes.c_size_t(index), *map(ctypes.byref, strings)) == 0:
        found.append(tuple(string.value.decode() for string in strings))
        index += 1
    return sorted(found, key=lambda entry: (entry[1], entry[0]))


def main() -> None:
    argparse.ArgumentParser(description=__doc__).parse_args()
    prefix = Path(os.environ.get("ASCEND_HOME_PATH", ""))
    if not (prefix / "hostcann-version").is_file():
        raise SystemExit(
            "hostcann-ops: expected ASCEND_HOME_PATH to name an installed hostcann, got"
            f" '{prefix}'; run make hostcann-ops"
        )
    found = operators(prefix)
    for name, family, _ in found:
        print(f"{name:<40} {family}")
    families = Counter(family for _, family, _ in found)
    print(f"{len(found)} operators: {', '.join(f'{n} {f}' for f, n in sorted(families.items()))}")


if __name__ == "__main__":
    main()
