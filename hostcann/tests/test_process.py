# SPDX-License-Identifier: Apache-2.0
"""What only a whole process shows: its environment, its end, its children."""

import os
import subprocess
import sys

import pytest

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
    def run_program(program, **variables):
        environment = {k: v for k, v in os.environ.items() if not k.startswith("HOSTCANN_")}
        return subprocess.run(
            [sys.executable, "-c", PRELUDE + program, prefix / "lib64" / "libascendcl.so"],
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
        ("HOSTCANN_LOG", "loud", "expected 0 (quiet) to 3 (everything), got 'loud'"),
        ("ASCEND_RT_VISIBLE_DEVICES", "0,7", "expected device numbers from 0 to 1 separated by"),
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
    loud = run('call("aclInit", None)', HOSTCANN_LOG="1")
    assert quiet.stderr == ""
    assert loud.stderr.count("\n") == 1
    assert "a stand-in for CANN 9.1.0 on the CPU; devices: 2, named Ascend910B1; no NPU is" in (
        loud.stderr
    )


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
