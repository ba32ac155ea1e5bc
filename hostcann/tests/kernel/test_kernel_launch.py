# SPDX-License-Identifier: Apache-2.0
"""`kernel<<<…>>>(…)`: what is launched, with which arguments, and what is refused."""

import ctypes
from pathlib import Path

import numpy
import pytest

HERE = Path(__file__).parent

# entry of launches.asc -> (value, blocks) that each block notes
LAUNCHED = {
    "one_line": (5, 2),
    "spaces": (5, 2),
    "zero_for_no_ubuf": (6, 1),
    "qualifiers_swapped": (7, 1),
    "several_lines": (8, 2),
    "template_arguments": (3 + 4 + 4, 1),
    "nested_template_arguments": (4 + 1 + 2, 1),
    "parenthesised_template_argument": (4 + 1 + 8, 1),
    "template_arguments_deduced": (40 + 2, 1),
    "namespaces": (9, 1),
    "global_scope": (10, 1),
    "namespaces_and_template": (1, 1),
    "after_return": (11, 1),
    "after_if_and_else": (12, 1),
    "shift_in_values": (15, 2),
    "shift_right_in_values": (16, 2),
    "shift_in_arguments": (8, 1),
    "comparison_in_values": (17, 2),
    "comma_in_values": (18, 1),
    "close_like_the_launch": (19, 1),
    "close_and_call_like_the_launch": (20, 1),
    "digit_separator": (10, 1),
    "literals": (20 + 1 + 1, 1),
    "in_a_macro": (23, 2),
    "in_a_header": (21, 2),
    "in_a_host_template": (6 + 2 + 2, 1),
    "in_a_lambda": (24, 1),
    "operator_template": (26, 1),
    "struct_by_value": (28, 1),
    "struct_from_braces": (29, 1),
    "null_pointer": (1, 1),
    "zero_pointer": (1, 1),
    "pointer_given": (2, 1),
    "conversion_to_the_parameter": (30, 1),
    "parameter_written_per_block": (32, 3),
    "many_blocks": (32, 8),
}

ROOM = 16


@pytest.fixture(scope="module")
def launches(build_library):
    return build_library(HERE / "launches.asc", "-O0")


def noted(device, stream, entry):
    """What the launches of an entry left behind."""
    out = device.upload(numpy.zeros(ROOM, numpy.int64))
    entry(stream, out)
    assert device.synchronize(stream) == (0, "")
    return device.download(out, numpy.int64, ROOM).tolist()


@pytest.mark.parametrize("entry", LAUNCHED)
def test_launch(launches, device, stream, entry):
    value, blocks = LAUNCHED[entry]
    expected = [value * 1000 + blocks] * blocks + [0] * (ROOM - blocks)
    assert noted(device, stream, getattr(launches, entry)) == expected


def test_two_launches_in_one_expression(launches, device, stream):
    out = noted(device, stream, launches.comma_expression)
    assert out == [13001, 0, 0, 0, 14001] + [0] * 11


def test_launch_without_a_stream(launches, device, stream):
    out = device.upload(numpy.zeros(ROOM, numpy.int64))
    launches.without_stream(stream, out)
    device.call("aclrtSynchronizeDevice")
    assert device.download(out, numpy.int64, 3).tolist() == [33002, 33002, 0]


# row: launch -> sentence after the location
MALFORMED = {
    "no-values": (
        "k<<<>>>(1);",
        "expected k<<<blocks, nullptr, stream>>>(arguments), got 0 launch value(s)",
    ),
    "one-value": (
        "k<<<1>>>(1);",
        "expected k<<<blocks, nullptr, stream>>>(arguments), got 1 launch value(s)",
    ),
    "four-values": (
        "k<<<1, 2, 0, s>>>(1);",
        "expected k<<<blocks, nullptr, stream>>>(arguments), got 4 launch value(s)",
    ),
    "no-arguments": (
        "k<<<1, nullptr, s>>>;",
        "expected k<<<blocks, nullptr, stream>>>(arguments), got a launch without >>> and"
        " arguments",
    ),
    "no-end": (
        "k<<<1, nullptr, s(1);",
        "expected k<<<blocks, nullptr, stream>>>(arguments), got a launch without >>> and"
        " arguments",
    ),
    "no-name": (
        "(k)<<<1, nullptr, s>>>(1);",
        "expected the name of a kernel in front of <<<, got none",
    ),
}


