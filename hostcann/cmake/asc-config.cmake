# SPDX-License-Identifier: Apache-2.0
# find_package(ASC), called before project(… LANGUAGES ASC …): makes the language known to CMake.

if(NOT DEFINED ENV{ASCEND_HOME_PATH} OR "$ENV{ASCEND_HOME_PATH}" STREQUAL "")
  message(
    FATAL_ERROR
    "ASC: expected the environment variable ASCEND_HOME_PATH to name hostcann or CANN, got it unset; "
    "source its set_env.sh first"
  )
endif()

file(TO_CMAKE_PATH "$ENV{ASCEND_HOME_PATH}" _asc_home)
set(_asc_modules "${_asc_home}/compiler/tikcpp/ascendc_kernel_cmake")
if(NOT IS_DIRECTORY "${_asc_modules}/asc_modules")
  message(
    FATAL_ERROR
    "ASC: expected the CMake modules of hostcann or CANN in ASCEND_HOME_PATH, got none in '${_asc_home}'; "
    "source the set_env.sh of an installation first"
  )
endif()
list(APPEND CMAKE_MODULE_PATH "${_asc_modules}/fwk_modules" "${_asc_modules}/asc_modules")

include(asc_settings)
asc_check_settings()

# acl's headers are part of CANN; hostcann takes those that torch_npu carries.
find_program(_asc_python NAMES python3 NO_CACHE)
if(_asc_python)
  execute_process(
    COMMAND
      "${_asc_python}" -c
      "import importlib.util, pathlib
spec = importlib.util.find_spec('torch_npu')
print(pathlib.Path(spec.origin).parent if spec else '', end='')"
    OUTPUT_VARIABLE _asc_torch_npu
  )
  if(_asc_torch_npu)
    include_directories(AFTER SYSTEM "${_asc_torch_npu}/include/third_party/acl/inc")
  endif()
endif()
unset(_asc_python)
unset(_asc_torch_npu)

set(ASC_FOUND TRUE)
unset(_asc_modules)
unset(_asc_home)
