// SPDX-License-Identifier: Apache-2.0
// Losses and their gradients.
#include <ATen/TensorOperators.h>
#include <ATen/core/Reduction.h>
#include <ATen/ops/_ctc_loss.h>
#include <ATen/ops/_ctc_loss_backward.h>
#include <ATen/ops/abs.h>
#include <ATen/ops/binary_cross_entropy.h>
#include <ATen/ops/binary_cross_entropy_backward.h>
#include <ATen/ops/binary_cross_entropy_with_logits.h>
#include <ATen/ops/exp.h>
#include <ATen/ops/kl_div.h>
#include <ATen/ops/l1_loss.h>
#include <ATen/ops/mse_loss.h>
#include <ATen/ops/mse_loss_backward.h>
#include <ATen/ops/nll_loss2d_backward.h>
#include <ATen/ops/nll_loss2d_forward.h>
#include <ATen/ops/nll_loss_backward.h>
#include <ATen/ops/nll_loss_forward.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/sign.h>
#include <ATen/ops/smooth_l1_loss.h>
#include <ATen/ops/smooth_l1_loss_backward.h>
#include <ATen/ops/soft_margin_loss.h>
#include <ATen/ops/soft_margin_loss_backward.h>

#include <algorithm>

#include "call.h"

namespace hostcann::opapi {
static constexpr char kFamily[] = "loss";
static constexpr Halves kHalves = Halves::widened;

#define HOSTCANN_LOSS(name, op)                                            \
  HOSTCANN_ACLNN(name, (In self, In target, int64_t reduction, Out out)) { \
    assign(out, at::op(self, target, reduction));                          \
  }
HOSTCANN_LOSS(MseLoss, mse_loss)
HOSTCANN_LOSS(L1Loss, l1_loss)
HOSTCANN_LOSS(SoftMarginLoss, soft_margin_loss)
HOSTCANN_ACLNN(SmoothL1Loss, (In self, In target, int64_t reduction, float beta, Out out)) {
  assign(out, at::smooth_l1_loss(self, target, reduction, beta));
}

HOSTCANN_ACLNN(MseLossBackward, (In grad, In self, In target, int64_t reduction, Out out)) {
  assign(out, at::mse_loss_backward(grad, self, target, reduction));
}
HOSTCANN_ACLNN(SoftMarginLossBackward, (In grad, In self, In target, int64_t reduction, Out out)) {
  assign(out, at::soft_margin_loss_backward(grad, self, target, reduction));
}
HOSTCANN_ACLNN(SmoothL1LossBackward,
               (In grad, In self, In target, int64_t reduction, float beta, Out out)) {
  assign(out, at::smooth_l1_loss_backward(grad, self, target, reduction, beta));
}

// The gradient of a mean is that of the sum over the number of elements.
static Tensor spread(const Tensor& each, int64_t reduction) {
  return reduction == at::Reduction::Mean ? each / each.numel() : each;
}
HOSTCANN_ACLNN(L1LossBackward, (In grad, In self, In target, int64_t reduction, Out out)) {
  assign(out, spread(at::sign(self - target) * grad, reduction));
}

HOSTCANN_ACLNN(NLLLoss, (In self, In target, Maybe weight, int64_t reduction, int64_t ignore,
                         Out out, Out total_weight)) {
  const auto [loss, total] =
      at::nll_loss_forward(self, target.to(ScalarType::Long), weight, reduction, ignore);
  assign(out, loss);
  total_weight.copy_(total);
}
HOSTCANN_ACLNN(NLLLossBackward, (In grad, In self, In target, Maybe weight, int64_t reduction,
                                 int64_t ignore, In total_weight, Out out)) {
  assign(out, at::nll_loss_backward(grad, self, target.to(ScalarType::Long), weight, reduction,
                                    ignore, total_weight));
}
HOSTCANN_ACLNN(NLLLoss2d, (In self, In target, Maybe weight, int64_t reduction, int64_t ignore,
                           Out out, Out total_weight)) {
  const auto [loss, total] =
      at::nll_loss2d_forward(self, target.to(ScalarType::Long), weight, reduction, ignore);
  assign(out, loss);
  total_weight.copy_(total);
}
HOSTCANN_ACLNN(NLLLoss2dBackward, (In grad, In self, In target, Maybe weight, int64_t reduction,
                                   int64_t ignore, In total_weight, Out out)) {
  assign(out, at::nll_loss2d_backward(grad, self, target.to(ScalarType::Long), weight, reduction,
                                      ignore, total_weight));
}

HOSTCANN_ACLNN(BinaryCrossEntropy, (In self, In target, Maybe weight, int64_t reduction, Out out)) {
  assign(out, at::binary_cross_entropy(self, target, weight, reduction));
}
HOSTCANN_ACLNN(BinaryCrossEntropyBackward,
               (In grad, In self, In target, Maybe weight, int64_t reduction, Out out)) {
  assign(out, at::binary_cross_entropy_backward(grad, self, target, weight, reduction));
}
HOSTCANN_ACLNN(BinaryCrossEntropyWithLogits,
               (In self, In target, Maybe weight, Maybe positive, int64_t reduction, Out out)) {
  assign(out, at::binary_cross_entropy_with_logits(self, target, weight, positive, reduction));
}
HOSTCANN_ACLNN(BinaryCrossEntropyWithLogitsBackward, (In grad, In self, In target, Maybe weight,
                                                      Maybe positive, int64_t reduction, Out out)) {
  Tensor each;
  if (positive.has_value()) {
    const Tensor t = *positive * target;
    each = (t + 1 - target) * at::sigmoid(self) - t;
  } else {
    each = at::sigmoid(self) - target;
  }
  each = each * grad;
  if (weight.has_value()) each = each * *weight;
  assign(out, spread(each, reduction));
}

HOSTCANN_ACLNN(KlDiv, (In self, In target, int64_t reduction, bool log_target, Out out)) {
  assign(out, at::kl_div(self, target, reduction, log_target));
}
HOSTCANN_ACLNN(KlDivBackward,
               (In grad, In self, In target, int64_t reduction, bool log_target, Out out)) {
  const Tensor each = log_target ? at::exp(target).neg_() : target.clamp_min(0).neg_();
  assign(out, spread(each * grad, reduction).expand_as(self));
}

// log_alpha's rows are longer than torch's, for the device's alignment.
HOSTCANN_ACLNN(CtcLoss, (In log_probabilities, In targets, Ints input_lengths, Ints target_lengths,
                         int64_t blank, bool zero_infinity, Out out, Out log_alpha)) {
  const auto [loss, alpha] = at::_ctc_loss(log_probabilities, targets, input_lengths,
                                           target_lengths, blank, zero_infinity);
  assign(out, loss);
  log_alpha.zero_();
  log_alpha.narrow(-1, 0, alpha.size(-1))
      .copy_(alpha.reshape({-1, log_alpha.size(1), alpha.size(-1)}));
}
HOSTCANN_ACLNN(CtcLossBackward,
               (In grad, In log_probabilities, In targets, Ints input_lengths, Ints target_lengths,
                In loss, In log_alpha, int64_t blank, bool zero_infinity, Out out)) {
  const int64_t longest = *std::max_element(target_lengths.begin(), target_lengths.end());
  const Tensor alpha = log_alpha.narrow(-1, 0, 2 * longest + 1).contiguous();
  assign(out, at::_ctc_loss_backward(grad, log_probabilities, targets, input_lengths,
                                     target_lengths, loss, alpha, blank, zero_infinity));
}

}  // namespace hostcann::opapi
