// SPDX-License-Identifier: Apache-2.0
// Fused attention and its gradient, computed in float as softmax(scale · q·kᵀ, masked) · v.
#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/exp.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/where.h>

#include <limits>

#include "call.h"

namespace hostcann::opapi {
static constexpr char kFamily[] = "attention";
static constexpr Halves kHalves = Halves::as_they_are;

struct Attention {
  Maybe mask;
  Maybe drop;
  double scale;
  double keep;
  int64_t before;
  int64_t after;
  int64_t sparse;

  // What is not to be seen, for queries and keys of one sequence; undefined for nothing.
  Tensor hidden(int64_t queries, int64_t keys) const {
    const Tensor given = mask.value_or(Tensor());
    const Tensor column = at::arange(keys, ScalarType::Long);
    const auto row = [&](int64_t offset) {
      return at::arange(offset, offset + queries, ScalarType::Long).unsqueeze(1);
    };
    const auto outside = [&](const Tensor& place) {
      return (column < place - before).logical_or_(column > place + after);
    };
    switch (sparse) {
      case 0:
        return given.defined() ? outside(row(0)).logical_or(given) : Tensor();
      case 1:
        TORCH_CHECK(given.defined(), "sparse_mode 1: expected atten_mask, got none");
        return given.to(ScalarType::Bool);
      case 2:
        return column > row(0);
      case 3:
        return column > row(keys - queries);
      case 4:
        return outside(row(keys - queries));
      default:
        TORCH_CHECK(false, "sparse_mode: expected 0 to 4, got ", sparse);
    }
  }

