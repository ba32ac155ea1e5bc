# SPDX-License-Identifier: Apache-2.0
"""What a kernel asks of its core and of the other blocks, and what it says."""

import ctypes
from pathlib import Path

import numpy
import pytest

HERE = Path(__file__).parent
ROOM = 1024
UB = 192 * 1024 - 256


@pytest.fixture(scope="module")
def calls(build_library):
    return build_library(HERE / "core_calls.asc", "-O0")


@pytest.fixture
def run(calls, device, stream):
    def call(kernel, blocks=1, given=None, dtype=numpy.int32):
        given = numpy.arange(ROOM, dtype=dtype) if given is None else given
        gm, out = device.upload(given), device.upload(numpy.full(ROOM, -1, dtype))
        getattr(calls, f"launch_{kernel}")(stream, blocks, gm, out)
        assert device.synchronize(stream) == (0, "")
        return device.download(out, dtype, ROOM)

    return call


pytestmark = pytest.mark.usefixtures("checks")


def test_core(run):
    expected = [0, 1, 1, 1, UB, UB, 256, 32, 3, 1, 2, 4, 1]
    assert run("the_core", 3)[:13].tolist() == expected


def test_what_tensors_carry(run):
    nz = 1
    assert run("what_tensors_carry")[:8].tolist() == [2, 16, nz, 7, 128, 32, 2, 15]


def test_events_and_what_is_left(run):
    assert run("events_and_what_is_left")[:6].tolist() == [0, 1, 0, 0, 1, (UB - 64) // 4]


@pytest.mark.parametrize("blocks", [1, 5])
def test_chain_of_blocks(run, blocks):
    wanted, value = [], 5
    for block in range(blocks):
        value = 2 * value + block if block else 10
        wanted.append(value)
    got = run("chain_of_blocks", blocks, numpy.zeros(8192, numpy.int32))
    assert got[: blocks + 1].tolist() == [*wanted, -1]


def test_groups_of_blocks(run):
    got = run("groups_of_blocks", 6, numpy.zeros(8192, numpy.int32))
    assert got[:7].tolist() == [9, 18, 9, 18, 9, 18, -1]


@pytest.mark.parametrize("blocks", [1, 6])
def test_flags_across_cores(run, blocks):
    total = blocks * (blocks + 1) // 2
    assert run("flags_across_cores", blocks)[: blocks + 1].tolist() == [total] * blocks + [-1]


def test_atomics(run):
    got = run("atomics", 4)
    offered = [8 * block - 12 for block in range(4)]
    assert got[:8].tolist() == [max(offered)] * 8
    assert got[8:16].tolist() == [min(offered)] * 8
    assert got[16:48].reshape(4, 8).tolist() == [[number] * 8 for number in offered]


def test_filled(run):
    got = run("filled").tolist()
    assert got[:16] == [-1] * 3 + [8] * 5 + [-1] * 2 + [9] * 4 + [-1] * 2
    assert got[16:32] == [3 + 4 * i for i in range(16)]
    assert got[32:40] == [1, 2, 3] + [77] * 5
    # Rows 0 and 2 of [3, 64], columns 8 to 23.
    assert got[40:73] == [*range(8, 24), *range(136, 152), -1]


def test_older_names(run):
    got = run("older_names", dtype=numpy.float32)
    assert got[:16].tolist() == list(range(7, 128, 8))
    assert got[16:32].tolist() == list(range(0, 128, 8))
    assert got[[32, 34]].tolist() == [0, 64]
    assert got[[33, 35]].view(numpy.int32).tolist() == [0, 0]
    assert got[64:128].tolist() == [4 * i + 1 for i in range(64)]
    below_60 = (2**60 - 1).to_bytes(16, "little")
    assert got[128:132].tobytes() == below_60
    assert got[136:140].tobytes() == below_60


def test_what_the_last_call_left(run):
    got = run("what_the_last_call_left", dtype=numpy.float32)
    assert got[:4].tolist() == [64, 64 * 63 / 2, 127, 63]
    # The second run's 32 numbers are higher than the first's, and then it is exhausted.
    assert got[4:7].tolist() == [0, 32, 3.5]


def test_said(run, capfd):
    run("said")
    said = capfd.readouterr()
    assert said.out.splitlines() == [
        "DumpTensor: desc=5, block=0, data_type=int32_t, position=UB, dump_size=10",
        "0 1 2 3 4 5 6 7",
        "8 9",
        "DumpTensor: desc=6, block=0, data_type=int32_t, position=GM, dump_size=8",
        "0 1 2 3 4 5",
        "6 7 - - - -",
        "number 3",
        "behaviour",
    ]
    assert "KERNEL_ERROR: word here" in said.err


@pytest.mark.parametrize(
    ("kernel", "sentence"),
    [
        ("asserted", "assert: expected GetBlockNum() > 1: one block of 7"),
        ("asserted_shortly", "assert: expected GetBlockNum() > 1"),
        ("trapped", "Trap: the kernel asked to stop"),
    ],
)
def test_stopped(calls, device, stream, kernel, sentence):
    gm = device.upload(numpy.zeros(8, numpy.int32))
    getattr(calls, f"launch_{kernel}")(stream, 1, gm, gm)
    code, said = device.synchronize(stream)
    assert code == 507035
    assert said.endswith(sentence)


def test_host_answers(calls):
    answers = (ctypes.c_uint32 * 6)()
    calls.host_answers(answers)
    assert list(answers) == [1, 27, 3, 5, 32, 30]


def test_half_numbers_of_the_host(device):
    to_float, to_half = device.acl.aclFloat16ToFloat, device.acl.aclFloatToFloat16
    to_float.argtypes, to_float.restype = [ctypes.c_uint16], ctypes.c_float
    to_half.argtypes, to_half.restype = [ctypes.c_float], ctypes.c_uint16
    halves = numpy.arange(0, 65536, 7, dtype=numpy.uint16)
    got = numpy.array([to_float(int(bits)) for bits in halves], numpy.float32)
    assert numpy.array_equal(got, halves.view(numpy.float16).astype(numpy.float32), equal_nan=True)
    floats = numpy.random.default_rng(0).standard_normal(3000).astype(numpy.float32) * 3e4
    floats = [*floats, 1.00048828125, 1.00146484375, 6e-8, 65519.0, 65520.0, -0.0]
    with numpy.errstate(over="ignore"):
        wanted = numpy.array(floats, numpy.float32).astype(numpy.float16).view(numpy.uint16)
    assert [to_half(number) for number in floats] == wanted.tolist()
