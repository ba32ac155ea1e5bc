# SPDX-License-Identifier: Apache-2.0
"""ci/debian.py without an archive: nothing but the file of the lock gets into the cache."""

import hashlib
from pathlib import Path

import debian
import pytest
from lock_file import LockError

BASH, SED = b"the bash package", b"the sed package"
WHEN = "20261130T232500Z"
SED_AT = "http://two.example/security/pool/updates/main/s/sed/sed_4.9_all.deb"
FILES = {
    "pool/main/b/bash/bash_5.2+b1_amd64.deb": BASH,
    "pool/updates/main/s/sed/sed_4.9_all.deb": SED,
}


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


@pytest.fixture
def lock(tmp_path: Path) -> Path:
    path = tmp_path / "x86_64-base.sha256"
    write_lock(path, FILES)
    return path


def write_lock(path: Path, files: dict[str, bytes]) -> None:
    lines = "".join(f"{digest(content)}  {file}\n" for file, content in files.items())
    path.write_text(debian.HEADER.format(when=WHEN) + lines)


class Archives:
    """In place of apt: two archives, each with the files of one pool."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.held = {
            "http://one.example/debian/pool/main/b/bash/bash_5.2%2Bb1_amd64.deb": BASH,
            SED_AT: SED,
        }

    def __call__(self, *command: str) -> str:
        if command[1] == "indextargets":
            return (
                "http://one.example/debian/ bookworm main\n"
                "http://one.example/debian/ bookworm main\n"
                "http://two.example/security/ bookworm-security main\n"
                "http://three.example/ jammy main\n"
                "http://one.example/debian/ bookworm contrib\n"
            )
        helper, _, timeout, what, *files = command
        assert (helper, timeout) == (debian.HELPER, "Acquire::http::Timeout=20")
        assert what == "download-file"
        missing = ""
        for address, target in zip(files[::3], files[1::3], strict=True):
            self.asked.append(address)
            if address in self.held:
                Path(target).write_bytes(self.held[address])
            else:
                missing += "E: 404 Not Found "
        if missing:
            raise LockError(missing.strip())
        return ""


@pytest.fixture
def archives(monkeypatch: pytest.MonkeyPatch) -> Archives:
    made_up = Archives()
    monkeypatch.setattr(debian, "apt", made_up)
    monkeypatch.delenv("DEBIAN_SNAPSHOTS", raising=False)
    return made_up


def collect(lock: Path, cache: Path) -> list[Path]:
    return debian.collect(debian.read_lock(lock), "bookworm", cache, debian.taken(lock))


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_each_file_comes_from_the_archive_that_has_it(
    lock: Path, archives: Archives, tmp_path: Path
) -> None:
    cache = tmp_path / "debs"
    found = collect(lock, cache)
    assert [path.read_bytes() for path in found] == [BASH, SED]
    assert names(cache) == ["bash_5.2+b1_amd64.deb", "sed_4.9_all.deb"]
    archives.asked.clear()
    assert collect(lock, cache) == found
    assert archives.asked == []


def test_a_damaged_file_is_fetched_again(
    lock: Path, archives: Archives, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cache = tmp_path / "debs"
    collect(lock, cache)
    (cache / "sed_4.9_all.deb").write_bytes(b"half")
    archives.asked.clear()
    found = collect(lock, cache)
    assert found[1].read_bytes() == SED
    assert "sed_4.9_all.deb in the cache is damaged: fetched again" in capsys.readouterr().out
    assert all("sed" in address for address in archives.asked)


@pytest.mark.parametrize(
    ("file", "address"),
    [
        (
            "pool/main/b/bash/bash_5.2+b1_amd64.deb",
            "debian/{}/pool/main/b/bash/bash_5.2%2Bb1_amd64.deb",
        ),
        (
            "pool/updates/main/s/sed/sed_4.9_all.deb",
            "debian-security/{}/pool/updates/main/s/sed/sed_4.9_all.deb",
        ),
    ],
    ids=["a-package", "a-security-update"],
)
def test_a_version_that_is_gone_comes_from_the_snapshot_of_the_lock(
    lock: Path,
    archives: Archives,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    file: str,
    address: str,
) -> None:
    monkeypatch.setenv("DEBIAN_SNAPSHOTS", "http://snapshots.example/archive/")
    kept = f"http://snapshots.example/archive/{address.format(WHEN)}"
    archives.held = {one: held for one, held in archives.held.items() if held != FILES[file]}
    archives.held[kept] = FILES[file]
    assert [path.read_bytes() for path in collect(lock, tmp_path / "debs")] == [BASH, SED]
    # Only what the archive has no longer is asked for there.
    assert [one for one in archives.asked if "snapshot" in one] == [kept]


GONE = (
    "{}: Debian's archive has it no longer (E: 404 Not Found): put it into {}, name an archive of "
    "Debian's snapshots by DEBIAN_SNAPSHOTS=, or say ALLOW_UNPINNED=1 to take what the archive has "
    "now"
)


@pytest.mark.parametrize(
    ("gone", "said"),
    [
        pytest.param([SED], "sed_4.9_all.deb", id="one"),
        pytest.param([BASH, SED], "bash_5.2+b1_amd64.deb and 1 more", id="two"),
    ],
)
def test_a_version_that_is_gone_everywhere_says_what_to_do(
    lock: Path, archives: Archives, tmp_path: Path, gone: list[bytes], said: str
) -> None:
    archives.held = {one: held for one, held in archives.held.items() if held not in gone}
    cache = tmp_path / "debs"
    with pytest.raises(debian.GoneError) as refused:
        collect(lock, cache)
    assert str(refused.value) == GONE.format(said, cache)


NEWER = b"the sed package, with an update"
UPDATE = "pool/updates/main/s/sed/sed_4.9+deb12u1_all.deb"


@pytest.fixture
def moved_on(archives: Archives, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The archive has an update of sed in place of the lock's; the cache is what is returned."""
    del archives.held[SED_AT]
    archives.held["http://two.example/security/" + UPDATE.replace("+", "%2B")] = NEWER
    for stage, files in (("base", FILES), ("build", {})):
        write_lock(tmp_path / f"x86_64-{stage}.sha256", files)
    monkeypatch.setattr(debian, "lock_path", lambda m, s: tmp_path / f"{m}-{s}.sha256")
    bash = next(iter(FILES))
    solved = {"base": {bash: digest(BASH), UPDATE: digest(NEWER)}, "build": {}}
    monkeypatch.setattr(debian, "solve", lambda _versions, _machine: solved)
    return tmp_path / "debs"


