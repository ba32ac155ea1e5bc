# SPDX-License-Identifier: Apache-2.0
"""The torch.library variant under torch's tracers: the meta kernel stands for the real one."""

import ascendc_ops_lib  # noqa: F401
import pytest
import torch
import torch_npu  # noqa: F401
from torch._subclasses.fake_tensor import FakeTensorMode

OP = torch.ops.ascendc_ops.ascendc_add.default
SHAPE = (8, 2048)
CHECKS = (
    "test_schema",
    "test_autograd_registration",
    "test_faketensor",
    "test_aot_dispatch_static",
    "test_aot_dispatch_dynamic",
)


def inputs():
    x = torch.arange(8 * 2048, dtype=torch.float32).reshape(SHAPE) / 1000
    return x.to("npu:0"), (x.flip(0) * -0.25).to("npu:0")


@pytest.mark.parametrize("check", CHECKS)
def test_opcheck(check):
    assert torch.library.opcheck(OP, inputs(), test_utils=check) == {check: "SUCCESS"}


# What is done to y -> the sentence of the kernel.
REFUSED = {
    "dtype": (lambda y: y.half(), "argument 'y': expected dtype float32, got float16"),
    "shape": (lambda y: y[:4], "argument 'y': expected shape [8, 2048], got [4, 2048]"),
    "strides": (
        lambda y: y.t().contiguous().t(),
        "argument 'y': expected a contiguous tensor, got strides [1, 8]",
    ),
}


@pytest.mark.parametrize(("change", "sentence"), REFUSED.values(), ids=REFUSED)
def test_fake_tensors_are_refused_like_real_ones(change, sentence):
    x, y = inputs()
    with pytest.raises(RuntimeError) as real:
        OP(x, change(y))
    with FakeTensorMode() as mode, pytest.raises(RuntimeError) as fake:
        OP(mode.from_tensor(x), change(mode.from_tensor(y)))
    assert str(real.value) == str(fake.value) == f"ascendc_add: {sentence}"


def test_the_result_of_fake_tensors_is_like_the_real_one():
    x, y = inputs()
    real = OP(x, y)
    with FakeTensorMode() as mode:
        fake = OP(mode.from_tensor(x), mode.from_tensor(y))
    for seen in ("device", "dtype", "shape", "requires_grad"):
        assert getattr(fake, seen) == getattr(real, seen), seen
    assert fake.stride() == real.stride()


@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
def test_a_compiled_call(dynamic):
    x, y = inputs()
    torch.compiler.reset()
    call = torch.compile(OP, backend="aot_eager", fullgraph=True, dynamic=dynamic)
    assert call(x, y).cpu().equal(x.cpu() + y.cpu())
    with pytest.raises(RuntimeError) as refusal:
        call(x[:4].contiguous(), y[:4].contiguous())
    assert "argument 'x': expected shape [8, 2048], got [4, 2048]" in str(refusal.value)


def test_an_exported_program():
    class Module(torch.nn.Module):
        def forward(self, x, y):
            return OP(x, y)

    x, y = inputs()
    program = torch.export.export(Module(), (x, y))
    assert program.module()(x, y).cpu().equal(x.cpu() + y.cpu())
