// SPDX-License-Identifier: Apache-2.0
// One tensor in, one of the same shape out.
#include <ATen/ops/abs.h>
#include <ATen/ops/acos.h>
#include <ATen/ops/acosh.h>
#include <ATen/ops/asin.h>
#include <ATen/ops/asinh.h>
#include <ATen/ops/atan.h>
#include <ATen/ops/atanh.h>
#include <ATen/ops/bitwise_not.h>
#include <ATen/ops/ceil.h>
#include <ATen/ops/clamp.h>
#include <ATen/ops/clamp_max.h>
#include <ATen/ops/clamp_min.h>
#include <ATen/ops/cos.h>
#include <ATen/ops/cosh.h>
#include <ATen/ops/erf.h>
#include <ATen/ops/erfc.h>
#include <ATen/ops/erfinv.h>
#include <ATen/ops/exp.h>
#include <ATen/ops/exp2.h>
#include <ATen/ops/expm1.h>
#include <ATen/ops/floor.h>
#include <ATen/ops/frac.h>
#include <ATen/ops/isfinite.h>
#include <ATen/ops/isneginf.h>
#include <ATen/ops/isposinf.h>
#include <ATen/ops/log.h>
#include <ATen/ops/log10.h>
#include <ATen/ops/log1p.h>
#include <ATen/ops/log2.h>
#include <ATen/ops/logical_not.h>
#include <ATen/ops/nan_to_num.h>
#include <ATen/ops/neg.h>
#include <ATen/ops/reciprocal.h>
#include <ATen/ops/round.h>
#include <ATen/ops/rsqrt.h>
#include <ATen/ops/sgn.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/signbit.h>
#include <ATen/ops/sin.h>
#include <ATen/ops/sinc.h>
#include <ATen/ops/sinh.h>
#include <ATen/ops/sqrt.h>
#include <ATen/ops/tan.h>
#include <ATen/ops/tanh.h>
#include <ATen/ops/trunc.h>

#include "call.h"

