# SPDX-License-Identifier: Apache-2.0
# An empty kernel source goes through bisheng and the host's compiler, so that a missing g++ is a
# sentence here and not in the first build.

if(CMAKE_ASC_COMPILER_WORKS)
  return()
endif()

set(_asc_probe "${CMAKE_BINARY_DIR}${CMAKE_FILES_DIRECTORY}/asc_probe.asc")
file(WRITE "${_asc_probe}" "#include \"kernel_operator.h\"\n")
execute_process(
  COMMAND "${CMAKE_ASC_COMPILER}" --npu-arch=dav-2201 -std=c++17 -fsyntax-only "${_asc_probe}"
  OUTPUT_QUIET
  ERROR_VARIABLE _asc_error
  RESULT_VARIABLE _asc_result
  ERROR_STRIP_TRAILING_WHITESPACE
)
if(NOT _asc_result EQUAL 0)
  message(FATAL_ERROR "ASC: expected bisheng to compile a kernel source, got: ${_asc_error}")
endif()
set(CMAKE_ASC_COMPILER_WORKS 1 CACHE INTERNAL "")
configure_file(
  "${CMAKE_CURRENT_LIST_DIR}/CMakeASCCompiler.cmake.in"
  "${CMAKE_PLATFORM_INFO_DIR}/CMakeASCCompiler.cmake"
  @ONLY
)
