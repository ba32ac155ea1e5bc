# SPDX-License-Identifier: Apache-2.0
"""Draws examples: a valid call, changed in none to three places.

A tensor drawn from everything would nearly always break the first rule; so most of them break one
rule, or two of which the contract says which one is told.
"""

from __future__ import annotations

from dataclasses import replace

from hypothesis import strategies as st

from contract.plan import (
    COMPLEX_DTYPES,
    CONTEXTS,
    DEVICES,
    DRESSES,
    DTYPES,
    FLOAT_DTYPES,
    LAYOUTS,
    SHAPE,
    STRIDES,
    VALUES,
    WRAPPERS,
    Example,
    Plan,
)

# Beyond what a machine has; memory is only taken where a tensor has some.
HUGE = 1 << 40
LARGEST_SPAN = 1 << 19
POOLS = 6
NEAR_SHAPES = (
    *((8, 2047), (8, 2049), (7, 2048), (9, 2048), (2048, 8), (16384,), (1, 8, 2048), (8, 2048, 1)),
    *((8, 1, 2048), (2, 4, 2048), (0, 2048), (8, 0), (0,), (), (1,), (1, 1), (4, 4096), (16, 1024)),
)


def contiguous(sizes: tuple[int, ...]) -> tuple[int, ...]:
    strides: list[int] = []
    step = 1
    for size in reversed(sizes):
        strides.insert(0, step)
        step *= max(size, 1)
    return tuple(strides)


def dtype(draw, plan: Plan) -> Plan:
    return replace(plan, dtype=draw(st.sampled_from(DTYPES)))


def device(draw, plan: Plan) -> Plan:
    return replace(plan, device=draw(st.sampled_from(DEVICES)))


def shape(draw, plan: Plan) -> Plan:
    sizes = draw(st.sampled_from(NEAR_SHAPES))
    return replace(plan, sizes=sizes, strides=contiguous(sizes))


def any_shape(draw, plan: Plan) -> Plan:
    sizes = tuple(draw(st.lists(st.integers(0, 9), max_size=5)))
    steps = st.sampled_from((0, 1, 2, 3, 8, 64, 2048))
    # A dimension of one element is never stepped along, so its stride may be anything.
    strides = [
        draw(st.sampled_from((1, HUGE)) if size <= 1 or 0 in sizes else steps) for size in sizes
    ]
    return replace(plan, sizes=sizes, strides=tuple(strides))


def strides(draw, plan: Plan) -> Plan:
    near = ((1, 8), (0, 1), (2048, 0), (0, 0), (1, 1), (2049, 1), (4096, 1), (4096, 2), (2047, 1))
    wide = ((HUGE, 1), (2048, HUGE)) if plan.device == "meta" else ((1 << 15, 1), (8, 8))
    return replace(plan, sizes=SHAPE, strides=draw(st.sampled_from((*near, *wide))))


def offset(draw, plan: Plan) -> Plan:
    return replace(plan, offset=draw(st.sampled_from((1, 2, 7, 8, 64, 2048, 4095))))


def storage(draw, plan: Plan) -> Plan:
    # A whole number of elements of every dtype, as torch_npu wants it.
    return replace(plan, storage=draw(st.sampled_from((0, 16, 112, 65520, 65536, 65552, 1 << 18))))


def storage_format(draw, plan: Plan) -> Plan:
    return replace(plan, storage_format=draw(st.sampled_from(("NCHW", "FRACTAL_NZ"))))


def pending(draw, plan: Plan) -> Plan:
    if draw(st.booleans()):
        return replace(plan, negated=True)
    return replace(plan, conjugated=True, dtype=draw(st.sampled_from(COMPLEX_DTYPES)))


def grad(_draw, plan: Plan) -> Plan:
    return replace(plan, grad=True)


def dress(draw, plan: Plan) -> Plan:
    return replace(plan, dress=draw(st.sampled_from(DRESSES)))


