# SPDX-License-Identifier: Apache-2.0
"""ci/bootstrap.sh in a small checkout: prerequisites, .venv, the download cache, failures."""

import base64
import hashlib
import os
import platform
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
PYTHON = sys._base_executable  # type: ignore[attr-defined]
MACHINE = platform.machine()
# pip's setting for a machine without a network.
NOWHERE = "PIP_NO_INDEX=1"


def make_wheel(folder: Path, name: str, version: str, files: dict[str, bytes]) -> str:
    """A wheel with these files; returns its SHA-256."""
    folder.mkdir(parents=True, exist_ok=True)
    info = f"{name}-{version}.dist-info"
    wheel = "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    held = files | {f"{info}/WHEEL": wheel.encode(), f"{info}/METADATA": metadata.encode()}
    record = ""
    for path, content in held.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        record += f"{path},sha256={digest},{len(content)}\n"
    held[f"{info}/RECORD"] = f"{record}{info}/RECORD,,\n".encode()
    file = folder / f"{name}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(file, "w") as archive:
        for path, content in held.items():
            archive.writestr(path, content)
    return hashlib.sha256(file.read_bytes()).hexdigest()


class Checkout:
    """The real scripts over two made-up packages and the real uv."""

    def __init__(self, root: Path, links: Path, cache: Path):
        self.root = root
        self.links = links
        self.cache = cache
        self.venv = root / ".venv"
        self.empty = root / "empty"
        self.empty.mkdir(parents=True)
        (root / "ci" / "requirements" / "default").mkdir(parents=True)
        for script in (
            "bootstrap.sh",
            "environment.py",
            "files.py",
            "lock_file.py",
            "versions.py",
            "wheel_cache.py",
        ):
            shutil.copy(REPOSITORY / "ci" / script, root / "ci")
        (root / "versions.toml").write_text(
            f"""[stack]
python = "{sys.version_info[0]}.{sys.version_info[1]}"
torch = "1.0"
[stacks]
[torch_pythons]
"1.0" = ["{sys.version_info[0]}.{sys.version_info[1]}"]
[torch]
index = "{(root / "index").as_uri()}"
[platforms.{MACHINE}]
[lock]
on_demand = ["conda"]
[lock.groups]
dev = []
conda = []
"""
        )
        tag = f"py{sys.version_info[0]}{sys.version_info[1]}"
        self.lock = root / "ci" / "requirements" / "default" / f"{MACHINE}-{tag}-dev.txt"
        self.wheels = cache / "wheels" / f"{MACHINE}-{tag}"

    def write_lock(self, hashes: dict[str, str]) -> None:
        self.lock.write_text(
            "".join(f"{pin} \\\n    --hash=sha256:{digest}\n" for pin, digest in hashes.items())
        )

    def start(self, source: str = "", *arguments: str) -> subprocess.Popen[str]:
        """`source` is pip's setting for where packages are, by default the folder of wheels."""
        env = {k: v for k, v in os.environ.items() if not k.startswith(("PIP_", "UV_"))}
        name, _, value = (source or f"PIP_FIND_LINKS={self.links}").partition("=")
        env |= {"PIP_INDEX_URL": self.empty.as_uri(), "PIP_CONFIG_FILE": os.devnull, name: value}
        env |= {"ASCENDC_OPS_CACHE": str(self.cache), "PYTHON": PYTHON}
        return subprocess.Popen(
            [self.root / "ci" / "bootstrap.sh", *arguments],
            env=env,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, source: str = "", *arguments: str) -> tuple[int, str, str]:
        process = self.start(source, *arguments)
        out, err = process.communicate(timeout=120)
        return process.returncode, out, err

    def imports(self, module: str) -> str:
        command = [self.venv / "bin" / "python", "-c", f"import {module}; print({module}.VALUE)"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        return done.stdout.strip()


@pytest.fixture(scope="session")
def links(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """A folder of wheels, and the hash of each pin."""
    folder = tmp_path_factory.mktemp("links")
    uv = (Path(sys.executable).parent / "uv").read_bytes()
    return folder, {
        "uv==1.0": make_wheel(folder, "uv", "1.0", {"uv-1.0.data/scripts/uv": uv}),
        "alpha==1.0": make_wheel(folder, "alpha", "1.0", {"alpha.py": b"VALUE = 1\n"}),
    }


@pytest.fixture(scope="session")
def filled_cache(
    links: tuple[Path, dict[str, str]], tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """A cache as the first checkout of a machine leaves it."""
    root = tmp_path_factory.mktemp("first")
    first = Checkout(root / "checkout", links[0], root / "cache")
    first.write_lock(links[1])
    code, out, err = first.run()
    assert (code, err) == (0, "")
    assert "environment: download 2 packages ...\n" in out
    assert "environment: .venv is ready: " in out
    assert first.imports("alpha") == "1"
    return first.cache


@pytest.fixture
def checkout(links: tuple[Path, dict[str, str]], filled_cache: Path, tmp_path: Path) -> Checkout:
    """A second checkout of the machine, with a cache of its own to damage."""
    shutil.copytree(filled_cache, tmp_path / "cache")
    made = Checkout(tmp_path / "checkout", links[0], tmp_path / "cache")
    made.write_lock(links[1])
    return made


def test_a_second_checkout_downloads_nothing(checkout: Checkout) -> None:
    code, out, err = checkout.run(NOWHERE)
    assert (code, err) == (0, "")
    assert "download" not in out
    assert checkout.imports("alpha") == "1"


def test_a_second_run_does_nothing(checkout: Checkout) -> None:
    checkout.run()
    before = (checkout.venv / "installed").stat().st_mtime_ns
    assert checkout.run() == (0, "", "")
    assert (checkout.venv / "installed").stat().st_mtime_ns == before


def test_a_group_on_demand_is_added_when_asked_for(
    checkout: Checkout, links: tuple[Path, dict[str, str]]
) -> None:
    digest = make_wheel(links[0], "beta", "1.0", {"beta.py": b"VALUE = 2\n"})
    lock = checkout.lock.with_name(checkout.lock.name.replace("-dev", "-conda"))
    lock.write_text(f"beta==1.0 \\\n    --hash=sha256:{digest}\n")
    checkout.run()
    assert checkout.imports("beta") == ""
    code, out, err = checkout.run("", "conda")
    assert (code, err) == (0, "")
    assert "environment: download beta==1.0 ...\n" in out
    assert (checkout.imports("alpha"), checkout.imports("beta")) == ("1", "2")
    # The others are not made again for it, nor it for them.
    assert checkout.run() == checkout.run("", "conda") == (0, "", "")
    # A .venv that is made again has it only when it is asked for again.
    (checkout.venv / "installed").unlink()
    checkout.run()
    assert checkout.imports("beta") == ""
    checkout.run("", "conda")
    assert checkout.imports("beta") == "2"


def test_an_interrupted_venv_is_made_again(checkout: Checkout) -> None:
    checkout.run()
    (checkout.venv / "installed").unlink()
    next(checkout.venv.glob("lib/*/site-packages/alpha.py")).unlink()
    code, out, _ = checkout.run()
    assert (code, "environment: .venv is ready: " in out) == (0, True)
    assert checkout.imports("alpha") == "1"


def test_a_venv_without_its_interpreter_is_made_again(checkout: Checkout) -> None:
    checkout.run()
    (checkout.venv / "bin" / "python").unlink()
    assert checkout.run()[0] == 0
    assert checkout.imports("alpha") == "1"


def test_a_changed_lock_makes_the_venv_again(
    checkout: Checkout, links: tuple[Path, dict[str, str]], tmp_path: Path
) -> None:
    checkout.run()
    more = tmp_path / "more"
    shutil.copytree(checkout.links, more)
    checkout.links = more
    hashes = dict(links[1])
    del hashes["alpha==1.0"]
    hashes["alpha==2.0"] = make_wheel(more, "alpha", "2.0", {"alpha.py": b"VALUE = 2\n"})
    checkout.write_lock(hashes)
    code, out, err = checkout.run()
    assert (code, err) == (0, "")
    assert "environment: download alpha==2.0 ...\n" in out
    assert checkout.imports("alpha") == "2"


@pytest.mark.parametrize("damage", [b"", b"partial"], ids=["empty", "partial"])
def test_a_damaged_wheel_in_the_cache_is_fetched_again(checkout: Checkout, damage: bytes) -> None:
    wheel = checkout.wheels / "alpha-1.0-py3-none-any.whl"
    whole = wheel.read_bytes()
    wheel.write_bytes(damage)
    code, out, err = checkout.run()
    assert (code, err) == (0, "")
    assert f"{wheel}: expected the sha256 of the lock, got another: removed\n" in out
    assert wheel.read_bytes() == whole


def test_damage_in_the_unpacked_copies_is_repaired(checkout: Checkout) -> None:
    shutil.rmtree(checkout.cache / "uv" / "archive-v0")
    (checkout.cache / "uv" / "archive-v0").write_text("no folder")
    code, _, err = checkout.run()
    assert (code, err) == (0, "")
    assert checkout.imports("alpha") == "1"


def test_a_download_that_fails_is_one_sentence(checkout: Checkout) -> None:
    (checkout.wheels / "alpha-1.0-py3-none-any.whl").unlink()
    code, _, err = checkout.run(NOWHERE)
    assert code == 1
    assert err == (
        "environment: pip could not download alpha==1.0 (ERROR: No matching distribution found for "
        "alpha==1.0): check the network and pip's index settings; the whole output is in "
        "build/log/environment.log\n"
    )
    assert not (checkout.venv / "installed").exists()


def test_another_file_under_the_right_name_is_refused(
    checkout: Checkout, links: tuple[Path, dict[str, str]]
) -> None:
    checkout.write_lock(links[1] | {"alpha==1.0": "0" * 64})
    code, _, err = checkout.run()
    assert code == 1
    assert err.startswith(
        "environment: pip could not download alpha==1.0 (ERROR: THESE PACKAGES DO"
    )
    assert err.count("\n") == 1
    assert not (checkout.venv / "installed").exists()


def test_an_unresolved_requirement_is_refused_before_anything_is_made(checkout: Checkout) -> None:
    with checkout.lock.open("a") as file:
        file.write("torch==9.9+cpu\n    # unresolved: nobody has it\n")
    code, out, err = checkout.run()
    assert (code, out) == (1, "")
    assert (
        err == f"environment: {checkout.lock.name}:5: torch==9.9+cpu is unresolved: nobody has it\n"
    )
    assert not checkout.venv.exists()


def test_torch_comes_from_the_index_that_versions_toml_names(
    checkout: Checkout, links: tuple[Path, dict[str, str]]
) -> None:
    folder = checkout.root / "index" / "torch"
    digest = make_wheel(folder, "torch", "9.9+cpu", {"torch.py": b"VALUE = 9\n"})
    name = "torch-9.9+cpu-py3-none-any.whl"
    (folder / "index.html").write_text(f'<!DOCTYPE html><a href="{name}">{name}</a>')
    checkout.write_lock(links[1] | {"torch==9.9+cpu": digest})
    code, _, err = checkout.run()
    assert (code, err) == (0, "")
    assert checkout.imports("torch") == "9"


def test_two_checkouts_at_once_share_the_downloads(
    checkout: Checkout, links: tuple[Path, dict[str, str]], tmp_path: Path
) -> None:
    shutil.rmtree(checkout.cache)
    other = Checkout(tmp_path / "other", links[0], checkout.cache)
    other.write_lock(links[1])
    processes = [checkout.start(), other.start()]
    outputs = [process.communicate(timeout=120) for process in processes]
    assert [process.returncode for process in processes] == [0, 0]
    assert sum("download 2 packages ..." in out for out, _ in outputs) == 1
    assert (checkout.imports("alpha"), other.imports("alpha")) == ("1", "1")


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    """A PATH with nothing but bash and what a row adds."""
    folder = tmp_path / "bin"
    folder.mkdir()
    bash = shutil.which("bash")
    assert bash is not None
    (folder / "bash").symlink_to(bash)
    return folder


def check_prerequisites(tools: Path, **variables: str) -> tuple[int, str]:
    done = subprocess.run(
        [REPOSITORY / "ci" / "bootstrap.sh", "--check"],
        env={"PATH": str(tools), **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stderr


def fake(tools: Path, name: str, output: str = "", code: int = 0) -> None:
    tool = tools / name
    tool.write_text(f"#!{tools / 'bash'}\nprintf '{output}'\nexit {code}\n")
    tool.chmod(0o755)


@pytest.mark.parametrize(
    ("python", "present", "sentences"),
    [
        pytest.param(r"3.11\n\nTrue\n", ["g++", "make"], [], id="all-there"),
        pytest.param(
            None,
            ["g++", "make"],
            ["python3.11 is missing: apt-get install python3.11"],
            id="python",
        ),
        pytest.param(
            r"3.11\nensurepip\nTrue\n",
            ["g++", "make"],
            ["python3.11's module ensurepip is missing: apt-get install python3.11-venv"],
            id="venv",
        ),
        pytest.param(
            r"3.11\n\nFalse\n",
            ["g++", "make"],
            ["python3.11's header Python.h is missing: apt-get install python3.11-dev"],
            id="headers",
        ),
        pytest.param(
            r"3.11\n\nTrue\n", ["make"], ["g++ is missing: apt-get install g++"], id="g++"
        ),
        pytest.param(
            r"3.11\n\nTrue\n", ["g++"], ["make is missing: apt-get install make"], id="make"
        ),
        pytest.param(
            None,
            [],
            [
                "python3.11 is missing: apt-get install python3.11",
                "g++ is missing: apt-get install g++",
                "make is missing: apt-get install make",
            ],
            id="nothing-there",
        ),
    ],
)
def test_a_missing_prerequisite_is_one_line_naming_the_package(
    tools: Path, python: str | None, present: list[str], sentences: list[str]
) -> None:
    if python is not None:
        fake(tools, "python3.11", python)
    for name in present:
        fake(tools, name)
    code, err = check_prerequisites(tools)
    assert err == "".join(f"bootstrap: {sentence}\n" for sentence in sentences)
    assert code == (1 if sentences else 0)


@pytest.mark.parametrize(
    ("output", "exit_code", "got"),
    [
        pytest.param(r"3.12\n\nTrue\n", 0, "3.12 (other)", id="another-release"),
        pytest.param("", 1, "'other', which does not run", id="a-program-that-fails"),
        pytest.param(None, 0, "'other', which is not there", id="nothing"),
    ],
)
def test_a_wrong_python_is_refused(
    tools: Path, output: str | None, exit_code: int, got: str
) -> None:
    for name in ("g++", "make"):
        fake(tools, name)
    if output is not None:
        fake(tools, "other", output, exit_code)
    code, err = check_prerequisites(tools, PYTHON="other")
    assert (code, err) == (1, f"bootstrap: PYTHON: expected Python 3.11, got {got}\n")


def test_the_python_that_runs_the_tests_has_all_prerequisites() -> None:
    path = os.environ["PATH"]
    done = subprocess.run(
        [REPOSITORY / "ci" / "bootstrap.sh", "--check"],
        env={"PATH": path, "PYTHON": PYTHON},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_the_suite_without_googletest_is_refused_before_it_runs(tools: Path) -> None:
    fake(tools, "g++", code=1)
    done = subprocess.run(
        [REPOSITORY / "ci" / "test.sh"],
        env={"PATH": f"{tools}{os.pathsep}{os.environ['PATH']}", "DEVICE": "host"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == ("test: GoogleTest's headers are missing: apt-get install libgtest-dev\n")
