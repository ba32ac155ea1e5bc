# SPDX-License-Identifier: Apache-2.0
"""torch.nn.functional.scaled_dot_product_attention and torch_npu's function behind it."""

import torch
from torch.nn import functional

from operators.inputs import layouts, values
from operators.row import Args, OfLargest, Row
from operators.rows.ascend import either
from operators.rows.neural import CHAIN, gradients, keyed

ATTEND = functional.scaled_dot_product_attention
FLOAT = (torch.float32,)
# A CPU's kernels and this one add in another order, over a sequence.
ATTENDED = OfLargest(CHAIN)
BACK = OfLargest(CHAIN * 4)
HALF = OfLargest(4)
# torch_npu's modes of looking back and ahead.
FULL, LEFT_UP, RIGHT_DOWN, BAND = 0, 2, 3, 4
FAR = 2147483647


def heads(shape, key_shape=None):
    def samples(dtype):
        for x in layouts(values(shape, dtype, 1, -1, 1)):
            yield Args(x, *(values(key_shape or shape, dtype, n, -1, 1) for n in (2, 3)))

    return samples


def masked(dtype):
    for of in ((5, 7), (2, 1, 5, 7), (2, 3, 5, 7)):
        query = values((2, 3, 5, 8), dtype, 1, -1, 1)
        key, value = (values((2, 3, 7, 8), dtype, n, -1, 1) for n in (2, 3))
        mask = values(of, torch.bool, 4)
        mask[..., 0] = True
        yield Args(query, key, value, mask)


def unseen(dtype):
    """A query that may look at nothing."""
    query, key, value = (values((1, 2, 3, 8), dtype, n, -1, 1) for n in (1, 2, 3))
    mask = torch.ones(3, 3, dtype=torch.bool)
    mask[1] = False
    yield Args(query, key, value, mask)


def laid_out(layout):
    """The same attention with tensors laid out as torch_npu's function may take them."""
    orders = {"BNSD": (0, 1, 2, 3), "BSND": (0, 2, 1, 3), "BSH": (0, 2, 1, 3), "SBH": (2, 0, 1, 3)}

    def on_device(torch_npu, *tensors):
        moved = [x.permute(orders[layout]).contiguous() for x in tensors]
        if layout in ("BSH", "SBH"):
            moved = [x.flatten(2) for x in moved]
        out = torch_npu.npu_fusion_attention(*moved, tensors[0].size(1), layout, scale=0.5)[0]
        if layout in ("BSH", "SBH"):
            out = out.unflatten(2, (tensors[0].size(1), -1))
        back = [orders[layout].index(dim) for dim in range(4)]
        return out.permute(back)

    return either(on_device, keyed(ATTEND, scale=0.5))


def band(mode, before, after):
    """Only keys from `before` behind to `after` ahead of a query's place."""

    def on_device(torch_npu, query, key, value):
        mask = torch.ones(2048, 2048, dtype=torch.bool, device=query.device).triu(1)
        return torch_npu.npu_fusion_attention(
            query, key, value, query.size(1), "BNSD", atten_mask=mask, scale=0.5,
            sparse_mode=mode, pre_tockens=before, next_tockens=after,
        )[0]  # fmt: skip

    def on_cpu(query, key, value):
        queries, keys = query.size(2), key.size(2)
        shift = keys - queries if mode in (RIGHT_DOWN, BAND) else 0
        distance = torch.arange(keys) - (torch.arange(queries)[:, None] + shift)
        seen = (distance >= -before) & (distance <= after)
        return ATTEND(query, key, value, seen, scale=0.5)

    return either(on_device, on_cpu)


SHORT = heads((2, 3, 5, 8))
ACROSS = heads((2, 3, 5, 8), (2, 3, 7, 8))
GROUPED = heads((2, 4, 5, 8), (2, 2, 7, 8))
HALVES = (torch.float16, torch.bfloat16)

ROWS = [
    Row("attention", ATTEND, SHORT, FLOAT, ulp=ATTENDED, core=True),
    Row("attention-half", ATTEND, SHORT, HALVES, ulp=HALF),
    Row("attention-across", keyed(ATTEND, scale=0.3), ACROSS, FLOAT, ulp=ATTENDED),
    Row("attention-causal", keyed(ATTEND, is_causal=True), ACROSS, FLOAT, ulp=ATTENDED),
    Row("attention-grouped", keyed(ATTEND, enable_gqa=True), GROUPED, FLOAT, ulp=ATTENDED),
    Row("attention-masked", ATTEND, masked, FLOAT, ulp=ATTENDED),
    Row("attention-unseen", ATTEND, unseen, FLOAT, ulp=ATTENDED),
    Row("attention-backward", gradients(ATTEND), SHORT, FLOAT, ulp=BACK),
    Row(
        "attention-causal-backward",
        gradients(keyed(ATTEND, is_causal=True)),
        ACROSS,
        FLOAT,
        ulp=BACK,
    ),
    Row(
        "attention-grouped-backward",
        gradients(keyed(ATTEND, enable_gqa=True)),
        GROUPED,
        FLOAT,
        ulp=BACK,
    ),
    *(
        Row(f"npu_fusion_attention-{layout}", laid_out(layout), SHORT, FLOAT, ulp=ATTENDED)
        for layout in ("BNSD", "BSND", "BSH", "SBH")
    ),
    *(
        Row(
            f"npu_fusion_attention-{layout}-backward",
            gradients(laid_out(layout)),
            SHORT,
            FLOAT,
            ulp=BACK,
        )
        for layout in ("BSND", "SBH")
    ),
    *(
        Row(
            f"npu_fusion_attention-mode-{mode}",
            band(mode, before, after),
            ACROSS,
            FLOAT,
            ulp=ATTENDED,
        )
        for mode, before, after in ((LEFT_UP, FAR, 0), (RIGHT_DOWN, FAR, 0), (BAND, 2, 1))
    ),
]
