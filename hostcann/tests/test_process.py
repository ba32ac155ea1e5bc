# SPDX-License-Identifier: Apache-2.0
"""What only a whole process shows: its environment, its end, its children."""

import os
import subprocess
import sys

import pytest
from hostcann_contract import symbols

PRELUDE = """
import ctypes, os, sys, threading
acl = ctypes.CDLL(sys.argv[1])
acl.aclGetRecentErrMsg.restype = ctypes.c_char_p
acl.aclrtGetSocName.restype = ctypes.c_char_p
HostFunction = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
def call(name, *arguments):
    code = getattr(acl, name)(*arguments)
    if code:
        print(code, acl.aclGetRecentErrMsg().decode())
    return code
"""


@pytest.fixture
def run(prefix):
    def run_program(program, arguments=(), **variables):
        library = prefix / "lib64" / "libascendcl.so"
        environment = {k: v for k, v in os.environ.items() if not k.startswith("HOSTCANN_")}
        return subprocess.run(
            [sys.executable, "-c", PRELUDE + program, library, *arguments],
            env=environment | variables,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    return run_program


COUNT = """
count = ctypes.c_uint32(99)
call("aclrtGetDeviceCount", ctypes.byref(count))
print(count.value, acl.aclrtGetSocName())
"""


def test_the_environment_chooses_devices_and_chip(run):
    assert run(COUNT).stdout == "2 b'Ascend910B1'\n"
    chosen = run(COUNT, HOSTCANN_DEVICE_COUNT="8", HOSTCANN_SOC="Ascend910_9362")
    assert chosen.stdout == "8 b'Ascend910_9362'\n"
    assert run(COUNT, ASCEND_RT_VISIBLE_DEVICES="1").stdout == "1 b'Ascend910B1'\n"


@pytest.mark.parametrize(
    ("variable", "value", "rule"),
    [
        ("HOSTCANN_DEVICE_COUNT", "0", "expected a whole number from 1 to 16, got '0'"),
        ("HOSTCANN_DEVICE_COUNT", "two", "expected a whole number from 1 to 16, got 'two'"),
        ("HOSTCANN_DEVICE_COUNT", "-1", "expected a whole number from 1 to 16, got '-1'"),
        ("HOSTCANN_DEVICE_MEMORY", "4T", "expected bytes from 1 MiB to 1024 GiB, optionally with"),
        ("HOSTCANN_DEVICE_MEMORY", "1K", "expected bytes from 1 MiB to 1024 GiB, optionally with"),
        ("HOSTCANN_SOC", "Ascend999", "expected one of Ascend910B1, Ascend910B2, "),
        ("HOSTCANN_LOG", "loud", "expected error, warn, info or trace, got 'loud'; unset it for"),
        ("HOSTCANN_LOG", "3", "expected error, warn, info or trace, got '3'; unset it for none"),
        ("HOSTCANN_SEED", "x", "expected a whole number from 0 to 18446744073709551615, got 'x'"),
        ("HOSTCANN_STREAM_DELAY_US", "1ms", "expected a whole number from 0 to 1000000, got '1ms'"),
        ("HOSTCANN_STREAM_DELAY_US", "9999999", "expected a whole number from 0 to 1000000, got"),
        ("HOSTCANN_FAULT", "aclrtMalloc", "expected entries like aclrtMalloc:3, separated by comm"),
        ("HOSTCANN_FAULT", "aclrtMalloc:0", "expected entries like aclrtMalloc:3, separated by co"),
        ("HOSTCANN_FAULT", "aclrtMalloc:1,", "expected entries like aclrtMalloc:3, separated by c"),
        ("HOSTCANN_FAULT", "aclrtMaloc:1", "expected entries like aclrtMalloc:3, separated by com"),
        ("HOSTCANN_TRACE", "/no-such/trace.json", "expected a file that can be written, got '/no"),
        ("HOSTCANN_TRACE", "/", "expected a file that can be written, got '/'; unset it for none"),
        ("HOSTCANN_TRACE", "", "expected a file that can be written, got ''; unset it for none"),
        (
            "ASCEND_RT_VISIBLE_DEVICES",
            "0,7",
            "expected device numbers from 0 to 1, ascending, with",
        ),
    ],
)
def test_a_variable_that_makes_no_sense_is_one_sentence(run, variable, value, rule):
    done = run(COUNT, **{variable: value})
    assert done.stdout.startswith("100000 hostcann: aclrtGetDeviceCount: ")
    assert f"environment variable {variable}: {rule}" in done.stdout
    assert done.stdout.endswith("0 None\n")
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith(f"hostcann: environment variable {variable}: {rule}")


def test_device_memory_is_as_large_as_asked(run):
    program = """
call("aclrtSetDevice", 0)
free, total = ctypes.c_size_t(), ctypes.c_size_t()
call("aclrtGetMemInfo", 1, ctypes.byref(free), ctypes.byref(total))
print(free.value, total.value)
address = ctypes.c_void_p()
print(call("aclrtMalloc", ctypes.byref(address), ctypes.c_size_t(65 << 20), 0), address.value)
"""
    done = run(program, HOSTCANN_DEVICE_MEMORY="64M")
    assert done.stdout.splitlines() == [
        "67108864 67108864",
        "207001 hostcann: aclrtMalloc: Failed to allocate 68157440 bytes on device 0: 67108864 of"
        " 67108864 bytes are free; free memory or set HOSTCANN_DEVICE_MEMORY to more",
        "207001 None",
    ]


def test_the_log_says_once_that_this_is_no_npu(run):
    quiet = run('call("aclInit", None)')
    loud = run('call("aclInit", None)', HOSTCANN_LOG="info")
    assert quiet.stderr == ""
    assert loud.stderr.count("\n") == 1
    assert "a stand-in for CANN 9.1.0 on the CPU; devices: 2, named Ascend910B1; no NPU is" in (
        loud.stderr
    )


REFUSED = """
call("aclInit", None)
call("aclrtSetDevice", 7)
call("aclrtGetDeviceCount", ctypes.byref(ctypes.c_uint32()))
"""


def test_the_log_shows_what_its_level_names(run):
    refusal = "hostcann: aclrtSetDevice: device: expected a number from 0 to 1, got 7 (107001)"
    assert run(REFUSED).stderr == ""
    assert run(REFUSED, HOSTCANN_LOG="error").stderr == refusal + "\n"
    assert run(REFUSED, HOSTCANN_LOG="warn").stderr == refusal + "\n"
    informed = run(REFUSED, HOSTCANN_LOG="info").stderr.splitlines()
    assert (len(informed), informed[1]) == (2, refusal)
    traced = run(REFUSED, HOSTCANN_LOG="trace").stderr.splitlines()
    assert [traced[0], *traced[2:]] == [
        "hostcann: aclInit",
        "hostcann: aclrtSetDevice",
        refusal,
        "hostcann: aclrtGetDeviceCount",
    ]


def test_a_planned_fault_is_one_call_and_leaves_nothing_unwritten(run):
    program = """
call("aclrtSetDevice", 0)
for _ in range(4):
    address = ctypes.c_void_p(1)
    code = call("aclrtMalloc", ctypes.byref(address), ctypes.c_size_t(64), 0)
    print(code, bool(address))
print(call("aclrtCreateStream", ctypes.byref(address)))
"""
    done = run(program, HOSTCANN_FAULT="aclrtMalloc:3,aclrtCreateStream:1")
    assert done.stdout.splitlines() == [
        "0 True",
        "0 True",
        "207001 hostcann: aclrtMalloc: Failed to allocate: call 3 fails because HOSTCANN_FAULT says"
        " so",
        "207001 False",
        "0 True",
        "507000 hostcann: aclrtCreateStream: call 1 fails because HOSTCANN_FAULT says so",
        "507000",
    ]


@pytest.mark.parametrize("planned", [(2, 3), (3, 2), (2, 2), (1, 2, 4)], ids=str)
def test_faults_of_one_function_count_the_same_calls(run, planned):
    program = """
call("aclrtSetDevice", 0)
for _ in range(5):
    print(call("aclrtMalloc", ctypes.byref(ctypes.c_void_p()), ctypes.c_size_t(64), 0))
"""
    fault = ",".join(f"aclrtMalloc:{each}" for each in planned)
    codes = [
        line for line in run(program, HOSTCANN_FAULT=fault).stdout.splitlines() if line.isdigit()
    ]
    assert codes == ["207001" if number in planned else "0" for number in range(1, 6)]


def test_a_launch_that_is_planned_to_fail_is_reported_by_the_next_synchronise(run):
    program = """
class Launch(ctypes.Structure):
    _fields_ = [("abi", ctypes.c_uint32), ("kernel", ctypes.c_char_p), ("blocks", ctypes.c_uint32)]
    _fields_ += [(name, ctypes.c_void_p) for name in ("closure", "run", "destroy")]
destroyed = []
Destroy = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
destroy = Destroy(lambda _: destroyed.append(1))
call("aclrtSetDevice", 0)
launch = Launch(1, b"probe", 1, None, None, ctypes.cast(destroy, ctypes.c_void_p))
print(acl.hostcann_launch(ctypes.byref(launch), None), destroyed)
call("aclrtSynchronizeDevice")
call("aclrtSynchronizeDevice")
"""
    assert run(program, HOSTCANN_FAULT="hostcann_launch:1").stdout.splitlines() == [
        "507000 [1]",
        "507000 hostcann: aclrtSynchronizeDevice: launch of kernel 'probe' was refused: this call"
        " fails because HOSTCANN_FAULT says so",
    ]


# Scratch memory for every argument: a function must not get further than its out-parameters.
REPORTS_NO_ERRORS = {
    "aclAppLog",
    "aclDestroyTensorDesc",
    "aclFloat16ToFloat",
    "aclFloatToFloat16",
    "aclGetDataBufferAddr",
    "aclGetDataBufferSizeV2",
    "aclGetRecentErrMsg",
    "aclGetTensorDescFormat",
    "aclGetTensorDescName",
    "aclGetTensorDescNumDims",
    "aclGetTensorDescType",
    "aclSetTensorDescName",
    "aclopDestroyAttr",
    "aclrtGetLastError",
    "aclrtPeekAtLastError",
    "hostcann_await",
    "hostcann_bytes_from",
    "hostcann_note_barrier",
    "hostcann_note_write",
    "hostcann_poll",
    "hostcann_refuse_call",
    "hostcann_refuse_launch",
    "hostcann_signal",
    "hostcann_translate",
    "hostcann_vector_cores",
    "MsprofGetHashId",
    "MsprofRegisterCallback",
    "MsprofReportAdditionalInfo",
    "MsprofReportApi",
    "MsprofReportCompactInfo",
    "MsprofSysCycleTime",
}
EVERY_FUNCTION = """
scratch = ctypes.create_string_buffer(1 << 16)
address = ctypes.c_void_p(ctypes.addressof(scratch) + 4096)
for name in sys.argv[2].split():
    function = getattr(acl, name)
    function.restype = ctypes.c_int64
    code = function(*[address] * 10)
    why = acl.aclGetRecentErrMsg() or b""
    if f"{name}: ".encode() not in why or b"because HOSTCANN_FAULT says so" not in why:
        print(name, code, why.decode())
print("end")
"""


def test_every_function_that_reports_errors_can_be_made_to(prefix, run):
    with (prefix / "lib64" / "libascendcl.so").open("rb") as file:
        # A launch checks its ABI first, and has a test of its own.
        able = sorted(symbols(file).exported - REPORTS_NO_ERRORS - {"hostcann_launch"})
    assert len(able) > 140
    planned = ",".join(f"{name}:1" for name in able)
    done = run(EVERY_FUNCTION, HOSTCANN_FAULT=planned, arguments=[" ".join(able)])
    assert (done.returncode, done.stdout) == (0, "end\n")
    for name in sorted(REPORTS_NO_ERRORS)[::10]:
        assert f"{name} reports no errors" in run(COUNT, HOSTCANN_FAULT=f"{name}:1").stdout


BLOCKED = """
import select
call("aclrtSetDevice", 0)
stream = ctypes.c_void_p()
call("aclrtCreateStream", ctypes.byref(stream))
reader, writer = os.pipe()
started = threading.Event()
@HostFunction
def never_returns(_):
    started.set()
    select.select([reader], [], [])
call("aclrtLaunchHostFunc", stream, never_returns, None)
started.wait()
"""


def test_a_process_ends_while_a_stream_is_busy(run):
    done = run(BLOCKED + "print('end')")
    assert (done.returncode, done.stdout) == (0, "end\n")


def test_a_process_ends_while_tasks_are_queued(run):
    done = run(
        BLOCKED
        + "for _ in range(100):\n    call('aclrtLaunchHostFunc', stream, never_returns, None)"
    )
    assert (done.returncode, done.stdout) == (0, "")


def test_a_forked_child_cannot_use_its_parents_device(run):
    done = run("""
call("aclrtSetDevice", 0)
address, host = ctypes.c_void_p(), ctypes.c_void_p()
call("aclrtMalloc", ctypes.byref(address), ctypes.c_size_t(64), 0)
call("hostcann_translate", address, ctypes.c_size_t(64), ctypes.byref(host), None, 0)
child = os.fork()
if child == 0:
    call("aclrtMemset", address, ctypes.c_size_t(64), 1, ctypes.c_size_t(64))
    sys.stdout.flush()
    ctypes.memset(host, 1, 64)
    os._exit(0)
print("child ended by signal", os.waitpid(child, 0)[1])
value = ctypes.c_char(b"?")
call("aclrtMemcpy", ctypes.byref(value), ctypes.c_size_t(1), address, ctypes.c_size_t(1), 2)
print(value.value)
""")
    assert done.stdout.splitlines() == [
        "507033 hostcann: aclrtMemset: this process was forked after its parent had used a device;"
        " start it with multiprocessing's 'spawn' method, or use no device before the fork",
        "child ended by signal 11",
        "b'\\x00'",
    ]


def test_a_fork_before_the_first_device_is_harmless(run):
    done = run("""
child = os.fork()
code = call("aclrtSetDevice", 0)
if child == 0:
    os._exit(code)
print(os.waitpid(child, 0)[1], code)
""")
    assert done.stdout == "0 0\n"


# Every order of the four ends that a program may bring about, each in a child of a process that has
# used no device itself.
ENDS = """
import itertools
ends = {
    "stream": lambda: acl.aclrtDestroyStream(stream),
    "memory": lambda: acl.aclrtFree(address),
    "device": lambda: acl.aclrtResetDevice(0),
    "runtime": lambda: acl.aclFinalize(),
}
statuses = set()
for count in range(len(ends) + 1):
    for order in itertools.permutations(ends, count):
        child = os.fork()
        if child == 0:
            stream, address = ctypes.c_void_p(), ctypes.c_void_p()
            acl.aclInit(None)
            acl.aclrtSetDevice(0)
            acl.aclrtCreateStream(ctypes.byref(stream))
            acl.aclrtMalloc(ctypes.byref(address), ctypes.c_size_t(64), 0)
            for _ in range(50):
                size = ctypes.c_size_t(64)
                assert acl.aclrtMemsetAsync(address, size, 1, size, stream) == 0
            for end in order:
                ends[end]()
            sys.exit(0)
        statuses.add(os.waitpid(child, 0)[1])
print(statuses)
"""


def test_a_process_ends_cleanly_in_every_order_of_ends(run):
    done = run(ENDS)
    assert (done.stdout, done.stderr) == ("{0}\n", "")


EARLY_FREE = """
class Launch(ctypes.Structure):
    _fields_ = [("abi", ctypes.c_uint32), ("kernel", ctypes.c_char_p), ("blocks", ctypes.c_uint32)]
    _fields_ += [(name, ctypes.c_void_p) for name in ("closure", "run", "destroy")]
call("aclrtSetDevice", 0)
address, host = ctypes.c_void_p(), ctypes.c_void_p()
call("aclrtMalloc", ctypes.byref(address), ctypes.c_size_t(64), 0)
call("hostcann_translate", address, ctypes.c_size_t(64), ctypes.byref(host), None, 0)
freed = threading.Event()
@ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_uint32, ctypes.c_uint32, ctypes.c_void_p)
def kernel(*_):
    freed.wait()
    ctypes.memset(host, 1, 64)
    return 0
launch = Launch(1, b"late", 1, None, ctypes.cast(kernel, ctypes.c_void_p), None)
call("hostcann_launch", ctypes.byref(launch), None)
call("aclrtFree", address)
freed.set()
call("aclrtSynchronizeDevice")
print("end")
"""


def test_a_kernel_that_uses_freed_memory_is_caught_in_the_adversarial_mode(run):
    caught = run(EARLY_FREE, HOSTCANN_SEED="1")
    assert caught.returncode == -11
    assert "was touched, which is 0 bytes into a freed allocation of 64 bytes on device 0" in (
        caught.stderr
    )
    assert "synchronise before the free" in caught.stderr
    missed = run(EARLY_FREE)
    assert (missed.returncode, missed.stdout) == (0, "end\n")


def test_the_seed_can_be_changed_only_in_the_adversarial_mode(run):
    program = 'print(call("hostcann_set_seed", ctypes.c_uint64(3)))'
    assert run(program, HOSTCANN_SEED="1").stdout == "0\n"
    assert "the adversarial mode is off; set HOSTCANN_SEED before" in run(program).stdout
