# SPDX-License-Identifier: Apache-2.0
"""Builds the images and runs the matrix in them; behind docker-build, docker-test and docker-shell.

Everything that differs between hosts, devices and engines is decided here and in ascend_host.py.
"""

import argparse
import contextlib
import itertools
import json
import os
import platform
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

import built
import device
import images
import layers
from ascend_host import AscendHost, HostError, Npus
from files import unusable
from lock import torch_build
from lock_file import LockError, die, lock_path, python_tag
from versions import DEFAULT, ROOT, VersionsError, load_versions, select
from wheel_cache import BootstrapError, locked_wheels

ENGINES = ("docker", "podman")
REPORTS = ("matrix.json", "matrix.xml", "matrix.html")
REPORT = ROOT / "build" / "report"
STEP = ROOT / "ci" / "step.sh"
# What docker-shell shows of the checkout; .venv and build stay the image's.
SOURCES = (
    "CMakeLists.txt",
    "ci",
    "csrc",
    "hostcann",
    "kernels",
    "python",
    "tests",
    "versions.toml",
)
# Nothing that the matrix does not need: no network, no capability, two folders to write to.
# Each ends in an image with a tag, so that the engine keeps its layers for the next time.
TARGETS = ("build", "runtime", "test")
CONFINED = [
    "--network=none",
    "--read-only",
    "--tmpfs=/tmp",
    "--cap-drop=ALL",
    "--security-opt=no-new-privileges",
]


class ContainerError(Exception):
    """A sentence for the user."""


@dataclass(frozen=True)
class Base:
    """The image that all stages start from."""

    reference: str
    # Which an image that is made here shall have. Of one from a registry the reference holds it.
    id: str = ""
    pinned: bool = True
    # Made here, by docker/base.sh.
    own: bool = False

    @property
    def said(self) -> str:
        return self.reference + ("" if self.pinned else " (not pinned)")


@dataclass(frozen=True)
class Plan:
    """What the variables of make ask for, checked."""

    versions: dict
    kind: str
    chip: str
    npu_arch: str
    base: Base
    machine: str

    @property
    def tag(self) -> str:
        return f"{self.chip or self.kind}-{self.versions['stack']['name']}"

    def image(self, target: str) -> str:
        return {
            "runtime": f"ascendc-ops:{self.tag}",
            "test": f"ascendc-ops-test:{self.tag}",
            "build": f"ascendc-ops-build:{self.tag}",
        }[target]

    @property
    def stack_line(self) -> str:
        stack = self.versions["stack"]
        torch = torch_build(self.versions, self.machine)
        toolkit = f"CANN {stack['cann']}"
        if self.kind == "host":
            toolkit = f"hostcann {self.versions['hostcann']['version']}"
        return (
            f"Python {stack['python']}, torch {torch}, torch_npu {stack['torch_npu']}, {toolkit}, "
            f"npu-arch {self.npu_arch}"
        )

    def build_arguments(self, target: str, revision: str, engine: str = "docker") -> list[str]:
        given = {
            "BASE_IMAGE": self.base.reference,
            "BASE_NAME": self.base.said,
            "DEVICE": self.kind,
            "MACHINE": self.machine,
            "NPU_ARCH": self.npu_arch,
            "PYTHON": f"python{self.versions['stack']['python']}",
            "REVISION": revision,
            "SOURCE_DATE_EPOCH": str(self.versions["images"]["host"]["epoch"]),
            "STACK": self.versions["stack"]["name"],
            "STACK_LINE": self.stack_line,
            "VERSION": self.versions["project"]["version"],
        }
        found = ["build", "--network=none", "--file=docker/Dockerfile", f"--target={target}"]
        found.append(f"--tag={self.image(target)}")
        if engine == "podman":
            # Its own format has no place for SHELL.
            found.append("--format=docker")
        found += [f"--build-arg={name}={value}" for name, value in given.items()]
        return [*found, "."]


