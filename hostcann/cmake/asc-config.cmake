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

set(ASC_FOUND TRUE)
unset(_asc_modules)
unset(_asc_home)
