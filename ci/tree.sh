# SPDX-License-Identifier: Apache-2.0
# Sourced by the scripts that build: enters a CMake tree of build/cmake.
# shellcheck shell=bash

# enter_tree ROOT NAME sets `tree` to ROOT/build/cmake/NAME, once no other build uses it.
enter_tree() {
    tree=$1/build/cmake/$2
    # Two makes at once take turns: ninja's records do not survive sharing a tree.
    mkdir -p "$1/build/cmake"
    exec {turn}>"$tree.lock"
    flock --nonblock "$turn" || {
        echo "$2: another run uses $tree, waiting for it to end ..." >&2
        flock "$turn"
    }
    # A tree that was made elsewhere, before the clone was moved, cannot be configured again.
    if [[ -f $tree/CMakeCache.txt ]] &&
        ! grep -qxF "CMAKE_CACHEFILE_DIR:INTERNAL=$tree" "$tree/CMakeCache.txt"; then
        rm -rf "$tree"
    fi
}
