# SPDX-License-Identifier: Apache-2.0
"""Reading and writing parts of a tensor."""

import torch

from operators.inputs import SHAPES, layouts, tensors, values
from operators.row import ALL, FLOATS, MOVED, NUMBERS, Args, Row


def grid(dtype, seed=1):
    return layouts(values((4, 5), dtype, seed))


def index(*numbers, dtype=torch.int64):
    return torch.tensor(numbers, dtype=dtype)


def places(dtype):
    for tensor in grid(dtype):
        yield Args(tensor, index(0, 3, 3, -1))
        yield Args(tensor, index(2, 0, dtype=torch.int32))
        yield Args(tensor, index())
        yield Args(tensor, torch.tensor(2))
        yield Args(tensor, torch.tensor([[0, 1], [2, 3]]))


def place_pairs(dtype):
    for tensor in grid(dtype):
        yield Args(tensor, index(0, 3, 1), index(4, 0, 0))
        yield Args(tensor, index(0, 3)[:, None], index(4, 0, 0))


def masks(dtype):
    for tensor in tensors(dtype):
        shape = tensor.look(tensor.base).shape
        yield Args(tensor, values(shape, torch.bool, 2))
        yield Args(tensor, torch.zeros(shape, dtype=torch.bool))
        yield Args(tensor, torch.ones(shape, dtype=torch.bool))
    for mask in layouts(values((4, 5), torch.bool, 2)):
        yield Args(values((4, 5), dtype, 1), mask)


def row_masks(dtype):
    for tensor in grid(dtype):
        yield Args(tensor, torch.tensor([True, False, True, False]))


def broadcast_masks(dtype):
    for tensor in grid(dtype):
        yield Args(tensor, values((5,), torch.bool, 2))
        yield Args(tensor, values((4, 1), torch.bool, 2))


def basic(x):
    return [x[1], x[-1, 2], x[1:3], x[:, ::2], x[..., 1], x[None, 0], x[::3, 1:4], x[4:]]


def copied_basic(x):
    return [part.clone() for part in basic(x)]


def write_basic(x, source):
    x[1] = 1
    x[2, 3] = source[0, 0]
    x[:, ::2] = source[:, ::2]
    x[3:] = source[:1]
    x[..., 4] = 0
    return x


def write_places(x, where):
    x[where] = 1
    return x


def write_tensor_places(x, where, source):
    x[where] = source
    return x


def writes(dtype):
    for tensor in grid(dtype):
        yield Args(tensor, values((4, 5), dtype, 2))


def place_writes(dtype):
    for tensor in grid(dtype):
        yield Args(tensor, index(0, 3), values((2, 5), dtype, 2))
        yield Args(tensor, index(1, 2, 0), values((5,), dtype, 2))
        yield Args(tensor, index(-1), values((1, 5), dtype, 2))


def mask_writes(dtype):
    for tensor in grid(dtype):
        yield Args(tensor, values((4, 5), torch.bool, 2), values((1,), dtype, 3))
        yield Args(tensor, torch.tensor([True, False, True, False]), values((2, 5), dtype, 3))


def puts(dtype):
    for tensor in grid(dtype):
        for accumulate in (False, True):
            # Each place once when not accumulating: else the last write is nobody's promise.
            rows = index(0, 3, 1) if not accumulate else index(0, 0, 1)
            columns = index(4, 0, 2) if not accumulate else index(4, 4, 2)
            yield Args(tensor, (rows, columns), values((3,), dtype, 3), accumulate)


def selects(dtype):
    for tensor in grid(dtype):
        for dim in (0, 1, -1):
            yield Args(tensor, dim, index(0, 3, 3))
            yield Args(tensor, dim, index(2, dtype=torch.int32))
            yield Args(tensor, dim, index())
    yield Args(values((7,), dtype), 0, index(6, 0))


def gathers(dtype):
    for tensor in grid(dtype):
        yield Args(tensor, 0, torch.tensor([[0, 3, 1, 2, 0], [1, 1, 1, 1, 1]]))
        yield Args(tensor, 1, torch.tensor([[0], [4], [2], [1]]))
        yield Args(tensor, -1, torch.tensor([[0, 4, 2]]))
    yield Args(values((), dtype), 0, torch.tensor(0))
    yield Args(values((3, 4), dtype), 0, torch.empty(0, 4, dtype=torch.int64))


PERMUTED = torch.tensor([[0, 1, 2, 3, 0], [2, 3, 0, 1, 1]])


def scatters(dtype):
    for tensor in grid(dtype):
        yield Args(tensor, 0, PERMUTED, values((2, 5), dtype, 3))
        yield Args(tensor, 1, torch.tensor([[0, 4], [2, 1]]), values((4, 5), dtype, 3))


def scatters_number(dtype):
    for tensor in grid(dtype):
        yield Args(tensor, 0, PERMUTED, 1)


def scatter_adds(dtype):
    for tensor in grid(dtype):
        source = values((3, 5), torch.int64, 3, 0, 3).to(dtype)
        yield Args(tensor, 0, torch.tensor([[0, 1, 1, 3, 0], [0, 1, 0, 1, 1], [0] * 5]), source)


def index_writes(dtype):
    for tensor in grid(dtype):
        yield Args(tensor, 0, index(3, 1), values((2, 5), dtype, 3))
        yield Args(tensor, 1, index(4, 0), values((4, 2), dtype, 3))


def takes(dtype):
    for tensor in grid(dtype):
        yield Args(tensor, torch.tensor([[0, 19], [7, 7]]))


def dims_and_numbers(dtype):
    for tensor in grid(dtype):
        yield Args(tensor, 0, index(3, 1), 1)


def triples(dtype):
    for tensor in grid(dtype):
        yield Args(tensor, values((4, 5), torch.bool, 2), values((20,), dtype, 3))


