# SPDX-License-Identifier: Apache-2.0
"""What kernels compute: vector operations, copies, queues and views against numpy or by hand."""

from pathlib import Path

import numpy
import pytest

HERE = Path(__file__).parent

OPERATIONS = {"add": numpy.add, "subtract": numpy.subtract, "multiply": numpy.multiply}
NAMES = {
    numpy.float32: "float",
    numpy.float16: "half",
    numpy.int32: "int32",
    numpy.int16: "int16",
}
ROOM = 256


@pytest.fixture(scope="module")
def tensors(build_library):
    return build_library(HERE / "tensors.asc")


def operands(dtype, count):
    """Two arrays that hold the awkward values of a type and random ones."""
    random = numpy.random.default_rng(7)
    if dtype in (numpy.float32, numpy.float16):
        info = numpy.finfo(dtype)
        tiny = info.smallest_subnormal
        edge = [
            0.0,
            -0.0,
            numpy.inf,
            -numpy.inf,
            numpy.nan,
            info.max,
            -info.max,
            tiny,
            1 + info.eps,
        ]
        values = [*numpy.repeat(edge, len(edge)), *random.standard_normal(count)]
        others = [*numpy.tile(edge, len(edge)), *random.standard_normal(count)]
    else:
        info = numpy.iinfo(dtype)
        edge = [0, 1, -1, info.max, info.min]
        values = [*numpy.repeat(edge, 5), *random.integers(info.min, info.max, count)]
        others = [*numpy.tile(edge, 5), *random.integers(info.min, info.max, count)]
    return numpy.array(values[:count], dtype), numpy.array(others[:count], dtype)


@pytest.mark.parametrize("dtype", NAMES, ids=NAMES.values())
@pytest.mark.parametrize("count", [1, 8, 500])
@pytest.mark.parametrize("operation", OPERATIONS)
def test_binary(tensors, device, stream, dtype, count, operation):
    x, y = operands(dtype, 512)
    before = numpy.full(512, 3, dtype)
    z = device.upload(before)
    entry = getattr(tensors, f"binary_{NAMES[dtype]}")
    entry(stream, device.upload(x), device.upload(y), z, list(OPERATIONS).index(operation), count)
    assert device.synchronize(stream) == (0, "")
    with numpy.errstate(all="ignore"):
        expected = OPERATIONS[operation](x, y)
    expected[count:] = before[count:]
    result = device.download(z, dtype, 512)
    assert numpy.array_equal(numpy.isnan(result), numpy.isnan(expected))
    # Signs of zero count, payloads of NaN do not.
    for array in (result, expected):
        array[array != array] = 0
    assert result.tobytes() == expected.tobytes()


UNWRITTEN = 0x7FA57FA5

# kernel of tensors.asc -> {position in out: what stands there}; elsewhere -1 is left
RESULTS = {
    "add_in_place": {0: [2 * i for i in range(16)]},
    "strided_copy": {
        0: [*range(8), *[-2] * 8],
        24: [-2] * 8,
        32: range(16, 24),
        64: [*range(8), *range(16, 24)],
    },
    "copy_of_nothing": {8: range(8)},
    "pad_with_value": {
        0: [99, 0, 1, 2, 99, 99, 99, 99, *[-2] * 8, 99, 4, 5, 6, 99, 99, 99, 99, *[-2] * 8]
    },
    "pad_with_first_element": {0: [5, 6, 7, 5, 5, 5, 5, 5, 8, 9, 10, 8, 8, 8, 8, 8]},
    "pad_with_anything": {0: [5, 6, 7, *[UNWRITTEN] * 5]},
    "pad_out": {1: [0, 1, 2], 6: [16, 17, 18]},
    "unwritten_memory": {0: [UNWRITTEN] * 8},
    "scalar_access": {0: [3, 4, 64, 0, 6, 1]},
    "local_views": {0: [32, 5, 12, 5, 5, 1, 3, 4]},
    "offset_of_scratch": {0: [8, 3]},
    "queue_counts": {0: [11, 10, 2100, 1111, 11], 8: [1, 11, 22]},
    "queue_in_place": {0: range(24)},
    "queue_bound_to_both_sides": {0: range(24)},
    "pipe_again": {0: [49088, 49088, 49088, 1]},
    "length_rounded_up": {0: [16]},
    "untouched_operands": {0: [255]},
    "addresses_in_struct": {0: [9]},
    "bfloat16_rounding": {
        0: [0x3F800000, 0x3F800000, 0x3F820000, 0x7F800000, -0x80000000, 0x7FC00000]
    },
    "pools": {0: range(8, 32), 32: [256]},
    "pool_of_its_author": {
        0: [*range(8, 16), *range(40, 48), 256, 3, 224, 64, 0],
        24: range(16, 24),
    },
    "scalar_minimum": {0: [3, 5]},
}


