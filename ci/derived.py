# SPDX-License-Identifier: Apache-2.0
"""The parts of documents that `make lock` writes from versions.toml and the lock files."""

import re
from collections.abc import Callable
from pathlib import Path

import images
from lock_file import lock_path, read_lock
from versions import select, selections, stack_names

# Stands around a generated part; a document says with the name which one it wants.
BLOCK = re.compile(r"(?s)(<!-- make lock: (\w+) -->\n).*?(\n<!-- make lock: end -->)")

ENGLISH = {
    "stack": "stack",
    "pairing": "who pairs torch_npu with CANN",
    "locked": "locked by hash",
    "run": "run",
    "host": "on the host, x86_64, by CI",
    "npu": "on an NPU",
    "not run": "written, not run",
    "vendor table": "vendor's table",
    "vendor images": "vendor's images",
    "field report": "field report",
    "inferred": "inferred",
    "chip": "chip (`CHIP`)",
    "names": "as npu-smi names it",
    "image": "CANN's image",
    "unresolved": "digest unresolved",
    "resolved": "pinned by digest",
}
CHINESE = {
    "stack": "版本组合",
    "pairing": "torch_npu 与 CANN 配套的来源",
    "locked": "已按哈希锁定",
    "run": "运行情况",
    "host": "主机，x86_64，由 CI 运行",
    "npu": "NPU 上",
    "not run": "已编写，未运行",
    "vendor table": "厂商配套表",
    "vendor images": "厂商镜像",
    "field report": "现场报告",
    "inferred": "推断",
    "chip": "芯片（`CHIP`）",
    "names": "npu-smi 中的名称",
    "image": "CANN 镜像",
    "unresolved": "摘要未解析",
    "resolved": "已按摘要固定",
}
DOCUMENTS = {"README.md": ENGLISH, "README.zh-CN.md": CHINESE}


def table(head: list[str], rows: list[list[str]]) -> str:
    first, *others = [f"| {' | '.join(line)} |" for line in (head, *rows)]
    return "\n".join([first, "|---" * len(head) + "|", *others])


def locked(versions: dict, name: str, root: Path) -> str:
    """Platform and Pythons whose every requirement has a hash."""
    found: dict[str, list[str]] = {machine: [] for machine in versions["platforms"]}
    for selected in selections(versions):
        if selected["stack"]["name"] != name:
            continue
        for machine in selected["platforms"]:
            first = next(iter(selected["lock"]["groups"]))
            held = read_lock(lock_path(selected, machine, first, root))
            if all(requirement.hashes for requirement in held):
                found[machine].append(selected["stack"]["python"])
    return "; ".join(
        f"{machine}: {', '.join(pythons) or '-'}" for machine, pythons in found.items()
    )


def stacks(versions: dict, words: dict[str, str], root: Path) -> str:
    """The table of stacks: what goes together, who says so, and where it was run."""
    rows = []
    for name in stack_names(versions):
        stack = select(versions, name)["stack"]
        run = [words[device] for device in stack["run_on"]] or [words["not run"]]
        pins = [stack[key] for key in ("python", "torch", "torch_npu", "cann")]
        source = words[stack["source"]]
        rows.append([f"`{name}`", *pins, source, locked(versions, name, root), ", ".join(run)])
    head = [words["stack"], "Python", "torch", "torch_npu", "CANN"]
    return table([*head, words["pairing"], words["locked"], words["run"]], rows)


def chips(versions: dict, words: dict[str, str], _root: Path) -> str:
    """The table of chips with the default stack's image."""
    rows = []
    for chip, kind in versions["chips"].items():
        tag = images.tag(versions, chip)
        state = (
            "resolved" if versions["images"]["digest"][tag] != images.UNRESOLVED else "unresolved"
        )
        names = ", ".join(f"`{name}`" for name in kind["names"])
        rows.append([chip, names, f"`{kind['npu_arch']}`", f"`{tag}`, {words[state]}"])
    return table([words["chip"], words["names"], "`NPU_ARCH`", words["image"]], rows)


PARTS: dict[str, Callable[[dict, dict[str, str], Path], str]] = {"stacks": stacks, "chips": chips}


def texts(versions: dict, root: Path) -> dict[str, str]:
    """File -> its whole text with the generated parts made anew."""
    found = {}
    for name, words in DOCUMENTS.items():

        def part(match: re.Match[str], words: dict[str, str] = words) -> str:
            return match[1] + "\n" + PARTS[match[2]](versions, words, root) + "\n" + match[3]

        found[name] = BLOCK.sub(part, (root / name).read_text(encoding="utf-8"))
    return found


def problems(versions: dict, root: Path) -> list[str]:
    found = []
    for name, text in texts(versions, root).items():
        parts = {match[2] for match in BLOCK.finditer(text)}
        found += [f"{name}: expected the generated part '{p}'" for p in PARTS if p not in parts]
        held = (root / name).read_text(encoding="utf-8").splitlines()
        pairs = zip(held, text.splitlines(), strict=False)
        for number, (line, expected) in enumerate(pairs, 1):
            if line != expected:
                found.append(f"{name}:{number}: expected '{expected}', got '{line}'")
    return found
