# SPDX-License-Identifier: Apache-2.0
"""ci/house_rules.py: each rule finds what breaks it and nothing else."""

from pathlib import Path

import house_rules
import pytest

SPDX = "# SPDX-License-Identifier: Apache-2.0\n"


def write(root: Path, name: str, text: str) -> Path:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        pytest.param("ci/a.py", SPDX + "x = 1\n", None, id="a-good-source"),
        pytest.param("tests/x/__init__.py", "", None, id="an-empty-file"),
        pytest.param("docs/a.md", "# Title\n", None, id="markdown-needs-no-spdx"),
        pytest.param(
            "ci/a.py",
            "x = 1\n",
            "ci/a.py:1: expected 'SPDX-License-Identifier: Apache-2.0' in the first three lines, "
            "found none",
            id="no-spdx",
        ),
        pytest.param(
            "ci/a.py",
            SPDX + "# TO" + "DO later\n",
            "ci/a.py:2: unfinished work: finish it or file an issue",
            id="unfinished",
        ),
        pytest.param(
            "ci/a.py",
            SPDX + "\nx = '/ho" + "me/someone/lib'\n",
            "ci/a.py:3: absolute path of one machine: derive it from the checkout or an "
            "environment variable",
            id="foreign-path",
        ),
        pytest.param(
            "csrc/a.cpp",
            f'//{SPDX[1:]}#include "..{"/.."}/x.h"\n',
            "csrc/a.cpp:2: include starts at an -I root, never at ../..",
            id="include-from-above",
        ),
        pytest.param(
            "ci/a.py", SPDX + "x = 1 \n", "ci/a.py:2: trailing white space", id="white-space"
        ),
        pytest.param(
            "tests/x/test_a.py",
            SPDX + "time.sle" + "ep(1)\n",
            "tests/x/test_a.py:2: a test waits for what it tests, it does not sleep",
            id="a-test-that-sleeps",
        ),
        pytest.param(
            "ci/a.py",
            SPDX + "x = 1",
            "ci/a.py:2: expected a newline at the end of the file",
            id="no-newline",
        ),
        pytest.param(
            "ci/a.sh",
            "#!/usr/bin/env bash\n" + SPDX,
            "ci/a.sh:1: expected the executable bit exactly on files with a #! line",
            id="script-not-executable",
        ),
        pytest.param(
            "ci/someThing.py", SPDX, "ci/someThing.py: expected a snake_case file name", id="camel"
        ),
        pytest.param(
            "csrc/utils.h",
            f"//{SPDX[1:]}",
            "csrc/utils.h: expected a name that says what is inside, got 'utils'",
            id="utils",
        ),
        pytest.param(
            "common/a.py",
            SPDX,
            "common/a.py: expected a name that says what is inside, got 'common'",
            id="common-folder",
        ),
        pytest.param("hostcann/cmake/asc-config.cmake", SPDX, None, id="names-that-cann-decides"),
    ],
)
def test_a_rule(tmp_path: Path, name: str, text: str, sentence: str | None) -> None:
    write(tmp_path, name, text)
    assert list(house_rules.check_file(tmp_path, name)) == ([sentence] if sentence else [])


READMES = "# Title\n\n## Use\n\n```bash\nmake matrix\n# a comment\n```\n\n### More\n"


@pytest.mark.parametrize(
    ("chinese", "sentence"),
    [
        pytest.param(READMES.replace("Use", "用法"), None, id="same-outline"),
        pytest.param(
            READMES.replace("### More\n", ""),
            "README.zh-CN.md: expected heading levels [1, 2, 3] as in README.md, got [1, 2]",
            id="a-heading-less",
        ),
        pytest.param(
            READMES.replace("matrix", "test"),
            "README.zh-CN.md: expected code block 1 to be README.md's, got\n"
            "```bash\nmake test\n# a comment\n```",
            id="another-command",
        ),
        pytest.param(
            READMES.replace("### More", "```text\nx\n```\n\n### More"),
            "README.zh-CN.md: expected 1 code blocks as in README.md, got 2",
            id="a-block-more",
        ),
    ],
)
def test_readme_parity(tmp_path: Path, chinese: str, sentence: str | None) -> None:
    write(tmp_path, "README.md", READMES)
    write(tmp_path, "README.zh-CN.md", chinese)
    assert list(house_rules.check_readmes(tmp_path)) == ([sentence] if sentence else [])
