// SPDX-License-Identifier: Apache-2.0
// Element-wise arithmetic and logic. Every function has a form for the first `count` elements and
// one with a mask, repeats and strides; a mask is a number of leading lanes or an array of bits.
#ifndef HOSTCANN_VECTOR_ARITHMETIC_H
#define HOSTCANN_VECTOR_ARITHMETIC_H

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "hostcann/vector_lanes.h"

namespace hostcann {

template <typename T, typename... Types>
inline constexpr bool kIsOneOf = (std::is_same_v<T, Types> || ...);

// What an operation is computed in: signed overflow is undefined in C++, so integers wrap by way of
// an unsigned type; a half is computed in float and rounded once.
inline float wide(half value) { return static_cast<float>(value); }
inline float wide(float value) { return value; }
template <typename T>
inline uint32_t wide(T value) {
  return static_cast<uint32_t>(value);
}

// A NaN on either side is the result: of a comparison with one, only the test for it is true.
template <typename T>
inline T larger(T a, T b) {
  return a > b || a != a ? a : b;
}
template <typename T>
inline T smaller(T a, T b) {
  return a < b || a != a ? a : b;
}
template <typename T>
inline T rectified(T value) {
  return value < T(0) ? T(0) : value;
}

// Shifts by the width of the type or more leave nothing but the sign.
template <typename T>
inline T shifted_left(T value, T by) {
  constexpr int kBits = sizeof(T) * 8;
  if (by >= T(kBits)) return T(0);
  return static_cast<T>(static_cast<std::make_unsigned_t<T>>(value) << by);
}
template <typename T>
inline T shifted_right(T value, T by, bool round) {
  constexpr int kBits = sizeof(T) * 8;
  if (by <= T(0)) return value;
  const T last = by >= T(kBits) ? T(value < T(0)) : T((value >> (by - 1)) & 1);
  const T rest = by >= T(kBits) ? T(value < T(0) ? -1 : 0) : T(value >> by);
  return round ? static_cast<T>(rest + last) : rest;
}

inline Strides dst_of(const AscendC::UnaryRepeatParams& p) {
  return {p.dstBlkStride, p.dstRepStride};
}
inline Strides src_of(const AscendC::UnaryRepeatParams& p) {
  return {p.srcBlkStride, p.srcRepStride};
}
inline Strides dst_of(const AscendC::BinaryRepeatParams& p) {
  return {p.dstBlkStride, p.dstRepStride};
}
inline Strides src0_of(const AscendC::BinaryRepeatParams& p) {
  return {p.src0BlkStride, p.src0RepStride};
}
inline Strides src1_of(const AscendC::BinaryRepeatParams& p) {
  return {p.src1BlkStride, p.src1RepStride};
}

template <typename T, typename Function>
inline void run_unary(const char* caller, const Walk& walk, const AscendC::LocalTensor<T>& dst,
                      const AscendC::LocalTensor<T>& src, const AscendC::UnaryRepeatParams& params,
                      Function function) {
  run_lanes(caller, walk, function, operand(caller, "dst", dst, walk, dst_of(params)),
            operand(caller, "src", src, walk, src_of(params)));
}

template <typename T, typename Function>
inline void run_binary(const char* caller, const Walk& walk, const AscendC::LocalTensor<T>& dst,
                       const AscendC::LocalTensor<T>& src0, const AscendC::LocalTensor<T>& src1,
                       const AscendC::BinaryRepeatParams& params, Function function) {
  run_lanes(caller, walk, function, operand(caller, "dst", dst, walk, dst_of(params)),
            operand(caller, "src0", src0, walk, src0_of(params)),
            operand(caller, "src1", src1, walk, src1_of(params)));
}

// The destination is a source as well; its old value comes last.
template <typename T, typename Function>
inline void run_fused(const char* caller, const Walk& walk, const AscendC::LocalTensor<T>& dst,
                      const AscendC::LocalTensor<T>& src0, const AscendC::LocalTensor<T>& src1,
                      const AscendC::BinaryRepeatParams& params, Function function) {
  const Operand<T> to = operand(caller, "dst", dst, walk, dst_of(params));
  run_lanes(caller, walk, function, to, operand(caller, "src0", src0, walk, src0_of(params)),
            operand(caller, "src1", src1, walk, src1_of(params)), to);
}

}  // namespace hostcann

