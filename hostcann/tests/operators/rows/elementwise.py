# SPDX-License-Identifier: Apache-2.0
"""Functions of one element, or of elements at one place of several tensors."""

import torch

from operators.inputs import BROADCASTS, layouts, tensors, values
from operators.row import ALL, FLOATS, HALVES, INTS, NUMBERS, SIGNED, WIDE, Args, Row

# libm for one element and Sleef for a vector differ in the last place, and which of them computes
# an element depends on the strides of inputs and output; torch_npu packs the output.
LIBM = 2
BITWISE = (*INTS, torch.bool)


def one(dtype, **rule):
    for tensor in tensors(dtype, writable=False, special=True, **rule):
        yield Args(tensor)


def within(low, high):
    def samples(dtype):
        for tensor in tensors(dtype, writable=False, low=low, high=high):
            yield Args(tensor)

    return samples


def solid(dtype):
    for tensor in tensors(dtype, special=True):
        yield Args(tensor)


def positive(dtype):
    for tensor in tensors(dtype, low=0.5, high=9):
        yield Args(tensor)


def pairs(dtype, low=-4, high=4, special=True):
    for left, right in BROADCASTS:
        yield Args(
            values(left, dtype, 1, low, high, special), values(right, dtype, 2, low, high, special)
        )
    shape = (3, 5)
    for left in layouts(values(shape, dtype, 1, low, high), writable=False):
        for right in layouts(values(shape, dtype, 2, low, high)):
            yield Args(left, right)


def positive_pairs(dtype):
    return pairs(dtype, 1, 9, special=False)


def signed_pairs(dtype):
    """No zero to divide by, both signs."""
    for left, right in BROADCASTS:
        divisor = values(right, dtype, 2, 1, 5)
        if dtype != torch.uint8 and divisor.numel() > 1:
            divisor.view(-1)[::2] *= -1
        yield Args(values(left, dtype, 1, -20, 20), divisor)
    for left in layouts(values((3, 5), dtype, 1, -20, 20)):
        yield Args(left, values((3, 5), dtype, 2, 1, 5))


def with_number(*numbers, low=-4, high=4, special=True):
    def samples(dtype):
        for tensor in tensors(dtype, writable=False, low=low, high=high, special=special):
            for number in numbers:
                if isinstance(number, float) and not dtype.is_floating_point:
                    continue
                yield Args(tensor, number)

    return samples


def in_place_pairs(dtype):
    for shape, other in (((7,), (7,)), ((3, 5), (5,)), ((2, 3, 4), (3, 1)), ((), ()), ((0,), (1,))):
        for target in layouts(values(shape, dtype, 1, 1, 5)):
            yield Args(target, values(other, dtype, 2, 1, 5))
    for target in layouts(values((3, 5), dtype, 1, 1, 5)):
        for source in layouts(values((3, 5), dtype, 2, 1, 5)):
            yield Args(target, source)


def in_place_number(*numbers):
    def samples(dtype):
        for tensor in tensors(dtype, low=1, high=5):
            for number in numbers:
                yield Args(tensor, number)

    return samples


def mixed(dtype):
    """This dtype with every other: the result's dtype is the promoted one."""
    for other in ALL:
        yield Args(values((3, 5), dtype, 1, 1, 4), values((3, 5), other, 2, 1, 4))
        yield Args(values((3, 5), dtype, 1, 1, 4), values((), other, 2, 1, 4))


def mixed_numbers(dtype):
    for number in (2, 2.5, True):
        yield Args(values((3, 5), dtype, 1, 1, 4), number)


def host_scalar(dtype):
    for other in ALL:
        yield Args(values((3, 5), dtype, 1, 1, 4), ScalarOnHost(values((), other, 2, 1, 4)))


def host_scalars(x, y):
    y = y.tensor.float() if y.tensor.dtype == torch.bool else y.tensor
    return [x - y, y - x, x / y, y / x, x > y, x == y, torch.maximum(x, y.to(x.device))]


