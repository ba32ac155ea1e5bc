#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail

if [[ ${1:-} == -h || $# == 0 ]]; then
    cat <<'TEXT'
usage: ci/engine.sh COMMAND…

Runs a command with Docker's engine. Where none runs it starts one, as root, and the last of those
who use that one stops it.
TEXT
    [[ ${1:-} == -h ]] && exit 0
    exit 2
fi

die() {
    printf 'engine: %s\n' "$*" >&2
    exit 1
}

state=${ASCENDC_OPS_ENGINE:-/run/ascendc-ops-engine}

# Not one that this script started, or of another user: not ours to stop.
if [[ ! -w $state/pid ]] && docker version >/dev/null 2>&1; then
    exec "$@"
fi
command -v dockerd >/dev/null || die 'dockerd is missing: apt-get install docker.io'
mkdir -p "$state" 2>/dev/null || die "expected to write $state, which root may: run it as root"

# Each user holds `users`, shared, for as long as it runs; who can hold it alone is the last.
exec {users}>>"$state/users" {starting}>>"$state/starting"
flock --shared "$users"
# shellcheck disable=SC2329 # The trap calls it.
leave() {
    flock --exclusive --nonblock "$users" || return 0
    local engine
    engine=$(cat "$state/pid" 2>/dev/null) || return 0
    # One that was killed may have left its number to another process.
    if [[ $(cat "/proc/$engine/comm" 2>/dev/null) == dockerd ]]; then
        kill "$engine" 2>/dev/null || true
        # One that nobody waited for has no program any more.
        while [[ -e /proc/$engine/exe ]]; do sleep 0.1; done
    fi
    rm "$state/pid"
}
trap leave EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

flock "$starting"
if ! docker version >/dev/null 2>&1; then
    log=build/log/dockerd.log
    mkdir -p build/log
    # Here and empty before tail looks: dockerd's own shell may be later, and the log of an earlier
    # engine says the same.
    : >"$log"
    # In a session of its own, so that what interrupts the command leaves it the engine. Nothing
    # here uses its network.
    setsid dockerd --bridge=none --iptables=false --ip6tables=false >"$log" 2>&1 </dev/null \
        {users}>&- {starting}>&- &
    engine=$!
    echo "$engine" >"$state/pid"
    # It says when it listens. One that cannot start ends, and tail with it; one that listens ends
    # grep, and tail with that.
    tail --pid="$engine" --lines=+1 --follow=name "$log" 2>/dev/null |
        timeout 60 grep --max-count=1 --quiet 'API listen on' || true
    docker version >/dev/null 2>&1 || die "dockerd did not start: $(tail -n 1 "$log")"
fi
flock --unlock "$starting"
# With this script's input and, unlike what a script usually starts in the background, open to
# interrupts.
(trap - INT && exec "$@") <&0 {users}>&- {starting}>&- &
command=$!
signalled=0
# It still needs the engine while it tidies up.
trap 'signalled=130 && kill -INT "$command" 2>/dev/null || true' INT
trap 'signalled=143 && kill -TERM "$command" 2>/dev/null || true' TERM
status=0
wait "$command" || status=$?
while kill -0 "$command" 2>/dev/null; do
    status=0
    wait "$command" || status=$?
done
[[ $signalled == 0 || $status != 0 ]] || status=$signalled
exit "$status"