// One line below declares one function: its name, what it computes from a, b (and the old value d
// of the destination) or from a and the scalar s, and the element types that dav-2201 takes.
#define HOSTCANN_TAKES(Name, ...) \
  static_assert(hostcann::kIsOneOf<T, __VA_ARGS__>, #Name " of dav-2201 takes " #__VA_ARGS__)

#define HOSTCANN_OPERATION(Name, Parameters, expression, member) \
  namespace operations {                                         \
  template <typename T>                                          \
  struct Name {                                                  \
    member inline T operator() Parameters const {                \
      using namespace hostcann;                                  \
      return static_cast<T>(expression);                         \
    }                                                            \
  };                                                             \
  }

#define HOSTCANN_TERNARY_FORMS(Name, Run, Parameters, expression, ...)                          \
  HOSTCANN_OPERATION(Name, Parameters, expression, )                                            \
  template <typename T, bool isSetMask = true>                                                  \
  inline void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src0,                       \
                   const LocalTensor<T>& src1, const int32_t& count, hostcann::CallSite = {}) { \
    HOSTCANN_TAKES(Name, __VA_ARGS__);                                                          \
    hostcann::Run(#Name, hostcann::counted_walk(#Name, sizeof(T), count), dst, src0, src1, {},  \
                  operations::Name<T>());                                                       \
  }                                                                                             \
  template <typename T, bool isSetMask = true, typename Mask>                                   \
  inline void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src0,                       \
                   const LocalTensor<T>& src1, Mask mask, const uint8_t repeatTime,             \
                   const BinaryRepeatParams& repeatParams, hostcann::CallSite = {}) {           \
    HOSTCANN_TAKES(Name, __VA_ARGS__);                                                          \
    hostcann::Run(#Name, hostcann::masked_walk(#Name, sizeof(T), isSetMask, mask, repeatTime),  \
                  dst, src0, src1, repeatParams, operations::Name<T>());                        \
  }
#define HOSTCANN_BINARY(Name, expression, ...) \
  HOSTCANN_TERNARY_FORMS(Name, run_binary, (T a, T b), expression, __VA_ARGS__)
#define HOSTCANN_FUSED(Name, expression, ...) \
  HOSTCANN_TERNARY_FORMS(Name, run_fused, (T a, T b, T d), expression, __VA_ARGS__)

