# SPDX-License-Identifier: Apache-2.0
"""SBOM and provenance: what they say of a wheel, and what verify finds when something differs."""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import built
import evidence
import lock_file
import pytest
import versions

REPOSITORY = Path(__file__).resolve().parents[2]
WHEEL = next((REPOSITORY / "build" / "wheels" / "lib").glob("*.whl"))


def git(root: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=test", "-c", "user.email=test@localhost"]
    command = ["git", "-C", str(root), *identity, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


class Checkout:
    """A repository of its own that holds what the tool reads, with one wheel built from it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.wheel = root / "build" / "wheels" / "lib" / WHEEL.name
        self.evidence = root / "build" / "evidence"
        self.statement = self.evidence / f"{WHEEL.name}.provenance.json"
        self.sbom = self.evidence / f"{WHEEL.name}.cdx.json"

    def make(self) -> None:
        root = self.root
        for name in ("ci", "python", "docker/debian"):
            without = shutil.ignore_patterns("__pycache__")
            shutil.copytree(REPOSITORY / name, root / name, symlinks=True, ignore=without)
        shutil.copy(REPOSITORY / "versions.toml", root)
        (root / ".gitignore").write_text("build/\n__pycache__/\n.venv/\n")
        git(root, "init", "--quiet")
        self.commit("first")
        self.wheel.parent.mkdir(parents=True)
        assert self.build() == ""
        done = self.run("make")
        assert done.returncode == 0, done.stderr

    def commit(self, subject: str) -> None:
        git(self.root, "add", "--all")
        git(self.root, "commit", "--quiet", "--message", subject)

    def build(self, command: str = "") -> str:
        """What the build says; this one only copies."""
        command = command or f"cp {WHEEL} {self.wheel.parent}"
        tool = [sys.executable, self.root / "ci" / "built.py", self.wheel.parent, "--"]
        done = subprocess.run([*tool, "sh", "-c", command], capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout

    def run(self, command: str, artifact: str = "", **env: str) -> subprocess.CompletedProcess[str]:
        tool = [sys.executable, self.root / "ci" / "evidence.py", command]
        return subprocess.run(
            [*tool, artifact or self.wheel],
            env=os.environ | env,
            capture_output=True,
            text=True,
            check=False,
        )

    def dependencies(self, name: str = WHEEL.name) -> dict[str, dict[str, str]]:
        statement = json.loads((self.evidence / f"{name}.provenance.json").read_text())
        definition = statement["predicate"]["buildDefinition"]
        return {one["name"]: one["digest"] for one in definition["resolvedDependencies"]}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    checkout = Checkout(tmp_path_factory.mktemp("made"))
    checkout.make()
    return checkout.root


@pytest.fixture
def checkout(made: Path, tmp_path: Path) -> Checkout:
    return Checkout(shutil.copytree(made, tmp_path / "checkout", symlinks=True))


def test_a_wheel_is_what_its_statement_says(checkout: Checkout) -> None:
    done = checkout.run("verify")
    assert done.stdout == (
        f"verify: {WHEEL.name}: artifact, SBOM and sources are what its statement says\n"
        f"verify: {WHEEL.name}: nobody signed the statement: it is as good as the place it is "
        "from\n"
    )
    assert done.returncode == 0


def test_the_statement_names_commit_lock_and_every_wheel_of_the_environment(
    checkout: Checkout,
) -> None:
    pins = versions.load_versions()
    lock = lock_file.lock_path(pins, "x86_64", "dev")
    found = checkout.dependencies()
    assert found["source"] == {
        "gitCommit": git(checkout.root, "rev-parse", "HEAD"),
        "gitTree": git(checkout.root, "rev-parse", "HEAD^{tree}"),
    }
    digest = hashlib.sha256(lock.read_bytes()).hexdigest()
    assert found[str(lock.relative_to(REPOSITORY))] == {"sha256": digest}
    for requirement in lock_file.read_lock(lock):
        assert found[requirement.pin]["sha256"] in requirement.hashes


def test_the_sbom_holds_what_the_wheel_needs_to_run_and_no_tool(checkout: Checkout) -> None:
    document = json.loads(checkout.sbom.read_text())
    names = {component["name"] for component in document["components"]}
    assert {"torch", "torch-npu", "numpy", "sympy"} <= names
    assert not {"cmake", "pytest", "uv"} & names
    root = document["metadata"]["component"]
    digest = hashlib.sha256(WHEEL.read_bytes()).hexdigest()
    assert root["hashes"] == [{"alg": "SHA-256", "content": digest}]
    asked = next(one for one in document["dependencies"] if one["ref"] == root["bom-ref"])
    assert [re.match(r"pkg:pypi/([\w-]+)@", ref)[1] for ref in sorted(asked["dependsOn"])] == [
        "torch-npu",
        "torch",
    ]


def test_the_same_wheel_gives_the_same_evidence(checkout: Checkout) -> None:
    before = checkout.sbom.read_bytes(), checkout.statement.read_bytes()
    assert checkout.run("make").returncode == 0
    assert (checkout.sbom.read_bytes(), checkout.statement.read_bytes()) == before


def test_a_file_that_was_downloaded_is_checked_with_the_evidence_beside_it(
    checkout: Checkout, tmp_path: Path
) -> None:
    downloads = tmp_path / "my downloads"
    checkout.evidence.rename(downloads)
    checkout.wheel.rename(downloads / WHEEL.name)
    assert checkout.run("verify", str(downloads / WHEEL.name)).returncode == 0
    (downloads / WHEEL.name).write_bytes(b"other")
    done = checkout.run("verify", str(downloads / WHEEL.name))
    assert done.returncode == 1
    assert "it is not what was built" in done.stderr


def test_the_artifacts_are_what_is_attested_and_nothing_of_files_that_are_gone(
    checkout: Checkout,
) -> None:
    (checkout.evidence / "gone.whl.provenance.json").write_text("{}")
    gather = checkout.root / "ci" / "artifacts.sh"
    subprocess.run([gather, checkout.wheel], check=True)
    folder = checkout.root / "build" / "artifacts"
    names = {WHEEL.name, checkout.sbom.name, checkout.statement.name}
    assert {path.name for path in folder.iterdir()} == {*names, "SHA256SUMS"}
    check = ["sha256sum", "--check", "--strict", "--quiet", "SHA256SUMS"]
    subprocess.run(check, cwd=folder, check=True)
    checkout.sbom.unlink()
    assert subprocess.run([gather, checkout.wheel], capture_output=True).returncode == 1
    # What was gathered before stays whole.
    assert subprocess.run(check, cwd=folder).returncode == 0


class NpuJob:
    """ci/npu.sh matrix where a workflow has unpacked the artifacts; what it runs only notes."""

    def __init__(self, checkout: Checkout) -> None:
        self.checkout = checkout
        self.notes = checkout.root / "build" / "notes"
        for name in ("uv", "ascendc-env"):
            self.program(f".venv/bin/{name}", f'echo "{name} $*" >>"{self.notes}"')
        for name in ("ci/bootstrap.sh", "tests/matrix/run.py"):
            self.program(name, f'echo "{name} $*" >>"{self.notes}"')
        runs = f"case $1 in tests/*) exec ./$1;; *) exec {sys.executable} $*;; esac"
        self.program(".venv/bin/python", runs)
        gather = checkout.root / "ci" / "artifacts.sh"
        subprocess.run([gather, checkout.wheel], check=True)

    def program(self, name: str, script: str) -> None:
        path = self.checkout.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)

    def run(self, **env: str) -> subprocess.CompletedProcess[str]:
        known = {"DEVICE": "npu", "NPU_ARCH": "dav-2201", "STACK": "default"}
        return subprocess.run(
            [self.checkout.root / "ci" / "npu.sh", "matrix"],
            env=os.environ | known | env,
            capture_output=True,
            text=True,
        )


def test_the_job_of_an_npu_installs_and_runs_what_its_evidence_is_about(checkout: Checkout) -> None:
    job = NpuJob(checkout)
    done = job.run()
    assert done.returncode == 0, done.stderr
    assert job.notes.read_text().splitlines() == [
        "ci/bootstrap.sh evidence",
        "uv --no-config pip install --python .venv/bin/python --no-deps --no-index "
        f"build/artifacts/{WHEEL.name}",
        "ascendc-env doctor",
        "tests/matrix/run.py ",
    ]


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        pytest.param(
            lambda folder: (folder / "SHA256SUMS").unlink(),
            "npu.sh: expected build/artifacts/SHA256SUMS, got none: run ci/npu.sh build first\n",
            id="nothing-unpacked",
        ),
        pytest.param(
            lambda folder: (folder / WHEEL.name).write_bytes(b"other"),
            "sha256sum: WARNING: 1 computed checksum did NOT match\n",
            id="a-damaged-file",
        ),
        pytest.param(
            lambda folder: resummed(folder, f"{WHEEL.name}.provenance.json", "{}"),
            "expected a provenance statement in ",
            id="a-statement-that-is-none",
        ),
    ],
)
def test_the_job_of_an_npu_installs_nothing_else(
    checkout: Checkout, spoil: Callable[[Path], object], sentence: str
) -> None:
    job = NpuJob(checkout)
    spoil(checkout.root / "build" / "artifacts")
    done = job.run()
    assert done.returncode == 1
    assert sentence in done.stderr
    assert not job.notes.exists() or "uv" not in job.notes.read_text()


def resummed(folder: Path, name: str, text: str) -> None:
    (folder / name).write_text(text)
    command = "sha256sum -- *.whl *.json >SHA256SUMS"
    subprocess.run(command, shell=True, cwd=folder, check=True)


def committed(checkout: Checkout) -> None:
    """Something the wheel is not made of, so that make does not build it again for its own sake."""
    (checkout.root / "NOTES").write_text("notes")
    checkout.commit("second")


def record(checkout: Checkout) -> Path:
    return built.record_of(checkout.wheel)


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        pytest.param(
            lambda checkout: record(checkout).unlink(),
            f"expected the record of its build, {WHEEL.name}.built.json, got none",
            id="dropped-in",
        ),
        pytest.param(
            lambda checkout: record(checkout).write_text("{}"),
            f"expected the record of its build in {WHEEL.name}.built.json, got KeyError",
            id="a-record-that-is-none",
        ),
        pytest.param(
            lambda checkout: checkout.wheel.write_bytes(b"other"),
            f"expected sha256 {hashlib.sha256(WHEEL.read_bytes()).hexdigest()}, which was built, "
            f"got {hashlib.sha256(b'other').hexdigest()}",
            id="in-the-place-of-what-was-built",
        ),
        pytest.param(committed, "expected a build of commit ", id="of-an-older-commit"),
        pytest.param(
            lambda checkout: (checkout.root / "NOTES").write_text("notes"),
            "with other NOTES (tree ",
            id="of-a-tree-without-the-changes",
        ),
    ],
)
def test_only_what_this_checkout_built_is_attested(
    checkout: Checkout, spoil: Callable[[Checkout], object], sentence: str
) -> None:
    before = checkout.statement.read_bytes()
    spoil(checkout)
    done = checkout.run("make")
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1
    assert done.stderr.startswith(f"evidence: {checkout.wheel}: expected ")
    assert sentence in done.stderr
    assert done.stderr.endswith("; only what make build built here is attested\n")
    assert checkout.statement.read_bytes() == before


def test_what_another_commit_built_is_built_again(checkout: Checkout) -> None:
    stamp = checkout.root / "build" / "done" / "wheel-lib"
    stamp.parent.mkdir()
    stamp.touch()
    forget = [sys.executable, checkout.root / "ci" / "built.py", "--forget"]
    subprocess.run(forget, check=True)
    assert stamp.exists()
    committed(checkout)
    subprocess.run(forget, check=True)
    assert not stamp.exists()
    checkout.build()
    assert checkout.run("make").returncode == 0
    assert checkout.dependencies()["source"]["gitCommit"] == git(checkout.root, "rev-parse", "HEAD")


def test_a_checkout_that_changes_while_it_is_built_leaves_no_record(checkout: Checkout) -> None:
    record(checkout).unlink()
    said = checkout.build(f"cp {WHEEL} {checkout.wheel.parent}; echo >> {checkout.root}/NOTES")
    assert said == "built: no record of what is built: the checkout changed while it was built\n"
    assert not record(checkout).exists()


def test_where_there_is_no_git_there_is_no_record(checkout: Checkout) -> None:
    record(checkout).unlink()
    shutil.rmtree(checkout.root / ".git")
    said = checkout.build()
    assert said.startswith("built: no record of what is built: git status: ")
    assert not record(checkout).exists()


class Engine:
    """A container engine that knows one image."""

    def __init__(self, checkout: Checkout, **labels: str) -> None:
        self.checkout = checkout
        own = "org.opencontainers.image"
        known = {
            f"{own}.base.name": "ascendc-ops-base:bookworm",
            f"{own}.revision": git(checkout.root, "rev-parse", "HEAD"),
            "ascendc-ops.device": "host",
            "ascendc-ops.stack": "Python 3.11",
        }
        self.labels = known | {f"{own}.{name}": value for name, value in labels.items()}
        self.program = checkout.root / "build" / "engine"
        self.image("a" * 64)

    def image(self, digest: str) -> None:
        facts = [{"Id": f"sha256:{digest}", "Config": {"Labels": self.labels}}]
        self.program.write_text(f"#!/bin/sh\ncat <<'TEXT'\n{json.dumps(facts)}\nTEXT\n")
        self.program.chmod(0o755)

    def run(self, command: str) -> subprocess.CompletedProcess[str]:
        return self.checkout.run(command, "image:ops:host", ENGINE=str(self.program))


def test_an_image_is_tied_to_the_commit_of_its_label(checkout: Checkout) -> None:
    engine = Engine(checkout)
    done = engine.run("make")
    assert done.returncode == 0, done.stderr
    assert engine.run("verify").returncode == 0
    statement = json.loads((checkout.evidence / "ops-host.provenance.json").read_text())
    assert "docker/debian/x86_64-base.sha256" in checkout.dependencies("ops-host")
    assert statement["subject"] == [{"name": "ops-host", "digest": {"sha256": "a" * 64}}]
    purls = json.loads((checkout.evidence / "ops-host.cdx.json").read_text())["components"]
    assert {"deb", "pypi"} == {re.match("pkg:([a-z]+)", part["purl"])[1] for part in purls}
    engine.image("b" * 64)
    assert "it is not what was built" in engine.run("verify").stderr


@pytest.mark.parametrize(
    ("labels", "sentence"),
    [
        ({"revision": "c" * 40}, f", got one of {'c' * 40}: run make docker-build"),
        ({"revision": ""}, "expected the label org.opencontainers.image.revision, got none"),
    ],
)
def test_an_image_of_another_commit_is_refused(
    checkout: Checkout, labels: dict[str, str], sentence: str
) -> None:
    done = Engine(checkout, **labels).run("make")
    assert done.returncode == 1
    assert done.stderr.startswith("evidence: image:ops:host: ")
    assert done.stderr.endswith(f"{sentence}\n")


def test_a_conda_package_and_what_it_asks_for(tmp_path: Path) -> None:
    package = tmp_path / "ascendc-ops-lib-0.1.0-host_py311_0.conda"
    package.write_bytes(b"package")
    built.record(package, built.source())
    depends = ["torch ==2.13.0 cpu_*", "ascendc-device ==1 host"]
    entry = {"name": "ascendc-ops-lib", "version": "0.1.0", "depends": depends}
    index = {"packages.conda": {package.name: entry}}
    (tmp_path / "repodata.json").write_text(json.dumps(index))
    document = json.loads(evidence.sbom(evidence.read(str(package))))
    digest = hashlib.sha256(b"package").hexdigest()
    root = document["metadata"]["component"]
    assert root["purl"] == "pkg:conda/ascendc-ops-lib@0.1.0"
    assert root["hashes"] == [{"alg": "SHA-256", "content": digest}]
    purls = {part["purl"] for part in document["components"]}
    assert "pkg:conda/ascendc-device@1" in purls
    torch = next(part for part in document["components"] if part["name"] == "torch")
    assert torch["purl"].startswith("pkg:pypi/torch@2.13.0")
    assert len(torch["hashes"]) == 1


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("nowhere.whl", "evidence: expected a file or image:<name>, got 'nowhere.whl'"),
        (__file__, f"evidence: expected a .whl or a .conda file, got '{__file__}'"),
    ],
)
def test_what_is_no_artifact_is_refused(name: str, sentence: str) -> None:
    with pytest.raises(evidence.EvidenceError) as refused:
        evidence.read(name)
    assert str(refused.value) == sentence


def flip(checkout: Checkout) -> None:
    content = bytearray(checkout.wheel.read_bytes())
    content[len(content) // 2] ^= 1
    checkout.wheel.write_bytes(content)


def edit(name: str, before: str, after: str) -> Callable[[Checkout], None]:
    def tamper(checkout: Checkout) -> None:
        path: Path = getattr(checkout, name)
        text = path.read_text()
        assert before in text
        path.write_text(text.replace(before, after, 1))

    return tamper


def change_sources(checkout: Checkout) -> None:
    with (checkout.root / "versions.toml").open("a") as file:
        file.write("# changed\n")
    checkout.build()
    assert checkout.run("make").returncode == 0


def another_lock(checkout: Checkout) -> None:
    name = "ci/requirements/default/x86_64-py311-dev.txt"
    edit("statement", checkout.dependencies()[name]["sha256"], "0" * 64)(checkout)


def change(*keys: object, value: object) -> Callable[[Checkout], None]:
    """Sets one field of the statement, with everything else as it was."""

    def tamper(checkout: Checkout) -> None:
        document = json.loads(checkout.statement.read_text())
        place = document
        for key in keys[:-1]:
            place = place[key]
        place[keys[-1]] = value
        checkout.statement.write_text(json.dumps(document))

    return tamper


DEFINITION = ("predicate", "buildDefinition")
DEPENDENCIES = (*DEFINITION, "resolvedDependencies")


def add_wheel(checkout: Checkout) -> None:
    document = json.loads(checkout.statement.read_text())
    wheel = {"name": "evil==1", "digest": {"sha256": "0" * 64}}
    document["predicate"]["buildDefinition"]["resolvedDependencies"].append(wheel)
    checkout.statement.write_text(json.dumps(document))


def unknown_commit(checkout: Checkout) -> None:
    edit("statement", checkout.dependencies()["source"]["gitCommit"], "0" * 40)(checkout)


@pytest.mark.parametrize(
    ("tamper", "sentence"),
    [
        pytest.param(flip, "it is not what was built", id="a-flipped-byte"),
        pytest.param(
            edit("sbom", '"torch-npu"', '"torch-npu2"'),
            f"{WHEEL.name}.cdx.json: expected sha256 ",
            id="an-edited-sbom",
        ),
        pytest.param(
            lambda checkout: checkout.sbom.unlink(), "expected its SBOM ", id="an-sbom-that-is-gone"
        ),
        pytest.param(
            lambda checkout: checkout.statement.unlink(),
            ", found none: run make evidence",
            id="a-statement-that-is-gone",
        ),
        pytest.param(
            edit("statement", "resolvedDependencies", "dependencies"),
            "expected a provenance statement in ",
            id="a-statement-that-is-none",
        ),
        pytest.param(
            another_lock,
            f": expected sha256 {'0' * 64}, got ",
            id="a-lock-other-than-the-commits",
        ),
        pytest.param(
            unknown_commit,
            f"expected commit {'0' * 40} in this repository, found none: git fetch",
            id="a-commit-that-is-not-there",
        ),
        pytest.param(
            change("_type", value="other"),
            "expected a statement about it in ",
            id="a-statement-of-another-kind",
        ),
        pytest.param(
            change("subject", 0, "name", value="other.whl"),
            "expected a statement about it in ",
            id="a-statement-about-another-file",
        ),
        pytest.param(
            change(*DEPENDENCIES, value=None),
            "expected a provenance statement in ",
            id="no-dependencies-at-all",
        ),
        pytest.param(
            lambda checkout: change(
                *DEPENDENCIES,
                value=[{"name": "source", "digest": checkout.dependencies()["source"]}],
            )(checkout),
            "expected versions.toml and one lock among its sources, got ",
            id="nothing-but-the-commit",
        ),
        pytest.param(
            change(*DEPENDENCIES, 0, "digest", "gitCommit", value="HEAD"),
            "expected commit HEAD in this repository, found none: git fetch",
            id="a-commit-by-name",
        ),
        pytest.param(
            change(*DEPENDENCIES, 0, "digest", "gitTree", value="0" * 40),
            f"got tree {'0' * 40}",
            id="files-other-than-the-commits",
        ),
        pytest.param(
            add_wheel,
            "expected the wheels of ci/requirements/default/x86_64-py311-dev.txt, got others for "
            "evil==1",
            id="a-wheel-that-the-lock-does-not-have",
        ),
        pytest.param(
            change(*DEPENDENCIES, 3, "digest", "sha256", value="0" * 64),
            "got others for ",
            id="a-wheel-of-another-hash",
        ),
        pytest.param(
            change_sources,
            "built from a tree with changed files: versions.toml",
            id="a-tree-with-changes",
        ),
    ],
)
def test_a_difference_is_found(
    checkout: Checkout, tamper: Callable[[Checkout], None], sentence: str
) -> None:
    tamper(checkout)
    done = checkout.run("verify")
    assert done.returncode == 1
    lines = done.stderr.splitlines()
    assert len(lines) == 1
    assert lines[0].startswith(f"verify: {WHEEL.name}: ")
    assert sentence in lines[0]
