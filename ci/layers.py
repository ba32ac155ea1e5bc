# SPDX-License-Identifier: Apache-2.0
"""Prints a hash of what each layer of an image holds, to compare two builds with.

In it: path, type, mode, owner, link, size, content, and the time of everything but folders. The
engine stamps the folders that COPY writes into with the time of day, and nothing reads that.
"""

import argparse
import hashlib
import json
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator
from typing import IO


def entries(archive: IO[bytes]) -> dict[str, str]:
    """Path -> what is compared of it, of a tar archive."""
    found = {}
    with tarfile.open(fileobj=archive) as layer:
        for entry in layer:
            facts = [entry.type.decode(), f"{entry.mode:o}", entry.uid, entry.gid, entry.linkname]
            facts.append("" if entry.isdir() else int(entry.mtime))
            if entry.isfile():
                content = layer.extractfile(entry)
                facts.append(hashlib.file_digest(content, "sha256").hexdigest())
            found[entry.name] = repr(facts)
    return found


def hashes(archive: IO[bytes]) -> Iterator[str]:
    """In order, of each layer that holds anything; `archive` is what `docker save` writes."""
    with tarfile.open(fileobj=archive) as image:
        manifest = json.load(image.extractfile("manifest.json"))
        for name in manifest[0]["Layers"]:
            # Of a step that changed nothing the layer is empty, or holds folders it looked at.
            if found := entries(image.extractfile(name)):
                yield hashlib.sha256(repr(sorted(found.items())).encode()).hexdigest()


def read(engine: str, image: str) -> list[str]:
    with tempfile.TemporaryFile() as archive:
        subprocess.run([engine, "save", image], stdout=archive, check=True)
        archive.seek(0)
        return list(hashes(archive))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--engine", default="docker", help="docker or podman")
    parser.add_argument("image")
    options = parser.parse_args()
    for number, found in enumerate(read(options.engine, options.image)):
        print(f"{number} sha256:{found}")


if __name__ == "__main__":
    main()
