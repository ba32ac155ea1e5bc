// SPDX-License-Identifier: Apache-2.0
#include "stack.h"

#include <ATen/ops/empty.h>
#include <torch_npu/csrc/core/npu/NPUFormat.h>
#include <torch_npu/csrc/core/npu/NPUFunctions.h>
#include <torch_npu/csrc/core/npu/NPUStream.h>

namespace ascendc_ops {

at::Tensor empty(c10::IntArrayRef shape, const c10::TensorOptions& options) {
  return at::empty(shape, options);
}

std::optional<c10::Device> device_to_guard(c10::Device device) {
  if (c10_npu::current_device() == device.index()) return std::nullopt;
  return device;
}

int64_t storage_format(const at::Tensor& tensor) { return at_npu::native::get_npu_format(tensor); }

void* current_stream(c10::Device device) {
  // stream() first drains torch_npu's host-side queue; the bare handle of stream(false) would let
  // a launch overtake work that is queued but not yet on the stream.
  return c10_npu::getCurrentNPUStream(device.index()).stream();
}

}  // namespace ascendc_ops
