# SPDX-License-Identifier: Apache-2.0
"""The stream and device rows, the same for every operator.

An order row has torch_npu queue a copy that makes stale arguments right, often after slow work. No
row sleeps or measures: whoever overtakes the copy computes from the stale values.
"""

from __future__ import annotations

import threading

from matrix.row import Row

ATTEMPTS = 5
TURNS = 60


def _stale_and_fresh(subject, index=0):
    stale = subject.arguments(index)
    values = subject.others()
    fresh = [subject.device.put(tensor, index) for tensor in values]
    subject.torch.npu.synchronize(index)
    return stale, fresh, subject.reference(*values)


def _refresh(stale, fresh):
    for target, source in zip(stale, fresh, strict=True):
        target.copy_(source)


def after_queued_copy(subject, index=0, turns=TURNS):
    """Each call comes right after queued copies onto its inputs, of values that alternate.

    A launch that overtakes the copies sees the values of the turn before. Whether it does is a race
    each time, so there are many turns, and the queue thread is asleep in some of them.
    """
    values = subject.inputs(), subject.others()
    sources = [[subject.device.put(tensor, index) for tensor in cpu] for cpu in values]
    expected = [subject.reference(*cpu) for cpu in values]
    arguments = subject.arguments(index)
    results = []
    for turn in range(turns):
        if turn % 5 == 0:
            subject.device.let_queue_sleep(index)
        _refresh(arguments, sources[turn % 2])
        results.append(subject.call(*arguments))
    got = [result.cpu() for result in results]
    stale = [turn for turn, result in enumerate(got) if result.equal(expected[(turn + 1) % 2])]
    assert not stale, (
        f"expected every call to see what was queued before it, got {len(stale)} of {turns} calls "
        "that saw the values of the turn before"
    )
    for turn, result in enumerate(got):
        subject.agrees(result, expected[turn % 2])


def before_queued_copy(subject):
    stale, fresh, _ = _stale_and_fresh(subject)
    subject.device.keep_busy()
    result = subject.call(*stale)
    _refresh(stale, fresh)
    subject.agrees(result, subject.reference(*subject.inputs()))


def on_side_stream(subject):
    torch = subject.torch
    stale, fresh, expected = _stale_and_fresh(subject)
    side = torch.npu.Stream()
    with torch.npu.stream(side):
        subject.device.keep_busy()
        _refresh(stale, fresh)
        result = subject.call(*stale)
        # Read back on the side stream: nothing here waits for the default one.
        subject.agrees(result, expected)
        assert torch.npu.current_stream() == side, "expected the side stream current, got another"


def after_event_of_another_stream(subject):
    torch = subject.torch
    stale, fresh, expected = _stale_and_fresh(subject)
    producer, consumer = torch.npu.Stream(), torch.npu.Stream()
    with torch.npu.stream(producer):
        subject.device.keep_busy()
        _refresh(stale, fresh)
        written = producer.record_event()
    with torch.npu.stream(consumer):
        consumer.wait_event(written)
        subject.agrees(subject.call(*stale), expected)


def returns_before_kernel_is_done(subject):
    torch = subject.torch
    arguments = subject.arguments()
    expected = subject.reference(*subject.inputs())
    # A busy machine may let the work finish first; a call that waits finds it finished always.
    for attempt in range(ATTEMPTS):
        torch.npu.synchronize()
        subject.device.keep_busy(seconds=0.05 * 2**attempt)
        result = subject.call(*arguments)
        pending = not torch.npu.current_stream().query()
        subject.agrees(result, expected)
        if pending:
            return
    raise AssertionError(
        f"expected the call to return while the stream is busy, got it idle {ATTEMPTS} times: "
        "the call waits for the device"
    )


def arguments_freed_after_the_call(subject):
    torch = subject.torch
    arguments = subject.arguments()
    junk = [subject.device.put(tensor) for tensor in subject.others()]
    torch.npu.synchronize()
    subject.device.keep_busy()
    result = subject.call(*arguments)
    taken = {tensor.data_ptr() for tensor in arguments}
    del arguments
    blocks = [torch.empty_like(tensor) for tensor in junk for _ in range(4)]
    reused = taken & {block.data_ptr() for block in blocks}
    for block in blocks:
        block.copy_(junk[0])
    assert reused, "expected the freed arguments' memory to be handed out again, got other memory"
    subject.agrees(result, subject.reference(*subject.inputs()))


def from_another_thread(subject):
    outcome = []

    def run():
        try:
            after_queued_copy(subject, turns=24)
        except BaseException as error:
            outcome.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if outcome:
        raise outcome[0]


def on_other_device(subject):
    torch = subject.torch
    with torch.npu.device(0):
        subject.expect(*subject.others(), index=1)
        torch.npu.synchronize(1)
        assert torch.npu.current_device() == 0, (
            f"expected npu:0 current afterwards, got npu:{torch.npu.current_device()}"
        )


def on_other_device_after_queued_copy(subject):
    torch = subject.torch
    with torch.npu.device(0):
        after_queued_copy(subject, index=1)
        assert torch.npu.current_device() == 0, (
            f"expected npu:0 current afterwards, got npu:{torch.npu.current_device()}"
        )


def on_other_device_side_stream(subject):
    torch = subject.torch
    stale, fresh, expected = _stale_and_fresh(subject, 1)
    with torch.npu.stream(torch.npu.Stream(device="npu:1")), torch.npu.device(0):
        subject.device.keep_busy(1)
        _refresh(stale, fresh)
        subject.agrees(subject.call(*stale), expected)


def _row(name, rule, check, **more):
    return Row("streams", name, rule, check, **more)


ROWS = (
    *(
        _row(
            f"after-queued-copy-task-queue-{mode}",
            f"each of {TURNS} calls sees the copies queued before it (TASK_QUEUE_ENABLE={mode})",
            after_queued_copy,
            task_queue=mode,
        )
        for mode in ("0", "1", "2")
    ),
    _row(
        "before-queued-copy",
        "a copy queued after the call does not reach its inputs",
        before_queued_copy,
    ),
    _row("side-stream", "runs on the current stream, in its order", on_side_stream),
    _row(
        "after-event-of-another-stream",
        "waits for an event that its stream waits for",
        after_event_of_another_stream,
    ),
    _row(
        "returns-before-kernel-is-done",
        "a launch is asynchronous: the call returns while the stream is busy",
        returns_before_kernel_is_done,
    ),
    _row(
        "inputs-freed-after-the-call",
        "inputs freed and overwritten right after the call",
        arguments_freed_after_the_call,
    ),
    _row("another-thread", "called from another Python thread", from_another_thread),
    _row(
        "other-device",
        "npu:1 while npu:0 is current: output on npu:1, npu:0 current afterwards",
        on_other_device,
        devices=2,
    ),
    _row(
        "other-device-after-queued-copy",
        "npu:1 while npu:0 is current: sees the copies queued before it",
        on_other_device_after_queued_copy,
        devices=2,
    ),
    _row(
        "other-device-side-stream",
        "npu:1 while npu:0 is current: runs on npu:1's current stream",
        on_other_device_side_stream,
        devices=2,
    ),
)
