# SPDX-License-Identifier: Apache-2.0
# Most of the time of compiling a mutant goes into torch's headers, which no mutant changes.
cmake_language(
  DEFER
  CALL target_precompile_headers
  operators
  PRIVATE
  <ATen/ops/empty.h>
  <torch/library.h>
  <torch_npu/csrc/core/npu/NPUFormat.h>
  <torch_npu/csrc/core/npu/NPUStream.h>
)
