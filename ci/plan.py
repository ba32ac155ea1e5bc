# SPDX-License-Identifier: Apache-2.0
"""Prints, as a workflow's outputs, the Python to use and the jobs per chip and stack.

A chip's job is there only when its image is pinned by digest; --check names those that are not.
"""

import argparse
import json
import sys

import images
from versions import load_versions, select, stack_names


def rows(versions: dict) -> list[dict[str, str]]:
    """One job per stack and chip, with all that a workflow needs to know of it."""
    found = []
    for name in stack_names(versions):
        selected = select(versions, name)
        for chip, kind in versions["chips"].items():
            tag = images.tag(selected, chip)
            digest = versions["images"]["digest"][tag]
            found.append(
                {
                    "chip": chip,
                    "stack": name,
                    "npu_arch": kind["npu_arch"],
                    "runner": kind["runner"],
                    "options": versions["runners"]["options"],
                    "builder": versions["images"]["builder"],
                    "tag": tag,
                    "image": f"{versions['images']['cann']}@{digest}",
                    "digest": digest,
                }
            )
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help="exit 1 if an image is not pinned")
    options = parser.parse_args()
    versions = load_versions()
    jobs = rows(versions)
    pinned = [job for job in jobs if job["digest"] != images.UNRESOLVED]
    if options.check:
        tags = dict.fromkeys(job["tag"] for job in jobs if job not in pinned)
        repository = versions["images"]["cann"]
        for tag in tags:
            print(f"plan: {repository}:{tag} has no digest: run make lock where it can be reached")
        sys.exit(1 if tags else 0)
    print(f"python={versions['stack']['python']}")
    print(f"jobs={json.dumps(pinned)}")
    print(f"pinned={json.dumps(bool(pinned))}")


if __name__ == "__main__":
    main()
