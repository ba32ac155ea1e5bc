// SPDX-License-Identifier: Apache-2.0
// Convolutions, pooling and resampling.
#include <ATen/ops/_adaptive_avg_pool2d.h>
#include <ATen/ops/_adaptive_avg_pool2d_backward.h>
#include <ATen/ops/_adaptive_avg_pool3d.h>
#include <ATen/ops/_adaptive_avg_pool3d_backward.h>
#include <ATen/ops/adaptive_max_pool2d.h>
#include <ATen/ops/adaptive_max_pool2d_backward.h>
#include <ATen/ops/avg_pool2d.h>
#include <ATen/ops/avg_pool2d_backward.h>
#include <ATen/ops/avg_pool3d.h>
#include <ATen/ops/avg_pool3d_backward.h>
#include <ATen/ops/convolution.h>
#include <ATen/ops/convolution_backward.h>
#include <ATen/ops/max_pool2d_with_indices.h>
#include <ATen/ops/max_pool2d_with_indices_backward.h>
#include <ATen/ops/upsample_bilinear2d.h>
#include <ATen/ops/upsample_bilinear2d_backward.h>
#include <ATen/ops/upsample_nearest1d.h>
#include <ATen/ops/upsample_nearest2d.h>
#include <ATen/ops/upsample_nearest2d_backward.h>

#include <array>

#include "call.h"

