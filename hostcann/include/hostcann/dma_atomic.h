// SPDX-License-Identifier: Apache-2.0
// Copies to device memory that combine what is there with what comes: blocks run on several
// threads, so every element is exchanged atomically.
#ifndef HOSTCANN_DMA_ATOMIC_H
#define HOSTCANN_DMA_ATOMIC_H

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "hostcann/block_state.h"

namespace hostcann {

template <typename T>
inline constexpr bool kIsCombinable =
    std::is_same_v<T, float> || std::is_same_v<T, half> || std::is_same_v<T, bfloat16_t> ||
    std::is_same_v<T, int32_t> || std::is_same_v<T, int16_t> || std::is_same_v<T, int8_t>;

template <typename T>
inline T combined(AtomicMode mode, T old, T value) {
  if constexpr (std::is_integral_v<T>) {
    if (mode == AtomicMode::kAdd) {
      return static_cast<T>(static_cast<uint32_t>(old) + static_cast<uint32_t>(value));
    }
    return (mode == AtomicMode::kMax) == (old > value) ? old : value;
  } else {
    const float a = static_cast<float>(old);
    const float b = static_cast<float>(value);
    if (mode == AtomicMode::kAdd) return static_cast<T>(a + b);
    return (mode == AtomicMode::kMax) == (a > b) ? old : value;
  }
}

template <typename T>
inline void combine([[maybe_unused]] AtomicMode mode, [[maybe_unused]] uint8_t* dst,
                    [[maybe_unused]] const uint8_t* src, [[maybe_unused]] size_t bytes) {
  if constexpr (!kIsCombinable<T>) {
    fault("DataCopy: expected an element type that SetAtomicAdd takes, got another one");
  } else {
    using Bits = std::conditional_t<sizeof(T) == 4, uint32_t,
                                    std::conditional_t<sizeof(T) == 2, uint16_t, uint8_t>>;
    for (size_t i = 0; i < bytes / sizeof(T); ++i) {
      T value;
      std::memcpy(static_cast<void*>(&value), src + i * sizeof(T), sizeof(T));
      Bits* const at = reinterpret_cast<Bits*>(dst + i * sizeof(T));
      Bits seen = __atomic_load_n(at, __ATOMIC_RELAXED);
      Bits wanted;
      do {
        T old;
        std::memcpy(static_cast<void*>(&old), &seen, sizeof(T));
        const T sum = combined(mode, old, value);
        std::memcpy(&wanted, &sum, sizeof(T));
      } while (!__atomic_compare_exchange_n(at, &seen, wanted, true, __ATOMIC_RELAXED,
                                            __ATOMIC_RELAXED));
    }
  }
}

}  // namespace hostcann

namespace AscendC {

template <typename T>
inline void SetAtomicAdd(hostcann::CallSite = {}) {
  static_assert(hostcann::kIsCombinable<T>, "SetAtomicAdd of dav-2201 does not take this type");
  hostcann::this_block("SetAtomicAdd").atomic = hostcann::AtomicMode::kAdd;
}
template <typename T>
inline void SetAtomicMax(hostcann::CallSite = {}) {
  static_assert(hostcann::kIsCombinable<T>, "SetAtomicMax of dav-2201 does not take this type");
  hostcann::this_block("SetAtomicMax").atomic = hostcann::AtomicMode::kMax;
}
template <typename T>
inline void SetAtomicMin(hostcann::CallSite = {}) {
  static_assert(hostcann::kIsCombinable<T>, "SetAtomicMin of dav-2201 does not take this type");
  hostcann::this_block("SetAtomicMin").atomic = hostcann::AtomicMode::kMin;
}
inline void DisableDmaAtomic(hostcann::CallSite = {}) {
  hostcann::this_block("DisableDmaAtomic").atomic = hostcann::AtomicMode::kNone;
}
inline void SetAtomicNone(hostcann::CallSite = {}) {
  hostcann::this_block("SetAtomicNone").atomic = hostcann::AtomicMode::kNone;
}

}  // namespace AscendC

#endif  // HOSTCANN_DMA_ATOMIC_H
