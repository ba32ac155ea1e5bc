// SPDX-License-Identifier: Apache-2.0
// What an operator asks of torch and torch_npu. Their headers for it take longer to read than an
// operator takes to compile, so stack.cpp is the only file that includes them.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>

namespace ascendc_ops {

// at::empty: a new tensor of this shape, its values not set.
at::Tensor empty(c10::IntArrayRef shape, const c10::TensorOptions& options);

// What an operator has to make the current device: nothing, if `device` is. A guard that changes
// nothing takes as long as all checks of a tensor.
std::optional<c10::Device> device_to_guard(c10::Device device);

// The aclFormat of the storage of a tensor on an NPU.
int64_t storage_format(const at::Tensor& tensor);

// The current stream of a device, an aclrtStream, with everything that torch_npu has queued for it.
void* current_stream(c10::Device device);

}  // namespace ascendc_ops