VERSIONS = {"images": {"host": {"codename": "bookworm"}}}


def test_an_update_is_taken_when_that_is_asked_for_and_said(
    moved_on: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = debian.provide(VERSIONS, "x86_64", moved_on, unpinned=True)
    assert [path.read_bytes() for path in found["base"]] == [BASH, NEWER]
    out = capsys.readouterr().out
    assert f"wheelhouse: {GONE.format('sed_4.9_all.deb', moved_on)}\n" in out
    assert (
        "wheelhouse: not pinned, Debian's signature alone speaks for sed_4.9+deb12u1_all.deb\n"
    ) in out


def test_an_update_is_not_taken_otherwise(moved_on: Path) -> None:
    with pytest.raises(debian.GoneError):
        debian.provide(VERSIONS, "x86_64", moved_on, unpinned=False)
    assert "sed_4.9+deb12u1_all.deb" not in names(moved_on)


def test_the_lock_is_taken_while_the_archive_has_it(
    moved_on: Path, archives: Archives, capsys: pytest.CaptureFixture[str]
) -> None:
    archives.held[SED_AT] = SED
    found = debian.provide(VERSIONS, "x86_64", moved_on, unpinned=True)
    assert [path.read_bytes() for path in found["base"]] == [BASH, SED]
    assert "not pinned" not in capsys.readouterr().out


def test_a_file_of_another_hash_is_refused_and_not_kept(
    lock: Path, archives: Archives, tmp_path: Path
) -> None:
    archives.held["http://two.example/security/pool/updates/main/s/sed/sed_4.9_all.deb"] = b"x"
    cache = tmp_path / "debs"
    with pytest.raises(LockError) as refused:
        collect(lock, cache)
    assert str(refused.value) == (
        f"sed_4.9_all.deb: expected sha256 {digest(SED)}, got {digest(b'x')}: the mirror in apt's "
        "sources serves another file; use another mirror"
    )
    assert "sed_4.9_all.deb" not in names(cache)


@pytest.mark.usefixtures("archives")
def test_another_release_in_apts_sources_is_refused() -> None:
    with pytest.raises(LockError) as refused:
        debian.archives("trixie")
    assert str(refused.value) == (
        "expected an archive of Debian trixie among apt's sources, found none: copy "
        "build/wheelhouse from a machine of that release"
    )


def test_a_machine_without_apt_is_told_where_to_collect() -> None:
    with pytest.raises(LockError) as refused:
        debian.apt("apt-of-nobody")
    assert str(refused.value) == (
        "apt-of-nobody is not there: Debian packages are collected on Debian or a relative; copy "
        "build/wheelhouse from such a machine"
    )
