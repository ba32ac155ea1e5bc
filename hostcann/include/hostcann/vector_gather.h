// SPDX-License-Identifier: Apache-2.0
// Elements and blocks that are picked, copied or spread inside the Unified Buffer.
#ifndef HOSTCANN_VECTOR_GATHER_H
#define HOSTCANN_VECTOR_GATHER_H

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "hostcann/vector_compare.h"

namespace AscendC {

struct GatherRepeatParams {
  GatherRepeatParams() = default;
  GatherRepeatParams(uint8_t dst_block, uint8_t dst_repeat)
      : dstBlkStride(dst_block), dstRepStride(dst_repeat) {}

  uint32_t blockNumber = DEFAULT_BLK_NUM;
  uint8_t dstBlkStride = DEFAULT_BLK_STRIDE;
  uint16_t dstRepStride = DEFAULT_REPEAT_STRIDE;
  bool repeatStrideMode = false;
  bool strideSizeMode = false;
};

struct GatherMaskParams {
  GatherMaskParams() = default;
  GatherMaskParams(uint8_t src0_block, uint16_t repeats, uint16_t src0_repeat, uint8_t src1_repeat)
      : src0BlockStride(src0_block),
        repeatTimes(repeats),
        src0RepeatStride(src0_repeat),
        src1RepeatStride(src1_repeat) {}

  uint8_t src0BlockStride = 1;
  uint16_t repeatTimes = 0;
  uint16_t src0RepeatStride = 0;
  uint8_t src1RepeatStride = 0;
};

struct CopyRepeatParams {
  CopyRepeatParams() = default;
  CopyRepeatParams(uint16_t dst, uint16_t src, uint16_t dst_repeat, uint16_t src_repeat)
      : dstStride(dst), srcStride(src), dstRepeatSize(dst_repeat), srcRepeatSize(src_repeat) {}

  uint16_t dstStride = DEFAULT_BLK_STRIDE;
  uint16_t srcStride = DEFAULT_BLK_STRIDE;
  uint16_t dstRepeatSize = DEFAULT_REPEAT_STRIDE;
  uint16_t srcRepeatSize = DEFAULT_REPEAT_STRIDE;
};

struct BrcbRepeatParams {
  BrcbRepeatParams() = default;
  BrcbRepeatParams(uint16_t dst_block, uint16_t dst_repeat)
      : dstBlkStride(dst_block), dstRepStride(dst_repeat) {}

  uint32_t blockNumber = DEFAULT_BLK_NUM;
  uint16_t dstBlkStride = DEFAULT_BLK_STRIDE;
  uint16_t dstRepStride = DEFAULT_REPEAT_STRIDE;
};

}  // namespace AscendC

