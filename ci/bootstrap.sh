#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail

usage() {
    cat <<'TEXT'
usage: ci/bootstrap.sh [--check | bench | conda | evidence]

Checks what the system must have, then creates or updates .venv from the hash-locked
requirements in ci/requirements. --check stops after the check; bench adds what keeps figures, conda what
builds conda packages, evidence what writes SBOMs.

  PYTHON             the Python to use, of the release in versions.toml (default: python3.11)
  ASCENDC_OPS_CACHE  where downloads are kept (default: ${XDG_CACHE_HOME:-~/.cache}/ascendc-ops)
TEXT
}

die() {
    printf 'bootstrap: %s\n' "$*" >&2
    exit 1
}

missing=0
need() {
    printf 'bootstrap: %s is missing: apt-get install %s\n' "$1" "$2" >&2
    missing=1
}

case $#,${1:-} in
    1,-h | 1,--help) usage && exit 0 ;;
    0, | 1,--check | 1,bench | 1,conda | 1,evidence) ;;
    *) die "expected no argument, --check, bench, conda or evidence, got '$*'" ;;
esac

# Builtins only up to here: the tools looked for may not be there.
root=${BASH_SOURCE[0]}
[[ $root == */* ]] || root=./$root
root=${root%/*}/..
while read -r name _ value; do
    [[ $name != python ]] || break
done <"$root/versions.toml"
release=${value//\"/}
wanted=python$release
python=${PYTHON:-$wanted}

facts='
import importlib.util, os, sys, sysconfig
print("%d.%d" % sys.version_info[:2])
print(*(name for name in ("venv", "ensurepip") if not importlib.util.find_spec(name)))
print(os.path.isfile(os.path.join(sysconfig.get_path("include"), "Python.h")))'

if ! command -v "$python" >/dev/null; then
    [[ $python == "$wanted" ]] || die "PYTHON: expected Python $release, got '$python', which is not there"
    need "$wanted" "$wanted"
elif ! found=$("$python" -I -c "$facts"); then
    die "PYTHON: expected Python $release, got '$python', which does not run"
else
    mapfile -t facts <<<"$found"
    [[ ${facts[0]} == "$release" ]] || die "PYTHON: expected Python $release, got ${facts[0]} ($python)"
    [[ -z ${facts[1]} ]] || need "$python's module ${facts[1]}" "$wanted-venv"
    [[ ${facts[2]} == True ]] || need "$python's header Python.h" "$wanted-dev"
fi
command -v g++ >/dev/null || need g++ g++
command -v make >/dev/null || need make make
[[ $missing == 0 ]] || exit 1
[[ ${1:-} == --check ]] || exec "$python" "$root/ci/environment.py" "$@"
