// SPDX-License-Identifier: Apache-2.0
// Convolutions and pooling.
#include <ATen/TensorOperators.h>
#include <ATen/ops/_adaptive_avg_pool2d.h>
#include <ATen/ops/_adaptive_avg_pool2d_backward.h>
#include <ATen/ops/_adaptive_avg_pool3d.h>
#include <ATen/ops/_adaptive_avg_pool3d_backward.h>
#include <ATen/ops/adaptive_max_pool2d.h>
#include <ATen/ops/adaptive_max_pool2d_backward.h>
#include <ATen/ops/adaptive_max_pool3d.h>
#include <ATen/ops/adaptive_max_pool3d_backward.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/avg_pool2d.h>
#include <ATen/ops/avg_pool2d_backward.h>
#include <ATen/ops/avg_pool3d.h>
#include <ATen/ops/avg_pool3d_backward.h>
#include <ATen/ops/convolution.h>
#include <ATen/ops/convolution_backward.h>
#include <ATen/ops/floor_divide.h>
#include <ATen/ops/max_pool2d_with_indices.h>
#include <ATen/ops/max_pool2d_with_indices_backward.h>
#include <ATen/ops/max_pool3d_with_indices.h>
#include <ATen/ops/max_pool3d_with_indices_backward.h>
#include <ATen/ops/max_unpool2d.h>
#include <ATen/ops/max_unpool3d.h>
#include <ATen/ops/remainder.h>

#include <algorithm>
#include <array>

#include "call.h"

