# SPDX-License-Identifier: Apache-2.0
"""CANN's images: their tags follow from versions.toml, their digests are resolved by make lock."""

import json
import re
import urllib.error
import urllib.request
from pathlib import Path

from versions import select, stack_names

UNRESOLVED = "unresolved"
DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
INDEX = "application/vnd.oci.image.index.v1+json"
LIST = "application/vnd.docker.distribution.manifest.list.v2+json"


def tag(selected: dict, chip: str) -> str:
    """The image of the selected stack's CANN and Python for a chip, for both architectures."""
    stack = selected["stack"]
    return f"{stack['cann']}-{chip}-{selected['images']['os']}-py{stack['python']}"


def tags(versions: dict) -> list[str]:
    """Every tag that a stack and a chip ask for, each once."""
    selected = [select(versions, name) for name in stack_names(versions)]
    return list(dict.fromkeys(tag(one, chip) for one in selected for chip in versions["chips"]))


def ask(url: str, **headers: str) -> urllib.request.Request:
    return urllib.request.Request(url, headers=headers)


def digest(repository: str, name: str, scheme: str = "https") -> str:
    """What the registry says the tag is; unresolved where it does not answer."""
    host, _, path = repository.partition("/")
    try:
        url = f"{scheme}://{host}/v2/auth?service={host}&scope=repository:{path}:pull"
        with urllib.request.urlopen(ask(url), timeout=10) as answer:
            token = json.load(answer)["token"]
        url = f"{scheme}://{host}/v2/{path}/manifests/{name}"
        bearer = f"Bearer {token}"
        request = ask(url, Authorization=bearer, Accept=f"{INDEX}, {LIST}")
        request.method = "HEAD"
        with urllib.request.urlopen(request, timeout=10) as answer:
            found = answer.headers["Docker-Content-Digest"] or ""
    except (urllib.error.URLError, OSError, ValueError, KeyError):
        return UNRESOLVED
    return found if DIGEST.fullmatch(found) else UNRESOLVED


def resolve(versions: dict, text: str) -> str:
    """versions.toml with its table of digests made anew; what is resolved already stays."""
    held = versions["images"]["digest"]
    repository = versions["images"]["cann"]
    lines = []
    reachable = True
    for name in tags(versions):
        found = held.get(name, UNRESOLVED)
        if found == UNRESOLVED and reachable:
            found = digest(repository, name)
            # A registry that answers may lack one tag: the others are asked for all the same.
            reachable = found != UNRESOLVED or answers(repository)
        print(f"lock: {repository}:{name}: {found}", flush=True)
        lines.append(f'"{name}" = "{found}"\n')
    table = re.compile(r"(?m)^(\[images\.digest\]\n)((?:\"[^\n]*\n)*)")
    return table.sub(lambda match: match[1] + "".join(lines), text, count=1)


def answers(repository: str) -> bool:
    try:
        urllib.request.urlopen(f"https://{repository.partition('/')[0]}/v2/", timeout=10)
    except urllib.error.HTTPError:
        return True
    except OSError:
        return False
    return True


def problems(versions: dict, root: Path) -> list[str]:
    lines = (root / "versions.toml").read_text(encoding="utf-8").splitlines()
    held = versions["images"]["digest"]
    expected = tags(versions)
    found = [
        f"versions.toml: images.digest: expected the tag {name}, found none"
        for name in expected
        if name not in held
    ]
    for name, value in held.items():
        number = next(n for n, line in enumerate(lines, 1) if line.startswith(f'"{name}"'))
        if name not in expected:
            found.append(f"versions.toml:{number}: no stack and chip ask for the image {name}")
        if value != UNRESOLVED and not DIGEST.fullmatch(value):
            found.append(
                f"versions.toml:{number}: expected {UNRESOLVED} or sha256:<64 hex digits> for the "
                f"image {name}, got '{value}'"
            )
    return found
