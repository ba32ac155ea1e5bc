// SPDX-License-Identifier: Apache-2.0
// The wrapper as samples write it: one file, <torch/extension.h>, no check. A yardstick of
// `make bench`, for a call and for a build; wrong where work is queued, so never shipped.
#include <torch/extension.h>
#include <torch_npu/csrc/core/npu/NPUStream.h>

#include "add_custom/add_custom.h"

namespace {

at::Tensor add(const at::Tensor& x, const at::Tensor& y) {
  at::Tensor z = at::empty(x.sizes(), x.options());
  const aclrtStream stream = c10_npu::getCurrentNPUStream().stream(false);
  add_custom_impl(8, stream, static_cast<uint8_t*>(x.data_ptr()),
                  static_cast<uint8_t*>(y.data_ptr()), static_cast<uint8_t*>(z.data_ptr()),
                  static_cast<uint32_t>(x.numel()));
  return z;
}

}  // namespace

TORCH_LIBRARY(bench_sample, m) { m.def("add(Tensor x, Tensor y) -> Tensor"); }

TORCH_LIBRARY_IMPL(bench_sample, PrivateUse1, m) { m.impl("add", &add); }
