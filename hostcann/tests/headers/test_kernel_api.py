# SPDX-License-Identifier: Apache-2.0
"""API.md, the headers and the tests of kernels speak of the same functions."""

import re
import subprocess
from pathlib import Path

import pytest

HOSTCANN = Path(__file__).parents[2]
WORD = re.compile(r"[A-Za-z_]\w*")
# Sizes of scratch space are listed by their pattern.
BY_PATTERN = re.compile(r"Get\w+(?:TmpSize|TmpBufferFactorSize)|\w+TilingFunc|Get\w+TilingInfo")


def rows(heading):
    """First cells of the tables under a heading of API.md."""
    text = (HOSTCANN / "API.md").read_text()
    (section,) = re.findall(rf"^### {heading}\n(.*?)^##", text, re.M | re.S)
    return re.findall(r"^\| (`.*?) \|", section, re.M)


def listed():
    cells = rows("In kernels") + rows("On the host side of a kernel")
    quoted = [name for cell in cells for name in re.findall(r"`([^`]*)`", cell)]
    return {word for name in quoted if "…" not in name for word in WORD.findall(name)}


@pytest.fixture(scope="module")
def own_text(prefix, tmp_path_factory):
    """The headers preprocessed, without what they include from elsewhere, and as they are."""
    source = tmp_path_factory.mktemp("api") / "all.cpp"
    source.write_text('#include "kernel_operator.h"\n#include "tiling/tiling_api.h"\n')
    include = str(prefix / "include")
    command = ["g++", "-E", "-std=c++17", f"-I{include}", str(source)]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    kept, own = [], False
    for line in text.splitlines():
        marker = re.match(r'# \d+ "([^"]*)"', line)
        if marker:
            own = marker[1].startswith(include)
        elif own:
            kept.append(line)
    headers = [path.read_text() for path in Path(include).rglob("*.h")]
    return "\n".join(kept), re.sub(r"//.*", "", "\n".join(headers))


def declared_functions(text):
    """Names of the functions that stand in namespace AscendC itself."""
    text = re.sub(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])+\'', '""', text)
    names, scopes, begin = set(), [], 0
    for at, sign in ((m.start(), m[0]) for m in re.finditer(r"[{};]", text)):
        statement = text[begin:at].strip()
        if scopes == ["namespace AscendC"] and sign != "}":
            head = re.sub(r"^template\s*<.*?>\s*(?=inline|constexpr)", "", statement, flags=re.S)
            found = re.match(r"(?:inline|constexpr)\s[^(=]*?(\w+)\s*\(", head)
            if found and not found[1].startswith("operator"):
                names.add(found[1])
        if sign == "{":
            scopes.append(statement)
        elif sign == "}" and scopes:
            scopes.pop()
        begin = at + 1
    return names


def test_every_name_of_the_page_is_in_the_headers(own_text):
    there = set(WORD.findall("\n".join(own_text)))
    assert len(listed()) > 300
    assert sorted(listed() - there) == []


def test_every_function_of_the_headers_is_on_the_page(own_text):
    functions = {f for f in declared_functions(own_text[0]) if not BY_PATTERN.fullmatch(f)}
    assert len(functions) > 190
    assert sorted(functions - listed()) == []


def test_every_name_of_the_page_is_in_a_test_of_kernels():
    folders = [HOSTCANN / "tests" / name for name in ("kernel", "kernels")]
    sources = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
    text = "\n".join(p.read_text() for p in sources if p.suffix in {".asc", ".h", ".py", ".cpp"})
    assert sorted(listed() - set(WORD.findall(text))) == []
