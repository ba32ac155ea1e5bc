// SPDX-License-Identifier: Apache-2.0
// Normalisations and their gradients.
#include <ATen/TensorOperators.h>
#include <ATen/native/layer_norm.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/native_batch_norm.h>
#include <ATen/ops/native_batch_norm_backward.h>
#include <ATen/ops/native_group_norm.h>
#include <ATen/ops/native_group_norm_backward.h>
#include <ATen/ops/native_layer_norm.h>
#include <ATen/ops/native_layer_norm_backward.h>
#include <ATen/ops/rsqrt.h>

#include <array>

#include "call.h"

namespace hostcann::opapi {
static constexpr char kFamily[] = "norm";
static constexpr Halves kHalves = Halves::widened;

static void assign_if(MaybeOut out, In value) {
  if (out != nullptr && value.defined()) assign(*out, value);
}

static std::array<bool, 3> three(Bools mask) {
  TORCH_CHECK(mask.size() == 3, "output mask: expected 3 values, got ", mask.size());
  return {mask[0] != 0, mask[1] != 0, mask[2] != 0};
}

// The statistics' type and shape are the caller's choice: float for half inputs, any rank.
static void assign_statistics(MaybeOut out, In value) {
  if (out != nullptr && value.numel() == out->numel()) out->copy_(value.reshape(out->sizes()));
}

// torch makes a result of its own, whose pages are new and which is then copied: for a large one
// that costs as much as the norm. Pieces of rows that stay in the cache cost next to nothing.
static constexpr int64_t kPieceElements = 1 << 18;

static void layer_norm(In self, Ints shape, Maybe weight, Maybe bias, double eps, Out out,
                       MaybeOut mean, MaybeOut rstd) {
  if (self.numel() <= kPieceElements || !self.is_contiguous() || !out.is_contiguous()) {
    const auto [normal, average, inverse] = at::native_layer_norm(self, shape, weight, bias, eps);
    assign(out, normal);
    assign_statistics(mean, average);
    assign_statistics(rstd, inverse);
    return;
  }
  const auto given = [](Maybe tensor) { return tensor.value_or(Tensor()); };
  const auto [rows, columns] =
      at::native::_check_layer_norm_inputs(self, shape, given(weight), given(bias));
  std::vector<int64_t> piece_shape = shape.vec();
  piece_shape.insert(piece_shape.begin(), rows);
  const Tensor from = self.view(piece_shape), to = out.view(piece_shape);
  const int64_t step = std::max<int64_t>(1, kPieceElements / columns);
  std::vector<Tensor> averages, inverses;
  for (int64_t row = 0; row < rows; row += step) {
    const int64_t count = std::min(step, rows - row);
    const auto [normal, average, inverse] =
        at::native_layer_norm(from.narrow(0, row, count), shape, weight, bias, eps);
    to.narrow(0, row, count).copy_(normal);
    averages.push_back(average);
    inverses.push_back(inverse);
  }
  assign_statistics(mean, at::cat(averages));
  assign_statistics(rstd, at::cat(inverses));
}
HOSTCANN_ACLNN(LayerNorm, (In self, Ints shape, Maybe weight, Maybe bias, double eps, Out out,
                           MaybeOut mean, MaybeOut rstd)) {
  layer_norm(self, shape, weight, bias, eps, out, mean, rstd);
}
HOSTCANN_ACLNN(FastLayerNorm, (In self, Ints shape, Maybe weight, Maybe bias, double eps, Out out,
                               MaybeOut mean, MaybeOut rstd)) {
  layer_norm(self, shape, weight, bias, eps, out, mean, rstd);
}

// torch's kernel takes statistics of the input's type, or of float with float weights.
static ScalarType statistics_type(In self, Maybe weight) {
  return weight.has_value() && weight->defined() ? weight->scalar_type() : self.scalar_type();
}
HOSTCANN_ACLNN(LayerNormBackward,
               (In grad, In self, Ints shape, In mean, In rstd, Maybe weight, Maybe bias,
                Bools mask, MaybeOut grad_self, MaybeOut grad_weight, MaybeOut grad_bias)) {
  const ScalarType type = statistics_type(self, weight);
  const auto [a, b, c] = at::native_layer_norm_backward(grad, self, shape, mean.to(type),
                                                        rstd.to(type), weight, bias, three(mask));
  assign_if(grad_self, a);
  assign_if(grad_weight, b);
  assign_if(grad_bias, c);
}

HOSTCANN_ACLNN(GroupNorm, (In self, Maybe weight, Maybe bias, int64_t n, int64_t c, int64_t hxw,
                           int64_t group, double eps, Out out, MaybeOut mean, MaybeOut rstd)) {
  const auto [normal, average, inverse] =
      at::native_group_norm(self, weight, bias, n, c, hxw, group, eps);
  assign(out, normal);
  assign_statistics(mean, average);
  assign_statistics(rstd, inverse);
}
HOSTCANN_ACLNN(GroupNormBackward, (In grad, In self, In mean, In rstd, Maybe weight, int64_t n,
                                   int64_t c, int64_t hxw, int64_t group, Bools mask,
                                   MaybeOut grad_self, MaybeOut grad_weight, MaybeOut grad_bias)) {
  const auto [a, b, d] = at::native_group_norm_backward(
      grad.contiguous(), self.contiguous(), mean, rstd, weight, n, c, hxw, group, three(mask));
  assign_if(grad_self, a);
  assign_if(grad_weight, b);
  assign_if(grad_bias, d);
}

HOSTCANN_ACLNN(BatchNorm, (In self, Maybe weight, Maybe bias, MaybeOut running_mean,
                           MaybeOut running_var, bool training, double momentum, double eps,
                           Out out, MaybeOut save_mean, MaybeOut save_invstd)) {
  const auto optional = [](MaybeOut tensor) {
    return tensor == nullptr ? std::nullopt : std::optional<Tensor>(*tensor);
  };
  const auto [normal, mean, invstd] = at::native_batch_norm(
      self, weight, bias, optional(running_mean), optional(running_var), training, momentum, eps);
  assign(out, normal);
  assign_statistics(save_mean, mean);
  assign_statistics(save_invstd, invstd);
}
HOSTCANN_ACLNN(BatchNormBackward,
               (In grad, In self, Maybe weight, Maybe running_mean, Maybe running_var,
                Maybe save_mean, Maybe save_invstd, bool training, double eps, Bools mask,
                MaybeOut grad_self, MaybeOut grad_weight, MaybeOut grad_bias)) {
  const auto [a, b, c] =
      at::native_batch_norm_backward(grad, self, weight, running_mean, running_var, save_mean,
                                     save_invstd, training, eps, three(mask));
  assign_if(grad_self, a);
  assign_if(grad_weight, b);
  assign_if(grad_bias, c);
}

// The scale is applied in float whatever the input's type, as the device does.
static std::vector<int64_t> trailing(In self, In weight) {
  std::vector<int64_t> dims;
  for (int64_t i = self.dim() - weight.dim(); i < self.dim(); ++i) dims.push_back(i);
  return dims;
}
static void rms_norm(In self, In weight, double eps, Out out, MaybeOut rstd) {
  const Tensor wide = self.to(ScalarType::Float);
  const Tensor inverse = at::rsqrt(wide.square().mean(trailing(self, weight), true).add_(eps));
  assign(out, (wide * inverse).mul_(weight));
  assign_statistics(rstd, inverse);
}
HOSTCANN_ACLNN(RmsNorm, (In self, In weight, double eps, Out out, MaybeOut rstd)) {
  rms_norm(self, weight, eps, out, rstd);
}
HOSTCANN_ACLNN(AddRmsNorm,
               (In left, In right, In weight, double eps, Out out, MaybeOut rstd, Out sum)) {
  assign(sum, left + right);
  rms_norm(sum, weight, eps, out, rstd);
}
HOSTCANN_ACLNN(RmsNormGrad,
               (In grad, In self, In rstd, In weight, Out grad_self, Out grad_weight)) {
  const Tensor wide = self.to(ScalarType::Float);
  std::vector<int64_t> kept(self.sizes().begin(), self.sizes().end());
  const std::vector<int64_t> dims = trailing(self, weight);
  for (const int64_t dim : dims) kept[static_cast<size_t>(dim)] = 1;
  const Tensor inverse = rstd.reshape(kept);
  const Tensor normal = wide * inverse;
  const Tensor scaled = grad.to(ScalarType::Float) * weight;
  assign(grad_self, (scaled - normal * (scaled * normal).mean(dims, true)).mul_(inverse));
  assign(grad_weight, (grad.to(ScalarType::Float) * normal).sum_to_size(weight.sizes()));
}

}  // namespace hostcann::opapi
