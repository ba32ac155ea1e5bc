#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail

if [[ ${1:-} == -h ]]; then
    echo "usage: ci/system.sh   installs what the suite needs of a Debian or Ubuntu system (as root)"
    exit 0
fi

packages=(g++ git libgtest-dev make valgrind)
# A Python or node that is there already, from wherever, is as good as Debian's.
command -v python3.11 >/dev/null || packages+=(python3.11 python3.11-dev python3.11-venv)
command -v npm >/dev/null || packages+=(nodejs npm)
# Docker's own packages are as good, and Debian's cannot lie beside them.
command -v dockerd >/dev/null || packages+=(docker.io)
command -v mmdebstrap >/dev/null || packages+=(mmdebstrap)
if ! dpkg --status "${packages[@]}" >/dev/null 2>&1; then
    export DEBIAN_FRONTEND=noninteractive
    apt-get -qq update
    apt-get -qq install -y --no-install-recommends "${packages[@]}" >/dev/null
fi
