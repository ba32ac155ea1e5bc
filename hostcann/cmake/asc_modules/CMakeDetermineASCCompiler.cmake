# SPDX-License-Identifier: Apache-2.0
# Finds bisheng; CMake calls this for the first project() with the language ASC.

include(asc_settings)
asc_check_settings()

file(TO_CMAKE_PATH "$ENV{ASCEND_HOME_PATH}" _asc_home)
if(NOT CMAKE_ASC_COMPILER)
  find_program(
    CMAKE_ASC_COMPILER
    NAMES bisheng
    HINTS "${_asc_home}/${CMAKE_HOST_SYSTEM_PROCESSOR}-linux/ccec_compiler/bin"
    DOC "Ascend C compiler"
  )
  if(NOT CMAKE_ASC_COMPILER)
    find_program(CMAKE_ASC_COMPILER NAMES bisheng HINTS "${_asc_home}" DOC "Ascend C compiler")
  endif()
endif()
if(NOT EXISTS "${CMAKE_ASC_COMPILER}")
  message(
    FATAL_ERROR
    "ASC: expected the compiler bisheng in '${_asc_home}/${CMAKE_HOST_SYSTEM_PROCESSOR}-linux/ccec_compiler/bin', "
    "PATH or '${_asc_home}', got none; install hostcann or CANN as a whole"
  )
endif()
mark_as_advanced(CMAKE_ASC_COMPILER)

execute_process(
  COMMAND "${CMAKE_ASC_COMPILER}" --version
  OUTPUT_VARIABLE _asc_version
  ERROR_VARIABLE _asc_error
  RESULT_VARIABLE _asc_result
  OUTPUT_STRIP_TRAILING_WHITESPACE
)
if(NOT _asc_result EQUAL 0 OR NOT _asc_version MATCHES "^hostcann ([0-9.]+) ")
  string(REGEX REPLACE "\n.*" "" _asc_version "${_asc_version}${_asc_error}")
  message(
    FATAL_ERROR
    "ASC: expected '${CMAKE_ASC_COMPILER}' to be the bisheng of hostcann, got '${_asc_version}'; "
    "unset CMAKE_ASC_COMPILER"
  )
endif()
set(CMAKE_ASC_COMPILER_ENV_VAR "ASC")
set(CMAKE_ASC_COMPILER_ID "hostcann")
set(CMAKE_ASC_COMPILER_VERSION "${CMAKE_MATCH_1}")
message(
  STATUS
  "The ASC compiler is hostcann's ${CMAKE_ASC_COMPILER_VERSION}: kernels run on the host"
)

if(NOT CMAKE_AR)
  find_program(CMAKE_AR NAMES ar)
endif()
if(NOT CMAKE_RANLIB)
  find_program(CMAKE_RANLIB NAMES ranlib)
endif()

# Mixed with C++ in one target, whichever language links must find the runtime.
get_filename_component(_asc_prefix "${CMAKE_ASC_COMPILER}" REALPATH)
get_filename_component(_asc_prefix "${_asc_prefix}/../../../.." ABSOLUTE)
set(CMAKE_ASC_IMPLICIT_LINK_LIBRARIES "ascendcl")
set(CMAKE_ASC_IMPLICIT_LINK_DIRECTORIES "${_asc_prefix}/lib64")

configure_file(
  "${CMAKE_CURRENT_LIST_DIR}/CMakeASCCompiler.cmake.in"
  "${CMAKE_PLATFORM_INFO_DIR}/CMakeASCCompiler.cmake"
  @ONLY
)
