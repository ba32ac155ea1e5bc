// SPDX-License-Identifier: Apache-2.0
// The same operation on each tensor of a list, and the optimisers' steps.
#include <ATen/ops/abs.h>
#include <ATen/ops/acos.h>
#include <ATen/ops/add.h>
#include <ATen/ops/addcdiv.h>
#include <ATen/ops/addcmul.h>
#include <ATen/ops/asin.h>
#include <ATen/ops/atan.h>
#include <ATen/ops/ceil.h>
#include <ATen/ops/cos.h>
#include <ATen/ops/cosh.h>
#include <ATen/ops/div.h>
#include <ATen/ops/erf.h>
#include <ATen/ops/erfc.h>
#include <ATen/ops/exp.h>
#include <ATen/ops/expm1.h>
#include <ATen/ops/floor.h>
#include <ATen/ops/frac.h>
#include <ATen/ops/isfinite.h>
#include <ATen/ops/lerp.h>
#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/log.h>
#include <ATen/ops/log10.h>
#include <ATen/ops/log1p.h>
#include <ATen/ops/log2.h>
#include <ATen/ops/maximum.h>
#include <ATen/ops/minimum.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/neg.h>
#include <ATen/ops/pow.h>
#include <ATen/ops/reciprocal.h>
#include <ATen/ops/round.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/sign.h>
#include <ATen/ops/sin.h>
#include <ATen/ops/sinh.h>
#include <ATen/ops/sqrt.h>
#include <ATen/ops/sub.h>
#include <ATen/ops/tan.h>
#include <ATen/ops/tanh.h>
#include <ATen/ops/trunc.h>
#include <ATen/ops/zero.h>

#include <cmath>

#include "call.h"

