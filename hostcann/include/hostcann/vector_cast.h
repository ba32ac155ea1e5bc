// SPDX-License-Identifier: Apache-2.0
// Cast: every pair of types that dav-2201 converts, in every rounding mode.
#ifndef HOSTCANN_VECTOR_CAST_H
#define HOSTCANN_VECTOR_CAST_H

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "hostcann/vector_arithmetic.h"

namespace AscendC {

enum class RoundMode : uint8_t {
  CAST_NONE = 0,  // to the nearest where something is lost
  CAST_RINT,      // to the nearest, halves to even
  CAST_FLOOR,
  CAST_CEIL,
  CAST_ROUND,  // to the nearest, halves away from zero
  CAST_TRUNC,
  CAST_ODD,  // what is inexact gets an odd last bit
};

}  // namespace AscendC

namespace hostcann {

using AscendC::RoundMode;

// A number taken apart: magnitude x 2^exponent. Conversions go through it, so that each rounds
// once, exactly.
struct Number {
  bool negative = false;
  bool infinite = false;
  bool nan = false;
  uint64_t magnitude = 0;
  int exponent = 0;
};

template <typename T>
inline Number take_apart(T value) {
  Number number;
  if constexpr (std::is_integral_v<T>) {
    number.negative = value < T(0);
    number.magnitude =
        number.negative ? uint64_t{0} - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
  } else {
    const float as_float = static_cast<float>(value);  // exact: from half or bfloat16 at most
    uint32_t bits;
    std::memcpy(&bits, &as_float, sizeof(bits));
    const uint32_t biased = (bits >> 23) & 0xff;
    const uint32_t fraction = bits & 0x7fffff;
    number.negative = (bits >> 31) != 0;
    number.nan = biased == 0xff && fraction != 0;
    number.infinite = biased == 0xff && fraction == 0;
    number.magnitude = biased == 0 ? fraction : fraction | 0x800000;
    number.exponent = (biased == 0 ? 1 : static_cast<int>(biased)) - 150;
  }
  return number;
}

// The magnitude without its last `drop` bits.
inline uint64_t rounded(uint64_t magnitude, int drop, bool negative, RoundMode mode) {
  if (drop <= 0) return magnitude << -drop;
  const uint64_t kept = drop > 63 ? 0 : magnitude >> drop;
  const uint64_t lost = drop > 63 ? magnitude : magnitude & ((uint64_t{1} << drop) - 1);
  if (lost == 0) return kept;
  const uint64_t half = drop > 63 ? ~uint64_t{0} : uint64_t{1} << (drop - 1);
  switch (mode) {
    case RoundMode::CAST_FLOOR:
      return kept + (negative ? 1 : 0);
    case RoundMode::CAST_CEIL:
      return kept + (negative ? 0 : 1);
    case RoundMode::CAST_ROUND:
      return kept + (lost >= half ? 1 : 0);
    case RoundMode::CAST_TRUNC:
      return kept;
    case RoundMode::CAST_ODD:
      return kept | 1;
    default:
      return kept + (lost > half || (lost == half && (kept & 1) != 0) ? 1 : 0);
  }
}

// Beyond the range of an integer the nearest end of the range; NaN is 0.
template <typename T>
inline T to_integer(const Number& number, RoundMode mode) {
  using Limits = std::numeric_limits<T>;
  if (number.nan) return T(0);
  const T end = number.negative ? Limits::min() : Limits::max();
  if (number.infinite || number.exponent > 39) return end;
  const uint64_t magnitude = rounded(number.magnitude, -number.exponent, number.negative, mode);
  const uint64_t most = number.negative
                            ? uint64_t{0} - static_cast<uint64_t>(int64_t{Limits::min()})
                            : static_cast<uint64_t>(Limits::max());
  if (magnitude > most) return end;
  return static_cast<T>(number.negative ? uint64_t{0} - magnitude : magnitude);
}

// Bits of a floating-point format with `fraction_bits` and an exponent of which `max_biased` is
// infinity.
inline uint32_t to_format(const Number& number, RoundMode mode, int fraction_bits, int max_biased) {
  const uint32_t sign = number.negative ? uint32_t{1} : 0;
  const int sign_at = fraction_bits + (max_biased == 31 ? 5 : 8);
  const uint32_t infinity = static_cast<uint32_t>(max_biased) << fraction_bits;
  if (number.nan) return infinity | (uint32_t{1} << (fraction_bits - 1));
  if (number.infinite) return (sign << sign_at) | infinity;
  if (number.magnitude == 0) return sign << sign_at;
  const int bias = max_biased / 2;
  const int top = 63 - __builtin_clzll(number.magnitude) + number.exponent;  // of the leading bit
  const int smallest = 1 - bias;
  const int unit = (top < smallest ? smallest : top) - fraction_bits;  // exponent of the last bit
  // A carry out of the fraction runs into the exponent, which is right.
  const uint64_t kept = rounded(number.magnitude, unit - number.exponent, number.negative, mode);
  const uint32_t exponent = static_cast<uint32_t>(top < smallest ? 0 : top + bias - 1);
  uint64_t bits = (static_cast<uint64_t>(exponent) << fraction_bits) + kept;
  if (top < smallest) bits = kept;
  if (bits >= infinity) {
    const bool to_zero = mode == RoundMode::CAST_TRUNC || mode == RoundMode::CAST_ODD ||
                         (mode == RoundMode::CAST_FLOOR && !number.negative) ||
                         (mode == RoundMode::CAST_CEIL && number.negative);
    bits = to_zero ? infinity - 1 : infinity;
  }
  return (sign << sign_at) | static_cast<uint32_t>(bits);
}

template <typename T, typename Bits>
inline T from_bits(Bits bits) {
  T value;
  static_assert(sizeof(T) == sizeof(Bits));
  std::memcpy(static_cast<void*>(&value), &bits, sizeof(value));
  return value;
}

template <typename D, typename S>
inline D converted(S value, RoundMode mode) {
  const Number number = take_apart(value);
  if constexpr (std::is_integral_v<D>) {
    return to_integer<D>(number, mode);
  } else if constexpr (std::is_same_v<D, half>) {
    return from_bits<half>(static_cast<uint16_t>(to_format(number, mode, 10, 31)));
  } else if constexpr (std::is_same_v<D, bfloat16_t>) {
    return from_bits<bfloat16_t>(static_cast<uint16_t>(to_format(number, mode, 7, 255)));
  } else {
    return from_bits<float>(to_format(number, mode, 23, 255));
  }
}

// A float rounded to a whole number that stays a float.
inline float rounded_float(float value, RoundMode mode) {
  const Number number = take_apart(value);
  if (number.nan || number.infinite || number.exponent >= 0) return value;
  Number whole = number;
  whole.magnitude = rounded(number.magnitude, -number.exponent, number.negative, mode);
  whole.exponent = 0;
  return from_bits<float>(to_format(whole, mode, 23, 255));
}

// The rounding modes that dav-2201 has from S to D, one bit each; 0: no such conversion.
template <typename D, typename S>
constexpr unsigned rounding_modes() {
  const unsigned exact = 1u << 0;
  const unsigned five = 0x3e;
  const unsigned odd = 1u << 6;
  if (std::is_same_v<S, half>) {
    if (std::is_same_v<D, float>) return exact;
    if (kIsOneOf<D, int16_t, int32_t>) return five;
    if (kIsOneOf<D, int8_t, uint8_t, AscendC::int4b_t>) return five | exact;
  } else if (std::is_same_v<S, float>) {
    if (std::is_same_v<D, half>) return five | exact | odd;
    if (kIsOneOf<D, float, bfloat16_t, int16_t, int32_t, int64_t>) return five;
  } else if (std::is_same_v<S, bfloat16_t>) {
    if (std::is_same_v<D, float>) return exact;
    if (std::is_same_v<D, int32_t>) return five;
  } else if (kIsOneOf<S, int8_t, uint8_t, AscendC::int4b_t>) {
    if (std::is_same_v<D, half>) return exact;
  } else if (std::is_same_v<S, int16_t>) {
    if (std::is_same_v<D, half>) return five | exact;
    if (std::is_same_v<D, float>) return exact;
  } else if (std::is_same_v<S, int32_t>) {
    if (std::is_same_v<D, float>) return five | exact;
    if (kIsOneOf<D, int16_t, int64_t>) return exact;
    if (std::is_same_v<D, half>) return 0x7f;
  } else if (std::is_same_v<S, int64_t>) {
    if (std::is_same_v<D, int32_t>) return exact;
    if (std::is_same_v<D, float>) return five;
  }
  return 0;
}

// The walk over bytes of which each holds two of the lanes.
inline Walk pairs_of(const char* caller, const Walk& walk) {
  Walk pairs = walk;
  pairs.lanes /= 2;
  pairs.total /= 2;
  pairs.mask = MaskRegister{0, 0};
  bool whole = walk.total % 2 == 0;
  for (size_t lane = 0; lane < walk.lanes; lane += 2) {
    whole = whole && walk.on(lane) == walk.on(lane + 1);
    if (walk.on(lane)) pairs.mask.low |= uint64_t{1} << (lane / 2);
  }
  if (!whole) {
    fault("%s: expected int4b_t by twos, the two of a byte, got a count or a mask that parts them",
          caller);
  }
  return pairs;
}

inline half half_of_nibble(uint8_t bits) {
  return static_cast<half>(static_cast<float>((bits & 15) ^ 8) - 8);
}
// Beyond the range of -8 to 7 its nearest end.
inline uint8_t nibble_of_half(half value, RoundMode mode) {
  const int8_t number = converted<int8_t>(value, mode);
  return static_cast<uint8_t>(number < -8 ? -8 : number > 7 ? 7 : number) & 15;
}

// A block of int4b_t holds 64 of them, so that a repeat of half has two.
template <typename D, typename S>
inline void run_nibble_cast(const char* caller, const Walk& walk,
                            const AscendC::LocalTensor<D>& dst, const AscendC::LocalTensor<S>& src,
                            RoundMode mode, const AscendC::UnaryRepeatParams& params) {
  const Walk pairs = pairs_of(caller, walk);
  const auto bytes = [&](const char* name, const auto& tensor, Strides strides) {
    return operand(caller, name, tensor.template ReinterpretCast<uint8_t>(), pairs, strides);
  };
  if (walk.repeats == 0) return;
  half numbers[kMaxLanes] = {};
  uint8_t packed[kMaxLanes] = {};
  if constexpr (kIsNibble<D>) {
    const auto from = operand(caller, "src", src, walk, src_of(params));
    const auto to = bytes("dst", dst, dst_of(params));
    note_lanes(caller, "src", Access::kRead, walk, from);
    note_lanes(caller, "dst", Access::kWrite, pairs, to);
    for (size_t repeat = 0; repeat < walk.repeats; ++repeat) {
      from.load(numbers, walk, repeat);
      for (size_t i = 0; i < pairs.lanes; ++i) {
        packed[i] = static_cast<uint8_t>(nibble_of_half(numbers[2 * i], mode) |
                                         nibble_of_half(numbers[2 * i + 1], mode) << 4);
      }
      to.store(packed, pairs, repeat);
    }
  } else {
    const auto from = bytes("src", src, src_of(params));
    const auto to = operand(caller, "dst", dst, walk, dst_of(params));
    note_lanes(caller, "src", Access::kRead, pairs, from);
    note_lanes(caller, "dst", Access::kWrite, walk, to);
    for (size_t repeat = 0; repeat < walk.repeats; ++repeat) {
      from.load(packed, pairs, repeat);
      for (size_t i = 0; i < pairs.lanes; ++i) {
        numbers[2 * i] = half_of_nibble(packed[i]);
        numbers[2 * i + 1] = half_of_nibble(static_cast<uint8_t>(packed[i] >> 4));
      }
      to.store(numbers, walk, repeat);
    }
  }
}

template <typename D, typename S>
inline void run_lane_cast(const char* caller, const Walk& walk, const AscendC::LocalTensor<D>& dst,
                          const AscendC::LocalTensor<S>& src, RoundMode mode,
                          const AscendC::UnaryRepeatParams& params) {
  const auto to = operand(caller, "dst", dst, walk, dst_of(params));
  const auto from = operand(caller, "src", src, walk, src_of(params));
  const auto run = [&](auto function) { run_lanes(caller, walk, function, to, from); };
  const bool nearest = mode == RoundMode::CAST_NONE || mode == RoundMode::CAST_RINT;
  if constexpr (std::is_same_v<S, int32_t> && std::is_same_v<D, half>) {
    const float scale = this_block(caller).dequant_scale;
    run([scale](S a) { return static_cast<D>(static_cast<float>(a) * scale); });
  } else if constexpr (kIsOneOf<D, float, half, bfloat16_t> &&
                       kIsOneOf<S, float, half, bfloat16_t> && !std::is_same_v<D, S>) {
    // What the host converts alike, at its speed.
    if (nearest) return run([](S a) { return static_cast<D>(static_cast<float>(a)); });
    run([mode](S a) { return converted<D>(a, mode); });
  } else if constexpr (std::is_same_v<D, float> && std::is_same_v<S, float>) {
    run([mode](float a) { return rounded_float(a, mode); });
  } else {
    run([mode](S a) { return converted<D>(a, mode); });
  }
}

template <typename D, typename S>
inline void run_cast(const char* caller, const Walk& walk, const AscendC::LocalTensor<D>& dst,
                     const AscendC::LocalTensor<S>& src, RoundMode mode,
                     const AscendC::UnaryRepeatParams& params) {
  constexpr unsigned kModes = rounding_modes<D, S>();
  static_assert(kModes != 0, "Cast: dav-2201 does not convert between these two types");
  if (((kModes >> static_cast<unsigned>(mode)) & 1) == 0) {
    fault("%s: expected a rounding mode that dav-2201 has for these types, got %s", caller,
          mode == RoundMode::CAST_NONE  ? "CAST_NONE"
          : mode == RoundMode::CAST_ODD ? "CAST_ODD"
                                        : "one that loses nothing here; use CAST_NONE");
  }
  if constexpr (kIsNibble<D> || kIsNibble<S>) {
    run_nibble_cast(caller, walk, dst, src, mode, params);
  } else {
    run_lane_cast(caller, walk, dst, src, mode, params);
  }
}

}  // namespace hostcann

