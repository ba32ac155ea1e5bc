# SPDX-License-Identifier: Apache-2.0
"""ascendc_ops.ascendc_add as a Python function: what tools and people see of it."""

import ast
import copy
import importlib.resources
import inspect
import pickle
import pydoc

import ascendc_ops
import pytest
import torch
import torch_npu  # noqa: F401
from ascendc_ops import _C

ADD = ascendc_ops.ascendc_add
ONES = torch.ones(8, 2048)


def test_the_stub_is_what_the_module_has() -> None:
    stub = importlib.resources.files(ascendc_ops).joinpath("_C.pyi").read_text()
    functions = [node for node in ast.parse(stub).body if isinstance(node, ast.FunctionDef)]
    public = [name for name in vars(_C) if not name.startswith("_")]
    assert sorted(function.name for function in functions) == sorted(public)
    for function in functions:
        declared = ast.unparse(function).removeprefix("def ").partition(":\n")[0]
        said, _, rest = (getattr(_C, function.name).__doc__ or "").partition("\n\n")
        assert said == declared
        assert rest == f"See ascendc_ops.{function.name}."
    assert importlib.resources.files(ascendc_ops).joinpath("py.typed").is_file()


@pytest.mark.parametrize("name", ascendc_ops.__all__)
def test_help_can_be_read(name: str) -> None:
    function = getattr(ascendc_ops, name)
    text = pydoc.plain(pydoc.render_doc(function))
    assert text.splitlines()[2].startswith(f"{name}(x: torch.Tensor, y: torch.Tensor)")
    for heading in ("Args:", "Returns:", "Raises:"):
        assert heading in text
    assert max(map(len, text.splitlines())) <= 110
    assert f"{name}(x" in pydoc.plain(pydoc.render_doc(ascendc_ops))
    signature = inspect.signature(function)
    assert [each.default for each in signature.parameters.values()] == [inspect.Parameter.empty] * 2


def test_names_of_arguments() -> None:
    x, y = ONES.npu(), (ONES * 2).npu()
    for function in (ADD, _C.ascendc_add):
        assert function(y=y, x=x).cpu().equal(ONES * 3)
        with pytest.raises(TypeError):
            function(x=x, z=y)
        with pytest.raises(TypeError):
            function(x, x=y)


def test_it_can_be_pickled_and_copied() -> None:
    assert pickle.loads(pickle.dumps(ADD)) is ADD
    assert copy.deepcopy(ADD) is ADD
    x = ONES.npu()
    assert pickle.loads(pickle.dumps(_C.ascendc_add))(x, x).cpu().equal(ONES * 2)


class Subclass(torch.Tensor):
    pass


@pytest.mark.parametrize(
    "wrap",
    [
        pytest.param(lambda tensor: tensor.as_subclass(Subclass), id="subclass"),
        pytest.param(
            lambda tensor: torch.nn.Parameter(tensor, requires_grad=False), id="parameter"
        ),
        pytest.param(torch.nn.Buffer, id="buffer"),
    ],
)
def test_a_subclass_is_taken_and_a_plain_tensor_given(wrap) -> None:
    x = ONES.npu()
    for arguments in ((wrap(x), x), (x, wrap(x)), (wrap(x), wrap(x))):
        z = ADD(*arguments)
        assert type(z) is torch.Tensor
        assert z.cpu().equal(ONES * 2)


class Pretender:
    __torch_function__ = torch.Tensor.__torch_function__
    shape, dtype = ONES.shape, ONES.dtype


def test_what_only_looks_like_a_tensor_is_refused() -> None:
    with pytest.raises(TypeError) as refusal:
        ADD(Pretender(), ONES.npu())
    assert str(refusal.value) == (
        "ascendc_add: argument 'x': expected a torch.Tensor, got Pretender"
    )
