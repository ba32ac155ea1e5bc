# SPDX-License-Identifier: Apache-2.0
"""Makes an example's tensors, calls both variants, and compares what happens with the oracle."""

from __future__ import annotations

from contextlib import nullcontext

import ascendc_ops
import ascendc_ops_lib  # noqa: F401
import torch
import torch_npu
from torch.masked import MaskedTensor

from contract.oracle import verdict
from contract.plan import NUMEL, SHAPE, STRIDES, Example, Plan

CALLS = {"pybind": ascendc_ops.ascendc_add, "lib": torch.ops.ascendc_ops.ascendc_add}
ACL_FORMAT_ND = 2
ACL_FORMAT_FRACTAL_NZ = 29
FILL = 7.0
PAD = 64
# A number that no sum here is, and no NaN.
JUNK_BYTE = 0xFB
OUTPUT_BYTES = NUMEL * 4
# What torch_npu's allocator gives for an output: 32 bytes more, in steps of 512.
BLOCK_BYTES = (OUTPUT_BYTES + 32 + 511) // 512 * 512 - 32
GUARD_BYTES = 256
CONTEXTS = {"": nullcontext, "no_grad": torch.no_grad, "inference_mode": torch.inference_mode}


class Subclass(torch.Tensor):
    pass


class BareSubclass(torch.Tensor):
    __torch_function__ = torch._C._disabled_torch_function_impl


class Wrapper(torch.Tensor):
    """Looks like the tensor it holds, and has no memory of its own."""

    @staticmethod
    def __new__(cls, held):
        return torch.Tensor._make_wrapper_subclass(
            cls,
            held.shape,
            strides=held.stride(),
            storage_offset=held.storage_offset(),
            dtype=held.dtype,
            device=held.device,
        )

    def __init__(self, held):
        self.held = held

    @classmethod
    def __torch_dispatch__(cls, function, _types, args=(), kwargs=None):
        plain = [each.held if isinstance(each, cls) else each for each in args]
        return function(*plain, **(kwargs or {}))


def pools() -> list[torch.Tensor]:
    """Values whose sums are worth a look: ordinary ones, extremes, and every pattern of bits."""
    generator = torch.Generator().manual_seed(11)
    found = [torch.randn(NUMEL, generator=generator) for _ in range(2)]
    found.append(torch.randn(NUMEL, generator=generator) * 3e38)
    found.append(torch.randn(NUMEL, generator=generator) * 1e-39)
    for _ in range(2):
        bits = torch.randint(-(2**31), 2**31, (NUMEL,), generator=generator)
        found.append(bits.to(torch.int32).view(torch.float32))
    return found


POOLS = pools()


class Guards:
    """The block that the next output on a device lands in, with memory to look at around it.

    The caching allocator hands the smallest block that fits to whoever asks first, so a block that
    is freed right before the call is the output's. It holds junk, as do its own end and its
    neighbours: a kernel that writes too little shows in the output, and one that writes too much
    beside it.
    """

    def __init__(self, device: str):
        self.device = device
        self.junk = torch.full((BLOCK_BYTES,), JUNK_BYTE, dtype=torch.uint8)
        self.low = self.junk[:GUARD_BYTES].to(device)
        self.block = self.junk.to(device)
        self.high = self.junk[:GUARD_BYTES].to(device)
        self.address = self.block.data_ptr()

    def free(self) -> None:
        self.block.copy_(self.junk)
        self.block = None

    def take(self) -> torch.Tensor:
        """The block again, once the output is gone."""
        self.block = torch.empty(BLOCK_BYTES, dtype=torch.uint8, device=self.device)
        return self.block

    def problem(self) -> str:
        for place, memory in (
            ("before", self.low),
            ("right after", self.block[OUTPUT_BYTES:]),
            ("after", self.high),
        ):
            if not memory.cpu().eq(JUNK_BYTE).all():
                return f"expected the memory {place} the output untouched, got it written"
        return ""


