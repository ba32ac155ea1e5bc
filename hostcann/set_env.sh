# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Source this file to use hostcann as the CANN toolkit, from bash or any POSIX shell:
#     . <prefix>/set_env.sh
# It may be sourced again and the prefix may be moved.

# shellcheck disable=SC3028,SC3054
if [ -n "${BASH_VERSION:-}" ]; then
    _hostcann_file=${BASH_SOURCE[0]}
else
    # A POSIX shell does not tell a sourced file its name, but holds it open while reading it.
    _hostcann_file=
    for _hostcann_fd in "/proc/$$/fd/"*; do
        _hostcann_target=$(readlink "$_hostcann_fd") || continue
        case $_hostcann_target in
            */set_env.sh) _hostcann_file=$_hostcann_target ;;
        esac
    done
fi
_hostcann_home=$(CDPATH='' cd -P -- "$(dirname -- "$_hostcann_file")" && pwd)

if [ ! -f "$_hostcann_home/hostcann-version" ]; then
    echo "hostcann: set_env.sh must be sourced by name from its prefix; found no hostcann-version in '$_hostcann_home'" >&2
    unset _hostcann_file _hostcann_fd _hostcann_target _hostcann_home
    # shellcheck disable=SC2317
    return 1 2>/dev/null || exit 1
fi

_hostcann_old=
_hostcann_prepend() {
    eval "_hostcann_old=\${$1:-}"
    case $_hostcann_old: in
        "$2:"*) ;;
        *) eval "export $1=\"\$2\${_hostcann_old:+:\$_hostcann_old}\"" ;;
    esac
}

export ASCEND_HOME_PATH="$_hostcann_home"
export ASCEND_TOOLKIT_HOME="$_hostcann_home"
export ASCEND_OPP_PATH="$_hostcann_home/opp"
_hostcann_prepend LD_LIBRARY_PATH "$_hostcann_home/lib64"
_hostcann_prepend CMAKE_PREFIX_PATH "$_hostcann_home/lib64/cmake"
for _hostcann_bin in "$_hostcann_home"/*-linux/ccec_compiler/bin; do
    _hostcann_prepend PATH "$_hostcann_bin"
done

unset -f _hostcann_prepend
unset _hostcann_file _hostcann_fd _hostcann_target _hostcann_home _hostcann_old _hostcann_bin
