// SPDX-License-Identifier: Apache-2.0
// Reductions. Sums add neighbours pair by pair, level by level, each sum rounded to the element's
// type; lanes that are masked off count as nothing.
#ifndef HOSTCANN_VECTOR_REDUCE_H
#define HOSTCANN_VECTOR_REDUCE_H

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "hostcann/vector_arithmetic.h"

namespace AscendC {

enum class ReduceType : uint8_t { SUM = 0, MAX, MIN };

enum class ReduceOrder : uint8_t {
  ORDER_VALUE_INDEX = 0,
  ORDER_INDEX_VALUE,
  ORDER_ONLY_VALUE,
  ORDER_ONLY_INDEX,
};

}  // namespace AscendC

namespace hostcann {

using AscendC::ReduceOrder;
using AscendC::ReduceType;

// An index in the bits of an element, as the hardware stores it.
template <typename T>
inline T index_bits(size_t index) {
  using Bits = std::conditional_t<sizeof(T) == 2, uint16_t, uint32_t>;
  const Bits bits = static_cast<Bits>(index);
  T value;
  std::memcpy(static_cast<void*>(&value), &bits, sizeof(value));
  return value;
}

// What came out of some lanes.
template <typename T>
struct Reduced {
  T value = T(0);
  size_t index = 0;
  bool any = false;
};

template <typename T>
inline T tree_sum(T* values, size_t count) {
  size_t width = 1;
  while (width < count) width *= 2;
  for (size_t i = count; i < width; ++i) values[i] = T(0);
  for (; width > 1; width /= 2) {
    for (size_t i = 0; i < width / 2; ++i) {
      values[i] = static_cast<T>(wide(values[2 * i]) + wide(values[2 * i + 1]));
    }
  }
  return values[0];
}

template <ReduceType type, typename T>
inline void take(Reduced<T>& best, T value, size_t index) {
  const bool better = type == ReduceType::MAX ? value > best.value : value < best.value;
  if (best.any && !better && value == value) return;
  if (best.any && best.value != best.value) return;  // the first NaN stays
  best = {value, index, true};
}

// Lanes first to first + count of a loaded repeat.
template <ReduceType type, typename T>
inline Reduced<T> reduce_lanes(const T* lanes, const Walk& walk, size_t repeat, size_t first,
                               size_t count) {
  Reduced<T> result;
  T values[kMaxLanes];
  const size_t end = walk.lanes_of(repeat);
  for (size_t i = 0; i < count; ++i) {
    const size_t lane = first + i;
    const bool on = lane < end && walk.on(lane);
    values[i] = on ? lanes[lane] : T(0);
    if (!on) continue;
    if (type == ReduceType::SUM) result.any = true;
    if constexpr (type != ReduceType::SUM) take<type>(result, lanes[lane], lane);
  }
  if constexpr (type == ReduceType::SUM) result.value = tree_sum(values, count);
  return result;
}

template <typename T>
inline void put(const char* caller, const LocalView& dst, size_t offset, T value) {
  if (offset + sizeof(T) > dst.bytes) {
    fault("%s: expected dst (LocalTensor) to hold at least %zu bytes, got %zu", caller,
          offset + sizeof(T), dst.bytes);
  }
  note(caller, "dst", Unit::kVector, Access::kWrite, dst.data + offset, sizeof(T));
  std::memcpy(dst.data + offset, &value, sizeof(T));
}

template <typename T>
inline void remember(BlockState& block, const Reduced<T>& result) {
  block.reduced_value = 0;
  std::memcpy(&block.reduced_value, &result.value, sizeof(T));
  block.reduced_index = result.index;
}

// A destination needs no more than the alignment of what is stored there.
inline const LocalView& reduced_into(const char* caller, const LocalView& dst, size_t alignment) {
  dst.live_buffer(caller, "dst");
  if (reinterpret_cast<uintptr_t>(dst.data) % alignment != 0) {
    fault("%s: expected dst to start at a multiple of %zu bytes, got an address that does not",
          caller, alignment);
  }
  return dst;
}

template <typename T>
inline Operand<T> reduced_source(const char* caller, const AscendC::LocalTensor<T>& src,
                                 const Walk& walk, int32_t block_stride, int32_t repeat_stride) {
  static_assert(kIsOneOf<T, half, float>, "reductions of dav-2201 take half, float");
  if (block_stride < 0 || repeat_stride < 0) {
    fault("%s: expected strides of 0 or more, got %d and %d", caller, block_stride, repeat_stride);
  }
  const Operand<T> from =
      operand(caller, "src", src, walk,
              {static_cast<size_t>(block_stride), static_cast<size_t>(repeat_stride)});
  note_lanes(caller, "src", Access::kRead, walk, from);
  return from;
}

template <typename Mask>
inline Walk reduced_walk(const char* caller, size_t element_bytes, bool set, Mask mask,
                         int32_t repeats) {
  if (repeats < 0) fault("%s: expected 0 repeats or more, got %d", caller, repeats);
  if constexpr (std::is_integral_v<Mask>) {
    return masked_walk(caller, element_bytes, set, static_cast<uint64_t>(mask),
                       static_cast<size_t>(repeats));
  } else {
    return masked_walk(caller, element_bytes, set, mask, static_cast<size_t>(repeats));
  }
}

// One result a repeat.
template <ReduceType type, typename T>
inline void reduce_repeats(const char* caller, const Walk& walk, const AscendC::LocalTensor<T>& dst,
                           const AscendC::LocalTensor<T>& src, int32_t dst_stride,
                           int32_t block_stride, int32_t repeat_stride, ReduceOrder order) {
  const Operand<T> from = reduced_source(caller, src, walk, block_stride, repeat_stride);
  const bool pair = type != ReduceType::SUM && (order == ReduceOrder::ORDER_VALUE_INDEX ||
                                                order == ReduceOrder::ORDER_INDEX_VALUE);
  const bool only_index = type != ReduceType::SUM && order == ReduceOrder::ORDER_ONLY_INDEX;
  const size_t unit = pair ? 2 * sizeof(T) : only_index ? sizeof(uint32_t) : sizeof(T);
  const LocalView& to = reduced_into(caller, dst.view(), unit);
  Register<T> lanes;
  for (size_t repeat = 0; repeat < walk.repeats; ++repeat) {
    from.load(lanes.lanes, walk, repeat);
    const Reduced<T> result = reduce_lanes<type>(lanes.lanes, walk, repeat, 0, walk.lanes);
    if (!result.any) continue;  // nothing takes part: dst is left alone
    remember(this_block(caller), result);
    const size_t at = repeat * static_cast<size_t>(dst_stride) * unit;
    const T index = index_bits<T>(result.index);
    if (only_index) {
      put(caller, to, at, static_cast<uint32_t>(result.index));
    } else if (!pair) {
      put(caller, to, at, result.value);
    } else if (order == ReduceOrder::ORDER_VALUE_INDEX) {
      put(caller, to, at, result.value);
      put(caller, to, at + sizeof(T), index);
    } else {
      put(caller, to, at, index);
      put(caller, to, at + sizeof(T), result.value);
    }
  }
}

// One result for each `group` lanes, the results of a repeat side by side.
template <ReduceType type, typename T>
inline void reduce_groups(const char* caller, const Walk& walk, const AscendC::LocalTensor<T>& dst,
                          const AscendC::LocalTensor<T>& src, size_t group, size_t dst_step,
                          int32_t block_stride, int32_t repeat_stride) {
  const Operand<T> from = reduced_source(caller, src, walk, block_stride, repeat_stride);
  const LocalView& to = reduced_into(caller, dst.view(), 8 * sizeof(T));
  Register<T> lanes;
  for (size_t repeat = 0; repeat < walk.repeats; ++repeat) {
    from.load(lanes.lanes, walk, repeat);
    for (size_t first = 0; first < walk.lanes; first += group) {
      const Reduced<T> result = reduce_lanes<type>(lanes.lanes, walk, repeat, first, group);
      if (result.any) put(caller, to, repeat * dst_step + first / group * sizeof(T), result.value);
    }
  }
}

// All repeats to one value and the position of a maximum or minimum in all of them. `sequential`
// adds the repeats' sums one after the other, else they are a tree again.
template <ReduceType type, typename T>
inline void reduce_all(const char* caller, const Walk& walk, const AscendC::LocalTensor<T>& dst,
                       const AscendC::LocalTensor<T>& src, int32_t repeat_stride, bool sequential,
                       bool with_index) {
  const Operand<T> from = reduced_source(caller, src, walk, 1, repeat_stride);
  if (walk.repeats == 0) return;
  const LocalView& to = reduced_into(caller, dst.view(), with_index ? 2 * sizeof(T) : sizeof(T));
  Register<T> lanes;
  T sums[kMaxLanes] = {};
  Reduced<T> total;
  size_t held = 0;
  for (size_t repeat = 0; repeat < walk.repeats; ++repeat) {
    from.load(lanes.lanes, walk, repeat);
    const Reduced<T> result = reduce_lanes<type>(lanes.lanes, walk, repeat, 0, walk.lanes);
    if (!result.any) continue;
    if constexpr (type != ReduceType::SUM) {
      take<type>(total, result.value, repeat * walk.lanes + result.index);
    } else if (sequential) {
      total.value =
          total.any ? static_cast<T>(wide(total.value) + wide(result.value)) : result.value;
      total.any = true;
    } else {
      sums[held++] = result.value;
      if (held == walk.lanes) {
        sums[0] = tree_sum(sums, held);
        held = 1;
      }
      total.any = true;
    }
  }
  if (!total.any) return;
  if (type == ReduceType::SUM && !sequential) total.value = tree_sum(sums, held);
  remember(this_block(caller), total);
  put(caller, to, 0, total.value);
  if (with_index) put(caller, to, sizeof(T), index_bits<T>(total.index));
}

}  // namespace hostcann

