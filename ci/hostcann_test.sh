#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail

if [[ ${1:-} == -h || $# -gt 1 || ${1:---cpp} != --cpp ]]; then
    echo "usage: ci/hostcann_test.sh [--cpp]   runs the tests of hostcann's runtime; --cpp: only those in C++"
    [[ ${1:-} == -h ]] && exit 0
    exit 2
fi

die() {
    printf 'hostcann-test: %s\n' "$*" >&2
    exit 1
}

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
export PATH=$root/.venv/bin:$PATH

g++ -E -x c++ - <<<'#include <gtest/gtest.h>' >/dev/null 2>&1 ||
    die "GoogleTest's headers are missing: apt-get install libgtest-dev"
ci/step.sh 'hostcann tests' ci/hostcann.sh --tests

log=build/log/ctest.log
if ! ctest --test-dir build/cmake/hostcann --output-on-failure -j"$(nproc)" >"$log" 2>&1; then
    tail -n 60 "$log" >&2
    die "C++ tests failed; the whole output is in $log"
fi
cpp=$(sed -nE 's/^100% tests passed.* out of ([0-9]+)$/\1/p' "$log")
[[ -n $cpp ]] || die "expected ctest to count its tests, got none; see $log"
echo "$cpp tests of hostcann's runtime in C++ passed"
[[ ${1:-} != --cpp ]] || exit 0

log=build/log/hostcann-pytest.log
status=0
python ci/device.py exec -- python -m pytest -q hostcann/tests/test_*.py >"$log" 2>&1 || status=$?
tail -n 1 "$log"
[[ $status == 0 ]] || {
    tail -n 60 "$log" >&2
    die "Python tests failed; the whole output is in $log"
}
python=$(sed -nE 's/^([0-9]+) passed.*/\1/p' "$log" | tail -n 1)
echo "hostcann-test: $((cpp + python)) passed: $cpp in C++, $python in Python"
