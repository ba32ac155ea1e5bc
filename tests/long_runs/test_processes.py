# SPDX-License-Identifier: Apache-2.0
"""Processes that come and go: started in every way, interrupted, and ended in every order."""

import json
import os
import signal
import subprocess
import sys

import pytest

BOTH = """
import torch, torch_npu, ascendc_ops, ascendc_ops_lib

VARIANTS = {"pybind": ascendc_ops.ascendc_add, "lib": torch.ops.ascendc_ops.ascendc_add}
"""
OPS = {"pybind": "ascendc_ops.ascendc_add", "lib": "torch.ops.ascendc_ops.ascendc_add"}
ORDERS = ("ascendc_ops, ascendc_ops_lib", "ascendc_ops_lib, ascendc_ops")
# Each fork runs what it is told as if that were the rest of this program, and ends like one.
FORKS = """
import json, os, signal, sys

for line in sys.stdin:
    program, said = json.loads(line)
    child = os.fork()
    if not child:
        break
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
else:
    sys.exit()
signal.alarm(200)
os.dup2(os.open(said, os.O_WRONLY | os.O_CREAT), 2)
exec(program)
"""

STARTED = (
    BOTH
    + """
import multiprocessing, sys

import torch.utils.data


def right(_=None):
    x = torch.ones(8, 2048).to("npu:0")
    return all(op(x, x).cpu().eq(2).all().item() for op in VARIANTS.values())


def tell(queue):
    try:
        queue.put(right())
    except RuntimeError as error:
        queue.put("spawn" in str(error))


class Samples(torch.utils.data.Dataset):
    def __len__(self):
        return 4

    def __getitem__(self, index):
        x = torch.full((8, 2048), float(index)).to("npu:0")
        return sum(op(x, x).cpu() for op in VARIANTS.values())


def child(method):
    context = multiprocessing.get_context(method)
    queue = context.Queue()
    process = context.Process(target=tell, args=(queue,))
    process.start()
    told = queue.get(timeout=200)
    process.join()
    return told, process.exitcode


if __name__ == "__main__":
    # Before this process has used a device, a forked child may.
    print("fork first", *child("fork"))
    assert right()
    print("fork later, told to spawn", *child("fork"))
    print("spawn", *child("spawn"))
    print("forkserver", *child("forkserver"))
    samples = torch.utils.data.DataLoader(
        Samples(), num_workers=2, multiprocessing_context="forkserver"
    )
    print("workers", [batch.flatten()[0].item() for batch in samples])
    assert right()
"""
)

ENDINGS = {
    "modules-gone-first": (
        "import sys\nfor name in ('ascendc_ops', 'torch_npu'): del sys.modules[name]"
    ),
    "call-at-exit": "import atexit; atexit.register(lambda: op(x, x))",
    "call-in-a-finaliser": (
        "class Last:\n    def __del__(self, op=op, x=x): op(x, x)\nlast = Last()"
    ),
    # A daemon thread would end the process: torch's own functions cannot be in one at exit either.
    "thread-that-goes-on": (
        "import threading\nthreading.Thread(target=lambda: [op(x, x) for _ in range(2000)]).start()"
    ),
    "work-still-queued": "for _ in range(500): z = op(x, z)",
}


def start(program, *arguments, **options):
    return subprocess.Popen(
        [sys.executable, "-W", "ignore", *arguments, *(() if arguments else ("-c", program))],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )


def test_processes_started_in_every_way(tmp_path):
    program = tmp_path / "started.py"
    program.write_text(STARTED)
    process = start(None, str(program))
    out, err = process.communicate(timeout=500)
    assert process.returncode == 0, err
    assert out.splitlines() == [
        "fork first True 0",
        "fork later, told to spawn True 0",
        "spawn True 0",
        "forkserver True 0",
        "workers [0.0, 4.0, 8.0, 12.0]",
    ]


@pytest.fixture(scope="module", params=ORDERS)
def imported(request):
    """A process that has imported all and used no device yet: its forks need no import."""
    process = start(f"import torch, torch_npu, {request.param}\n{FORKS}", stdin=subprocess.PIPE)
    yield process
    process.stdin.close()
    assert process.wait(timeout=60) == 0, process.stderr.read()
    process.stdout.close()
    process.stderr.close()


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("op", OPS.values(), ids=OPS)
def test_an_interpreter_that_ends(imported, op, ending, tmp_path):
    program = f"op = {op}\nx = torch.ones(8, 2048).npu()\nz = op(x, x)\n{ENDINGS[ending]}"
    said = tmp_path / "said"
    print(json.dumps([program, str(said)]), file=imported.stdin, flush=True)
    code = imported.stdout.readline()
    assert code == "0\n", said.read_text()
    assert "Traceback" not in said.read_text(), said.read_text()


@pytest.mark.parametrize("op", OPS.values(), ids=OPS)
def test_an_interrupt_while_it_computes(op):
    program = (
        f"{BOTH}\nop = {op}"
        + """
x = torch.ones(8, 2048).npu()
try:
    number = 0
    while True:
        z = op(x, x)
        number += 1
        if number == 100:
            print("computing", flush=True)
except KeyboardInterrupt:
    pass
assert op(z, x).cpu().eq(3).all()
print("goes on")
"""
    )
    process = start(program, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    assert process.stdout.readline() == "computing\n", process.communicate()[1]
    os.kill(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=200)
    assert (process.returncode, out) == (0, "goes on\n"), err
