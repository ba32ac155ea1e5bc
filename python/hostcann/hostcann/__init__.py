# SPDX-License-Identifier: Apache-2.0
"""Import before torch, and torch_npu finds hostcann where it looks for CANN.

The process and its children get the environment of hostcann's set_env.sh, and the libraries that
torch_npu needs are loaded.

Raises:
    ImportError: another CANN is loaded already or would be hidden, or this is not the torch that
        hostcann was built for.
"""

from hostcann_toolkit import activate

activate()
