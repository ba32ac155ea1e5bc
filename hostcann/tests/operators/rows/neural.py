# SPDX-License-Identifier: Apache-2.0
"""Products, activations, normalisations and losses, and their gradients."""

import torch
from torch.nn import functional

from operators.inputs import layouts, tensors, values
from operators.row import FLOATS, HALVES, WIDE, Args, Row
from operators.rows.elementwise import LIBM

# A product's order of addition is the BLAS's choice, which looks at strides and alignment.
PRODUCT = 16
CHAIN = 16
FLOAT = (torch.float32,)
MATRICES = (
    ((3, 5), (5, 4)),
    ((1, 7), (7, 1)),
    ((0, 5), (5, 4)),
    ((3, 0), (0, 4)),
    ((33, 17), (17, 9)),
)
VECTORS = (((5,), (5,)), ((3, 5), (5,)), ((5,), (5, 4)))
BATCHES = (((2, 3, 5), (2, 5, 4)), ((1, 3, 5), (1, 5, 1)), ((0, 3, 5), (0, 5, 4)))
BROADCAST_BATCHES = (
    ((2, 3, 5), (5, 4)),
    ((3, 5), (2, 5, 4)),
    ((2, 1, 3, 5), (3, 5, 4)),
    ((2, 3, 5), (5,)),
)


def products(*pairs):
    def samples(dtype):
        for left, right in pairs:
            for x in layouts(values(left, dtype, 1, -1, 1)):
                for y in layouts(values(right, dtype, 2, -1, 1)):
                    yield Args(x, y)

    return samples


def in_two_types(product):
    """The second operand in float32. CANN computes in the wider type, the CPU has to be told to."""

    def call(x, y):
        if x.device.type == "cpu":
            return product(x.float(), y.float()).to(x.dtype)
        return product(x, y.float())

    return call


def sums_of_products(dtype):
    for left, right in MATRICES:
        for start in ((left[0], right[1]), (right[1],), (1, 1)):
            yield Args(
                values(start, dtype, 3, -1, 1),
                values(left, dtype, 1, -1, 1),
                values(right, dtype, 2, -1, 1),
            )


def sums_of_batches(dtype):
    for left, right in BATCHES:
        shape = (left[0], left[1], right[2])
        yield Args(*(values(s, dtype, n, -1, 1) for n, s in enumerate((shape, left, right))))


def layers(dtype):
    for shape in ((3, 5), (2, 3, 5), (5,), (0, 5)):
        for x in layouts(values(shape, dtype, 1, -1, 1)):
            yield Args(x, values((4, 5), dtype, 2, -1, 1))
            yield Args(x, values((4, 5), dtype, 2, -1, 1), values((4,), dtype, 3, -1, 1))


def one(dtype):
    yield from map(Args, tensors(dtype, writable=False, special=True))


def plain(dtype):
    yield from map(Args, tensors(dtype))


def along(dtype):
    for tensor in tensors(dtype, ((7,), (3, 5), (2, 3, 4), (3, 133), (2, 0, 3))):
        for dim in range(-1, tensor.look(tensor.base).dim() - 1):
            yield Args(tensor, dim)


def normal(dtype):
    for tensor in tensors(dtype, ((3, 8), (2, 3, 8), (5, 33))):
        size = tensor.look(tensor.base).shape[-1:]
        yield Args(tensor, size)
        yield Args(tensor, size, values(size, dtype, 2), values(size, dtype, 3))
        yield Args(tensor, size, values(size, dtype, 2), None, 1e-3)


def batches(dtype):
    for shape in ((4, 3), (2, 3, 5), (2, 3, 4, 5)):
        for x in layouts(values(shape, dtype, 1)):
            weights = [values((3,), dtype, n, 0.5, 2) for n in range(4)]
            yield Args(x, *weights, False)
            yield Args(x, *weights, True)


def groups(dtype):
    for x in layouts(values((2, 4, 3, 5), dtype, 1)):
        yield Args(x, 2, values((4,), dtype, 2), values((4,), dtype, 3))


def guesses(dtype):
    for x in layouts(values((4, 5), dtype, 1)):
        yield Args(x, torch.tensor([0, 4, 2, 2]))


def pairs(dtype):
    for x in layouts(values((4, 5), dtype, 1)):
        yield Args(x, values((4, 5), dtype, 2))


def chances(dtype):
    yield Args(values((4, 5), dtype, 1, 0.1, 0.9), values((4, 5), dtype, 2, 0, 1))


def distances(dtype):
    yield Args(values((2, 5, 3), dtype, 1), values((2, 4, 3), dtype, 2))


