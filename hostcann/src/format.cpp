// SPDX-License-Identifier: Apache-2.0
// Storage formats as torch_npu and CANN's documentation name them. In every one of them the
// place of an element is a sum over its dimensions, of which some are split into blocks.
#include "format.h"
#include "entry.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <functional>
#include <numeric>
#include <sstream>

#include "acl/acl_base_rt.h"
#include "acl/error_codes/rt_error_codes.h"
#include "hostcann/operator.h"

namespace hostcann {
namespace {

constexpr int64_t kRows = 16;  // of a fractal

using Dims = std::vector<int64_t>;

int64_t product(const Dims& dims) {
  return std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>());
}

std::string text(const Dims& dims) {
  std::ostringstream stream;
  for (size_t i = 0; i < dims.size(); ++i) stream << (i == 0 ? "[" : ", ") << dims[i];
  return dims.empty() ? "[]" : stream.str() + "]";
}

int64_t blocks(int64_t size, int64_t block) { return (size + block - 1) / block; }

bool is_dense(int format) {
  constexpr std::array kDense = {ACL_FORMAT_ND,   ACL_FORMAT_NCHW, ACL_FORMAT_NHWC,
                                 ACL_FORMAT_HWCN, ACL_FORMAT_NCL,  ACL_FORMAT_NCDHW,
                                 ACL_FORMAT_NC,   ACL_FORMAT_NDHWC};
  return std::find(kDense.begin(), kDense.end(), format) != kDense.end();
}

std::vector<Axis> dense_axes(const Dims& dims) {
  std::vector<Axis> axes(dims.size());
  int64_t step = 1;
  for (size_t i = dims.size(); i-- > 0; step *= dims[i]) {
    axes[i] = {dims[i], 1, step, 0};
  }
  return axes;
}

// Matrices of fractals: columns of fractals one after the other, rows within a fractal.
std::vector<Axis> nz_axes(const Dims& dims, int64_t block) {
  const int64_t rows = dims.end()[-2], columns = dims.end()[-1];
  const int64_t column = blocks(rows, kRows) * kRows * block;
  std::vector<Axis> axes = dense_axes(dims);
  int64_t step = blocks(columns, block) * column;
  for (size_t i = dims.size() - 2; i-- > 0; step *= dims[i]) axes[i].outer = step;
  axes.end()[-2] = {rows, kRows, kRows * block, block};
  axes.end()[-1] = {columns, block, column, 1};
  return axes;
}

// Channels in blocks that lie innermost. `dims` are N, C, (D,) H, W; D comes before C.
std::vector<Axis> c0_axes(const Dims& dims, int64_t block) {
  const bool deep = dims.size() == 5;
  const int64_t height = dims.end()[-2], width = dims.end()[-1];
  const int64_t channels = height * width * block;
  const int64_t depth = blocks(dims[1], block) * channels;
  std::vector<Axis> axes = {{dims[0], 1, depth * (deep ? dims[2] : 1), 0},
                            {dims[1], block, channels, 1}};
  if (deep) axes.push_back({dims[2], 1, depth, 0});
  axes.push_back({height, 1, width * block, 0});
  axes.push_back({width, 1, block, 0});
  return axes;
}

// Weights in fractals: (D,) C1, H, W, then blocks of 16 outputs, then the channels of a block.
std::vector<Axis> z_axes(const Dims& dims, int64_t block) {
  const bool deep = dims.size() == 5;
  const int64_t height = dims.end()[-2], width = dims.end()[-1];
  const int64_t fractals = blocks(dims[0], kRows) * kRows * block;
  const int64_t channels = height * width * fractals;
  std::vector<Axis> axes = {{dims[0], kRows, kRows * block, block}, {dims[1], block, channels, 1}};
  if (deep) axes.push_back({dims[2], 1, blocks(dims[1], block) * channels, 0});
  axes.push_back({height, 1, width * fractals, 0});
  axes.push_back({width, 1, fractals, 0});
  return axes;
}

struct Layout {
  int format;
  size_t rank;  // 0: matrices, in any number of further dimensions
  std::vector<Axis> (*axes)(const Dims& dims, int64_t block);
};

const Layout kInternal[] = {
    {ACL_FORMAT_FRACTAL_NZ, 0, nz_axes}, {ACL_FORMAT_NC1HWC0, 4, c0_axes},
    {ACL_FORMAT_NDC1HWC0, 5, c0_axes},   {ACL_FORMAT_FRACTAL_Z, 4, z_axes},
    {ACL_FRACTAL_Z_3D, 5, z_axes},
};

const Layout* internal_layout(int format) {
  const auto* found = std::find_if(std::begin(kInternal), std::end(kInternal),
                                   [format](const Layout& l) { return l.format == format; });
  return found == std::end(kInternal) ? nullptr : found;
}

// The dims that both formats can place: a matrix at least, or images. Fewer dims than an image
// has are its channels and what follows them, in a batch of one.
Dims common_dims(const Dims& dims, const Layout* from, const Layout* to) {
  size_t rank = 0;
  for (const Layout* layout : {from, to}) {
    if (layout != nullptr) rank = std::max(rank, layout->rank);
  }
  Dims common = dims;
  if (rank == 0) {
    while (common.size() < 2) common.push_back(1);
    return common;
  }
  if (common.size() < rank) common.insert(common.begin(), 1);
  while (common.size() < rank) common.push_back(1);
  return common;
}

// Elements from the first to the end of the last block.
int64_t extent(const std::vector<Axis>& axes) {
  int64_t count = 1;
  for (const Axis& axis : axes) {
    if (axis.size == 0) return 0;
    count += (blocks(axis.size, axis.block) - 1) * axis.outer + (axis.block - 1) * axis.inner;
  }
  return count;
}

// One side of a cast: its axes, and the bytes of its storage.
Status place(const char* name, const Stored& side, const Layout* layout, const Dims& dims,
             std::vector<Axis>* axes, size_t* bytes) {
  if (layout == nullptr && !is_dense(side.format)) {
    return refuse(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                  "%s: expected a base format, FRACTAL_NZ (29), NC1HWC0 (3), FRACTAL_Z (4), "
                  "NDC1HWC0 (32) or FRACTAL_Z_3D (33), got format %d",
                  name, side.format);
  }
  const int64_t block = side.storage_dims.empty() ? 0 : side.storage_dims.back();
  if (layout != nullptr && block > 0 && (layout->rank == 0 || layout->rank == dims.size())) {
    *axes = layout->axes(dims, block);
  } else if (layout == nullptr) {
    *axes = dense_axes(dims);
  }
  const int64_t count = product(side.storage_dims);
  if (axes->empty() || extent(*axes) > count) {
    return refuse(ACL_ERROR_RT_PARAM_INVALID,
                  "%s: expected storage of format %d for shape %s, got storage of shape %s", name,
                  side.format, text(side.dims).c_str(), text(side.storage_dims).c_str());
  }
  *bytes = static_cast<size_t>(count) * side.item_bytes;
  return {};
}

template <class Item>
void copy(const std::vector<Axis>& from, const Item* source, const std::vector<Axis>& to,
          Item* target) {
  const size_t last = from.size() - 1;
  Dims index(last, 0);
  for (;;) {
    int64_t read = 0, write = 0;
    for (size_t i = 0; i < last; ++i) {
      read += from[i].place(index[i]);
      write += to[i].place(index[i]);
    }
    for (int64_t i = 0; i < from[last].size; ++i) {
      target[write + to[last].place(i)] = source[read + from[last].place(i)];
    }
    size_t i = last;
    while (i > 0 && ++index[i - 1] == from[i - 1].size) index[--i] = 0;
    if (i == 0) return;
  }
}

}  // namespace