namespace hostcann {

// `bytes` at `offset` of a tensor, for a unit that reads where it is told to.
inline uint8_t* picked(const char* caller, const char* name, const LocalView& view, size_t offset,
                       size_t bytes) {
  if (offset + bytes > view.bytes) {
    fault("%s: expected offsets that stay inside the %zu bytes of %s, got %zu", caller, view.bytes,
          name, offset);
  }
  note(caller, name, Unit::kVector, Access::kRead, view.data + offset, bytes);
  return view.data + offset;
}

template <typename T>
inline void run_gather(const Walk& walk, const AscendC::LocalTensor<T>& dst,
                       const AscendC::LocalTensor<T>& src,
                       const AscendC::LocalTensor<uint32_t>& offsets, uint32_t base,
                       size_t repeat_stride) {
  static_assert(kIsOneOf<T, int16_t, uint16_t, half, bfloat16_t, int32_t, uint32_t, float>,
                "Gather of dav-2201 takes elements of 2 and 4 bytes");
  const Operand<T> to = operand("Gather", "dst", dst, walk, {1, repeat_stride});
  note_lanes("Gather", "dst", Access::kWrite, walk, to);
  src.view().aligned("Gather", "src", 0);
  const size_t reached = walk.repeats == 0 ? 0
                         : walk.counted    ? walk.total
                                           : (walk.repeats - 1) * walk.lanes + walk.lanes_reached();
  const uint8_t* const table =
      offsets.view().aligned("Gather", "srcOffset", reached * sizeof(uint32_t));
  Register<T> lanes;
  for (size_t repeat = 0; repeat < walk.repeats; ++repeat) {
    for (size_t i = 0; i < walk.lanes_of(repeat); ++i) {
      if (!walk.on(i)) continue;
      const uint8_t* const entry = table + (repeat * walk.lanes + i) * sizeof(uint32_t);
      note("Gather", "srcOffset", Unit::kVector, Access::kRead, entry, sizeof(uint32_t));
      uint32_t offset;
      std::memcpy(&offset, entry, sizeof(offset));
      if (offset % sizeof(T) != 0) {
        fault("Gather: expected offsets in multiples of the element's %zu bytes, got %u", sizeof(T),
              offset);
      }
      std::memcpy(static_cast<void*>(&lanes.lanes[i]),
                  picked("Gather", "src", src.view(), size_t{base} + offset, sizeof(T)), sizeof(T));
    }
    to.store(lanes.lanes, walk, repeat);
  }
}

// Bit i of a pattern that GatherMask has built in.
inline bool in_pattern(uint8_t pattern, size_t i) {
  switch (pattern) {
    case 1:
      return i % 2 == 0;
    case 2:
      return i % 2 == 1;
    case 7:
      return true;
    default:
      return i % 4 == static_cast<size_t>(pattern - 3);
  }
}

template <typename T, typename Bit>
inline void run_gather_mask(const AscendC::LocalTensor<T>& dst, const AscendC::LocalTensor<T>& src,
                            bool counter, uint32_t mask, const AscendC::GatherMaskParams& params,
                            uint64_t& kept, Bit bit) {
  static_assert(sizeof(T) == 2 || sizeof(T) == 4,
                "GatherMask of dav-2201 takes elements of 2 and 4 bytes");
  constexpr size_t kLanes = kRepeatBytes / sizeof(T);
  constexpr size_t kPerBlock = kBlockBytes / sizeof(T);
  const size_t each = counter ? mask : kLanes;
  kept = 0;
  const LocalView& to = dst.view();
  to.aligned("GatherMask", "dst", 0);
  src.view().aligned("GatherMask", "src0", 0);
  for (size_t repeat = 0; repeat < params.repeatTimes; ++repeat) {
    for (size_t i = 0; i < each; ++i) {
      if (!bit(repeat, i)) continue;
      const size_t block =
          repeat * params.src0RepeatStride + i / kPerBlock * params.src0BlockStride;
      const uint8_t* const from =
          picked("GatherMask", "src0", src.view(), block * kBlockBytes + i % kPerBlock * sizeof(T),
                 sizeof(T));
      if ((kept + 1) * sizeof(T) > to.bytes) {
        fault("GatherMask: expected dst (LocalTensor) to hold the elements kept, got %zu bytes",
              to.bytes);
      }
      note("GatherMask", "dst", Unit::kVector, Access::kWrite, to.data + kept * sizeof(T),
           sizeof(T));
      std::memmove(to.data + kept * sizeof(T), from, sizeof(T));
      ++kept;
    }
  }
  BlockState& block = this_block("GatherMask");
  block.gathered = kept;
  block.mask = MaskRegister();
  block.counter_mode = false;
}

}  // namespace hostcann