def definite(dtype):
    """Matrices that are symmetric and positive."""
    for shape in ((4, 4), (2, 3, 3)):
        x = values(shape, dtype, 1, -1, 1)
        yield Args(x @ x.transpose(-1, -2) + 3 * torch.eye(shape[-1], dtype=dtype))


def spoken(dtype):
    """Log probabilities, targets, and the lengths of both."""
    for lengths, targets in (((6, 5), (3, 2)), ((6, 6), (1, 3))):
        x = values((6, 2, 4), dtype, 1, -1, 1).log_softmax(-1)
        yield Args(x, torch.tensor([[1, 2, 1], [3, 1, 2]]), lengths, targets)


def images(dtype):
    for x in layouts(values((2, 3, 7, 8), dtype, 1, -1, 1)):
        yield Args(x)


def kernels(dtype):
    for x in layouts(values((2, 4, 7, 8), dtype, 1, -1, 1)):
        yield Args(x, values((6, 4, 3, 3), dtype, 2, -1, 1))
        yield Args(x, values((6, 4, 3, 3), dtype, 2, -1, 1), values((6,), dtype, 3), 2, 1)
        yield Args(x, values((6, 2, 3, 3), dtype, 2, -1, 1), None, 1, 1, 1, 2)


def keyed(function, **kwargs):
    return lambda *args: function(*args, **kwargs)


def of_input(loss):
    """The target of a loss has no gradient in torch_npu."""
    return lambda x, target: loss(x, target.detach())


def gradients(function):
    """The result and the gradient of every argument that can have one."""

    def call(*args):
        leaves = [
            arg.detach().requires_grad_()
            if isinstance(arg, torch.Tensor) and arg.is_floating_point()
            else arg
            for arg in args
        ]
        result = function(*leaves)
        # Weights that differ from place to place, or a wrong order would not show.
        steps = torch.linspace(-1, 1, result.numel(), dtype=torch.float64).reshape(result.shape)
        result.backward(steps.to(result.dtype).to(result.device))
        grads = [leaf.grad for leaf in leaves if isinstance(leaf, torch.Tensor) and leaf.is_leaf]
        return [result, *(grad for grad in grads if grad is not None)]

    return call


ACTIVATIONS = {
    "relu": (functional.relu, 0),
    "relu6": (functional.relu6, 0),
    "leaky_relu": (functional.leaky_relu, 0),
    "hardtanh": (functional.hardtanh, 0),
    "hardswish": (functional.hardswish, 1),
    "hardsigmoid": (functional.hardsigmoid, 1),
    "threshold": (lambda x: functional.threshold(x, 0.5, 2), 0),
    "gelu": (functional.gelu, LIBM),
    "silu": (functional.silu, LIBM),
    "mish": (functional.mish, LIBM),
    "elu": (functional.elu, LIBM),
    "selu": (functional.selu, LIBM),
    "celu": (functional.celu, LIBM),
    "softplus": (functional.softplus, LIBM),
    "logsigmoid": (functional.logsigmoid, LIBM),
    "sigmoid": (torch.sigmoid, LIBM),
    "tanh": (torch.tanh, LIBM),
}
DIFFERENTIABLE = {
    "exp": (torch.exp, LIBM),
    "abs": (torch.abs, 0),
    "neg": (torch.neg, 0),
    "square": (torch.square, 0),
    "pow-3": (lambda x: x**3, 0),
    "sum": (torch.sum, 0),
    "sum-dim": (lambda x: x.sum(-1), 0),
    "mean": (torch.mean, 0),
    "amax": (lambda x: x.amax(-1), 0),
    "max-dim": (lambda x: x.max(-1).values, 0),
    "cumsum": (lambda x: x.cumsum(-1), CHAIN),
    "t": (lambda x: x.transpose(0, -1), 0),
    "reshape": (lambda x: x.reshape(-1), 0),
    "slice": (lambda x: x[..., 1:3], 0),
    "index": (lambda x: x[torch.zeros(1, dtype=torch.int64, device=x.device)], 0),
    "mask": (lambda x: x * (x > 0), 0),
    "where": (lambda x: torch.where(x > 0, x, 2 * x), 0),
    "cat": (lambda x: torch.cat([x, 2 * x]), 0),
    "clamp": (lambda x: x.clamp(-1, 1), 0),
    "to-half": (lambda x: x.half().float(), 0),
    "norm": (torch.norm, CHAIN),
    "std": (torch.std, CHAIN),
    "softmax": (lambda x: x.softmax(-1), CHAIN),
    "log_softmax": (lambda x: x.log_softmax(-1), CHAIN),
}
LOSSES = {
    "mse_loss": functional.mse_loss,
    "l1_loss": functional.l1_loss,
    "smooth_l1_loss": functional.smooth_l1_loss,
    "huber_loss": functional.huber_loss,
    "bce_with_logits": functional.binary_cross_entropy_with_logits,
    "kl_div": keyed(functional.kl_div, reduction="batchmean"),
}


