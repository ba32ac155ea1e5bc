# SPDX-License-Identifier: Apache-2.0
"""ascendc_add(x, y) -> z, float32 [8, 2048], storage format ND."""

from __future__ import annotations

from matrix import rejection as change
from matrix import streams
from matrix.rejection import Refusal, rejected
from matrix.row import Operator, Row

SHAPE = (8, 2048)
NUMEL = SHAPE[0] * SHAPE[1]
SMALLEST_NORMAL = 2.0**-126


def seed(torch):
    x = torch.arange(NUMEL, dtype=torch.float32).reshape(SHAPE) / 1000
    return x, x.flip(0).contiguous() * -0.25


def others(torch):
    x, y = seed(torch)
    return y + 100.0, x + 1000.0


def reference(x, y):
    return x + y


def normal(number):
    def values(torch):
        generator = torch.Generator().manual_seed(number)
        return tuple(torch.randn(SHAPE, generator=generator) for _ in range(2))

    return values


def exponents(torch):
    """From 1e-38 to 3e38: sums, cancellations, overflow, near and far exponents together."""
    generator = torch.Generator().manual_seed(7)
    powers = torch.linspace(-38.0, 38.477, NUMEL, dtype=torch.float64)
    magnitude = (10.0**powers).to(torch.float32).reshape(SHAPE)
    signs = torch.randint(0, 2, (2, *SHAPE), generator=generator) * 2 - 1
    x = magnitude * signs[0]
    partner = magnitude.clone()
    partner[1::4] = magnitude[1::4].flip(1)
    partner[2::4] = magnitude[2::4] * (1 + 2.0**-20)
    partner[3::4] = magnitude.flip(0)[3::4]
    return x, partner * signs[1]


def _spread(torch, specials):
    """Every pair of these bit patterns, repeated over the whole tensor."""
    bits = torch.tensor(specials, dtype=torch.int64).to(torch.int32).view(torch.float32)
    pairs = torch.cartesian_prod(bits, bits)
    index = torch.arange(NUMEL) % len(pairs)
    return pairs[index, 0].reshape(SHAPE).clone(), pairs[index, 1].reshape(SHAPE).clone()


def zeros_and_subnormals(torch):
    positive = [0x00000000, 0x00000001, 0x00000100, 0x007FFFFF, 0x00400000, 0x00800000, 0x00800001]
    return _spread(torch, [*positive, *(bits | 0x80000000 for bits in positive)])


def infinities_and_nans(torch):
    positive = [0x7F800000, 0x7FC00000, 0x7FA00001, 0x7F7FFFFF, 0x3F800000, 0x00000000]
    return _spread(torch, [*positive, *(bits | 0x80000000 for bits in positive)])


def seed_case(subject):
    z = subject.expect(*seed(subject.torch), tolerance=1e-6).cpu()
    assert z.isfinite().all(), "expected only finite values"
    if subject.device.kind == "host":
        subject.agrees(z, reference(*seed(subject.torch)))


def but_for_subnormals(values):
    """To the bit, except that an NPU's vector unit may take a subnormal for zero.

    Then each of x, y and z is off by less than the smallest normal number; where none of them is
    subnormal, the sum stays exact.
    """

    def check(subject):
        cpu = values(subject.torch)
        if subject.device.kind == "host":
            subject.expect(*cpu)
            return
        result = subject.expect(*cpu, tolerance=3 * SMALLEST_NORMAL).cpu()
        expected = reference(*cpu)
        wrong = subject.differs(result, expected)
        for tensor in (*cpu, expected):
            wrong &= ~((tensor != 0) & (tensor.abs() < SMALLEST_NORMAL))
        assert not wrong.any(), (
            f"expected exact sums where nothing is subnormal, got {int(wrong.sum())} others"
        )

    return check


def one_tensor_twice(subject):
    x, _ = normal(3)(subject.torch)
    on_npu = subject.device.put(x)
    z = subject.call_on_junk(on_npu, on_npu)
    subject.is_fresh(z, on_npu)
    subject.agrees(z, reference(x, x))