def strided(plan: Plan) -> tuple[torch.Tensor, torch.Tensor | None]:
    """The tensor, and the CPU's copy of the block it lies in."""
    dtype = getattr(torch, plan.dtype)
    if plan.storage_format == "FRACTAL_NZ":
        torch.npu.config.allow_internal_format = True
        try:
            made = torch_npu.empty_with_format(
                plan.sizes, dtype=dtype, device=plan.device, acl_format=ACL_FORMAT_FRACTAL_NZ
            )
        finally:
            torch.npu.config.allow_internal_format = False
        return made, None
    span = plan.span
    cpu = None
    valid = plan.dtype == "float32" and (plan.sizes, plan.strides) == (SHAPE, STRIDES)
    if valid and plan.device != "meta":
        cpu = torch.full((span + PAD,), FILL)
        cpu[plan.offset : span] = POOLS[plan.values]
        block = cpu.to(plan.device)
    else:
        block = torch.empty(span, dtype=dtype, device=plan.device)
    if plan.storage_format == "NCHW":
        four = torch.empty((1, 1, 1, block.numel()), dtype=dtype, device=plan.device)
        if cpu is not None:
            four.copy_(block.view(four.shape))
        block = four
    return block.as_strided(plan.sizes, plan.strides, plan.offset), cpu


def dressed(plan: Plan, tensor: torch.Tensor) -> torch.Tensor:
    if plan.dress == "subclass":
        return tensor.as_subclass(Subclass)
    if plan.dress == "bare-subclass":
        return tensor.as_subclass(BareSubclass)
    if plan.dress == "buffer":
        return torch.nn.Buffer(tensor)
    if plan.dress == "parameter":
        return torch.nn.Parameter(tensor, requires_grad=False)
    if plan.dress == "not-owning":
        return torch_npu._C._weak_ref_tensor(tensor)
    if plan.dress == "dlpack":
        return torch.from_dlpack(tensor)
    if plan.dress == "wrapper":
        return Wrapper(tensor)
    return tensor


def laid_out(plan: Plan):
    if plan.kind == "quantised":
        return torch.empty(SHAPE, dtype=torch.qint8, device=plan.device)
    if plan.kind == "jagged":
        rows = [torch.empty(SHAPE[1], device=plan.device)] * SHAPE[0]
        return torch.nested.nested_tensor(rows, layout=torch.jagged)
    if plan.kind == "masked":
        empty = torch.empty(SHAPE, device=plan.device)
        return MaskedTensor(empty, torch.ones(SHAPE, dtype=torch.bool, device=plan.device))
    if plan.kind == "nested":
        return torch.nested.nested_tensor([torch.empty(SHAPE[1], device=plan.device)] * SHAPE[0])
    if plan.kind == "sparse_csr":
        rows = torch.zeros(SHAPE[0] + 1, dtype=torch.int64, device=plan.device)
        empty = torch.empty(0, dtype=torch.int64, device=plan.device)
        return torch.sparse_csr_tensor(
            rows, empty, empty.to(torch.float32), SHAPE, check_invariants=False
        )
    return torch.empty(SHAPE, layout=torch.sparse_coo, device=plan.device)


