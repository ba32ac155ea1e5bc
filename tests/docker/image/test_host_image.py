# SPDX-License-Identifier: Apache-2.0
"""The host's images: the matrix in them, for any user, and nothing left behind."""

import json
import os
import re
import signal
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import built
import pytest

REPOSITORY = Path(__file__).resolve().parents[3]
VERSIONS = tomllib.loads((REPOSITORY / "versions.toml").read_text())
RUNTIME = "ascendc-ops:host-default"
TEST = "ascendc-ops-test:host-default"
REPORT = REPOSITORY / "build" / "report" / "matrix.json"
CONFINED = ["--rm", "--network=none", "--read-only", "--tmpfs=/tmp", "--cap-drop=ALL"]
MEGABYTE = 1000 * 1000


def containers_and_volumes(engine) -> tuple[set[str], set[str]]:
    ours = ("ps", "--all", "--quiet", "--no-trunc", f"--filter=ancestor={TEST}")
    listed = (engine(*ours), engine("volume", "ls", "--quiet"))
    return tuple(set(done.stdout.split()) for done in listed)


def test_docker_test_runs_the_matrix_and_leaves_only_the_report(engine, make, base: str) -> None:
    before = containers_and_volumes(engine)
    # An image of an earlier build, whose tag this one takes.
    context = f"FROM {RUNTIME}\nLABEL earlier={time.time_ns()}\n"
    engine("build", "--network=none", f"--tag={TEST}", "-", input=context)
    earlier = engine("image", "inspect", "--format={{.Id}}", TEST).stdout.strip()
    done = make("docker-test", "DEVICE=host")
    assert done.returncode == 0, done.stdout + done.stderr
    assert containers_and_volumes(engine) == before
    report = json.loads(REPORT.read_text())
    image = engine("image", "inspect", "--format={{.Id}}", TEST).stdout.strip()
    assert (report["kind"], report["passed"], report["partial"]) == ("host", True, False)
    assert report["device"] == f"host (hostcann {VERSIONS['hostcann']['version']})"
    assert report["container"] == f"{TEST} {image[:19]}, {engine.name}, base {base}"
    assert engine("image", "inspect", earlier, check=False).returncode != 0
    stack = VERSIONS["stack"]
    assert report["stack"]["torch"] == stack["torch"] + VERSIONS["torch"]["build"]
    assert report["stack"]["torch_npu"] == stack["torch_npu"]
    assert re.search(r"^matrix: \d\d\d passed, 0 failed$", done.stdout, re.MULTILINE)
    for name in ("matrix.json", "matrix.xml", "matrix.html", "matrix-processes/pybind.log"):
        assert (REPORT.parent / name).stat().st_uid == os.getuid()


def test_any_user_may_run_the_matrix(engine) -> None:
    options = [*CONFINED, "--volume=/report", "--user=4711:4711"]
    done = engine("run", *options, TEST, "--variant=lib")
    assert re.search(r"^matrix: \d+ passed, 0 failed$", done.stdout, re.MULTILINE), done.stdout


def test_a_stop_leaves_no_process_and_a_partial_report(engine) -> None:
    before = containers_and_volumes(engine)
    command = [sys.executable, str(REPOSITORY / "ci" / "container.py"), "test"]
    env = os.environ | {"DEVICE": "host", "ENGINE": engine.name}
    running = subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True)
    try:
        # The matrix says its device first, so the container is there then.
        assert [running.stdout.readline().split(":")[0] for _ in range(2)] == [
            "container",
            "device",
        ]
        (container,) = containers_and_volumes(engine)[0] - before[0]
        first_row = (
            "tail --lines=+1 --follow=name --retry --quiet /report/matrix-processes/pybind.jsonl"
        )
        first_row += """ 2>/dev/null | grep --max-count=1 '"event": "end"'"""
        ended = engine("exec", container, "bash", "-c", first_row).stdout
        listed = engine("top", container, "-o", "pid").stdout.split()[1:]
        inside = [Path("/proc") / pid for pid in listed]
        assert len(inside) > 1
        running.send_signal(signal.SIGTERM)
        said = running.communicate(timeout=60)[0]
    finally:
        running.kill()
        running.wait()
    assert running.returncode == 143
    assert said.endswith(" (partial: the run was stopped)\n")
    assert not [process for process in inside if process.exists()]
    assert containers_and_volumes(engine) == before
    report = json.loads(REPORT.read_text())
    assert (report["partial"], report["passed"]) == (True, False)
    outcomes = {case["outcome"] for case in report["cases"]}
    assert "not_run" in outcomes
    key = json.loads(ended)["key"]
    assert [
        case["outcome"]
        for case in report["cases"]
        if key == "/".join(case[name] for name in ("operator", "variant", "group", "id"))
    ] == ["passed"]


def test_the_environment_is_there_in_exec(engine) -> None:
    """smoke compares it with what set_env.sh sets; it ran at build too, but not through exec."""
    script = "import signal; signal.pause()"
    options = ["--detach", "--init", *CONFINED]
    container = engine("run", *options, RUNTIME, "python", "-c", script).stdout.strip()
    try:
        done = engine("exec", container, "smoke", "host")
    finally:
        engine("kill", container)
    assert "smoke: ok: the environment of /usr/local/Ascend/cann/set_env.sh\n" in done.stdout
    assert "smoke: ok: both variants to import\n" in done.stdout
    assert done.stderr == ""


