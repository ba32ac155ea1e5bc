# SPDX-License-Identifier: Apache-2.0
"""When a package is built again, and what makes two builds the same."""

import os
import random
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from conda import ROOT, CondaError, archive, fixture, recipe
from conda.build import Builder, Built, write_channel

CHOSEN = {"python": "3.11", "device": "host", "npu_arch": "dav-2201"}
OPERATORS = {"ascendc-ops-pybind", "ascendc-ops-lib"}
EVERYTHING = {"ascendc-device", "hostcann", *OPERATORS}
UNKNOWN = recipe.Identity()


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """What the recipe's packages are made from, in another folder."""
    for name in {name for output in rendered(ROOT) for name in output.inputs(ROOT)}:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    for path in (ROOT / recipe.FOLDER).glob("*.yaml"):
        shutil.copy(path, tmp_path / recipe.FOLDER)
    return tmp_path


def rendered(root: Path) -> list[recipe.Output]:
    return recipe.render(recipe.FOLDER, root, **CHOSEN)


def keys(root: Path) -> dict[str, str]:
    return {output.name: output.key(root, UNKNOWN, {}) for output in rendered(root)}


def test_the_folder_does_not_matter(copy: Path) -> None:
    assert keys(copy) == keys(ROOT)


@pytest.mark.parametrize(
    ("file", "again"),
    [
        pytest.param("csrc/ascendc_add.cpp", OPERATORS, id="the-wrapper"),
        pytest.param("kernels/add_custom/add_custom.asc", OPERATORS, id="the-kernel"),
        pytest.param("python/_stack.py", OPERATORS, id="the-import"),
        pytest.param("python/ascendc-env/ascendc_env/mismatch.py", OPERATORS, id="its-sentences"),
        pytest.param("python/ascendc-env/ascendc_env/doctor.py", set(), id="the-doctor"),
        pytest.param("hostcann/src/stream.cpp", {"hostcann"}, id="hostcann"),
        pytest.param("versions.toml", EVERYTHING - {"ascendc-device"}, id="the-versions"),
        pytest.param("conda-recipe/build.sh", EVERYTHING, id="the-build-script"),
        pytest.param("README.md", set(), id="a-document"),
        pytest.param("hostcann/tests/stream_test.cpp", set(), id="a-test"),
        pytest.param("csrc/new.cpp", OPERATORS, id="a-new-file"),
    ],
)
def test_a_change_builds_what_is_made_from_it(copy: Path, file: str, again: set[str]) -> None:
    before = keys(copy)
    path = copy / file
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as target:
        target.write("\n")
    after = keys(copy)
    assert {name for name in after if after[name] != before[name]} == again


def test_a_need_and_the_commit_are_part_of_the_key() -> None:
    output = rendered(ROOT)[-1]
    found = {
        output.key(ROOT, UNKNOWN, {}),
        output.key(ROOT, UNKNOWN, {"torch": "another"}),
        output.key(ROOT, recipe.Identity("another", UNKNOWN.when), {}),
        output.key(ROOT, recipe.Identity(UNKNOWN.commit, 1), {}),
    }
    assert len(found) == 4


def test_the_commit_is_the_last_one_that_changed_the_inputs(tmp_path: Path) -> None:
    def git(*arguments: str) -> str:
        command = ["git", "-C", str(tmp_path), "-c", "user.name=t", "-c", "user.email=t@t"]
        done = subprocess.run([*command, *arguments], capture_output=True, text=True, check=True)
        return done.stdout.strip()

    inputs = [Path("input")]
    assert recipe.identity(tmp_path, inputs) == recipe.Identity("unknown", archive.EARLIEST)
    git("init")
    (tmp_path / "input").write_text("1")
    git("add", "input")
    git("commit", "-m", "input")
    first = git("rev-parse", "HEAD")
    (tmp_path / "other").write_text("1")
    git("add", "other")
    git("commit", "-m", "other")
    assert recipe.identity(tmp_path, inputs).commit == first
    (tmp_path / "input").write_text("2")
    assert recipe.identity(tmp_path, inputs).commit == f"{first}-dirty"


def raw(path: Path, seed: int, prefix: str) -> Path:
    """A package as two builds of one source leave it: only what `seed` decides differs."""
    chance = random.Random(seed)
    depends = ["b >=1", "a", "c ==2 x_*"]
    chance.shuffle(depends)
    content = f"#!{prefix}/bin/python\n".encode()
    files = [
        archive.File("bin/tool", lambda: content, executable=True, placeholder=prefix),
        archive.File("lib/link.so", bytes, link="real.so"),
        archive.File("lib/real.so", lambda: b"\x7fELF"),
    ]
    chance.shuffle(files)
    info = {
        "index.json": archive.to_json({"depends": depends, "timestamp": seed}),
        "paths.json": archive.paths_json(files),
        "recipe/rendered_recipe.yaml": str(seed).encode(),
        "hash_input.json": str(seed).encode(),
        "about.json": archive.to_json({"channels": [f"file:///{seed}"], "license": "MIT"}),
    }
    archive.write(path, info, files, seed, 1)
    return path


