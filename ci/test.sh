#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail

if [[ ${1:-} == -h || $# != 0 ]]; then
    echo "usage: ci/test.sh   runs the matrix, hostcann's C++ tests and every pytest suite; called by make test"
    [[ ${1:-} == -h ]] && exit 0
    exit 2
fi

die() {
    printf 'test: %s\n' "$*" >&2
    exit 1
}

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
python=.venv/bin/python
export PATH=$root/.venv/bin:$PATH
failed=()

# Before the matrix: it takes a minute, and this a moment.
if [[ ${DEVICE:-} == host ]] && ! g++ -E -x c++ - <<<'#include <gtest/gtest.h>' >/dev/null 2>&1; then
    die "GoogleTest's headers are missing: apt-get install libgtest-dev"
fi

"$python" tests/matrix/run.py --variant "${VARIANT:-both}" || failed+=(matrix)

# hostcann stands in for CANN on the host only, and so do its own tests.
if [[ ${DEVICE:-} == host ]]; then
    ci/hostcann_test.sh --cpp || failed+=(hostcann)
fi

# Last, so that pytest's closing line is the run's. A file's tests share what they built, so it stays whole.
"$python" ci/device.py exec -- "$python" -m pytest -q -n "$(nproc)" --dist loadfile --durations=10 ||
    failed+=(pytest)
[[ ${#failed[@]} == 0 ]] || die "failed: ${failed[*]}"
