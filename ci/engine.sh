#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail

if [[ ${1:-} == -h || $# == 0 ]]; then
    echo "usage: ci/engine.sh COMMAND…   runs a command with Docker's engine, which it starts, as root, and stops if none runs"
    [[ ${1:-} == -h ]] && exit 0
    exit 2
fi

die() {
    printf 'engine: %s\n' "$*" >&2
    exit 1
}

if docker version >/dev/null 2>&1; then
    exec "$@"
fi

log=build/log/dockerd.log
mkdir -p build/log
# Here and empty before tail looks: dockerd's own shell may be later, and an earlier engine's log says the same.
: >"$log"
command -v dockerd >/dev/null || die 'dockerd is missing: apt-get install docker.io'
# In a session of its own, so that what interrupts the command leaves it the engine. Nothing here uses its network.
setsid dockerd --bridge=none --iptables=false --ip6tables=false >"$log" 2>&1 </dev/null &
engine=$!
# shellcheck disable=SC2329 # The trap calls it.
stop() {
    kill "$engine" 2>/dev/null || true
    wait "$engine" || true
}
trap stop EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
# It says when it listens. One that cannot start ends, and tail with it; one that listens ends grep, and tail with that.
tail --pid="$engine" --lines=+1 --follow=name "$log" 2>/dev/null |
    timeout 60 grep --max-count=1 --quiet 'API listen on' || true
docker version >/dev/null 2>&1 || die "dockerd did not start: $(tail -n 1 "$log")"
# With this script's input and, unlike what a script usually starts in the background, open to interrupts.
(trap - INT && exec "$@") <&0 &
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