def any_shape(dtype):
    yield from map(Args, tensors(dtype, SHAPES, low=0, high=2, writable=False))


def embeddings(dtype):
    for weight in grid(dtype):
        yield Args(torch.tensor([[0, 3, 3], [1, 2, 0]]), weight)
        yield Args(torch.tensor([2], dtype=torch.int32), weight)
        yield Args(torch.empty(0, dtype=torch.int64), weight)


def classes(dtype):
    yield Args(torch.tensor([[0, 3], [1, 2]], dtype=dtype), 5)


def as_taken(index):
    """torch's CPU kernels insist on int64, torch_npu's functions do not."""
    return index.long() if index.device.type == "cpu" else index


NARROW = {
    "put_": lambda x, index, source: x.put_(as_taken(index), source),
    "take": lambda x, index, _: x.take(as_taken(index)),
}


def narrow_places(dtype):
    index = torch.tensor([[3, 0], [7, 2]], dtype=torch.int32)
    for x in layouts(values((3, 5), dtype, 1)):
        yield Args(x, index, values((2, 2), dtype, 2))


ROWS = [
    Row("index-basic", basic, lambda d: map(Args, grid(d)), ALL),
    Row("index-basic-copied", copied_basic, lambda d: map(Args, grid(d)), ALL),
    Row("index-tensor", lambda x, where: x[where], places, MOVED, core=True),
    Row("index-column", lambda x, where: x[:, where], places, MOVED),
    Row("index-pair", lambda x, rows, columns: x[rows, columns], place_pairs, MOVED),
    Row("index-mask", lambda x, mask: x[mask], masks, MOVED, core=True),
    Row("index-row-mask", lambda x, mask: x[mask], row_masks, MOVED),
    Row("index-list", lambda x: x[[0, 2]], lambda d: map(Args, grid(d)), FLOATS),
    Row("setitem-basic", write_basic, writes, ALL, core=True),
    Row("setitem-index-number", write_places, places, MOVED),
    Row("setitem-mask-number", write_places, masks, MOVED),
    Row("setitem-index", write_tensor_places, place_writes, MOVED, core=True),
    Row("setitem-mask", write_tensor_places, mask_writes, MOVED),
    Row("index_put_", torch.Tensor.index_put_, puts, NUMBERS),
    Row("index_put", torch.index_put, puts, NUMBERS),
    Row("index_select", torch.index_select, selects, MOVED, out=True, core=True),
    Row("gather", torch.gather, gathers, MOVED, out=True, core=True),
    Row(
        "take_along_dim",
        lambda x: x.take_along_dim(x.argsort(1), 1),
        lambda d: [Args(values((4, 5), d, 1))],
        FLOATS,
    ),
    Row("scatter_", torch.Tensor.scatter_, scatters, MOVED, core=True),
    Row("scatter", torch.scatter, scatters, MOVED),
    Row("scatter_-number", torch.Tensor.scatter_, scatters_number, MOVED),
    Row("scatter_add_", torch.Tensor.scatter_add_, scatter_adds, NUMBERS),
    Row("scatter_add", torch.scatter_add, scatter_adds, NUMBERS),
    Row("index_add_", torch.Tensor.index_add_, index_writes, NUMBERS),
    Row("index_copy_", torch.Tensor.index_copy_, index_writes, MOVED),
    Row("index_fill_", torch.Tensor.index_fill_, dims_and_numbers, MOVED),
    Row("take", torch.take, takes, MOVED),
    Row("masked_select", torch.masked_select, masks, MOVED, core=True),
    Row("masked_select-broadcast", torch.masked_select, broadcast_masks, MOVED),
    Row("masked_fill", lambda x, mask: x.masked_fill(mask, 1), masks, MOVED, core=True),
    Row("masked_fill_", lambda x, mask: x.masked_fill_(mask, 1), broadcast_masks, MOVED),
    Row("masked_fill-tensor", lambda x, mask: x.masked_fill(mask, x[0, 0]), broadcast_masks, MOVED),
    Row("masked_scatter_", torch.Tensor.masked_scatter_, triples, MOVED),
    Row("nonzero", torch.nonzero, any_shape, ALL, core=True),
    Row("nonzero-tuple", lambda x: list(x.nonzero(as_tuple=True)), any_shape, FLOATS),
    Row("where-indices", lambda x: list(torch.where(x)), any_shape, (*FLOATS, torch.bool)),
    Row("embedding", torch.nn.functional.embedding, embeddings, FLOATS, core=True),
    Row("one_hot", torch.nn.functional.one_hot, classes, (torch.int64,)),
    *(
        Row(
            f"scatter_reduce-{how}{'' if include else '-alone'}",
            lambda x, index, source, how=how, include=include: x.scatter_reduce(
                0, index, source, how, include_self=include
            ),
            lambda d: [
                Args(
                    values((4, 3), d, 1),
                    torch.tensor([[0, 1, 3], [0, 2, 3], [0, 1, 3]]),
                    values((3, 3), d, 2),
                )
            ],
            (torch.float32, torch.int32),
        )
        for how in ("sum", "prod", "amax", "amin", "mean")
        for include in (True, False)
        if how != "mean" or include
    ),
    *(
        Row(
            f"embedding_bag-{mode}",
            lambda indices, weight, mode=mode: torch.nn.functional.embedding_bag(
                indices, weight, mode=mode
            ),
            lambda d: [Args(torch.tensor([[0, 3, 3], [1, 2, 0]]), values((4, 5), d))],
            (torch.float32,),
            ulp=1,
        )
        for mode in ("sum", "mean", "max")
    ),
    *(
        Row(f"{name}-int32", function, narrow_places, (torch.float32, torch.int64))
        for name, function in NARROW.items()
    ),
]
