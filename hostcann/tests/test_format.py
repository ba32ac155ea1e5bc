# SPDX-License-Identifier: Apache-2.0
"""Casts between storage formats, by both interfaces: every element is where the format has it."""

import ctypes

import pytest
import torch
import torch_npu  # noqa: F401

ND, NC1HWC0, FRACTAL_Z, NZ, NDC1HWC0, FRACTAL_Z_3D = 2, 3, 4, 29, 32, 33
BAD_ARGUMENT = 161002
ROWS = 16
TYPES = {
    torch.float16: 1,
    torch.bfloat16: 27,
    torch.float32: 0,
    torch.int8: 2,
    torch.int64: 9,
    torch.bool: 12,
}
MATRICES = ((16, 16), (33, 17), (1, 1), (2, 7, 40), (2, 3, 5, 7), (3, 0))
IMAGES = ((1, 16, 2, 2), (3, 17, 2, 5), (18, 3, 3, 3))
VOLUMES = ((2, 17, 2, 3, 4), (17, 1, 1, 1, 1))


def padded(x, dim, block):
    """Dimension dim, as blocks and their content."""
    shape = list(x.shape)
    shape[dim] = -(-shape[dim] // block) * block
    full = torch.zeros(shape, dtype=x.dtype)
    full[tuple(slice(size) for size in x.shape)] = x
    return (
        full.unflatten(dim, (-1, block))
        if full.numel()
        else full.view(*shape[:dim], shape[dim] // block, block, *shape[dim + 1 :])
    )


def stored(x, format_, block):
    """The storage of x in a format, made of torch's own operations on the CPU."""
    if format_ == NZ:
        blocks = padded(padded(x, x.dim() - 1, block), x.dim() - 2, ROWS)
        return blocks.movedim(-2, -4).contiguous()
    if format_ in (NC1HWC0, NDC1HWC0):
        blocks = padded(x, 1, block)
        order = (0, 1, 3, 4, 2) if format_ == NC1HWC0 else (0, 3, 1, 4, 5, 2)
        return blocks.permute(order).contiguous()
    blocks = padded(padded(x, 1, block), 0, ROWS)
    order = (2, 4, 5, 0, 1, 3) if format_ == FRACTAL_Z else (4, 2, 5, 6, 0, 1, 3)
    moved = blocks.permute(order)
    return moved.reshape(-1, *moved.shape[-3:]).contiguous()


CASES = [
    (format_, shape, dtype)
    for format_, shapes in {
        NZ: MATRICES,
        NC1HWC0: IMAGES,
        FRACTAL_Z: IMAGES,
        NDC1HWC0: VOLUMES,
        FRACTAL_Z_3D: VOLUMES,
    }.items()
    for shape in shapes
    for dtype in TYPES
    if format_ == NZ or dtype in (torch.float16, torch.float32)
]


@pytest.fixture(scope="module")
def library(prefix):
    torch.ones(1).to("npu:0")
    opened = ctypes.CDLL(str(prefix / "lib64" / "libopapi.so"))
    for name in ("aclCreateTensor", "aclCreateTensorDesc", "aclCreateDataBuffer"):
        getattr(opened, name).restype = ctypes.c_void_p
    opened.aclGetRecentErrMsg.restype = ctypes.c_char_p
    return opened


def longs(values):
    return (ctypes.c_int64 * len(values))(*values)


def by_aclnn(library, source, target):
    """The code of a cast between (memory, dims, storage dims, format, type)."""
    made = []
    for memory, dims, storage, format_, type_ in (source, target):
        count, storage_count = ctypes.c_uint64(len(dims)), ctypes.c_uint64(len(storage))
        at = ctypes.c_void_p(memory.data_ptr())
        made.append(
            ctypes.c_void_p(
                library.aclCreateTensor(
                    longs(dims), count, type_, None, ctypes.c_int64(0), format_,
                    longs(storage), storage_count, at,
                )
            )
        )  # fmt: skip
    size, executor = ctypes.c_uint64(), ctypes.c_void_p()
    prepare = library.aclnnNpuFormatCastGetWorkspaceSize
    code = prepare(*made, ctypes.byref(size), ctypes.byref(executor))
    for one in made:
        library.aclDestroyTensor(one)
    return code or library.aclnnNpuFormatCast(None, size, executor, stream())


def by_aclop(library, source, target):
    descs, buffers = [], []
    for memory, dims, storage, format_, type_ in (source, target):
        desc = ctypes.c_void_p(library.aclCreateTensorDesc(type_, len(dims), longs(dims), ND))
        library.aclSetTensorFormat(desc, format_)
        library.aclSetTensorShape(desc, len(storage), longs(storage))
        descs.append(ctypes.pointer(desc))
        size = ctypes.c_size_t(memory.numel() * memory.element_size())
        at = ctypes.c_void_p(memory.data_ptr())
        buffers.append(ctypes.pointer(ctypes.c_void_p(library.aclCreateDataBuffer(at, size))))
    code = library.aclopCompileAndExecute(
        b"Identity", 1, descs[0], buffers[0], 1, descs[1], buffers[1], None, 0, 0, None, stream()
    )
    for desc, buffer in zip(descs, buffers, strict=True):
        library.aclDestroyTensorDesc(desc.contents)
        library.aclDestroyDataBuffer(buffer.contents)
    return code


def stream():
    return ctypes.c_void_p(torch.npu.current_stream().npu_stream)


INTERFACES = {"aclnn": by_aclnn, "aclop": by_aclop}


@pytest.mark.parametrize("cast", INTERFACES.values(), ids=INTERFACES)
@pytest.mark.parametrize(
    ("format_", "shape", "dtype"), CASES, ids=["-".join(map(str, case)) for case in CASES]
)
def test_every_element_has_its_place(library, cast, format_, shape, dtype):
    count = torch.Size(shape).numel()
    x = (torch.arange(count) % 100 + 1).to(dtype).view(shape)
    block = 32 if x.element_size() == 1 else 16
    expected = stored(x, format_, block)
    dense, there = x.to("npu:0"), torch.ones_like(expected).to("npu:0")
    back = torch.zeros_like(x).to("npu:0")
    type_ = TYPES[dtype]
    inside = (there, shape, expected.shape, format_, type_)
    assert cast(library, (dense, shape, shape, ND, type_), inside) == 0
    assert cast(library, inside, (back, shape, shape, ND, type_)) == 0
    torch.npu.synchronize()
    assert there.cpu().equal(expected)
    assert back.cpu().equal(x)


REFUSALS = {
    "unknown-format": ({"format": 35000}, "target: expected a base format, FRACTAL_NZ (29), "),
    "storage-too-small": (
        {"storage": (1, 1, 16, 16)},
        "target: expected storage of format 29 for shape [33, 17], got storage of shape"
        " [1, 1, 16, 16]",
    ),
    "other-dims": ({"dims": (33, 16)}, "expected the same type and number of elements on both"),
    "other-type": ({"type": 0}, "expected the same type and number of elements on both sides"),
}


@pytest.mark.parametrize("cast", INTERFACES.values(), ids=INTERFACES)
@pytest.mark.parametrize(("change", "sentence"), REFUSALS.values(), ids=REFUSALS)
def test_a_bad_cast_is_refused(library, cast, change, sentence):
    x, there = torch.ones(33, 17).half().to("npu:0"), torch.ones(4096).to("npu:0")
    side = {"dims": (33, 17), "storage": (2, 3, 16, 16), "format": NZ, "type": 1} | change
    target = (there, side["dims"], side["storage"], side["format"], side["type"])
    assert cast(library, (x, (33, 17), (33, 17), ND, 1), target) != 0
    assert sentence in library.aclGetRecentErrMsg().decode()
    torch.npu.synchronize()
    assert there.cpu().eq(1).all()


@pytest.mark.parametrize(
    ("dims", "source", "format_", "type_", "expected"),
    [
        pytest.param((33, 17), ND, NZ, 1, (2, 3, 16, 16), id="nz-of-half"),
        pytest.param((5, 33, 17), ND, NZ, 2, (5, 1, 3, 16, 32), id="nz-of-int8"),
        pytest.param((33, 17), ND, NZ, 0, (3, 3, 16, 8), id="nz-of-float"),
        pytest.param((33, 17), NZ, ND, 1, (33, 17), id="back"),
        pytest.param((33,), ND, NZ, 1, None, id="a-vector"),
        pytest.param((2, 3, 4, 5), 0, NZ, 1, None, id="images"),
        pytest.param((2, 3, 4, 5), ND, NC1HWC0, 1, None, id="another-format"),
    ],
)
def test_the_size_of_a_cast(library, dims, source, format_, type_, expected):
    memory = torch.zeros(4096).to("npu:0")
    count = ctypes.c_uint64(len(dims))
    tensor = ctypes.c_void_p(
        library.aclCreateTensor(
            longs(dims), count, type_, None, ctypes.c_int64(0), source, longs(dims), count,
            ctypes.c_void_p(memory.data_ptr()),
        )
    )  # fmt: skip
    shape = ctypes.POINTER(ctypes.c_int64)()
    rank, found = ctypes.c_uint64(), ctypes.c_int(-1)
    code = library.aclnnNpuFormatCastCalculateSizeAndFormat(
        tensor, format_, type_, ctypes.byref(shape), ctypes.byref(rank), ctypes.byref(found)
    )
    library.aclDestroyTensor(tensor)
    if expected is None:
        assert code == BAD_ARGUMENT
        assert "expected a cast of two or more dimensions" in library.aclGetRecentErrMsg().decode()
    else:
        assert (code, found.value, tuple(shape[: rank.value])) == (0, format_, expected)