Status FormatCast::plan(const Stored& from, const Stored& to, FormatCast* plan) {
  if (from.item_bytes != to.item_bytes || product(from.dims) != product(to.dims)) {
    return refuse(ACL_ERROR_RT_PARAM_INVALID,
                  "expected the same type and number of elements on both sides, got shape %s of "
                  "%zu bytes each and shape %s of %zu bytes each",
                  text(from.dims).c_str(), from.item_bytes, text(to.dims).c_str(), to.item_bytes);
  }
  constexpr std::array<size_t, 4> kSizes = {1, 2, 4, 8};
  if (std::find(kSizes.begin(), kSizes.end(), from.item_bytes) == kSizes.end()) {
    return refuse(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                  "expected elements of 1, 2, 4 or 8 bytes, got %zu", from.item_bytes);
  }
  const Layout* source = internal_layout(from.format);
  const Layout* target = internal_layout(to.format);
  // The dims of an internal side are those it was made from; a dense side may have been viewed.
  const Dims dims = common_dims(source == nullptr ? to.dims : from.dims, source, target);
  FormatCast made;
  made.item_bytes_ = from.item_bytes;
  Status status = place("source", from, source, dims, &made.from_, &made.source_bytes_);
  if (status.ok()) status = place("target", to, target, dims, &made.to_, &made.target_bytes_);
  if (status.ok()) *plan = std::move(made);
  return status;
}

void FormatCast::run(const void* source, void* target) const {
  std::memset(target, 0, target_bytes_);
  const auto with = [&](auto item) {
    using Item = decltype(item);
    copy(from_, static_cast<const Item*>(source), to_, static_cast<Item*>(target));
  };
  if (extent(from_) == 0) return;
  switch (item_bytes_) {
    case 1:
      return with(uint8_t{});
    case 2:
      return with(uint16_t{});
    case 4:
      return with(uint32_t{});
    default:
      return with(uint64_t{});
  }
}

}  // namespace hostcann

using namespace hostcann;

HOSTCANN_API int hostcann_cast_format(const HostcannStored* from, const HostcannStored* to,
                                      char* why, size_t why_size) {
  HOSTCANN_REQUIRE_NOT_NULL(from);
  HOSTCANN_REQUIRE_NOT_NULL(to);
  HOSTCANN_ENTER();
  const auto stored = [](const HostcannStored& side) {
    return Stored{side.format,
                  {side.dims, side.dims + side.rank},
                  {side.storage_dims, side.storage_dims + side.storage_rank},
                  side.item_bytes};
  };
  FormatCast cast;
  const Status status = FormatCast::plan(stored(*from), stored(*to), &cast);
  if (why != nullptr && why_size > 0) std::snprintf(why, why_size, "%s", status.why().c_str());
  if (status.ok() && from->data != nullptr && to->data != nullptr) cast.run(from->data, to->data);
  return status.code();
}