def choose_base(versions: dict, kind: str, chip: str, machine: str, env: dict[str, str]) -> Base:
    """Refuses an image whose content is not known beforehand, unless that is asked for."""
    unpinned = env.get("ALLOW_UNPINNED") == "1"
    if named := env.get("BASE_IMAGE"):
        held = re.search("(^|@)sha256:[0-9a-f]{64}$", named)
        if not held and not unpinned:
            raise ContainerError(
                f"BASE_IMAGE: expected a digest (name@sha256:… or an image id), got '{named}'; "
                "or say ALLOW_UNPINNED=1"
            )
        return Base(named, pinned=bool(held))
    if kind == "host":
        host = versions["images"]["host"]
        name = f"{host['name']}:{host['codename']}"
        found = host["id"].get(machine, images.UNRESOLVED)
        if found == images.UNRESOLVED and not unpinned:
            raise ContainerError(
                f"the id of {name} for {machine} is unresolved: make it with ALLOW_UNPINNED=1 and "
                "write the id that is printed into versions.toml (images.host.id)"
            )
        return Base(name, id=found, own=True)
    tag = images.tag(versions, chip)
    reference = f"{versions['images']['cann']}:{tag}"
    digest = versions["images"]["digest"].get(tag, images.UNRESOLVED)
    if digest != images.UNRESOLVED:
        return Base(f"{reference}@{digest}")
    if unpinned:
        return Base(reference, pinned=False)
    raise ContainerError(
        f"the digest of {reference} is unresolved: run make lock where its registry answers, "
        "or say ALLOW_UNPINNED=1"
    )


def choose_chip(versions: dict, env: dict[str, str]) -> str:
    """The chip of an NPU image: as said, or as npu-smi says."""
    chips = versions["chips"]
    wanted = env.get("CHIP", "")
    if not wanted:
        # npu-smi's answer: CANN is in the image, not here.
        found = device.Case(device.Machine(env, sys.executable), versions).smi.chip
        wanted = device.known.chip_of(versions, found)
    if wanted not in chips:
        got = f"'{wanted}'" if wanted else "none, and npu-smi names none"
        raise ContainerError(f"CHIP: expected {', '.join(chips)}, got {got}")
    return wanted


def choose_kind(host: AscendHost, env: dict[str, str]) -> str:
    kind = env.get("DEVICE") or "auto"
    if kind not in device.KINDS:
        raise ContainerError(f"DEVICE: expected {', '.join(device.KINDS)}, got '{kind}'")
    if kind == "auto":
        kind = "npu" if host.numbers() else "host"
    given = [f"{name}={env[name]}" for name in ("CHIP", "NPUS") if env.get(name)]
    if kind == "host" and given:
        raise ContainerError(
            f"{' and '.join(given)}: expected DEVICE=npu with it, got DEVICE=host, which has no "
            "NPU; say DEVICE=npu, or leave it out"
        )
    return kind


def make_plan(kind: str, env: dict[str, str]) -> Plan:
    versions = select(load_versions(), env.get("STACK") or DEFAULT)
    machine = platform.machine()
    if machine not in versions["platforms"]:
        expected = " or ".join(versions["platforms"])
        raise ContainerError(f"expected a machine of {expected}, got {machine}")
    chip = choose_chip(versions, env) if kind == "npu" else ""
    arch = versions["chips"][chip]["npu_arch"] if chip else versions["hostcann"]["npu_arch"]
    base = choose_base(versions, kind, chip, machine, env)
    return Plan(versions, kind, chip, arch, base, machine)


@dataclass(frozen=True)
class Engine:
    name: str

    @classmethod
    def choose(cls, env: dict[str, str]) -> "Engine":
        name = env.get("ENGINE") or "docker"
        if name not in ENGINES:
            raise ContainerError(f"ENGINE: expected {' or '.join(ENGINES)}, got '{name}'")
        return cls(name)

    @property
    def rootless_podman(self) -> bool:
        return self.name == "podman" and os.geteuid() != 0

    def ask(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = [self.name, *arguments]
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True)

    def run(self, *arguments: str) -> str:
        done = self.ask(*arguments)
        if done.returncode:
            said = " ".join(done.stderr.split())
            raise ContainerError(f"{self.name} {arguments[0]} failed: {said}")
        return done.stdout.strip()

    def require(self) -> None:
        """The engine is there and answers."""
        if shutil.which(self.name) is None:
            other = next(name for name in ENGINES if name != self.name)
            raise ContainerError(
                f"ENGINE={self.name}: expected the command {self.name}, found none: install "
                f"{self.name}, or say ENGINE={other}"
            )
        done = self.ask("version", "--format={{.Server.Version}}")
        if done.returncode == 0:
            return
        said = " ".join(done.stderr.split())
        if "permission denied" in said:
            raise ContainerError(
                f"ENGINE={self.name}: no permission on the engine's socket ({said}): add yourself "
                "to the group docker and log in again"
            )
        raise ContainerError(
            f"ENGINE={self.name}: the engine is not running ({said}): start it, with "
            "systemctl start docker or, without systemd, dockerd"
        )

    def has_ascend_runtime(self) -> bool:
        if self.name != "docker":
            return False
        return "ascend" in json.loads(self.run("info", "--format={{json .Runtimes}}") or "{}")

    def image_id(self, name: str) -> str:
        done = self.ask("image", "inspect", "--format={{.Id}}", name)
        found = done.stdout.strip()
        return found if not found or found.startswith("sha256:") else f"sha256:{found}"

    def step(self, what: str, *command: str) -> None:
        """A long one: its chatter goes to build/log."""
        done = subprocess.run([STEP, what, *command], cwd=ROOT)
        if done.returncode:
            sys.exit(done.returncode)


