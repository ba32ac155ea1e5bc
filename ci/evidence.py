# SPDX-License-Identifier: Apache-2.0
"""Says what an artifact was built from, and checks it again.

make: for each artifact an SBOM (<name>.cdx.json, CycloneDX 1.6) and a provenance statement
(<name>.provenance.json, in-toto statement v1 with SLSA provenance v1) in build/evidence. What the
statement says was written down by the build (ci/built.py); what has no such record is refused.
verify: the artifact, its SBOM and the sources it names are the ones in the statement, which lies
beside the artifact or in build/evidence. Statements are not signed.
"""

import argparse
import hashlib
import json
import os
import platform
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from urllib.parse import unquote

import built
import debian
import packaging.requirements
from built import BUILD_TYPE, BuiltError, git, installed_wheels
from cyclonedx.model import HashAlgorithm, HashType
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.output.json import JsonV1Dot6
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from lock_file import LockError, Requirement, normalize, parse_lock, sha256
from packageurl import PackageURL
from versions import ROOT, load_versions
from wheel_cache import BootstrapError

FOLDER = ROOT / "build" / "evidence"
STATEMENT = "https://in-toto.io/Statement/v1"
PREDICATE = "https://slsa.dev/provenance/v1"
BASE = "org.opencontainers.image.base.name"
REVISION = "org.opencontainers.image.revision"
IMAGE = "image:"


class EvidenceError(Exception):
    """A sentence for the user."""


def run_requirements(names: Iterable[str]) -> dict[str, tuple[Requirement, str]]:
    """The requirements an artifact needs at run time: these names and all that they ask for."""
    by_name = installed_wheels()
    found: dict[str, tuple[Requirement, str]] = {}
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name in found or name not in by_name:
            continue
        found[name] = by_name[name]
        waiting += asked_for(metadata.requires(name) or [])
    return found


def asked_for(lines: Iterable[str]) -> list[str]:
    """The names of what these requirements ask for here, without any extra."""
    wanted = [packaging.requirements.Requirement(line) for line in lines]
    return [
        normalize(one.name)
        for one in wanted
        if one.marker is None or one.marker.evaluate({"extra": ""})
    ]


def component(kind: str, name: str, version: str, digest: str = "") -> Component:
    """One part, by its package URL; `kind` is the URL's type."""
    purl = PackageURL(kind, "debian" if kind == "deb" else None, name, version)
    return Component(
        type=ComponentType.CONTAINER if kind == "docker" else ComponentType.LIBRARY,
        name=name,
        version=version,
        purl=purl,
        bom_ref=str(purl),
        hashes=[HashType(alg=HashAlgorithm.SHA_256, content=digest)] if digest else [],
    )


@dataclass(frozen=True)
class Artifact:
    """What was built: its file name, its SHA-256, how, and what it needs to run."""

    name: str
    sha256: str
    definition: dict
    itself: Component
    requires: list[str]
    parts: dict[str, Component]


def wheel(path: Path) -> Artifact:
    definition = built.attested(path)
    try:
        with zipfile.ZipFile(path) as archive:
            member = next(n for n in archive.namelist() if n.endswith(".dist-info/METADATA"))
            lines = archive.read(member).decode().splitlines()
    except (zipfile.BadZipFile, StopIteration, ValueError) as error:
        raise EvidenceError(f"evidence: expected a wheel, got {path} ({error})") from error
    fields = [line.partition(": ")[::2] for line in lines if ": " in line]
    name, version = dict(fields)["Name"], dict(fields)["Version"]
    requires = asked_for(value for key, value in fields if key == "Requires-Dist")
    digest = sha256(path)
    itself = component("pypi", normalize(name), version, digest)
    return Artifact(path.name, digest, definition, itself, requires, wheels_as_parts(requires))


def conda(path: Path) -> Artifact:
    """A conda package, as its channel's index describes it.

    One that was kept is of an older commit than the checkout's, with the same inputs, and says so.
    """
    definition = built.recorded(path)
    index = path.parent / "repodata.json"
    try:
        entry = json.loads(index.read_text(encoding="utf-8"))["packages.conda"][path.name]
    except (OSError, ValueError, KeyError) as error:
        raise EvidenceError(
            f"evidence: expected {path.name} in its channel's {index}, got {error!r}"
        ) from error
    requires = [normalize(line.split()[0]) for line in entry["depends"]]
    digest = sha256(path)
    itself = component("conda", entry["name"], entry["version"], digest)
    parts = wheels_as_parts(requires)
    for line in entry["depends"]:
        name, version, *_ = [*line.split(), "", ""]
        parts.setdefault(normalize(name), component("conda", name, version.lstrip("=")))
    return Artifact(path.name, digest, definition, itself, requires, parts)


def inspect(reference: str) -> dict:
    """What the engine says of an image; its id is the hash of its configuration and layers."""
    engine = os.environ.get("ENGINE") or "docker"
    command = [engine, "image", "inspect", reference]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        raise EvidenceError(f"evidence: image:{reference}: {engine}: {error.strerror}") from error
    if done.returncode:
        raise EvidenceError(f"evidence: image:{reference}: {done.stderr.strip()}")
    return json.loads(done.stdout)[0]


