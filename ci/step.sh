#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail

if [[ ${1:-} == -h || $# -lt 2 ]]; then
    echo "usage: ci/step.sh NAME COMMAND…   runs a command with its output in build/log, prints its seconds"
    [[ ${1:-} == -h ]] && exit 0
    exit 2
fi

name=$1
shift
log=build/log/${name// /-}.log
mkdir -p build/log
echo "$name ..."
start=$EPOCHREALTIME
status=0
"$@" >"$log" 2>&1 </dev/null || status=$?
seconds=$(((${EPOCHREALTIME//./} - ${start//./}) / 100000))
printf '%s: %d.%d s\n' "$name" $((seconds / 10)) $((seconds % 10))
if [[ $status != 0 ]]; then
    tail -n "${STEP_LINES:-30}" "$log" >&2
    echo "$name: failed with exit code $status; the whole output is in $log" >&2
    exit "$status"
fi
