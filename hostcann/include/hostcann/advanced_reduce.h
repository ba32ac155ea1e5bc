// SPDX-License-Identifier: Apache-2.0
// Reductions of rows or columns of a matrix whose rows are whole blocks.
#ifndef HOSTCANN_ADVANCED_REDUCE_H
#define HOSTCANN_ADVANCED_REDUCE_H

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "hostcann/advanced_call.h"

namespace hostcann {

// Neighbours are added level by level, each sum rounded to the type, as ReduceRepeat adds.
template <typename T, typename At>
inline T tree_sum(size_t first, size_t count, At at) {
  if (count == 1) return at(first);
  size_t half_count = 1;
  while (half_count * 2 < count) half_count *= 2;
  return static_cast<T>(wide(tree_sum<T>(first, half_count, at)) +
                        wide(tree_sum<T>(first + half_count, count - half_count, at)));
}

inline void require_rows(const char* caller, size_t rows, size_t stored, size_t used,
                         size_t element_bytes) {
  if (rows == 0 || used == 0 || used > stored) {
    fault("%s: expected at least one row of 1 to %zu elements, got %zu of %zu", caller, stored,
          rows, used);
  }
  if (stored * element_bytes % kBlockBytes != 0) {
    fault(
        "%s: expected rows that are a multiple of 32 bytes long, got %zu elements of %zu bytes; "
        "pad them",
        caller, stored, element_bytes);
  }
}

// One number of each row or of each column, by `reduce` of its elements.
template <typename Pattern, typename T, typename Reduce>
inline void reduce_matrix(const char* caller, const AscendC::LocalTensor<T>& dst,
                          const AscendC::LocalTensor<T>& src, const Scratch& scratch,
                          const uint32_t* shape, bool padded, Reduce reduce) {
  constexpr bool kOfRows = std::is_same_v<Pattern, AscendC::Pattern::Reduce::AR>;
  static_assert(kOfRows || std::is_same_v<Pattern, AscendC::Pattern::Reduce::RA>,
                "the pattern of a reduction on dav-2201 is AR or RA");
  if (!padded) fault("%s: expected srcInnerPad to be true on dav-2201, got false", caller);
  require_rows(caller, shape[0], shape[1], shape[1], sizeof(T));
  const size_t results = kOfRows ? shape[0] : shape[1];
  const size_t length = kOfRows ? shape[1] : shape[0];
  const size_t step = kOfRows ? 1 : shape[1];
  const size_t begin = kOfRows ? shape[1] : 1;
  const T* const from = input(caller, "src", src, size_t{shape[0]} * shape[1]);
  T* const to = output(caller, "dst", dst, results);
  check_overlap(caller, "src", reinterpret_cast<uint8_t*>(to), results * sizeof(T),
                reinterpret_cast<const uint8_t*>(from), size_t{shape[0]} * shape[1] * sizeof(T));
  for (size_t i = 0; i < results; ++i) {
    to[i] = reduce(length, [&](size_t at) { return from[i * begin + at * step]; });
  }
  scratch.use(caller, {{dst, results}, {src, size_t{shape[0]} * shape[1]}});
}

}  // namespace hostcann

