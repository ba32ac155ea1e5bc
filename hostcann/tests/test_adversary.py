# SPDX-License-Identifier: Apache-2.0
"""Planted races under the real torch_npu: the adversarial mode finds each, and lets its twin pass.

A wrapper copies x to y behind torch_npu's back, as one that launches a kernel would.
"""

import json
import os
import subprocess
import sys

import pytest

SEEDS = 500
PROGRAM = """
import ctypes, json, sys
import torch, torch_npu

acl = ctypes.CDLL(sys.argv[1])
acl.aclGetRecentErrMsg.restype = ctypes.c_char_p
SIZE = ctypes.c_size_t(4096)
ON_DEVICE = 3
x = torch.zeros(1024).to("npu:0")
y = torch.zeros(1024).to("npu:0")
# The handle without a wait for torch_npu's queue, which is what NPUStream::stream(false) gives.
raw = torch.npu.current_stream().npu_stream


def copy(to, source, stream):
    code = acl.aclrtMemcpyAsync(
        ctypes.c_void_p(to), SIZE, ctypes.c_void_p(source), SIZE, ON_DEVICE, ctypes.c_void_p(stream)
    )
    assert code == 0, acl.aclGetRecentErrMsg()


def on_stream_false():
    copy(y.data_ptr(), x.data_ptr(), raw)


def on_default_stream():
    torch.npu.current_stream().npu_stream
    copy(y.data_ptr(), x.data_ptr(), None)


def on_current_stream():
    copy(y.data_ptr(), x.data_ptr(), torch.npu.current_stream().npu_stream)


def through_a_buffer(synchronize):
    buffer = ctypes.c_void_p()
    assert acl.aclrtMalloc(ctypes.byref(buffer), SIZE, 0) == 0
    stream = torch.npu.current_stream().npu_stream
    copy(buffer.value, x.data_ptr(), stream)
    copy(y.data_ptr(), buffer.value, stream)
    if synchronize:
        torch.npu.synchronize()
    assert acl.aclrtFree(buffer) == 0


def right(wrapper, seed):
    assert acl.hostcann_set_seed(ctypes.c_uint64(seed)) == 0
    x.fill_(seed)
    x.add_(1)
    y.zero_()
    wrapper()
    torch.npu.synchronize()
    return bool((y.cpu() == seed + 1).all())


def wrong_seeds(wrapper):
    return sum(not right(wrapper, seed) for seed in range(SEEDS))


wrappers = (on_stream_false, on_default_stream, on_current_stream)
found = {wrapper.__name__: wrong_seeds(wrapper) for wrapper in wrappers}
found["free_after_synchronize"] = wrong_seeds(lambda: through_a_buffer(True))
# Last: its fault stops the stream.
try:
    found["free_early"] = wrong_seeds(lambda: through_a_buffer(False))
except RuntimeError as error:
    found["free_early"] = str(error)
print(json.dumps(found), flush=True)
# torch_npu would warn of the stopped stream at exit.
import os
os._exit(0)
"""


@pytest.fixture(scope="module")
def found(prefix):
    program = PROGRAM.replace("SEEDS", str(SEEDS))
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program, prefix / "lib64" / "libascendcl.so"],
        env=os.environ | {"HOSTCANN_SEED": "0", "TASK_QUEUE_ENABLE": "1"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize("planted", ["on_stream_false", "on_default_stream"])
def test_a_wrapper_on_the_wrong_stream_is_caught(found, planted):
    assert found[planted] > SEEDS / 50


def test_memory_freed_before_its_last_use_is_caught_with_a_sentence(found):
    assert "cannot run: argument 'src': address" in found["free_early"] or (
        "cannot run: argument 'dst': address" in found["free_early"]
    )
    assert "already freed; keep the memory until its last use" in found["free_early"]


@pytest.mark.parametrize("twin", ["on_current_stream", "free_after_synchronize"])
def test_the_correct_twin_passes_every_seed(found, twin):
    assert found[twin] == 0