def offset_views(offset):
    """x and y as views `offset` elements into a larger block with other values around."""

    def check(subject):
        torch = subject.torch
        views, blocks, whole = [], [], []
        for tensor in seed(torch):
            block = torch.full((NUMEL + 2 * offset,), 7.0)
            block[offset : offset + NUMEL] = tensor.flatten()
            whole.append(block)
            blocks.append(subject.device.put(block))
            views.append(blocks[-1][offset : offset + NUMEL].view(SHAPE))
        z = subject.call_on_junk(*views)
        subject.is_fresh(z, *views)
        subject.agrees(z, reference(*seed(torch)))
        for block, values in zip(blocks, whole, strict=True):
            subject.agrees(block, values)

    return check


def inputs_unchanged(subject):
    for values in (seed(subject.torch), infinities_and_nans(subject.torch)):
        arguments = [subject.device.put(tensor) for tensor in values]
        subject.call(*arguments)
        for tensor, before in zip(arguments, values, strict=True):
            after = tensor.cpu().view(subject.torch.int32)
            assert after.equal(before.view(subject.torch.int32)), (
                "expected the inputs bit-unchanged"
            )


def output_is_new(subject):
    arguments = subject.arguments()
    first = subject.call(*arguments)
    second = subject.call(*arguments)
    subject.is_fresh(first, *arguments)
    subject.is_fresh(second, first, *arguments)


def by_name(subject):
    x, y = seed(subject.torch)
    z = subject.call(y=subject.device.put(y), x=subject.device.put(x))
    subject.agrees(z, reference(x, y))


def meta_tensors(subject):
    """What tracing asks for: the output's shape, dtype and layout, and no value."""
    z = subject.call(*(tensor.to("meta") for tensor in subject.inputs()))
    got = (str(z.device), z.dtype, tuple(z.shape), z.is_contiguous(), z.requires_grad)
    assert got == ("meta", subject.torch.float32, SHAPE, True, False), got


def back_to_back(subject):
    x, y = normal(5)(subject.torch)
    total, expected = subject.device.put(x), x
    step = subject.device.put(y)
    results = []
    for _ in range(200):
        total = subject.call(total, step)
        results.append(total)
    for result in results:
        expected = reference(expected, y)
        subject.agrees(result, expected)


def without_autograd(subject):
    for context in (subject.torch.no_grad, subject.torch.inference_mode):
        with context():
            subject.works()


def precise(name, rule, values, **how):
    return Row(
        "precision", name, rule, lambda subject: subject.expect(*values(subject.torch), **how)
    )


PRECISION = (
    Row(
        "precision",
        "seed",
        "the seed case: rtol = atol = 1e-6, all finite, on host to the bit",
        seed_case,
    ),
    *(
        precise(f"normal-{number}", f"random normal values, seed {number}", normal(number))
        for number in (0, 1, 2)
    ),
    Row(
        "precision",
        "exponents",
        "exponents from 1e-38 to 3e38, cancellation, overflow",
        but_for_subnormals(exponents),
    ),
    Row(
        "precision",
        "zeros-and-subnormals",
        "+0, -0 and subnormals, every pair",
        but_for_subnormals(zeros_and_subnormals),
    ),
    precise(
        "inf-and-nan", "inf and NaN propagate as on torch's CPU, every pair", infinities_and_nans
    ),
    Row(
        "precision",
        "meta-tensors",
        "two meta tensors give a meta tensor",
        meta_tensors,
        variants=("lib",),
    ),
    Row("precision", "x-is-y", "the same tensor for x and y", one_tensor_twice),
    Row(
        "precision",
        "view-at-offset-8",
        "contiguous views at an aligned storage offset",
        offset_views(8),
    ),
    Row(
        "precision",
        "view-at-offset-1",
        "contiguous views 4 bytes into their storage",
        offset_views(1),
    ),
    Row("precision", "inputs-unchanged", "the inputs keep every bit", inputs_unchanged),
    Row(
        "precision",
        "output-is-new",
        "the output is new storage, ND, on the inputs' device",
        output_is_new,
    ),
    Row("precision", "by-name", "arguments given by name", by_name),
    Row("precision", "200-calls", "200 calls back to back, each on the one before", back_to_back),
    Row(
        "precision",
        "no-grad-and-inference-mode",
        "under no_grad and inference_mode",
        without_autograd,
    ),
)