#define HOSTCANN_UNARY(Name, expression, ...)                                                      \
  HOSTCANN_OPERATION(Name, (T a), expression, )                                                    \
  template <typename T, bool isSetMask = true>                                                     \
  inline void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src, const int32_t& count,     \
                   hostcann::CallSite = {}) {                                                      \
    HOSTCANN_TAKES(Name, __VA_ARGS__);                                                             \
    hostcann::run_unary(#Name, hostcann::counted_walk(#Name, sizeof(T), count), dst, src, {},      \
                        operations::Name<T>());                                                    \
  }                                                                                                \
  template <typename T, bool isSetMask = true, typename Mask>                                      \
  inline void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src, Mask mask,                \
                   const uint8_t repeatTime, const UnaryRepeatParams& repeatParams,                \
                   hostcann::CallSite = {}) {                                                      \
    HOSTCANN_TAKES(Name, __VA_ARGS__);                                                             \
    hostcann::run_unary(#Name,                                                                     \
                        hostcann::masked_walk(#Name, sizeof(T), isSetMask, mask, repeatTime), dst, \
                        src, repeatParams, operations::Name<T>());                                 \
  }

#define HOSTCANN_SCALAR(Name, expression, ...)                                                     \
  HOSTCANN_OPERATION(Name, (T a), expression, T s;)                                                \
  template <typename T, bool isSetMask = true>                                                     \
  inline void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src, const T& scalarValue,     \
                   const int32_t& count, hostcann::CallSite = {}) {                                \
    HOSTCANN_TAKES(Name, __VA_ARGS__);                                                             \
    hostcann::run_unary(#Name, hostcann::counted_walk(#Name, sizeof(T), count), dst, src, {},      \
                        operations::Name<T>{scalarValue});                                         \
  }                                                                                                \
  template <typename T, bool isSetMask = true, typename Mask>                                      \
  inline void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src, const T& scalarValue,     \
                   Mask mask, const uint8_t repeatTime, const UnaryRepeatParams& repeatParams,     \
                   hostcann::CallSite = {}) {                                                      \
    HOSTCANN_TAKES(Name, __VA_ARGS__);                                                             \
    hostcann::run_unary(#Name,                                                                     \
                        hostcann::masked_walk(#Name, sizeof(T), isSetMask, mask, repeatTime), dst, \
                        src, repeatParams, operations::Name<T>{scalarValue});                      \
  }

namespace AscendC {

HOSTCANN_BINARY(Add, wide(a) + wide(b), int16_t, half, int32_t, float)
HOSTCANN_BINARY(Sub, wide(a) - wide(b), int16_t, half, int32_t, float)
HOSTCANN_BINARY(Mul, wide(a) * wide(b), int16_t, half, int32_t, float)
HOSTCANN_BINARY(Div, wide(a) / wide(b), half, float)
HOSTCANN_BINARY(Max, larger(a, b), int16_t, half, int32_t, float)
HOSTCANN_BINARY(Min, smaller(a, b), int16_t, half, int32_t, float)
HOSTCANN_BINARY(And, a& b, int16_t, uint16_t)
HOSTCANN_BINARY(Or, a | b, int16_t, uint16_t)
HOSTCANN_BINARY(AddRelu, rectified(T(wide(a) + wide(b))), int16_t, half, float)
HOSTCANN_BINARY(SubRelu, rectified(T(wide(a) - wide(b))), int16_t, half, float)

HOSTCANN_FUSED(FusedMulAdd, wide(a) * wide(d) + wide(b), half, float)
HOSTCANN_FUSED(FusedMulAddRelu, rectified(T(wide(a) * wide(d) + wide(b))), half, float)
HOSTCANN_FUSED(MulAddRelu, rectified(T(wide(a) * wide(d) + wide(b))), half, float)

HOSTCANN_UNARY(Abs, __builtin_fabsf(wide(a)), half, float)
HOSTCANN_UNARY(Exp, __builtin_expf(wide(a)), half, float)
HOSTCANN_UNARY(Ln, __builtin_logf(wide(a)), half, float)
HOSTCANN_UNARY(Sqrt, __builtin_sqrtf(wide(a)), half, float)
HOSTCANN_UNARY(Rsqrt, 1.0 / __builtin_sqrt(wide(a)), half, float)
HOSTCANN_UNARY(Reciprocal, 1.0f / wide(a), half, float)
HOSTCANN_UNARY(Relu, rectified(a), half, int32_t, float)
HOSTCANN_UNARY(Not, ~a, int16_t, uint16_t)

HOSTCANN_SCALAR(Adds, wide(a) + wide(s), int16_t, half, int32_t, float)
HOSTCANN_SCALAR(Muls, wide(a) * wide(s), int16_t, half, int32_t, float)
HOSTCANN_SCALAR(Maxs, larger(a, s), int16_t, half, int32_t, float)
HOSTCANN_SCALAR(Mins, smaller(a, s), int16_t, half, int32_t, float)
HOSTCANN_SCALAR(LeakyRelu, a >= T(0) ? wide(a) : wide(a) * wide(s), half, float)
HOSTCANN_SCALAR(ShiftLeft, shifted_left(a, s), int16_t, uint16_t, int32_t, uint32_t)

template <typename T, bool isSetMask = true>
inline void ShiftRight(const LocalTensor<T>& dst, const LocalTensor<T>& src, const T& scalarValue,
                       const int32_t& count, hostcann::CallSite = {}) {
  HOSTCANN_TAKES(ShiftRight, int16_t, uint16_t, int32_t, uint32_t);
  hostcann::run_unary("ShiftRight", hostcann::counted_walk("ShiftRight", sizeof(T), count), dst,
                      src, {},
                      [s = scalarValue](T a) { return hostcann::shifted_right(a, s, false); });
}
template <typename T, bool isSetMask = true, typename Mask>
inline void ShiftRight(const LocalTensor<T>& dst, const LocalTensor<T>& src, const T& scalarValue,
                       Mask mask, const uint8_t repeatTime, const UnaryRepeatParams& repeatParams,
                       bool roundEn = false, hostcann::CallSite = {}) {
  HOSTCANN_TAKES(ShiftRight, int16_t, uint16_t, int32_t, uint32_t);
  hostcann::run_unary(
      "ShiftRight", hostcann::masked_walk("ShiftRight", sizeof(T), isSetMask, mask, repeatTime),
      dst, src, repeatParams,
      [s = scalarValue, roundEn](T a) { return hostcann::shifted_right(a, s, roundEn); });
}

}  // namespace AscendC

namespace hostcann {

template <typename T, typename U>
inline void run_axpy(const Walk& walk, const AscendC::LocalTensor<T>& dst,
                     const AscendC::LocalTensor<U>& src, U scalar,
                     const AscendC::UnaryRepeatParams& params) {
  static_assert((std::is_same_v<T, U> && kIsOneOf<T, half, float>) ||
                    (std::is_same_v<T, float> && std::is_same_v<U, half>),
                "Axpy of dav-2201 takes half, float, or a half source and a float destination");
  const Operand<T> to = operand("Axpy", "dst", dst, walk, dst_of(params));
  run_lanes(
      "Axpy", walk, [scalar](U a, T d) { return static_cast<T>(wide(a) * wide(scalar) + wide(d)); },
      to, operand("Axpy", "src", src, walk, src_of(params)), to);
}

template <typename T, typename U>
inline void run_mul_add_dst(const Walk& walk, const AscendC::LocalTensor<T>& dst,
                            const AscendC::LocalTensor<U>& src0,
                            const AscendC::LocalTensor<U>& src1,
                            const AscendC::BinaryRepeatParams& params) {
  static_assert((std::is_same_v<T, U> && kIsOneOf<T, half, float>) ||
                    (std::is_same_v<T, float> && std::is_same_v<U, half>),
                "MulAddDst of dav-2201 takes half, float, or half sources and a float destination");
  const Operand<T> to = operand("MulAddDst", "dst", dst, walk, dst_of(params));
  run_lanes(
      "MulAddDst", walk, [](U a, U b, T d) { return static_cast<T>(wide(a) * wide(b) + wide(d)); },
      to, operand("MulAddDst", "src0", src0, walk, src0_of(params)),
      operand("MulAddDst", "src1", src1, walk, src1_of(params)), to);
}

// A narrower source fills half of its blocks, so its next repeat starts four blocks on.
template <typename T, typename U>
inline AscendC::UnaryRepeatParams flat_params() {
  AscendC::UnaryRepeatParams params;
  if (sizeof(U) < sizeof(T)) params.srcRepStride = uint8_t(8 * sizeof(U) / sizeof(T));
  if (sizeof(T) < sizeof(U)) params.dstRepStride = uint8_t(8 * sizeof(T) / sizeof(U));
  if (kIsNibble<U>) params.srcRepStride /= 2;
  if (kIsNibble<T>) params.dstRepStride /= 2;
  return params;
}
template <typename T, typename U>
inline AscendC::BinaryRepeatParams flat_binary_params() {
  const AscendC::UnaryRepeatParams one = flat_params<T, U>();
  return {1, 1, 1, one.dstRepStride, one.srcRepStride, one.srcRepStride};
}

}  // namespace hostcann

namespace AscendC {

template <typename T, typename U, bool isSetMask = true>
inline void Axpy(const LocalTensor<T>& dst, const LocalTensor<U>& src, const U& scalarValue,
                 const int32_t& count, hostcann::CallSite = {}) {
  hostcann::run_axpy(hostcann::counted_walk("Axpy", sizeof(T), count), dst, src, scalarValue,
                     hostcann::flat_params<T, U>());
}
template <typename T, typename U, bool isSetMask = true, typename Mask>
inline void Axpy(const LocalTensor<T>& dst, const LocalTensor<U>& src, const U& scalarValue,
                 Mask mask, const uint8_t repeatTime, const UnaryRepeatParams& repeatParams,
                 hostcann::CallSite = {}) {
  hostcann::run_axpy(hostcann::masked_walk("Axpy", sizeof(T), isSetMask, mask, repeatTime), dst,
                     src, scalarValue, repeatParams);
}

template <typename T, typename U, bool isSetMask = true>
inline void MulAddDst(const LocalTensor<T>& dst, const LocalTensor<U>& src0,
                      const LocalTensor<U>& src1, const int32_t& count, hostcann::CallSite = {}) {
  hostcann::run_mul_add_dst(hostcann::counted_walk("MulAddDst", sizeof(T), count), dst, src0, src1,
                            hostcann::flat_binary_params<T, U>());
}
template <typename T, typename U, bool isSetMask = true, typename Mask>
inline void MulAddDst(const LocalTensor<T>& dst, const LocalTensor<U>& src0,
                      const LocalTensor<U>& src1, Mask mask, const uint8_t repeatTime,
                      const BinaryRepeatParams& repeatParams, hostcann::CallSite = {}) {
  hostcann::run_mul_add_dst(
      hostcann::masked_walk("MulAddDst", sizeof(T), isSetMask, mask, repeatTime), dst, src0, src1,
      repeatParams);
}

// Duplicate has no source: every lane gets the scalar.
template <typename T, bool isSetMask = true>
inline void Duplicate(const LocalTensor<T>& dst, const T& scalarValue, const int32_t& count,
                      hostcann::CallSite = {}) {
  HOSTCANN_TAKES(Duplicate, int16_t, uint16_t, half, bfloat16_t, int32_t, uint32_t, float);
  const hostcann::Walk walk = hostcann::counted_walk("Duplicate", sizeof(T), count);
  hostcann::run_lanes(
      "Duplicate", walk, [s = scalarValue]() { return s; },
      hostcann::operand("Duplicate", "dst", dst, walk, {}));
}
template <typename T, bool isSetMask = true, typename Mask>
inline void Duplicate(const LocalTensor<T>& dst, const T& scalarValue, Mask mask,
                      const uint8_t repeatTime, const uint16_t dstBlockStride,
                      const uint8_t dstRepeatStride, hostcann::CallSite = {}) {
  HOSTCANN_TAKES(Duplicate, int16_t, uint16_t, half, bfloat16_t, int32_t, uint32_t, float);
  const hostcann::Walk walk =
      hostcann::masked_walk("Duplicate", sizeof(T), isSetMask, mask, repeatTime);
  hostcann::run_lanes(
      "Duplicate", walk, [s = scalarValue]() { return s; },
      hostcann::operand("Duplicate", "dst", dst, walk, {dstBlockStride, dstRepeatStride}));
}

// firstValue, firstValue + 1, …; in the form with repeats the count goes on over them.
template <typename T>
inline void CreateVecIndex(const LocalTensor<T>& dst, const T& firstValue, uint32_t count,
                           hostcann::CallSite = {}) {
  HOSTCANN_TAKES(CreateVecIndex, int16_t, half, int32_t, float);
  const hostcann::Walk walk = hostcann::counted_walk("CreateVecIndex", sizeof(T), count);
  const hostcann::Operand<T> to = hostcann::operand("CreateVecIndex", "dst", dst, walk, {});
  hostcann::note_lanes("CreateVecIndex", "dst", hostcann::Access::kWrite, walk, to);
  for (uint32_t i = 0; i < count; ++i) {
    to.flat()[i] = static_cast<T>(hostcann::wide(firstValue) +
                                  static_cast<decltype(hostcann::wide(firstValue))>(i));
  }
}
template <typename T, typename Mask>
inline void CreateVecIndex(const LocalTensor<T>& dst, const T& firstValue, Mask mask,
                           uint8_t repeatTime, uint16_t dstBlkStride, uint8_t dstRepStride,
                           hostcann::CallSite = {}) {
  HOSTCANN_TAKES(CreateVecIndex, int16_t, half, int32_t, float);
  const hostcann::Walk walk =
      hostcann::masked_walk("CreateVecIndex", sizeof(T), true, mask, repeatTime);
  const hostcann::Operand<T> to =
      hostcann::operand("CreateVecIndex", "dst", dst, walk, {dstBlkStride, dstRepStride});
  hostcann::note_lanes("CreateVecIndex", "dst", hostcann::Access::kWrite, walk, to);
  T lanes[hostcann::kMaxLanes];
  for (size_t repeat = 0; repeat < walk.repeats; ++repeat) {
    for (size_t i = 0; i < walk.lanes; ++i) {
      const size_t index = repeat * walk.lanes + i;
      lanes[i] = static_cast<T>(hostcann::wide(firstValue) +
                                static_cast<decltype(hostcann::wide(firstValue))>(index));
    }
    to.store(lanes, walk, repeat);
  }
}

}  // namespace AscendC

#endif  // HOSTCANN_VECTOR_ARITHMETIC_H
