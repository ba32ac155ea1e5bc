# SPDX-License-Identifier: Apache-2.0
"""Functions met less often, and the in-place forms of the rest."""

import torch
from torch.nn import functional

from operators.inputs import distinct, layouts, tensors, values
from operators.row import DEVICE, FLOATS, HALVES, INTS, MOVED, NUMBERS, WIDE, Args, Row
from operators.rows.elementwise import (
    LIBM,
    in_place_pairs,
    pairs,
    positive_pairs,
    signed_pairs,
    triples,
)
from operators.rows.indexing import grid, index, index_writes, scatters_number
from operators.rows.neural import (
    CHAIN,
    PRODUCT,
    chances,
    gradients,
    guesses,
    keyed,
    normal,
    of_input,
    products,
)
from operators.rows.reduction import ORDER, as_float_on_cpu, unlike_along, unlike_everything

FLOAT = (torch.float32,)
CURVES = ("acos", "asin", "atan", "atanh", "asinh", "cosh", "erfc", "erfinv", "exp2", "expm1")
CURVES = (*CURVES, "log10", "log1p", "log2", "sinc", "sinh", "tan", "logit")


def within(low, high, shapes=((), (0,), (7,), (3, 5))):
    def samples(dtype):
        for tensor in tensors(dtype, shapes, low=low, high=high):
            yield Args(tensor)

    return samples


def counted(x, most):
    """Rows with more than so many elements that are not zero, scaled down by their number."""
    count = (x != 0).sum(1, keepdim=True)
    return x * torch.where(count > most, most / (count + 1e-7), 1.0)


def shifts(dtype):
    for left in layouts(values((3, 5), dtype, 1, 0, 9)):
        yield Args(left, values((3, 5), dtype, 2, 0, 3))
        yield Args(left, values((5,), dtype, 2, 0, 3))


def shifts_by_number(dtype):
    yield from (Args(left, 2) for left in layouts(values((3, 5), dtype, 1, 0, 9)))


def in_place_numbers(dtype):
    yield from (Args(left, 2) for left in layouts(values((3, 5), dtype, 1, 0, 4)))


def started(*shapes):
    def samples(dtype):
        yield Args(*(values(shape, dtype, n, -1, 1) for n, shape in enumerate(shapes)))

    return samples


def boundaries(dtype):
    # Packed: torch warns of any other.
    for shape in ((), (0,), (7,), (3, 5)):
        tensor = values(shape, dtype, 1, 0, 9)
        yield Args(tensor, torch.tensor([1, 3, 7]).to(dtype))


def sorted_rows(dtype):
    rows = torch.sort(distinct((3, 7), dtype)).values
    yield Args(rows, values((3, 4), dtype, 2))


def vectors(dtype):
    for x in layouts(values((4, 3), dtype, 1)):
        yield Args(x, values((4, 3), dtype, 2))


def square(dtype):
    yield Args(values((4, 4), dtype, 1, -1, 1) + 3 * torch.eye(4, dtype=dtype))
    yield Args(values((2, 3, 3), dtype, 2, -1, 1) + 3 * torch.eye(3, dtype=dtype))


def squares(dtype):
    for x in layouts(values((4, 4), dtype, 1)):
        yield Args(x)


def squares_and_orders(dtype):
    yield from (Args(*sample.args, 2) for sample in squares(dtype))


def some_counts(_):
    yield Args(torch.tensor([1, 0, 3, 2]))


def repeat_counts(dtype):
    for x in layouts(values((4, 5), dtype, 1)):
        yield Args(x, torch.tensor([1, 0, 3, 2]), 0)


def duplicated(dtype):
    yield Args(torch.cat([values((3, 4), dtype, 1, 0, 1)] * 2))


def puts(dtype):
    for x in grid(dtype):
        yield Args(x, torch.tensor([0, 19, 7]), values((3,), dtype, 2))


def spread(start, end, dtype):
    return [Args(start, end, steps, dtype=dtype, device=DEVICE) for steps in (0, 1, 5)]


def pixel_guesses(dtype):
    yield Args(values((2, 4, 3, 5), dtype, 1), values((2, 3, 5), torch.int64, 2, 0, 3))


def signs(dtype):
    yield Args(values((4, 5), dtype, 1), values((4, 5), torch.int64, 2, 0, 1).to(dtype) * 2 - 1)