def wrong(argument, expected_and_got):
    return Refusal("RuntimeError", f"ascendc_add: argument '{argument}': {expected_and_got}")


def both_arguments(name, rule, expected_and_got, make, **more):
    """The same change to x and, as a row of its own, to y."""
    return tuple(
        rejected(
            f"{argument}-{name}",
            f"{argument} {rule}",
            wrong(argument, expected_and_got),
            **{argument: make},
            **more,
        )
        for argument in ("x", "y")
    )


# The dispatcher's own words, for calls that never reach the operator.
DISPATCHED_TO_CPU = Refusal(
    "NotImplementedError",
    "Could not run 'ascendc_ops::ascendc_add' with arguments from the 'CPU' backend. ",
    whole=False,
)
DECLARATION = "Declaration: ascendc_ops::ascendc_add(Tensor x, Tensor y) -> Tensor"


def not_a_tensor(argument, value, shown):
    kind = type(value).__name__
    return {
        "pybind": Refusal(
            "TypeError", f"ascendc_add: argument '{argument}': expected a torch.Tensor, got {kind}"
        ),
        "lib": Refusal(
            "RuntimeError",
            "ascendc_ops::ascendc_add() Expected a value of type 'Tensor' for argument "
            f"'{argument}' but instead found type '{kind}'.\n"
            f"Position: {'xy'.index(argument)}\nValue: {shown}\n{DECLARATION}\n"
            f"Cast error details: Unable to cast {shown} to Tensor",
        ),
    }


def none(argument):
    # None is an undefined tensor to the dispatcher, which passes it on to the operator.
    return {
        "pybind": Refusal(
            "TypeError",
            f"ascendc_add: argument '{argument}': expected a torch.Tensor, got NoneType",
        ),
        "lib": wrong(argument, "expected a tensor, got an undefined one"),
    }


NO_GRAD = "expected requires_grad=False (no backward is registered), got requires_grad=True"
NO_NZ = "expected storage format ND, got FRACTAL_NZ"