def provide_base(plan: Plan, engine: Engine, unpinned: bool) -> None:
    """DEVICE=host: the base is made from the wheelhouse, unless the engine has it."""
    if not plan.base.own or engine.image_id(plan.base.reference) == plan.base.id:
        return
    archive = ROOT / "build" / "docker" / "base.tar"
    archive.parent.mkdir(parents=True, exist_ok=True)
    epoch = f"SOURCE_DATE_EPOCH={plan.versions['images']['host']['epoch']}"
    debs = ROOT / "build" / "wheelhouse" / "debs" / "base"
    script = ("env", epoch, "docker/base.sh")
    engine.step("docker base", *script, str(debs), plan.base.reference, str(archive))
    engine.run("load", f"--input={archive}")
    archive.unlink()
    made = engine.image_id(plan.base.reference)
    if made != plan.base.id and not unpinned:
        raise ContainerError(
            f"{plan.base.reference}: expected the id {plan.base.id} of versions.toml, got {made}: "
            "the packages are the same, so mmdebstrap or dpkg differ; ALLOW_UNPINNED=1 takes it"
        )


def as_held(plan: Plan, engine: Engine) -> Plan:
    """The plan with what the engine's base is: pinned, if it has the id of versions.toml."""
    base = plan.base
    if not base.own:
        return plan
    return replace(plan, base=replace(base, pinned=engine.image_id(base.reference) == base.id))


def check_wheels(plan: Plan) -> None:
    """What is given to the engine is what the lock says."""
    wheels = ROOT / "build" / "wheelhouse" / "wheels"
    lock = lock_path(plan.versions, plan.machine, next(iter(plan.versions["lock"]["groups"])))
    locked_wheels(wheels / f"{plan.machine}-{python_tag(plan.versions)}", lock, "wheelhouse")


def build(plan: Plan, engine: Engine, targets: tuple[str, ...], unpinned: bool) -> None:
    check_wheels(plan)
    provide_base(plan, engine, unpinned)
    plan = as_held(plan, engine)
    commit = built.revision()
    before = [engine.image_id(plan.image(target)) for target in targets]
    for target in targets:
        arguments = plan.build_arguments(target, commit, engine.name)
        engine.step(f"docker image {target} {plan.tag}", engine.name, *arguments)
        print(f"{plan.image(target)}: {engine.image_id(plan.image(target))}", flush=True)
    for image in reversed(before):
        forget(engine, image)


def forget(engine: Engine, image: str) -> None:
    """Removes an image that a build has taken the tag from, unless a container still needs it."""
    tags = engine.ask("image", "inspect", "--format={{len .RepoTags}}", image) if image else None
    if tags and tags.stdout.strip() == "0":
        engine.ask("image", "rm", image)


def reproduce(plan: Plan, engine: Engine) -> None:
    """A second build, which finds nothing of the first one's, has the same layers."""
    again = plan.image("runtime") + "-again"
    arguments = plan.build_arguments("runtime", built.revision(), engine.name)
    arguments[arguments.index(f"--tag={plan.image('runtime')}")] = f"--tag={again}"
    arguments[-1:] = ["--no-cache", "--build-arg=BUILD=again", "."]
    engine.step("docker image again", engine.name, *arguments)
    first, second = (layers.read(engine.name, image) for image in (plan.image("runtime"), again))
    for number, (one, other) in enumerate(itertools.zip_longest(first, second)):
        print(f"layer {number}: {one} {'again' if one == other else f'and then {other}'}")
    if first != second:
        raise ContainerError(f"expected the same layers twice, got others in {again}")
    engine.run("image", "rm", again)
    # The stages before it, which have no tag.
    engine.run("image", "prune", "--force", "--filter=label=ascendc-ops.build=again")


def create_arguments(plan: Plan, npus: Npus | None, rootless: bool, about: str) -> list[str]:
    """The container of a matrix run; what follows the image is for tests/matrix/run.py."""
    found = ["create", *CONFINED, "--volume=/report", f"--env=ASCENDC_OPS_CONTAINER={about}"]
    if npus:
        found += npus.arguments(rootless)
    return [*found, plan.image("test")]


