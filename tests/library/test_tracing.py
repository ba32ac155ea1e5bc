# SPDX-License-Identifier: Apache-2.0
"""The torch.library variant under torch's tracers: the meta kernel stands for the real one."""

import subprocess
import sys
from importlib.util import find_spec

import ascendc_ops_lib  # noqa: F401
import pytest
import torch
import torch_npu
from torch._subclasses.fake_tensor import FakeTensorMode

OP = torch.ops.ascendc_ops.ascendc_add.default
SHAPE = (8, 2048)
BACKENDS = ("eager", "aot_eager")
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


# What is done to x and y -> the sentence of the kernel.
REFUSED = {
    "dtype": (
        lambda x, y: (x, y.half()),
        "argument 'y': expected dtype float32, got float16",
    ),
    "shape": (
        lambda x, y: (x[:4], y[:4]),
        "argument 'x': expected shape [8, 2048], got [4, 2048]",
    ),
    "strides": (
        lambda x, y: (x, y.t().contiguous().t()),
        "argument 'y': expected a contiguous tensor, got strides [1, 8]",
    ),
    "grad": (
        lambda x, y: (x.requires_grad_(), y),
        "argument 'x': expected requires_grad=False (no backward is registered), "
        "got requires_grad=True",
    ),
    "x-on-cpu": (
        lambda x, y: (x.cpu(), y),
        "argument 'x': expected device npu, got cpu",
    ),
    "y-on-cpu": (
        lambda x, y: (x, y.cpu()),
        "argument 'y': expected device npu, got cpu",
    ),
    "other-device": (
        lambda x, y: (x, y.to("npu:1")),
        "argument 'y': expected device npu:0 like argument 'x', got npu:1",
    ),
}


def refused(call, *arguments):
    with pytest.raises(RuntimeError) as refusal:
        call(*arguments)
    return str(refusal.value)


@pytest.mark.parametrize(("change", "sentence"), REFUSED.values(), ids=REFUSED)
def test_fake_tensors_are_refused_like_real_ones(change, sentence):
    arguments = change(*inputs())
    real = refused(OP, *arguments)
    with FakeTensorMode() as mode:
        fake = refused(OP, *map(mode.from_tensor, arguments))
    assert real == fake == f"ascendc_add: {sentence}"


def test_two_fake_tensors_of_the_cpu_are_refused():
    with FakeTensorMode() as mode:
        x, y = (mode.from_tensor(tensor.cpu()) for tensor in inputs())
        assert refused(OP, x, y) == "ascendc_add: argument 'x': expected device npu, got cpu"


@pytest.mark.parametrize(("change", "sentence"), REFUSED.values(), ids=REFUSED)
@pytest.mark.parametrize("backend", BACKENDS)
def test_a_compiled_call_is_refused_like_an_eager_one(backend, change, sentence):
    torch.compiler.reset()
    call = torch.compile(OP, backend=backend, fullgraph=True)
    assert f"ascendc_add: {sentence}" in refused(call, *change(*inputs()))


def test_a_storage_format_is_refused_where_the_compiled_call_runs():
    x, _ = inputs()
    torch.npu.config.allow_internal_format = True
    try:
        y = torch_npu.empty_with_format(SHAPE, dtype=x.dtype, device=x.device, acl_format=29)
    finally:
        torch.npu.config.allow_internal_format = False
    torch.compiler.reset()
    call = torch.compile(OP, backend="aot_eager", fullgraph=True)
    assert refused(call, x, y) == refused(OP, x, y)


def test_the_result_of_fake_tensors_is_like_the_real_one():
    x, y = inputs()
    real = OP(x, y)
    with FakeTensorMode() as mode:
        fake = OP(mode.from_tensor(x), mode.from_tensor(y))
    for seen in ("device", "dtype", "shape", "requires_grad"):
        assert getattr(fake, seen) == getattr(real, seen), seen
    assert fake.stride() == real.stride()


@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
@pytest.mark.parametrize("backend", BACKENDS)
def test_a_compiled_call(backend, dynamic):
    x, y = inputs()
    torch.compiler.reset()
    call = torch.compile(
        lambda a, b: OP(OP(a, b), b), backend=backend, fullgraph=True, dynamic=dynamic
    )
    assert call(x, y).cpu().equal(x.cpu() + y.cpu() + y.cpu())
    sentence = "argument 'x': expected shape [8, 2048], got [4, 2048]"
    assert sentence in refused(call, x[:4].contiguous(), y[:4].contiguous())


@pytest.mark.skipif(find_spec("triton") is not None, reason="triton-ascend is installed")
@pytest.mark.filterwarnings("ignore:`torch.jit.*` is deprecated:DeprecationWarning")
def test_inductor_needs_triton_ascend():
    torch.compiler.reset()
    call = torch.compile(OP, backend="inductor", fullgraph=True)
    assert "triton-ascend is not installed" in refused(call, *inputs())


class Module(torch.nn.Module):
    def forward(self, x, y):
        return OP(x, y)


def test_an_exported_program_survives_its_file(tmp_path):
    x, y = inputs()
    for strict in (False, True):
        program = torch.export.export(Module(), (x, y), strict=strict)
        torch.export.save(program, tmp_path / f"strict-{strict}.pt2")
    # In a process of its own: it must need nothing but the package.
    torch.save((x.cpu(), y.cpu()), tmp_path / "inputs.pt")
    done = subprocess.run(
        [sys.executable, "-c", LOADED, tmp_path], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


LOADED = """
import pathlib, sys
import ascendc_ops_lib, torch

folder = pathlib.Path(sys.argv[1])
x, y = torch.load(folder / "inputs.pt")
programs = [torch.export.load(file).module() for file in folder.glob("*.pt2")]
assert len(programs) == 2
for program in programs:
    assert program(x.npu(), y.npu()).cpu().equal(x + y)
"""


def test_an_exported_program_has_the_shape_of_the_operator():
    rows = torch.export.Dim("rows", min=1, max=8)
    program = ({0: rows}, {0: rows})
    with pytest.raises(Exception, match=r"specialized|constant"):
        torch.export.export(Module(), inputs(), dynamic_shapes=program)
    x, y = inputs()
    wrong = (x[:4].contiguous(), y[:4].contiguous())
    sentence = "ascendc_add: argument 'x': expected shape [8, 2048], got [4, 2048]"
    assert refused(lambda: torch.export.export(Module(), wrong, strict=False)) == sentence


@pytest.mark.filterwarnings("ignore:`torch.jit.*` is deprecated:DeprecationWarning")
def test_torch_jit_knows_the_operator(tmp_path):
    x, y = inputs()

    def call(a, b):
        return torch.ops.ascendc_ops.ascendc_add(a, b)

    for program in (torch.jit.script(call), torch.jit.trace(call, (x, y))):
        program.save(str(tmp_path / "program.pt"))
        loaded = torch.jit.load(str(tmp_path / "program.pt"))
        assert loaded(x, y).cpu().equal(x.cpu() + y.cpu())
        assert "ascendc_add: argument 'y': expected dtype float32, got float16" in refused(
            loaded, x, y.half()
        )
