# SPDX-License-Identifier: Apache-2.0
"""ci/container.py without an engine: the exact command lines, and what is refused before them."""

import errno
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import container
import pytest
from ascend_host import Npus
from files import unusable
from versions import load_versions, select
from wheel_cache import BootstrapError

REPOSITORY = Path(__file__).resolve().parents[2]
VERSIONS = load_versions()
DIGEST = "sha256:" + "0" * 64
BASE = container.Base("ascendc-ops-base:bookworm", id=DIGEST, own=True)
TWO = Npus((0, 1), ("/dev/davinci0", "/dev/davinci1"), ("/usr/local/dcmi",), (1000,))


def plan(kind: str = "host", chip: str = "", stack: str = "default") -> container.Plan:
    arch = "dav-2201"
    return container.Plan(select(VERSIONS, stack), kind, chip, arch, BASE, "x86_64")


def test_the_build_line_says_everything_that_differs() -> None:
    assert plan().build_arguments("runtime", "abc") == [
        "build",
        "--network=none",
        "--file=docker/Dockerfile",
        "--target=runtime",
        "--tag=ascendc-ops:host-default",
        "--build-arg=BASE_IMAGE=ascendc-ops-base:bookworm",
        "--build-arg=BASE_NAME=ascendc-ops-base:bookworm",
        "--build-arg=DEVICE=host",
        "--build-arg=MACHINE=x86_64",
        "--build-arg=NPU_ARCH=dav-2201",
        "--build-arg=PYTHON=python3.11",
        "--build-arg=REVISION=abc",
        f"--build-arg=SOURCE_DATE_EPOCH={VERSIONS['images']['host']['epoch']}",
        "--build-arg=STACK=default",
        "--build-arg=STACK_LINE=Python 3.11, torch 2.13.0+cpu, torch_npu 2.13.0, hostcann 0.1.0, "
        "npu-arch dav-2201",
        "--build-arg=VERSION=0.1.0",
        ".",
    ]


def test_podman_is_told_the_format_that_knows_shell() -> None:
    docker, podman = (plan().build_arguments("test", "abc", name) for name in container.ENGINES)
    assert set(podman) - set(docker) == {"--format=docker"}


def test_every_argument_is_one_of_the_dockerfile() -> None:
    dockerfile = (REPOSITORY / "docker" / "Dockerfile").read_text()
    declared = set(re.findall(r"^ARG (\w+)", dockerfile, re.MULTILINE))
    given = {
        line.split("=")[1] for line in plan().build_arguments("test", "abc") if "-arg=" in line
    }
    # Only these have a value of their own.
    assert declared - given == {"BUILD", "DEVICE_GID"}
    assert given <= declared


@pytest.mark.parametrize(
    ("chip", "stack", "image"),
    [
        ("910b", "default", "ascendc-ops-test:910b-default"),
        ("a3", "recommended", "ascendc-ops-test:a3-recommended"),
        ("", "previous", "ascendc-ops-test:host-previous"),
    ],
)
def test_an_image_is_named_after_chip_and_stack(chip: str, stack: str, image: str) -> None:
    assert plan("npu" if chip else "host", chip, stack).image("test") == image


CONFINED = [
    "create",
    "--network=none",
    "--read-only",
    "--tmpfs=/tmp",
    "--cap-drop=ALL",
    "--security-opt=no-new-privileges",
    "--volume=/report",
    "--env=ASCENDC_OPS_CONTAINER=about",
]


@pytest.mark.parametrize(
    ("npus", "rootless", "extra"),
    [
        pytest.param(None, False, [], id="host"),
        pytest.param(
            TWO,
            False,
            [
                "--device=/dev/davinci0",
                "--device=/dev/davinci1",
                "--mount=type=bind,source=/usr/local/dcmi,target=/usr/local/dcmi,readonly",
                "--group-add=1000",
            ],
            id="npu",
        ),
        pytest.param(
            TWO,
            True,
            [
                "--device=/dev/davinci0",
                "--device=/dev/davinci1",
                "--mount=type=bind,source=/usr/local/dcmi,target=/usr/local/dcmi,readonly",
                "--group-add=keep-groups",
            ],
            id="npu-with-a-users-podman",
        ),
    ],
)
def test_the_container_gets_nothing_beside_its_npus(npus, rootless: bool, extra: list) -> None:
    image = "ascendc-ops-test:host-default"
    assert container.create_arguments(plan(), npus, rootless, "about") == [*CONFINED, *extra, image]


