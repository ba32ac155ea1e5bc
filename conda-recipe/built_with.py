# SPDX-License-Identifier: Apache-2.0
"""Prints what a package is built with, as JSON, which `ascendc-env doctor` reads there."""

import importlib.metadata
import json
import os
import platform
import subprocess
from pathlib import Path

compiler = os.environ.get("CXX", "g++")
release = subprocess.run([compiler, "-dumpfullversion"], capture_output=True, text=True, check=True)
on_host = os.environ["device"] == "host"
cann = f"hostcann {os.environ['PKG_VERSION']}" if on_host else f"CANN {os.environ['cann']}"
print(
    json.dumps(
        {
            "package": os.environ["PKG_NAME"],
            "version": os.environ["PKG_VERSION"],
            "build": os.environ["PKG_BUILD_STRING"],
            "device": os.environ["device"],
            "npu_arch": os.environ["npu_arch"],
            "python": ".".join(platform.python_version_tuple()[:2]),
            "torch": importlib.metadata.version("torch"),
            "torch_npu": importlib.metadata.version("torch_npu"),
            "cann": cann,
            "compiler": f"{Path(compiler).name} {release.stdout.strip()}",
            "source_commit": os.environ["SOURCE_COMMIT"],
        },
        indent=2,
    )
)
