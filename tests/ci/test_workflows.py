# SPDX-License-Identifier: Apache-2.0
"""The workflows: their jobs are those of versions.toml, and what they run is there."""

import json
import re
import subprocess
import sys
from pathlib import Path

import plan
import pytest
import versions
import yaml

REPOSITORY = Path(__file__).resolve().parents[2]
WORKFLOWS = sorted((REPOSITORY / ".github" / "workflows").glob("*.yml"))
DIGEST = "sha256:" + "ab" * 32


def load(path: Path) -> dict:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def steps(workflow: dict) -> list[dict]:
    return [step for job in workflow["jobs"].values() for step in job.get("steps", [])]


@pytest.fixture
def pinned() -> dict:
    """versions.toml with every image resolved."""
    pins = versions.load_versions()
    digests = pins["images"]["digest"]
    pins["images"]["digest"] = dict.fromkeys(digests, DIGEST)
    return pins


def test_there_is_a_job_for_every_chip_on_every_stack(pinned: dict) -> None:
    rows = plan.rows(pinned)
    assert {(row["chip"], row["stack"]) for row in rows} == {
        (chip, stack) for chip in pinned["chips"] for stack in versions.stack_names(pinned)
    }
    for row in rows:
        assert row["npu_arch"] == pinned["chips"][row["chip"]]["npu_arch"]
        assert row["runner"] == pinned["chips"][row["chip"]]["runner"]
        assert row["image"] == f"{pinned['images']['cann']}@{DIGEST}"
        assert row["tag"].startswith(versions.select(pinned, row["stack"])["stack"]["cann"])


def test_the_workflow_uses_only_what_the_plan_gives(pinned: dict) -> None:
    text = (REPOSITORY / ".github" / "workflows" / "ascend.yml").read_text(encoding="utf-8")
    used = set(re.findall(r"\$\{\{ matrix\.(\w+)", text))
    assert used <= set(plan.rows(pinned)[0])
    assert {"image", "runner", "builder", "npu_arch", "stack", "options"} <= used


def test_an_image_without_a_digest_gets_no_job_and_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], pinned: dict
) -> None:
    tag = next(iter(pinned["images"]["digest"]))
    pinned["images"]["digest"][tag] = "unresolved"
    monkeypatch.setattr(plan, "load_versions", lambda: pinned)
    monkeypatch.setattr(sys, "argv", ["plan.py"])
    plan.main()
    said = dict(line.split("=", 1) for line in capsys.readouterr().out.splitlines())
    assert said["python"] == pinned["stack"]["python"]
    assert said["pinned"] == "true"
    jobs = json.loads(said["jobs"])
    assert {job["tag"] for job in jobs} == set(pinned["images"]["digest"]) - {tag}
    monkeypatch.setattr(sys, "argv", ["plan.py", "--check"])
    with pytest.raises(SystemExit) as stopped:
        plan.main()
    assert stopped.value.code == 1
    assert capsys.readouterr().out == (
        f"plan: quay.io/ascend/cann:{tag} has no digest: run make lock where it can be reached\n"
    )


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_actions_are_pinned_by_commit_and_steps_call_what_is_there(path: Path) -> None:
    found = steps(load(path))
    assert found
    for step in found:
        if "uses" in step:
            assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}", step["uses"])
            continue
        for script in re.findall(r"\bci/[\w.]+", step["run"]):
            assert (REPOSITORY / script).is_file()
        for target in re.findall(r"\bmake ([\w-]+)", step["run"]):
            assert f"\n{target}: " in (REPOSITORY / "Makefile").read_text(encoding="utf-8")


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_nothing_is_permitted_but_reading_and_publishing(path: Path) -> None:
    workflow = load(path)
    assert workflow["permissions"] == {}
    for name, job in workflow["jobs"].items():
        expected = "write" if name == "publish" else "read"
        assert job["permissions"] == {"contents": expected}


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_newer_run_of_the_same_ref_takes_its_turn(path: Path) -> None:
    assert "github.ref" in load(path)["concurrency"]["group"]


def test_the_reports_are_uploaded_when_the_matrix_fails_too() -> None:
    jobs = load(REPOSITORY / ".github" / "workflows" / "ascend.yml")["jobs"]
    for name, runs in (("host", "make ci-host"), ("matrix", "ci/npu.sh matrix")):
        own = jobs[name]["steps"]
        after = own[next(n for n, step in enumerate(own) if step.get("run") == runs) + 1]
        assert after["uses"].startswith("actions/upload-artifact@")
        assert after["if"] == "${{ !cancelled() }}"
        assert "build/report/" in after["with"]["path"].splitlines()


def test_a_release_is_published_when_every_job_has_passed() -> None:
    jobs = load(REPOSITORY / ".github" / "workflows" / "release.yml")["jobs"]
    assert jobs["publish"]["needs"] == "ascend"
    # With a condition of its own, the job would run after a failure too.
    assert "if" not in jobs["publish"]
    assert jobs["ascend"]["uses"] == "./.github/workflows/ascend.yml"


def test_a_pull_request_reaches_no_npu_runner() -> None:
    jobs = load(REPOSITORY / ".github" / "workflows" / "ascend.yml")["jobs"]
    assert "github.event_name != 'pull_request'" in jobs["build"]["if"]
    # Without its build, the matrix is skipped as well.
    assert "build" in jobs["matrix"]["needs"]
    assert all(
        "ubuntu-latest" in str(job["runs-on"])
        for name, job in jobs.items()
        if name not in ("build", "matrix")
    )


@pytest.mark.parametrize(
    ("text", "finding"),
    [
        pytest.param("${{ needs.nobody.outputs.x }}", "nobody", id="a-job-that-is-not-there"),
        pytest.param("${{ github.evnt }}", "evnt", id="a-context-without-that-name"),
    ],
)
def test_actionlint_finds_a_planted_fault(tmp_path: Path, text: str, finding: str) -> None:
    file = tmp_path / "planted.yml"
    run = {"runs-on": "ubuntu-latest", "steps": [{"run": f"echo {text}"}]}
    file.write_text(yaml.safe_dump({"on": {"push": None}, "jobs": {"one": run}}))
    command = [sys.executable, str(REPOSITORY / "ci" / "actionlint.py"), str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert finding in done.stdout
