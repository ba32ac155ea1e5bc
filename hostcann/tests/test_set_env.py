# SPDX-License-Identifier: Apache-2.0
"""set_env.sh, sourced as users do."""

import platform
import shutil
import subprocess

import pytest

SHELLS = [shell for shell in ("bash", "dash") if shutil.which(shell)]
REPORT = 'printf "%s\\n" "$ASCEND_HOME_PATH" "$ASCEND_TOOLKIT_HOME" "$ASCEND_OPP_PATH"'
PATHS = 'printf "%s\\n" "$LD_LIBRARY_PATH" "$CMAKE_PREFIX_PATH" "$PATH"'


@pytest.fixture(params=SHELLS)
def shell(request):
    def run(script, **variables):
        done = subprocess.run(
            [request.param, "-euc", script],
            env={"PATH": "/usr/bin:/bin"} | variables,
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout.splitlines()

    return run


@pytest.fixture
def moved(prefix, tmp_path):
    target = tmp_path / "a moved prefix"
    target.mkdir()
    for name in ("set_env.sh", "hostcann-version"):
        shutil.copy(prefix / name, target)
    shutil.copytree(prefix / f"{platform.machine()}-linux", target / f"{platform.machine()}-linux")
    return target


def test_it_names_the_folder_it_lies_in(shell, moved):
    assert shell(f'. "{moved}/set_env.sh"; {REPORT}') == [
        str(moved),
        str(moved),
        f"{moved}/opp",
    ]


def test_it_may_be_sourced_by_a_relative_path(shell, moved):
    assert shell(f'cd "{moved.parent}"; . "./{moved.name}/set_env.sh"; {REPORT}')[0] == str(moved)


def test_it_prepends_to_what_is_there_once(shell, moved):
    source = f'. "{moved}/set_env.sh"; '
    assert shell(source + source + PATHS, LD_LIBRARY_PATH="/a:/b") == [
        f"{moved}/lib64:/a:/b",
        f"{moved}/lib64/cmake",
        f"{moved}/{platform.machine()}-linux/ccec_compiler/bin:/usr/bin:/bin",
    ]


def test_it_leaves_no_name_of_its_own_behind(shell, moved):
    assert [line for line in shell(f'. "{moved}/set_env.sh"; set') if "_hostcann" in line] == []


def test_away_from_its_prefix_it_fails_with_a_sentence(moved):
    (moved / "hostcann-version").unlink()
    done = subprocess.run(
        ["bash", "-c", f'. "{moved}/set_env.sh"'], capture_output=True, text=True, check=False
    )
    assert done.returncode != 0
    assert done.stderr.startswith("hostcann: set_env.sh must be sourced by name from its prefix;")