def two_operands(dtype):
    for x in layouts(values((3, 5), dtype, 1, 1, 3)):
        yield Args(x, values((3, 5), dtype, 2, 1, 3))
        yield Args(x, values((5,), dtype, 2, 1, 3))
        yield Args(x, values((3, 1), dtype, 2, 1, 3))


def solid(dtype):
    yield from map(Args, tensors(dtype, ((7,), (3, 5), (2, 3, 4))))


ROWS = [
    Row("mm", torch.mm, products(*MATRICES), FLOATS, out=True, ulp=PRODUCT, core=True),
    Row("matmul", torch.matmul, products(*MATRICES, *VECTORS), FLOATS, ulp=PRODUCT, core=True),
    Row("matmul-batch", torch.matmul, products(*BATCHES, *BROADCAST_BATCHES), FLOATS, ulp=PRODUCT),
    Row("bmm", torch.bmm, products(*BATCHES), FLOATS, out=True, ulp=PRODUCT),
    Row("mm-mixed", in_two_types(torch.mm), products(*MATRICES), HALVES, ulp=PRODUCT),
    Row("matmul-mixed", in_two_types(torch.matmul), products(*BATCHES), HALVES, ulp=PRODUCT),
    Row("bmm-mixed", in_two_types(torch.bmm), products(*BATCHES), HALVES, ulp=PRODUCT),
    Row("mv", torch.mv, products(((3, 5), (5,))), FLOATS, ulp=PRODUCT),
    Row("dot", torch.dot, products(((5,), (5,)), ((33,), (33,))), FLOATS, ulp=PRODUCT),
    Row("outer", torch.outer, products(((5,), (3,))), FLOATS),
    Row("addmm", torch.addmm, sums_of_products, FLOATS, ulp=PRODUCT),
    Row("addmm-scaled", keyed(torch.addmm, alpha=2, beta=0.5), sums_of_products, WIDE, ulp=PRODUCT),
    Row("addmm_", torch.Tensor.addmm_, lambda d: list(sums_of_products(d))[::3], WIDE, ulp=PRODUCT),
    Row("baddbmm", torch.baddbmm, sums_of_batches, FLOATS, ulp=PRODUCT),
    Row(
        "einsum",
        lambda x, y: torch.einsum("bij,bjk->bik", x, y),
        products(*BATCHES[:2]),
        WIDE,
        ulp=PRODUCT,
    ),
    Row("linear", functional.linear, layers, FLOATS, ulp=PRODUCT, core=True),
    *(
        Row(name, function, one, FLOATS, ulp=ulp, core=name == "gelu")
        for name, (function, ulp) in ACTIVATIONS.items()
        if not hasattr(torch, name) or name == "relu" or name in ("selu", "celu")
    ),
    Row("relu_", torch.relu_, plain, FLOATS),
    Row("relu-int", torch.relu, plain, (torch.int32, torch.int8)),
    Row("glu", functional.glu, lambda d: map(Args, tensors(d, ((4,), (3, 6)))), FLOATS, ulp=LIBM),
    Row("prelu", functional.prelu, lambda d: [Args(values((3, 5), d), values((1,), d, 2))], FLOATS),
    Row("softmax", torch.softmax, along, FLOATS, ulp=CHAIN, core=True),
    Row("log_softmax", torch.log_softmax, along, FLOATS, ulp=CHAIN),
    Row("softmax-dtype", keyed(torch.softmax, dtype=torch.float32), along, HALVES, ulp=CHAIN),
    Row("layer_norm", functional.layer_norm, normal, FLOATS, ulp=CHAIN, core=True),
    Row(
        "rms_norm",
        functional.rms_norm,
        lambda d: (Args(*s.args[:3]) for s in normal(d) if len(s.args) < 5),
        FLOATS,
        ulp=CHAIN,
    ),
    Row("batch_norm", functional.batch_norm, batches, (torch.float32,), ulp=CHAIN),
    Row("group_norm", functional.group_norm, groups, (torch.float32,), ulp=CHAIN),
    Row("cross_entropy", functional.cross_entropy, guesses, (torch.float32,), ulp=CHAIN),
    Row("nll_loss", functional.nll_loss, guesses, (torch.float32,), ulp=CHAIN),
    *(Row(name, function, pairs, (torch.float32,), ulp=CHAIN) for name, function in LOSSES.items()),
    Row(
        "binary_cross_entropy",
        functional.binary_cross_entropy,
        chances,
        (torch.float32,),
        ulp=CHAIN,
    ),
    Row("conv2d", functional.conv2d, kernels, (torch.float32,), ulp=CHAIN * 4),
    Row("max_pool2d", keyed(functional.max_pool2d, kernel_size=2), images, (torch.float32,)),
    Row(
        "avg_pool2d",
        keyed(functional.avg_pool2d, kernel_size=2),
        images,
        (torch.float32,),
        ulp=CHAIN,
    ),
    Row(
        "adaptive_avg_pool2d",
        keyed(functional.adaptive_avg_pool2d, output_size=1),
        images,
        (torch.float32,),
        ulp=CHAIN,
    ),
    Row(
        "upsample_nearest", keyed(functional.interpolate, scale_factor=2), images, (torch.float32,)
    ),
    # Gradients.
    *(
        Row(
            f"{name}-backward",
            gradients(function),
            solid,
            (torch.float32,),
            ulp=max(ulp * 4, CHAIN if ulp else 0),
        )
        for name, (function, ulp) in (ACTIVATIONS | DIFFERENTIABLE).items()
    ),
    *(
        Row(
            f"{name}-backward",
            gradients(getattr(torch, name)),
            two_operands,
            (torch.float32,),
            ulp=CHAIN,
        )
        for name in ("add", "sub", "mul", "div", "pow", "maximum", "minimum")
    ),
    *(
        Row(f"{name}-backward", gradients(of_input(function)), pairs, (torch.float32,), ulp=CHAIN)
        for name, function in LOSSES.items()
        if name != "kl_div"
    ),
    Row(
        "matmul-backward",
        gradients(torch.matmul),
        products(MATRICES[0], BATCHES[0]),
        WIDE,
        ulp=PRODUCT,
    ),
    Row("linear-backward", gradients(functional.linear), layers, WIDE, ulp=PRODUCT),
    Row(
        "layer_norm-backward",
        gradients(lambda x, w, b: functional.layer_norm(x, x.shape[-1:], w, b)),
        lambda d: [Args(values((3, 8), d, 1), values((8,), d, 2), values((8,), d, 3))],
        (torch.float32,),
        ulp=CHAIN * 4,
    ),
    Row(
        "embedding-backward",
        gradients(functional.embedding),
        lambda d: [Args(torch.tensor([[0, 3, 3], [1, 2, 0]]), values((4, 5), d))],
        (torch.float32,),
    ),
    Row(
        "cross_entropy-backward",
        gradients(functional.cross_entropy),
        guesses,
        (torch.float32,),
        ulp=CHAIN,
    ),
    Row("conv2d-backward", gradients(functional.conv2d), kernels, (torch.float32,), ulp=CHAIN * 16),
    Row(
        "gather-backward",
        gradients(lambda x: x.gather(1, torch.tensor([[0, 1, 1]], device=x.device))),
        lambda d: [Args(values((3, 5), d))],
        (torch.float32,),
    ),
    *(
        Row(
            name, wrap(keyed(functional.ctc_loss, zero_infinity=True)), spoken, FLOAT, ulp=CHAIN * 8
        )
        for name, wrap in (("ctc_loss", lambda f: f), ("ctc_loss-backward", gradients))
    ),
    Row(
        "prelu-backward",
        gradients(functional.prelu),
        lambda d: [
            Args(values((3, 5), d), values((1,), d, 2)),
            Args(values((2, 3, 4), d), values((3,), d, 2)),
        ],
        FLOAT,
        ulp=CHAIN,
    ),
    *(
        Row(f"cdist-{p}{label}", wrap(keyed(torch.cdist, p=p)), distances, FLOAT, ulp=CHAIN * 4)
        for p in (1.0, 2.0, 3.0)
        for label, wrap in (("", lambda f: f), ("-backward", gradients))
    ),
    Row("cholesky", torch.linalg.cholesky, definite, FLOAT, ulp=CHAIN * 16),
    Row("qr", lambda x: list(torch.linalg.qr(x)), definite, FLOAT, ulp=CHAIN * 64),
    Row("slogdet", lambda x: list(torch.slogdet(x)), definite, FLOAT, ulp=CHAIN * 16),
]