@pytest.mark.parametrize(
    ("kind", "chip", "env", "reference", "pinned"),
    [
        ("npu", "910b", {"ALLOW_UNPINNED": "1"}, "quay.io/ascend/cann:{tag}", False),
        ("npu", "910b", {"BASE_IMAGE": f"mirror/cann@{DIGEST}"}, f"mirror/cann@{DIGEST}", True),
        ("npu", "a3", {"BASE_IMAGE": "cann:x", "ALLOW_UNPINNED": "1"}, "cann:x", False),
        ("host", "", {}, "ascendc-ops-base:bookworm", True),
        ("host", "", {"ALLOW_UNPINNED": "1"}, "ascendc-ops-base:bookworm", True),
    ],
)
def test_the_base_is_known_or_said_to_be_unpinned(
    kind: str, chip: str, env: dict, reference: str, pinned: bool
) -> None:
    base = container.choose_base(VERSIONS, kind, chip, "x86_64", env)
    expected = reference.format(tag=f"9.1.0-{chip}-ubuntu22.04-py3.11")
    assert (base.reference, base.pinned) == (expected, pinned)
    assert base.said == expected + ("" if pinned else " (not pinned)")


def test_a_resolved_digest_is_part_of_the_reference() -> None:
    tag = "9.1.0-950-ubuntu22.04-py3.11"
    versions = VERSIONS | {"images": VERSIONS["images"] | {"digest": {tag: DIGEST}}}
    base = container.choose_base(versions, "npu", "950", "x86_64", {})
    assert base == container.Base(f"quay.io/ascend/cann:{tag}@{DIGEST}")


@pytest.mark.parametrize(
    ("kind", "chip", "machine", "env", "sentence"),
    [
        pytest.param(
            "npu",
            "910b",
            "x86_64",
            {},
            "the digest of quay.io/ascend/cann:9.1.0-910b-ubuntu22.04-py3.11 is unresolved: run "
            "make lock where its registry answers, or say ALLOW_UNPINNED=1",
            id="unresolved-digest",
        ),
        pytest.param(
            "host",
            "",
            "sparc",
            {},
            "the id of ascendc-ops-base:bookworm for sparc is unresolved: make it with "
            "ALLOW_UNPINNED=1 and write the id that is printed into versions.toml (images.host.id)",
            id="unresolved-id",
        ),
        pytest.param(
            "npu",
            "910b",
            "x86_64",
            {"BASE_IMAGE": "cann:latest"},
            "BASE_IMAGE: expected a digest (name@sha256:… or an image id), got 'cann:latest'; or "
            "say ALLOW_UNPINNED=1",
            id="named-by-tag",
        ),
        pytest.param(
            "npu",
            "910b",
            "x86_64",
            {"BASE_IMAGE": "cann@sha256:12"},
            "BASE_IMAGE: expected a digest (name@sha256:… or an image id), got 'cann@sha256:12'; "
            "or say ALLOW_UNPINNED=1",
            id="named-by-half-a-digest",
        ),
    ],
)
def test_an_unknown_base_is_refused(
    kind: str, chip: str, machine: str, env: dict, sentence: str
) -> None:
    with pytest.raises(container.ContainerError) as refused:
        container.choose_base(VERSIONS, kind, chip, machine, env)
    assert str(refused.value) == sentence


