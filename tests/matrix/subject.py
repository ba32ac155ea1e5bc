# SPDX-License-Identifier: Apache-2.0
"""What a row works with: the NPUs of this process, and one operator in one variant."""

from __future__ import annotations

import time

# Slow work that rows put in front of a call: long against a launch, short for a person.
BUSY_SECONDS = 0.05
BUSY_BYTES = 16 << 20
QUEUE_POLL_SECONDS = 0.001
ACL_FORMAT_ND = 2
ACL_FORMAT_FRACTAL_NZ = 29
# Makes numbers that no row expects, and no NaN: any NaN counts as the NaN that some rows expect.
JUNK_BYTE = 0xFB


class Device:
    """The NPUs of this process. Only copies are used, so that no other operator is under test."""

    def __init__(self, torch, torch_npu, kind: str):
        self.torch = torch
        self.torch_npu = torch_npu
        self.kind = kind
        self.count = torch.npu.device_count()
        self._used = set()
        self._blocks = {}
        self._copy_seconds = {}

    def put(self, tensor, index: int = 0):
        self._used.add(index)
        return tensor.to(f"npu:{index}")

    def settle(self) -> None:
        """Waits for every device in use and raises what is pending there."""
        for index in sorted(self._used):
            self.torch.npu.synchronize(index)

    def broken(self) -> str:
        """Why no row can run in this process any more; empty if one can.

        A stream that a fault has stopped refuses everything after it, and a dead queue of torch_npu
        drops what is queued and says nothing.
        """
        try:
            self.settle()
            for index in sorted(self._used):
                value = self.torch.rand(8)
                target = self.put(self.torch.zeros(8), index)
                target.copy_(self.put(value, index))
                if not target.cpu().equal(value):
                    return f"npu:{index} drops what is queued"
        except Exception as error:
            return str(error).splitlines()[0]
        return ""

    def fractal_nz(self, shape, dtype, index: int = 0):
        """A tensor that is contiguous by its strides and FRACTAL_NZ by its memory."""
        self.torch.npu.config.allow_internal_format = True
        try:
            return self.torch_npu.empty_with_format(
                tuple(shape), dtype=dtype, device=f"npu:{index}", acl_format=ACL_FORMAT_FRACTAL_NZ
            )
        finally:
            self.torch.npu.config.allow_internal_format = False

    def keep_busy(self, index: int = 0, seconds: float = BUSY_SECONDS) -> None:
        """Puts about this much work on the current stream of npu:index, and returns at once."""
        source, target = self._busy_blocks(index)
        for _ in range(max(1, round(seconds / self._copy_seconds[index]))):
            target.copy_(source)

    def let_queue_sleep(self, index: int = 0) -> None:
        """Leaves torch_npu's queue thread without work until it sleeps.

        The thread polls for a millisecond first. What is queued next waits for it to wake up, and a
        launch that does not drain the queue is faster than that.
        """
        self.keep_busy(index, QUEUE_POLL_SECONDS * 3)
        self.torch.npu.synchronize(index)

    def _busy_blocks(self, index: int):
        if index not in self._blocks:
            with self.torch.npu.device(index):
                blocks = [
                    self.torch.empty(BUSY_BYTES, dtype=self.torch.uint8, device=f"npu:{index}")
                    for _ in range(2)
                ]
                stream = self.torch.npu.current_stream()
                seconds = []
                for _ in range(3):
                    stream.synchronize()
                    start = time.perf_counter()
                    blocks[1].copy_(blocks[0])
                    stream.synchronize()
                    seconds.append(time.perf_counter() - start)
            self._blocks[index] = blocks
            self._copy_seconds[index] = min(seconds)
        return self._blocks[index]


