# SPDX-License-Identifier: Apache-2.0
"""What a call starts on the device, and how much of it the kernel takes: figures of the contract.

The result is the same with half the blocks or one buffer, so the rows of the matrix cannot tell.
"""

import json
import os
from pathlib import Path

import pytest

from .conftest import Run

HOSTCANN = Path(os.environ["ASCEND_HOME_PATH"], "hostcann-version")
pytestmark = pytest.mark.skipif(not HOSTCANN.is_file(), reason="hostcann's trace and checks")

CALLS = {
    "pybind": "from ascendc_ops import ascendc_add as call",
    "lib": "import ascendc_ops_lib; call = torch.ops.ascendc_ops.ascendc_add",
}

# Calls the C entry of the kernels library: `add(elements)` on one block, then waits.
ENTRY = """
import ctypes, pathlib, torch, torch_npu, ascendc_ops
library = ctypes.CDLL(pathlib.Path(ascendc_ops.__file__).with_name("libascendc_kernels.so"))
u32, pointer = ctypes.c_uint32, ctypes.c_void_p
library.add_custom_impl.argtypes = [u32, pointer, pointer, pointer, pointer, u32]

def add(elements):
    x = torch.arange(elements, dtype=torch.float32).to("npu:0")
    z = torch.empty_like(x)
    stream = torch.npu.current_stream()
    stream.synchronize()
    addresses = (x.data_ptr(), x.data_ptr(), z.data_ptr())
    library.add_custom_impl(1, stream.npu_stream, *addresses, elements)
    stream.synchronize()
    assert z.cpu().equal(x.cpu() * 2)
"""


@pytest.mark.parametrize("variant", CALLS)
def test_a_call_is_one_kernel_on_eight_blocks(
    variant: str, run_python: Run, tmp_path: Path
) -> None:
    trace = tmp_path / "trace.json"
    result = run_python(
        f"import torch, torch_npu\n{CALLS[variant]}\n"
        "x = torch.ones(8, 2048).to('npu:0')\n"
        "torch.npu.synchronize()\n"
        "print('before', flush=True)\n"
        "z = call(x, x)\n"
        "torch.npu.synchronize()\n",
        HOSTCANN_TRACE=str(trace),
    )
    assert result.returncode == 0, result.stderr
    work = [
        (event["name"], event["args"])
        for event in json.loads(trace.read_text())
        if event["ph"] == "X" and not event["name"].startswith("copy host to device")
    ]
    assert work == [("add_custom", {"blocks": 8})]


# Of its 192 KiB the Unified Buffer has 196352 bytes for a kernel: six tiles of 8176 floats, in
# blocks of 32 bytes. A block's share is eight tiles, and the smallest tile is one such block.
LARGEST = 8 * 8176


def test_the_kernel_fills_the_unified_buffer_and_no_more(run_python: Run) -> None:
    result = run_python(
        f"{ENTRY}\n"
        "add(8 * 8)\n"
        f"add({LARGEST})\n"
        "try:\n"
        f"    add({LARGEST} + 8 * 8)\n"
        "except RuntimeError as error:\n"
        "    print(error)\n"
    )
    assert result.returncode == 0, result.stderr
    assert "expected all buffers to fit the 196352 bytes of the Unified Buffer" in result.stdout
