#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Run by the recipes of torch and torch-npu: the wheel unpacked as it is, with its own RECORD.
set -euo pipefail

"$PYTHON" -m zipfile -e "$SRC_DIR"/*.whl "$SP_DIR"
package=$SP_DIR/${PKG_NAME//-/_}
# Unpacking lost what made these programs.
[[ ! -d $package/bin ]] || chmod 755 "$package"/bin/*
echo conda >"$(echo "$package"-*.dist-info)/INSTALLER"
cp -r "$package"-*.dist-info/licenses/. "$SRC_DIR"
# The same bytes each time: of a process that compiled other files before, or set constants in another order, the
# bytecode differs. So two processes take fixed halves. torch names a file for a newer Python py312_…, which older
# ones cannot compile.
compile() {
    PYTHONHASHSEED=0 "$PYTHON" -m compileall -q --invalidation-mode unchecked-hash -x '/py312_' -s "$PREFIX" "$@"
}
shopt -s nullglob
compile "$package"/_* &
compile "$package"/[!_]* "$package"gen*
wait $!
