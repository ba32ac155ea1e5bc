// SPDX-License-Identifier: Apache-2.0
// Products of matrices. The cube unit's precision modes (int8_t) have no counterpart here:
// products are computed in the operands' type.
#include <ATen/ops/addbmm.h>
#include <ATen/ops/addmm.h>
#include <ATen/ops/addmv.h>
#include <ATen/ops/addr.h>
#include <ATen/ops/baddbmm.h>
#include <ATen/ops/bmm.h>
#include <ATen/ops/dot.h>
#include <ATen/ops/inverse.h>
#include <ATen/ops/linalg_cross.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/mv.h>

#include "call.h"

namespace hostcann::opapi {
static constexpr char kFamily[] = "matmul";

HOSTCANN_ACLNN(Mm, (In self, In other, Out out, int8_t)) { at::mm_out(out, self, other); }
HOSTCANN_ACLNN(Matmul, (In self, In other, Out out, int8_t)) { at::matmul_out(out, self, other); }
HOSTCANN_ACLNN(BatchMatMul, (In self, In other, Out out, int8_t)) { at::bmm_out(out, self, other); }
HOSTCANN_ACLNN(Mv, (In self, In vector, Out out, int8_t)) { at::mv_out(out, self, vector); }
HOSTCANN_ACLNN(Dot, (In self, In other, Out out)) { assign(out, at::dot(self, other)); }
HOSTCANN_ACLNN(Addmm, (In self, In left, In right, Number beta, Number alpha, Out out, int8_t)) {
  at::addmm_out(out, self, left, right, beta, alpha);
}
HOSTCANN_ACLNN(InplaceAddmm, (Out self, In left, In right, Number beta, Number alpha, int8_t)) {
  self.addmm_(left, right, beta, alpha);
}
HOSTCANN_ACLNN(Addbmm, (In self, In left, In right, Number beta, Number alpha, Out out, int8_t)) {
  at::addbmm_out(out, self, left, right, beta, alpha);
}
HOSTCANN_ACLNN(Baddbmm, (In self, In left, In right, Number beta, Number alpha, Out out, int8_t)) {
  at::baddbmm_out(out, self, left, right, beta, alpha);
}
HOSTCANN_ACLNN(Addmv, (In self, In matrix, In vector, Number alpha, Number beta, Out out, int8_t)) {
  at::addmv_out(out, self, matrix, vector, beta, alpha);
}
HOSTCANN_ACLNN(Addr, (In self, In left, In right, MaybeNumber beta, MaybeNumber alpha, Out out)) {
  at::addr_out(out, self, left, right, beta.value_or(1), alpha.value_or(1));
}
HOSTCANN_ACLNN(InplaceAddr, (Out self, In left, In right, MaybeNumber beta, MaybeNumber alpha)) {
  self.addr_(left, right, beta.value_or(1), alpha.value_or(1));
}
HOSTCANN_ACLNN(Inverse, (In self, Out out)) { assign(out, at::inverse(self)); }
HOSTCANN_ACLNN(LinalgCross, (In self, In other, int64_t dim, Out out)) {
  at::linalg_cross_out(out, self, other, dim);
}

}  // namespace hostcann::opapi
