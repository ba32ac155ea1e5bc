#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail

if [[ ${1:-} == -h ]]; then
    echo "usage: ci/hostcann.sh [--tests]   builds hostcann in build/cmake/hostcann and installs it to build/hostcann"
    exit 0
fi

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
export PATH=$root/.venv/bin:$PATH
# shellcheck source=ci/tree.sh
source "$root/ci/tree.sh"
enter_tree "$root" hostcann
testing=OFF
[[ ${1:-} != --tests ]] || testing=ON
cmake -S "$root/hostcann" -B "$tree" -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo \
    -DCMAKE_INSTALL_PREFIX="$root/build/hostcann" -DPython3_EXECUTABLE="$root/.venv/bin/python" \
    -DCMAKE_EXPORT_COMPILE_COMMANDS=ON -DHOSTCANN_BUILD_TESTS=$testing
cmake --build "$tree"
cmake --install "$tree" >/dev/null
# What an earlier source installed must not be found beside it.
export LC_ALL=C
comm -23 <(find "$root/build/hostcann" -not -type d | sort) <(sort "$tree/install_manifest.txt") |
    xargs --no-run-if-empty --delimiter='\n' rm
