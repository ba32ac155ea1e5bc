// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

namespace ascendc_ops {

// z = x + y, element-wise, on the current NPU stream of the inputs' device.
//
// x, y: float32, shape [8, 2048], contiguous, storage format ND, on one NPU, not requiring grad;
// only read. Returns a new tensor of the same shape, dtype, format and device. The launch is
// asynchronous. Throws c10::Error naming the argument, the rule and what was given.
at::Tensor ascendc_add(const at::Tensor& x, const at::Tensor& y);

// The same for meta tensors, which have a shape and no memory: the checks that need none, and an
// output without any. Tracing, torch.export and torch.compile ask for it.
at::Tensor ascendc_add_meta(const at::Tensor& x, const at::Tensor& y);

}  // namespace ascendc_ops