def run(tensors, device, stream, kernel, dtype=numpy.int32):
    given = device.upload(numpy.arange(ROOM, dtype=numpy.int32))
    out = device.upload(numpy.full(ROOM, -1, numpy.int32))
    getattr(tensors, f"launch_{kernel}")(stream, given, out)
    assert device.synchronize(stream) == (0, "")
    return device.download(out, dtype, ROOM)


@pytest.mark.parametrize("kernel", RESULTS)
def test_kernel(tensors, device, stream, kernel):
    expected = numpy.full(ROOM, -1, numpy.int32)
    for start, values in RESULTS[kernel].items():
        expected[start : start + len(values)] = values
    assert run(tensors, device, stream, kernel).tolist() == expected.tolist()


def test_list_of_tensors(tensors, device, stream):
    first, second = (device.upload(numpy.arange(n, n + 8, dtype=numpy.int32)) for n in (100, 200))
    words = [7 * 8, 3 | 0 << 32, 2, 3, 4, 1 | 1 << 32, 5, first.value, second.value]
    out = device.upload(numpy.full(ROOM, -1, numpy.int32))
    tensors.launch_list_of_tensors(stream, device.upload(numpy.array(words, numpy.uint64)), out)
    assert device.synchronize(stream) == (0, "")
    got = device.download(out, numpy.int32, 17).tolist()
    assert got == [2, 3, 0, 2, 3, 4, 100, 1, 100, 1, 1, 5, -1, -1, 201, 1, 200]


def test_product_and_sum_are_rounded_one_after_the_other(tensors, device, stream):
    result = run(tensors, device, stream, "product_and_sum_are_two_roundings", numpy.float32)
    # (1 + 2**-12)**2 rounds to 1 + 2**-11; a fused operation would keep the 2**-24 that it drops.
    assert result[:8].tolist() == [0.0] * 8


# row: source of a kernel's body -> the compiler's words
NOT_THERE = {
    "function": (
        "AscendC::LocalTensor<float> a; AscendC::Neg(a, a, 8);",
        "'Neg' is not a member of 'AscendC'",
    ),
    "operator": ("AscendC::LocalTensor<float> a; a = a + a;", "no match for 'operator+'"),
    "position": (
        "AscendC::TQue<AscendC::TPosition::A1, 1> q;",
        "static assertion failed: hostcann implements queues of VECIN and VECOUT only",
    ),
    "element-type-of-add": (
        "AscendC::LocalTensor<double> a; AscendC::Add(a, a, a, 8);",
        "static assertion failed: Add of dav-2201 takes int16_t, half, int32_t, float",
    ),
    "element-type-of-copy": (
        "AscendC::LocalTensor<bool> a; AscendC::DataCopy(a, a, 32);",
        "static assertion failed: DataCopy of dav-2201 does not take this element type",
    ),
    "mixed-element-types": (
        "AscendC::LocalTensor<float> a; AscendC::LocalTensor<half> b; AscendC::Add(a, a, b, 8);",
        "no matching function for call to 'Add(",
    ),
    "scalar-barrier": (
        "AscendC::PipeBarrier<PIPE_S>();",
        "static assertion failed: PipeBarrier: the scalar pipe keeps its own order, PIPE_S is not"
        " taken",
    ),
    "in-place-form-of-a-deep-queue": (
        "AscendC::TQue<AscendC::TPosition::VECIN, 1> q; AscendC::LocalTensor<int> t; q.DeQue(t);",
        "static assertion failed: DeQue(tensor) is for queues of depth 0",
    ),
    "cube-kernel": ("} __global__ __cube__ void cube() {", "'__cube__' does not name a type"),
}


@pytest.mark.parametrize(("body", "words"), NOT_THERE.values(), ids=NOT_THERE)
def test_what_is_not_implemented_does_not_compile(bisheng, tmp_path, body, words):
    source = tmp_path / "kernel.asc"
    source.write_text(
        f'#include "kernel_operator.h"\n__global__ __vector__ void kernel() {{ {body} }}\n'
    )
    errors = bisheng("--npu-arch=dav-2201", "-fsyntax-only", source, status=1).stderr
    assert f"error: {words}" in errors


def test_kernel_argument_that_cannot_be_copied_byte_by_byte(bisheng, tmp_path):
    source = tmp_path / "kernel.asc"
    source.write_text(
        '#include <string>\n#include "kernel_operator.h"\n'
        "__global__ __vector__ void kernel(std::string text) {}\n"
        'void host(void* s) { kernel<<<1, nullptr, s>>>("x"); }\n'
    )
    errors = bisheng("--npu-arch=dav-2201", "-fsyntax-only", source, status=1).stderr
    assert (
        "error: static assertion failed: kernel arguments are copied to the device byte by byte:"
        " they must be trivially copyable" in errors
    )
