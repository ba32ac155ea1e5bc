// SPDX-License-Identifier: Apache-2.0
// Activations of one half of a tensor that gate the other half.
#include <ATen/ops/silu.h>
#include <ATen/ops/silu_backward.h>

#include <vector>

#include "call.h"

namespace hostcann::opapi {
static constexpr char kFamily[] = "gated";
static constexpr Halves kHalves = Halves::widened;

static void expect_halves(In self, int64_t dim, Out) { expect_even(self, dim); }
// x · sigmoid(x) of the first half, times the second half.
HOSTCANN_ACLNN_CHECKED(SwiGlu, (In self, int64_t dim, Out out), expect_halves) {
  const std::vector<Tensor> halves = self.chunk(2, dim);
  assign(out, at::silu(halves[0]).mul_(halves[1]));
}
HOSTCANN_ACLNN(SwiGluGrad, (In grad, In self, int64_t dim, Out out)) {
  const std::vector<Tensor> halves = self.chunk(2, dim);
  const std::vector<Tensor> grads = out.chunk(2, dim);
  grads[0].copy_(at::silu_backward(grad * halves[1], halves[0]));
  grads[1].copy_(grad * at::silu(halves[0]));
}

}  // namespace hostcann::opapi
