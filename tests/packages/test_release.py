# SPDX-License-Identifier: Apache-2.0
"""ci/release.sh: what it publishes and refuses; gh is a script that notes its arguments."""

import os
import re
import shutil
import subprocess
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
VERSION = re.search(r'^version = "(.*)"$', (REPOSITORY / "versions.toml").read_text(), re.M)[1]


class Release:
    def __init__(self, root: Path) -> None:
        self.root = root
        self.downloads = root / "downloads"
        shutil.copytree(REPOSITORY / "ci", root / "ci")
        text = (
            (REPOSITORY / "versions.toml")
            .read_text()
            .replace('"unresolved"', f'"sha256:{"a" * 64}"')
        )
        (root / "versions.toml").write_text(text)
        # As the workflow's jobs upload them: one of the two has its files a folder deeper.
        for job in ("host/artifacts", "build-910b-default"):
            folder = self.downloads / job
            folder.mkdir(parents=True)
            (folder / "one.whl").write_text(job)
            with (folder / "SHA256SUMS").open("w") as file:
                subprocess.run(["sha256sum", "one.whl"], cwd=folder, stdout=file, check=True)
        gh = root / "bin" / "gh"
        gh.parent.mkdir()
        gh.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" >{root}/published\n')
        gh.chmod(0o755)

    def run(self, tag: str = f"v{VERSION}") -> subprocess.CompletedProcess[str]:
        path = f"{self.root / 'bin'}{os.pathsep}{os.environ['PATH']}"
        return subprocess.run(
            [str(self.root / "ci" / "release.sh"), str(self.downloads)],
            env=os.environ | {"PATH": path, "TAG": tag},
            capture_output=True,
            text=True,
            check=False,
        )


@pytest.fixture
def release(tmp_path: Path) -> Release:
    return Release(tmp_path)


def test_every_job_becomes_one_archive(release: Release) -> None:
    done = release.run()
    assert done.returncode == 0, done.stderr
    published = (release.root / "published").read_text().splitlines()
    assert published[:3] == ["release", "create", f"v{VERSION}"]
    archives = [Path(line) for line in published if line.endswith(".tar.gz")]
    assert [archive.name for archive in archives] == [
        f"ascendc-ops-{VERSION}-build-910b-default.tar.gz",
        f"ascendc-ops-{VERSION}-host-artifacts.tar.gz",
    ]
    for archive in archives:
        with tarfile.open(archive) as file:
            names = {Path(name).name for name in file.getnames()}
        assert {"one.whl", "SHA256SUMS"} <= names


def test_a_release_without_the_test_of_every_chip_is_refused(release: Release) -> None:
    file = release.root / "versions.toml"
    text = file.read_text()
    line = re.search(rf'"9.*a3-.*" = "sha256:{"a" * 64}"', text)[0]
    file.write_text(text.replace(line, line.replace(f"sha256:{'a' * 64}", "unresolved")))
    done = release.run()
    assert done.returncode == 1
    assert done.stderr == "release: not every chip was tested: an image is not pinned\n"
    assert not (release.root / "published").exists()


@pytest.mark.parametrize(
    ("tamper", "tag", "sentence"),
    [
        pytest.param(
            lambda folder: (folder / "one.whl").write_text("other"),
            f"v{VERSION}",
            "release: ./build-910b-default is damaged\n",
            id="a-file-that-changed",
        ),
        pytest.param(
            lambda folder: (folder / "two.whl").write_text("more"),
            f"v{VERSION}",
            "release: ./build-910b-default has files that SHA256SUMS does not list\n",
            id="a-file-too-many",
        ),
        pytest.param(
            lambda _: None,
            "v9",
            f"release: TAG: expected v{VERSION}, as in versions.toml, got 'v9'\n",
            id="another-tag",
        ),
    ],
)
def test_a_release_is_refused(
    release: Release, tamper: Callable[[Path], object], tag: str, sentence: str
) -> None:
    tamper(release.downloads / "build-910b-default")
    done = release.run(tag)
    assert done.returncode == 1
    assert done.stderr.endswith(sentence)
    assert not (release.root / "published").exists()