class Images(container.Engine):
    """In place of an engine: it has the images that are named, and notes what it is told."""

    def __init__(self, **held: str) -> None:
        super().__init__("docker")
        self.__dict__.update(held=held, told=[], made={})

    def image_id(self, name: str) -> str:
        return self.held.get(name, "")

    def ask(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        tags = list(self.held.values()).count(arguments[-1])
        self.told += [" ".join(arguments)] if "inspect" not in arguments else []
        return subprocess.CompletedProcess(arguments, 0, f"{tags}\n", "")

    def run(self, *arguments: str) -> str:
        self.told.append(" ".join(arguments))
        return ""

    def step(self, what: str, *command: str) -> None:
        self.told.append(what)
        if what == "docker base":
            image, archive = command[-2:]
            self.held[image] = "sha256:made"
            Path(archive).touch()
        else:
            (tag,) = (one.removeprefix("--tag=") for one in command if one.startswith("--tag="))
            self.held[tag] = self.made.get(tag, f"sha256:{tag}")


@pytest.mark.parametrize(
    ("held", "said"),
    [
        pytest.param(DIGEST, "ascendc-ops-base:bookworm", id="the-id-of-versions.toml"),
        pytest.param("sha256:made", "ascendc-ops-base:bookworm (not pinned)", id="another-id"),
    ],
)
def test_a_base_is_pinned_when_the_engine_holds_the_one_that_is_named(held: str, said: str) -> None:
    engine = Images(**{BASE.reference: held})
    assert container.as_held(plan(), engine).base.said == said
    foreign = replace(plan(), base=container.Base(f"mirror/cann@{DIGEST}"))
    assert container.as_held(foreign, engine) == foreign


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(container, "ROOT", tmp_path)
    return tmp_path


@pytest.mark.usefixtures("root")
def test_a_base_of_another_id_is_taken_only_when_that_is_asked_for() -> None:
    with pytest.raises(container.ContainerError) as refused:
        container.provide_base(plan(), Images(), unpinned=False)
    assert str(refused.value) == (
        f"ascendc-ops-base:bookworm: expected the id {DIGEST} of versions.toml, got sha256:made: "
        "the packages are the same, so mmdebstrap or dpkg differ; ALLOW_UNPINNED=1 takes it"
    )
    engine = Images()
    container.provide_base(plan(), engine, unpinned=True)
    assert engine.held[BASE.reference] == "sha256:made"


STAGES = ("ascendc-ops-build", "ascendc-ops", "ascendc-ops-test")
BUILD, RUNTIME, TEST = (f"{name}:host-default" for name in STAGES)


def test_every_stage_keeps_a_tag_and_what_a_build_replaces_goes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(container, "check_wheels", lambda _plan: None)
    older = {BUILD: "sha256:same", RUNTIME: "sha256:older", TEST: "sha256:oldest"}
    engine = Images(**{BASE.reference: DIGEST, "kept:too": "sha256:older"}, **older)
    engine.made[BUILD] = "sha256:same"
    container.build(plan(), engine, container.TARGETS, unpinned=False)
    # One is what was there before, one has another name.
    built = [f"docker image {target} host-default" for target in container.TARGETS]
    assert engine.told == [*built, "image rm sha256:oldest"]
    container.build(plan(), engine, container.TARGETS, unpinned=False)
    assert engine.told == [*built, "image rm sha256:oldest", *built]


def test_an_altered_wheel_is_refused_before_the_engine_gets_it(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wheels = root / "build" / "wheelhouse" / "wheels" / "x86_64-py311"
    wheels.mkdir(parents=True)
    numpy = f"numpy-{VERSIONS['stack']['numpy']}"
    altered = wheels / f"{numpy}-cp311-cp311-manylinux_2_28_x86_64.whl"
    altered.write_bytes(b"altered")
    engine = Images(**{BASE.reference: DIGEST})
    with pytest.raises(BootstrapError) as refused:
        container.build(plan(), engine, container.TARGETS, unpinned=False)
    assert engine.told == []
    said = f"{altered}: expected the sha256 of the lock, got another: removed\n"
    assert capsys.readouterr().out == said
    assert numpy.replace("-", "==") in str(refused.value)
    assert str(refused.value).endswith(f" in {wheels}, found none; run make wheelhouse")


def fake_engine(folder: Path, name: str, script: str) -> None:
    folder.mkdir(exist_ok=True)
    tool = folder / name
    tool.write_text(f"#!/bin/sh\n{script}\n")
    tool.chmod(0o755)


RUNS = "echo 1"
STOPPED = "echo 'Cannot connect to the daemon at unix:///run/e.sock.' >&2; exit 1"
DENIED = "echo 'permission denied while trying to connect' >&2; exit 1"


@pytest.mark.parametrize(
    ("variables", "script", "sentence"),
    [
        pytest.param(
            {"DEVICE": "gpu"}, RUNS, "DEVICE: expected auto, host, npu, got 'gpu'", id="device"
        ),
        pytest.param(
            {"ENGINE": "lxc"}, RUNS, "ENGINE: expected docker or podman, got 'lxc'", id="engine"
        ),
        pytest.param(
            {"STACK": "newest"},
            RUNS,
            "STACK: expected default, recommended, previous, got 'newest'",
            id="stack",
        ),
        pytest.param(
            {"DEVICE": "npu", "CHIP": "910c"},
            RUNS,
            "CHIP: expected 910b, a3, 310p, 950, got '910c'",
            id="chip",
        ),
        pytest.param(
            {"DEVICE": "npu"},
            RUNS,
            "CHIP: expected 910b, a3, 310p, 950, got none, and npu-smi names none",
            id="no-chip",
        ),
        pytest.param(
            {"DEVICE": "host", "CHIP": "910b"},
            RUNS,
            "CHIP=910b: expected DEVICE=npu with it, got DEVICE=host, which has no NPU; "
            "say DEVICE=npu, or leave it out",
            id="chip-of-a-host",
        ),
        pytest.param(
            {"CHIP": "a3", "NPUS": "0,1"},
            RUNS,
            "CHIP=a3 and NPUS=0,1: expected DEVICE=npu with it, got DEVICE=host, which has no NPU; "
            "say DEVICE=npu, or leave it out",
            id="npus-of-a-host",
        ),
        pytest.param(
            {"ENGINE": "podman"},
            RUNS,
            "ENGINE=podman: expected the command podman, found none: install podman, or say "
            "ENGINE=docker",
            id="engine-not-installed",
        ),
        pytest.param(
            {},
            STOPPED,
            "ENGINE=docker: the engine is not running (Cannot connect to the daemon at "
            "unix:///run/e.sock.): start it, with systemctl start docker or, without systemd, "
            "dockerd",
            id="engine-not-running",
        ),
        pytest.param(
            {},
            DENIED,
            "ENGINE=docker: no permission on the engine's socket (permission denied while trying "
            "to connect): add yourself to the group docker and log in again",
            id="no-permission-on-the-engine",
        ),
    ],
)
def test_a_refusal_is_one_sentence_before_anything_is_done(
    tmp_path: Path, variables: dict[str, str], script: str, sentence: str
) -> None:
    fake_engine(tmp_path / "bin", "docker", script)
    # Only the interpreter and the made-up engine are found.
    env = {"PATH": str(tmp_path / "bin"), "HOME": str(tmp_path), "DEVICE": "host"} | variables
    command = [sys.executable, str(REPOSITORY / "ci" / "container.py"), "check", "docker-build"]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (1, "", f"{sentence}\n")


@pytest.mark.parametrize(
    ("script", "code", "sentence"),
    [
        pytest.param("#!/bin/sh\nkill -INT $PPID; exec /bin/sleep 5\n", 130, "", id="interrupted"),
        pytest.param(
            "#!/nowhere\n",
            1,
            "docker: expected to read and write it, got 'No such file or directory'; "
            "put that right and run it again\n",
            id="refused-by-the-system",
        ),
    ],
)
def test_what_happens_on_the_way_is_no_traceback(
    tmp_path: Path, script: str, code: int, sentence: str
) -> None:
    fake_engine(tmp_path / "bin", "docker", "")
    (tmp_path / "bin" / "docker").write_text(script)
    env = {"PATH": str(tmp_path / "bin"), "HOME": str(tmp_path), "DEVICE": "host"}
    command = [sys.executable, str(REPOSITORY / "ci" / "container.py"), "check"]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (code, sentence)


def test_a_full_disk_is_a_sentence_without_a_name() -> None:
    said = unusable(OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)))
    assert said == (
        "expected to write a file, got 'No space left on device'; put that right and run it again"
    )