namespace AscendC {

template <typename T>
inline void Gather(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                   const LocalTensor<uint32_t>& srcOffset, const uint32_t srcBaseAddr,
                   const uint32_t count, hostcann::CallSite = {}) {
  hostcann::run_gather(hostcann::counted_walk("Gather", sizeof(T), count), dst, src, srcOffset,
                       srcBaseAddr, 8);
}
template <typename T, typename Mask>
inline void Gather(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                   const LocalTensor<uint32_t>& srcOffset, const uint32_t srcBaseAddr, Mask mask,
                   const uint8_t repeatTime, const uint16_t dstRepStride, hostcann::CallSite = {}) {
  hostcann::run_gather(hostcann::masked_walk("Gather", sizeof(T), true, mask, repeatTime), dst, src,
                       srcOffset, srcBaseAddr, dstRepStride);
}

// Whole blocks by their offsets, eight of them a repeat.
template <typename T>
inline void Gatherb(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                    const LocalTensor<uint32_t>& offset, const uint8_t repeatTime,
                    const GatherRepeatParams& repeatParams, hostcann::CallSite = {}) {
  using namespace hostcann;
  static_assert(sizeof(T) == 2 || sizeof(T) == 4,
                "Gatherb of dav-2201 takes elements of 2 and 4 bytes");
  const size_t table_bytes = repeatTime * 8u * sizeof(uint32_t);
  const uint8_t* const table = offset.view().aligned("Gatherb", "offset", table_bytes);
  note("Gatherb", "offset", Unit::kVector, Access::kRead, table, table_bytes);
  const Walk walk = whole_repeats(sizeof(T), repeatTime);
  const Operand<T> to =
      operand("Gatherb", "dst", dst, walk, {repeatParams.dstBlkStride, repeatParams.dstRepStride});
  note_lanes("Gatherb", "dst", Access::kWrite, walk, to);
  for (size_t i = 0; i < repeatTime * 8u; ++i) {
    uint32_t at;
    std::memcpy(&at, table + i * sizeof(at), sizeof(at));
    if (at % kBlockBytes != 0) {
      fault("Gatherb: expected offsets in multiples of 32 bytes, got %u", at);
    }
    std::memmove(to.block(i / 8, i % 8), picked("Gatherb", "src", src.view(), at, kBlockBytes),
                 kBlockBytes);
  }
}

template <typename T>
inline void GatherMask(const LocalTensor<T>& dst, const LocalTensor<T>& src0,
                       const uint8_t src1Pattern, const bool reduceMode, const uint32_t mask,
                       const GatherMaskParams& gatherMaskParams, uint64_t& rsvdCnt,
                       hostcann::CallSite = {}) {
  if (src1Pattern < 1 || src1Pattern > 7) {
    hostcann::fault("GatherMask: expected a pattern from 1 to 7, got %u", src1Pattern);
  }
  hostcann::run_gather_mask(
      dst, src0, reduceMode, mask, gatherMaskParams, rsvdCnt,
      [src1Pattern](size_t, size_t i) { return hostcann::in_pattern(src1Pattern, i); });
}
template <typename T, typename U>
inline void GatherMask(const LocalTensor<T>& dst, const LocalTensor<T>& src0,
                       const LocalTensor<U>& src1Pattern, const bool reduceMode,
                       const uint32_t mask, const GatherMaskParams& gatherMaskParams,
                       uint64_t& rsvdCnt, hostcann::CallSite = {}) {
  static_assert(sizeof(T) == sizeof(U), "a pattern of GatherMask has elements of src0's size");
  src1Pattern.view().aligned("GatherMask", "src1Pattern", 0);
  const size_t step = gatherMaskParams.src1RepeatStride * hostcann::kBlockBytes;
  hostcann::run_gather_mask(
      dst, src0, reduceMode, mask, gatherMaskParams, rsvdCnt, [&](size_t repeat, size_t i) {
        const uint8_t* const byte = hostcann::picked("GatherMask", "src1Pattern",
                                                     src1Pattern.view(), repeat * step + i / 8, 1);
        return ((*byte >> (i % 8)) & 1) != 0;
      });
}
// How many elements the last GatherMask kept.
inline int64_t GetGatherMaskRemainCount() {
  return static_cast<int64_t>(hostcann::this_block("GetGatherMaskRemainCount").gathered);
}

}  // namespace AscendC

