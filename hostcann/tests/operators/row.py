# SPDX-License-Identifier: Apache-2.0
"""A row of the sweep: one torch call on many inputs, compared with the CPU bit by bit."""

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch

HALVES = (torch.float16, torch.bfloat16)
FLOATS = (*HALVES, torch.float32, torch.float64)
INTS = (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)
SIGNED = INTS[1:]
NUMBERS = (*FLOATS, *INTS)
ALL = (*NUMBERS, torch.bool)
WIDE = (torch.float32, torch.float64)
# What is tried where a dtype only chooses the element size.
MOVED = (torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.int8, torch.int64)
MOVED = (*MOVED, torch.int32, torch.uint8, torch.int16, torch.bool)

# Stands for the device under test among a row's arguments.
DEVICE = object()
SHOWN_FAILURES = 4
# out= is the same code for every sample: a third of them keeps the sweep short.
OUT_EVERY = 3
SHOWN_ITEMS = 5


def dtype_name(dtype) -> str:
    return str(dtype).removeprefix("torch.")


class Args:
    """One call's arguments, as they are on the CPU."""

    def __init__(self, *args, **kwargs):
        self.args = args
        self.kwargs = kwargs

    def __str__(self):
        named = (f"{name}={shown(value)}" for name, value in self.kwargs.items())
        return f"({', '.join([*map(shown, self.args), *named])})"


class View:
    """A tensor as a view of its memory, so that it has these strides on every device.

    Tensor.to() packs what it copies, so the memory is copied and the view is taken again.
    """

    def __init__(self, base, look=lambda base: base, label=""):
        self.base = base
        self.look = look
        self.label = label

    def __str__(self):
        tensor = self.look(self.base)
        return f"{dtype_name(tensor.dtype)}{list(tensor.shape)}{self.label and '-' + self.label}"

    def on(self, device):
        """The memory on this device, and the view of it."""
        base = self.base.clone() if torch.device(device).type == "cpu" else self.base.to(device)
        return base, self.look(base)


def shown(value) -> str:
    if isinstance(value, torch.Tensor):
        return str(View(value))
    if isinstance(value, list | tuple):
        more = len(value) - SHOWN_ITEMS
        items = [*map(shown, value[:SHOWN_ITEMS]), *([f"... {more} more"] if more > 0 else [])]
        return f"[{', '.join(items)}]"
    if value is DEVICE:
        return "device"
    return dtype_name(value) if isinstance(value, torch.dtype) else str(value)


def place(value, device, bases: list):
    """The argument on a device; the memory of each tensor in it is appended to bases."""
    if isinstance(value, torch.Tensor):
        value = View(value)
    if isinstance(value, View):
        base, view = value.on(device)
        bases.append(base)
        return view
    if isinstance(value, list | tuple):
        return type(value)([place(item, device, bases) for item in value])
    return device if value is DEVICE else value


class OfLargest(float):
    """Units in the last place of the largest element: for sums whose terms cancel."""


@dataclass(frozen=True)
class Row:
    name: str
    call: Callable
    # dtype -> the Args to try.
    samples: Callable[[torch.dtype], Iterator[Args]]
    dtypes: tuple = FLOATS
    # Also called with out=: of the right shape, to be resized, and strided.
    out: bool = False
    # What results may differ by, in units of the last place; each use says why.
    ulp: float = 0
    # Part of the short list that runs under every TASK_QUEUE_ENABLE.
    core: bool = False

    def key(self, dtype) -> str:
        return f"{self.name}-{dtype_name(dtype)}"


def check(row: Row, dtype, device) -> int:
    """Fails with every sample (the first few) whose result is not the CPU's; counts the calls."""
    problems = []
    count = 0
    for number, sample in enumerate(row.samples(dtype)):
        with_out = row.out and number % OUT_EVERY == 0
        for label, make_out in outs(with_out):
            count += 1
            problem = difference(row, sample, make_out, device)
            if problem:
                where = f"{row.name}{sample}{label and ' ' + label}, dtype {dtype_name(dtype)}"
                problems.append(f"{where}: {problem}")
    assert count, f"{row.name}: expected samples for {dtype_name(dtype)}, got none"
    more = len(problems) - SHOWN_FAILURES
    assert not problems, "\n".join(
        [
            f"{len(problems)} of {count} calls differ from the CPU",
            *problems[:SHOWN_FAILURES],
            *([f"... and {more} more"] if more > 0 else []),
        ]
    )
    return count


