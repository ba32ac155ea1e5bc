// SPDX-License-Identifier: Apache-2.0
// Activations and their gradients.
#include <ATen/TensorOperators.h>
#include <ATen/ops/_log_softmax.h>
#include <ATen/ops/_log_softmax_backward_data.h>
#include <ATen/ops/_prelu_kernel.h>
#include <ATen/ops/_prelu_kernel_backward.h>
#include <ATen/ops/_softmax.h>
#include <ATen/ops/_softmax_backward_data.h>
#include <ATen/ops/celu.h>
#include <ATen/ops/clamp_min.h>
#include <ATen/ops/elu.h>
#include <ATen/ops/elu_backward.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/gelu_backward.h>
#include <ATen/ops/glu.h>
#include <ATen/ops/glu_backward.h>
#include <ATen/ops/hardshrink.h>
#include <ATen/ops/hardshrink_backward.h>
#include <ATen/ops/hardsigmoid.h>
#include <ATen/ops/hardsigmoid_backward.h>
#include <ATen/ops/hardswish.h>
#include <ATen/ops/hardswish_backward.h>
#include <ATen/ops/hardtanh.h>
#include <ATen/ops/hardtanh_backward.h>
#include <ATen/ops/leaky_relu.h>
#include <ATen/ops/leaky_relu_backward.h>
#include <ATen/ops/log_sigmoid_backward.h>
#include <ATen/ops/log_sigmoid_forward.h>
#include <ATen/ops/logit.h>
#include <ATen/ops/logit_backward.h>
#include <ATen/ops/mish.h>
#include <ATen/ops/mish_backward.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/sigmoid_backward.h>
#include <ATen/ops/silu.h>
#include <ATen/ops/silu_backward.h>
#include <ATen/ops/softplus.h>
#include <ATen/ops/softplus_backward.h>
#include <ATen/ops/softshrink.h>
#include <ATen/ops/softshrink_backward.h>
#include <ATen/ops/tanh_backward.h>
#include <ATen/ops/threshold.h>
#include <ATen/ops/threshold_backward.h>

#include "call.h"

