# SPDX-License-Identifier: Apache-2.0
# The imported targets of torch_stack.cmake, from STACK_TORCH_DIR, STACK_TORCH_NPU_DIR and
# STACK_TORCH_CXX11_ABI; also part of the package that a C++ program finds.

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
