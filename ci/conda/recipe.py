# SPDX-License-Identifier: Apache-2.0
"""Renders the recipes of conda-recipe for one device, and says what each output is made of."""

import hashlib
import json
import subprocess
from dataclasses import dataclass
from pathlib import Path

from rattler_build import JinjaConfig, PlatformConfig, Stage0Recipe, VariantConfig
from rattler_build.render import RenderConfig, RenderedVariant

from . import ROOT, CondaError, archive

FOLDER = Path("conda-recipe")
# In this order each recipe's output may need those before it.
# What these say is in the rendered output.
RENDERED = ("recipe.yaml", "variants.yaml")
RECIPES = (FOLDER / "torch", FOLDER / "torch-npu", FOLDER)


@dataclass
class Output:
    """One package that a recipe describes, with a channel's answers still to come."""

    rendered: RenderedVariant
    folder: Path

    @property
    def recipe(self) -> dict:
        return self.rendered.recipe.to_dict()

    @property
    def name(self) -> str:
        return self.recipe["package"]["name"]

    @property
    def filename(self) -> str:
        recipe = self.recipe
        return f"{self.name}-{recipe['package']['version']}-{recipe['build']['string']}.conda"

    @property
    def subdir(self) -> str:
        return (
            "noarch"
            if "noarch" in self.recipe["build"]
            else self.rendered.variant["target_platform"]
        )

    def inputs(self, root: Path) -> list[Path]:
        """Every file of the checkout that the package is made from, relative to it."""
        found = {
            path
            for path in (root / self.folder).iterdir()
            if path.is_file() and path.name not in RENDERED
        }
        if self.folder != FOLDER:
            found.add(root / FOLDER / "repack.sh")
        for source in self.recipe.get("source", []):
            if "path" not in source:
                continue
            chosen = source.get("filter", {})
            include = chosen["include"] if isinstance(chosen, dict) else chosen
            exclude = chosen.get("exclude", []) if isinstance(chosen, dict) else []
            found |= matching(root, include) - matching(root, exclude)
        return sorted(path.relative_to(root) for path in found)

    def key(self, root: Path, identity: "Identity", needs: dict[str, str]) -> str:
        """Differs whenever the package would."""
        recipe = self.recipe
        # Where a source lies does not matter, what it holds does.
        recipe["source"] = [source.get("sha256") for source in recipe.get("source", [])]
        facts = [recipe, identity.when, needs]
        if "SOURCE_COMMIT" in json.dumps(recipe["build"]):
            facts.append(identity.commit)
        digest = hashlib.sha256(json.dumps(facts, sort_keys=True).encode())
        for path in self.inputs(root):
            digest.update(f"{path} {archive.file_sha256(root / path)}\n".encode())
        return digest.hexdigest()[:20]


def matching(root: Path, patterns: list[str]) -> set[Path]:
    found = set()
    for pattern in patterns:
        for path in root.glob(pattern + "/*" if pattern.endswith("**") else pattern):
            if path.is_file() and "__pycache__" not in path.parts:
                found.add(path)
    return found


@dataclass(frozen=True)
class Identity:
    """The last commit that changed a package's inputs, and its time."""

    commit: str = "unknown"
    when: int = archive.EARLIEST


def identity(root: Path, inputs: list[Path]) -> Identity:
    """Asked of git; a checkout that differs from the commit says so."""

    def git(*arguments: str) -> str:
        command = ["git", "-C", str(root), *arguments, "--", *map(str, inputs)]
        done = subprocess.run(command, capture_output=True, text=True)
        return done.stdout.strip() if done.returncode == 0 else ""

    committed = git("log", "-1", "--format=%H %at").split()
    if not committed:
        return Identity()
    changed = "-dirty" if git("status", "--porcelain") else ""
    return Identity(committed[0] + changed, int(committed[1]))


def render(
    folder: Path,
    root: Path = ROOT,
    platform: str | None = None,
    machine: dict[str, str] | None = None,
    **chosen: str,
) -> list[Output]:
    """The outputs of the recipe in `folder` for the variants that have the chosen values.

    `machine` takes the place of what variants.yaml says of the compiler and the C library.
    """
    path = root / folder
    config = PlatformConfig(target_platform=platform)
    variants = VariantConfig.from_file_with_context(path / "variants.yaml", JinjaConfig(config))
    zipped = variants.zip_keys
    own = VariantConfig({key: [value] for key, value in (machine or {}).items()}, zipped)
    recipe = Stage0Recipe.from_file(path / "recipe.yaml")
    outputs = {}
    for rendered in recipe.render(variants.merge(own), RenderConfig(platform=config)):
        values = rendered.variant
        if all(values.get(key, value) == value for key, value in chosen.items()):
            output = Output(rendered, folder)
            outputs.setdefault(output.filename, output)
    if not outputs:
        wanted = ", ".join(f"{key} {value}" for key, value in chosen.items())
        raise CondaError(f"{folder}/variants.yaml: expected a variant with {wanted}, found none")
    return list(outputs.values())