def test(plan: Plan, engine: Engine, npus: Npus | None) -> int:
    image = plan.image("test")
    image_id = engine.image_id(image)
    if not image_id:
        raise ContainerError(f"expected the image {image}, found none: run make docker-build")
    # Until the container runs, a stop is an exit; the container goes either way.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda signalled, _frame: sys.exit(128 + signalled))
    about = f"{image} {image_id[:19]}, {engine.name}, base {plan.base.said}"
    print(f"container: {about}", flush=True)
    for name in REPORTS:
        (REPORT / name).unlink(missing_ok=True)
    container = engine.run(*create_arguments(plan, npus, engine.rootless_podman, about))
    try:
        code = attach(engine, container)
        collect_report(engine, container)
    finally:
        engine.run("rm", "--force", "--volumes", container)
    return code or check_report(plan)


def attach(engine: Engine, container: str) -> int:
    """Runs it; a signal to this process stops the container, which then reports what it has."""
    running = subprocess.Popen(
        [engine.name, "start", "--attach", container], start_new_session=True
    )

    def stop(_number, _frame) -> None:
        engine.ask("stop", "--time=20", container)

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)
    return running.wait()


def collect_report(engine: Engine, container: str) -> None:
    """The engine's copy belongs to who runs this, whoever wrote it in the container."""
    REPORT.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=REPORT.parent) as folder:
        engine.run("cp", f"{container}:/report/.", folder)
        logs = Path(folder) / "matrix-processes"
        if logs.is_dir():
            shutil.rmtree(REPORT / logs.name, ignore_errors=True)
            logs.replace(REPORT / logs.name)
        for name in REPORTS:
            with contextlib.suppress(FileNotFoundError):
                (Path(folder) / name).replace(REPORT / name)


def check_report(plan: Plan) -> int:
    """What ran is what the image was built from."""
    report = json.loads((REPORT / "matrix.json").read_text(encoding="utf-8"))
    stack = plan.versions["stack"]
    expected = {
        "kind": plan.kind,
        "torch": torch_build(plan.versions, plan.machine),
        "torch_npu": stack["torch_npu"],
    }
    got = {"kind": report["kind"], **report["stack"]}
    for name, value in expected.items():
        if got[name] != value:
            raise ContainerError(
                f"docker-test: expected {name} {value} in the report, got {got[name]}"
            )
    return 0


def shell(plan: Plan, engine: Engine) -> None:
    """The build image, with the sources of this checkout in the place of its own."""
    terminal = ["--interactive", "--tty"] if sys.stdin.isatty() else ["--interactive"]
    command = [engine.name, "run", "--rm", *terminal, "--network=none"]
    command += [f"--env=DEVICE={plan.kind}", f"--env=NPU_ARCH={plan.npu_arch}"]
    for name in SOURCES:
        # Not --volume, which ends a path at its first colon.
        command.append(f'--mount=type=bind,"source={ROOT / name}",target=/src/{name}')
    os.execvp(engine.name, [*command, plan.image("build"), "bash"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = ("check", "build", "test", "reproduce", "shell")
    parser.add_argument("command", choices=commands)
    parser.add_argument("goals", nargs="*", help="of make, for check")
    options = parser.parse_args()
    env = dict(os.environ)
    host = AscendHost()
    try:
        kind = choose_kind(host, env)
        engine = Engine.choose(env)
        npus = None
        # First what is nearest to the user: the nodes, then the engine, then the image.
        if kind == "npu" and (options.command == "test" or "docker-test" in options.goals):
            host.choose(env.get("NPUS", ""))
            engine.require()
            runtime = engine.has_ascend_runtime()
            npus = host.find(env.get("NPUS", ""), runtime, engine.rootless_podman)
        else:
            engine.require()
        plan = make_plan(kind, env)
        if options.command != "check":
            plan = as_held(plan, engine)
        unpinned = env.get("ALLOW_UNPINNED") == "1"
        if options.command == "build":
            build(plan, engine, TARGETS, unpinned)
        elif options.command == "test":
            sys.exit(test(plan, engine, npus))
        elif options.command == "reproduce":
            reproduce(plan, engine)
        elif options.command == "shell":
            build(plan, engine, TARGETS[:1], unpinned)
            shell(plan, engine)
    except (BootstrapError, ContainerError, HostError, LockError, VersionsError) as error:
        die(error)
    except OSError as error:
        die(unusable(error))
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