def test_the_shell_shows_a_checkout_whatever_its_path_is_called(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls = []
    monkeypatch.setattr(container, "ROOT", Path("/a:b,c"))
    monkeypatch.setattr(os, "execvp", lambda _, line: calls.append(line))
    container.shell(plan(), container.Engine("docker"))
    mounts = [each for each in calls[0] if each.startswith(("--volume", "--mount"))]
    assert mounts == [
        f'--mount=type=bind,"source=/a:b,c/{name}",target=/src/{name}' for name in container.SOURCES
    ]


@pytest.mark.skipif(any(Path("/dev").glob("davinci[0-9]*")), reason="this machine has an NPU")
def test_docker_test_without_an_npu_is_one_sentence() -> None:
    own = ("MAKEFLAGS", "MAKELEVEL", "MFLAGS", "DEVICE", "CHIP", "STACK", "ENGINE")
    env = {name: value for name, value in os.environ.items() if name not in own}
    command = ["make", "--no-print-directory", "docker-test", "DEVICE=npu"]
    done = subprocess.run(
        command, cwd=REPOSITORY, env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.splitlines()[0] == (
        "DEVICE=npu: expected an NPU's device node /dev/davinci0, found none: run on an Ascend "
        "host whose driver is loaded, or use DEVICE=host"
    )
