#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail

if [[ ${1:-} == -h || $# != 0 ]]; then
    echo "usage: ci/host.sh   the pipeline of a machine without an NPU: lint, sanitizers, evidence, conda, images, tests"
    [[ ${1:-} == -h ]] && exit 0
    exit 2
fi

cd "$(dirname "${BASH_SOURCE[0]}")/.."
export DEVICE=host
# Each stage is a make of its own, with all cores, also when make ci-host is what calls this.
unset MAKEFLAGS MFLAGS MAKELEVEL
failed=()

stage() {
    local start=$SECONDS status=0
    echo "--- $*"
    "$@" || status=$?
    printf -- '--- %s: %d s, exit code %d\n' "$*" $((SECONDS - start)) "$status"
    [[ $status == 0 ]] || failed+=("$*")
}

stage make lint
stage make hostcann-sanitize
stage make conda-test
# Of the conda packages too.
stage make artifacts
# Debian's next point release must not stop the pipeline: its packages are taken then, and every report says so.
ALLOW_UNPINNED=1 stage ci/engine.sh make docker-image-test

# Last and bare, so that the test run's closing line is this one's.
make test || exit $?
[[ ${#failed[@]} == 0 ]] || {
    printf 'ci-host: failed: %s\n' "${failed[@]}" >&2
    exit 1
}
