# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Run by `conda activate`: hostcann is the environment's CANN. hostcann_deactivate.sh undoes it.
for _hostcann_name in ASCEND_HOME_PATH ASCEND_TOOLKIT_HOME ASCEND_OPP_PATH LD_LIBRARY_PATH CMAKE_PREFIX_PATH; do
    eval "[ -z \"\${$_hostcann_name+set}\" ] || export _HOSTCANN_OLD_$_hostcann_name=\"\$$_hostcann_name\""
done
unset _hostcann_name
export ASCEND_HOME_PATH="$CONDA_PREFIX/opt/hostcann"
export ASCEND_TOOLKIT_HOME="$ASCEND_HOME_PATH"
export ASCEND_OPP_PATH="$ASCEND_HOME_PATH/opp"
export LD_LIBRARY_PATH="$ASCEND_HOME_PATH/lib64${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
export CMAKE_PREFIX_PATH="$ASCEND_HOME_PATH/lib64/cmake${CMAKE_PREFIX_PATH:+:$CMAKE_PREFIX_PATH}"