def image(reference: str) -> Artifact:
    """An image, whose labels say what it was built from."""
    facts = inspect(reference)
    labels = facts["Config"]["Labels"] or {}
    for label in (BASE, REVISION, "ascendc-ops.device", "ascendc-ops.stack"):
        if not labels.get(label):
            raise EvidenceError(
                f"evidence: image:{reference}: expected the label {label}, got none"
            )
    now, base = built.source(), labels[BASE]
    if labels[REVISION] != (revision := built.revision()):
        raise EvidenceError(
            f"evidence: image:{reference}: expected a build of commit {revision}, got one of "
            f"{labels[REVISION]}: run make docker-build"
        )
    parts = wheels_as_parts(["torch", "torch-npu", "numpy"])
    locks = []
    # The host's image is made of these; a CANN image is one part, known by its digest.
    if base.startswith(load_versions()["images"]["cann"]):
        parts[base] = component("docker", *base.partition("@")[::2])
    else:
        parts |= debian_packages()
        locks = [debian.lock_path(platform.machine(), kind) for kind in ("base", "build")]
    definition = {
        "buildType": BUILD_TYPE,
        "externalParameters": {"device": labels["ascendc-ops.device"], "base": base},
        "internalParameters": {
            "changedFiles": now["changedFiles"],
            "stack": labels["ascendc-ops.stack"],
            "machine": platform.machine(),
        },
        "resolvedDependencies": built.dependencies(now, *locks),
    }
    digest = facts["Id"].removeprefix("sha256:")
    itself = component("docker", *reference.rpartition(":")[::2], digest)
    return Artifact(file_name(reference), digest, definition, itself, list(parts), parts)


def file_name(reference: str) -> str:
    return reference.replace(":", "-").replace("/", "-")


def debian_packages() -> dict[str, Component]:
    found = {}
    for file, digest in debian.read_lock(debian.lock_path(platform.machine(), "base")).items():
        name, version, _ = unquote(Path(file).stem).split("_")
        found[f"deb:{name}"] = component("deb", name, version, digest)
    return found


def wheels_as_parts(names: Iterable[str]) -> dict[str, Component]:
    return {
        key: component("pypi", held.name, held.version, digest)
        for key, (held, digest) in run_requirements(names).items()
    }


def path_of(artifact: str) -> Path:
    path = Path(artifact)
    if not path.is_file():
        raise EvidenceError(f"evidence: expected a file or image:<name>, got '{artifact}'")
    return path


def read(artifact: str) -> Artifact:
    """A wheel's or a conda package's file, or image:<name>."""
    if artifact.startswith(IMAGE):
        return image(artifact.removeprefix(IMAGE))
    path = path_of(artifact)
    kinds = {".whl": (wheel, "build"), ".conda": (conda, "conda")}
    if path.suffix not in kinds:
        raise EvidenceError(f"evidence: expected a {' or a '.join(kinds)} file, got '{artifact}'")
    reader, target = kinds[path.suffix]
    try:
        return reader(path)
    except BuiltError as error:
        fix = f"only what make {target} built here is attested"
        raise EvidenceError(f"evidence: {artifact}: {error}; {fix}") from error


def sbom(artifact: Artifact) -> str:
    """A CycloneDX document without time or serial number: the same artifact, the same document."""
    bom = Bom()
    bom.metadata.component = artifact.itself
    bom.components.update(artifact.parts.values())
    direct = [artifact.parts[one] for one in artifact.requires if one in artifact.parts]
    bom.register_dependency(artifact.itself, direct)
    document = json.loads(JsonV1Dot6(bom).output_as_string())
    document.pop("serialNumber", None)
    document["metadata"].pop("timestamp", None)
    text = json.dumps(document, indent=2, sort_keys=True) + "\n"
    if problem := JsonStrictValidator(SchemaVersion.V1_6).validate_str(text):
        raise EvidenceError(f"evidence: the SBOM of {artifact.name} is not valid: {problem.data}")
    return text


def provenance(artifact: Artifact, sbom_text: str) -> dict:
    sbom_digest = hashlib.sha256(sbom_text.encode()).hexdigest()
    return {
        "_type": STATEMENT,
        "subject": [{"name": artifact.name, "digest": {"sha256": artifact.sha256}}],
        "predicateType": PREDICATE,
        "predicate": {
            "buildDefinition": artifact.definition,
            "runDetails": {
                "builder": {"id": BUILD_TYPE},
                "byproducts": [
                    {"name": f"{artifact.name}.cdx.json", "digest": {"sha256": sbom_digest}}
                ],
            },
        },
    }


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    half = path.with_name(f".{path.name}.new")
    half.write_text(text, encoding="utf-8")
    half.replace(path)


def make(artifact: Artifact) -> None:
    text = sbom(artifact)
    statement = json.dumps(provenance(artifact, text), indent=2) + "\n"
    write(FOLDER / f"{artifact.name}.cdx.json", text)
    write(FOLDER / f"{artifact.name}.provenance.json", statement)
    state = built.said(built.state_of(artifact.definition))
    print(f"evidence: {artifact.name}: sha256 {artifact.sha256}, {state}")