def outs(with_out: bool):
    yield "", None
    if with_out:
        yield "out=same shape", lambda like: View(torch.full_like(like, 1))
        yield "out=resized", lambda like: View(like.new_empty(0))
        yield "out=strided", strided_out


def strided_out(like):
    base = torch.full((*like.shape, 2), 1, dtype=like.dtype)
    return View(base, lambda base: base[..., 0], "strided")


def difference(row: Row, sample: Args, make_out, device) -> str:
    """How the device's answer differs from the CPU's; nothing when it does not."""
    out = {}
    if make_out:
        with warnings.catch_warnings():
            out = {"out": make_out(run(row, sample, {}, "cpu")[0])}
    expected, expected_memory = run(row, sample, out, "cpu")
    try:
        got, got_memory = run(row, sample, out, device)
        problem = compare(got, expected, row.ulp, device)
        # What the call left in its arguments' memory, also between and around their elements.
        return problem or compare(
            got_memory, expected_memory, row.ulp, device, "memory of the arguments: "
        )
    except (RuntimeError, ValueError, TypeError, IndexError, NotImplementedError, Warning) as error:
        return f"raised {type(error).__name__}: {sentence(error)}"


def run(row: Row, sample: Args, out: dict, device):
    memory = []
    args = place(sample.args, device, memory)
    kwargs = {k: place(v, device, memory) for k, v in (sample.kwargs | out).items()}
    result = row.call(*args, **kwargs)
    return result, memory


def sentence(error) -> str:
    """hostcann's own words of an error of torch_npu, else its first line."""
    lines = str(error).splitlines() or [""]
    return next((line for line in lines if "hostcann" in line), lines[0])


def compare(got, expected, ulp, device, where="") -> str:
    if isinstance(expected, torch.Tensor):
        return compare_tensors(got, expected, ulp, device, where)
    if isinstance(expected, list | tuple):
        if len(got) != len(expected):
            return f"{where}expected {len(expected)} results, got {len(got)}"
        pairs = enumerate(zip(got, expected, strict=True))
        parts = (compare(g, e, ulp, device, f"{where}[{i}] ") for i, (g, e) in pairs)
        return next(filter(None, parts), "")
    return "" if got == expected else f"{where}expected {expected!r}, got {got!r}"


def compare_tensors(got, expected, ulp, device, where="") -> str:
    if not isinstance(got, torch.Tensor):
        return f"{where}expected a tensor, got {type(got).__name__}"
    sort = torch.device(device).type
    if expected.device.type == "cpu" and got.device.type not in (sort, "cpu"):
        return f"{where}expected a tensor on {sort}, got one on {got.device}"
    got, expected = got.detach().cpu(), expected.detach()
    if (got.dtype, got.shape) != (expected.dtype, expected.shape):
        return f"{where}expected {View(expected)}, got {View(got)}"
    got_bits, expected_bits = bits(got), bits(expected)
    if got_bits.equal(expected_bits):
        return ""
    # Any NaN equals any NaN: its sign and payload are nobody's promise.
    wrong = (got_bits != expected_bits) & ~(got.isnan() & expected.isnan())
    if ulp and wrong.any():
        wrong &= ~near(got, expected, ulp)
    count = int(wrong.sum())
    if not count:
        return ""
    at = tuple(wrong.nonzero()[0].tolist())
    return (
        f"{where}{count} of {expected.numel()} elements, the first at {list(at)}: "
        f"expected {expected[at].item()!r}, got {got[at].item()!r}"
    )


def bits(tensor):
    if tensor.dtype == torch.bool:
        return tensor
    integers = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
    return tensor.contiguous().view(integers[tensor.element_size()])


def near(got, expected, ulp):
    step = torch.finfo(got.dtype).eps if got.is_floating_point() else 0
    tiny = torch.finfo(got.dtype).tiny if got.is_floating_point() else 0
    if isinstance(ulp, OfLargest):
        largest = expected.double().nan_to_num(0, 0, 0).abs().max().item()
        return torch.isclose(
            got.double(), expected.double(), rtol=0, atol=ulp * step * largest, equal_nan=True
        )
    return torch.isclose(
        got.double(), expected.double(), rtol=ulp * step, atol=ulp * tiny, equal_nan=True
    )
