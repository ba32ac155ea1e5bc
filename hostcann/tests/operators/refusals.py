# SPDX-License-Identifier: Apache-2.0
"""What is refused for good, on an NPU too: a call, and what the error says.

A refusal is raised at the call and leaves the device as it was.
"""

import torch

from operators.row import Args

SMALL_INTS = (torch.uint8, torch.int8, torch.int16)


def integers(dtype):
    return Args(torch.tensor([0, 1, 2], dtype=dtype))


def packed(x):
    sequence = torch.nn.utils.rnn.pack_padded_sequence(x, [3, 2])
    return torch.nn.LSTM(4, 5).to(x.device)(sequence)


# id -> (call, arguments, what the error says)
REFUSALS = {
    # torch_npu asks for a result of the integer dtype, which the operator cannot give.
    **{
        f"{name}-{str(dtype).removeprefix('torch.')}": (
            getattr(torch, name),
            integers(dtype),
            f"aclnn{name.capitalize()}",
        )
        for name in ("exp", "erf", "erfc")
        for dtype in SMALL_INTS
    },
    "sort-stable-float64": (
        lambda x: x.sort(stable=True),
        Args(torch.tensor([2.0, 1.0], dtype=torch.float64)),
        "Input data type should not be float64",
    ),
    "mm-shapes": (torch.mm, Args(torch.ones(2, 3), torch.ones(2, 3)), ""),
    "matmul-shapes": (
        torch.matmul,
        Args(torch.ones(2, 3), torch.ones(2, 3)),
        "mat2: expected as many rows as self has columns, got shapes [2, 3] and [2, 3]",
    ),
    "baddbmm-shapes": (
        torch.baddbmm,
        Args(torch.ones(2, 3, 5), torch.ones(2, 3, 4), torch.ones(2, 3, 5)),
        "aclnnBaddbmm: mat2: expected as many rows as self has columns",
    ),
    "baddbmm-sum": (
        torch.baddbmm,
        Args(torch.ones(9), torch.ones(2, 3, 4), torch.ones(2, 4, 5)),
        "self: expected a shape that broadcasts to the output's, [2, 3, 5], got [9]",
    ),
    "cat-shapes": (
        lambda *tensors: torch.cat(tensors),
        Args(torch.ones(3, 2), torch.ones(3, 3)),
        "tensors: expected the output's shape but in dimension 0, [6, 2], got shape [3, 3]",
    ),
    "stack-shapes": (
        lambda *tensors: torch.stack(tensors),
        Args(torch.ones(3), torch.ones(2)),
        "aclnnStack: tensors: expected one shape, got [3] and [2]",
    ),
    **{
        f"{name}-dimension": (
            call,
            Args(torch.ones(3)),
            f"aclnn{name.capitalize()}: Dimension out of range",
        )
        for name, call in {
            "softmax": lambda x: x.softmax(1),
            "cumsum": lambda x: x.cumsum(1),
            "sort": lambda x: x.sort(1),
        }.items()
    },
    "topk-count": (
        lambda x: x.topk(4),
        Args(torch.ones(3)),
        "k: expected 0 to 3, the size of dimension -1, got 4",
    ),
    "gather-dimensions": (
        lambda x, index: x.gather(0, index),
        Args(torch.ones(3, 2), torch.tensor([0])),
        "aclnnGather: index: expected as many dimensions as self, 2, got shape [1]",
    ),
    "glu-odd": (
        torch.nn.functional.glu,
        Args(torch.ones(3, 5)),
        "aclnnGlu: self: expected an even size in dimension -1, got shape [3, 5]",
    ),
    "softshrink-lambda": (
        lambda x: torch.nn.functional.softshrink(x, -1.0),
        Args(torch.ones(3)),
        "aclnnSoftshrink: lambda: expected 0 or more, got -1",
    ),
    "celu-alpha": (
        lambda x: torch.nn.functional.celu(x, 0.0),
        Args(torch.ones(3)),
        "aclnnCelu: alpha: expected a number other than 0, got 0",
    ),
    "renorm-maxnorm": (
        lambda x: x.renorm(2, 0, -1.0),
        Args(torch.ones(3, 3)),
        "aclnnRenorm: maxnorm: expected 0 or more, got -1",
    ),
    "pow-integers": (
        lambda x: x**-1,
        Args(torch.tensor([3])),
        "aclnnPowTensorScalar: exponent: expected 0 or more for integers, got -1",
    ),
    "uniform-range": (
        lambda x: x.uniform_(3, 1),
        Args(torch.ones(3)),
        "aclnnInplaceUniform: from: expected at most to, 1, got 3",
    ),
    "bernoulli-probability": (
        lambda x: x.bernoulli_(1.5),
        Args(torch.ones(3)),
        "aclnnInplaceBernoulli: prob: expected 0 to 1, got 1.5",
    ),
    "multinomial-samples": (
        lambda x: x.multinomial(4),
        Args(torch.ones(3)),
        "aclnnMultinomial: numsamples: expected at most 3, the number of categories, got 4",
    ),
    "add-shapes": (torch.add, Args(torch.ones(3), torch.ones(4)), ""),
    # torch_npu makes the result as large as the first operand.
    "add_relu-shapes": (
        torch._VF._add_relu,
        Args(torch.ones(3, 1), torch.ones(1, 5)),
        "aclnnAddRelu: the output: expected shape [3, 5], got shape [3, 1]",
    ),
    "add_-integer": (
        torch.Tensor.add_,
        Args(torch.ones(3, dtype=torch.int64), torch.ones(3)),
        "result type Float can't be cast to the desired output type Long",
    ),
    "divide_-integer": (
        lambda x: x.divide_(15.9, rounding_mode="floor"),
        Args(torch.ones(3, dtype=torch.int32)),
        "result type Float can't be cast to the desired output type Int",
    ),
    "lerp_-shapes": (
        lambda x, y: x.lerp_(y, 1),
        Args(torch.ones(2, 1), torch.ones(2, 6)),
        "aclnnInplaceLerps: the output: expected shape [2, 6], got shape [2, 1]",
    ),
    "hardsigmoid-int64": (
        torch.nn.functional.hardsigmoid,
        Args(torch.tensor([-4, 0, 4])),
        "aclnnHardsigmoid: the output: expected a floating-point type, got Long",
    ),
    "conv_transpose3d-kernel": (
        torch.nn.functional.conv_transpose3d,
        Args(torch.ones(1, 1, 1, 1, 1), torch.ones(1, 1, 0, 1, 1)),
        "aclnnConvolution: weight: expected a kernel with elements, got shape [1, 1, 0, 1, 1]",
    ),
    "embedding_bag-offsets": (
        lambda table, *where: torch.embedding_bag(table, *where)[0],
        Args(torch.ones(3, 4), torch.tensor([0, 1]), torch.tensor([[0]])),
        "aclnnEmbeddingBag: offsets: expected 1 dimension, got shape [1, 1]",
    ),
    "embedding_bag-types": (
        lambda weights, table, indices: torch.nn.functional.embedding_bag(
            indices, table, per_sample_weights=weights, mode="sum"
        ),
        Args(torch.ones(2, 2).double(), torch.ones(3, 4), torch.tensor([[0, 1], [1, 2]])),
        "aclnnEmbeddingBag: per_sample_weights: expected the type of weight, Float, got Double",
    ),
    "lstm-packed": (
        packed,
        Args(torch.ones(3, 2, 4)),
        "aclnnLSTM: batch_sizes: expected none, got packed sequences",
    ),
    "two-devices": (lambda x: x + torch.ones(3), Args(torch.ones(3)), "Expected all tensors"),
}