namespace hostcann::opapi {
static constexpr char kFamily[] = "convolution";

HOSTCANN_ACLNN(Convolution,
               (In self, In weight, Maybe bias, Ints stride, Ints padding, Ints dilation,
                bool transposed, Ints output_padding, int64_t groups, Out out, int8_t)) {
  assign(out, at::convolution(self, weight, bias, stride, padding, dilation, transposed,
                              output_padding, groups));
}
HOSTCANN_ACLNN(ConvDepthwise2d, (In self, In weight, Ints, Maybe bias, Ints stride, Ints padding,
                                 Ints dilation, Out out, int8_t)) {
  assign(out, at::convolution(self, weight, bias, stride, padding, dilation, false, {0, 0},
                              self.size(-3)));
}
HOSTCANN_ACLNN(ConvolutionBackward,
               (In grad, In self, In weight, MaybeInts bias_sizes, Ints stride, Ints padding,
                Ints dilation, bool transposed, Ints output_padding, int groups, Bools mask, int8_t,
                MaybeOut grad_self, MaybeOut grad_weight, MaybeOut grad_bias)) {
  TORCH_CHECK(mask.size() == 3, "output mask: expected 3 values, got ", mask.size());
  const std::array<bool, 3> wanted = {mask[0] != 0, mask[1] != 0, mask[2] != 0};
  const auto [a, b, c] =
      at::convolution_backward(grad, self, weight, bias_sizes, stride, padding, dilation,
                               transposed, output_padding, groups, wanted);
  if (wanted[0] && grad_self != nullptr) assign(*grad_self, a);
  if (wanted[1] && grad_weight != nullptr) assign(*grad_weight, b);
  if (wanted[2] && grad_bias != nullptr) assign(*grad_bias, c);
}

// 0 stands for no divisor of the caller's own.
static std::optional<int64_t> divisor(int64_t value) {
  return value == 0 ? std::nullopt : std::optional<int64_t>(value);
}
HOSTCANN_ACLNN(AvgPool2d, (In self, Ints kernel, Ints stride, Ints padding, bool ceil,
                           bool count_padding, int64_t divide_by, int8_t, Out out)) {
  assign(out,
         at::avg_pool2d(self, kernel, stride, padding, ceil, count_padding, divisor(divide_by)));
}
HOSTCANN_ACLNN(AvgPool2dBackward,
               (In grad, In self, Ints kernel, Ints stride, Ints padding, bool ceil,
                bool count_padding, int64_t divide_by, int8_t, Out out)) {
  assign(out, at::avg_pool2d_backward(grad, self, kernel, stride, padding, ceil, count_padding,
                                      divisor(divide_by)));
}
HOSTCANN_ACLNN(AvgPool3d, (In self, Ints kernel, Ints stride, Ints padding, bool ceil,
                           bool count_padding, int64_t divide_by, Out out)) {
  assign(out,
         at::avg_pool3d(self, kernel, stride, padding, ceil, count_padding, divisor(divide_by)));
}
HOSTCANN_ACLNN(AvgPool3dBackward, (In grad, In self, Ints kernel, Ints stride, Ints padding,
                                   bool ceil, bool count_padding, int64_t divide_by, Out out)) {
  assign(out, at::avg_pool3d_backward(grad, self, kernel, stride, padding, ceil, count_padding,
                                      divisor(divide_by)));
}
HOSTCANN_ACLNN(AdaptiveAvgPool2d, (In self, Ints size, Out out)) {
  assign(out, at::_adaptive_avg_pool2d(self, size));
}
HOSTCANN_ACLNN(AdaptiveAvgPool2dBackward, (In grad, In self, Out out)) {
  assign(out, at::_adaptive_avg_pool2d_backward(grad, self));
}
HOSTCANN_ACLNN(AdaptiveAvgPool3d, (In self, Ints size, Out out)) {
  assign(out, at::_adaptive_avg_pool3d(self, size));
}
HOSTCANN_ACLNN(AdaptiveAvgPool3dBackward, (In grad, In self, Out out)) {
  assign(out, at::_adaptive_avg_pool3d_backward(grad, self));
}
HOSTCANN_ACLNN(AdaptiveMaxPool2d, (In self, Ints size, Out out, Out indices)) {
  const auto [values, places] = at::adaptive_max_pool2d(self, size);
  assign(out, values);
  assign(indices, places);
}
HOSTCANN_ACLNN(AdaptiveMaxPool2dBackward, (In grad, In self, In indices, Out out)) {
  assign(out, at::adaptive_max_pool2d_backward(grad, self, indices.to(ScalarType::Long)));
}
HOSTCANN_ACLNN(MaxPool2dWithIndices, (In self, Ints kernel, Ints stride, Ints padding,
                                      Ints dilation, bool ceil, Out out, Out indices)) {
  const auto [values, places] =
      at::max_pool2d_with_indices(self, kernel, stride, padding, dilation, ceil);
  assign(out, values);
  assign(indices, places);
}
HOSTCANN_ACLNN(MaxPool2dWithIndicesBackward,
               (In grad, In self, In indices, Ints kernel, Ints stride, Ints padding, Ints dilation,
                bool ceil, Out out)) {
  assign(out, at::max_pool2d_with_indices_backward(grad, self, kernel, stride, padding, dilation,
                                                   ceil, indices.to(ScalarType::Long)));
}

// The device's mask has a layout of its own that only the gradient reads; here the gradient
// finds the places again from its input, and the mask is zero.
HOSTCANN_ACLNN(MaxPool2dWithMask, (In self, Ints kernel, Ints stride, Ints padding, Ints dilation,
                                   bool ceil, Out out, Out mask)) {
  assign(out,
         std::get<0>(at::max_pool2d_with_indices(self, kernel, stride, padding, dilation, ceil)));
  mask.zero_();
}
HOSTCANN_ACLNN(MaxPool2dWithMaskBackward, (In grad, In self, In, Ints kernel, Ints stride,
                                           Ints padding, Ints dilation, bool ceil, Out out)) {
  const Tensor places =
      std::get<1>(at::max_pool2d_with_indices(self, kernel, stride, padding, dilation, ceil));
  assign(out, at::max_pool2d_with_indices_backward(grad, self, kernel, stride, padding, dilation,
                                                   ceil, places));
}

// Negative scales stand for none: they then follow from the sizes.
static std::optional<double> scale(double value) {
  return value > 0 ? std::optional<double>(value) : std::nullopt;
}
HOSTCANN_ACLNN(UpsampleNearest2d, (In self, Ints size, Out out)) {
  assign(out, at::upsample_nearest2d(self, size));
}
HOSTCANN_ACLNN(UpsampleNearest2dBackward,
               (In grad, Ints size, Ints input_size, double scale_h, double scale_w, Out out)) {
  assign(out,
         at::upsample_nearest2d_backward(grad, size, input_size, scale(scale_h), scale(scale_w)));
}
HOSTCANN_ACLNN(UpsampleNearest1d, (In self, Ints size, Out out)) {
  assign(out, at::upsample_nearest1d(self, size));
}
HOSTCANN_ACLNN(UpsampleBilinear2d,
               (In self, Ints size, bool align_corners, double scale_h, double scale_w, Out out)) {
  assign(out, at::upsample_bilinear2d(self, size, align_corners, scale(scale_h), scale(scale_w)));
}
HOSTCANN_ACLNN(UpsampleBilinear2dBackward, (In grad, Ints size, Ints input_size, bool align_corners,
                                            double scale_h, double scale_w, Out out)) {
  assign(out, at::upsample_bilinear2d_backward(grad, size, input_size, align_corners,
                                               scale(scale_h), scale(scale_w)));
}

}  // namespace hostcann::opapi
