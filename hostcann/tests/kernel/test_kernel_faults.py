# SPDX-License-Identifier: Apache-2.0
"""Every mistake of a kernel that hostcann finds: one kernel each, and its sentence."""

from pathlib import Path

import numpy
import pytest

HERE = Path(__file__).parent

UB = 192 * 1024 - 256
LIVE = "to be live, got a LocalTensor used after FreeTensor or after its TPipe ended"
BUFFERS = (
    "expected a queue with buffers, got one that TPipe::InitBuffer was not called for or whose"
    " TPipe ended"
)

# kernel of faults.asc -> sentence
FAULTS = {
    "ub_too_small": f"InitBuffer: expected all buffers to fit the {UB} bytes of the Unified Buffer,"
    " got 196736 (2 x 98304 bytes after 128); use smaller tiles",
    "too_many_buffers": "InitBuffer: expected at most 64 buffers in a kernel, got 65",
    "no_buffer_wanted": "InitBuffer: expected num to be at least 1, got 0",
    "buffers_twice": "InitBuffer: expected a queue without buffers, got one that has them; call"
    " Reset before giving it others",
    "two_pipes": "TPipe: expected one TPipe at a time in a kernel, got a second; Destroy the first"
    " or pass it on",
    "destroyed_pipe": "TPipe: expected the TPipe of this kernel, got one that was destroyed or"
    " belongs to another block",
    "queue_without_buffers": f"AllocTensor: {BUFFERS}",
    "queue_after_reset": f"AllocTensor: {BUFFERS}",
    "no_free_buffer": "AllocTensor: expected a free buffer in VECOUT queue 2, got all 1 in use; the"
    " hardware would wait for ever, FreeTensor one first",
    "nine_tensors": "AllocTensor: expected at most 8 tensors of VECIN queues allocated at once, got"
    " one more; FreeTensor earlier or merge queues",
    "queue_too_deep": "EnQue: expected at most 1 tensor(s) waiting in VECIN queue 1, its depth, got"
    " one more; DeQue first or raise the depth",
    "enqueued_twice": "EnQue: expected a tensor that is not enqueued yet, got one that already"
    " waits in VECIN queue 1",
    "enqueued_elsewhere": "EnQue: expected a tensor of VECOUT queue 2, got one of VECIN queue 1",
    "dequeued_from_empty": "DeQue: expected a tensor in VECIN queue 1, got an empty queue; the"
    " hardware would wait for ever, EnQue first",
    "freed_elsewhere": "FreeTensor: expected a tensor of VECOUT queue 2, got one of VECIN queue 1",
    "freed_scratch": "FreeTensor: expected a tensor of VECIN queue 1, got one of a TBuf",
    "freed_twice": f"FreeTensor: expected the tensor {LIVE}",
    "freed_while_enqueued": "FreeTensor: expected a tensor taken out by DeQue, got one that still"
    " waits in VECIN queue 1",
    "never_freed": "end of kernel: expected every allocated tensor to be freed, got 2 still held,"
    " the first of VECIN queue 1; FreeTensor it",
    "scratch_without_memory": "Get: expected a TBuf with memory, got one that TPipe::InitBuffer was"
    " not called for or whose TPipe ended",
    "scratch_too_small": "Get: expected at most the 64 bytes of the TBuf, got 68 from byte 0 on",
    "scratch_offset_unaligned": "GetWithOffset: expected bufOffset to be a multiple of 32 bytes,"
    " got 16",
    "scratch_offset_too_large": "GetWithOffset: expected at most the 64 bytes of the TBuf, got 64"
    " from byte 32 on",
    "tensor_without_memory": "SetValue: expected the tensor to have memory, got a LocalTensor that"
    " AllocTensor, DeQue or Get never returned",
    "used_after_free": f"DataCopy: expected dst {LIVE}",
    "used_after_reset": f"GetValue: expected the tensor {LIVE}",
    "local_index_too_large": "operator(): expected an index below 64, got 64",
    "local_offset_too_large": "operator[]: expected an offset of at most 64 elements, got 65",
    "local_size_too_large": "SetSize: expected at most 64 elements, which its buffer holds, got 65",
    "global_index_too_large": "SetValue: expected the tensor (GlobalTensor) to hold at least 4"
    " bytes from here, got 0",
    "copy_of_part_blocks": "DataCopy: expected count x element size to be a multiple of 32 bytes,"
    " got 61 x 4 = 244; the hardware would copy only 224 bytes, use DataCopyPad",
    "copy_out_of_part_blocks": "DataCopy: expected count x element size to be a multiple of 32"
    " bytes, got 1 x 4 = 4; the hardware would copy only 0 bytes, use DataCopyPad",
    "copy_beyond_local": "DataCopy: expected dst (LocalTensor) to hold at least 288 bytes, got 256",
    "copy_from_beyond_local": "DataCopy: expected src (LocalTensor) to hold at least 160 bytes, got"
    " 128",
    "copy_beyond_global": "DataCopy: expected src (GlobalTensor) to hold at least 256 bytes from"
    " here, got 224",
    "copy_beyond_allocation": "DataCopy: expected 64 bytes of device memory from dst (GlobalTensor)"
    " on, got 32 before its allocation ends",
    "copy_from_null": "DataCopy: expected src (GlobalTensor) to have an address, got a null"
    " pointer",
    "copy_from_unset": "DataCopy: expected src (GlobalTensor) to have an address, got a null"
    " pointer",
    "copy_from_host": "DataCopy: expected src (GlobalTensor) to be in device memory, got 0x1230",
    "copy_to_unaligned_local": "DataCopy: expected dst to start at a multiple of 32 bytes in the"
    " Unified Buffer, got 16 bytes past one",
    "copy_from_unaligned_global": "DataCopy: expected src (GlobalTensor) to start at a multiple of"
    " its element's 4 bytes, got an address 2 past one",
    "copy_within_overlap": "DataCopy: expected dst and src to be disjoint, got ranges of the"
    " Unified Buffer that overlap",
    "strided_copy_beyond_local": "DataCopy: expected dst (LocalTensor) to hold at least 320 bytes,"
    " got 256",
    "strided_copy_of_many_blocks": "DataCopy: expected blockCount to be at most 4095, got 4096",
    "pad_of_part_elements": "DataCopyPad: expected blockLen to be a multiple of the element's 4"
    " bytes, got 6",
    "pad_too_long": "DataCopyPad: expected blockLen to be at most 2097151 bytes, got 2097152",
    "pad_of_many_blocks": "DataCopyPad: expected blockCount to be at most 4095, got 4096",
    "pad_too_wide": "DataCopyPad: expected leftPadding and rightPadding of at most 32 bytes each,"
    " got 36 and 0",
    "pad_with_wide_value": "DataCopyPad: expected paddingValue 0 for an element of 8 bytes, got"
    " another value",
    "pad_beyond_local": "DataCopyPad: expected dst (LocalTensor) to hold at least 288 bytes, got"
    " 256",
    "add_beyond_dst": "Add: expected dst (LocalTensor) to hold at least 256 bytes, got 224",
    "mul_beyond_src1": "Mul: expected src1 (LocalTensor) to hold at least 160 bytes, got 128",
    "sub_from_unaligned": "Sub: expected src0 to start at a multiple of 32 bytes in the Unified"
    " Buffer, got 2 bytes past one",
    "add_of_negative_count": "Add: expected count to be 0 or more, got -1",
    "add_partly_in_place": "Add: expected dst and src0 to be the same or disjoint, got them 32"
    " bytes apart in 64",
    "throws_exception": "expected device code to throw nothing, got an exception: out of luck",
    "throws_number": "expected device code to throw nothing, got an exception that is not a"
    " std::exception",
    "buffer_outside_its_pool": "InitBufHandle: expected a buffer within the pool that starts at a"
    " multiple of 32 bytes, got 32 bytes from 64 on",
    "buffer_beyond_its_number": "InitBufHandle: expected an index below the 1 of"
    " InitStartBufHandle, got 1",
    "handle_beyond_its_number": "GetBufHandle: expected a buffer below the 2 of"
    " EXTERN_IMPL_BUFPOOL, got 2",
    "pool_address_too_large": "SetCurAddr: expected an address up to the pool's end, 64, got 96",
    "pool_without_memory": "TBufPool: expected a pool with memory, got one that InitBufPool was not"
    " called for or whose TPipe ended",
    "pool_used_after_reset": f"AllocTensor: {BUFFERS}",
    "shared_pool_too_large": "InitBufPool: expected at most the 64 bytes of the shared pool, got"
    " 96",
    "list_with_wrong_offset": "ListTensorDesc: expected the pointers right behind the shapes, at"
    " byte 8, got an offset of 0",
    "list_index_too_large": "GetDataPtr: expected an index below the 0 tensors of the list, got 0",
}

