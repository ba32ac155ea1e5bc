# SPDX-License-Identifier: Apache-2.0
# Imported targets torch_stack::torch, ::torch_python and ::torch_npu from the configured interpreter.
# find_package(Torch) is not used: it configures every backend torch was built with.

function(_torch_stack_target name file)
  if(NOT EXISTS "${file}")
    message(
      FATAL_ERROR
      "ascendc_ops: expected the library ${file}, got none; reinstall torch and torch_npu"
    )
  endif()
  add_library(torch_stack::${name} SHARED IMPORTED)
  set_target_properties(torch_stack::${name} PROPERTIES IMPORTED_LOCATION "${file}")
endfunction()

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

_torch_stack_target(c10 "${STACK_TORCH_DIR}/lib/libc10.so")
_torch_stack_target(torch "${STACK_TORCH_DIR}/lib/libtorch_cpu.so")
_torch_stack_target(torch_python "${STACK_TORCH_DIR}/lib/libtorch_python.so")
_torch_stack_target(torch_npu "${STACK_TORCH_NPU_DIR}/lib/libtorch_npu.so")
set_target_properties(
  torch_stack::torch
  PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES
      "${STACK_TORCH_DIR}/include;${STACK_TORCH_DIR}/include/torch/csrc/api/include"
    INTERFACE_COMPILE_DEFINITIONS "_GLIBCXX_USE_CXX11_ABI=${STACK_TORCH_CXX11_ABI}"
    INTERFACE_LINK_LIBRARIES torch_stack::c10
)
set_target_properties(
  torch_stack::torch_npu
  PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES
      "${STACK_TORCH_NPU_DIR}/include;${STACK_TORCH_NPU_DIR}/include/third_party/acl/inc"
    INTERFACE_LINK_LIBRARIES torch_stack::torch
)
