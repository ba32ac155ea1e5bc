#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail

if [[ ${1:-} == -h || $# != 1 ]]; then
    cat <<'TEXT'
usage: ci/wheel.sh pybind|lib|hostcann|env

Builds a variant's wheel to build/wheels/<variant>; run by ci/device.py exec, which sets NPU_ARCH.
hostcann is the toolkit, from the tree of ci/hostcann.sh; env is ascendc-env, which has nothing to compile.
Neither needs a device.

  VARIANT  what the shared CMake tree builds: pybind, lib or both (default: the variant alone)
TEXT
    [[ ${1:-} == -h ]] && exit 0
    exit 2
fi

variant=$1
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
export PATH=$root/.venv/bin:$PATH
out=$root/build/wheels/$variant
if [[ $variant == env ]]; then
    package=ascendc-env
    options=()
elif [[ $variant == hostcann ]]; then
    package=hostcann
    # shellcheck source=ci/tree.sh
    source "$root/ci/tree.sh"
    enter_tree "$root" hostcann
    options=(-Cbuild-dir="$tree" -Ccmake.define.Python3_EXECUTABLE="$root/.venv/bin/python")
else
    package=ascendc-ops-$variant
    # shellcheck source=ci/tree.sh
    source "$root/ci/tree.sh"
    enter_tree "$root" wrappers
    options=(
        -Cbuild-dir="$tree"
        -Ccmake.define.ASCENDC_OPS_VARIANT="${VARIANT:-$variant}"
        -Ccmake.define.CMAKE_ASC_ARCHITECTURES="${NPU_ARCH:?}"
        -Ccmake.define.Python3_EXECUTABLE="$root/.venv/bin/python"
    )
fi
rm -rf "$out.new"
# The same sources give the same bytes, whenever and wherever: zip's first day, and files readable by all.
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-315532800}
umask 022
"$root/.venv/bin/python" -m pip wheel "$root/python/$package" "${options[@]}" \
    --no-build-isolation --no-deps --no-index --disable-pip-version-check --wheel-dir "$out.new"
# The old wheel goes when the new one is there.
rm -rf "$out"
mv "$out.new" "$out"