  // 0 for a weight that is dropped, else 1 / keep; undefined without dropout.
  Tensor kept(In weights) const {
    const Tensor given = drop.value_or(Tensor());
    if (!given.defined() || given.numel() == 0 || keep == 1.0) return {};
    const Tensor bits = mask_bits(given, weights.numel()).view(weights.sizes());
    return bits.to(weights.scalar_type()).mul_(keep == 0.0 ? 0.0 : 1.0 / keep);
  }
};

// Tensors as [batch, heads, sequence, size], views of what came.
static Tensor by_head(In tensor, std::string_view layout, int64_t heads) {
  if (layout == "BNSD") return tensor;
  if (layout == "BSND") return tensor.transpose(1, 2);
  TORCH_CHECK(layout == "BSH" || layout == "SBH",
              "input_layout: expected BNSD, BSND, BSH or SBH, got ", layout);
  const Tensor apart = tensor.unflatten(2, {heads, tensor.size(2) / heads});
  return layout == "BSH" ? apart.transpose(1, 2) : apart.permute({1, 2, 0, 3});
}

static int64_t key_heads(In query, In key, std::string_view layout, int64_t heads) {
  return layout == "BSH" || layout == "SBH" ? key.size(2) / (query.size(2) / heads) : 0;
}

static Tensor wide(In tensor) {
  return tensor.scalar_type() == ScalarType::Double ? tensor : tensor.to(ScalarType::Float);
}

// A key's head serves a group of queries' heads.
static Tensor for_queries(In query, In tensor) {
  const int64_t group = query.size(1) / tensor.size(1);
  return group == 1 ? wide(tensor) : wide(tensor).repeat_interleave(group, 1);
}
static Tensor of_keys(In grad, In tensor) {
  return grad.unflatten(1, {tensor.size(1), grad.size(1) / tensor.size(1)}).sum(2);
}

static Tensor scores_of(In query, In key, const Attention& how) {
  Tensor scores =
      at::matmul(wide(query), for_queries(query, key).transpose(-1, -2)).mul_(how.scale);
  const Tensor hidden = how.hidden(query.size(2), key.size(2));
  if (hidden.defined()) scores.masked_fill_(hidden, -std::numeric_limits<double>::infinity());
  return scores;
}

static void attend(In query, In key, In value, const Attention& how, Out maxima, Out sums,
                   Out out) {
  if (key.size(2) == 0 || query.numel() == 0) {
    out.zero_(), maxima.zero_(), sums.zero_();
    return;
  }
  const Tensor scores = scores_of(query, key, how);
  Tensor maximum = scores.amax({-1}, true);
  // A query that sees nothing gets zero, not NaN.
  maximum.masked_fill_(maximum.isinf(), 0);
  Tensor weights = at::exp(scores - maximum);
  const Tensor sum = weights.sum({-1}, true);
  maxima.copy_(maximum.expand(maxima.sizes()));
  sums.copy_(sum.expand(sums.sizes()));
  weights.div_(at::where(sum == 0, 1, sum));
  const Tensor kept = how.kept(weights);
  if (kept.defined()) weights.mul_(kept);
  out.copy_(at::matmul(weights, for_queries(query, value)));
}

static void attend_back(In query, In key, In value, In grad, const Attention& how, In maxima,
                        In sums, Out grad_query, Out grad_key, Out grad_value) {
  if (key.size(2) == 0 || query.numel() == 0) {
    grad_query.zero_(), grad_key.zero_(), grad_value.zero_();
    return;
  }
  const Tensor sum = sums.narrow(-1, 0, 1);
  const Tensor weights = at::exp(scores_of(query, key, how) - maxima.narrow(-1, 0, 1))
                             .div_(at::where(sum == 0, 1, sum));
  const Tensor kept = how.kept(weights);
  const Tensor seen = kept.defined() ? weights * kept : weights;
  const Tensor wide_grad = wide(grad);
  Tensor grad_weights = at::matmul(wide_grad, for_queries(query, value).transpose(-1, -2));
  if (kept.defined()) grad_weights.mul_(kept);
  const Tensor total = (grad_weights * weights).sum({-1}, true);
  const Tensor grad_scores = (grad_weights - total).mul_(weights).mul_(how.scale);
  grad_query.copy_(at::matmul(grad_scores, for_queries(query, key)));
  grad_key.copy_(of_keys(at::matmul(grad_scores.transpose(-1, -2), wide(query)), key));
  grad_value.copy_(of_keys(at::matmul(seen.transpose(-1, -2), wide_grad), value));
}

static void expect_absent(Maybe pse, Maybe padding, MaybeInts prefix) {
  const auto given = [](Maybe tensor) {
    return tensor.has_value() && tensor->defined() && tensor->numel() != 0;
  };
  TORCH_CHECK(!given(pse) && !given(padding) && (!prefix.has_value() || prefix->empty()),
              "pse, padding_mask and prefix: expected none, got one");
}

static void score(In query, In key, In value, const Attention& how, int64_t heads,
                  std::string_view layout, Out maxima, Out sums, Out out) {
  const int64_t of_key = key_heads(query, key, layout, heads);
  Tensor target = by_head(out, layout, heads);
  attend(by_head(query, layout, heads), by_head(key, layout, of_key),
         by_head(value, layout, of_key), how, maxima, sums, target);
}
HOSTCANN_ACLNN(FlashAttentionScore,
               (In query, In key, In value, Maybe pse, Maybe drop, Maybe padding, Maybe mask,
                MaybeInts prefix, double scale, double keep, int64_t before, int64_t after,
                int64_t heads, const char* layout, int64_t, int64_t sparse, Out maxima, Out sums,
                Out, Out out)) {
  expect_absent(pse, padding, prefix);
  score(query, key, value, {mask, drop, scale, keep, before, after, sparse}, heads, layout, maxima,
        sums, out);
}
HOSTCANN_ACLNN(FlashAttentionScoreV2,
               (In query, In key, In value, Maybe pse, Maybe drop, Maybe padding, Maybe mask,
                MaybeInts prefix, MaybeInts, MaybeInts, double scale, double keep, int64_t before,
                int64_t after, int64_t heads, const char* layout, int64_t, int64_t sparse, int64_t,
                Out maxima, Out sums, Out, Out out)) {
  expect_absent(pse, padding, prefix);
  score(query, key, value, {mask, drop, scale, keep, before, after, sparse}, heads, layout, maxima,
        sums, out);
}

static void score_back(In query, In key, In value, In grad, const Attention& how, In maxima,
                       In sums, int64_t heads, std::string_view layout, Out grad_query,
                       Out grad_key, Out grad_value) {
  const int64_t of_key = key_heads(query, key, layout, heads);
  Tensor to_query = by_head(grad_query, layout, heads);
  Tensor to_key = by_head(grad_key, layout, of_key);
  Tensor to_value = by_head(grad_value, layout, of_key);
  attend_back(by_head(query, layout, heads), by_head(key, layout, of_key),
              by_head(value, layout, of_key), by_head(grad, layout, heads), how, maxima, sums,
              to_query, to_key, to_value);
}
HOSTCANN_ACLNN(FlashAttentionScoreGrad,
               (In query, In key, In value, In grad, Maybe pse, Maybe drop, Maybe padding,
                Maybe mask, In maxima, In sums, Maybe, Maybe, MaybeInts prefix, double scale,
                double keep, int64_t before, int64_t after, int64_t heads, const char* layout,
                int64_t, int64_t sparse, Out grad_query, Out grad_key, Out grad_value, MaybeOut)) {
  expect_absent(pse, padding, prefix);
  score_back(query, key, value, grad, {mask, drop, scale, keep, before, after, sparse}, maxima,
             sums, heads, layout, grad_query, grad_key, grad_value);
}
HOSTCANN_ACLNN(FlashAttentionScoreGradV2,
               (In query, In key, In value, In grad, Maybe pse, Maybe drop, Maybe padding,
                Maybe mask, In maxima, In sums, Maybe, Maybe, MaybeInts prefix, MaybeInts,
                MaybeInts, double scale, double keep, int64_t before, int64_t after, int64_t heads,
                const char* layout, int64_t, int64_t sparse, int64_t, Out grad_query, Out grad_key,
                Out grad_value, MaybeOut)) {
  expect_absent(pse, padding, prefix);
  score_back(query, key, value, grad, {mask, drop, scale, keep, before, after, sparse}, maxima,
             sums, heads, layout, grad_query, grad_key, grad_value);
}

}  // namespace hostcann::opapi
