// SPDX-License-Identifier: Apache-2.0
// Arithmetic and bits of two operands, of which the second may be a number.
#include <ATen/ops/add.h>
#include <ATen/ops/addcdiv.h>
#include <ATen/ops/addcmul.h>
#include <ATen/ops/atan2.h>
#include <ATen/ops/bitwise_and.h>
#include <ATen/ops/bitwise_left_shift.h>
#include <ATen/ops/bitwise_or.h>
#include <ATen/ops/bitwise_right_shift.h>
#include <ATen/ops/bitwise_xor.h>
#include <ATen/ops/clamp_min.h>
#include <ATen/ops/div.h>
#include <ATen/ops/floor_divide.h>
#include <ATen/ops/fmod.h>
#include <ATen/ops/gcd.h>
#include <ATen/ops/lerp.h>
#include <ATen/ops/logaddexp.h>
#include <ATen/ops/logaddexp2.h>
#include <ATen/ops/maximum.h>
#include <ATen/ops/minimum.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/pow.h>
#include <ATen/ops/remainder.h>
#include <ATen/ops/result_type.h>
#include <ATen/ops/sub.h>
#include <ATen/ops/xlogy.h>

#include "call.h"

namespace hostcann::opapi {
static constexpr char kFamily[] = "binary";
static constexpr Halves kHalves = Halves::as_they_are;

// A number may stand for a tensor of no dimensions that was on the host. Its type is lost, but
// the output's tells: an integer tensor and a float64 give float64, with a number float32.
static Tensor operand(Number number, In self, In out) {
  Tensor tensor = wrapped(number);
  const bool integer = c10::isIntegralType(self.scalar_type(), true);
  if (integer && at::result_type(self, tensor) != out.scalar_type() &&
      !c10::isIntegralType(out.scalar_type(), true)) {
    tensor = tensor.to(out.scalar_type());
    tensor.unsafeGetTensorImpl()->set_wrapped_number(false);
  }
  return tensor;
}

// An in-place result must fit into what it is written to.
static void expect_result_in(Out self, ScalarType type) {
  TORCH_CHECK(c10::canCast(type, self.scalar_type()), "result type ", type,
              " can't be cast to the desired output type ", self.scalar_type());
}
static constexpr auto kIntoSelf = [](Out self, const auto& other, const auto&...) {
  if constexpr (std::is_same_v<decltype(other), In>) {
    expect_broadcast(self, other, self);
  } else {
    expect_result_in(self, at::result_type(self, other));
  }
};
static constexpr auto kQuotientIntoSelf = [](Out self, const auto& other, int mode) {
  kIntoSelf(self, other);
  const bool whole = c10::isIntegralType(self.scalar_type(), true);
  if (mode == 0 && whole) expect_result_in(self, ScalarType::Float);
};
static constexpr auto kAllIntoSelf = [](Out self, In first, const auto&... more) {
  kIntoSelf(self, first);
  const auto fits = [&self](const auto& other) {
    if constexpr (std::is_same_v<decltype(other), In>) kIntoSelf(self, other);
  };
  (fits(more), ...);
};
// The same for an output of its own.
static constexpr auto kIntoOut = [](In self, In other, Number, Out out) {
  expect_broadcast(self, other, out);
};

#define HOSTCANN_BINARY(name, op)                                                \
  HOSTCANN_ACLNN_CHECKED(name, (In self, In other, Out out), expect_broadcast) { \
    at::op##_out(out, self, other);                                              \
  }

#define HOSTCANN_BINARY_BOTH(name, op)                                     \
  HOSTCANN_BINARY(name, op)                                                \
  HOSTCANN_ACLNN_CHECKED(Inplace##name, (Out self, In other), kIntoSelf) { \
    at::op##_out(self, self, other);                                       \
  }

#define HOSTCANN_WITH_NUMBER(name, op)                     \
  HOSTCANN_ACLNN(name, (In self, Number other, Out out)) { \
    at::op##_out(out, self, operand(other, self, out));    \
  }

#define HOSTCANN_WITH_NUMBER_BOTH(name, op)                                    \
  HOSTCANN_WITH_NUMBER(name, op)                                               \
  HOSTCANN_ACLNN_CHECKED(Inplace##name, (Out self, Number other), kIntoSelf) { \
    at::op##_out(self, self, wrapped(other));                                  \
  }

#define HOSTCANN_SCALED(name, op)                                                               \
  HOSTCANN_ACLNN_CHECKED(name, (In self, In other, Number alpha, Out out), kIntoOut) {          \
    at::op##_out(out, self, other, alpha);                                                      \
  }                                                                                             \
  HOSTCANN_ACLNN(name##s, (In self, Number other, Number alpha, Out out)) {                     \
    at::op##_out(out, self, operand(other, self, out), alpha);                                  \
  }                                                                                             \
  HOSTCANN_ACLNN_CHECKED(Inplace##name, (Out self, In other, Number alpha), kIntoSelf) {        \
    at::op##_out(self, self, other, alpha);                                                     \
  }                                                                                             \
  HOSTCANN_ACLNN_CHECKED(Inplace##name##s, (Out self, Number other, Number alpha), kIntoSelf) { \
    at::op##_out(self, self, wrapped(other), alpha);                                            \
  }

HOSTCANN_SCALED(Add, add)
HOSTCANN_SCALED(Sub, sub)
HOSTCANN_ACLNN(Rsub, (In self, In other, Number alpha, Out out)) {
  at::sub_out(out, other, self, alpha);
}
HOSTCANN_ACLNN(Rsubs, (In self, Number other, Number alpha, Out out)) {
  at::sub_out(out, operand(other, self, out), self, alpha);
}
HOSTCANN_ACLNN(AddV3, (Number self, In other, Number alpha, Out out)) {
  at::add_out(out, operand(self, other, out), other, alpha);
}
HOSTCANN_ACLNN_CHECKED(AddRelu, (In self, In other, Number alpha, Out out), kIntoOut) {
  at::add_out(out, self, other, alpha);
  at::clamp_min_out(out, out, 0);
}
HOSTCANN_ACLNN_CHECKED(InplaceAddRelu, (Out self, In other, Number alpha), kIntoSelf) {
  at::add_out(self, self, other, alpha);
  at::clamp_min_out(self, self, 0);
}

HOSTCANN_BINARY_BOTH(Mul, mul)
HOSTCANN_BINARY(Div, div)
HOSTCANN_ACLNN_CHECKED(InplaceDiv, (Out self, In other),
                       [](Out self, In other) { kQuotientIntoSelf(self, other, 0); }) {
  at::div_out(self, self, other);
}
HOSTCANN_BINARY_BOTH(FloorDivide, floor_divide)
HOSTCANN_BINARY_BOTH(FmodTensor, fmod)
HOSTCANN_BINARY_BOTH(RemainderTensorTensor, remainder)
HOSTCANN_BINARY_BOTH(PowTensorTensor, pow)
HOSTCANN_BINARY_BOTH(Atan2, atan2)
HOSTCANN_BINARY_BOTH(BitwiseAndTensor, bitwise_and)
HOSTCANN_BINARY(BitwiseOrTensor, bitwise_or)
HOSTCANN_BINARY_BOTH(BitwiseXorTensor, bitwise_xor)
HOSTCANN_BINARY(LeftShift, bitwise_left_shift)
HOSTCANN_BINARY(RightShift, bitwise_right_shift)
HOSTCANN_BINARY(Gcd, gcd)
HOSTCANN_BINARY(Maximum, maximum)
HOSTCANN_BINARY(Minimum, minimum)
HOSTCANN_BINARY(LogAddExp, logaddexp)
HOSTCANN_BINARY(LogAddExp2, logaddexp2)
HOSTCANN_BINARY(XLogYTensor, xlogy)

HOSTCANN_WITH_NUMBER_BOTH(Muls, mul)
HOSTCANN_WITH_NUMBER_BOTH(Divs, div)
HOSTCANN_WITH_NUMBER_BOTH(FloorDivides, floor_divide)
HOSTCANN_WITH_NUMBER_BOTH(FmodScalar, fmod)
HOSTCANN_WITH_NUMBER_BOTH(RemainderTensorScalar, remainder)
HOSTCANN_WITH_NUMBER_BOTH(BitwiseAndScalar, bitwise_and)
HOSTCANN_WITH_NUMBER(BitwiseOrScalar, bitwise_or)
HOSTCANN_WITH_NUMBER_BOTH(BitwiseXorScalar, bitwise_xor)
HOSTCANN_WITH_NUMBER(LeftShifts, bitwise_left_shift)
HOSTCANN_WITH_NUMBER_BOTH(XLogYScalarOther, xlogy)
HOSTCANN_ACLNN(XLogYScalarSelf, (Number self, In other, Out out)) {
  at::xlogy_out(out, operand(self, other, out), other);
}
HOSTCANN_ACLNN(RemainderScalarTensor, (Number self, In other, Out out)) {
  at::remainder_out(out, operand(self, other, out), other);
}

static void expect_power_self(Out self, Number exponent) {
  const bool integers = c10::isIntegralType(self.scalar_type(), true) && exponent.isIntegral(true);
  TORCH_CHECK(!integers || exponent.toLong() >= 0,
              "exponent: expected 0 or more for integers, got ", exponent);
}
static void expect_power(In self, Number exponent, Out) {
  Tensor base = self;
  expect_power_self(base, exponent);
}
HOSTCANN_ACLNN_CHECKED(PowTensorScalar, (In self, Number exponent, Out out), expect_power) {
  at::pow_out(out, self, exponent);
}
HOSTCANN_ACLNN_CHECKED(InplacePowTensorScalar, (Out self, Number exponent), expect_power_self) {
  at::pow_out(self, self, exponent);
}
HOSTCANN_ACLNN(PowScalarTensor, (Number self, In exponent, Out out)) {
  at::pow_out(out, self, exponent);
}

static std::optional<std::string_view> rounding(int mode) {
  TORCH_CHECK(mode >= 0 && mode <= 2,
              "rounding mode: expected 0 (none), 1 (trunc) or 2 (floor), got ", mode);
  if (mode == 0) return std::nullopt;
  return mode == 1 ? "trunc" : "floor";
}
HOSTCANN_ACLNN(DivMod, (In self, In other, int mode, Out out)) {
  at::div_out(out, self, other, rounding(mode));
}
HOSTCANN_ACLNN(DivMods, (In self, Number other, int mode, Out out)) {
  at::div_out(out, self, operand(other, self, out), rounding(mode));
}
HOSTCANN_ACLNN_CHECKED(InplaceDivMod, (Out self, In other, int mode), kQuotientIntoSelf) {
  at::div_out(self, self, other, rounding(mode));
}
HOSTCANN_ACLNN_CHECKED(InplaceDivMods, (Out self, Number other, int mode), kQuotientIntoSelf) {
  at::div_out(self, self, wrapped(other), rounding(mode));
}

HOSTCANN_ACLNN(Lerp, (In self, In end, In weight, Out out)) {
  at::lerp_out(out, self, end, weight);
}
HOSTCANN_ACLNN_CHECKED(InplaceLerp, (Out self, In end, In weight), kAllIntoSelf) {
  at::lerp_out(self, self, end, weight);
}
HOSTCANN_ACLNN(Lerps, (In self, In end, Number weight, Out out)) {
  at::lerp_out(out, self, end, weight);
}
HOSTCANN_ACLNN_CHECKED(InplaceLerps, (Out self, In end, Number weight), kAllIntoSelf) {
  at::lerp_out(self, self, end, weight);
}

HOSTCANN_ACLNN(Addcmul, (In self, In tensor1, In tensor2, Number value, Out out)) {
  at::addcmul_out(out, self, tensor1, tensor2, value);
}
HOSTCANN_ACLNN_CHECKED(InplaceAddcmul, (Out self, In tensor1, In tensor2, Number value),
                       kAllIntoSelf) {
  at::addcmul_out(self, self, tensor1, tensor2, value);
}
HOSTCANN_ACLNN(Addcdiv, (In self, In tensor1, In tensor2, Number value, Out out)) {
  at::addcdiv_out(out, self, tensor1, tensor2, value);
}
HOSTCANN_ACLNN_CHECKED(InplaceAddcdiv, (Out self, In tensor1, In tensor2, Number value),
                       kAllIntoSelf) {
  at::addcdiv_out(self, self, tensor1, tensor2, value);
}

}  // namespace hostcann::opapi