namespace AscendC {

template <ReduceType reduceType, typename T, typename U = T, bool isSetMask = true, typename Mask>
inline void ReduceRepeat(const LocalTensor<T>& dst, const LocalTensor<U>& src, Mask mask,
                         const int32_t repeatTime, const int32_t dstRepStride,
                         const int32_t srcBlkStride, const int32_t srcRepStride,
                         ReduceOrder order = ReduceOrder::ORDER_VALUE_INDEX,
                         hostcann::CallSite = {}) {
  hostcann::reduce_repeats<reduceType>(
      "ReduceRepeat",
      hostcann::reduced_walk("ReduceRepeat", sizeof(T), isSetMask, mask, repeatTime), dst, src,
      dstRepStride, srcBlkStride, srcRepStride, order);
}

// The names before CANN 9.1.
#define HOSTCANN_WHOLE_REDUCE(Name, type)                                                         \
  template <typename T, bool isSetMask = true, typename Mask>                                     \
  inline void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src, Mask mask,               \
                   const int32_t repeatTime, const int32_t dstRepStride,                          \
                   const int32_t srcBlkStride, const int32_t srcRepStride,                        \
                   ReduceOrder order = ReduceOrder::ORDER_VALUE_INDEX, hostcann::CallSite = {}) { \
    hostcann::reduce_repeats<ReduceType::type>(                                                   \
        #Name, hostcann::reduced_walk(#Name, sizeof(T), isSetMask, mask, repeatTime), dst, src,   \
        dstRepStride, srcBlkStride, srcRepStride, order);                                         \
  }