REJECTION = (
    Row(
        "rejection",
        "unchanged",
        "the valid call that every row below changes",
        lambda subject: subject.works(),
    ),
    *(
        row
        for dtype in ("float16", "bfloat16", "float64", "int32", "bool")
        for row in both_arguments(
            dtype, f"is {dtype}", f"expected dtype float32, got {dtype}", change.as_dtype(dtype)
        )
    ),
    *(
        row
        for shape in (
            (8, 2047),
            (2048, 8),
            (8, 2048, 1),
            (1, 8, 2048),
            (16384,),
            (0, 2048),
            (1, 2048),
        )
        for row in both_arguments(
            f"shape-{'x'.join(map(str, shape))}",
            f"has shape {list(shape)}",
            f"expected shape [8, 2048], got {list(shape)}",
            change.shaped(*shape),
        )
    ),
    *both_arguments(
        "transposed",
        "is transposed",
        "expected a contiguous tensor, got strides [1, 8]",
        change.transposed(),
    ),
    *both_arguments(
        "every-second-row",
        "is every second row",
        "expected a contiguous tensor, got strides [4096, 1]",
        change.every_second_row(),
    ),
    *both_arguments(
        "every-second-column",
        "is every second column",
        "expected a contiguous tensor, got strides [4096, 2]",
        change.every_second_column(),
    ),
    *both_arguments(
        "expanded-row",
        "is one row expanded",
        "expected a contiguous tensor, got strides [0, 1]",
        change.one_row_expanded(),
    ),
    *both_arguments(
        "expanded-column",
        "is one column expanded",
        "expected a contiguous tensor, got strides [1, 0]",
        change.one_column_expanded(),
    ),
    *both_arguments(
        "lazily-negated",
        "has the negative bit",
        "expected values in memory, got a lazily negated tensor; call resolve_neg()",
        change.lazily_negated(),
    ),
    *both_arguments(
        "freed-storage",
        "has its storage freed",
        "expected a storage of at least 65536 bytes, got 0",
        change.storage_of(0),
    ),
    *both_arguments(
        "short-storage",
        "has a storage shorter than its shape",
        "expected a storage of at least 65536 bytes, got 100",
        change.storage_of(100),
    ),
    *both_arguments(
        "short-storage-at-offset",
        "has a storage that ends before its last elements",
        "expected a storage of at least 65568 bytes, got 65536",
        change.storage_of(65536, offset=8),
    ),
    # The lib variant is not called for them: torch's dispatcher has kernels of their own for these.
    *both_arguments(
        "sparse",
        "is sparse",
        "expected a strided tensor, got layout Sparse",
        change.sparse(),
        variants=("pybind",),
    ),
    *both_arguments(
        "nested",
        "is nested",
        "expected a strided tensor, got a nested one",
        change.nested(),
        variants=("pybind",),
    ),
    *both_arguments("cpu", "is on the CPU", "expected device npu, got cpu", change.on_cpu()),
    rejected(
        "both-cpu",
        "x and y are on the CPU",
        {"pybind": wrong("x", "expected device npu, got cpu"), "lib": DISPATCHED_TO_CPU},
        x=change.on_cpu(),
        y=change.on_cpu(),
    ),
    *(
        rejected(
            f"{argument}-meta",
            f"{argument} is a meta tensor",
            wrong(argument, "expected device npu, got meta"),
            **{argument: change.on_meta()},
        )
        for argument in ("x", "y")
    ),
    rejected(
        "both-meta",
        "x and y are meta tensors",
        wrong("x", "expected device npu, got meta"),
        variants=("pybind",),
        x=change.on_meta(),
        y=change.on_meta(),
    ),
    # The lib variant computes nothing for meta tensors, but refuses what the kernel would.
    *(
        rejected(
            f"both-meta-{name}",
            f"x and y are meta tensors, and y {how}",
            wrong("y", sentence),
            variants=("lib",),
            x=change.on_meta(),
            y=change.on_meta(then),
        )
        for name, how, then, sentence in (
            ("dtype", "float16", lambda y: y.half(), "expected dtype float32, got float16"),
            ("shape", "[4, 2048]", lambda y: y[:4], "expected shape [8, 2048], got [4, 2048]"),
            (
                "not-contiguous",
                "transposed",
                lambda y: y.t().contiguous().t(),
                "expected a contiguous tensor, got strides [1, 8]",
            ),
            (
                "requires-grad",
                "requires grad",
                lambda y: y.requires_grad_(),
                "expected requires_grad=False (no backward is registered), got requires_grad=True",
            ),
        )
    ),
    rejected(
        "y-other-device",
        "y is on npu:1, x on npu:0",
        wrong("y", "expected device npu:0 like argument 'x', got npu:1"),
        devices=2,
        y=change.on_device(1),
    ),
    rejected(
        "x-other-device",
        "x is on npu:1, y on npu:0",
        wrong("y", "expected device npu:1 like argument 'x', got npu:0"),
        devices=2,
        x=change.on_device(1),
    ),
    *both_arguments("fractal-nz", "is stored in FRACTAL_NZ", NO_NZ, change.fractal_nz()),
    *both_arguments(
        "nchw",
        "is a view of a 4-D tensor",
        "expected storage format ND, got NCHW",
        change.viewed_from_4d(),
    ),
    rejected(
        "output-fractal-nz",
        "the output is allocated in FRACTAL_NZ",
        Refusal("RuntimeError", f"ascendc_add: output 'z': {NO_NZ}"),
        under="output in FRACTAL_NZ",
    ),
    *both_arguments("requires-grad", "requires grad", NO_GRAD, change.requiring_grad()),
    *both_arguments(
        "requires-grad-no-grad",
        "requires grad, under no_grad",
        NO_GRAD,
        change.requiring_grad(),
        under="no_grad",
    ),
    *both_arguments(
        "requires-grad-inference-mode",
        "requires grad, under inference_mode",
        NO_GRAD,
        change.requiring_grad(),
        under="inference_mode",
    ),
    *(
        row
        for argument in ("x", "y")
        for row in (
            rejected(
                f"{argument}-none",
                f"{argument} is None",
                none(argument),
                **{argument: change.given(None)},
            ),
            rejected(
                f"{argument}-list",
                f"{argument} is a list",
                not_a_tensor(argument, [1.0, 2.0], "[1.0, 2.0]"),
                **{argument: change.given([1.0, 2.0])},
            ),
            rejected(
                f"{argument}-float",
                f"{argument} is a float",
                not_a_tensor(argument, 1.5, "1.5"),
                **{argument: change.given(1.5)},
            ),
        )
    ),
    rejected(
        "one-argument",
        "y is missing",
        {
            "pybind": Refusal(
                "TypeError", "ascendc_add() missing 1 required positional argument: 'y'"
            ),
            "lib": Refusal(
                "RuntimeError",
                f"ascendc_ops::ascendc_add() is missing value for argument 'y'. {DECLARATION}",
            ),
        },
        count=1,
    ),
    rejected(
        "three-arguments",
        "one argument too many",
        {
            "pybind": Refusal(
                "TypeError", "ascendc_add() takes 2 positional arguments but 3 were given"
            ),
            "lib": Refusal(
                "RuntimeError",
                "ascendc_ops::ascendc_add() expected at most 2 argument(s) but received 3 "
                f"argument(s). {DECLARATION}",
            ),
        },
        count=3,
    ),
)

