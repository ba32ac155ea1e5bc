# SPDX-License-Identifier: Apache-2.0
"""The lock files: what make lock-check finds, and what an unresolved hash means."""

import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import lock
import lock_file
import pytest
import versions

REPOSITORY = Path(__file__).resolve().parents[2]
X86 = "ci/requirements/x86_64-py311-dev.txt"
ARM = "ci/requirements/aarch64-py311-dev.txt"
LINT = "ci/requirements/x86_64-py311-lint.txt"
DIGEST = "0" * 64


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    shutil.copy(REPOSITORY / "versions.toml", tmp_path)
    shutil.copytree(REPOSITORY / "ci" / "requirements", tmp_path / "ci" / "requirements")
    return tmp_path


def check(root: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(REPOSITORY / "ci" / "lock.py"), "--check", "--root", str(root)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def line_of(root: Path, file: str, start: str) -> int:
    lines = (root / file).read_text(encoding="utf-8").splitlines()
    return next(number for number, line in enumerate(lines, 1) if line.startswith(start))


def replace(file: str, pattern: str, text: str) -> Callable[[Path], None]:
    def tamper(root: Path) -> None:
        path = root / file
        changed, count = re.subn(pattern, text, path.read_text(encoding="utf-8"), count=1)
        assert count == 1
        path.write_text(changed, encoding="utf-8")

    return tamper


def test_the_lock_files_are_what_versions_toml_says(checkout: Path) -> None:
    done = check(checkout)
    assert done.stdout == "lock: every lock file is what versions.toml says\n"
    assert done.returncode == 0


@pytest.mark.parametrize(
    ("tamper", "sentence"),
    [
        pytest.param(
            replace(X86, r"pytest==[\d.]+", "pytest==9.0.0"),
            f"{X86}:{{pytest}}: expected pytest==9.2.0, got pytest==9.0.0",
            id="a-pin-of-another-version",
        ),
        pytest.param(
            replace("versions.toml", r'ninja = "[\d.]+"', 'ninja = "1.0"'),
            f"{X86}:{{ninja}}: expected ninja==1.0, got ninja==1.13.2",
            id="versions-toml-moved-on",
        ),
        pytest.param(
            replace(X86, r"torch==2.13.0\+cpu", "torch==2.13.0"),
            f"{X86}:{{torch==}}: expected torch==2.13.0+cpu, got torch==2.13.0",
            id="torch-without-its-cpu-build",
        ),
        pytest.param(
            replace(X86, r"(?m)^cmake==(.*\n)(    .*\n)*", ""),
            f"{X86}: expected cmake==4.4.5, found no cmake",
            id="a-requirement-that-is-gone",
        ),
        pytest.param(
            replace(X86, r"(sympy==[\d.]+) \\\n(    .*\n)*", r"\1\n"),
            f"{X86}:{{sympy}}: sympy==1.14.0 has no hash",
            id="a-requirement-without-a-hash",
        ),
        pytest.param(
            replace(X86, r"sha256:.", "sha256:x"),
            f"{X86}:4: expected name==version or a sha256, got '--hash=sha256:x",
            id="a-hash-that-is-none",
        ),
        pytest.param(
            replace(ARM, r"$", f"\ntriton==3.7.1 \\\\\n    --hash=sha256:{DIGEST}\n"),
            "triton==3.7.1 belongs to a CUDA build",
            id="a-part-of-a-cuda-build",
        ),
        pytest.param(
            replace(LINT, r"pathspec==[\d.]+", "pathspec==0.1"),
            f"{LINT}:{{pathspec}}: expected pathspec==1.1.1 as in the lock before it, got",
            id="two-locks-that-disagree",
        ),
        pytest.param(
            lambda root: (root / ARM).unlink(),
            f"{ARM}: expected a lock file, found none",
            id="a-lock-file-that-is-gone",
        ),
        pytest.param(
            lambda root: (root / "ci/requirements/sparc-py311-dev.txt").touch(),
            "ci/requirements/sparc-py311-dev.txt: versions.toml asks for no such lock file",
            id="a-lock-file-too-many",
        ),
    ],
)
def test_tampering_is_found(checkout: Path, tamper: Callable[[Path], None], sentence: str) -> None:
    tamper(checkout)
    if name := re.search(r":\{(.+?)\}", sentence):
        line = line_of(checkout, sentence.split(":")[0], name[1])
        sentence = sentence.replace(name[0], f":{line}")
    done = check(checkout)
    assert sentence in done.stderr
    assert done.stderr.endswith(
        "lock: the lock files are not what versions.toml says; run make lock\n"
    )
    assert done.returncode == 1


@pytest.fixture
def solver(monkeypatch: pytest.MonkeyPatch) -> lock.Solver:
    """A solver whose uv answers as for torch's CUDA build."""
    answer = "".join(
        f"{pin} \\\n    --hash=sha256:{DIGEST}\n"
        for pin in (
            "cuda-toolkit==13",
            "nvidia-nccl-cu13==2",
            "sympy==1",
            "torch==9.9",
            "triton==3",
        )
    )
    monkeypatch.setattr(lock.Solver, "compile", lambda *_: answer)
    stack = {"stack": {"torch": "9.9", "python": "3.11"}}
    torch = {"build": "+cpu", "index": "https://torch.example", "sha256": {}}
    platforms = {"sparc": {"wheels": "manylinux_2_28"}}
    return lock.Solver(stack | {"torch": torch, "platforms": platforms}, "sparc")


def test_a_hash_that_is_not_known_is_marked_unresolved(solver: lock.Solver, tmp_path: Path) -> None:
    path = tmp_path / "lock.txt"
    path.write_text(solver.solve_from_cuda_build({"torch": "9.9+cpu"}, None), encoding="utf-8")
    requirements = lock_file.read_lock(path)
    assert [requirement.pin for requirement in requirements] == ["sympy==1", "torch==9.9+cpu"]
    with pytest.raises(lock_file.LockError) as refused:
        lock_file.refuse_unhashed(path, requirements)
    assert str(refused.value) == (
        "lock.txt:3: torch==9.9+cpu is unresolved: no wheel of it was found; "
        "run make lock where https://torch.example answers"
    )


def test_a_hash_written_down_is_used_where_no_wheel_is_found(
    solver: lock.Solver, tmp_path: Path
) -> None:
    solver.versions["torch"]["sha256"]["9.9+cpu sparc"] = "1" * 64
    path = tmp_path / "lock.txt"
    path.write_text(solver.solve_from_cuda_build({"torch": "9.9+cpu"}, None), encoding="utf-8")
    requirements = lock_file.read_lock(path)
    lock_file.refuse_unhashed(path, requirements)
    assert requirements[-1].hashes == {"1" * 64}


def test_every_platform_has_a_lock_for_every_purpose() -> None:
    pins = versions.load_versions()
    for machine in ("x86_64", "aarch64"):
        for group in pins["lock"]:
            path = lock_file.lock_path(pins, machine, group)
            lock_file.refuse_unhashed(path, lock_file.read_lock(path))
