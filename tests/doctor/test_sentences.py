# SPDX-License-Identifier: Apache-2.0
"""One sentence for one mismatch: what cannot take it from ascendc-env has the same words."""

import sysconfig
from pathlib import Path

import pytest
from ascendc_env import mismatch

REPOSITORY = Path(__file__).resolve().parents[2]
PACKAGE = REPOSITORY / "python/ascendc-env/ascendc_env"


@pytest.mark.parametrize(
    "home", [pytest.param("", id="unset"), pytest.param("$ENV{ASCEND_HOME_PATH}", id="no-folder")]
)
def test_cmake_says_the_sentence_of_the_doctor(home: str) -> None:
    # Said in CMake's own words: it comes before CMake knows a Python.
    sentence = mismatch.no_cann(home, Path("/no/such/folder"))
    assert f'"ascendc_ops: {sentence}"' in (REPOSITORY / "CMakeLists.txt").read_text()


@pytest.mark.parametrize("package", ["ascendc_ops", "ascendc_ops_lib"])
def test_a_package_carries_the_sentences_of_the_doctor(package: str) -> None:
    copy = Path(sysconfig.get_path("platlib")) / package / "_mismatch.py"
    assert copy.read_text() == (PACKAGE / "mismatch.py").read_text()


def test_the_wheel_carries_versions_toml_as_it_is() -> None:
    installed = Path(mismatch.__file__).with_name("versions.toml")
    assert installed.read_text() == (REPOSITORY / "versions.toml").read_text()
    assert (PACKAGE / "versions.toml").resolve() == REPOSITORY / "versions.toml"
