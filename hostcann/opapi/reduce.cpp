// SPDX-License-Identifier: Apache-2.0
// Reductions over all or some dimensions, scans and order.
#include <ATen/TensorOperators.h>
#include <ATen/ops/all.h>
#include <ATen/ops/amax.h>
#include <ATen/ops/amin.h>
#include <ATen/ops/aminmax.h>
#include <ATen/ops/any.h>
#include <ATen/ops/argmax.h>
#include <ATen/ops/argmin.h>
#include <ATen/ops/bincount.h>
#include <ATen/ops/bucketize.h>
#include <ATen/ops/cummax.h>
#include <ATen/ops/cummin.h>
#include <ATen/ops/cumprod.h>
#include <ATen/ops/cumsum.h>
#include <ATen/ops/histc.h>
#include <ATen/ops/kthvalue.h>
#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/logsumexp.h>
#include <ATen/ops/max.h>
#include <ATen/ops/mean.h>
#include <ATen/ops/median.h>
#include <ATen/ops/min.h>
#include <ATen/ops/nanmedian.h>
#include <ATen/ops/nansum.h>
#include <ATen/ops/norm.h>
#include <ATen/ops/prod.h>
#include <ATen/ops/renorm.h>
#include <ATen/ops/searchsorted.h>
#include <ATen/ops/sort.h>
#include <ATen/ops/std.h>
#include <ATen/ops/std_mean.h>
#include <ATen/ops/sum.h>
#include <ATen/ops/topk.h>
#include <ATen/ops/trace.h>
#include <ATen/ops/var.h>
#include <ATen/ops/var_mean.h>
#include <ATen/ops/where.h>
#include <c10/core/WrapDimMinimal.h>

#include "call.h"

