# SPDX-License-Identifier: Apache-2.0
"""The Dockerfile as an NPU host builds it, on a stand-in for CANN's image.

It has CANN's layout and a compiler, and hostcann where CANN would be: every line runs, no NPU does.
"""

import subprocess
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[3]
HOST = "ascendc-ops:host-default"
NPU = "ascendc-ops:910b-default"
STAND_IN = """\
FROM ascendc-ops-base:bookworm
COPY --from=ascendc-ops:host-default /usr/local/Ascend/cann /usr/local/Ascend/cann
COPY debs /debs
COPY set_env.sh /usr/local/Ascend/cann/
RUN DEBIAN_FRONTEND=noninteractive dpkg --install --force-depends /debs/*.deb && rm -r /debs
"""
# The variables of CANN 9's set_env.sh.
SET_ENV = """\
here=/usr/local/Ascend/cann
tbe=$here/opp/built-in/op_impl/ai_core/tbe
export ASCEND_TOOLKIT_HOME=$here ASCEND_HOME_PATH=$here ASCEND_AICPU_PATH=$here
export ASCEND_OPP_PATH=$here/opp TOOLCHAIN_HOME=$here/toolkit
export LD_LIBRARY_PATH=$here/lib64:$here/lib64/plugin/opskernel:$LD_LIBRARY_PATH
export LD_LIBRARY_PATH=$here/lib64/plugin/nnengine:$LD_LIBRARY_PATH
export LD_LIBRARY_PATH=$tbe/op_tiling/lib/linux/$(uname -m):$LD_LIBRARY_PATH
export PYTHONPATH=$here/python/site-packages:$tbe:$PYTHONPATH
export PATH=$here/bin:$PATH
"""


@pytest.fixture(scope="module")
def base(engine, tmp_path_factory) -> str:
    context = tmp_path_factory.mktemp("context")
    (context / "Dockerfile").write_text(STAND_IN)
    (context / "set_env.sh").write_text(SET_ENV)
    debs = REPOSITORY / "build" / "wheelhouse" / "debs" / "host"
    subprocess.run(["cp", "--recursive", str(debs), str(context / "debs")], check=True)
    done = engine("build", "--network=none", "--quiet", "--tag=ascendc-ops-stand-in", str(context))
    return done.stdout.split()[-1]


@pytest.fixture(scope="module")
def built(make, base: str):
    return make("docker-build", "DEVICE=npu", "CHIP=910b", f"BASE_IMAGE={base}")


def test_every_line_builds_on_cann_layout(built, engine) -> None:
    assert built.returncode == 0, built.stdout + built.stderr
    # Asked again in the image: the log of a build whose layers were all there says nothing.
    said = engine("run", "--rm", "--network=none", NPU, "smoke", "npu").stdout
    assert "smoke: ok: the environment of /usr/local/Ascend/cann/set_env.sh" in said


@pytest.mark.usefixtures("built")
def test_the_labels_say_npu_and_cann(engine) -> None:
    stack = '--format={{index .Config.Labels "ascendc-ops.stack"}}'
    assert "CANN 9.1.0, npu-arch dav-2201" in engine("image", "inspect", stack, NPU).stdout


@pytest.mark.usefixtures("built")
def test_without_a_device_node_the_matrix_is_refused(engine) -> None:
    image = "ascendc-ops-test:910b-default"
    done = engine("run", "--rm", "--network=none", image, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("matrix: DEVICE=npu: expected /dev/davinci0 and ")
    assert done.stderr.count("\n") == 1


@pytest.mark.usefixtures("built")
def test_the_packages_are_the_same_bytes_in_both_builds(engine) -> None:
    """Two builds that share no layer: the environment and our packages in it are equal."""
    host, npu = (contents(engine, image) for image in (HOST, NPU))
    assert len(host) > 10_000
    assert sorted(host ^ npu)[:10] == []


def contents(engine, image: str) -> set[str]:
    """What ci/layers.py compares, of everything in the image's environment; hashed in the image."""
    about = "%P %y %m %U %G"
    script = (
        f"cd /opt/ascendc-ops; find . -type d -printf '{about}\\n' -o -printf '{about} %l %T@\\n'; "
        "find . -type f -print0 | xargs -0 sha256sum"
    )
    done = engine("run", "--rm", "--network=none", image, "bash", "-euo", "pipefail", "-c", script)
    return set(done.stdout.splitlines())