HOSTCANN_WHOLE_REDUCE(WholeReduceSum, SUM)
HOSTCANN_WHOLE_REDUCE(WholeReduceMax, MAX)
HOSTCANN_WHOLE_REDUCE(WholeReduceMin, MIN)

template <ReduceType reduceType, typename T, typename U = T, bool isSetMask = true, typename Mask>
inline void ReduceDataBlock(const LocalTensor<T>& dst, const LocalTensor<U>& src, Mask mask,
                            const int32_t repeatTime, const int32_t dstRepStride,
                            const int32_t srcBlkStride, const int32_t srcRepStride,
                            hostcann::CallSite = {}) {
  hostcann::reduce_groups<reduceType>(
      "ReduceDataBlock",
      hostcann::reduced_walk("ReduceDataBlock", sizeof(T), isSetMask, mask, repeatTime), dst, src,
      hostcann::kBlockBytes / sizeof(T), static_cast<size_t>(dstRepStride) * 8 * sizeof(T),
      srcBlkStride, srcRepStride);
}
#define HOSTCANN_BLOCK_REDUCE(Name, type)                                                          \
  template <typename T, bool isSetMask = true, typename Mask>                                      \
  inline void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src, const int32_t repeatTime, \
                   Mask mask, const int32_t dstRepStride, const int32_t srcBlkStride,              \
                   const int32_t srcRepStride, hostcann::CallSite = {}) {                          \
    hostcann::reduce_groups<ReduceType::type>(                                                     \
        #Name, hostcann::reduced_walk(#Name, sizeof(T), isSetMask, mask, repeatTime), dst, src,    \
        hostcann::kBlockBytes / sizeof(T), static_cast<size_t>(dstRepStride) * 8 * sizeof(T),      \
        srcBlkStride, srcRepStride);                                                               \
  }
HOSTCANN_BLOCK_REDUCE(BlockReduceSum, SUM)
HOSTCANN_BLOCK_REDUCE(BlockReduceMax, MAX)
HOSTCANN_BLOCK_REDUCE(BlockReduceMin, MIN)

