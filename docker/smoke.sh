#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail

if [[ ${1:-} == -h || ! ${1:-} =~ ^(host|npu)$ ]]; then
    echo "usage: smoke host|npu   checks the image it runs in; its build ends with it"
    [[ ${1:-} == -h ]] && exit 0
    exit 2
fi
device=$1
ours=/opt/ascendc-ops
failed=0

# fact SENTENCE [GOT]: holds when nothing is got.
fact() {
    if [[ -z ${2:-} ]]; then
        printf 'smoke: ok: %s\n' "$1"
    else
        printf 'smoke: expected %s, got %s\n' "$1" "$(tr '\n' ' ' <<<"$2")" >&2
        failed=1
    fi
}

strangers=$(
    python - $ours/lock.txt <<'TEXT'
import importlib.metadata, re, sys
lock = dict(re.findall(r"^([\w.-]+)==(\S+)", open(sys.argv[1]).read(), re.MULTILINE))
for found in importlib.metadata.distributions(path=[p for p in sys.path if "ascendc-ops" in p]):
    name = re.sub(r"[-_.]+", "-", found.name).lower()
    if not name.startswith("ascendc-ops-") and lock.get(name) != found.version:
        print(f"{name}=={found.version} (lock: {lock.get(name)})")
TEXT
)
fact 'every package in the release that the lock names' "$strangers"

fact 'a user that is not root' "$([[ $(id -u) != 0 ]] || id)"

# What set_env.sh would set is there without it, as docker exec and a CI step need.
missing=$(
    # shellcheck disable=SC2016 # The inner shell expands it.
    env -i PATH=/usr/bin:/bin bash -c '. "$0/set_env.sh" >/dev/null; env' "$ASCEND_HOME_PATH" |
        while IFS='=' read -r name value; do
            case $name in
                PATH | *_PATH | *_HOME)
                    for part in ${value//:/ }; do
                        [[ :${!name:-}: == *":$part:"* ]] || echo "$name without $part"
                    done
                    ;;
            esac
        done
)
fact "the environment of $ASCEND_HOME_PATH/set_env.sh" "$missing"

# Wrapper and kernels lie together: found there, wherever the package is.
apart=$(
    for library in "$ours"/lib/python3*/site-packages/ascendc_ops*/*.so; do
        case $library in
            */libascendc_kernels.so) continue ;;
        esac
        [[ $(ldd "$library") == *"libascendc_kernels.so => ${library%/*}/"* ]] || echo "$library"
    done
)
fact 'each wrapper to load the kernels beside it' "$apart"

# CANN's image has compilers and files of its own, which are not ours to judge.
places=(/)
[[ $device == host ]] || places=("$ours" /src /tmp /wheelhouse)
fact 'no wheel and no download cache' \
    "$(find "${places[@]}" -xdev \( -name '*.whl' -o -name wheelhouse -o -path '*/.cache/*' \) 2>/dev/null || true)"
fact "files of $ours that belong to root" "$(find $ours -not -user 0)"

if [[ $device == host ]]; then
    fact 'no compiler and no build tool' "$(type -P cc gcc g++ c++ clang make cmake ninja uv pip || true)"
    fact 'no file that everybody may write' \
        "$(find / -xdev -perm -0002 -not -type l -not \( -type d -perm -1000 \) 2>/dev/null || true)"
    # A driver is not there while an NPU image is built, so that one imports later.
    said=$(python -c 'import ascendc_ops, ascendc_ops_lib' 2>&1) && said=
    fact 'both variants to import' "$said"
else
    fact "no file of $ours that everybody may write" "$(find $ours -perm -0002 -not -type l)"
fi
exit $failed