namespace hostcann::opapi {
static constexpr char kFamily[] = "foreach";
static constexpr Halves kHalves = Halves::widened;

template <class... Lists>
static void expect_as_long(OutTensors out, const Lists&... lists) {
  TORCH_CHECK(((lists.size() == out.size()) && ...),
              "lists: expected as many elements as there are outputs, ", out.size());
}

#define HOSTCANN_FOREACH(name, op)                                         \
  HOSTCANN_ACLNN(Foreach##name, (Tensors self, OutTensors out)) {          \
    expect_as_long(out, self);                                             \
    for (size_t i = 0; i < out.size(); ++i) at::op##_out(out[i], self[i]); \
  }
HOSTCANN_FOREACH(Abs, abs)
HOSTCANN_FOREACH(Acos, acos)
HOSTCANN_FOREACH(Asin, asin)
HOSTCANN_FOREACH(Atan, atan)
HOSTCANN_FOREACH(Cos, cos)
HOSTCANN_FOREACH(Cosh, cosh)
HOSTCANN_FOREACH(Erf, erf)
HOSTCANN_FOREACH(Erfc, erfc)
HOSTCANN_FOREACH(Exp, exp)
HOSTCANN_FOREACH(Expm1, expm1)
HOSTCANN_FOREACH(Log, log)
HOSTCANN_FOREACH(Log10, log10)
HOSTCANN_FOREACH(Log1p, log1p)
HOSTCANN_FOREACH(Log2, log2)
HOSTCANN_FOREACH(Neg, neg)
HOSTCANN_FOREACH(Reciprocal, reciprocal)
HOSTCANN_FOREACH(Sigmoid, sigmoid)
HOSTCANN_FOREACH(Sign, sign)
HOSTCANN_FOREACH(Sin, sin)
HOSTCANN_FOREACH(Sinh, sinh)
HOSTCANN_FOREACH(Sqrt, sqrt)
HOSTCANN_FOREACH(Tan, tan)
HOSTCANN_FOREACH(Tanh, tanh)
HOSTCANN_ACLNN(ForeachCopy, (Tensors self, OutTensors out)) {
  expect_as_long(out, self);
  for (size_t i = 0; i < out.size(); ++i) assign(out[i], self[i]);
}
HOSTCANN_ACLNN(ForeachZeroInplace, (OutTensors self)) {
  for (const Tensor& tensor : self) tensor.zero_();
}

#define HOSTCANN_FOREACH_LIST(name, op)                                                \
  HOSTCANN_ACLNN(Foreach##name##List, (Tensors self, Tensors other, OutTensors out)) { \
    expect_as_long(out, self, other);                                                  \
    for (size_t i = 0; i < out.size(); ++i) at::op##_out(out[i], self[i], other[i]);   \
  }
#define HOSTCANN_FOREACH_NUMBER(name, suffix, op)                                        \
  HOSTCANN_ACLNN(Foreach##name##suffix, (Tensors self, Number number, OutTensors out)) { \
    expect_as_long(out, self);                                                           \
    const Tensor other = wrapped(number);                                                \
    for (size_t i = 0; i < out.size(); ++i) at::op##_out(out[i], self[i], other);        \
  }
#define HOSTCANN_FOREACH_NUMBERS(name, op)                                                     \
  HOSTCANN_ACLNN(Foreach##name##ScalarList, (Tensors self, Numbers numbers, OutTensors out)) { \
    expect_as_long(out, self, numbers);                                                        \
    for (size_t i = 0; i < out.size(); ++i) {                                                  \
      at::op##_out(out[i], self[i], wrapped(numbers[i]));                                      \
    }                                                                                          \
  }
#define HOSTCANN_FOREACH_ALL(name, op)        \
  HOSTCANN_FOREACH_NUMBER(name, ScalarV2, op) \
  HOSTCANN_FOREACH_NUMBERS(name, op)
HOSTCANN_FOREACH_ALL(Add, add)
HOSTCANN_FOREACH_NUMBER(Sub, ScalarV2, sub)
HOSTCANN_FOREACH_NUMBERS(Sub, sub)
HOSTCANN_FOREACH_ALL(Mul, mul)
HOSTCANN_FOREACH_ALL(Div, div)
HOSTCANN_FOREACH_ALL(Maximum, maximum)
HOSTCANN_FOREACH_ALL(Minimum, minimum)
HOSTCANN_FOREACH_ALL(Pow, pow)
HOSTCANN_FOREACH_LIST(Mul, mul)
HOSTCANN_FOREACH_LIST(Div, div)
HOSTCANN_FOREACH_LIST(Maximum, maximum)
HOSTCANN_FOREACH_LIST(Minimum, minimum)
HOSTCANN_FOREACH_LIST(Pow, pow)
HOSTCANN_ACLNN(ForeachPowScalarAndTensor, (Number self, Tensors exponents, OutTensors out)) {
  expect_as_long(out, exponents);
  for (size_t i = 0; i < out.size(); ++i) at::pow_out(out[i], self, exponents[i]);
}
HOSTCANN_ACLNN(ForeachAddListV2, (Tensors self, Tensors other, Number alpha, OutTensors out)) {
  expect_as_long(out, self, other);
  for (size_t i = 0; i < out.size(); ++i) at::add_out(out[i], self[i], other[i], alpha);
}
HOSTCANN_ACLNN(ForeachSubListV2, (Tensors self, Tensors other, Number alpha, OutTensors out)) {
  expect_as_long(out, self, other);
  for (size_t i = 0; i < out.size(); ++i) at::sub_out(out[i], self[i], other[i], alpha);
}
HOSTCANN_ACLNN(ForeachLerpScalar, (Tensors self, Tensors end, Number weight, OutTensors out)) {
  expect_as_long(out, self, end);
  for (size_t i = 0; i < out.size(); ++i) at::lerp_out(out[i], self[i], end[i], weight);
}
HOSTCANN_ACLNN(ForeachLerpList, (Tensors self, Tensors end, Tensors weight, OutTensors out)) {
  expect_as_long(out, self, end, weight);
  for (size_t i = 0; i < out.size(); ++i) at::lerp_out(out[i], self[i], end[i], weight[i]);
}
#define HOSTCANN_FOREACH_ADDC(name, op)                                                       \
  HOSTCANN_ACLNN(Foreach##name##ScalarV2,                                                     \
                 (Tensors self, Tensors left, Tensors right, Number value, OutTensors out)) { \
    expect_as_long(out, self, left, right);                                                   \
    for (size_t i = 0; i < out.size(); ++i) {                                                 \
      at::op##_out(out[i], self[i], left[i], right[i], value);                                \
    }                                                                                         \
  }
#define HOSTCANN_FOREACH_ADDC_LIST(name, op)                                                    \
  HOSTCANN_ACLNN(Foreach##name##ScalarList,                                                     \
                 (Tensors self, Tensors left, Tensors right, In values, OutTensors out)) {      \
    expect_as_long(out, self, left, right);                                                     \
    for (size_t i = 0; i < out.size(); ++i) {                                                   \
      at::op##_out(out[i], self[i], left[i], right[i], values[static_cast<int64_t>(i)].item()); \
    }                                                                                           \
  }
HOSTCANN_FOREACH_ADDC_LIST(Addcmul, addcmul)
HOSTCANN_FOREACH_ADDC_LIST(Addcdiv, addcdiv)
HOSTCANN_FOREACH_ADDC(Addcmul, addcmul)
HOSTCANN_FOREACH_ADDC(Addcdiv, addcdiv)
static void round_all(Tensors self, int64_t mode, OutTensors out) {
  expect_as_long(out, self);
  for (size_t i = 0; i < out.size(); ++i) {
    switch (mode) {
      case 1:
        at::round_out(out[i], self[i]);
        break;
      case 2:
        at::floor_out(out[i], self[i]);
        break;
      case 3:
        at::ceil_out(out[i], self[i]);
        break;
      case 5:
        at::trunc_out(out[i], self[i]);
        break;
      case 7:
        at::frac_out(out[i], self[i]);
        break;
      default:
        TORCH_CHECK(false,
                    "rounding mode: expected 1 (round), 2 (floor), 3 (ceil), 5 (trunc) or 7 "
                    "(fraction), got ",
                    mode);
    }
  }
}
HOSTCANN_ACLNN(ForeachRoundOffNumber, (Tensors self, In mode, OutTensors out)) {
  round_all(self, mode.reshape({}).item<int8_t>(), out);
}
HOSTCANN_ACLNN(ForeachRoundOffNumberV2, (Tensors self, Number mode, OutTensors out)) {
  round_all(self, mode.toLong(), out);
}
HOSTCANN_ACLNN(ForeachNorm, (Tensors self, Number ord, OutTensors out)) {
  expect_as_long(out, self);
  for (size_t i = 0; i < out.size(); ++i) {
    assign(out[i], at::linalg_vector_norm(self[i], ord).reshape(out[i].sizes()));
  }
}
HOSTCANN_ACLNN(ForeachNonFiniteCheckAndUnscale, (OutTensors grads, Out found, In scale)) {
  for (const Tensor& grad : grads) {
    if (!at::isfinite(grad).all().item<bool>()) found.fill_(1);
    grad.mul_(scale.reshape({}));
  }
}

// The scale shrinks after an infinity, and grows after enough steps without one.
HOSTCANN_ACLNN(AmpUpdateScale, (In scale, In tracker, In found, double growth, double backoff,
                                int64_t interval, Out next_scale, Out next_tracker)) {
  const bool infinite = found.reshape({}).item<float>() != 0;
  const int64_t steps = infinite ? 0 : tracker.reshape({}).item<int64_t>() + 1;
  const bool grows = !infinite && steps == interval;
  Tensor value = scale * (infinite ? backoff : grows ? growth : 1.0);
  // A scale that would overflow stays.
  if (grows && !at::isfinite(value).all().item<bool>()) value = scale.clone();
  assign(next_scale, value);
  next_tracker.fill_(grows ? 0 : steps);
}

// torch's own step with amsgrad and maximize, from its published formula.
HOSTCANN_ACLNN(ApplyAdamWV2, (Out self, Out average, Out square, MaybeOut max_square, In grad,
                              In step, float rate, float beta1, float beta2, float decay, float eps,
                              bool amsgrad, bool maximize)) {
  const double steps = step.reshape({}).item<double>() + 1;
  const Tensor gradient = maximize ? grad.neg() : grad;
  self.mul_(1 - static_cast<double>(rate) * decay);
  average.lerp_(gradient, 1 - static_cast<double>(beta1));
  square.mul_(beta2).addcmul_(gradient, gradient, 1 - static_cast<double>(beta2));
  const double correction1 = 1 - std::pow(static_cast<double>(beta1), steps);
  const double correction2 = std::sqrt(1 - std::pow(static_cast<double>(beta2), steps));
  Tensor largest = square;
  if (amsgrad && max_square != nullptr) {
    at::maximum_out(*max_square, *max_square, square);
    largest = *max_square;
  }
  const Tensor scale = largest.sqrt().div_(correction2).add_(eps);
  self.addcdiv_(average, scale, -static_cast<double>(rate) / correction1);
}

}  // namespace hostcann::opapi