def named(dependencies: list[dict], name: str) -> dict[str, str]:
    return next((one["digest"] for one in dependencies if one["name"] == name), {})


def problems(name: str, held: str, folder: Path) -> list[str]:
    """Every way in which an artifact of hash `held` or its sources differ from its statement."""
    file = folder / f"{name}.provenance.json"
    if not file.is_file():
        return [f"expected its statement {file}, found none: run make evidence"]
    try:
        statement = json.loads(file.read_text(encoding="utf-8"))
        kinds = (statement["_type"], statement["predicateType"])
        subject = statement["subject"][0]
        digest = subject["digest"]["sha256"]
        byproduct = statement["predicate"]["runDetails"]["byproducts"][0]
        part, part_digest = folder / byproduct["name"], byproduct["digest"]["sha256"]
        definition = statement["predicate"]["buildDefinition"]
        changed = definition["internalParameters"]["changedFiles"]
        dependencies = definition["resolvedDependencies"]
        source = named(dependencies, "source")
        commit, tree = source["gitCommit"], source["gitTree"]
        claims = {one["name"]: one["digest"]["sha256"] for one in dependencies[1:]}
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        return [f"expected a provenance statement in {file}, got {error!r}"]
    found = []
    if kinds != (STATEMENT, PREDICATE) or subject["name"] != name:
        found.append(f"expected a statement about it in {file}, got one of another kind or name")
    if held != digest:
        found.append(f"expected sha256 {digest}, got {held}: it is not what was built")
    if not part.is_file():
        found.append(f"expected its SBOM {part}, found none")
    elif (other := sha256(part)) != part_digest:
        found.append(f"{part.name}: expected sha256 {part_digest}, got {other}")
    if changed:
        return [*found, f"built from a tree with changed files: {', '.join(changed)}"]
    return found + source_problems(commit, tree, claims)


def source_problems(commit: str, tree: str, claims: dict[str, str]) -> list[str]:
    """What the statement says of the sources and the wheels, against the commit it names."""
    files = {name: digest for name, digest in claims.items() if "==" not in name}
    locks = [name for name in files if name.startswith("ci/requirements/")]
    if "versions.toml" not in files or len(locks) != 1:
        return [f"expected versions.toml and one lock among its sources, got {', '.join(files)}"]
    try:
        if not re.fullmatch("[0-9a-f]{40}", commit):
            raise BuiltError(commit)
        own = git("rev-parse", "--verify", f"{commit}^{{tree}}").decode().strip()
    except BuiltError:
        return [f"expected commit {commit} in this repository, found none: git fetch"]
    found = []
    if tree != own:
        found.append(f"expected the files of {commit}, tree {own}, got tree {tree}")
    for name, digest in files.items():
        try:
            content = git("show", f"{commit}:{name}")
        except BuiltError:
            return [*found, f"expected {name} at {commit}, found none"]
        if (held := hashlib.sha256(content).hexdigest()) != digest:
            found.append(f"{name} at {commit}: expected sha256 {digest}, got {held}")
        if name == locks[0]:
            pins = {one.pin: one.hashes for one in parse_lock(name, content.decode())}
    wheels = {name: digest for name, digest in claims.items() if "==" in name}
    wrong = [name for name, digest in wheels.items() if digest not in pins.get(name, ())]
    wrong += [name for name in pins if name not in wheels]
    if wrong:
        found.append(
            f"expected the wheels of {locks[0]}, got others for {', '.join(sorted(wrong))}"
        )
    return found


def verify(artifact: str) -> None:
    """The statement lies beside a file that was downloaded with it, else in build/evidence."""
    folder = FOLDER
    if artifact.startswith(IMAGE):
        reference = artifact.removeprefix(IMAGE)
        name, held = file_name(reference), inspect(reference)["Id"].removeprefix("sha256:")
    else:
        path = path_of(artifact)
        name, held = path.name, sha256(path)
        if (path.parent / f"{name}.provenance.json").is_file():
            folder = path.parent
    if found := problems(name, held, folder):
        raise EvidenceError("\n".join(f"verify: {name}: {one}" for one in found))
    print(f"verify: {name}: artifact, SBOM and sources are what its statement says")
    print(f"verify: {name}: nobody signed the statement: it is as good as the place it is from")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("command", choices=("make", "verify"))
    parser.add_argument("artifacts", nargs="*", metavar="ARTIFACT", help="file or image:<name>")
    options = parser.parse_args()
    if not options.artifacts:
        sys.exit(f"evidence {options.command}: expected ARTIFACT=<file or image:name>, got none")
    try:
        if options.command == "verify":
            for one in options.artifacts:
                verify(one)
        else:
            # All of them are read first: one that is refused leaves nothing written.
            for artifact in [read(one) for one in options.artifacts]:
                make(artifact)
    except (BootstrapError, BuiltError, EvidenceError, LockError) as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
