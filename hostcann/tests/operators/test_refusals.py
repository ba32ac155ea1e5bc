# SPDX-License-Identifier: Apache-2.0
"""A call that cannot be computed raises at once, by name, and the next call works."""

import pytest
import torch

from operators.refusals import REFUSALS
from operators.row import place


@pytest.mark.parametrize(("call", "sample", "sentence"), REFUSALS.values(), ids=REFUSALS)
def test_refusal(npu, call, sample, sentence):
    with pytest.raises(RuntimeError) as refusal:
        call(*place(sample.args, npu, []))
    assert sentence in str(refusal.value)
    assert (torch.ones(3).to(npu) + 1).tolist() == [2, 2, 2]