class Argument:
    """What is passed for a plan; `held` keeps alive what it does not own."""

    def __init__(self, plan: Plan):
        self.plan = plan
        self.cpu = None
        self.held = None
        if plan.kind != "strided":
            given = {"none": None, "list": [1.0, 2.0], "float": 1.5}
            self.value = given[plan.kind] if plan.kind in given else laid_out(plan)
            return
        # torch_npu resizes a storage on the current device.
        current = torch.npu.device(plan.device) if plan.on_npu else nullcontext()
        with current, torch.inference_mode(plan.dress == "inference"):
            self.held, self.cpu = strided(plan)
            if plan.storage is not None:
                self.held.untyped_storage().resize_(plan.storage)
            if plan.negated:
                self.held = torch._neg_view(self.held)
            if plan.conjugated:
                self.held = self.held.conj()
            self.value = dressed(plan, self.held)
            if plan.grad:
                self.value.requires_grad_()

    @property
    def reference(self) -> torch.Tensor:
        return POOLS[self.plan.values].view(SHAPE)

    def problem(self) -> str:
        """An input is read, never written, and so is what lies around it."""
        if self.cpu is None or self.plan.storage is not None or not self.plan.on_npu:
            return ""
        block = torch.as_strided(self.held.detach(), self.cpu.shape, (1,), 0).cpu()
        same = block.view(torch.int32).equal(self.cpu.view(torch.int32))
        return "" if same else "expected the inputs bit-unchanged"


class Caller:
    """Calls of one process; counts what was accepted, and with guards around the output."""

    def __init__(self):
        if (count := torch.npu.device_count()) < 2:
            raise RuntimeError(f"expected two devices to draw from, got {count}")
        torch.npu.set_device(0)
        # Of this process's first memory, so that nothing else is as good a place for an output.
        self.guards = {name: Guards(name) for name in ("npu:0", "npu:1")}
        self.accepted = 0
        self.guarded = 0

    def problem(self, example: Example) -> str:
        """How one of the variants is not what the contract says; empty if both are."""
        step = "making the arguments"
        try:
            x = Argument(example.x)
            arguments = (x, x if example.twice else Argument(example.y))
            for step in CALLS:
                if problem := self.of_variant(example, step, arguments):
                    return f"{step}: {problem}"
            # A fault of a device surfaces here, so that this example has it.
            step = "afterwards"
            for device in self.guards:
                torch.npu.synchronize(device)
        except Exception as error:
            return f"{step}: {type(error).__name__}: {error}"
        return ""

    def broken(self) -> bool:
        """Whether even the valid call fails by now."""
        return bool(self.problem(Example()))

    def of_variant(self, example: Example, variant: str, arguments) -> str:
        expected = verdict(example, variant)
        result, error = None, None
        if expected.device in self.guards:
            self.guards[expected.device].free()
        with CONTEXTS[example.context]():
            try:
                result = CALLS[variant](*(each.value for each in arguments))
            except Exception as caught:
                error = caught
        problem = expected.problem(error)
        if not problem and expected.accepted:
            problem = self.wrong_result(result, expected.device, arguments)
            self.accepted += 1
        address = 0 if result is None or expected.device == "meta" else result.data_ptr()
        result = error = None
        if expected.device in self.guards:
            guards = self.guards[expected.device]
            guards.take()
            if address == guards.address:
                self.guarded += 1
                problem = problem or guards.problem()
        for each in arguments if expected.accepted else ():
            problem = problem or each.problem()
        if torch.npu.current_device() != 0:
            problem = problem or "expected npu:0 current afterwards, got another"
        return problem

    @staticmethod
    def wrong_result(result, device: str, arguments) -> str:
        got = (str(result.device), result.dtype, tuple(result.shape), result.stride())
        expected = (device, torch.float32, SHAPE, STRIDES)
        if got != expected or result.requires_grad or result.storage_offset():
            return f"expected a plain result like {expected}, got {got}"
        if device == "meta":
            return ""
        if torch_npu.get_npu_format(result) != ACL_FORMAT_ND:
            return "expected a result in ND"
        start = result.untyped_storage().data_ptr()
        if any(start == each.held.untyped_storage().data_ptr() for each in arguments):
            return "expected the result in memory of its own"
        values = result.cpu()
        sums = arguments[0].reference + arguments[1].reference
        wrong = values.view(torch.int32) != sums.view(torch.int32)
        # IEEE 754 leaves which NaN it is to the implementation.
        wrong &= ~(values.isnan() & sums.isnan())
        count = int(wrong.sum())
        return f"expected torch's sum, got {count} of {NUMEL} elements different" if count else ""
