# SPDX-License-Identifier: Apache-2.0
"""What `conda env create` and `conda create --file` take to make the host's environment."""

from pathlib import Path

from . import prefix

SPECS = ("ascendc-ops-pybind", "ascendc-ops-lib")


def write_environment_files(channel: Path) -> None:
    """environment.yaml and the explicit, hashed lock of the same environment, in the channel."""
    records = prefix.solve([channel], SPECS)
    ours = {one.name.normalized: one for one in records}
    pins = [f"{name}={ours[name].version}={ours[name].build}" for name in SPECS]
    lines = ["name: ascendc-ops", "channels:", f"  - {channel.as_uri()}", "  - nodefaults"]
    lines += ["dependencies:", *(f"  - {pin}" for pin in pins)]
    (channel / "environment.yaml").write_text("\n".join(lines) + "\n", encoding="utf-8")
    urls = sorted(f"{one.url}#sha256:{one.sha256.hex()}" for one in records)
    (channel / "explicit.txt").write_text("\n".join(["@EXPLICIT", *urls]) + "\n", encoding="utf-8")
