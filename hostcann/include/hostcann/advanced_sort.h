// SPDX-License-Identifier: Apache-2.0
// TopK: the first k of every row, and where they stood.
#ifndef HOSTCANN_ADVANCED_SORT_H
#define HOSTCANN_ADVANCED_SORT_H

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>

#include "hostcann/advanced_call.h"
#include "hostcann/tiling_structs.h"
#include "hostcann/vector_sort.h"

namespace hostcann {

constexpr size_t kLongestTopK = 4096;

// Whether `a` comes out in front of `b`: a NaN does in front of all numbers, whatever is asked for.
template <typename T>
inline bool in_front(T a, T b, bool largest) {
  if (a != a || b != b) return a != a && b == b;
  return largest ? a > b : a < b;
}

inline void require_top(const AscendC::TopKInfo& info, int32_t k, bool small) {
  const int32_t longest = static_cast<int32_t>(small ? kSorted : kLongestTopK);
  if (info.outter < 1 || info.inner < 32 || info.inner > longest || info.inner % 32 != 0 ||
      info.n < 1 || info.n > info.inner || k < 1 || k > info.n) {
    fault(
        "TopK: expected outter from 1 on, inner a multiple of 32 up to %d, n up to inner and k up "
        "to n, got outter %d, inner %d, n %d, k %d",
        longest, info.outter, info.inner, info.n, k);
  }
}

}  // namespace hostcann

namespace AscendC {

// Of equal ones the first stays first. In normal mode each row of the results begins with a block
// of its own; in small mode, for rows of 32, one follows the other and every row has indices.
template <typename T, bool isInitIndex = false, bool isHasfinish = false, bool isReuseSrc = false,
          enum TopKMode topkMode = TopKMode::TOPK_NORMAL>
inline void TopK(const LocalTensor<T>& dstValueLocal, const LocalTensor<int32_t>& dstIndexLocal,
                 const LocalTensor<T>& srcLocal, const LocalTensor<int32_t>& srcIndexLocal,
                 const LocalTensor<bool>& finishLocal, const hostcann::Scratch& scratch,
                 const int32_t k, const TopkTiling&, const TopKInfo& topKInfo,
                 const bool isLargest = true, hostcann::CallSite = {}) {
  using namespace hostcann;
  HOSTCANN_TAKES(TopK, half, float);
  constexpr bool kSmall = topkMode == TopKMode::TOPK_NSMALL;
  if constexpr (kSmall && isHasfinish) {
    fault("TopK: expected isHasfinish to be false in small mode, got true");
  }
  require_top(topKInfo, k, kSmall);
  const size_t rows = static_cast<size_t>(topKInfo.outter);
  const size_t length = static_cast<size_t>(topKInfo.inner);
  const size_t count = static_cast<size_t>(k);
  const auto step = [count](size_t per_block) {
    return kSmall ? count : (count + per_block - 1) / per_block * per_block;
  };
  const size_t value_step = step(kBlockBytes / sizeof(T));
  const size_t index_step = step(kBlockBytes / sizeof(int32_t));
  const T* const from = input("TopK", "src", srcLocal, rows * length);
  T* const values = output("TopK", "dstValue", dstValueLocal, rows * value_step);
  int32_t* const indices = output("TopK", "dstIndex", dstIndexLocal, rows * index_step);
  const int32_t* given = nullptr;
  if constexpr (isInitIndex) {
    given = input("TopK", "srcIndex", srcIndexLocal, kSmall ? rows * length : length);
  }
  [[maybe_unused]] const bool* finished = nullptr;
  if constexpr (isHasfinish) finished = input("TopK", "finish", finishLocal, rows);
  uint16_t order[kLongestTopK];
  for (size_t row = 0; row < rows; ++row) {
    const T* const x = from + row * length;
    std::iota(order, order + length, uint16_t{0});
    std::stable_sort(order, order + length, [x, isLargest](uint16_t a, uint16_t b) {
      return in_front(x[a], x[b], isLargest);
    });
    for (size_t i = 0; i < count; ++i) {
      const size_t at = order[i];
      values[row * value_step + i] = x[at];
      const int32_t index =
          given == nullptr ? static_cast<int32_t>(at) : given[(kSmall ? row * length : 0) + at];
      indices[row * index_step + i] = finished != nullptr && finished[row] ? topKInfo.n : index;
    }
  }
  scratch.use("TopK", {{dstValueLocal, rows * value_step},
                       {dstIndexLocal, rows * index_step},
                       {srcLocal, rows * length}});
}
template <typename T, bool isInitIndex = false, bool isHasfinish = false, bool isReuseSrc = false,
          enum TopKMode topkMode = TopKMode::TOPK_NORMAL>
inline void TopK(const LocalTensor<T>& dstValueLocal, const LocalTensor<int32_t>& dstIndexLocal,
                 const LocalTensor<T>& srcLocal, const LocalTensor<int32_t>& srcIndexLocal,
                 const LocalTensor<bool>& finishLocal, const int32_t k, const TopkTiling& tilling,
                 const TopKInfo& topKInfo, const bool isLargest = true,
                 hostcann::CallSite site = {}) {
  TopK<T, isInitIndex, isHasfinish, isReuseSrc, topkMode>(
      dstValueLocal, dstIndexLocal, srcLocal, srcIndexLocal, finishLocal, hostcann::Scratch(), k,
      tilling, topKInfo, isLargest, site);
}

}  // namespace AscendC

#endif  // HOSTCANN_ADVANCED_SORT_H
