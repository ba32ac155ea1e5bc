# SPDX-License-Identifier: Apache-2.0
"""What stands between a call and an operator: it takes part, or is refused before the launch.

torch.func, forward-mode differentiation, tracers and tensor subclasses, in both variants.
"""

import ascendc_ops
import ascendc_ops_lib  # noqa: F401
import pytest
import torch
import torch_npu  # noqa: F401
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.autograd import forward_ad
from torch.fx.experimental.proxy_tensor import make_fx

from .test_tracing import inputs

LIB = torch.ops.ascendc_ops.ascendc_add.default
VARIANTS = {"lib": LIB, "pybind": ascendc_ops.ascendc_add}
INSTEAD = "call torch.ops.ascendc_ops.ascendc_add"

NO_GRAD = "expected requires_grad=False (no backward is registered), got requires_grad=True"
NO_TANGENT = "expected no tangent (no forward-mode derivative is registered), got a dual tensor"
NO_BATCH = (
    "expected one tensor (no batching rule is registered), got a batch of them under torch.vmap; "
    "call the operator in a loop"
)


def traced_by(name):
    return (
        f"expected a call that nothing traces, got one under {name}, which cannot see it; {INSTEAD}"
    )


def dual(op, x, y):
    with forward_ad.dual_level():
        return op(x, forward_ad.make_dual(y, x))


# What is done with the operator -> what each variant says.
REFUSED = {
    "vmap": (
        lambda op, x, y: torch.vmap(op, in_dims=(None, 0))(x, torch.stack([y.cpu()] * 2).npu()),
        f"argument 'y': {NO_BATCH}",
        traced_by("torch.func"),
    ),
    "func.grad": (
        lambda op, x, y: torch.func.grad(lambda a: op(a, y).sum())(x),
        f"argument 'x': {NO_GRAD}",
        traced_by("torch.func"),
    ),
    "func.vjp": (
        lambda op, x, y: torch.func.vjp(lambda a: op(y, a), x),
        f"argument 'y': {NO_GRAD}",
        traced_by("torch.func"),
    ),
    "func.grad of vmap": (
        lambda op, x, y: torch.func.grad(lambda a: torch.vmap(op, (0, None))(a, y).sum())(
            torch.stack([x.cpu()] * 2).npu()
        ),
        f"argument 'x': {NO_BATCH}",
        traced_by("torch.func"),
    ),
    "func.jvp": (
        lambda op, x, y: torch.func.jvp(lambda a: op(a, y), (x,), (y,)),
        f"argument 'x': {NO_TANGENT}",
        traced_by("torch.func"),
    ),
    "dual": (dual, f"argument 'y': {NO_TANGENT}", f"argument 'y': {NO_TANGENT}"),
}


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("case", REFUSED)
@pytest.mark.filterwarnings("ignore:`torch.jit.script` is deprecated:DeprecationWarning")
def test_a_transform_without_a_rule_is_refused(case, variant):
    transform, lib, pybind = REFUSED[case]
    x, y = inputs()
    with pytest.raises(RuntimeError) as refusal:
        transform(VARIANTS[variant], x, y)
    sentence = pybind if variant == "pybind" else lib

    assert str(refusal.value) == f"ascendc_add: {sentence}"
    assert VARIANTS[variant](x, y).cpu().equal(x.cpu() + y.cpu())


def test_a_gradient_with_respect_to_something_else():
    x, y = inputs()
    scale = torch.tensor(2.0, device="npu:0")
    gradient = torch.func.grad(lambda a: (LIB(x, y) * a).sum())(scale)
    torch.testing.assert_close(gradient.cpu(), (x.cpu() + y.cpu()).sum(), rtol=1e-5, atol=1e-3)


def under_fake_tensors(op, x, y):
    with FakeTensorMode(allow_non_fake_inputs=True):
        return op(x, y)


def outside_their_mode(op, x, y):
    with FakeTensorMode() as mode:
        fake = mode.from_tensor(x)
    return op(fake, y)


class Module(torch.nn.Module):
    def __init__(self, op):
        super().__init__()
        self.op = op

    def forward(self, x, y):
        return self.op(x, y)


TRACED = {
    "torch.jit.trace": (
        lambda op, x, y: torch.jit.trace(lambda a, b: op(a, b), (x, y), check_trace=False),
        traced_by("torch.jit.trace"),
    ),
    "make_fx": (lambda op, x, y: make_fx(lambda a, b: op(a, b))(x, y), traced_by("make_fx")),
    "FakeTensorMode": (under_fake_tensors, traced_by("FakeTensorMode")),
    "fake tensor": (
        outside_their_mode,
        f"argument 'x': expected a plain tensor, got one that wraps another (Python); {INSTEAD}",
    ),
    "torch.export": (
        lambda op, x, y: torch.export.export(Module(op), (x, y), strict=False),
        traced_by("FakeTensorMode"),
    ),
}


@pytest.mark.parametrize("tracer", TRACED)
@pytest.mark.filterwarnings("ignore:`torch.jit.trace` is deprecated:DeprecationWarning")
def test_the_pybind_function_is_never_left_out_of_a_trace(tracer):
    trace, sentence = TRACED[tracer]
    x, y = inputs()
    with pytest.raises(RuntimeError) as refusal:
        trace(ascendc_ops.ascendc_add, x, y)
    assert str(refusal.value) == f"ascendc_add: {sentence}"
    assert ascendc_ops.ascendc_add(x, y).cpu().equal(x.cpu() + y.cpu())
