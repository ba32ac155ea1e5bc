// SPDX-License-Identifier: Apache-2.0
// Element types and positions of dav-2201.
#ifndef HOSTCANN_KERNEL_TYPES_H
#define HOSTCANN_KERNEL_TYPES_H

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

// g++ 12 has _Float16 in C++ on x86-64 only; __fp16 is the same format on AArch64.
#if defined(__aarch64__) && !defined(__clang__) && __GNUC__ < 13
using half = __fp16;
#else
using half = _Float16;
#endif

// The upper half of a float. Arithmetic is done in float, as the hardware has none in bfloat16.
struct bfloat16_t {
  bfloat16_t() = default;
  bfloat16_t(float value) {
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof(bits));
    // Rounding must not carry a NaN's mantissa into infinity, so a NaN is only cut and kept quiet.
    bits = value != value ? bits | 0x400000u : bits + 0x7fffu + ((bits >> 16) & 1u);
    bits_ = static_cast<uint16_t>(bits >> 16);
  }
  explicit operator float() const {
    const uint32_t bits = static_cast<uint32_t>(bits_) << 16;
    float value;
    std::memcpy(&value, &bits, sizeof(value));
    return value;
  }

 private:
  uint16_t bits_;
};
static_assert(std::is_trivially_copyable_v<bfloat16_t> && sizeof(bfloat16_t) == 2);

namespace AscendC {

enum class TPosition : uint8_t {
  GM,
  A1,
  A2,
  B1,
  B2,
  C1,
  C2,
  CO1,
  CO2,
  VECIN,
  VECOUT,
  VECCALC,
  LCM = VECCALC,
  SPM,
  SHM = SPM,
  TSCM,
  C2PIPE2GM,
  C2PIPE2LOCAL,
  MAX,
};

using QuePosition = TPosition;

// Half a byte: of two elements the first lies in the low half.
struct int4b_t {
  uint8_t bits;
};

}  // namespace AscendC

namespace hostcann {

template <typename T>
inline constexpr bool kIsNibble = std::is_same_v<T, AscendC::int4b_t>;
template <typename T>
constexpr size_t elements_in(size_t bytes) {
  return kIsNibble<T> ? 2 * bytes : bytes / sizeof(T);
}
template <typename T>
constexpr size_t bytes_of(size_t elements) {
  return kIsNibble<T> ? (elements + 1) / 2 : elements * sizeof(T);
}

constexpr bool in_unified_buffer(AscendC::TPosition position) {
  return position == AscendC::TPosition::VECIN || position == AscendC::TPosition::VECOUT ||
         position == AscendC::TPosition::VECCALC;
}

inline const char* position_name(AscendC::TPosition position) {
  switch (position) {
    case AscendC::TPosition::VECIN:
      return "VECIN";
    case AscendC::TPosition::VECOUT:
      return "VECOUT";
    case AscendC::TPosition::VECCALC:
      return "VECCALC";
    default:
      return "unknown";
  }
}

// bool and int4b_t are absent: the data movement units of dav-2201 do not take them, but for a
// plain DataCopy of bool.
template <typename T>
inline constexpr bool kIsMovable =
    std::is_same_v<T, int8_t> || std::is_same_v<T, uint8_t> || std::is_same_v<T, int16_t> ||
    std::is_same_v<T, uint16_t> || std::is_same_v<T, half> || std::is_same_v<T, bfloat16_t> ||
    std::is_same_v<T, int32_t> || std::is_same_v<T, uint32_t> || std::is_same_v<T, float> ||
    std::is_same_v<T, int64_t> || std::is_same_v<T, uint64_t> || std::is_same_v<T, double>;

}  // namespace hostcann

#endif  // HOSTCANN_KERNEL_TYPES_H
