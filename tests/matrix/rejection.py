# SPDX-License-Identifier: Apache-2.0
"""Rejection rows: the valid call with ONE change, and who refuses it in which words.

A change takes (subject, CPU tensor of the valid call) and gives what is passed instead of it.
"""

from __future__ import annotations

import builtins
import warnings
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass

from matrix.row import VARIANTS, Row


@dataclass(frozen=True)
class Refusal:
    """The exception's exact type and its whole message, or the beginning that is ours to expect."""

    error: str
    sentence: str
    whole: bool = True

    @property
    def words(self) -> str:
        return f"{self.error}: {self.sentence}{'' if self.whole else '…'}"

    def problem(self, error: BaseException) -> str:
        """How this error is not the refusal; empty if it is."""
        message = str(error)
        same = message == self.sentence if self.whole else message.startswith(self.sentence)
        if type(error) is getattr(builtins, self.error) and same:
            return ""
        return f"expected {self.words}\ngot {type(error).__name__}: {message}"


def as_dtype(name: str) -> Callable:
    return lambda subject, tensor: subject.device.put(tensor.to(getattr(subject.torch, name)))


def shaped(*shape: int) -> Callable:
    return lambda subject, tensor: subject.device.put(subject.torch.ones(shape, dtype=tensor.dtype))


def transposed() -> Callable:
    """The right shape and values over memory that is laid out column by column."""
    return lambda subject, tensor: subject.device.put(tensor.t().contiguous()).t()


def every_second_row() -> Callable:
    return lambda subject, tensor: subject.device.put(tensor.repeat_interleave(2, 0))[::2]


def every_second_column() -> Callable:
    return lambda subject, tensor: subject.device.put(tensor.repeat_interleave(2, 1))[:, ::2]


def one_row_expanded() -> Callable:
    return lambda subject, tensor: subject.device.put(tensor[:1].clone()).expand(tensor.shape)


def one_column_expanded() -> Callable:
    return lambda subject, tensor: subject.device.put(tensor[:, :1].clone()).expand(tensor.shape)


def lazily_negated() -> Callable:
    """Contiguous memory whose values are still to be negated."""
    return lambda subject, tensor: subject.torch._neg_view(subject.device.put(tensor))


def storage_of(nbytes: int, offset: int = 0) -> Callable:
    """A contiguous tensor, `offset` elements into a storage cut to `nbytes` behind its back."""

    def change(subject, tensor):
        block = subject.torch.zeros(offset + tensor.numel(), dtype=tensor.dtype)
        changed = subject.device.put(block)[offset:].view(tensor.shape)
        changed.untyped_storage().resize_(nbytes)
        return changed

    return change


def sparse() -> Callable:
    return lambda subject, tensor: subject.torch.empty(
        tensor.shape, layout=subject.torch.sparse_coo, device="npu:0"
    )


def nested() -> Callable:
    def change(subject, tensor):
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=".*nested tensors is in prototype stage")
            return subject.torch.nested.nested_tensor(list(subject.device.put(tensor)))

    return change


def on_cpu() -> Callable:
    return lambda _subject, tensor: tensor


def on_meta(then: Callable = lambda tensor: tensor) -> Callable:
    return lambda _subject, tensor: then(tensor.to("meta"))


def on_device(index: int) -> Callable:
    return lambda subject, tensor: subject.device.put(tensor, index)


def fractal_nz() -> Callable:
    return lambda subject, tensor: subject.device.fractal_nz(tensor.shape, tensor.dtype)


def viewed_from_4d() -> Callable:
    """Contiguous, in memory that torch_npu calls NCHW, as it does for all 4-D tensors."""

    def change(subject, tensor):
        return subject.device.put(tensor.reshape(1, 1, *tensor.shape)).view(tensor.shape)

    return change


def requiring_grad() -> Callable:
    return lambda subject, tensor: subject.device.put(tensor).requires_grad_()


def given(value) -> Callable:
    return lambda _subject, _tensor: value


def output_in_fractal_nz(subject):
    """While open, every plain allocation on the NPU comes back in FRACTAL_NZ.

    torch_npu gives ND for a plain request, so the check of the output can be seen at work only when
    the allocator is replaced; torch.library does so for this process and takes it back.
    """
    torch = subject.torch
    scope = torch.library._scoped_library("aten", "IMPL", "PrivateUse1")

    def empty(size, *, dtype, device, **_options):
        return subject.device.fractal_nz(size, dtype, device.index or 0)

    class Replaced:
        def __enter__(self):
            library = scope.__enter__()
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", message="(?s).*verriding a previously registered")
                library.impl("empty.memory_format", empty)

        def __exit__(self, *reason):
            return scope.__exit__(*reason)

    return Replaced()


def _no_grad(subject):
    return subject.torch.no_grad()


def _inference_mode(subject):
    return subject.torch.inference_mode()


CONTEXTS = {
    None: lambda _subject: nullcontext(),
    "no_grad": _no_grad,
    "inference_mode": _inference_mode,
    "output in FRACTAL_NZ": output_in_fractal_nz,
}


def rejected(
    name: str,
    rule: str,
    refusal: Refusal | Mapping[str, Refusal],
    *,
    under: str | None = None,
    count: int | None = None,
    devices: int = 1,
    variants: tuple[str, ...] = VARIANTS,
    **changes: Callable,
) -> Row:
    """The row for a call with these arguments changed, or with `count` arguments instead of all.

    `refusal` is one for all variants, or one by variant where the words are not the operator's.
    """

    def check(subject):
        expected = refusal[subject.variant] if isinstance(refusal, Mapping) else refusal
        arguments = [
            changes.get(argument, on_device(0))(subject, tensor)
            for argument, tensor in zip(subject.operator.arguments, subject.inputs(), strict=True)
        ]
        if count is not None:
            arguments = (arguments * count)[:count]
        problem = ""
        with CONTEXTS[under](subject):
            try:
                subject.call(*arguments)
                problem = f"expected {expected.words}\ngot a result"
            except Exception as error:
                problem = expected.problem(error)
        # A refusal leaves nothing behind: no pending error, no broken queue, no wrong device.
        try:
            subject.works()
        except Exception as error:
            problem += f"\nafterwards, a valid call: {error}"
        assert not problem, problem.strip()

    if isinstance(refusal, Mapping):
        words = tuple(f"{variant}: {refusal[variant].words}" for variant in variants)
    else:
        words = (refusal.words,)
    return Row("rejection", name, rule, check, variants=variants, devices=devices, words=words)
