#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Written, not run: there was no release yet.
set -euo pipefail

if [[ ${1:-} == -h || $# != 1 ]]; then
    echo "usage: TAG=v<version> ci/release.sh FOLDER   publishes the artifacts below FOLDER as the tag's release"
    [[ ${1:-} == -h ]] && exit 0
    exit 2
fi

die() {
    printf 'release: %s\n' "$*" >&2
    exit 1
}

folder=$(realpath "$1")
cd "$(dirname "${BASH_SOURCE[0]}")/.."
python3 ci/plan.py --check || die "not every chip was tested: an image is not pinned"
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' versions.toml | head -n 1)
[[ ${TAG:-} == "v$version" ]] || die "TAG: expected v$version, as in versions.toml, got '${TAG:-}'"

# One archive per job: the same wheel name stands for several chips.
mapfile -t jobs < <(cd "$folder" && find . -name SHA256SUMS -printf '%h\n' | sort)
[[ ${#jobs[@]} != 0 ]] || die "expected artifacts with SHA256SUMS in $folder, found none"
assets=()
for job in "${jobs[@]}"; do
    (cd "$folder/$job" && sha256sum --check --strict --quiet SHA256SUMS) || die "$job is damaged"
    # Nothing goes out that is not listed.
    (cd "$folder/$job" && diff <(find . -type f -not -name SHA256SUMS -printf '%P\n' | sort) \
        <(cut --characters=67- SHA256SUMS | sort) >&2) || die "$job has files that SHA256SUMS does not list"
    name=${job#./}
    asset=$folder/ascendc-ops-$version-${name//\//-}.tar.gz
    tar --create --gzip --file "$asset" --directory "$folder" --sort=name "$job"
    assets+=("$asset")
done
gh release create "$TAG" --verify-tag --title "ascendc-ops $version" --notes-file README.md "${assets[@]}"