class Subject:
    """One operator in one variant; `calls` has every variant of this process, for parity."""

    def __init__(self, device: Device, operator, variant: str, calls: dict):
        self.device = device
        self.torch = device.torch
        self.operator = operator
        self.variant = variant
        self.calls = calls
        self.call = calls.get(variant)

    def inputs(self):
        """The valid call's arguments, on the CPU."""
        return self.operator.inputs(self.torch)

    def others(self):
        """Other valid arguments, on the CPU; no element of the result is that of `inputs`."""
        return self.operator.others(self.torch)

    def arguments(self, index: int = 0):
        """The valid call's arguments, on npu:index."""
        return [self.device.put(tensor, index) for tensor in self.inputs()]

    def reference(self, *cpu):
        return self.operator.reference(*cpu)

    def works(self) -> None:
        """The unchanged valid call gives the right result."""
        self.expect(*self.inputs())

    def expect(self, *cpu, index: int = 0, **rule):
        """Calls with these values on npu:index and checks the result and its memory."""
        arguments = [self.device.put(tensor, index) for tensor in cpu]
        result = self.call_on_junk(*arguments)
        self.is_fresh(result, *arguments)
        self.agrees(result, self.reference(*cpu), **rule)
        return result

    def call_on_junk(self, *arguments):
        """Calls so that the output lands in memory full of junk.

        The caching allocator hands a freed block straight back, and the block may hold the very
        result that is expected: a kernel that was never launched would pass.
        """
        held = []
        for _ in range(8):
            spans = self._junk_blocks(arguments[0])
            result = self.call(*arguments)
            start = result.data_ptr()
            if any(low <= start < high for low, high in spans):
                return result
            held.append(result)
        raise AssertionError(
            f"expected the output in one of the blocks filled with junk, got {len(held)} outputs "
            "elsewhere; this row would not notice a kernel that was never launched"
        )

    def _junk_blocks(self, like):
        size = like.numel() * like.element_size()
        junk = self.torch.full((size,), JUNK_BYTE, dtype=self.torch.uint8)
        blocks = [junk.to(like.device) for _ in range(2)]
        return [(block.data_ptr(), block.data_ptr() + size) for block in blocks]

    def is_fresh(self, result, *arguments) -> None:
        """The result is new, plain memory on the arguments' device."""
        first = arguments[0]
        expected = {
            "device": first.device,
            "requires_grad": False,
            "contiguous": True,
            "storage offset": 0,
            "storage format": ACL_FORMAT_ND,
            "shares memory with an argument": False,
        }
        memory = result.untyped_storage().data_ptr()
        got = {
            "device": result.device,
            "requires_grad": result.requires_grad,
            "contiguous": result.is_contiguous(),
            "storage offset": result.storage_offset(),
            "storage format": self.device.torch_npu.get_npu_format(result),
            "shares memory with an argument": memory
            in {tensor.untyped_storage().data_ptr() for tensor in arguments},
        }
        wrong = {name: value for name, value in got.items() if value != expected[name]}
        right = {name: expected[name] for name in wrong}
        assert not wrong, f"output: expected {right}, got {wrong}"

    def agrees(self, result, expected, *, tolerance: float | None = None) -> None:
        """The result, read back, is the expected CPU tensor: to the bit or within tolerance."""
        got = result.cpu()
        assert (got.dtype, got.shape) == (expected.dtype, expected.shape), (
            f"expected {expected.dtype} {list(expected.shape)}, got {got.dtype} {list(got.shape)}"
        )
        if tolerance is None:
            wrong = self.differs(got, expected)
        else:
            wrong = ~self.torch.isclose(
                got, expected, rtol=tolerance, atol=tolerance, equal_nan=True
            )
        count = int(wrong.sum())
        if not count:
            return
        at = tuple(int(index) for index in wrong.nonzero()[0])
        raise AssertionError(
            f"expected torch's CPU result, got {count} of {expected.numel()} elements different; "
            f"the first at {list(at)}: expected {self._shown(expected[at])}, "
            f"got {self._shown(got[at])}"
        )

    def differs(self, got, expected):
        """Where two CPU tensors differ by a bit; any NaN equals any NaN.

        IEEE 754 leaves the payload and the sign of a computed NaN to the implementation.
        """
        bits = self._bits(got) != self._bits(expected)
        if not got.is_floating_point():
            return bits
        return bits & ~(got.isnan() & expected.isnan())

    def _bits(self, tensor):
        if tensor.dtype == self.torch.bool:
            return tensor
        integers = {1: "int8", 2: "int16", 4: "int32", 8: "int64"}
        return tensor.contiguous().view(getattr(self.torch, integers[tensor.element_size()]))

    def _shown(self, element) -> str:
        bits = int(self._bits(element.reshape(1))[0]) & ((1 << (8 * element.element_size())) - 1)
        return f"{element.item()!r} (0x{bits:0{2 * element.element_size()}x})"