namespace hostcann::opapi {
static constexpr char kFamily[] = "reduce";
static constexpr Halves kHalves = Halves::as_they_are;

HOSTCANN_ACLNN(ReduceSum, (In self, Ints dims, bool keepdim, ScalarType type, Out out)) {
  at::sum_out(out, self, dims, keepdim, type);
}
HOSTCANN_ACLNN(ReduceNansum, (In self, Ints dims, bool keepdim, ScalarType type, Out out)) {
  at::nansum_out(out, self, dims, keepdim, type);
}
HOSTCANN_ACLNN(Mean, (In self, Ints dims, bool keepdim, ScalarType type, Out out)) {
  at::mean_out(out, self, dims, keepdim, type);
}
// A product of halves is rounded once; torch's CPU kernel rounds every factor's product.
static ScalarType wide(ScalarType type) {
  return c10::isReducedFloatingType(type) ? ScalarType::Float : type;
}
HOSTCANN_ACLNN(Prod, (In self, ScalarType type, Out out)) {
  assign(out, at::prod(self, wide(type)));
}
HOSTCANN_ACLNN(ProdDim, (In self, int64_t dim, bool keepdim, ScalarType type, Out out)) {
  assign(out, at::prod(self, dim, keepdim, wide(type)));
}
HOSTCANN_ACLNN(All, (In self, Ints dims, bool keepdim, Out out)) {
  at::all_out(out, self, at::OptionalIntArrayRef(dims), keepdim);
}
HOSTCANN_ACLNN(Any, (In self, Ints dims, bool keepdim, Out out)) {
  at::any_out(out, self, at::OptionalIntArrayRef(dims), keepdim);
}

HOSTCANN_ACLNN(Max, (In self, Out out)) { assign(out, at::max(self)); }
HOSTCANN_ACLNN(Min, (In self, Out out)) { assign(out, at::min(self)); }
HOSTCANN_ACLNN(Amax, (In self, Ints dims, bool keepdim, Out out)) {
  at::amax_out(out, self, dims, keepdim);
}
HOSTCANN_ACLNN(Amin, (In self, Ints dims, bool keepdim, Out out)) {
  at::amin_out(out, self, dims, keepdim);
}
HOSTCANN_ACLNN(AminmaxAll, (In self, Out min, Out max)) {
  at::aminmax_out(min, max, self, std::nullopt, false);
}
HOSTCANN_ACLNN(AminmaxDim, (In self, int64_t dim, bool keepdim, Out min, Out max)) {
  at::aminmax_out(min, max, self, dim, keepdim);
}
HOSTCANN_ACLNN(Aminmax, (In self, Ints dims, bool keepdim, Out min, Out max)) {
  at::amin_out(min, self, dims, keepdim);
  at::amax_out(max, self, dims, keepdim);
}

// Some callers ask for int32 indices, which torch's kernels do not write.
#define HOSTCANN_PICK(name, op)                                                      \
  HOSTCANN_ACLNN(name, (In self, int64_t dim, bool keepdim, Out out, Out indices)) { \
    const auto [values, positions] = at::op(self, dim, keepdim);                     \
    assign(out, values);                                                             \
    assign(indices, positions);                                                      \
  }
HOSTCANN_PICK(MaxDim, max)
HOSTCANN_PICK(MinDim, min)
HOSTCANN_PICK(MedianDim, median)
HOSTCANN_PICK(NanMedianDim, nanmedian)
#define HOSTCANN_SCAN(name, op)                                        \
  HOSTCANN_ACLNN(name, (In self, int64_t dim, Out out, Out indices)) { \
    const auto [values, positions] = at::op(self, dim);                \
    assign(out, values);                                               \
    assign(indices, positions);                                        \
  }
HOSTCANN_SCAN(Cummax, cummax)
HOSTCANN_SCAN(Cummin, cummin)
HOSTCANN_ACLNN(Median, (In self, Out out)) { assign(out, at::median(self)); }
HOSTCANN_ACLNN(NanMedian, (In self, Out out)) { assign(out, at::nanmedian(self)); }
HOSTCANN_ACLNN(Kthvalue, (In self, int64_t k, int64_t dim, bool keepdim, Out values, Out indices)) {
  at::kthvalue_out(values, indices, self, k, dim, keepdim);
}
HOSTCANN_ACLNN(ArgMax, (In self, int64_t dim, bool keepdim, Out out)) {
  assign(out, at::argmax(self, dim, keepdim));
}
HOSTCANN_ACLNN(ArgMin, (In self, int64_t dim, bool keepdim, Out out)) {
  assign(out, at::argmin(self, dim, keepdim));
}

HOSTCANN_ACLNN(Std, (In self, Ints dims, int64_t correction, bool keepdim, Out out)) {
  at::std_out(out, self, dims, Scalar(correction), keepdim);
}
HOSTCANN_ACLNN(VarCorrection, (In self, Ints dims, int64_t correction, bool keepdim, Out out)) {
  at::var_out(out, self, dims, Scalar(correction), keepdim);
}
HOSTCANN_ACLNN(StdMeanCorrection,
               (In self, Ints dims, int64_t correction, bool keepdim, Out std, Out mean)) {
  const auto [deviation, average] = at::std_mean(self, dims, Scalar(correction), keepdim);
  assign(std, deviation);
  assign(mean, average);
}
HOSTCANN_ACLNN(VarMean, (In self, Ints dims, int64_t correction, bool keepdim, Out var, Out mean)) {
  const auto [variance, average] = at::var_mean(self, dims, Scalar(correction), keepdim);
  assign(var, variance);
  assign(mean, average);
}

HOSTCANN_ACLNN(LinalgVectorNorm,
               (In self, Number ord, Ints dims, bool keepdim, ScalarType type, Out out)) {
  const MaybeInts some = dims.empty() ? MaybeInts() : MaybeInts(dims);
  assign(out, at::linalg_vector_norm(self, ord, some, keepdim, type));
}
HOSTCANN_ACLNN(Norm, (In self, Number p, Ints dims, bool keepdim, Out out)) {
  assign(out, at::norm(self, p, dims, keepdim));
}
HOSTCANN_ACLNN(LogSumExp, (In self, Ints dims, bool keepdim, Out out)) {
  at::logsumexp_out(out, self, dims, keepdim);
}
// The device also takes 0, the number of elements that are not zero; torch's CPU kernel does not.
static void renorm(Out out, In self, Number p, int64_t dim, Number max_norm) {
  if (p.toDouble() > 0) {
    at::renorm_out(out, self, p, dim, max_norm);
    return;
  }
  TORCH_CHECK(p.toDouble() == 0, "p: expected 0 or more, got ", p);
  std::vector<int64_t> others;
  for (int64_t i = 0; i < self.dim(); ++i) {
    if (i != c10::maybe_wrap_dim(dim, self.dim())) others.push_back(i);
  }
  const Tensor norm = at::linalg_vector_norm(self, p, others, true);
  out.copy_(self * at::where(norm > max_norm, max_norm.toDouble() / (norm + 1e-7), 1.0));
}
static void expect_renorm_self(Out self, Number, int64_t dim, Number max_norm) {
  expect_dimension(self, dim);
  TORCH_CHECK(max_norm.toDouble() >= 0, "maxnorm: expected 0 or more, got ", max_norm);
}
static void expect_renorm(In, Number p, int64_t dim, Number max_norm, Out out) {
  expect_renorm_self(out, p, dim, max_norm);
}
HOSTCANN_ACLNN_CHECKED(Renorm, (In self, Number p, int64_t dim, Number max_norm, Out out),
                       expect_renorm) {
  renorm(out, self, p, dim, max_norm);
}
HOSTCANN_ACLNN_CHECKED(InplaceRenorm, (Out self, Number p, int64_t dim, Number max_norm),
                       expect_renorm_self) {
  renorm(self, self, p, dim, max_norm);
}
HOSTCANN_ACLNN(Trace, (In self, Out out)) { assign(out, at::trace(self)); }

HOSTCANN_ACLNN_CHECKED(Cumsum, (In self, int64_t dim, ScalarType type, Out out), expect_dimension) {
  at::cumsum_out(out, self, dim, type);
}
HOSTCANN_ACLNN(Cumprod, (In self, Number dim, ScalarType type, Out out)) {
  at::cumprod_out(out, self, dim.toLong(), type);
}

static void expect_sort(In self, bool, int64_t dim, bool, Out, Out) { expect_dimension(self, dim); }
HOSTCANN_ACLNN_CHECKED(Sort,
                       (In self, bool stable, int64_t dim, bool descending, Out values,
                        Out indices),
                       expect_sort) {
  at::sort_out(values, indices, self, stable, dim, descending);
}
static void expect_count(In self, int64_t k, int64_t dim) {
  const int64_t axis = c10::maybe_wrap_dim(dim, self.dim());
  const int64_t size = self.dim() == 0 ? 1 : self.size(axis);
  TORCH_CHECK(k >= 0 && k <= size, "k: expected 0 to ", size, ", the size of dimension ", dim,
              ", got ", k);
}
static void expect_topk(In self, int64_t k, int64_t dim, bool, bool, Out, Out) {
  expect_count(self, k, dim);
}
static void expect_topk_v2(In self, int64_t k, int64_t dim, bool, bool, int64_t, Out, Out) {
  expect_count(self, k, dim);
}
HOSTCANN_ACLNN_CHECKED(Topk,
                       (In self, int64_t k, int64_t dim, bool largest, bool sorted, Out values,
                        Out indices),
                       expect_topk) {
  at::topk_out(values, indices, self, k, dim, largest, sorted);
}
// The sixth argument chooses how the device sorts.
HOSTCANN_ACLNN_CHECKED(TopkV2,
                       (In self, int64_t k, int64_t dim, bool largest, bool sorted, int64_t,
                        Out values, Out indices),
                       expect_topk_v2) {
  at::topk_out(values, indices, self, k, dim, largest, sorted);
}
HOSTCANN_ACLNN(SearchSorted,
               (In sequence, In self, bool out_int32, bool right, Maybe sorter, Out out)) {
  at::searchsorted_out(out, sequence, self, out_int32, right, std::nullopt, sorter);
}
HOSTCANN_ACLNN(SearchSorteds,
               (In sequence, Number self, bool out_int32, bool right, Maybe sorter, Out out)) {
  assign(out, at::searchsorted(sequence, self, out_int32, right, std::nullopt, sorter));
}
HOSTCANN_ACLNN(Bucketize, (In self, In boundaries, bool out_int32, bool right, Out out)) {
  at::bucketize_out(out, self, boundaries, out_int32, right);
}
HOSTCANN_ACLNN(Bincount, (In self, Maybe weights, int64_t minlength, Out out)) {
  assign(out, at::bincount(self, weights, minlength));
}
HOSTCANN_ACLNN(Histc, (In self, int64_t bins, Number min, Number max, Out out)) {
  at::histc_out(out, self, bins, min, max);
}

}  // namespace hostcann::opapi