def test_two_builds_of_one_source_become_the_same_bytes(tmp_path: Path) -> None:
    results = []
    for seed, folder in enumerate(("here", "there"), 1):
        prefix = f"/{folder.ljust(5, 'x')}/placehold"
        built = raw(tmp_path / folder / "p-1-0.conda", 10**9 + seed, prefix)
        target = tmp_path / f"{folder}-normal" / "p-1-0.conda"
        umask = os.umask(0o077 if seed == 2 else 0o022)
        try:
            archive.normalise(built, target, 1234567890, 1)
        finally:
            os.umask(umask)
        results.append(target.read_bytes())
    assert results[0] == results[1]
    with archive.read_files(target) as files:
        found = {file.path: (file.read(), file.executable, file.link) for file in files}
    assert found["lib/real.so"] == (b"\x7fELF", False, "")
    assert found["lib/link.so"] == (b"", False, "real.so")
    content, executable, _ = found["bin/tool"]
    assert executable
    assert content == f"#!{archive.placeholder(16)}/bin/python\n".encode()


def test_bytecode_does_not_show_what_the_process_did_before(tmp_path: Path) -> None:
    # One object in a process, which bytecode marks when somebody has interned it.
    character = chr(0x7F)
    found = []
    for folder in ("one", "other"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "module.py").write_text(f"VALUE = {character!r}\n")
        fixture.compile_bytecode(tmp_path / folder)
        (compiled,) = (tmp_path / folder).glob("__pycache__/*.pyc")
        found.append(compiled.read_bytes())
        sys.intern(character)
    assert found[0] == found[1]


def package_whose_test_is(folder: Path, script: str) -> tuple[Path, dict[str, bytes]]:
    index = {"name": "p", "version": "1", "build": "0", "build_number": 0, "depends": []}
    info = {
        "index.json": archive.to_json(index | {"noarch": "generic", "subdir": "noarch"}),
        "paths.json": archive.paths_json([]),
        "about.json": b"{}",
        "tests/tests.yaml": f"- script:\n    content: {script}\n".encode(),
    }
    archive.write(folder / "p-1-0.conda", info, [], archive.EARLIEST, 1)
    return folder / "p-1-0.conda", info


def test_a_package_passes_its_own_tests_not_those_of_an_earlier_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RATTLER_CACHE_DIR", str(tmp_path / "cache"))
    # As an installation of the earlier one leaves it.
    _, info = package_whose_test_is(tmp_path / "earlier", "true")
    for name, content in info.items():
        unpacked = tmp_path / "cache" / "pkgs" / "p-1-0" / "info" / name
        unpacked.parent.mkdir(parents=True, exist_ok=True)
        unpacked.write_bytes(content)
    output = SimpleNamespace(name="p", filename="p-1-0.conda", subdir="noarch")
    package, _ = package_whose_test_is(tmp_path / "now", "exit 3")
    with pytest.raises(CondaError, match=r"p: its test 0 failed:(.*\n)+.*status 3"):
        Builder("host", "dav-2201", work=tmp_path).test(output, package)


def test_a_package_that_was_altered_is_made_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name = "p-1-0.conda"

    def take() -> Built:
        builder = Builder("host", "dav-2201", work=tmp_path)
        builder.take(name, "noarch", "key", lambda folder: raw(folder / name, 1, "/p"))
        write_channel(tmp_path / "channel", builder.packages)
        return builder.packages[0]

    whole = take().path.read_bytes()
    assert take().seconds is None
    altered = bytes([whole[100] ^ 1])
    with (tmp_path / "channel/noarch" / name).open("r+b") as file:
        file.seek(100)
        file.write(altered)
    capsys.readouterr()
    assert take().path.read_bytes() == whole
    said = f"conda: {name}: expected it as it was made, got another: made again"
    assert capsys.readouterr().out.splitlines()[0] == said
    assert (tmp_path / "channel/noarch" / name).read_bytes() == whole


def test_a_difference_is_named(tmp_path: Path) -> None:
    from conda.repro import difference

    one, other = (raw(tmp_path / str(seed) / "p-1-0.conda", seed, "/p") for seed in (1, 2))
    assert difference(one, other) == "info/about.json"
    assert difference(one, one) == "the archive around the files"


def test_a_folder_that_cannot_be_made_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from conda import __main__ as program

    (tmp_path / "build").write_text("no folder")
    work = tmp_path / "build" / "conda"
    monkeypatch.setattr(program, "WORK", work)
    monkeypatch.setattr(sys, "argv", ["conda", "build"])
    monkeypatch.setenv("RATTLER_CACHE_DIR", "")
    assert program.main() == 1
    assert capsys.readouterr().err == (
        f"conda: {work}: expected to read and write it, got 'Not a directory'; "
        "put that right and run it again\n"
    )


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        pytest.param(["DEVICE=gpu"], "conda: DEVICE: expected host, npu, got 'gpu'", id="device"),
        pytest.param(
            ["DEVICE=npu", "ASCEND_HOME_PATH="],
            "conda: DEVICE=npu: expected ASCEND_HOME_PATH to name CANN, got it unset; "
            "source its set_env.sh first",
            id="npu-without-cann",
        ),
        pytest.param(
            ["DEVICE=npu", f"ASCEND_HOME_PATH={ROOT}", "NPU_ARCH=dav-1"],
            "conda: DEVICE=npu: expected NPU_ARCH to be one of dav-2002, dav-2201, dav-3510, got "
            "'dav-1'; correct it, or leave it unset",
            id="npu-of-no-chip",
        ),
    ],
)
def test_what_cannot_be_built_is_one_sentence(arguments: list[str], sentence: str) -> None:
    values = dict(argument.split("=", 1) for argument in arguments)
    command = [sys.executable, "-m", "conda", "build", "--device", values["DEVICE"]]
    command += ["--npu-arch", values.get("NPU_ARCH", "")]
    path = os.pathsep.join(str(ROOT / folder) for folder in ("ci", "python/ascendc-env"))
    env = os.environ | values | {"PYTHONPATH": path}
    done = subprocess.run(command, env=env, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (1, "", sentence + "\n")