namespace hostcann::opapi {
static constexpr char kFamily[] = "activation";
static constexpr Halves kHalves = Halves::as_they_are;

HOSTCANN_ACLNN(Relu, (In self, Out out)) { at::clamp_min_out(out, self, 0); }
HOSTCANN_ACLNN(InplaceRelu, (Out self)) { at::clamp_min_out(self, self, 0); }
HOSTCANN_ACLNN(ThresholdBackward, (In grad, In self, Number threshold, Out out)) {
  at::threshold_backward_out(out, grad, self, threshold);
}
HOSTCANN_ACLNN(Threshold, (In self, Number threshold, Number value, Out out)) {
  at::threshold_out(out, self, threshold, value);
}
HOSTCANN_ACLNN(InplaceThreshold, (Out self, Number threshold, Number value)) {
  at::threshold_out(self, self, threshold, value);
}

// 0 is the error function, 1 the approximation by tanh.
static std::string_view gelu_form(int64_t approximate) {
  TORCH_CHECK(approximate == 0 || approximate == 1,
              "approximate: expected 0 (none) or 1 (tanh), got ", approximate);
  return approximate == 0 ? "none" : "tanh";
}
HOSTCANN_ACLNN(Gelu, (In self, Out out)) { at::gelu_out(out, self); }
HOSTCANN_ACLNN(GeluV2, (In self, int64_t approximate, Out out)) {
  at::gelu_out(out, self, gelu_form(approximate));
}
HOSTCANN_ACLNN(GeluBackward, (In grad, In self, Out out)) {
  at::gelu_backward_out(out, grad, self);
}
HOSTCANN_ACLNN(GeluBackwardV2, (In grad, In self, const char* approximate, Out out)) {
  at::gelu_backward_out(out, grad, self, approximate);
}

HOSTCANN_ACLNN(Silu, (In self, Out out)) { at::silu_out(out, self); }
HOSTCANN_ACLNN(SiluBackward, (In grad, In self, Out out)) {
  at::silu_backward_out(out, grad, self);
}
HOSTCANN_ACLNN(SigmoidBackward, (In grad, In output, Out out)) {
  at::sigmoid_backward_out(out, grad, output);
}
HOSTCANN_ACLNN(TanhBackward, (In grad, In output, Out out)) {
  at::tanh_backward_out(out, grad, output);
}
HOSTCANN_ACLNN(Mish, (In self, Out out)) { at::mish_out(out, self); }
HOSTCANN_ACLNN(InplaceMish, (Out self)) { at::mish_out(self, self); }
HOSTCANN_ACLNN(MishBackward, (In grad, In self, Out out)) {
  assign(out, at::mish_backward(grad, self));
}
HOSTCANN_ACLNN(Hardswish, (In self, Out out)) { at::hardswish_out(out, self); }
HOSTCANN_ACLNN(InplaceHardswish, (Out self)) { at::hardswish_out(self, self); }
HOSTCANN_ACLNN(HardswishBackward, (In grad, In self, Out out)) {
  assign(out, at::hardswish_backward(grad, self));
}
HOSTCANN_ACLNN(HardswishBackwardV2, (In grad, In self, Out out)) {
  assign(out, at::hardswish_backward(grad, self));
}
// Of int32 the device gives the whole part of the result; torch has no such kernel.
static void hardsigmoid(In self, Out out) {
  if (self.scalar_type() == ScalarType::Int) {
    out.copy_(at::hardsigmoid(self.to(ScalarType::Float)));
  } else {
    at::hardsigmoid_out(out, self);
  }
}
static void expect_hardsigmoid(In self, Out out) {
  if (self.scalar_type() != ScalarType::Int) expect_floating(self, out);
}
static void expect_hardsigmoid_self(Out self) { expect_hardsigmoid(self, self); }
HOSTCANN_ACLNN_CHECKED(Hardsigmoid, (In self, Out out), expect_hardsigmoid) {
  hardsigmoid(self, out);
}
HOSTCANN_ACLNN_CHECKED(InplaceHardsigmoid, (Out self), expect_hardsigmoid_self) {
  hardsigmoid(self, self);
}
HOSTCANN_ACLNN(HardsigmoidBackward, (In grad, In self, Out out)) {
  at::hardsigmoid_backward_out(out, grad, self);
}
HOSTCANN_ACLNN(Hardtanh, (In self, Number min, Number max, Out out)) {
  at::hardtanh_out(out, self, min, max);
}
HOSTCANN_ACLNN(InplaceHardtanh, (Out self, Number min, Number max)) {
  at::hardtanh_out(self, self, min, max);
}
HOSTCANN_ACLNN(HardtanhBackward, (In grad, In self, Number min, Number max, Out out)) {
  at::hardtanh_backward_out(out, grad, self, min, max);
}
HOSTCANN_ACLNN(Hardshrink, (In self, Number lambda, Out out)) {
  at::hardshrink_out(out, self, lambda);
}
HOSTCANN_ACLNN(HardshrinkBackward, (In grad, In self, Number lambda, Out out)) {
  at::hardshrink_backward_out(out, grad, self, lambda);
}
static void expect_positive(Number lambda) {
  TORCH_CHECK(lambda.toDouble() >= 0, "lambda: expected 0 or more, got ", lambda);
}
static void expect_softshrink(In, Number lambda, Out) { expect_positive(lambda); }
static void expect_softshrink_backward(In, In, Number lambda, Out) { expect_positive(lambda); }
HOSTCANN_ACLNN_CHECKED(Softshrink, (In self, Number lambda, Out out), expect_softshrink) {
  at::softshrink_out(out, self, lambda);
}
HOSTCANN_ACLNN_CHECKED(SoftshrinkBackward, (In grad, In self, Number lambda, Out out),
                       expect_softshrink_backward) {
  at::softshrink_backward_out(out, grad, self, lambda);
}
HOSTCANN_ACLNN(LeakyRelu, (In self, Number slope, Out out)) {
  at::leaky_relu_out(out, self, slope);
}
HOSTCANN_ACLNN(InplaceLeakyRelu, (Out self, Number slope)) {
  at::leaky_relu_out(self, self, slope);
}
HOSTCANN_ACLNN(LeakyReluBackward, (In grad, In self, Number slope, bool self_is_result, Out out)) {
  at::leaky_relu_backward_out(out, grad, self, slope, self_is_result);
}
HOSTCANN_ACLNN(Elu, (In self, Number alpha, Number scale, Number input_scale, Out out)) {
  at::elu_out(out, self, alpha, scale, input_scale);
}
HOSTCANN_ACLNN(InplaceElu, (Out self, Number alpha, Number scale, Number input_scale)) {
  at::elu_out(self, self, alpha, scale, input_scale);
}
HOSTCANN_ACLNN(EluBackward, (In grad, Number alpha, Number scale, Number input_scale,
                             bool is_result, In self_or_result, Out out)) {
  at::elu_backward_out(out, grad, alpha, scale, input_scale, is_result, self_or_result);
}
static void expect_celu_self(Out, Number alpha) {
  TORCH_CHECK(alpha.toDouble() != 0, "alpha: expected a number other than 0, got 0");
}
static void expect_celu(In, Number alpha, Out out) { expect_celu_self(out, alpha); }
HOSTCANN_ACLNN_CHECKED(Celu, (In self, Number alpha, Out out), expect_celu) {
  assign(out, at::celu(self, alpha));
}
HOSTCANN_ACLNN_CHECKED(InplaceCelu, (Out self, Number alpha), expect_celu_self) {
  assign(self, at::celu(self, alpha));
}
HOSTCANN_ACLNN(Softplus, (In self, Number beta, Number threshold, Out out)) {
  at::softplus_out(out, self, beta, threshold);
}
HOSTCANN_ACLNN(SoftplusBackward, (In grad, In self, Number beta, Number threshold, Out out)) {
  at::softplus_backward_out(out, grad, self, beta, threshold);
}
static void expect_halves(In self, int64_t dim, Out) { expect_even(self, dim); }
HOSTCANN_ACLNN_CHECKED(Glu, (In self, int64_t dim, Out out), expect_halves) {
  at::glu_out(out, self, dim);
}
HOSTCANN_ACLNN(GluBackward, (In grad, In self, int64_t dim, Out out)) {
  at::glu_backward_out(out, grad, self, dim);
}
HOSTCANN_ACLNN(Prelu, (In self, In weight, Out out)) {
  std::vector<int64_t> sizes(static_cast<size_t>(self.dim()), 1);
  if (self.dim() > 1) sizes[1] = weight.numel();
  assign(out,
         at::_prelu_kernel(self, weight.reshape(self.dim() > 1 ? sizes : weight.sizes().vec())));
}

HOSTCANN_ACLNN(PreluBackward, (In grad, In self, In weight, Out grad_self, Out grad_weight)) {
  std::vector<int64_t> sizes(static_cast<size_t>(self.dim()), 1);
  if (self.dim() > 1) sizes[1] = weight.numel();
  const Tensor shaped = self.dim() > 1 ? weight.reshape(sizes) : weight;
  const auto [of_self, of_weight] = at::_prelu_kernel_backward(grad, self, shaped);
  assign(grad_self, of_self);
  assign(grad_weight, of_weight.sum_to_size(shaped.sizes()).reshape(weight.sizes()));
}

// The device's buffer is empty; torch's gradient uses its own only where it was filled.
HOSTCANN_ACLNN(LogSigmoid, (In self, Out out)) {
  assign(out, std::get<0>(at::log_sigmoid_forward(self)));
}
HOSTCANN_ACLNN(LogSigmoidForward, (In self, Out out, Out)) {
  assign(out, std::get<0>(at::log_sigmoid_forward(self)));
}
HOSTCANN_ACLNN(LogSigmoidBackward, (In grad, In self, In, Out out)) {
  const Tensor buffer = std::get<1>(at::log_sigmoid_forward(self));
  at::log_sigmoid_backward_out(out, grad, self, buffer);
}

// A negative eps stands for none.
static std::optional<double> given(double eps) {
  return eps < 0 ? std::nullopt : std::optional<double>(eps);
}
HOSTCANN_ACLNN(Logit, (In self, double eps, Out out)) { at::logit_out(out, self, given(eps)); }
HOSTCANN_ACLNN(LogitGrad, (In self, In grad, double eps, Out out)) {
  at::logit_backward_out(out, grad, self, given(eps));
}

// The type of the result may be wider than the input's: softmax of half into float.
static Tensor widened(In self, In out) {
  return out.scalar_type() == self.scalar_type() ? self : self.to(out.scalar_type());
}
HOSTCANN_ACLNN_CHECKED(Softmax, (In self, int64_t dim, Out out), expect_dimension) {
  at::_softmax_out(out, widened(self, out), dim, false);
}
HOSTCANN_ACLNN_CHECKED(LogSoftmax, (In self, int64_t dim, Out out), expect_dimension) {
  at::_log_softmax_out(out, widened(self, out), dim, false);
}
HOSTCANN_ACLNN(SoftmaxBackward, (In grad, In output, int64_t dim, Out out)) {
  assign(out, at::_softmax_backward_data(grad, output, dim, output.scalar_type()));
}
HOSTCANN_ACLNN(LogSoftmaxBackward, (In grad, In output, int64_t dim, Out out)) {
  assign(out, at::_log_softmax_backward_data(grad, output, dim, output.scalar_type()));
}

}  // namespace hostcann::opapi
