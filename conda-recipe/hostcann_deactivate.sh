# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Run by `conda deactivate`: every variable is again what it was, or unset.
for _hostcann_name in ASCEND_HOME_PATH ASCEND_TOOLKIT_HOME ASCEND_OPP_PATH LD_LIBRARY_PATH CMAKE_PREFIX_PATH; do
    eval "if [ -n \"\${_HOSTCANN_OLD_$_hostcann_name+set}\" ]; then
        export $_hostcann_name=\"\$_HOSTCANN_OLD_$_hostcann_name\"
        unset _HOSTCANN_OLD_$_hostcann_name
    else
        unset $_hostcann_name
    fi"
done
unset _hostcann_name
