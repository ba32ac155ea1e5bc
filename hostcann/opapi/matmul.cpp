// SPDX-License-Identifier: Apache-2.0
// Products of matrices, and what solves and decomposes them. The cube unit's precision modes
// (int8_t) have no counterpart here: products are computed in the operands' type.
#include <ATen/ExpandUtils.h>
#include <ATen/ops/_cdist_backward.h>
#include <ATen/ops/_cdist_forward.h>
#include <ATen/ops/addbmm.h>
#include <ATen/ops/addmm.h>
#include <ATen/ops/addmv.h>
#include <ATen/ops/addr.h>
#include <ATen/ops/baddbmm.h>
#include <ATen/ops/bmm.h>
#include <ATen/ops/dot.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/inverse.h>
#include <ATen/ops/linalg_cholesky.h>
#include <ATen/ops/linalg_cross.h>
#include <ATen/ops/linalg_qr.h>
#include <ATen/ops/linalg_slogdet.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/mv.h>
#include <ATen/ops/triangular_solve.h>

#include "call.h"

namespace hostcann::opapi {
static constexpr char kFamily[] = "matmul";
static constexpr Halves kHalves = Halves::as_they_are;

// CANN brings operands of different types to one, torch refuses them.
template <typename Product, typename... Operands>
static void in_one_type(Out out, Product product, const Operands&... operands) {
  ScalarType type = out.scalar_type();
  const bool mixed = ((operands.scalar_type() != type) || ...);
  if (!mixed) {
    product(out, operands...);
    return;
  }
  type = ScalarType::Undefined;
  for (const ScalarType each : {operands.scalar_type()...}) {
    type = type == ScalarType::Undefined ? each : c10::promoteTypes(type, each);
  }
  at::Tensor result = at::empty({0}, out.options().dtype(type));
  product(result, operands.to(type)...);
  assign(out, result);
}
using Product = at::Tensor& (*)(at::Tensor&, In, In);

static void expect_factors(In left, In right) {
  if (left.dim() == 0 || right.dim() == 0) return;
  TORCH_CHECK(left.size(-1) == right.size(right.dim() == 1 ? 0 : -2),
              "mat2: expected as many rows as self has columns, got shapes ", left.sizes(), " and ",
              right.sizes());
}
static void expect_product(In self, In other, Out, int8_t) { expect_factors(self, other); }
static void expect_sum(In self, In left, In right, Number, Number, Out out, int8_t) {
  expect_factors(left, right);
  TORCH_CHECK(at::is_expandable_to(self.sizes(), out.sizes()),
              "self: expected a shape that broadcasts to the output's, ", out.sizes(), ", got ",
              self.sizes());
}

HOSTCANN_ACLNN_CHECKED(Mm, (In self, In other, Out out, int8_t), expect_product) {
  in_one_type(out, Product(&at::mm_out), self, other);
}
HOSTCANN_ACLNN_CHECKED(Matmul, (In self, In other, Out out, int8_t), expect_product) {
  in_one_type(out, Product(&at::matmul_out), self, other);
}
// A batch of one serves them all.
HOSTCANN_ACLNN_CHECKED(BatchMatMul, (In self, In other, Out out, int8_t), expect_product) {
  in_one_type(out, Product(&at::matmul_out), self, other);
}
HOSTCANN_ACLNN(Mv, (In self, In vector, Out out, int8_t)) {
  in_one_type(out, Product(&at::mv_out), self, vector);
}
HOSTCANN_ACLNN(Dot, (In self, In other, Out out)) {
  in_one_type(out, Product(&at::dot_out), self, other);
}
HOSTCANN_ACLNN_CHECKED(Addmm,
                       (In self, In left, In right, Number beta, Number alpha, Out out, int8_t),
                       expect_sum) {
  const auto addmm = [&](at::Tensor& to, In sum, In a, In b) {
    at::addmm_out(to, sum, a, b, beta, alpha);
  };
  in_one_type(out, addmm, self, left, right);
}
HOSTCANN_ACLNN(InplaceAddmm, (Out self, In left, In right, Number beta, Number alpha, int8_t)) {
  const auto addmm = [&](at::Tensor& to, In sum, In a, In b) {
    at::addmm_out(to, sum, a, b, beta, alpha);
  };
  in_one_type(self, addmm, self, left, right);
}
HOSTCANN_ACLNN(Addbmm, (In self, In left, In right, Number beta, Number alpha, Out out, int8_t)) {
  const auto addbmm = [&](at::Tensor& to, In sum, In a, In b) {
    at::addbmm_out(to, sum, a, b, beta, alpha);
  };
  in_one_type(out, addbmm, self, left, right);
}
HOSTCANN_ACLNN_CHECKED(Baddbmm,
                       (In self, In left, In right, Number beta, Number alpha, Out out, int8_t),
                       expect_sum) {
  const auto baddbmm = [&](at::Tensor& to, In sum, In a, In b) {
    at::baddbmm_out(to, sum, a, b, beta, alpha);
  };
  in_one_type(out, baddbmm, self, left, right);
}
HOSTCANN_ACLNN(Addmv, (In self, In matrix, In vector, Number alpha, Number beta, Out out, int8_t)) {
  const auto addmv = [&](at::Tensor& to, In sum, In a, In b) {
    at::addmv_out(to, sum, a, b, beta, alpha);
  };
  in_one_type(out, addmv, self, matrix, vector);
}
HOSTCANN_ACLNN(Addr, (In self, In left, In right, MaybeNumber beta, MaybeNumber alpha, Out out)) {
  at::addr_out(out, self, left, right, beta.value_or(1), alpha.value_or(1));
}
HOSTCANN_ACLNN(InplaceAddr, (Out self, In left, In right, MaybeNumber beta, MaybeNumber alpha)) {
  self.addr_(left, right, beta.value_or(1), alpha.value_or(1));
}
// torch says of a half that it is too imprecise, not that it has no kernel.
HOSTCANN_ACLNN(Inverse, (In self, Out out)) {
  assign(out, at::inverse(is_half(self) ? self.to(ScalarType::Float) : self));
}
HOSTCANN_ACLNN(LinalgCross, (In self, In other, int64_t dim, Out out)) {
  at::linalg_cross_out(out, self, other, dim);
}

HOSTCANN_ACLNN(LinalgCholesky, (In self, bool upper, Out out)) {
  assign(out, at::linalg_cholesky(self, upper));
}
// 0 gives thin matrices, 1 whole ones, 2 only the second.
HOSTCANN_ACLNN(LinalgQr, (In self, int64_t mode, Out q, Out r)) {
  static constexpr std::string_view kModes[] = {"reduced", "complete", "r"};
  TORCH_CHECK(mode >= 0 && mode <= 2, "mode: expected 0 to 2, got ", mode);
  const auto [left, right] = at::linalg_qr(self, kModes[mode]);
  if (mode != 2) assign(q, left);
  assign(r, right);
}
HOSTCANN_ACLNN(TriangularSolve,
               (In self, In matrix, bool upper, bool transpose, bool unit, Out out, Out copy)) {
  const auto [solution, clone] = at::triangular_solve(self, matrix, upper, transpose, unit);
  assign(out, solution);
  assign(copy, clone);
}
HOSTCANN_ACLNN(Slogdet, (In self, Out sign, Out log)) {
  const auto [of_sign, of_log] = at::linalg_slogdet(self);
  assign(sign, of_sign);
  assign(log, of_log);
}
HOSTCANN_ACLNN(Cdist, (In left, In right, float p, int64_t mode, Out out)) {
  assign(out, at::_cdist_forward(left, right, p, mode));
}
HOSTCANN_ACLNN(CdistBackward, (In grad, In left, In right, In distance, float p, Out out)) {
  assign(out, at::_cdist_backward(grad, left, right, p, distance));
}

}  // namespace hostcann::opapi
