#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail

usage() {
    cat <<'TEXT'
usage: ci/sanitize.sh runtime|matrix [SANITIZERS...]

Builds with each of SANITIZERS, as -fsanitize= takes them (default: thread address,undefined), and
runs
  runtime  the C++ tests of hostcann's runtime
  matrix   the matrix of both variants: kernels, wrappers and hostcann are instrumented, Python,
           torch and torch_npu are not; needs make hostcann
TEXT
}

if [[ ${1:-} == -h || (${1:-} != runtime && ${1:-} != matrix) ]]; then
    usage
    [[ ${1:-} == -h ]] && exit 0
    exit 2
fi

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
export PATH=$root/.venv/bin:$PATH
what=$1
shift
[[ $# != 0 ]] || set -- thread address,undefined
common='-O1 -g1'
finding='(ERROR|WARNING): [A-Za-z]+Sanitizer|: runtime error: '
failed=()

# configure NAME SANITIZERS OPTIONS... sets `tree`.
configure() {
    tree=$root/build/cmake/hostcann-$1
    cmake -S "$root/hostcann" -B "$tree" -G Ninja -DCMAKE_BUILD_TYPE=None \
        -DCMAKE_INSTALL_MESSAGE=NEVER \
        -DCMAKE_CXX_FLAGS="$common" -DPython3_EXECUTABLE="$root/.venv/bin/python" \
        -DHOSTCANN_SANITIZE="$2" "${@:3}"
}

# Only the runtime and its tests: the operators are torch's own code.
runtime() {
    configure "$1" "$2" -DHOSTCANN_BUILD_TESTS=ON
    cmake --build "$tree" --target hostcann_tests
    ctest --test-dir "$tree" --output-on-failure -j"$(nproc)"
}

# The toolkit and both packages, in build/sanitize/NAME; sets `flags`.
install_all() {
    local to=$root/build/sanitize/$1 variant
    rm -rf "$to"
    mkdir -p "$to"
    configure "$1" "$2" -DHOSTCANN_BUILD_TESTS=OFF
    if [[ $2 == *thread* ]]; then
        # The operators are torch's inlined code: what it does around it in libtorch is not seen.
        cmake --build "$tree" --target ascendcl nnopbase
        cp -a "$root/build/hostcann" "$to/hostcann"
        cp "$tree"/libascendcl.so "$tree"/libnnopbase.so "$to/hostcann/lib64"
    else
        cmake --build "$tree"
        cmake --install "$tree" --prefix "$to/hostcann"
    fi
    flags="$common -fsanitize=$2 -fno-sanitize-recover=all -fno-omit-frame-pointer"
    # shellcheck source=/dev/null
    source "$to/hostcann/set_env.sh"
    for variant in pybind lib; do
        python -m pip install --no-build-isolation --no-deps --no-index \
            --disable-pip-version-check --target "$to/site" "$root/python/ascendc-ops-$variant" \
            -Cbuild-dir="$root/build/cmake/wrappers-$1" \
            -Cinstall.strip=false \
            -Ccmake.define.ASCENDC_OPS_VARIANT=both \
            -Ccmake.define.CMAKE_ASC_ARCHITECTURES="${NPU_ARCH:?}" \
            -Ccmake.define.Python3_EXECUTABLE="$root/.venv/bin/python" \
            -Ccmake.define.CMAKE_CXX_FLAGS_RELEASE="$flags" \
            -Ccmake.define.CMAKE_ASC_FLAGS_RELEASE="$flags"
    done
}

# run_in NAME SANITIZERS COMMAND... with what is installed there.
run_in() {
    local to=$root/build/sanitize/$1 library options preload=
    # Before anything else in the process, and libstdc++ for the sanitizers to find its exceptions.
    for library in asan ubsan tsan stdc++; do
        [[ $library != asan || $2 == *address* ]] || continue
        [[ $library != ubsan || $2 == *undefined* ]] || continue
        [[ $library != tsan || $2 == *thread* ]] || continue
        preload+=${preload:+:}$(g++ -print-file-name="lib$library.so")
    done
    [[ -z ${SANITIZE_PLANT:-} ]] || preload+=:$to/plants.so
    # shellcheck source=/dev/null
    source "$to/hostcann/set_env.sh"
    # In a file of each process; UBSan beside another writes to stderr all the same.
    # A stray access ends in hostcann's sentence.
    options=handle_segv=0:log_path=$to/found
    # What Python, torch and torch_npu do with memory is not seen in full, so none of it is judged;
    # an interpreter leaves memory at its end, so leaks are not looked for: tests/long_runs does.
    PYTHONPATH=$to/site PYTHONDONTWRITEBYTECODE=1 \
        ASAN_OPTIONS=$options:detect_leaks=0 \
        UBSAN_OPTIONS=$options:print_stacktrace=1 \
        TSAN_OPTIONS=$options:ignore_noninstrumented_modules=1 \
        LD_PRELOAD=$preload "${@:3}"
}

# tell_found FOLDER: the first lines of what sanitizers wrote down there, and rows' processes said.
tell_found() {
    local file
    for file in "$1"/found.* "$1"/report/matrix-processes/*; do
        grep -qE "$finding" "$file" 2>/dev/null || continue
        printf 'sanitize: found, see %s:\n' "$file"
        grep -E -m1 -A24 "$finding" "$file"
    done
}

# must_find NAME SANITIZERS FAULT WORDS: a row whose kernel has the fault fails, and it is told.
must_find() {
    local to=$root/build/sanitize/$1 rows
    rows=$to/report/matrix-processes
    mkdir -p "$rows"
    : >"$rows/planted.jsonl"
    if SANITIZE_PLANT=$3 run_in "$1" "$2" "$root/.venv/bin/python" -P -m pytest \
        -c "$root/tests/matrix/pytest.ini" "$root/tests/matrix/test_matrix.py" -m precision -x \
        --lane pybind --variants pybind --kind host --events "$rows/planted.jsonl" \
        >"$rows/planted.log" 2>&1 || ! tell_found "$to" | grep -e "$4" >/dev/null; then
        printf 'sanitize: %s: expected a planted %s to be found, got:\n' "$2" "$3"
        tail -n 40 "$rows/planted.log"
        return 1
    fi
    rm -f "$to"/found.* "$rows"/planted.*
}

matrix() {
    local status=0
    install_all "$1" "$2"
    # shellcheck disable=SC2086
    g++ -shared -fPIC $flags -o "$root/build/sanitize/$1/plants.so" \
        "$root/tests/sanitize/plants.cpp"
    [[ $2 != *address* ]] || must_find "$1" "$2" overflow heap-buffer-overflow
    [[ $2 != *undefined* ]] || must_find "$1" "$2" shift 'shift exponent 33 is too large'
    [[ $2 != *thread* ]] || must_find "$1" "$2" race 'data race'
    run_in "$1" "$2" "$root/.venv/bin/python" "$root/tests/matrix/run.py" --timeout 1200 \
        --report "$root/build/sanitize/$1/report" --record "matrix under $2" || status=$?
    [[ $status == 0 ]] || tell_found "$root/build/sanitize/$1"
    return "$status"
}

[[ ${BASH_SOURCE[0]} == "$0" ]] || return 0
for sanitizers in "$@"; do
    name=${sanitizers//,/-}
    log=$root/build/log/sanitize-$what-$name.log
    mkdir -p "${log%/*}"
    status=0
    # In the background, where a failure of one step ends it, and not in the test of ||.
    "$what" "$name" "$sanitizers" >"$log" 2>&1 &
    wait $! || status=$?
    if [[ $status == 0 ]]; then
        printf 'sanitize: %s: %s\n' "$sanitizers" "$(grep -E 'tests passed|^matrix: ' "$log")"
    else
        tail -n 120 "$log" >&2
        failed+=("$sanitizers")
    fi
done
[[ ${#failed[@]} == 0 ]] || {
    printf 'sanitize: failed: %s\n' "${failed[*]}" >&2
    exit 1
}