namespace hostcann {

// Alone among the vector instructions Copy has repeats in counter mode: of `count` elements each,
// block after block, however many that are.
template <typename T>
inline void copy_counted(const AscendC::LocalTensor<T>& dst, const AscendC::LocalTensor<T>& src,
                         size_t count, size_t repeats, const AscendC::CopyRepeatParams& params) {
  Walk walk;
  walk.lanes = count;
  walk.repeats = count == 0 ? 0 : repeats;
  const auto to = operand("Copy", "dst", dst, walk, {params.dstStride, params.dstRepeatSize});
  const auto from = operand("Copy", "src", src, walk, {params.srcStride, params.srcRepeatSize});
  note_lanes("Copy", "src", Access::kRead, walk, from);
  note_lanes("Copy", "dst", Access::kWrite, walk, to);
  for (size_t repeat = 0; repeat < walk.repeats; ++repeat) {
    for (size_t lane = 0; lane < count; ++lane) {
      std::memmove(to.element(repeat, lane), from.element(repeat, lane), sizeof(T));
    }
  }
}

}  // namespace hostcann

namespace AscendC {

template <typename T, bool isSetMask = true, typename Mask>
inline void Copy(const LocalTensor<T>& dst, const LocalTensor<T>& src, Mask mask,
                 const uint8_t repeatTime, const CopyRepeatParams& repeatParams,
                 hostcann::CallSite = {}) {
  HOSTCANN_TAKES(Copy, int16_t, uint16_t, half, bfloat16_t, int32_t, uint32_t, float);
  if (hostcann::this_block("Copy").counter_mode) {
    const hostcann::Walk counted = hostcann::masked_walk("Copy", sizeof(T), isSetMask, mask, 1);
    return hostcann::copy_counted(dst, src, counted.total, repeatTime, repeatParams);
  }
  hostcann::run_unary("Copy", hostcann::masked_walk("Copy", sizeof(T), isSetMask, mask, repeatTime),
                      dst, src,
                      UnaryRepeatParams(repeatParams.dstStride, repeatParams.srcStride,
                                        static_cast<uint8_t>(repeatParams.dstRepeatSize),
                                        static_cast<uint8_t>(repeatParams.srcRepeatSize)),
                      [](T a) { return a; });
}
template <typename T, bool isSetMask = true>
inline void Copy(const LocalTensor<T>& dst, const LocalTensor<T>& src, const uint32_t count,
                 hostcann::CallSite = {}) {
  HOSTCANN_TAKES(Copy, int16_t, uint16_t, half, bfloat16_t, int32_t, uint32_t, float);
  hostcann::run_unary("Copy", hostcann::counted_walk("Copy", sizeof(T), count), dst, src, {},
                      [](T a) { return a; });
}

// Each of eight elements of src fills one block of dst; a repeat goes on with the next eight.
template <typename T>
inline void Brcb(const LocalTensor<T>& dst, const LocalTensor<T>& src, const uint8_t repeatTime,
                 const BrcbRepeatParams& repeatParams, hostcann::CallSite = {}) {
  using namespace hostcann;
  HOSTCANN_TAKES(Brcb, int16_t, uint16_t, half, bfloat16_t, int32_t, uint32_t, float);
  const size_t count = repeatTime * 8u;
  const uint8_t* const from = src.view().aligned("Brcb", "src", count * sizeof(T));
  note("Brcb", "src", Unit::kVector, Access::kRead, from, count * sizeof(T));
  const Walk walk = whole_repeats(sizeof(T), repeatTime);
  const Operand<T> to =
      operand("Brcb", "dst", dst, walk, {repeatParams.dstBlkStride, repeatParams.dstRepStride});
  note_lanes("Brcb", "dst", Access::kWrite, walk, to);
  for (size_t i = 0; i < count; ++i) {
    for (size_t k = 0; k < Operand<T>::kPerBlock; ++k) {
      std::memmove(to.block(i / 8, i % 8) + k * sizeof(T), from + i * sizeof(T), sizeof(T));
    }
  }
}

}  // namespace AscendC

#endif  // HOSTCANN_VECTOR_GATHER_H