namespace hostcann::opapi {
static constexpr char kFamily[] = "unary";
static constexpr Halves kHalves = Halves::as_they_are;

#define HOSTCANN_UNARY(name, op) \
  HOSTCANN_ACLNN(name, (In self, Out out)) { at::op##_out(out, self); }

#define HOSTCANN_UNARY_BOTH(name, op) \
  HOSTCANN_UNARY(name, op)            \
  HOSTCANN_ACLNN(Inplace##name, (Out self)) { at::op##_out(self, self); }

// Of these the result is a fraction, which an integer output cannot hold.
#define HOSTCANN_UNARY_FLOATING(name, op)                                                        \
  HOSTCANN_ACLNN_CHECKED(name, (In self, Out out), expect_floating) { at::op##_out(out, self); } \
  HOSTCANN_ACLNN_CHECKED(Inplace##name, (Out self), expect_floating_self) {                      \
    at::op##_out(self, self);                                                                    \
  }

HOSTCANN_UNARY(Abs, abs)
HOSTCANN_UNARY(BitwiseNot, bitwise_not)
HOSTCANN_UNARY(IsNegInf, isneginf)
HOSTCANN_UNARY(IsPosInf, isposinf)
HOSTCANN_UNARY(Neg, neg)
HOSTCANN_UNARY(Round, round)
// Also that of complex numbers, which torch calls by another name.
HOSTCANN_UNARY(Sign, sgn)
HOSTCANN_UNARY(Signbit, signbit)
HOSTCANN_UNARY(Trunc, trunc)
HOSTCANN_UNARY_FLOATING(Acos, acos)
HOSTCANN_UNARY_FLOATING(Acosh, acosh)
HOSTCANN_UNARY_FLOATING(Asin, asin)
HOSTCANN_UNARY_FLOATING(Asinh, asinh)
HOSTCANN_UNARY_FLOATING(Atan, atan)
HOSTCANN_UNARY_FLOATING(Atanh, atanh)
HOSTCANN_UNARY_BOTH(Ceil, ceil)
HOSTCANN_UNARY_FLOATING(Cos, cos)
HOSTCANN_UNARY_FLOATING(Cosh, cosh)
HOSTCANN_UNARY_FLOATING(Erf, erf)
HOSTCANN_UNARY_FLOATING(Erfc, erfc)
HOSTCANN_UNARY_FLOATING(Erfinv, erfinv)
HOSTCANN_UNARY_FLOATING(Exp, exp)
HOSTCANN_UNARY_FLOATING(Exp2, exp2)
HOSTCANN_UNARY_FLOATING(Expm1, expm1)
HOSTCANN_UNARY_BOTH(Floor, floor)
HOSTCANN_UNARY_BOTH(Frac, frac)
HOSTCANN_UNARY_FLOATING(Log, log)
HOSTCANN_UNARY_FLOATING(Log10, log10)
HOSTCANN_UNARY_FLOATING(Log1p, log1p)
HOSTCANN_UNARY_FLOATING(Log2, log2)
HOSTCANN_UNARY_BOTH(LogicalNot, logical_not)
HOSTCANN_UNARY_FLOATING(Reciprocal, reciprocal)
HOSTCANN_UNARY_FLOATING(Rsqrt, rsqrt)
HOSTCANN_UNARY_FLOATING(Sigmoid, sigmoid)
HOSTCANN_UNARY_FLOATING(Sin, sin)
HOSTCANN_UNARY_FLOATING(Sinc, sinc)
HOSTCANN_UNARY_FLOATING(Sinh, sinh)
HOSTCANN_UNARY_FLOATING(Sqrt, sqrt)
HOSTCANN_UNARY_FLOATING(Tan, tan)
HOSTCANN_UNARY_FLOATING(Tanh, tanh)

HOSTCANN_ACLNN(IsFinite, (In self, Out out)) { assign(out, at::isfinite(self)); }

HOSTCANN_ACLNN(RoundDecimals, (In self, int64_t decimals, Out out)) {
  at::round_out(out, self, decimals);
}
HOSTCANN_ACLNN(InplaceRoundDecimals, (Out self, int64_t decimals)) {
  at::round_out(self, self, decimals);
}

HOSTCANN_ACLNN(NanToNum, (In self, float nan, float posinf, float neginf, Out out)) {
  at::nan_to_num_out(out, self, nan, posinf, neginf);
}
HOSTCANN_ACLNN(InplaceNanToNum, (Out self, float nan, float posinf, float neginf)) {
  at::nan_to_num_out(self, self, nan, posinf, neginf);
}

HOSTCANN_ACLNN(Clamp, (In self, MaybeNumber min, MaybeNumber max, Out out)) {
  at::clamp_out(out, self, min, max);
}
HOSTCANN_ACLNN(ClampMin, (In self, Number min, Out out)) { at::clamp_min_out(out, self, min); }
HOSTCANN_ACLNN(ClampMax, (In self, Number max, Out out)) { at::clamp_max_out(out, self, max); }
HOSTCANN_ACLNN(InplaceClampMax, (Out self, Number max)) { at::clamp_max_out(self, self, max); }
HOSTCANN_ACLNN(ClampTensor, (In self, Maybe min, Maybe max, Out out)) {
  at::clamp_out(out, self, min, max);
}
HOSTCANN_ACLNN(ClampMinTensor, (In self, In min, Out out)) { at::clamp_min_out(out, self, min); }
HOSTCANN_ACLNN(ClampMaxTensor, (In self, In max, Out out)) { at::clamp_max_out(out, self, max); }
HOSTCANN_ACLNN(InplaceClampMinTensor, (Out self, In min)) { at::clamp_min_out(self, self, min); }
HOSTCANN_ACLNN(InplaceClampMaxTensor, (Out self, In max)) { at::clamp_max_out(self, self, max); }

}  // namespace hostcann::opapi