def integers_with_floats(x):
    return [
        *(x > 1.5, x <= 1.5, x == 2.0, x != 2.5, x + 1.5, 1.5 - x, x * 0.5, x / 0.3),
        *(x // 1.5, x % 1.5, x**0.5, torch.fmod(x, 1.5), x.clamp(1.5, 3.5)),
        *(torch.div(x, 1.5, rounding_mode="floor"), torch.where(x > 2, x, 2.5)),
    ]


def small(dtype):
    yield from map(Args, layouts(values((3, 5), dtype, 1, 1, 5)))


class ScalarOnHost:
    """A 0-d CPU tensor, which torch lets meet a tensor of any device."""

    def __init__(self, tensor):
        self.tensor = tensor

    def __str__(self):
        return f"cpu {self.tensor.dtype}[]"


def triples(dtype):
    for target in layouts(values((3, 5), dtype, 1, 1, 5)):
        yield Args(target, values((3, 5), dtype, 2, 1, 5), values((3, 5), dtype, 3, 1, 5))
        yield Args(target, values((5,), dtype, 2, 1, 5), values((3, 1), dtype, 3, 1, 5))
    yield Args(values((), dtype, 1, 1, 5), values((), dtype, 2, 1, 5), values((), dtype, 3, 1, 5))


def bounds(dtype):
    for tensor in tensors(dtype, special=True):
        yield Args(tensor, 1, 3)
        yield Args(tensor, min=1)
        yield Args(tensor, max=2)


def bound_tensors(dtype):
    for tensor in layouts(values((3, 5), dtype, 1)):
        low, high = values((5,), dtype, 2, 0, 2), values((3, 1), dtype, 3, 2, 4)
        yield Args(tensor, low, high)
        yield Args(tensor, min=low)
        yield Args(tensor, max=high)


def large(dtype):
    """More elements than the CPU gives to one thread."""
    yield Args(values((40001,), dtype, 1), values((40001,), dtype, 2))


def exact(name, *more, **rule):
    function = getattr(torch, name)
    return Row(name, function, *more, **rule)


def in_place(name, samples, dtypes, **rule):
    return Row(f"{name}_", getattr(torch.Tensor, f"{name}_"), samples, dtypes, **rule)


ROWS = [
    # One operand, exact in every dtype.
    exact("abs", one, NUMBERS, out=True, core=True),
    exact("neg", one, NUMBERS, out=True),
    exact("sign", one, ALL, out=True),
    exact("sgn", one, ALL),
    exact("floor", one, NUMBERS, out=True),
    exact("ceil", one, NUMBERS, out=True),
    exact("round", one, NUMBERS, out=True),
    exact("trunc", one, NUMBERS, out=True),
    exact("frac", one, FLOATS, out=True),
    exact("square", one, NUMBERS, out=True),
    exact("reciprocal", one, ALL, out=True),
    exact("sqrt", one, ALL, out=True, core=True),
    exact("rsqrt", within(0.5, 9), FLOATS, out=True, ulp=1),
    exact("isnan", one, ALL),
    exact("isinf", one, ALL),
    exact("isfinite", one, ALL),
    exact("isposinf", one, ALL, out=True),
    exact("isneginf", one, (*FLOATS, *SIGNED, torch.bool), out=True),
    exact("signbit", one, ALL, out=True),
    exact("logical_not", one, ALL, out=True),
    exact("bitwise_not", one, BITWISE, out=True),
    # The limits come from torch_npu as floats: those of float64 cannot.
    exact("nan_to_num", one, tuple(d for d in ALL if d != torch.float64), out=True),
    exact("positive", one, NUMBERS),
    Row("round-decimals", lambda x: torch.round(x, decimals=1), within(-3, 3), WIDE),
    Row("nan_to_num-values", lambda x: x.nan_to_num(1.5, 2.5, -2.5), one, FLOATS),
    # One operand, within the CPU's own two answers.
    exact("exp", one, (*FLOATS, torch.int64, torch.bool), out=True, ulp=LIBM),
    exact("exp2", one, ALL, out=True, ulp=LIBM),
    exact("expm1", one, ALL, out=True, ulp=LIBM),
    exact("log", within(0, 9), ALL, out=True, ulp=LIBM),
    exact("log2", within(0, 9), ALL, out=True, ulp=LIBM),
    exact("log10", within(0, 9), ALL, out=True, ulp=LIBM),
    exact("log1p", within(0, 9), ALL, out=True, ulp=LIBM),
    exact("sin", one, ALL, out=True, ulp=LIBM),
    exact("cos", one, ALL, out=True, ulp=LIBM),
    exact("tan", one, ALL, out=True, ulp=LIBM),
    exact("asin", within(-1, 1), ALL, out=True, ulp=LIBM),
    exact("acos", within(-1, 1), ALL, out=True, ulp=LIBM),
    exact("atan", one, ALL, out=True, ulp=LIBM),
    exact("sinh", one, ALL, out=True, ulp=LIBM),
    exact("cosh", one, ALL, out=True, ulp=LIBM),
    exact("tanh", one, ALL, out=True, ulp=LIBM),
    exact("asinh", one, ALL, out=True, ulp=LIBM),
    exact("acosh", within(1, 9), ALL, out=True, ulp=LIBM),
    exact("atanh", within(-1, 1), ALL, out=True, ulp=LIBM),
    exact("sigmoid", one, ALL, out=True, ulp=LIBM),
    exact("erf", one, (*FLOATS, torch.int64, torch.bool), out=True, ulp=LIBM),
    exact("erfc", one, (*FLOATS, torch.int64, torch.bool), out=True, ulp=LIBM),
    exact("erfinv", within(-1, 1), ALL, out=True, ulp=LIBM),
    *(
        in_place(name, solid, FLOATS, ulp=ulp)
        for name, ulp in {
            **dict.fromkeys(("abs", "neg", "floor", "ceil", "round", "trunc", "sign", "square"), 0),
            **dict.fromkeys(("exp", "sin", "cos", "tanh", "sigmoid", "erf", "sqrt"), LIBM),
        }.items()
    ),
    in_place("reciprocal", solid, FLOATS),
    in_place("log", positive, FLOATS, ulp=LIBM),
    in_place("rsqrt", positive, FLOATS, ulp=1),
    in_place("logical_not", solid, ALL),
    in_place("bitwise_not", solid, BITWISE),
    # Two operands.
    exact("add", pairs, ALL, out=True, core=True),
    exact("sub", pairs, NUMBERS, out=True),
    exact("mul", pairs, ALL, out=True, core=True),
    exact("div", positive_pairs, ALL, out=True, core=True),
    Row("div-floor", lambda x, y: torch.div(x, y, rounding_mode="floor"), signed_pairs, NUMBERS),
    Row("div-trunc", lambda x, y: torch.div(x, y, rounding_mode="trunc"), signed_pairs, NUMBERS),
    exact("floor_divide", signed_pairs, NUMBERS),
    exact("remainder", signed_pairs, NUMBERS, out=True),
    exact("fmod", signed_pairs, NUMBERS, out=True),
    exact("maximum", pairs, ALL, out=True),
    exact("minimum", pairs, ALL, out=True),
    exact("pow", lambda d: pairs(d, 0, 3, False), NUMBERS, out=True, ulp=LIBM),
    exact("atan2", pairs, NUMBERS, out=True, ulp=LIBM),
    Row("add-alpha", lambda x, y: torch.add(x, y, alpha=3), pairs, NUMBERS),
    Row("sub-alpha", lambda x, y: torch.sub(x, y, alpha=2), pairs, NUMBERS),
    Row("rsub", torch.rsub, pairs, NUMBERS),
    # A tensor and a number.
    Row("add-number", torch.add, with_number(2, -1, 2.5), NUMBERS),
    Row("add-number-alpha", lambda x, y: x.add(y, alpha=2), with_number(2, 1.5), NUMBERS),
    Row("sub-number", torch.sub, with_number(2, 2.5), NUMBERS),
    Row("rsub-number", lambda x, y: y - x, with_number(2, 2.5), NUMBERS),
    Row("mul-number", torch.mul, with_number(2, -1, 0.5), NUMBERS),
    Row("div-number", torch.div, with_number(2, 3, 0.7), ALL),
    Row("rdiv-number", lambda x, y: y / x, with_number(2, 2.5, low=1, special=False), NUMBERS),
    Row("floordiv-number", lambda x, y: x // y, with_number(2, 2.5, special=False), NUMBERS),
    Row("remainder-number", torch.remainder, with_number(3, 1.5, special=False), NUMBERS),
    Row("fmod-number", torch.fmod, with_number(3, 1.5, special=False), NUMBERS),
    # Exponents beside the ones that the CPU multiplies out are libm's.
    Row("pow-number", torch.pow, with_number(0, 1, 2, 3, 0.5, -1.0, 2.5), NUMBERS, ulp=LIBM),
    Row("number-pow", lambda x, y: torch.pow(y, x), with_number(2, 1.5, low=0), NUMBERS, ulp=LIBM),
    Row("mixed-numbers", lambda x, y: [x + y, x * y, x / y], mixed_numbers, ALL),
    Row("mixed-add", torch.add, mixed, ALL, core=True),
    Row("mixed-mul", torch.mul, mixed, ALL),
    Row("mixed-div", torch.div, mixed, ALL),
    Row("mixed-sub", torch.sub, lambda d: list(mixed(d))[:-2], FLOATS),
    Row("mixed-maximum", torch.maximum, mixed, ALL),
    Row("host-scalar-add", lambda x, y: [x + y.tensor, y.tensor + x], host_scalar, ALL),
    Row("host-scalar-mul", lambda x, y: [x * y.tensor, y.tensor * x], host_scalar, ALL),
    Row("host-scalars", host_scalars, host_scalar, (*FLOATS, *INTS)),
    Row("integers-with-floats", integers_with_floats, small, INTS, ulp=LIBM),
    Row("add-large", torch.add, large, (*HALVES, *WIDE, torch.int32)),
    # In place.
    in_place("add", in_place_pairs, ALL, core=True),
    in_place("sub", in_place_pairs, NUMBERS),
    in_place("mul", in_place_pairs, ALL),
    in_place("div", in_place_pairs, FLOATS),
    in_place("pow", in_place_pairs, FLOATS, ulp=LIBM),
    in_place("remainder", in_place_pairs, NUMBERS),
    in_place("fmod", in_place_pairs, NUMBERS),
    Row("add_-number", torch.Tensor.add_, in_place_number(2), NUMBERS, core=True),
    Row("sub_-number", torch.Tensor.sub_, in_place_number(1), NUMBERS),
    Row("mul_-number", torch.Tensor.mul_, in_place_number(2), NUMBERS),
    Row("div_-number", torch.Tensor.div_, in_place_number(2, 0.3), FLOATS),
    Row("pow_-number", torch.Tensor.pow_, in_place_number(2), NUMBERS),
    # Three operands.
    exact("addcmul", triples, NUMBERS, out=True),
    exact("addcdiv", triples, FLOATS, out=True),
    Row("addcmul-value", lambda x, y, z: torch.addcmul(x, y, z, value=2), triples, NUMBERS),
    Row("addcdiv-value", lambda x, y, z: torch.addcdiv(x, y, z, value=0.5), triples, FLOATS),
    in_place("addcmul", triples, NUMBERS),
    in_place("addcdiv", triples, FLOATS),
    exact("lerp", triples, WIDE, out=True),
    Row("lerp-number", lambda x, y, _: torch.lerp(x, y, 0.3), triples, WIDE),
    exact("clamp", bounds, NUMBERS, out=True),
    Row("clamp-tensors", torch.clamp, bound_tensors, NUMBERS),
    in_place("clamp", bounds, NUMBERS),
    Row("clamp_min", lambda x: x.clamp_min(1), one, NUMBERS),
    Row("clamp_max", lambda x: x.clamp_max(1), one, NUMBERS),
]
