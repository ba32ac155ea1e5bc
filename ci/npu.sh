#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Written, not run: no NPU was at hand.
set -euo pipefail

if [[ ${1:-} == -h || $# != 1 ]]; then
    cat <<'TEXT'
usage: ci/npu.sh build|matrix

A workflow's job in CANN's image: build the wheels of NPU_ARCH and STACK, or run the matrix with those
that lie in build/artifacts.
TEXT
    [[ ${1:-} == -h ]] && exit 0
    exit 2
fi

cd "$(dirname "${BASH_SOURCE[0]}")/.."
for name in DEVICE NPU_ARCH STACK; do
    [[ -n ${!name:-} ]] || {
        echo "npu.sh: expected $name to be set, as the workflow does, got nothing" >&2
        exit 2
    }
done
# The checkout belongs to another user than the container's.
export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=safe.directory GIT_CONFIG_VALUE_0=$PWD

case $1 in
    build)
        make artifacts
        ;;
    matrix)
        [[ -f build/artifacts/SHA256SUMS ]] || {
            echo "npu.sh: expected build/artifacts/SHA256SUMS, got none: run ci/npu.sh build first" >&2
            exit 1
        }
        (cd build/artifacts && sha256sum --check --strict SHA256SUMS)
        ci/bootstrap.sh evidence
        for wheel in build/artifacts/*.whl; do
            .venv/bin/python ci/evidence.py verify "$wheel"
        done
        .venv/bin/uv --no-config pip install --python .venv/bin/python --no-deps --no-index build/artifacts/*.whl
        .venv/bin/ascendc-env doctor
        .venv/bin/python tests/matrix/run.py
        ;;
    *)
        echo "npu.sh: expected build or matrix, got '$1'" >&2
        exit 2
        ;;
esac
