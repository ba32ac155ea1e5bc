#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail

if [[ ${1:-} == -h || $# != 0 ]]; then
    echo "usage: ci/hostcann_sanitize.sh   runs the runtime's C++ tests under ThreadSanitizer, and AddressSanitizer with UBSan"
    [[ ${1:-} == -h ]] && exit 0
    exit 2
fi

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
export PATH=$root/.venv/bin:$PATH
failed=()

# Only the runtime and its tests: the operators are torch's own code.
for sanitizers in thread address,undefined; do
    tree=$root/build/cmake/hostcann-${sanitizers/,/-}
    log=$root/build/log/hostcann-${sanitizers/,/-}.log
    mkdir -p "${log%/*}"
    if cmake -S "$root/hostcann" -B "$tree" -G Ninja -DCMAKE_BUILD_TYPE=None -DCMAKE_CXX_FLAGS='-O1 -g1' \
        -DPython3_EXECUTABLE="$root/.venv/bin/python" -DHOSTCANN_BUILD_TESTS=ON \
        -DHOSTCANN_SANITIZE="$sanitizers" >"$log" 2>&1 &&
        cmake --build "$tree" --target hostcann_tests >>"$log" 2>&1 &&
        ctest --test-dir "$tree" --output-on-failure -j"$(nproc)" >>"$log" 2>&1; then
        printf 'hostcann-sanitize: %s: %s\n' "$sanitizers" "$(grep 'tests passed' "$log")"
    else
        tail -n 80 "$log" >&2
        failed+=("$sanitizers")
    fi
done
[[ ${#failed[@]} == 0 ]] || {
    printf 'hostcann-sanitize: failed: %s\n' "${failed[*]}" >&2
    exit 1
}