namespace AscendC {

// The scale of a Cast from int32_t to half.
inline void SetDeqScale(half scale, hostcann::CallSite = {}) {
  hostcann::this_block("SetDeqScale").dequant_scale = static_cast<float>(scale);
}

template <typename T, typename U, bool isSetMask = true>
inline void Cast(const LocalTensor<T>& dst, const LocalTensor<U>& src, const RoundMode& roundMode,
                 const uint32_t count, hostcann::CallSite = {}) {
  constexpr size_t kWider = sizeof(T) > sizeof(U) ? sizeof(T) : sizeof(U);
  hostcann::run_cast("Cast", hostcann::counted_walk("Cast", kWider, count), dst, src, roundMode,
                     hostcann::flat_params<T, U>());
}

template <typename T, typename U, bool isSetMask = true, typename Mask>
inline void Cast(const LocalTensor<T>& dst, const LocalTensor<U>& src, const RoundMode& roundMode,
                 Mask mask, const uint8_t repeatTime, const UnaryRepeatParams& repeatParams,
                 hostcann::CallSite = {}) {
  constexpr size_t kWider = sizeof(T) > sizeof(U) ? sizeof(T) : sizeof(U);
  hostcann::run_cast("Cast", hostcann::masked_walk("Cast", kWider, isSetMask, mask, repeatTime),
                     dst, src, roundMode, repeatParams);
}

}  // namespace AscendC

#endif  // HOSTCANN_VECTOR_CAST_H
