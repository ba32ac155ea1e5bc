# SPDX-License-Identifier: Apache-2.0
"""The aclnn functions called as C functions: their objects, executors and refusals."""

import ctypes

import pytest
import torch
import torch_npu  # noqa: F401

FLOAT, UNKNOWN, ND, NZ = 0, 99, 2, 29
BAD_ARGUMENT = 161002
KINDS = ("Tensor", "Scalar", "IntArray", "FloatArray", "BoolArray", "TensorList", "ScalarList")


@pytest.fixture(scope="module")
def library(prefix):
    torch.ones(1).to("npu:0")
    opened = ctypes.CDLL(str(prefix / "lib64" / "libopapi.so"))
    for name in ("aclCreateTensor", "aclGetRecentErrMsg"):
        getattr(opened, name).restype = ctypes.c_void_p
    return opened


@pytest.fixture
def tensor(library):
    made = []

    def make(on_device, type_=FLOAT, format_=ND, dims=None):
        sizes = (ctypes.c_int64 * on_device.dim())(*(dims or on_device.shape))
        strides = (ctypes.c_int64 * on_device.dim())(*on_device.stride())
        count = ctypes.c_uint64(on_device.dim())
        made.append(
            ctypes.c_void_p(
                library.aclCreateTensor(
                    sizes,
                    count,
                    type_,
                    strides,
                    ctypes.c_int64(0),
                    format_,
                    sizes,
                    count,
                    ctypes.c_void_p(on_device.data_ptr()),
                )
            )
        )
        return made[-1]

    yield make
    for one in made:
        assert library.aclDestroyTensor(one) == 0


def sentence(library):
    return ctypes.string_at(library.aclGetRecentErrMsg()).decode()


def prepare(library, *arguments):
    executor, size = ctypes.c_void_p(), ctypes.c_uint64(7)
    code = library.aclnnExpGetWorkspaceSize(*arguments, ctypes.byref(size), ctypes.byref(executor))
    return code, executor, size.value


def run(library, function, executor):
    stream = ctypes.c_void_p(torch.npu.current_stream().npu_stream)
    return getattr(library, function)(None, ctypes.c_uint64(0), executor, stream)


def test_null_may_be_destroyed(library):
    for kind in KINDS:
        assert getattr(library, f"aclDestroy{kind}")(None) == 0, kind


def test_an_executor_runs_once(library, tensor):
    x, out = torch.zeros(4).to("npu:0"), torch.zeros(4).to("npu:0")
    code, executor, size = prepare(library, tensor(x), tensor(out))
    assert (code, size) == (0, 0)
    assert run(library, "aclnnExp", executor) == 0
    torch.npu.synchronize()
    assert out.tolist() == [1, 1, 1, 1]
    assert run(library, "aclnnExp", executor) == BAD_ARGUMENT
    assert sentence(library).startswith("hostcann: aclnnExp: argument 'executor': expected one")


def test_an_executor_belongs_to_its_function(library, tensor):
    x = torch.zeros(4).to("npu:0")
    executor = prepare(library, tensor(x), tensor(x))[1]
    assert run(library, "aclnnTanh", executor) == BAD_ARGUMENT
    assert run(library, "aclnnExp", executor) == 0
    torch.npu.synchronize()


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({"type_": UNKNOWN}, "expected a data type that torch has on a CPU, got aclDataType 99"),
        ({"format_": NZ}, "expected a base format such as ND (2) or NCHW (0), got format 29"),
        ({"dims": [1 << 40]}, "4398046511104 bytes from address"),
    ],
    ids=["unknown-type", "internal-format", "beyond-the-allocation"],
)
def test_a_bad_output_is_refused_in_phase_1(library, tensor, changed, expected):
    x, out = torch.zeros(4).to("npu:0"), torch.zeros(4).to("npu:0")
    assert prepare(library, tensor(x), tensor(out, **changed))[0] == BAD_ARGUMENT
    said = sentence(library)
    assert said.startswith("hostcann: aclnnExp: argument 2: ")
    assert expected in said


def test_a_missing_tensor_is_refused(library, tensor):
    x = torch.zeros(4).to("npu:0")
    assert prepare(library, None, tensor(x))[0] == BAD_ARGUMENT
    assert sentence(library) == (
        "hostcann: aclnnExp: argument 1: expected an object, got a null pointer"
    )