# Two changes, one in each argument: the check that comes first in the fixed order is the one told.
ORDER = (
    rejected(
        "order-x-before-y",
        "x and y are float16: x is named",
        wrong("x", "expected dtype float32, got float16"),
        x=change.as_dtype("float16"),
        y=change.as_dtype("float16"),
    ),
    rejected(
        "order-device-before-dtype",
        "x is float16, y on the CPU: the device is named",
        wrong("y", "expected device npu, got cpu"),
        x=change.as_dtype("float16"),
        y=change.on_cpu(),
    ),
    rejected(
        "order-other-device-before-dtype",
        "x is float16, y on npu:1: the device is named",
        wrong("y", "expected device npu:0 like argument 'x', got npu:1"),
        devices=2,
        x=change.as_dtype("float16"),
        y=change.on_device(1),
    ),
    rejected(
        "order-dtype-before-shape",
        "x is [8, 2047], y float16: the dtype is named",
        wrong("y", "expected dtype float32, got float16"),
        x=change.shaped(8, 2047),
        y=change.as_dtype("float16"),
    ),
    rejected(
        "order-shape-before-contiguity",
        "x is transposed, y [8, 2047]: the shape is named",
        wrong("y", "expected shape [8, 2048], got [8, 2047]"),
        x=change.transposed(),
        y=change.shaped(8, 2047),
    ),
    rejected(
        "order-contiguity-before-grad",
        "x requires grad, y is transposed: the strides are named",
        wrong("y", "expected a contiguous tensor, got strides [1, 8]"),
        x=change.requiring_grad(),
        y=change.transposed(),
    ),
    rejected(
        "order-grad-before-format",
        "x is FRACTAL_NZ, y requires grad: grad is named",
        wrong("y", NO_GRAD),
        x=change.fractal_nz(),
        y=change.requiring_grad(),
    ),
)


def equal_in_both(values):
    def check(subject):
        arguments = [subject.device.put(tensor) for tensor in values(subject.torch)]
        pybind, lib = (subject.calls[variant](*arguments).cpu() for variant in ("pybind", "lib"))
        integers = subject.torch.int32
        wrong = pybind.view(integers) != lib.view(integers)
        assert not wrong.any(), (
            f"expected the same bits from both variants, got {int(wrong.sum())} different"
        )
        # Equal is not enough: both could be equally wrong, or the same memory.
        assert reference(*values(subject.torch)).isclose(pybind, equal_nan=True).all(), (
            "expected both variants near torch's CPU result"
        )

    return check


PARITY = tuple(
    Row("parity", name, f"both variants give the same bits: {rule}", equal_in_both(values))
    for name, rule, values in (
        ("seed", "the seed case", seed),
        ("normal-0", "random normal values", normal(0)),
        ("exponents", "exponents from 1e-38 to 3e38", exponents),
        ("zeros-and-subnormals", "+0, -0 and subnormals", zeros_and_subnormals),
        ("inf-and-nan", "inf and NaN", infinities_and_nans),
    )
)

OPERATOR = Operator(
    name="ascendc_add",
    arguments=("x", "y"),
    inputs=seed,
    others=others,
    reference=reference,
    rows=(*PRECISION, *streams.ROWS, *REJECTION, *ORDER, *PARITY),
)
