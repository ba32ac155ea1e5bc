# SPDX-License-Identifier: Apache-2.0
from torch import Tensor

def ascendc_add(x: Tensor, y: Tensor) -> Tensor: ...
