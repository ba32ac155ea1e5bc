# SPDX-License-Identifier: Apache-2.0
"""Installing from the channel: anywhere, again, another build, a damaged package."""

import json
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from conda import ROOT, WORK, CondaError, archive, channel, fixture, prefix
from versions import load_versions

from .conftest import Shelf

PYTHON = load_versions()["stack"]["python"]
SPECS = ["ascendc-ops-pybind", "ascendc-ops-lib"]
CACHE = WORK / "cache" / "pkgs"
VARIABLES = (
    "ASCEND_HOME_PATH",
    "ASCEND_TOOLKIT_HOME",
    "ASCEND_OPP_PATH",
    "LD_LIBRARY_PATH",
    "CMAKE_PREFIX_PATH",
)
BARE = {"PATH": os.defpath}


@pytest.fixture(scope="module")
def home(built: Path) -> Iterator[Path]:
    """A prefix with both variants."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "prefix"
        prefix.install(prefix.solve([built], SPECS), path, CACHE)
        yield path


# For the command that follows an empty folder lies over the checkout, and all that was built there.
HIDDEN = ["unshare", "-rm", "sh", "-ec", 'mount -t tmpfs none "$0"; exec "$@"', str(ROOT)]


def call(home: Path, variant: str, *around: str) -> subprocess.CompletedProcess[str]:
    """The recipe's own test of a variant, in the activated prefix."""
    script = home / f"etc/conda/test-files/ascendc-ops-{variant}/0/op_call.py"
    command = [*around, home / "bin/python", script, variant]
    env = prefix.environment(home, BARE)
    return subprocess.run(command, cwd=home, env=env, capture_output=True, text=True)


@pytest.fixture(scope="module")
def hidden() -> list[str]:
    """Runs a command without the checkout, where this user may mount something over it."""
    done = subprocess.run([*HIDDEN, "ls", "-A", ROOT], capture_output=True, text=True)
    if done.returncode:
        # What names the folder of the build is found in the packages too: test_packages.py.
        return []
    assert done.stdout == ""
    return HIDDEN


