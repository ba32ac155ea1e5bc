// SPDX-License-Identifier: Apache-2.0
// System variables, the mask register, and what else a kernel sets up.
#ifndef HOSTCANN_KERNEL_SYSTEM_H
#define HOSTCANN_KERNEL_SYSTEM_H

#include <time.h>

#include <cstddef>
#include <cstdint>

#include "hostcann/block_state.h"
#include "hostcann/vector_lanes.h"

namespace AscendC {

constexpr uint32_t ONE_BLK_SIZE = 32;
constexpr uint32_t ONE_REPEAT_BYTE_SIZE = 256;

inline int64_t GetBlockIdx(hostcann::CallSite = {}) {
  return hostcann::this_block("GetBlockIdx").block_index;
}
inline int64_t GetBlockNum(hostcann::CallSite = {}) {
  return hostcann::this_block("GetBlockNum").block_count;
}
// A vector kernel has no cube core beside it.
inline int64_t GetSubBlockIdx() { return 0; }
inline int64_t GetSubBlockNum() { return 1; }
inline int64_t GetTaskRation() { return 1; }
inline int64_t GetTaskRatio() { return 1; }
inline constexpr uint32_t GetUBSizeInBytes() { return hostcann::kUbBytes; }
inline constexpr uint32_t GetRuntimeUBSize() { return hostcann::kUbBytes; }
inline constexpr uint32_t GetDataBlockSizeInBytes() { return hostcann::kBlockBytes; }
inline constexpr uint32_t GetVecLen() { return hostcann::kRepeatBytes; }

// Nanoseconds of the host, where the hardware counts cycles of 20 ns.
inline int64_t GetSystemCycle() {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t{now.tv_sec} * 1000000000 + now.tv_nsec) / 20;
}

inline void InitSocState(hostcann::CallSite = {}) {
  hostcann::this_block("InitSocState").reset_registers();
}

inline void SetMaskCount(hostcann::CallSite = {}) {
  hostcann::this_block("SetMaskCount").counter_mode = true;
}
inline void SetMaskNorm(hostcann::CallSite = {}) {
  hostcann::this_block("SetMaskNorm").counter_mode = false;
}
inline void ResetMask(hostcann::CallSite = {}) {
  hostcann::this_block("ResetMask").mask = hostcann::MaskRegister();
}

template <typename T, MaskMode mode = MaskMode::NORMAL>
inline void SetVectorMask(const uint64_t maskHigh, const uint64_t maskLow,
                          hostcann::CallSite = {}) {
  hostcann::this_block("SetVectorMask").mask = {maskLow, maskHigh};
}
template <typename T, MaskMode mode = MaskMode::NORMAL>
inline void SetVectorMask(int32_t len, hostcann::CallSite = {}) {
  if (len < 0) hostcann::fault("SetVectorMask: expected a length of 0 or more, got %d", len);
  const uint64_t count = static_cast<uint64_t>(len);
  hostcann::this_block("SetVectorMask").mask =
      mode == MaskMode::COUNTER ? hostcann::MaskRegister{count, 0} : hostcann::leading_lanes(count);
}

inline uint32_t DivCeil(uint32_t dividend, uint32_t divisor) {
  return divisor == 0 ? dividend : (dividend + divisor - 1) / divisor;
}
inline uint32_t AlignUp(uint32_t value, uint32_t to) {
  return to == 0 ? value : (value + to - 1) / to * to;
}

inline float ToFloat(const bfloat16_t& value) { return static_cast<float>(value); }
inline bfloat16_t ToBfloat16(const float& value) { return bfloat16_t(value); }

struct AscendCUtils {
  // The saturating mode of the hardware's arithmetic is not imitated.
  static inline void SetOverflow(uint64_t) {}
};

}  // namespace AscendC

#endif  // HOSTCANN_KERNEL_SYSTEM_H