namespace hostcann::opapi {
static constexpr char kFamily[] = "convolution";
static constexpr Halves kHalves = Halves::widened;

// CANN also takes a padding for each end of a dimension, torch one for both.
static std::vector<int64_t> of_both_ends(Ints padding, In weight) {
  std::vector<int64_t> both = padding.vec();
  const size_t dims = static_cast<size_t>(weight.dim()) - 2;
  if (padding.size() != 2 * dims) return both;
  both.resize(dims);
  for (size_t i = 0; i < dims; ++i) {
    both[i] = padding[2 * i];
    TORCH_CHECK(both[i] == padding[2 * i + 1],
                "padding: expected the same at both ends of a dimension, got ", padding);
  }
  return both;
}
static void expect_kernel(In, In weight, Maybe, Ints, Ints padding, Ints, bool, Ints, int64_t, Out,
                          int8_t) {
  TORCH_CHECK(weight.dim() >= 3, "weight: expected 3 to 5 dimensions, got shape ", weight.sizes());
  const Ints kernel = weight.sizes().slice(2);
  TORCH_CHECK(std::find(kernel.begin(), kernel.end(), 0) == kernel.end(),
              "weight: expected a kernel with elements, got shape ", weight.sizes());
  of_both_ends(padding, weight);
}
HOSTCANN_ACLNN_CHECKED(Convolution,
                       (In self, In weight, Maybe bias, Ints stride, Ints padding, Ints dilation,
                        bool transposed, Ints output_padding, int64_t groups, Out out, int8_t),
                       expect_kernel) {
  assign(out, at::convolution(self, weight, bias, stride, of_both_ends(padding, weight), dilation,
                              transposed, output_padding, groups));
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

HOSTCANN_ACLNN(AdaptiveMaxPool3d, (In self, Ints size, Out out, Out indices)) {
  const auto [values, places] = at::adaptive_max_pool3d(self, size);
  assign(out, values);
  assign(indices, places);
}
HOSTCANN_ACLNN(AdaptiveMaxPool3dBackward, (In grad, In self, In indices, Out out)) {
  assign(out, at::adaptive_max_pool3d_backward(grad, self, indices.to(ScalarType::Long)));
}
HOSTCANN_ACLNN(MaxPool3dWithArgmax, (In self, Ints kernel, Ints stride, Ints padding, Ints dilation,
                                     bool ceil, Out out, Out indices)) {
  const auto [values, places] =
      at::max_pool3d_with_indices(self, kernel, stride, padding, dilation, ceil);
  assign(out, values);
  assign(indices, places);
}
HOSTCANN_ACLNN(MaxPool3dWithArgmaxBackward, (In grad, In self, In indices, Ints kernel, Ints stride,
                                             Ints padding, Ints dilation, bool ceil, Out out)) {
  assign(out, at::max_pool3d_with_indices_backward(grad, self, kernel, stride, padding, dilation,
                                                   ceil, indices.to(ScalarType::Long)));
}
HOSTCANN_ACLNN(MaxUnpool2d, (In self, In indices, Ints size, Out out)) {
  assign(out, at::max_unpool2d(self, indices.to(ScalarType::Long), size));
}
HOSTCANN_ACLNN(MaxUnpool3d, (In self, In indices, Ints size, Ints stride, Ints padding, Out out)) {
  assign(out, at::max_unpool3d(self, indices.to(ScalarType::Long), size, stride, padding));
}

// torch_npu keeps a mask instead of indices: for every element of the kernel, in which outputs
// it was the maximum. The rows are longer than the outputs; how the device fills them is not
// published, here output p has byte p.
struct Window {
  int64_t kernel[2], stride[2], padding[2], dilation[2];
  int64_t width;  // of the input

  Window(In self, Ints kernel_size, Ints strides, Ints paddings, Ints dilations)
      : width(self.size(-1)) {
    for (size_t i = 0; i < 2; ++i) {
      const auto of = [i](Ints values) { return values[values.size() == 1 ? 0 : i]; };
      kernel[i] = of(kernel_size);
      stride[i] = strides.empty() ? kernel[i] : of(strides);
      padding[i] = of(paddings);
      dilation[i] = of(dilations);
    }
  }

  // Where the first element of the kernel lies for each output of a dimension.
  Tensor first(int64_t dim, int64_t outputs) const {
    return at::arange(outputs, ScalarType::Long).mul_(stride[dim]).sub_(padding[dim]);
  }

  // The element of the kernel that each index is.
  Tensor elements(In indices) const {
    const Tensor row = at::floor_divide(indices, width) - first(0, indices.size(-2)).unsqueeze(1);
    const Tensor column = at::remainder(indices, width) - first(1, indices.size(-1));
    return at::floor_divide(row, dilation[0]) * kernel[1] + at::floor_divide(column, dilation[1]);
  }

  Tensor indices(In elements) const {
    const Tensor row = at::floor_divide(elements, kernel[1]) * dilation[0] +
                       first(0, elements.size(-2)).unsqueeze(1);
    const Tensor column =
        at::remainder(elements, kernel[1]) * dilation[1] + first(1, elements.size(-1));
    return row * width + column;
  }
};

// The part of the mask that holds something: [..., elements of the kernel, outputs].
static Tensor used(In mask, int64_t elements, int64_t outputs) {
  TORCH_CHECK(mask.dim() >= 2 && mask.size(-2) == elements && mask.size(-1) >= outputs,
              "mask: expected ", elements, " rows of at least ", outputs, " bytes, got shape ",
              mask.sizes());
  return mask.narrow(-1, 0, outputs);
}
HOSTCANN_ACLNN(MaxPool2dWithMask, (In self, Ints kernel, Ints stride, Ints padding, Ints dilation,
                                   bool ceil, Out out, Out mask)) {
  const auto [values, indices] =
      at::max_pool2d_with_indices(self, kernel, stride, padding, dilation, ceil);
  assign(out, values);
  const Window window(self, kernel, stride, padding, dilation);
  const Tensor elements = window.elements(indices).flatten(-2).unsqueeze(-2);
  mask.zero_();
  used(mask, window.kernel[0] * window.kernel[1], elements.size(-1)).scatter_(-2, elements, 1);
}
HOSTCANN_ACLNN(MaxPool2dWithMaskBackward, (In grad, In self, In mask, Ints kernel, Ints stride,
                                           Ints padding, Ints dilation, bool ceil, Out out)) {
  const Window window(self, kernel, stride, padding, dilation);
  const int64_t outputs = grad.size(-2) * grad.size(-1);
  const Tensor elements = used(mask, window.kernel[0] * window.kernel[1], outputs).argmax(-2);
  assign(out,
         at::max_pool2d_with_indices_backward(grad, self, kernel, stride, padding, dilation, ceil,
                                              window.indices(elements.view(grad.sizes()))));
}

}  // namespace hostcann::opapi
