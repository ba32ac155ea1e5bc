# SPDX-License-Identifier: Apache-2.0
"""Rows must be able to fail: each wrong operator here turns the rows that are for it red."""

from __future__ import annotations

import importlib

import pytest

from matrix import row
from matrix.conftest import loaded_cann
from matrix.subject import ACL_FORMAT_ND, Device, Subject

OPERATOR = next(operator for operator in row.operators() if operator.name == "ascendc_add")
ROWS = {each.id: each for each in OPERATOR.rows if each.group != "parity"}


@pytest.fixture(scope="module")
def device():
    importlib.import_module("ascendc_ops")
    import torch
    import torch_npu

    torch.npu.set_device(0)
    _, hostcann = loaded_cann()
    return Device(torch, torch_npu, "host" if hostcann else "npu")


@pytest.fixture
def right(device):
    yield importlib.import_module("ascendc_ops").ascendc_add
    device.torch.npu.set_device(0)


def run(device, name, call):
    ROWS[name].check(Subject(device, OPERATOR, "pybind", {"pybind": call}))


def is_never_launched(_right, torch):
    return lambda x, _y: torch.empty_like(x)


def gives_its_input(_right, _torch):
    return lambda x, _y: x


def gives_the_same_memory_each_time(right, _torch):
    memory = {}

    def call(x, y):
        z = right(x, y)
        kept = memory.setdefault(x.device, z)
        return kept if kept is z else kept.copy_(z)

    return call


def writes_its_input(right, _torch):
    def call(x, y):
        z = right(x, y)
        x.copy_(y)
        return z

    return call


def waits_for_the_device(right, torch):
    def call(x, y):
        z = right(x, y)
        torch.npu.synchronize()
        return z

    return call


def misses_the_last_tile(right, _torch):
    def call(x, y):
        z = right(x, y)
        z[-1:, -256:].copy_(y[-1:, -256:])
        return z

    return call


def reads_the_start_of_the_storage(right, _torch):
    def start(tensor):
        return tensor.as_strided((8, 2048), (2048, 1), 0)

    return lambda x, y: right(start(x), start(y))


def uses_the_default_stream(right, torch):
    def call(x, y):
        with torch.npu.stream(torch.npu.default_stream(x.device)):
            return right(x, y)

    return call


def leaves_the_device_of_its_inputs_current(right, torch):
    def call(x, y):
        torch.npu.set_device(x.device)
        return right(x, y)

    return call


def gives_a_tensor_of_the_current_device(right, torch):
    return lambda x, y: right(x, y).to(f"npu:{torch.npu.current_device()}")


def takes_its_inputs_too_late(right, torch):
    """Computes from what the inputs held at the call before."""
    before = {}

    def call(x, y):
        now = [torch.empty_like(tensor).copy_(tensor) for tensor in (x, y)]
        z = right(*before.get(x.device, now))
        before[x.device] = now
        return z

    return call


def takes_anything(right, torch):
    """Makes what it is given fit, as a wrapper without checks that happens to work would."""
    torch_npu = importlib.import_module("torch_npu")

    def fit(given):
        if not isinstance(given, torch.Tensor):
            given = torch.zeros(8, 2048)
        readable = given.device.type == "cpu" or (
            given.device.type == "npu" and torch_npu.get_npu_format(given) == ACL_FORMAT_ND
        )
        cpu = torch.zeros(16384)
        if readable and given.numel() == 16384 and given.is_contiguous():
            cpu = given.detach().cpu().float().flatten()
        return cpu.reshape(8, 2048).to("npu:0")

    return lambda x, y=None, *_more: right(fit(x), fit(y))


def says_something_else(right, _torch):
    def call(*arguments):
        try:
            return right(*arguments)
        except RuntimeError as error:
            raise RuntimeError(f"{error}.") from error

    return call


def raises_something_else(right, _torch):
    def call(*arguments):
        try:
            return right(*arguments)
        except RuntimeError as error:
            raise ValueError(str(error)) from error

    return call


REFUSALS = tuple(
    name
    for name, each in ROWS.items()
    if each.group == "rejection" and name not in ("unchanged", "output-fractal-nz")
)


@pytest.mark.parametrize(
    ("wrong", "rows"),
    [
        (is_never_launched, ("seed", "normal-0", "unchanged", "x-float16", "200-calls")),
        (gives_its_input, ("seed", "output-is-new", "x-is-y")),
        (gives_the_same_memory_each_time, ("output-is-new", "200-calls")),
        (writes_its_input, ("inputs-unchanged",)),
        (waits_for_the_device, ("returns-before-kernel-is-done",)),
        (misses_the_last_tile, ("seed", "exponents", "unchanged")),
        (reads_the_start_of_the_storage, ("view-at-offset-1", "view-at-offset-8")),
        (uses_the_default_stream, ("side-stream", "after-event-of-another-stream")),
        (leaves_the_device_of_its_inputs_current, ("other-device",)),
        (gives_a_tensor_of_the_current_device, ("other-device",)),
        (takes_its_inputs_too_late, ("after-queued-copy-task-queue-1",)),
        (takes_anything, REFUSALS),
        (says_something_else, ("x-float16", "y-shape-8x2047", "y-cpu", "x-fractal-nz")),
        (raises_something_else, ("x-float16", "y-shape-8x2047", "y-cpu", "x-fractal-nz")),
    ],
)
def test_wrong_operator_turns_rows_red(device, right, wrong, rows):
    passed = []
    for name in rows:
        if device.count < ROWS[name].devices:
            continue
        try:
            run(device, name, wrong(right, device.torch))
        except AssertionError:
            continue
        passed.append(name)
    assert not passed


@pytest.mark.parametrize("name", ["seed", "inf-and-nan", "x-float16", "side-stream"])
def test_right_operator_leaves_rows_green(device, right, name):
    run(device, name, right)