#define HOSTCANN_REDUCTION(Name)                                                                 \
  template <class T, class pattern, bool isReuseSource = false>                                  \
  inline void Name(const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor,             \
                   const LocalTensor<uint8_t>& sharedTmpBuffer, const uint32_t srcShape[],       \
                   bool srcInnerPad, hostcann::CallSite = {}) {                                  \
    HOSTCANN_TAKES(Name, half, float);                                                           \
    hostcann::reduce_matrix<pattern>(#Name, dstTensor, srcTensor, sharedTmpBuffer, srcShape,     \
                                     srcInnerPad, operations::Name##Of<T>());                    \
  }                                                                                              \
  template <class T, class pattern, bool isReuseSource = false>                                  \
  inline void Name(const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor,             \
                   const uint32_t srcShape[], bool srcInnerPad, hostcann::CallSite = {}) {       \
    HOSTCANN_TAKES(Name, half, float);                                                           \
    hostcann::reduce_matrix<pattern>(#Name, dstTensor, srcTensor, hostcann::Scratch(), srcShape, \
                                     srcInnerPad, operations::Name##Of<T>());                    \
  }

namespace AscendC {

namespace operations {
template <typename T>
struct ReduceMaxOf {
  template <typename At>
  inline T operator()(size_t count, At at) const {
    T result = at(0);
    for (size_t i = 1; i < count; ++i) result = hostcann::larger(result, at(i));
    return result;
  }
};
template <typename T>
struct ReduceMinOf {
  template <typename At>
  inline T operator()(size_t count, At at) const {
    T result = at(0);
    for (size_t i = 1; i < count; ++i) result = hostcann::smaller(result, at(i));
    return result;
  }
};
template <typename T>
struct ReduceSumOf {
  template <typename At>
  inline T operator()(size_t count, At at) const {
    return hostcann::tree_sum<T>(0, count, at);
  }
};
}  // namespace operations

HOSTCANN_REDUCTION(ReduceMax)
HOSTCANN_REDUCTION(ReduceMin)
HOSTCANN_REDUCTION(ReduceSum)

// The sum of each row's first n elements.
template <typename T, int32_t reduceDim = -1, bool isReuseSource = false, bool isBasicBlock = false>
inline void Sum(const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor,
                const hostcann::Scratch& scratch, const SumParams& sumParams,
                hostcann::CallSite = {}) {
  HOSTCANN_TAKES(Sum, half, float);
  const size_t rows = sumParams.outter;
  const size_t stored = sumParams.inner;
  hostcann::require_rows("Sum", rows, stored, sumParams.n, sizeof(T));
  const T* const from = hostcann::input("Sum", "src", srcTensor, rows * stored);
  T* const to = hostcann::output("Sum", "dst", dstTensor, rows);
  for (size_t row = 0; row < rows; ++row) {
    to[row] = hostcann::tree_sum<T>(row * stored, sumParams.n, [&](size_t i) { return from[i]; });
  }
  scratch.use("Sum", {{dstTensor, rows}, {srcTensor, rows * stored}});
}
template <typename T, int32_t reduceDim = -1, bool isReuseSource = false, bool isBasicBlock = false>
inline void Sum(const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor,
                const SumParams& sumParams, hostcann::CallSite site = {}) {
  Sum<T>(dstTensor, srcTensor, hostcann::Scratch(), sumParams, site);
}

// The mean of each row's first n elements, in accType.
template <typename T, typename accType = T, bool isReuseSource = false, bool isBasicBlock = false,
          int32_t reduceDim = -1>
inline void Mean(const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor,
                 const hostcann::Scratch& scratch, const MeanParams& meanParams,
                 hostcann::CallSite = {}) {
  HOSTCANN_TAKES(Mean, half, float);
  static_assert(hostcann::kIsOneOf<accType, half, float> && sizeof(accType) >= sizeof(T),
                "Mean of dav-2201 computes in half or float, no narrower than its operands");
  const size_t rows = meanParams.outter;
  const size_t stored = meanParams.inner;
  hostcann::require_rows("Mean", rows, stored, meanParams.n, sizeof(T));
  const T* const from = hostcann::input("Mean", "src", srcTensor, rows * stored);
  T* const to = hostcann::output("Mean", "dst", dstTensor, rows);
  for (size_t row = 0; row < rows; ++row) {
    const accType sum = hostcann::tree_sum<accType>(
        row * stored, meanParams.n, [&](size_t i) { return static_cast<accType>(from[i]); });
    to[row] = static_cast<T>(hostcann::wide(sum) / static_cast<float>(meanParams.n));
  }
  scratch.use("Mean", {{dstTensor, rows}, {srcTensor, rows * stored}});
}
template <typename T, typename accType = T, bool isReuseSource = false, bool isBasicBlock = false,
          int32_t reduceDim = -1>
inline void Mean(const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor,
                 const MeanParams& meanParams, hostcann::CallSite site = {}) {
  Mean<T, accType>(dstTensor, srcTensor, hostcann::Scratch(), meanParams, site);
}

}  // namespace AscendC

#undef HOSTCANN_REDUCTION

#endif  // HOSTCANN_ADVANCED_REDUCE_H
