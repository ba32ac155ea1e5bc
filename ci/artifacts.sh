#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail

if [[ ${1:-} == -h || $# == 0 ]]; then
    echo "usage: ci/artifacts.sh FILE…   gathers files with their evidence and SHA256SUMS in build/artifacts"
    [[ ${1:-} == -h ]] && exit 0
    exit 2
fi

cd "$(dirname "${BASH_SOURCE[0]}")/.."
out=build/artifacts
rm -rf "$out.new"
mkdir -p "$out.new"
# Only what was attested, and only its own evidence: of files that are gone, some may still lie there.
for file; do
    cp "$file" "build/evidence/${file##*/}".{cdx,provenance}.json "$out.new"
done
(cd "$out.new" && sha256sum -- * >SHA256SUMS)
rm -rf "$out"
mv "$out.new" "$out"
