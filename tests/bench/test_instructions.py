# SPDX-License-Identifier: Apache-2.0
"""The instructions that a checked call takes of the caller, which no busy machine changes.

Of the whole call, as far as the launch: Python, binding, checks, allocation.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from bench.count_instructions import CALLS

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
# Of what torch.add takes in the same run, which another processor or Python changes alike. Counted
# on the default stack: 0.472 and 0.596, where two runs differ by less than a thousandth.
LIMIT = {"pybind": 0.49, "lib": 0.62}

pytestmark = pytest.mark.skipif(
    os.environ.get("DEVICE") != "host", reason="callgrind has no NPU's driver to count through"
)


def library(folder: Path, source: str, name: str) -> Path:
    compiler = "gcc" if source.endswith(".c") else "g++"
    command = [compiler, "-shared", "-fPIC", "-O2", f"-I{ROOT / 'kernels'}", f"-Wl,-soname,{name}"]
    subprocess.run([*command, "-o", folder / name, HERE / "native" / source], check=True)
    return folder / name


@pytest.fixture(scope="module")
def counted(tmp_path_factory) -> dict[str, int]:
    """Instructions per call, by variant."""
    assert shutil.which("valgrind"), "valgrind is missing: apt-get install valgrind"
    folder = tmp_path_factory.mktemp("callgrind")
    libraries = [
        library(folder, "callgrind.c", "libcounter.so"),
        library(folder, "no_launch.cpp", "libascendc_kernels.so"),
    ]
    command = ["valgrind", "--tool=callgrind", "--instr-atstart=no", "--separate-threads=yes"]
    # Else the thread that polls torch_npu's queue keeps the others waiting.
    command += ["--fair-sched=try"]
    command += [f"--callgrind-out-file={folder / 'out'}", sys.executable, "-P", "-W", "ignore"]
    # On the calling thread: what queueing takes depends on whether the queue's thread is asleep. A
    # large device does not fit beside valgrind.
    env = os.environ | {"TASK_QUEUE_ENABLE": "0", "PYTHONHASHSEED": "0"}
    env |= {"HOSTCANN_DEVICE_MEMORY": "256M", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [*command, HERE / "count_instructions.py", *libraries],
        env=env,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    counts = {}
    for file in folder.glob("out.*-01"):
        text = file.read_text()
        if name := re.search(r"^desc: Trigger: Client Request: (.+)$", text, re.MULTILINE):
            total = re.search(r"^(?:summary|totals): (\d+)", text, re.MULTILINE)
            counts[name[1]] = int(total[1]) // CALLS
    return counts


@pytest.mark.parametrize("variant", LIMIT)
def test_call_takes_no_more_instructions_than_its_share_of_torch_add(counted, variant) -> None:
    got, most = counted[variant], LIMIT[variant] * counted["torch.add"]
    assert got <= most, (
        f"expected a call of {variant} to take at most {most:.0f} instructions, got {got}; see "
        "what grew with callgrind_annotate, or say in this file why it may"
    )
