# SPDX-License-Identifier: Apache-2.0
"""What a drawn argument is, told in plain values: enough to make it, and to say what must happen.

No torch in here: what the contract says of a plan must not come from the tensor made of it.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields
from typing import Any

SHAPE = (8, 2048)
STRIDES = (2048, 1)
NUMEL = SHAPE[0] * SHAPE[1]
FLOAT_DTYPES = ("float32", "float16", "bfloat16", "float64")
COMPLEX_DTYPES = ("complex64", "complex128")
OTHER_DTYPES = ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "float8_e4m3fn")
DTYPES = (*FLOAT_DTYPES, *COMPLEX_DTYPES, *OTHER_DTYPES)
ITEM_BYTES = {
    **dict.fromkeys(("bool", "int8", "uint8", "float8_e4m3fn"), 1),
    **dict.fromkeys(("float16", "bfloat16", "int16", "uint16"), 2),
    **dict.fromkeys(("float32", "int32"), 4),
    **dict.fromkeys(("float64", "int64", "complex64"), 8),
    "complex128": 16,
}
DEVICES = ("npu:0", "npu:1", "cpu", "meta")
# Arguments that are no tensor at all, and tensors that are not strided.
VALUES = ("none", "list", "float")
LAYOUTS = ("sparse_coo", "sparse_csr", "nested", "quantised")
# torch's own tensors that wrap others, and leave it to Python what an operator does with them.
WRAPPERS = ("jagged", "masked")
# How a strided tensor may be dressed: none of it is the operator's business, except a wrapper.
DRESSES = (
    *("plain", "subclass", "bare-subclass", "parameter", "buffer"),
    *("inference", "not-owning", "dlpack", "wrapper"),
)
FORMATS = ("ND", "NCHW", "FRACTAL_NZ")
CONTEXTS = ("", "no_grad", "inference_mode")


@dataclass(frozen=True)
class Plan:
    """One argument; as it stands, a valid one.

    Strides and the offset count elements; `storage` is what its storage is cut to, in bytes.
    """

    kind: str = "strided"
    device: str = "npu:0"
    dtype: str = "float32"
    sizes: tuple[int, ...] = SHAPE
    strides: tuple[int, ...] = STRIDES
    offset: int = 0
    storage: int | None = None
    storage_format: str = "ND"
    negated: bool = False
    conjugated: bool = False
    grad: bool = False
    dress: str = "plain"
    values: int = 0

    @property
    def numel(self) -> int:
        total = 1
        for size in self.sizes:
            total *= size
        return total

    @property
    def span(self) -> int:
        """The elements its storage must have."""
        if not self.numel:
            return self.offset
        last = sum(
            (size - 1) * stride for size, stride in zip(self.sizes, self.strides, strict=True)
        )
        return self.offset + last + 1

    @property
    def on_npu(self) -> bool:
        return self.device.startswith("npu")

    def __repr__(self) -> str:
        changed = (
            f"{each.name}={getattr(self, each.name)!r}"
            for each in fields(self)
            if getattr(self, each.name) != each.default
        )
        return f"Plan({', '.join(changed)})"


@dataclass(frozen=True)
class Example:
    """One call: `twice` gives the tensor of x as y too."""

    x: Plan = Plan()
    y: Plan = Plan()
    twice: bool = False
    context: str = ""

    @property
    def arguments(self) -> tuple[Plan, Plan]:
        return (self.x, self.x if self.twice else self.y)

    def as_json(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Example:
        held: dict[str, Any] = json.loads(text)
        for name in ("x", "y"):
            plan = held[name]
            sizes, strides = tuple(plan.pop("sizes")), tuple(plan.pop("strides"))
            held[name] = Plan(sizes=sizes, strides=strides, **plan)
        return cls(**held)
