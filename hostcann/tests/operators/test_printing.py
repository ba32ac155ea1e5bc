# SPDX-License-Identifier: Apache-2.0
"""print() and torch.testing.assert_close say of a device's tensor what they say of the CPU's."""

import re

import pytest
import torch

from operators.inputs import transposed, values
from operators.row import ALL, FLOATS, Args, View, dtype_name

SHAPES = ((), (0,), (1,), (7,), (3, 5), (2, 3, 4), (0, 3), (1001,), (40, 60), (1200, 1))


def words(text):
    """A tensor's text without the device, and without the line breaks that depend on its length."""
    return " ".join(re.sub(r",\s*device='npu:0'", "", text).split())


def printed(tensor, device):
    return words(repr(View.on(tensor, device)[1]))


@pytest.mark.parametrize("dtype", ALL, ids=dtype_name)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_a_tensor_prints_as_on_the_cpu(npu, shape, dtype):
    tensor = View(values(shape, dtype, special=True))
    assert printed(tensor, npu) == printed(tensor, "cpu")


@pytest.mark.parametrize("dtype", FLOATS, ids=dtype_name)
@pytest.mark.parametrize(
    "numbers",
    [
        pytest.param([1.0, 2.0, 3.0], id="whole"),
        pytest.param([1e-7, 1.0], id="small"),
        pytest.param([1e4, 1e-2], id="wide-range"),
        pytest.param([float("nan"), float("inf")], id="nothing-finite"),
        pytest.param([0.0, 0.0], id="zeros"),
        pytest.param([2e4, 60000.0], id="large"),
    ],
)
def test_numbers_choose_the_same_notation(npu, numbers, dtype):
    tensor = View(torch.tensor(numbers, dtype=dtype))
    assert printed(tensor, npu) == printed(tensor, "cpu")


def test_a_view_prints_as_on_the_cpu(npu):
    tensor = transposed(values((3, 5), torch.float32))
    assert printed(tensor, npu) == printed(tensor, "cpu")


def test_a_print_names_the_device_and_the_gradient(npu):
    tensor = torch.tensor([1.5, 2.0]).to(npu)
    assert repr(tensor) == "tensor([1.5000, 2.0000], device='npu:0')"
    assert repr(tensor.requires_grad_()) == (
        "tensor([1.5000, 2.0000], device='npu:0', requires_grad=True)"
    )
    assert f"{tensor.sum().item():.2f}" == "3.50"


def verdict(device, expected, actual, **rule):
    try:
        torch.testing.assert_close(actual.to(device), expected.to(device), **rule)
    except AssertionError as error:
        return str(error)
    return "close"


def near_and_far(dtype):
    tensor = values((3, 5), dtype, 1)
    other = tensor.clone()
    other[1, 2] += 1
    yield Args(tensor, tensor)
    yield Args(tensor, other)
    yield Args(tensor, tensor[:1])
    yield Args(tensor, other, rtol=1, atol=1)
    if dtype.is_floating_point:
        nan = torch.full((3,), float("nan"), dtype=dtype)
        yield Args(nan, nan)
        yield Args(nan, nan, equal_nan=True)


@pytest.mark.parametrize("dtype", ALL[:-1], ids=dtype_name)
def test_assert_close_decides_and_explains_as_on_the_cpu(npu, dtype):
    verdicts = []
    for sample in near_and_far(dtype):
        wanted = verdict("cpu", *sample.args, **sample.kwargs)
        assert verdict(npu, *sample.args, **sample.kwargs) == wanted, str(sample)
        verdicts.append(wanted)
    assert verdicts[0] == "close"
    assert "Mismatched elements: 1 / 15" in verdicts[1]


def test_assert_close_of_bool(npu):
    tensor = values((3, 5), torch.bool)
    for other in (tensor, ~tensor):
        assert verdict(npu, tensor, other) == verdict("cpu", tensor, other)


def test_assert_close_between_device_and_cpu_refuses_unless_told(npu):
    tensor = values((3, 5), torch.float32)
    with pytest.raises(AssertionError, match="device"):
        torch.testing.assert_close(tensor.to(npu), tensor)
    torch.testing.assert_close(tensor.to(npu), tensor, check_device=False)
