# SPDX-License-Identifier: Apache-2.0
"""The build backend's metadata provider: version and run requirements stand in versions.toml.

With `stack = false` in a package's settings it gives the version alone. That is the project's,
unless `table` names another of versions.toml.
"""

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    # scikit-build-core brings it.
    import tomli as tomllib


def dynamic_metadata(settings: Mapping[str, Any], project: Mapping[str, Any]) -> dict[str, Any]:
    versions = tomllib.loads((Path(__file__).resolve().parents[1] / "versions.toml").read_text())
    version = {"version": versions[settings.get("table", "project")]["version"]}
    if not settings.get("stack", True):
        return version
    stack = versions["stack"] | versions["stacks"].get(os.environ.get("STACK"), {})
    return version | {
        "dependencies": [f"torch=={stack['torch']}", f"torch_npu=={stack['torch_npu']}"]
    }
