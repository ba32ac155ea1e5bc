# SPDX-License-Identifier: Apache-2.0
"""The contract of ascendc_add: which calls are accepted, and what the others are told.

Written from the contract, not from csrc/: the rules in their order, each with its sentence.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from contract.plan import (
    ITEM_BYTES,
    LAYOUTS,
    SHAPE,
    STRIDES,
    VALUES,
    WRAPPERS,
    Example,
    Plan,
)

NAMES = ("x", "y")
NOT_STRIDED = {
    "sparse_coo": "layout Sparse",
    "sparse_csr": "layout SparseCsr",
    "nested": "a nested one",
}
QUANTISED = "qint8"
# torch's dispatcher refuses in its own words what no kernel of ours is registered for.
DISPATCHER = (
    "Could not run 'ascendc_ops::ascendc_add' with arguments from the '",
    "CAUTION: The operator 'ascendc_ops::ascendc_add' is not currently supported on the NPU",
)
# So does a class of torch that has no rule for the operator.
NO_RULE = (
    "ascendc_ops.ascendc_add.default",
    "Multiple dispatch failed for 'torch._ops.ascendc_ops.ascendc_add.default'",
)
NO_TENSOR = ("There were no tensor arguments to this function",)


@dataclass(frozen=True)
class Verdict:
    """What a call must come to: a tensor on `device`, or an error that begins in one of `words`."""

    device: str = ""
    error: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    whole: bool = True

    @property
    def accepted(self) -> bool:
        return bool(self.device)

    def problem(self, error: BaseException | None) -> str:
        """How the outcome is not the expected one; empty if it is. None: there was a result."""
        got = f"got {type(error).__name__}: {error}" if error else "got a result"
        if self.accepted:
            return f"expected a result on {self.device}\n{got}" if error else ""
        message = str(error)
        said = message in self.words if self.whole else message.startswith(self.words)
        if error and type(error).__name__ in self.error and said:
            return ""
        return f"expected {' or '.join(self.error)}: {' or '.join(self.words)}\n{got}"


def refused(sentence: str) -> Verdict:
    return Verdict(error=("RuntimeError",), words=(f"ascendc_add: {sentence}",))


def listed(values: tuple[int, ...]) -> str:
    return f"[{', '.join(map(str, values))}]"


def storage_bytes(plan: Plan) -> int:
    return plan.span * ITEM_BYTES[plan.dtype] if plan.storage is None else plan.storage


def broken_rules(plans: tuple[Plan, Plan], meta: bool) -> Iterator[str]:
    """The rules the arguments break, in the order of the contract: the first one is told."""
    both = tuple(zip(NAMES, plans, strict=True))

    def every(broken, sentence) -> Iterator[str]:
        for name, plan in both:
            if broken(plan):
                yield f"argument '{name}': expected {sentence(plan)}"

    if not meta:
        for name, plan in both:
            if plan.kind == "none":
                yield f"argument '{name}': expected a tensor, got an undefined one"
            elif not plan.on_npu:
                yield f"argument '{name}': expected device npu, got {plan.device}"
        if plans[0].device != plans[1].device:
            yield (
                f"argument 'y': expected device {plans[0].device} like argument 'x', "
                f"got {plans[1].device}"
            )
    yield from every(
        lambda plan: plan.kind == "quantised" or plan.dtype != "float32",
        lambda plan: f"dtype float32, got {QUANTISED if plan.kind == 'quantised' else plan.dtype}",
    )
    yield from every(
        lambda plan: plan.kind in NOT_STRIDED,
        lambda plan: f"a strided tensor, got {NOT_STRIDED[plan.kind]}",
    )
    yield from every(
        lambda plan: plan.sizes != SHAPE,
        lambda plan: f"shape {listed(SHAPE)}, got {listed(plan.sizes)}",
    )
    yield from every(
        lambda plan: plan.strides != STRIDES,
        lambda plan: f"a contiguous tensor, got strides {listed(plan.strides)}",
    )
    for name, plan in both:
        if plan.negated:
            yield (
                f"argument '{name}': expected values in memory, got a lazily negated tensor; "
                "call resolve_neg()"
            )
        needed, held = plan.span * ITEM_BYTES[plan.dtype], storage_bytes(plan)
        if held < needed:
            yield f"argument '{name}': expected a storage of at least {needed} bytes, got {held}"
    yield from every(
        lambda plan: plan.grad,
        lambda _: "requires_grad=False (no backward is registered), got requires_grad=True",
    )
    if not meta:
        yield from every(
            lambda plan: plan.storage_format != "ND",
            lambda plan: f"storage format ND, got {plan.storage_format}",
        )


def of_kernel(plans: tuple[Plan, Plan], meta: bool = False) -> Verdict:
    broken = next(broken_rules(plans, meta), None)
    return refused(broken) if broken else Verdict(device=plans[0].device)


def of_pybind(plans: tuple[Plan, Plan]) -> Verdict:
    for name, plan in zip(NAMES, plans, strict=True):
        if plan.kind in VALUES:
            kind = {"none": "NoneType"}.get(plan.kind, plan.kind)
            words = f"ascendc_add: argument '{name}': expected a torch.Tensor, got {kind}"
            return Verdict(error=("TypeError",), words=(words,))
        if plan.dress == "wrapper" or plan.kind in WRAPPERS:
            return refused(
                f"argument '{name}': expected a plain tensor, got one that wraps another (Python); "
                "call torch.ops.ascendc_ops.ascendc_add"
            )
    return of_kernel(plans)


def of_lib(plans: tuple[Plan, Plan]) -> Verdict:
    for name, plan in zip(NAMES, plans, strict=True):
        if plan.kind in VALUES and plan.kind != "none":
            words = (
                "ascendc_ops::ascendc_add() Expected a value of type 'Tensor' for "
                f"argument '{name}'"
            )
            return Verdict(error=("RuntimeError",), words=(words,), whole=False)
    if any(plan.kind in WRAPPERS for plan in plans):
        return Verdict(error=("NotImplementedError", "TypeError"), words=NO_RULE, whole=False)
    tensors = [plan for plan in plans if plan.kind != "none"]
    devices = {plan.device for plan in tensors}
    if not tensors:
        return Verdict(error=("NotImplementedError",), words=NO_TENSOR, whole=False)
    if any(plan.kind in LAYOUTS for plan in tensors) or devices == {"cpu"}:
        # The latter is torch_npu's own fallback, which raises the error it would warn of.
        return Verdict(error=("NotImplementedError", "RuntimeError"), words=DISPATCHER, whole=False)
    return of_kernel(plans, meta=len(tensors) == len(plans) and devices == {"meta"})


def verdict(example: Example, variant: str) -> Verdict:
    return {"pybind": of_pybind, "lib": of_lib}[variant](example.arguments)
