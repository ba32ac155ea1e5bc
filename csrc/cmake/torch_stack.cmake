# SPDX-License-Identifier: Apache-2.0
# Imported targets torch_stack::torch, ::torch_python and ::torch_npu from the configured interpreter.
# find_package(Torch) is not used: it configures every backend torch was built with.

execute_process(
  COMMAND "${Python3_EXECUTABLE}" "${CMAKE_CURRENT_LIST_DIR}/torch_stack.py"
  OUTPUT_VARIABLE _stack_lines
  ERROR_VARIABLE _stack_error
  RESULT_VARIABLE _stack_result
)
if(NOT _stack_result EQUAL 0)
  string(STRIP "${_stack_error}" _stack_error)
  message(FATAL_ERROR "${_stack_error}")
endif()
# Only our own lines count: anything a site hook prints must never become part of a path.
string(
  REGEX MATCHALL "set\\(STACK_[A-Z0-9_]+ \\[==\\[[^\n]*\\]==\\]\\)"
  _stack_lines
  "${_stack_lines}"
)
foreach(_line IN LISTS _stack_lines)
  cmake_language(EVAL CODE "${_line}")
endforeach()

include("${CMAKE_CURRENT_LIST_DIR}/torch_stack_targets.cmake")