@pytest.mark.parametrize(("launch", "sentence"), MALFORMED.values(), ids=MALFORMED)
def test_malformed_launch_names_its_line(bisheng, tmp_path, launch, sentence):
    source = tmp_path / "bad.asc"
    source.write_text(
        '#include "kernel_operator.h"\n\n/* two\nlines */ __global__ __vector__ void k(int);\n'
        f"void host(void* s) {{\n  (void)s;\n  {launch}\n}}\n"
    )
    arguments = ["--npu-arch=dav-2201", "-c", "-o", tmp_path / "bad.o", source]
    assert bisheng(*arguments, status=1).stderr == f"bisheng: {source}:7: {sentence}\n"
    assert not (tmp_path / "bad.o").exists()


def test_wrong_arguments_are_the_compilers_error_on_the_users_line(bisheng, tmp_path):
    source = tmp_path / "bad.asc"
    source.write_text(
        '#include "kernel_operator.h"\n'
        "struct Tiling { int n; };\n"
        "__global__ __vector__ void k(GM_ADDR x, Tiling tiling);\n"
        "void host(void* s, GM_ADDR x, unsigned total) {\n"
        "  k<<<1,\n      nullptr, s>>>(x, total);\n}\n"
    )
    done = bisheng("--npu-arch=dav-2201", "-fsyntax-only", source, status=1)
    (error,) = [line for line in done.stderr.splitlines() if " error: " in line]
    place, _, text = error.partition(" error: ")
    assert place.startswith(f"{source}:6:")
    launcher = "hostcann::Launcher<unsigned char*, Tiling>"
    assert text == f"no match for call to '({launcher}) (uint8_t*&, unsigned int&)'"
    assert "no known conversion for argument 2 from 'unsigned int' to 'Tiling'" in done.stderr


# row: (blocks, address) with 0 for "a good address" -> (code, sentence)
REFUSED = {
    "no-block": (0, 0, 107000, "number of blocks: expected 1 to 65535, got 0"),
    "negative": (-1, 0, 107000, "number of blocks: expected 1 to 65535, got -1"),
    "too-many": (65536, 0, 107000, "number of blocks: expected 1 to 65535, got 65536"),
    "beyond-32-bits": (
        2**32 + 1,
        0,
        107000,
        "number of blocks: expected 1 to 65535, got 4294967297",
    ),
    "host-pointer": (
        1,
        0x1230,
        107000,
        "argument 1 of 1: 0x1230 is not a device address; copy the data to memory from aclrtMalloc"
        " and pass its address",
    ),
}


@pytest.mark.parametrize(("blocks", "address", "code", "why"), REFUSED.values(), ids=REFUSED)
def test_refused_launch_is_reported_by_the_next_synchronise(
    refusals, device, stream, blocks, address, code, why
):
    good = device.upload(numpy.zeros(ROOM, numpy.int64))
    out = ctypes.c_void_p(address or good.value)
    refusals.launch_touch(stream, ctypes.c_int64(blocks), out)
    sentence = f"hostcann: aclrtSynchronizeStream: launch of kernel 'touch' was refused: {why}"
    assert device.synchronize(stream) == (code, sentence)
    # Refused, not broken: the stream still takes a good launch.
    refusals.launch_touch(stream, ctypes.c_int64(2), good)
    assert device.synchronize(stream) == (0, "")
    assert device.download(good, numpy.int64, 3).tolist() == [1, 1, 0]


def test_dynamic_unified_buffer_is_refused(refusals, device, stream):
    refusals.launch_with_ubuf(stream)
    assert device.synchronize(stream) == (
        107000,
        "hostcann: aclrtSynchronizeStream: launch of kernel 'nothing' was refused: second launch"
        " value: expected nullptr or 0, got another value; hostcann does not implement dynamic"
        " Unified Buffer memory",
    )


@pytest.fixture(scope="module")
def refusals(build_library):
    return build_library(HERE / "refusals.asc", "-O0")