def kind(draw, plan: Plan) -> Plan:
    return replace(plan, kind=draw(st.sampled_from((*LAYOUTS, *WRAPPERS, *VALUES))))


CHANGES = (
    *(dtype, device, shape, any_shape, strides, strides, offset, storage, storage_format),
    *(pending, grad, dress, dress, kind),
)


def possible(plan: Plan) -> Plan:
    """The nearest plan of which a tensor can be made."""
    plain = {"strides": STRIDES, "sizes": SHAPE, "offset": 0, "storage": None}
    quiet = {"negated": False, "conjugated": False, "grad": False}
    if plan.kind in (*WRAPPERS, *VALUES):
        return Plan(kind=plan.kind)
    if plan.kind in LAYOUTS:
        held = {"dtype": "float32", "storage_format": "ND", "dress": "plain", **plain, **quiet}
        # torch makes no others of these.
        device = "npu:0" if plan.device == "npu:1" or plan.kind == "nested" else plan.device
        device = "cpu" if plan.kind == "quantised" and device == "meta" else device
        return replace(plan, device=device, **held)
    if plan.dtype not in COMPLEX_DTYPES:
        plan = replace(plan, conjugated=False)
    if plan.dtype not in (*FLOAT_DTYPES, *COMPLEX_DTYPES):
        plan = replace(plan, grad=False, negated=False)
    if plan.device == "meta" or not plan.on_npu:
        plan = replace(plan, storage_format="ND")
    if plan.storage_format == "FRACTAL_NZ":
        sizes = plan.sizes if len(plan.sizes) == 2 and 0 not in plan.sizes else SHAPE
        held = {"sizes": sizes, "strides": contiguous(sizes), "offset": 0, "storage": None}
        held |= {"dtype": "float32", "conjugated": False}
        plan = replace(plan, dress="plain", **held)
    if plan.device != "meta" and plan.span > LARGEST_SPAN:
        plan = replace(plan, strides=contiguous(plan.sizes))
    # A tensor whose storage was cut, or whose values are pending, can be made in one way only.
    made_plainly = plan.storage is not None or plan.negated or plan.conjugated
    if plan.storage is not None:
        # torch_npu gives a resized storage new memory, in ND.
        plan = replace(plan, negated=False, conjugated=False, storage_format="ND")
    if plan.dress in ("not-owning", "dlpack", "wrapper") and (not plan.on_npu or made_plainly):
        plan = replace(plan, dress="plain")
    if plan.dress in ("not-owning", "dlpack") and (plan.dtype != "float32" or plan.numel == 0):
        plan = replace(plan, dress="plain")
    # Neither of these keeps torch_npu's record of the format.
    if plan.dress in ("not-owning", "dlpack"):
        plan = replace(plan, storage_format="ND")
    if plan.dress == "parameter" and made_plainly:
        plan = replace(plan, dress="plain")
    if plan.dress in ("inference", "wrapper", "not-owning", "dlpack"):
        plan = replace(plan, grad=False)
    if plan.dress == "wrapper":
        plan = replace(plan, device="npu:0", storage_format="ND")
    return plan


# What every example has, and what is changed in which argument; one draw each, since drawing takes
# most of the time.
STARTS = st.sampled_from(
    [
        (device, (x, y), twice, context)
        for device in (*["npu:0"] * 6, "npu:1", "meta")
        for x in range(POOLS)
        for y in range(POOLS)
        for twice in (False, False, False, True)
        for context in CONTEXTS
    ]
)
EDITS = st.sampled_from(
    [(change, changed) for change in CHANGES for changed in ((0,), (1,), (0, 1))]
)
COUNTS = st.sampled_from((0, 1, 1, 1, 2, 2, 3))


@st.composite
def examples(draw) -> Example:
    device, values, twice, context = draw(STARTS)
    plans = [Plan(device=device, values=number) for number in values]
    for _ in range(draw(COUNTS)):
        change, changed = draw(EDITS)
        for at in changed:
            plans[at] = change(draw, plans[at])
    x, y = map(possible, plans)
    return Example(x, y, twice, context)