# What is done to the image, and what smoke says of it.
SPOILED = {
    "a-file-for-everybody": (
        "chmod 0666 /opt/ascendc-ops/lock.txt",
        "expected no file that everybody may write, got /opt/ascendc-ops/lock.txt",
    ),
    "another-release-than-the-lock": (
        "sed -i 's/^numpy==.*/numpy==1.0/' /opt/ascendc-ops/lock.txt",
        f"numpy=={VERSIONS['stack']['numpy']} (lock: 1.0)",
    ),
    "a-compiler": (
        "touch /usr/bin/gcc; chmod +x /usr/bin/gcc",
        "expected no compiler and no build tool, got /usr/bin/gcc",
    ),
    "a-wheel": (
        "mkdir -p /srv/.cache/x; touch /srv/.cache/x/a.whl",
        "expected no wheel and no download cache, got /srv/.cache/x",
    ),
    "a-file-of-somebody": (
        "chown 4711 /opt/ascendc-ops/lib/python3.11/site-packages/ascendc_ops",
        "expected files of /opt/ascendc-ops that belong to root, got "
        "/opt/ascendc-ops/lib/python3.11/site-packages/ascendc_ops",
    ),
    "kernels-elsewhere": (
        "mv /opt/ascendc-ops/lib/python3.11/site-packages/ascendc_ops_lib/*kernels.so /usr/lib",
        "expected each wrapper to load the kernels beside it, got",
    ),
    "a-variable-that-env-lacks": (
        "echo 'export ASCEND_NEW_PATH=/x' >>/usr/local/Ascend/cann/set_env.sh",
        "set_env.sh, got ASCEND_NEW_PATH without /x",
    ),
    "root": (
        "true",
        "expected a user that is not root, got uid=0(root)",
    ),
}


@pytest.fixture(scope="module")
def spoiled(engine) -> subprocess.CompletedProcess[str]:
    """smoke in one container in which every fact is wrong."""
    script = "; ".join([*(change for change, _ in SPOILED.values()), "smoke host"])
    options = ["--rm", "--network=none", "--user=0"]
    return engine("run", *options, RUNTIME, "bash", "-c", script, check=False)


@pytest.mark.parametrize("name", SPOILED)
def test_smoke_names_what_is_wrong(spoiled, name: str) -> None:
    assert spoiled.returncode == 1
    assert SPOILED[name][1] in spoiled.stderr


def test_the_shell_builds_the_sources_of_the_checkout(make) -> None:
    call = (REPOSITORY / "conda-recipe" / "op_call.py").read_text()
    script = (
        "set -e; mountpoint csrc; mountpoint kernels; ci/wheel.sh lib >/dev/null\n"
        "uv pip install --quiet --python .venv --no-deps --no-index build/wheels/lib/*.whl\n"
        f"python - lib <<'TEXT'\n{call}TEXT\n"
    )
    done = make("docker-shell", "DEVICE=host", input=script)
    assert done.returncode == 0, done.stdout + done.stderr


def test_labels_say_stack_and_revision(engine, base: str) -> None:
    labels = json.loads(
        engine("image", "inspect", "--format={{json .Config.Labels}}", RUNTIME).stdout
    )
    assert labels["org.opencontainers.image.revision"] == built.revision()
    assert labels["org.opencontainers.image.version"] == VERSIONS["project"]["version"]
    assert labels["org.opencontainers.image.base.name"] == base
    assert labels["ascendc-ops.device"] == "host"
    torch = VERSIONS["stack"]["torch"] + VERSIONS["torch"]["build"]
    assert f"torch {torch}, " in labels["ascendc-ops.stack"]


def test_the_image_gets_sbom_and_provenance(engine) -> None:
    def evidence(command: str) -> subprocess.CompletedProcess[str]:
        tool = [sys.executable, REPOSITORY / "ci" / "evidence.py", command, f"image:{RUNTIME}"]
        env = os.environ | {"ENGINE": engine.name}
        return subprocess.run(tool, env=env, capture_output=True, text=True, check=False)

    done = evidence("make")
    assert done.returncode == 0, done.stderr
    changed = built.source()["changedFiles"]
    done = evidence("verify")
    assert done.stderr == (
        f"verify: {RUNTIME.replace(':', '-')}: built from a tree with changed files: "
        f"{', '.join(changed)}\n"
        if changed
        else ""
    )


def test_the_runtime_image_is_small(engine) -> None:
    total = int(engine("image", "inspect", "--format={{.Size}}", RUNTIME).stdout)
    names = ("torch", "torch_npu", "torch_npu.libs", "numpy", "numpy.libs")
    site = "/opt/ascendc-ops/lib/python3.11/site-packages"
    command = ["du", "--summarize", "--bytes", "--total", *(f"{site}/{name}" for name in names)]
    listed = engine("run", "--rm", "--network=none", RUNTIME, *command).stdout
    stack = int(listed.splitlines()[-1].split()[0])
    assert stack > 700 * MEGABYTE
    assert total <= 1400 * MEGABYTE
    assert total - stack <= 250 * MEGABYTE