template <ReduceType reduceType, typename T, typename U = T, bool isSetMask = true, typename Mask>
inline void ReducePairElem(const LocalTensor<T>& dst, const LocalTensor<U>& src, Mask mask,
                           const int32_t repeatTime, const int32_t dstRepStride,
                           const int32_t srcBlkStride, const int32_t srcRepStride,
                           hostcann::CallSite = {}) {
  static_assert(reduceType == ReduceType::SUM, "ReducePairElem takes ReduceType::SUM");
  hostcann::reduce_groups<reduceType>(
      "ReducePairElem",
      hostcann::reduced_walk("ReducePairElem", sizeof(T), isSetMask, mask, repeatTime), dst, src, 2,
      static_cast<size_t>(dstRepStride) * 128, srcBlkStride, srcRepStride);
}
template <typename T, bool isSetMask = true, typename Mask>
inline void PairReduceSum(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                          const int32_t repeatTime, Mask mask, const int32_t dstRepStride,
                          const int32_t srcBlkStride, const int32_t srcRepStride,
                          hostcann::CallSite = {}) {
  hostcann::reduce_groups<ReduceType::SUM>(
      "PairReduceSum",
      hostcann::reduced_walk("PairReduceSum", sizeof(T), isSetMask, mask, repeatTime), dst, src, 2,
      static_cast<size_t>(dstRepStride) * 128, srcBlkStride, srcRepStride);
}

template <typename T, bool isSetMask = true>
inline void ReduceSum(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                      const LocalTensor<T>& sharedTmpBuffer, const int32_t count,
                      hostcann::CallSite = {}) {
  sharedTmpBuffer.view().aligned("ReduceSum", "sharedTmpBuffer", 0);
  hostcann::reduce_all<ReduceType::SUM>(
      "ReduceSum", hostcann::counted_walk("ReduceSum", sizeof(T), count), dst, src, 8, true, false);
}
template <typename T, typename Mask>
inline void ReduceSum(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                      const LocalTensor<T>& sharedTmpBuffer, Mask mask, const int32_t repeatTime,
                      const int32_t srcRepStride, hostcann::CallSite = {}) {
  sharedTmpBuffer.view().aligned("ReduceSum", "sharedTmpBuffer", 0);
  hostcann::reduce_all<ReduceType::SUM>(
      "ReduceSum", hostcann::reduced_walk("ReduceSum", sizeof(T), true, mask, repeatTime), dst, src,
      srcRepStride, false, false);
}

#define HOSTCANN_REDUCE_EXTREME(Name, type)                                                        \
  template <typename T>                                                                            \
  inline void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src,                           \
                   const LocalTensor<T>& sharedTmpBuffer, const int32_t count,                     \
                   bool calIndex = false, hostcann::CallSite = {}) {                               \
    sharedTmpBuffer.view().aligned(#Name, "sharedTmpBuffer", 0);                                   \
    hostcann::reduce_all<ReduceType::type>(#Name, hostcann::counted_walk(#Name, sizeof(T), count), \
                                           dst, src, 8, true, calIndex);                           \
  }                                                                                                \
  template <typename T, typename Mask>                                                             \
  inline void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src,                           \
                   const LocalTensor<T>& sharedTmpBuffer, Mask mask, const int32_t repeatTime,     \
                   const int32_t srcRepStride, bool calIndex = false, hostcann::CallSite = {}) {   \
    sharedTmpBuffer.view().aligned(#Name, "sharedTmpBuffer", 0);                                   \
    hostcann::reduce_all<ReduceType::type>(                                                        \
        #Name, hostcann::reduced_walk(#Name, sizeof(T), true, mask, repeatTime), dst, src,         \
        srcRepStride, true, calIndex);                                                             \
  }
HOSTCANN_REDUCE_EXTREME(ReduceMax, MAX)
HOSTCANN_REDUCE_EXTREME(ReduceMin, MIN)

template <typename T>
inline T GetReduceRepeatSumSpr(hostcann::CallSite = {}) {
  T value;
  std::memcpy(&value, &hostcann::this_block("GetReduceRepeatSumSpr").reduced_value, sizeof(T));
  return value;
}
template <typename T>
inline void GetReduceRepeatMaxMinSpr(T& maxMinValue, T& maxMinIndex, hostcann::CallSite = {}) {
  const hostcann::BlockState& block = hostcann::this_block("GetReduceRepeatMaxMinSpr");
  std::memcpy(&maxMinValue, &block.reduced_value, sizeof(T));
  maxMinIndex = hostcann::index_bits<T>(block.reduced_index);
}

}  // namespace AscendC

#endif  // HOSTCANN_VECTOR_REDUCE_H
