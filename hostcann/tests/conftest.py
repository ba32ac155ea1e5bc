# SPDX-License-Identifier: Apache-2.0
"""Where hostcann is installed."""

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def prefix():
    if os.environ.get("DEVICE") == "npu":
        pytest.skip("on an NPU the toolkit is CANN, not hostcann")
    named = os.environ.get("ASCEND_HOME_PATH", "")
    if not (Path(named) / "hostcann-version").is_file():
        pytest.fail(
            f"expected ASCEND_HOME_PATH to name an installed hostcann, got '{named}'; source its"
            " set_env.sh first"
        )
    return Path(named)
