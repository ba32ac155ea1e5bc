// SPDX-License-Identifier: Apache-2.0
// Comparison and logic.
#include <ATen/ops/eq.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/fill.h>
#include <ATen/ops/ge.h>
#include <ATen/ops/gt.h>
#include <ATen/ops/isclose.h>
#include <ATen/ops/isin.h>
#include <ATen/ops/le.h>
#include <ATen/ops/logical_and.h>
#include <ATen/ops/logical_or.h>
#include <ATen/ops/logical_xor.h>
#include <ATen/ops/lt.h>
#include <ATen/ops/ne.h>
#include <ATen/ops/where.h>

#include "call.h"

namespace hostcann::opapi {
static constexpr char kFamily[] = "compare";
static constexpr Halves kHalves = Halves::as_they_are;

#define HOSTCANN_COMPARE(name, op)                                                                 \
  HOSTCANN_ACLNN(name##Tensor, (In self, In other, Out out)) { at::op##_out(out, self, other); }   \
  HOSTCANN_ACLNN(name##Scalar, (In self, Number other, Out out)) {                                 \
    at::op##_out(out, self, other);                                                                \
  }                                                                                                \
  HOSTCANN_ACLNN(Inplace##name##Tensor, (Out self, In other)) { at::op##_out(self, self, other); } \
  HOSTCANN_ACLNN(Inplace##name##Scalar, (Out self, Number other)) {                                \
    at::op##_out(self, self, other);                                                               \
  }

HOSTCANN_COMPARE(Eq, eq)
HOSTCANN_COMPARE(Ne, ne)
HOSTCANN_COMPARE(Lt, lt)
HOSTCANN_COMPARE(Le, le)
HOSTCANN_COMPARE(Gt, gt)
HOSTCANN_COMPARE(Ge, ge)

#define HOSTCANN_LOGICAL(name, op) \
  HOSTCANN_ACLNN(name, (In self, In other, Out out)) { at::op##_out(out, self, other); }

HOSTCANN_LOGICAL(LogicalAnd, logical_and)
HOSTCANN_LOGICAL(LogicalOr, logical_or)
HOSTCANN_LOGICAL(LogicalXor, logical_xor)
HOSTCANN_ACLNN(InplaceLogicalAnd, (Out self, In other)) { at::logical_and_out(self, self, other); }
HOSTCANN_ACLNN(InplaceLogicalOr, (Out self, In other)) { at::logical_or_out(self, self, other); }

// torch_npu sends tensors of different shapes too; they are not equal.
HOSTCANN_ACLNN(Equal, (In self, In other, Out out)) { out.fill_(at::equal(self, other)); }

HOSTCANN_ACLNN(IsClose, (In self, In other, double rtol, double atol, bool equal_nan, Out out)) {
  assign(out, at::isclose(self, other, rtol, atol, equal_nan));
}

HOSTCANN_ACLNN(IsInScalarTensor,
               (Number element, In test_elements, bool assume_unique, bool invert, Out out)) {
  at::isin_out(out, element, test_elements, assume_unique, invert);
}
HOSTCANN_ACLNN(IsInTensorScalar,
               (In elements, Number test_element, bool assume_unique, bool invert, Out out)) {
  at::isin_out(out, elements, test_element, assume_unique, invert);
}

HOSTCANN_ACLNN(SWhere, (In condition, In self, In other, Out out)) {
  at::where_out(out, condition, self, other);
}

}  // namespace hostcann::opapi