VECTOR_CORE_EXCEPTION = 507035


@pytest.fixture(scope="module")
def faults(build_library):
    return build_library(HERE / "faults.asc", "-O0")


def test_correct_kernel(faults, device, stream):
    values = numpy.arange(256, dtype=numpy.float32)
    gm = device.upload(values)
    faults.launch_correct(stream, gm)
    assert device.synchronize(stream) == (0, "")
    result = device.download(gm, numpy.float32, 256)
    assert result.tolist() == [*values[:64], *(2 * values[:64]), *values[128:]]


def lines_of(source, kernel):
    """First and last line of a kernel, whose body ends at the next one's head."""
    lines = source.read_text().splitlines()
    first = lines.index(f"KERNEL({kernel}) {{")
    return first + 1, next(i for i in range(first, len(lines)) if lines[i] == "}") + 1


# Their sentences are about no call of the kernel.
WITHOUT_LINE = {"throws_exception", "throws_number"}


@pytest.mark.parametrize("kernel", FAULTS)
def test_fault(faults, device, stream, kernel, request):
    gm = device.upload(numpy.zeros(256, numpy.float32))
    getattr(faults, f"launch_{kernel}")(stream, gm)
    code, sentence = device.synchronize(stream)
    assert code == VECTOR_CORE_EXCEPTION
    prefix = f"hostcann: aclrtSynchronizeStream: kernel '{kernel}', block 0 of 1: "
    assert sentence.startswith(prefix)
    rest = sentence.removeprefix(prefix)
    if kernel not in WITHOUT_LINE:
        place, _, rest = rest.partition(": ")
        name, _, line = place.partition(":")
        assert name == "faults.asc"
        first, last = lines_of(request.path.with_name("faults.asc"), kernel)
        assert first <= int(line) <= last
    assert rest == FAULTS[kernel]


def test_every_kernel_of_the_source_is_tested(request):
    source = request.path.with_name("faults.asc").read_text()
    kernels = {line[7:].split(")")[0] for line in source.splitlines() if line.startswith("KERNEL(")}
    assert kernels - {"correct"} == set(FAULTS)


def test_next_kernel_starts_clean_after_a_fault(faults, device):
    gm = device.upload(numpy.zeros(256, numpy.float32))
    for kernel, code in (("never_freed", VECTOR_CORE_EXCEPTION), ("correct", 0)):
        stream = device.new_stream()
        getattr(faults, f"launch_{kernel}")(stream, gm)
        assert device.synchronize(stream)[0] == code
        device.call("aclrtDestroyStreamForce", stream)