@pytest.mark.parametrize("length", [24, 200], ids=["a-short-prefix", "a-long-prefix"])
def test_a_prefix_works_anywhere_and_without_the_build(
    built: Path, hidden: list[str], length: int
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / ("x" * max(1, length - len(folder) - 1))
        prefix.install(prefix.solve([built], SPECS), path, CACHE)
        for variant in ("pybind", "lib"):
            done = call(path, variant, *hidden)
            assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("shell", ["bash", "sh"])
@pytest.mark.parametrize("before", ["/usr/old", None], ids=["set-before", "unset-before"])
def test_deactivating_gives_back_what_was_there(home: Path, shell: str, before: str | None) -> None:
    scripts = [home / f"etc/conda/{moment}.d/hostcann.sh" for moment in ("activate", "deactivate")]
    show = "env | sort | grep -v -e ^_= -e ^SHLVL= -e ^PWD="
    code = f"set -eu; {show}; echo --; . {scripts[0]}; {show}; echo --; . {scripts[1]}; {show}"
    env = BARE | {"CONDA_PREFIX": str(home)}
    if before:
        env |= dict.fromkeys(VARIABLES, before)
    done = subprocess.run([shell, "-c", code], env=env, capture_output=True, text=True, check=True)
    first, inside, last = done.stdout.split("--\n")
    assert last == first
    toolkit = home / "opt/hostcann"
    rest = f":{before}" if before else ""
    assert f"ASCEND_HOME_PATH={toolkit}\n" in inside
    assert f"LD_LIBRARY_PATH={toolkit}/lib64{rest}\n" in inside


def test_without_activation_the_import_says_what_is_missing(home: Path) -> None:
    command = [home / "bin/python", "-c", "import ascendc_ops"]
    done = subprocess.run(command, cwd=home, env=BARE, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith(
        "ImportError: ascendc_ops: cannot import torch_npu: "
    )


def test_the_compiler_of_hostcann_is_on_the_path(home: Path) -> None:
    env = prefix.environment(home, BARE)
    command = ["bisheng", "--version"]
    path = shutil.which(command[0], path=env["PATH"])
    assert path == str(home / "bin/bisheng")
    done = subprocess.run([path, *command[1:]], env=env, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("hostcann 0.")


def add_numbered(built: Path, shelf: Shelf, number: int) -> None:
    """Our packages of the channel once more, under another build number."""
    for source in sorted((built / fixture.SUBDIR).glob("*.conda")):
        info = archive.read_info(source)
        text = info["index.json"].decode()
        if not json.loads(text)["build"].startswith("host_"):
            continue
        index = json.loads(text.replace('_0"', f'_{number}"')) | {"build_number": number}
        info["index.json"] = archive.to_json(index)
        name = "{name}-{version}-{build}.conda".format(**index)
        with archive.read_files(source) as files:
            archive.write(shelf.folder / fixture.SUBDIR / name, info, files, 1, 1)


def test_a_newer_build_replaces_an_older_one_and_back(
    built: Path, shelf: Shelf, tmp_path: Path
) -> None:
    shelf.take(built)
    add_numbered(built, shelf, 1)
    folder = shelf.ready()
    home = tmp_path / "prefix"
    older = [f"{one} * *_0" for one in SPECS]
    for specs, number in ((older, 0), (SPECS, 1), (older, 0)):
        prefix.install(prefix.solve([folder], specs), home, CACHE)
        found = {
            record["name"]: record["build_number"]
            for record in prefix.installed(home).values()
            if record["name"] in (*SPECS, "hostcann")
        }
        assert found == dict.fromkeys((*SPECS, "hostcann"), number)
        recorded = {path for one in prefix.installed(home).values() for path in one["files"]}
        assert prefix.files(home) - {"CACHEDIR.TAG"} == recorded
    assert call(home, "pybind").returncode == 0


def small(shelf: Shelf, content: bytes) -> Path:
    record = {"name": "small", "version": "1", "build": "0"}
    shelf.add(record, [archive.File("share/small", lambda: content)])
    return shelf.ready()


def test_a_rebuilt_package_of_the_same_name_is_the_one_installed(
    shelf: Shelf, tmp_path: Path
) -> None:
    for content in (b"first", b"second"):
        folder = small(shelf, content)
        home = tmp_path / content.decode()
        prefix.install(prefix.solve([folder], ["small"]), home, tmp_path / "cache")
        assert (home / "share/small").read_bytes() == content


@pytest.mark.parametrize("where", [10, 200, -1], ids=["in-a-date", "in-a-file", "at-the-end"])
def test_a_package_with_one_flipped_byte_is_refused(
    shelf: Shelf, tmp_path: Path, where: int
) -> None:
    folder = small(shelf, b"content")
    records = prefix.solve([folder], ["small"])
    (package,) = (folder / fixture.SUBDIR).glob("*.conda")
    damaged = bytearray(package.read_bytes())
    damaged[where] ^= 1
    package.write_bytes(damaged)
    with pytest.raises(CondaError) as refused:
        prefix.install(records, tmp_path / "prefix", tmp_path / "cache")
    found, expected = archive.file_sha256(package), records[0].sha256.hex()
    assert str(refused.value) == (
        f"small-1-0.conda: expected sha256 {expected[:16]}…, got {found[:16]}…: "
        "the package is damaged; run make conda"
    )
    assert not (tmp_path / "prefix").exists()


def test_a_prefix_that_cannot_be_made_is_one_sentence(shelf: Shelf, tmp_path: Path) -> None:
    records = prefix.solve([small(shelf, b"content")], ["small"])
    (tmp_path / "file").touch()
    home = tmp_path / "file" / "prefix"
    with pytest.raises(
        CondaError, match=f"^cannot install into {re.escape(str(home))}: "
    ) as refused:
        prefix.install(records, home, tmp_path / "cache")
    assert "\n" not in str(refused.value)


def test_the_index_is_of_what_lies_there(shelf: Shelf) -> None:
    folder = small(shelf, b"content")
    (package,) = (folder / fixture.SUBDIR).glob("*.conda")
    index = json.loads((folder / fixture.SUBDIR / "repodata.json").read_text(encoding="utf-8"))
    record = index["packages.conda"][package.name]
    assert record["sha256"] == archive.file_sha256(package)
    package.unlink()
    channel.index(folder)
    index = json.loads((folder / fixture.SUBDIR / "repodata.json").read_text(encoding="utf-8"))
    assert index["packages.conda"] == {}
