#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Run by recipe.yaml for each package, in its build environment, which has the values of variants.yaml.
# shellcheck disable=SC2154
set -euo pipefail

die() {
    printf 'conda-recipe: %s\n' "$*" >&2
    exit 1
}

record() {
    "$PYTHON" "$RECIPE_DIR/built_with.py" >"$PREFIX/share/ascendc-ops/$PKG_NAME.built_with.json"
}

# The libraries find each other by $ORIGIN; the linker would add the folder it works in.
unset LD_RUN_PATH
# The linker's build ID depends on the folder it worked in; nothing else does.
export LDFLAGS="${LDFLAGS:-} -Wl,--build-id=none"
# Importing torch must not import torch_npu, which wants a driver that a build machine need not have.
export TORCH_DEVICE_BACKEND_AUTOLOAD=0
hostcann=$PREFIX/opt/hostcann
mkdir -p "$PREFIX/share/ascendc-ops"

if [[ $PKG_NAME == hostcann ]]; then
    # What CMake takes out of a binary at installation leaves a gap as long as the folder's name.
    cmake -S "$SRC_DIR/hostcann" -B "$SRC_DIR/build" -G Ninja -DCMAKE_BUILD_TYPE=Release \
        -DCMAKE_INSTALL_PREFIX="$hostcann" -DPython3_EXECUTABLE="$PYTHON" -DCMAKE_SKIP_RPATH=ON
    cmake --build "$SRC_DIR/build"
    cmake --install "$SRC_DIR/build" --strip
    # torch_npu looks for folders that are empty here, and a package holds files only.
    find "$hostcann" -type d -empty -exec touch {}/.keep \;
    mkdir -p "$PREFIX/bin"
    (cd "$PREFIX/bin" && ln -s ../opt/hostcann/*-linux/ccec_compiler/bin/bisheng .)
    for moment in activate deactivate; do
        install -D -m 644 "$RECIPE_DIR/hostcann_$moment.sh" "$PREFIX/etc/conda/$moment.d/hostcann.sh"
    done
    record
    exit 0
fi

if [[ $device == host ]]; then
    # shellcheck source=/dev/null
    source "$hostcann/set_env.sh"
else
    [[ -n ${ASCEND_HOME_PATH:-} ]] || die "device npu: expected ASCEND_HOME_PATH to name CANN $cann, got it unset"
fi
"$PYTHON" -m pip install "$SRC_DIR/python/$PKG_NAME" --prefix "$PREFIX" --no-build-isolation --no-deps --no-index \
    --no-compile --disable-pip-version-check --root-user-action=ignore \
    -Cbuild-dir="$SRC_DIR/build" -Ccmake.define.CMAKE_ASC_ARCHITECTURES="$npu_arch"
module=${PKG_NAME//-/_}
rm -f "$SP_DIR/$module"-*.dist-info/{direct_url.json,REQUESTED}
sed -i '/dist-info\/\(direct_url.json\|REQUESTED\),/d' "$SP_DIR/$module"-*.dist-info/RECORD
"$PYTHON" -m compileall -q --invalidation-mode unchecked-hash -s "$PREFIX" "$SP_DIR/${module/_pybind/}"
record
