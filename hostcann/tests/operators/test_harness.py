# SPDX-License-Identifier: Apache-2.0
"""The sweep itself notices a wrong result: rows that agree, then the same with one thing wrong."""

import pytest
import torch

from operators.inputs import strided, values
from operators.row import Args, Row, check

RIGHT = Row("right", torch.add, lambda d: [Args(values((3, 5), d), values((3, 5), d, 2))])


def on_device(change):
    """A call whose result is changed on the device only."""

    def call(x, y, out=None):
        result = torch.add(x, y, out=out)
        return change(result) if result.device.type == "npu" else result

    return call


def edited(edit):
    def change(result):
        host = result.cpu()
        edit(host)
        return host.to(result.device)

    return change


def one_bit(host):
    bits = {2: torch.int16, 4: torch.int32, 8: torch.int64}[host.element_size()]
    host.view(bits)[2, 4] ^= 1


def no_longer_zero(host):
    host[0, 0] = -0.0


def zeros(x, y):
    """A result with a zero to be spoilt."""
    return Row("zeros", on_device(edited(no_longer_zero)), lambda d: [Args(x.to(d), y.to(d))])


@pytest.mark.parametrize("dtype", RIGHT.dtypes)
def test_a_right_row_passes(npu, dtype):
    assert check(RIGHT, dtype, npu) == 1


@pytest.mark.parametrize("dtype", RIGHT.dtypes)
def test_one_wrong_bit_fails_and_names_operator_dtype_and_shape(npu, dtype):
    row = Row("planted", on_device(edited(one_bit)), RIGHT.samples)
    name = str(dtype).removeprefix("torch.")
    with pytest.raises(AssertionError) as failure:
        check(row, dtype, npu)
    first, second = str(failure.value).splitlines()
    assert first == "1 of 1 calls differ from the CPU"
    assert second.startswith(
        f"planted({name}[3, 5], {name}[3, 5]), dtype {name}: 1 of 15 elements, the first at"
        " [2, 4]: expected "
    )


def test_the_sign_of_zero_counts(npu):
    row = zeros(torch.zeros(1, 1), torch.zeros(1, 1))
    with pytest.raises(AssertionError, match=r"expected 0\.0, got -0\.0"):
        check(row, torch.float32, npu)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        pytest.param(lambda r: r[:1], r"expected float32\[3, 5\], got float32\[1, 5\]", id="shape"),
        pytest.param(
            lambda r: r.view(torch.int32),
            r"expected float32\[3, 5\], got int32\[3, 5\]",
            id="dtype",
        ),
        pytest.param(lambda _: 1, "expected a tensor, got int", id="no-tensor"),
        pytest.param(lambda _: (1, 2), "expected a tensor, got tuple", id="two-results"),
    ],
)
def test_another_kind_of_result_fails(npu, change, sentence):
    with pytest.raises(AssertionError, match=sentence):
        check(Row("planted", on_device(change), RIGHT.samples), torch.float32, npu)


def test_an_error_on_the_device_fails(npu):
    def refuse(_):
        raise RuntimeError("torch_npu says:\nhostcann: aclnnAdd is not implemented\nand more")

    with pytest.raises(
        AssertionError, match=r"raised RuntimeError: hostcann: aclnnAdd is not implemented$"
    ):
        check(Row("planted", on_device(refuse), RIGHT.samples), torch.float32, npu)


def test_a_write_beside_the_view_fails(npu):
    def spoil(x):
        base = torch.zeros(x.shape[0] * 2, dtype=x.dtype).to(x.device)
        if x.device.type == "npu":
            # Every element of the memory, not only those of the view.
            x.untyped_storage().copy_(base.untyped_storage())
        return 0

    row = Row("planted", spoil, lambda d: [Args(strided(torch.zeros(4, dtype=d)))])
    with pytest.raises(AssertionError, match="memory of the arguments: "):
        check(row, torch.float32, npu)


def test_a_row_that_forgets_to_write_out_fails(npu):
    def call(x, y, out=None):
        if x.device.type == "cpu" or out is None:
            return torch.add(x, y, out=out)
        return torch.add(x, y)

    row = Row("planted", call, RIGHT.samples, out=True)
    with pytest.raises(AssertionError, match="3 of 4 calls differ") as failure:
        check(row, torch.float32, npu)
    assert "out=strided, dtype float32: memory of the arguments: " in str(failure.value)


def test_a_row_without_samples_fails(npu):
    with pytest.raises(AssertionError, match="expected samples for float32, got none"):
        check(Row("planted", torch.add, lambda _: []), torch.float32, npu)


def test_a_tolerance_is_as_narrow_as_it_says(npu):
    def nudge(steps):
        def edit(host):
            host *= 1 + steps * torch.finfo(host.dtype).eps

        return on_device(edited(edit))

    assert check(Row("near", nudge(2), RIGHT.samples, ulp=4), torch.float32, npu) == 1
    with pytest.raises(AssertionError, match="differ from the CPU"):
        check(Row("far", nudge(16), RIGHT.samples, ulp=4), torch.float32, npu)
