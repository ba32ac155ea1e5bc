# SPDX-License-Identifier: Apache-2.0
"""The build backend's metadata provider: version and run requirements stand in versions.toml."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def dynamic_metadata(settings: Mapping[str, Any], project: Mapping[str, Any]) -> dict[str, Any]:
    versions = tomllib.loads((Path(__file__).resolve().parents[1] / "versions.toml").read_text())
    stack = versions["stack"]
    return {
        "version": versions["project"]["version"],
        "dependencies": [f"torch=={stack['torch']}", f"torch_npu=={stack['torch_npu']}"],
    }
