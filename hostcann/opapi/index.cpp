// SPDX-License-Identifier: Apache-2.0
// Reading and writing elements at given places, and finding places.
#include <ATen/TensorOperators.h>
#include <ATen/ops/_embedding_bag.h>
#include <ATen/ops/_index_put_impl.h>
#include <ATen/ops/_unique2.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/embedding_dense_backward.h>
#include <ATen/ops/embedding_renorm.h>
#include <ATen/ops/gather.h>
#include <ATen/ops/index.h>
#include <ATen/ops/index_add.h>
#include <ATen/ops/index_copy.h>
#include <ATen/ops/index_fill.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/masked_fill.h>
#include <ATen/ops/masked_scatter.h>
#include <ATen/ops/masked_select.h>
#include <ATen/ops/nonzero.h>
#include <ATen/ops/put.h>
#include <ATen/ops/scatter.h>
#include <ATen/ops/scatter_add.h>
#include <ATen/ops/scatter_reduce.h>
#include <ATen/ops/take.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/unique_consecutive.h>
#include <ATen/ops/unique_dim.h>
#include <ATen/ops/where.h>

#include "call.h"

namespace hostcann::opapi {
static constexpr char kFamily[] = "index";
static constexpr Halves kHalves = Halves::as_they_are;

// torch_npu fills in an empty tensor of self's type for a dimension that is not indexed.
static bool is_left_out(In index, In self) {
  return !index.defined() || (index.numel() == 0 && index.scalar_type() == self.scalar_type());
}

static c10::List<std::optional<Tensor>> used(Tensors indices, In self) {
  c10::List<std::optional<Tensor>> list;
  list.reserve(indices.size());
  for (const Tensor& index : indices) {
    list.push_back(is_left_out(index, self) ? std::nullopt : std::optional<Tensor>(index));
  }
  return list;
}

// The device takes int32 too, where torch's CPU kernels insist on int64.
static Tensor as_long(In index) { return index.to(ScalarType::Long); }

// An empty index selects nothing. Of an integer self it looks like one that is left out, but
// then no other index is left.
static bool selects_nothing(Tensors indices, In self) {
  bool all_left_out = true;
  for (const Tensor& index : indices) {
    if (is_left_out(index, self)) continue;
    if (index.numel() == 0) return true;
    all_left_out = false;
  }
  return all_left_out;
}

HOSTCANN_ACLNN(Index, (In self, Tensors indices, Out out)) {
  if (out.numel() == 0) return;
  at::index_out(out, self, used(indices, self));
}
HOSTCANN_ACLNN(IndexPutImpl, (Out self, Tensors indices, In values, bool accumulate, bool unsafe)) {
  if (values.numel() == 0 || selects_nothing(indices, self)) return;
  at::_index_put_impl_(self, used(indices, self), values, accumulate, unsafe);
}

HOSTCANN_ACLNN(IndexSelect, (In self, int64_t dim, In index, Out out)) {
  at::index_select_out(out, self, dim, index);
}
HOSTCANN_ACLNN(IndexAdd, (In self, int64_t dim, In index, In source, Number alpha, Out out)) {
  assign(out, at::index_add(self, dim, as_long(index), source, alpha));
}
HOSTCANN_ACLNN(IndexCopy, (In self, int64_t dim, In index, In source, Out out)) {
  assign(out, at::index_copy(self, dim, as_long(index), source));
}
HOSTCANN_ACLNN(InplaceIndexCopy, (Out self, int64_t dim, In index, In source)) {
  self.index_copy_(dim, as_long(index), source);
}
HOSTCANN_ACLNN(IndexFill, (In self, int64_t dim, In index, Number value, Out out)) {
  assign(out, at::index_fill(self, dim, as_long(index), value));
}
HOSTCANN_ACLNN(InplaceIndexFill, (Out self, int64_t dim, In index, Number value)) {
  self.index_fill_(dim, as_long(index), value);
}
HOSTCANN_ACLNN(IndexFillTensor, (In self, int64_t dim, Ints index, Number value, Out out)) {
  assign(out, at::index_fill(self, dim, at::tensor(index), value));
}
HOSTCANN_ACLNN(InplaceIndexFillTensor, (Out self, int64_t dim, Ints index, Number value)) {
  self.index_fill_(dim, at::tensor(index), value);
}
HOSTCANN_ACLNN(Take, (In self, In index, Out out)) { at::take_out(out, self, as_long(index)); }
HOSTCANN_ACLNN(InplacePut, (Out self, In index, In source, bool accumulate)) {
  self.put_(as_long(index), source, accumulate);
}

static void expect_places(In self, int64_t dim, In index, Out) {
  expect_dimension(self, dim);
  TORCH_CHECK(self.dim() == index.dim() || self.dim() == 0 || index.dim() == 0,
              "index: expected as many dimensions as self, ", self.dim(), ", got shape ",
              index.sizes());
}
HOSTCANN_ACLNN_CHECKED(Gather, (In self, int64_t dim, In index, Out out), expect_places) {
  at::gather_out(out, self, dim, as_long(index));
}

static std::optional<std::string_view> scattering(int64_t reduce) {
  TORCH_CHECK(reduce >= 0 && reduce <= 2,
              "reduction: expected 0 (none), 1 (add) or 2 (multiply), got ", reduce);
  if (reduce == 0) return std::nullopt;
  return reduce == 1 ? "add" : "multiply";
}
template <class Source>
static Tensor scattered(In self, int64_t dim, In index, const Source& source, int64_t reduce) {
  const auto how = scattering(reduce);
  if (!how) return at::scatter(self, dim, as_long(index), source);
  return at::scatter(self, dim, as_long(index), source, *how);
}
HOSTCANN_ACLNN(Scatter, (In self, int64_t dim, In index, In source, int64_t reduce, Out out)) {
  assign(out, scattered(self, dim, index, source, reduce));
}
HOSTCANN_ACLNN(ScatterValue,
               (In self, int64_t dim, In index, Number value, int64_t reduce, Out out)) {
  assign(out, scattered(self, dim, index, value, reduce));
}
HOSTCANN_ACLNN(InplaceScatter, (Out self, int64_t dim, In index, In source, int64_t reduce)) {
  assign(self, scattered(self, dim, index, source, reduce));
}
HOSTCANN_ACLNN(InplaceScatterValue,
               (Out self, int64_t dim, In index, Number value, int64_t reduce)) {
  assign(self, scattered(self, dim, index, value, reduce));
}
HOSTCANN_ACLNN(ScatterAdd, (In self, int64_t dim, In index, In source, Out out)) {
  assign(out, at::scatter_add(self, dim, as_long(index), source));
}

static std::string_view reduction(int64_t number) {
  static constexpr std::string_view kReductions[] = {"sum", "prod", "amax", "amin", "mean"};
  TORCH_CHECK(number >= 1 && number <= 5, "reduction: expected 1 to 5, got ", number);
  return kReductions[number - 1];
}
HOSTCANN_ACLNN(ScatterReduce, (In self, int64_t dim, In index, In source, int64_t how,
                               bool include_self, Out out)) {
  assign(out, at::scatter_reduce(self, dim, as_long(index), source, reduction(how), include_self));
}
HOSTCANN_ACLNN(InplaceScatterReduce,
               (Out self, int64_t dim, In index, In source, int64_t how, bool include_self)) {
  assign(self, at::scatter_reduce(self, dim, as_long(index), source, reduction(how), include_self));
}

HOSTCANN_ACLNN(MaskedSelect, (In self, In mask, FoundOut out)) {
  out.set(at::masked_select(self, mask.to(ScalarType::Bool)));
}
HOSTCANN_ACLNN(InplaceMaskedFillScalar, (Out self, In mask, Number value)) {
  self.masked_fill_(mask, value);
}
HOSTCANN_ACLNN(InplaceMaskedFillTensor, (Out self, In mask, In value)) {
  self.masked_fill_(mask, value.reshape({}));
}
HOSTCANN_ACLNN(InplaceMaskedScatter, (Out self, In mask, In source)) {
  self.masked_scatter_(mask, source);
}
HOSTCANN_ACLNN(Nonzero, (In self, FoundOut out)) { out.set(at::nonzero(self)); }
// One row per dimension instead of one row per place.
HOSTCANN_ACLNN(NonzeroV2, (In self, FoundOut out)) { out.set(at::nonzero(self).t()); }

HOSTCANN_ACLNN(Unique, (In self, bool sorted, bool inverse, FoundOut values, Out positions)) {
  const auto [found, places, counts] = at::_unique2(self, sorted, inverse, false);
  values.set(found);
  if (inverse) assign(positions, places);
}
HOSTCANN_ACLNN(Unique2, (In self, bool sorted, bool, bool with_counts, FoundOut values,
                         Out positions, FoundOut counts)) {
  // The places are also asked for with the counts.
  const auto [found, places, numbers] = at::_unique2(self, sorted, true, with_counts);
  values.set(found);
  if (positions.sizes() == places.sizes()) positions.copy_(places);
  if (with_counts) counts.set(numbers);
}
HOSTCANN_ACLNN(UniqueDim, (In self, bool sorted, bool inverse, int64_t dim, FoundOut values,
                           FoundOut positions, FoundOut counts)) {
  const auto [found, places, numbers] = at::unique_dim(self, dim, sorted, inverse, true);
  values.set(found);
  if (inverse) positions.set(places);
  counts.set(numbers);
}

// No dimension is said by a number that no tensor has.
HOSTCANN_ACLNN(UniqueConsecutive, (In self, bool inverse, bool with_counts, int64_t dim,
                                   FoundOut values, Out positions, FoundOut counts)) {
  constexpr int64_t kNone = 1000;
  const auto along = dim == kNone ? std::nullopt : std::optional<int64_t>(dim);
  const auto [found, places, numbers] = at::unique_consecutive(self, inverse, with_counts, along);
  values.set(found);
  if (inverse) assign(positions, places);
  counts.set(with_counts ? numbers : at::empty({0}, numbers.options()));
}
HOSTCANN_ACLNN(OneHot, (In self, int64_t depth, In on, In off, int64_t axis, Out out)) {
  TORCH_CHECK(axis == -1, "axis: expected -1, got ", axis);
  const Tensor hot = self.unsqueeze(-1) == at::arange(depth, self.options());
  assign(out, at::where(hot, on.reshape({}), off.reshape({})));
}

HOSTCANN_ACLNN(Embedding, (In weight, In indices, Out out)) {
  at::embedding_out(out, weight, indices);
}
HOSTCANN_ACLNN(EmbeddingDenseBackward, (In grad, In indices, uint64_t rows, uint64_t padding,
                                        bool scale_by_frequency, Out out)) {
  assign(out, at::embedding_dense_backward(grad, indices, static_cast<int64_t>(rows),
                                           static_cast<int64_t>(padding), scale_by_frequency));
}
static void expect_bags(In weight, In indices, In offsets, bool, int64_t, bool,
                        Maybe sample_weights, bool, int64_t, Out, Out, Out, Out) {
  TORCH_CHECK(weight.dim() == 2, "weight: expected 2 dimensions, got shape ", weight.sizes());
  TORCH_CHECK(indices.dim() == 1, "indices: expected 1 dimension, got shape ", indices.sizes());
  TORCH_CHECK(offsets.dim() == 1, "offsets: expected 1 dimension, got shape ", offsets.sizes());
  if (!sample_weights.has_value()) return;
  TORCH_CHECK(sample_weights->sizes() == indices.sizes(),
              "per_sample_weights: expected the shape of indices, ", indices.sizes(), ", got ",
              sample_weights->sizes());
  TORCH_CHECK(sample_weights->scalar_type() == weight.scalar_type(),
              "per_sample_weights: expected the type of weight, ", weight.scalar_type(), ", got ",
              sample_weights->scalar_type());
}
HOSTCANN_ACLNN_CHECKED(EmbeddingBag,
                       (In weight, In indices, In offsets, bool scale_by_frequency, int64_t mode,
                        bool sparse, Maybe sample_weights, bool include_last, int64_t padding,
                        Out out, Out bags, Out sizes, Out maxima),
                       expect_bags) {
  const auto [bag, bag_of, size_of, maximum] =
      at::_embedding_bag(weight, indices, offsets, scale_by_frequency, mode, sparse, sample_weights,
                         include_last, padding);
  assign(out, bag);
  // torch leaves them out, or makes them longer, where its gradient has no use for them.
  for (const auto& [target, value] :
       {std::pair{bags, bag_of}, std::pair{sizes, size_of}, std::pair{maxima, maximum}}) {
    if (target.sizes() == value.sizes()) target.copy_(value);
  }
}
HOSTCANN_ACLNN(EmbeddingRenorm, (Out self, In indices, double max_norm, double norm_type)) {
  at::embedding_renorm_(self, indices.reshape(-1), max_norm, norm_type);
}

}  // namespace hostcann::opapi