def parameters(dtype):
    yield Args(values((4, 3), dtype, 1), values((3,), dtype, 2, 0.5, 2), values((3,), dtype, 3))


def whole_words(dtype):
    yield Args(torch.tensor([0, 3, 3]), values((4, 5), dtype, 1, 1, 4))


def normalised(x, weight, bias):
    return functional.batch_norm(x, None, None, weight, bias, training=True)


def grouped(x, weight, bias):
    return functional.group_norm(x, 2, weight, bias)


def in_place(name):
    return getattr(torch.Tensor, f"{name}_")


def real_parts(function):
    return lambda x, y: torch.view_as_real(function(x, y))


ROWS = [
    # One operand.
    *(Row(f"{n}_", in_place(n), within(0.1, 0.9), FLOATS, ulp=LIBM) for n in CURVES),
    Row("acosh_", in_place("acosh"), within(1, 9), FLOATS, ulp=LIBM),
    Row("frac_", in_place("frac"), within(-4, 4), FLOATS),
    Row("nan_to_num_", in_place("nan_to_num"), within(-4, 4), FLOATS[:3]),
    Row("round_-decimals", lambda x: x.round_(decimals=1), within(-4, 4), WIDE),
    Row("sinc", torch.sinc, within(-4, 4), FLOATS, out=True, ulp=LIBM),
    Row("logit", torch.logit, within(0.1, 0.9), FLOATS, ulp=LIBM),
    Row(
        "logit-backward", gradients(torch.logit), within(0.1, 0.9, ((7,), (3, 5))), FLOAT, ulp=CHAIN
    ),
    Row("hardshrink", functional.hardshrink, within(-2, 2), FLOATS),
    # The CPU's vector and scalar code give zeros of different sign.
    Row("softshrink", functional.softshrink, within(-2, 2), FLOATS, ulp=1),
    *(
        Row(f"{name}-backward", gradients(function), within(-2, 2, ((7,), (3, 5))), FLOAT, ulp=ulp)
        for name, function, ulp in (
            ("hardshrink", functional.hardshrink, 0),
            ("softshrink", functional.softshrink, 0),
            ("glu", lambda x: functional.glu(x[..., :4]), CHAIN),
            ("unfold", lambda x: x.unfold(0, 2, 1), 0),
            ("rms_norm", lambda x: functional.rms_norm(x, x.shape[-1:]), CHAIN),
        )
    ),
    *(
        Row(f"{name}_", lambda x, f=function: f(x, inplace=True), within(-2, 8), FLOATS, ulp=ulp)
        for name, function, ulp in (
            ("hardtanh", functional.hardtanh, 0),
            ("hardsigmoid", functional.hardsigmoid, 1),
            ("hardswish", functional.hardswish, 1),
            ("leaky_relu", functional.leaky_relu, 0),
            ("elu", functional.elu, LIBM),
            ("celu", functional.celu, LIBM),
            ("mish", functional.mish, LIBM),
        )
    ),
    Row("threshold_", lambda x: functional.threshold_(x, 0.5, 2), within(-2, 8), FLOATS),
    # Two operands.
    Row("xlogy", torch.xlogy, positive_pairs, FLOATS, out=True, ulp=LIBM),
    Row("xlogy-number", lambda x, _: torch.xlogy(x, 3), positive_pairs, FLOATS, ulp=LIBM),
    Row("number-xlogy", lambda x, _: torch.xlogy(2, x), positive_pairs, FLOATS, ulp=LIBM),
    Row("xlogy_-number", lambda x, _: x.xlogy_(3), in_place_pairs, FLOATS, ulp=LIBM),
    Row("logaddexp", torch.logaddexp, positive_pairs, WIDE, ulp=LIBM),
    Row("logaddexp2", torch.logaddexp2, positive_pairs, WIDE, ulp=LIBM),
    Row("gcd", torch.gcd, signed_pairs, INTS),
    Row("left-shift", lambda x, y: x << y, shifts, INTS),
    Row("right-shift", lambda x, y: x >> y, shifts, INTS),
    Row("left-shift-number", lambda x, y: x << y, shifts_by_number, INTS),
    Row("right-shift-number", lambda x, y: x >> y, shifts_by_number, INTS),
    Row("atan2_", in_place("atan2"), in_place_pairs, FLOATS, ulp=LIBM),
    Row("floor_divide_", in_place("floor_divide"), in_place_pairs, NUMBERS),
    Row("div_-floor", lambda x, y: x.div_(y, rounding_mode="floor"), in_place_pairs, NUMBERS),
    Row("div_-trunc", lambda x, y: x.div_(y, rounding_mode="trunc"), in_place_pairs, NUMBERS),
    Row("lerp_", lambda x, y: x.lerp_(y, 0.25), in_place_pairs, FLOAT),
    Row("clamp_max-tensor", torch.clamp_max, pairs, NUMBERS),
    Row("clamp_min-tensor", torch.clamp_min, pairs, NUMBERS),
    Row("clamp_max_", lambda x, y: x.clamp_max_(y), in_place_pairs, NUMBERS),
    Row("clamp_min_", lambda x, y: x.clamp_min_(y), in_place_pairs, NUMBERS),
    *(
        Row(f"{name}_-number", in_place(name), in_place_numbers, NUMBERS)
        for name in ("eq", "ne", "lt", "le", "gt", "ge", "floor_divide", "remainder", "fmod")
    ),
    Row("bitwise_xor_-number", in_place("bitwise_xor"), in_place_numbers, INTS),
    Row("number-remainder", lambda _, y: torch.remainder(7, y), signed_pairs, NUMBERS),
    Row("isin-number", lambda x: torch.isin(x, 1), within(0, 3), (torch.float32, torch.int64)),
    Row("number-isin", lambda x: torch.isin(1, x), within(0, 3), (torch.float32, torch.int64)),
    Row("complex", real_parts(torch.complex), pairs, FLOAT),
    Row("polar", real_parts(torch.polar), positive_pairs, FLOAT, ulp=LIBM * 2),
    Row("cross", keyed(torch.linalg.cross, dim=-1), vectors, WIDE),
    # Products.
    Row("addbmm", torch.addbmm, started((3, 4), (2, 3, 5), (2, 5, 4)), WIDE, ulp=PRODUCT),
    Row("addmv", torch.addmv, started((3,), (3, 5), (5,)), WIDE, ulp=PRODUCT),
    Row("addr", torch.addr, started((3, 4), (3,), (4,)), FLOATS, ulp=1),
    Row("addr_", in_place("addr"), started((3, 4), (3,), (4,)), WIDE, ulp=1),
    Row("inverse", torch.inverse, square, WIDE, ulp=PRODUCT * 4),
    Row("inverse-half", as_float_on_cpu(torch.inverse), square, HALVES, ulp=1),
    Row(
        "chain", lambda x, y: x @ y @ y.transpose(-1, -2), products(((3, 5), (5, 4))), WIDE, ulp=64
    ),
    # Reductions and orders.
    Row("aminmax-dim", lambda x, dim: list(torch.aminmax(x, dim=dim)), unlike_along, NUMBERS),
    Row("nanmedian", torch.nanmedian, unlike_everything, NUMBERS),
    Row("nanmedian-dim", torch.nanmedian, unlike_along, NUMBERS),
    Row(
        "std_mean",
        lambda x: list(torch.std_mean(x)),
        within(-4, 4, ((7,), (3, 5))),
        WIDE,
        ulp=ORDER,
    ),
    Row(
        "renorm",
        keyed(torch.renorm, p=2, dim=0, maxnorm=2),
        within(-4, 4, ((3, 5),)),
        FLOAT,
        ulp=ORDER,
    ),
    Row("renorm_", lambda x: x.renorm_(2, 0, 2), within(-4, 4, ((3, 5),)), FLOAT, ulp=ORDER),
    Row("bucketize", torch.bucketize, boundaries, (torch.float32, torch.int64, torch.int32)),
    Row(
        "searchsorted-number",
        lambda x, _: torch.searchsorted(x[0], 2),
        sorted_rows,
        (torch.float32,),
    ),
    Row("unique-dim", keyed(torch.unique, dim=0), duplicated, (torch.float32, torch.int64)),
    Row(
        "unique-unsorted", lambda x: torch.unique(x, sorted=False).sort().values, duplicated, FLOAT
    ),
    # Places.
    Row("index_copy", torch.index_copy, index_writes, MOVED),
    Row("index_fill", lambda x: x.index_fill(0, index(3, 1).to(x.device), 1), squares, MOVED),
    Row(
        "index_fill-tensor",
        lambda x: x.index_fill(0, index(3, 1).to(x.device), x.new_tensor(1)),
        squares,
        MOVED,
    ),
    Row("put_", in_place("put"), puts, MOVED),
    Row("fill_diagonal_", lambda x: x.fill_diagonal_(1), squares, MOVED),
    Row("repeat_interleave-tensor", torch.repeat_interleave, repeat_counts, MOVED),
    Row("split_with_sizes", lambda x: [p + 0 for p in x.split([1, 3])], squares, FLOATS),
    Row("logspace", torch.logspace, lambda d: spread(-1, 2, d), WIDE, ulp=LIBM * 2),
    Row(
        "embedding-renorm", keyed(functional.embedding, max_norm=2.0), whole_words, FLOAT, ulp=ORDER
    ),
    Row("scatter-number", torch.scatter, scatters_number, MOVED),
    Row("lerp_-tensors", in_place("lerp"), triples, FLOAT),
    Row(
        "foreach_pow-number-first", lambda x: torch._foreach_pow(2.0, [x]), squares, FLOAT, ulp=LIBM
    ),
    Row("unique-inverse", lambda x: list(torch._unique(x, True, True)), duplicated, FLOAT),
    Row("repeat_interleave-counts", torch.repeat_interleave, some_counts, (torch.int64,)),
    Row("add_relu", torch._VF._add_relu, vectors, FLOAT),
    Row("aten-norm", torch.ops.aten.norm, squares_and_orders, FLOAT, ulp=ORDER),
    # Losses and normalisations.
    Row("nll_loss-2d", functional.nll_loss, pixel_guesses, FLOAT, ulp=CHAIN),
    Row("nll_loss-2d-backward", gradients(functional.nll_loss), pixel_guesses, FLOAT, ulp=CHAIN),
    Row("nll_loss-backward", gradients(functional.nll_loss), guesses, FLOAT, ulp=CHAIN),
    *(
        Row(f"{name}-backward", gradients(of_input(function)), samples, FLOAT, ulp=CHAIN)
        for name, function, samples in (
            ("binary_cross_entropy", functional.binary_cross_entropy, chances),
            ("kl_div", keyed(functional.kl_div, reduction="batchmean"), chances),
            ("soft_margin_loss", functional.soft_margin_loss, signs),
        )
    ),
    Row("soft_margin_loss", functional.soft_margin_loss, signs, FLOAT, ulp=CHAIN),
    Row("batch_norm-backward", gradients(normalised), parameters, FLOAT, ulp=CHAIN * 16),
    Row(
        "group_norm-backward",
        gradients(grouped),
        started((2, 4, 5), (4,), (4,)),
        FLOAT,
        ulp=CHAIN * 16,
    ),
    *(
        Row(
            f"cross_entropy-{name}",
            keyed(functional.cross_entropy, **rule),
            guesses,
            FLOAT,
            ulp=CHAIN,
        )
        for name, rule in {
            "sum": {"reduction": "sum"},
            "none": {"reduction": "none"},
            "ignored": {"ignore_index": 2},
        }.items()
    ),
    Row(
        "layer_norm-plain",
        lambda x, size, *_: functional.layer_norm(x, size),
        normal,
        FLOATS,
        ulp=CHAIN,
    ),
    Row(
        # More than is normalised in one piece, and rows that no piece holds whole.
        "layer_norm-large",
        torch.native_layer_norm,
        lambda d: [
            Args(
                values(shape, d),
                shape[-1:],
                values(shape[-1:], d, 2),
                values(shape[-1:], d, 3),
                1e-5,
            )
            for shape in ((700, 401), (2, 300, 3, 401), (2, 300_000))
        ],
        FLOAT,
        ulp=CHAIN,
    ),
    Row(
        "sgn-complex",
        torch.sgn,
        lambda d: [Args(torch.complex(values((3, 5), d, 1), values((3, 5), d, 2)))],
        FLOAT,
        ulp=LIBM,
    ),
    Row(
        "add_relu-broadcast",
        torch._VF._add_relu,
        lambda d: [
            Args(values(x, d, 1), values(y, d, 2)) for x, y in (((3, 5), (5,)), ((2, 3, 4), (3, 1)))
        ],
        FLOAT,
    ),
    Row(
        "renorm-0",
        lambda x: torch.renorm(x, 0, 0, 2) if x.device.type == "npu" else counted(x, 2),
        lambda d: map(Args, layouts(values((3, 5), d, 1) * (values((3, 5), d, 2) > 2))),
        FLOAT,
        ulp=CHAIN,
    ),
]
