# SPDX-License-Identifier: Apache-2.0
"""Functions over lists of tensors, which optimisers use."""

import torch

from operators.inputs import layouts, values
from operators.row import HALVES, Args, Row
from operators.rows.elementwise import LIBM

DTYPES = (*HALVES, torch.float32)
WITH_INTS = (*DTYPES, torch.int32)
SHAPES = ((3, 5), (), (7,), (0,), (133,))
ROUNDING = ("abs", "ceil", "floor", "frac", "neg", "reciprocal", "round", "sign", "trunc")
CURVES = ("acos", "asin", "atan", "cos", "cosh", "erf", "erfc", "exp", "expm1", "log", "log10")
CURVES = (*CURVES, "log1p", "log2", "sigmoid", "sin", "sinh", "tan", "tanh")
ARITHMETIC = ("add", "sub", "mul", "div")
BOUNDS = ("maximum", "minimum", "clamp_max", "clamp_min")


def tensors(dtype, seed, low=1, high=5):
    return [values(shape, dtype, seed, low, high) for shape in SHAPES]


def one(low, high):
    def samples(dtype):
        yield Args(tensors(dtype, 1, low, high))
        yield Args(list(layouts(values((3, 5), dtype, 1, low, high))))
        # Longer than a kernel of an NPU takes at once.
        yield Args([values((3,), dtype, seed, low, high) for seed in range(70)])

    return samples


def with_number(dtype):
    yield Args(tensors(dtype, 1), 2)


def with_list(dtype):
    yield Args(tensors(dtype, 1), tensors(dtype, 2))


def with_numbers(dtype):
    yield Args(tensors(dtype, 1), [1, 2, 3, 1, 2])


def three(dtype):
    yield Args(tensors(dtype, 1), tensors(dtype, 2), tensors(dtype, 3))


def functional(name):
    return getattr(torch, f"_foreach_{name}")


def in_place(name):
    function = getattr(torch, f"_foreach_{name}_")
    # What it leaves in the lists is compared; what it returns is not.
    return lambda *args: [function(*args), 0][1]


def with_values(name):
    function = functional(name)
    return lambda x, y, z: function(x, y, z, [1.0, 0.5, 2.0, 1.0, 3.0])


def both(name, label, samples, dtypes, ulp=0):
    yield Row(f"foreach_{name}{label}", functional(name), samples, dtypes, ulp=ulp)
    yield Row(f"foreach_{name}_{label}", in_place(name), samples, dtypes, ulp=ulp)


ROWS = [
    *(row for name in ROUNDING for row in both(name, "", one(0, 4), DTYPES)),
    # A short list of halves takes another square root of the CPU's.
    *both("sqrt", "", one(0, 4), DTYPES, ulp=1),
    *(row for name in CURVES for row in both(name, "", one(0, 1), DTYPES, LIBM)),
    *(row for name in ARITHMETIC for row in both(name, "-number", with_number, DTYPES)),
    *(row for name in ARITHMETIC for row in both(name, "-list", with_list, DTYPES)),
    *(row for name in ARITHMETIC for row in both(name, "-numbers", with_numbers, DTYPES)),
    *(row for name in ("add", "mul") for row in both(name, "-int", with_list, (torch.int32,))),
    *(row for name in BOUNDS for row in both(name, "-number", with_number, WITH_INTS)),
    *(row for name in BOUNDS for row in both(name, "-list", with_list, WITH_INTS)),
    *both("maximum", "-numbers", with_numbers, WITH_INTS),
    *both("pow", "-number", with_number, DTYPES, LIBM),
    *both("pow", "-list", with_list, DTYPES, LIBM),
    *both("pow", "-numbers", with_numbers, DTYPES, LIBM),
    *both("addcmul", "", three, DTYPES),
    *both("addcdiv", "", three, DTYPES),
    *(
        Row(
            f"foreach_{name}-values",
            with_values(name),
            three,
            DTYPES,
        )
        for name in ("addcmul", "addcdiv")
    ),
    Row(
        "foreach_lerp-number",
        lambda x, y: torch._foreach_lerp(x, y, 0.3),
        with_list,
        (torch.float32,),
    ),
    Row("foreach_lerp-list", torch._foreach_lerp, three, (torch.float32,)),
    Row("foreach_norm", torch._foreach_norm, one(0, 4), (torch.float32,), ulp=LIBM),
    Row("foreach_zero_", in_place("zero"), one(0, 4), WITH_INTS),
    Row("foreach_copy_", in_place("copy"), with_list, WITH_INTS),
]
