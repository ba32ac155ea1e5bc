// SPDX-License-Identifier: Apache-2.0
// The advanced functions of one or two numbers. Each is as precise as the host's library in float;
// a half is computed in float and rounded once.
#ifndef HOSTCANN_ADVANCED_MATH_H
#define HOSTCANN_ADVANCED_MATH_H

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "hostcann/advanced_call.h"

namespace hostcann {

// By recurrence up to where the asymptotic series is exact to a double, by reflection below 0.
inline float digamma(float value) {
  constexpr double kPi = 3.14159265358979323846;
  double x = value;
  if (x == 0) return -__builtin_copysignf(__builtin_inff(), value);
  if (x < 0 && x == __builtin_floor(x)) return __builtin_nanf("");
  double result = 0;
  if (x < 0) {
    result = -kPi / __builtin_tan(kPi * x);
    x = 1 - x;
  }
  for (; x < 10; x += 1) result -= 1 / x;
  const double square = 1 / (x * x);
  const double series =
      square * (1.0 / 12 - square * (1.0 / 120 - square * (1.0 / 252 - square / 240)));
  return static_cast<float>(result + __builtin_log(x) - 0.5 / x - series);
}

// Without the sign of the gamma function, which the library keeps in a variable of all threads.
inline float log_gamma(float value) {
  int sign;
  return __builtin_lgammaf_r(value, &sign);
}

inline float sign_of(float value) { return static_cast<float>((value > 0) - (value < 0)); }

// Integers by squaring, wrapping; below 0 an exponent leaves what an integer division leaves.
inline float power(float base, float exponent) { return __builtin_powf(base, exponent); }
inline half power(half base, half exponent) {
  return static_cast<half>(__builtin_powf(static_cast<float>(base), static_cast<float>(exponent)));
}
inline int32_t power(int32_t base, int32_t exponent) {
  if (exponent < 0) {
    if (base == -1) return exponent % 2 == 0 ? 1 : -1;
    return base == 1 ? 1 : 0;
  }
  uint32_t result = 1;
  uint32_t factor = static_cast<uint32_t>(base);
  for (uint32_t rest = static_cast<uint32_t>(exponent); rest != 0; rest >>= 1) {
    if ((rest & 1) != 0) result *= factor;
    factor *= factor;
  }
  return static_cast<int32_t>(result);
}

}  // namespace hostcann

namespace AscendC {

HOSTCANN_ADVANCED_UNARY(Acos, __builtin_acosf(wide(a)), half, float)
HOSTCANN_ADVANCED_UNARY(Acosh, __builtin_acoshf(wide(a)), half, float)
HOSTCANN_ADVANCED_UNARY(Asin, __builtin_asinf(wide(a)), half, float)
HOSTCANN_ADVANCED_UNARY(Asinh, __builtin_asinhf(wide(a)), half, float)
HOSTCANN_ADVANCED_UNARY(Atan, __builtin_atanf(wide(a)), half, float)
HOSTCANN_ADVANCED_UNARY(Atanh, __builtin_atanhf(wide(a)), half, float)
HOSTCANN_ADVANCED_UNARY(Ceil, __builtin_ceilf(wide(a)), half, float)
HOSTCANN_ADVANCED_UNARY(Cos, __builtin_cosf(wide(a)), half, float)
HOSTCANN_ADVANCED_UNARY(Cosh, __builtin_coshf(wide(a)), half, float)
HOSTCANN_ADVANCED_UNARY(Digamma, digamma(wide(a)), half, float)
HOSTCANN_ADVANCED_UNARY(Erf, __builtin_erff(wide(a)), half, float)
HOSTCANN_ADVANCED_UNARY(Erfc, __builtin_erfcf(wide(a)), half, float)
HOSTCANN_ADVANCED_UNARY(Floor, __builtin_floorf(wide(a)), half, float)
HOSTCANN_ADVANCED_UNARY(Frac, wide(a) - __builtin_truncf(wide(a)), half, float)
HOSTCANN_ADVANCED_UNARY(Lgamma, log_gamma(wide(a)), half, float)
HOSTCANN_ADVANCED_UNARY(Log, __builtin_logf(wide(a)), half, float)
HOSTCANN_ADVANCED_UNARY(Log10, __builtin_log10f(wide(a)), half, float)
HOSTCANN_ADVANCED_UNARY(Log2, __builtin_log2f(wide(a)), half, float)
HOSTCANN_ADVANCED_UNARY(Round, __builtin_nearbyintf(wide(a)), half, float)
HOSTCANN_ADVANCED_UNARY(Sign, sign_of(wide(a)), half, float)
HOSTCANN_ADVANCED_UNARY(Sin, __builtin_sinf(wide(a)), half, float)
HOSTCANN_ADVANCED_UNARY(Sinh, __builtin_sinhf(wide(a)), half, float)
HOSTCANN_ADVANCED_UNARY(Tan, __builtin_tanf(wide(a)), half, float)
HOSTCANN_ADVANCED_UNARY(Tanh, __builtin_tanhf(wide(a)), half, float)
HOSTCANN_ADVANCED_UNARY(Trunc, __builtin_truncf(wide(a)), half, float)

HOSTCANN_ADVANCED_BINARY(Fmod, __builtin_fmodf(wide(a), wide(b)), half, float)
HOSTCANN_ADVANCED_BINARY(Power, power(a, b), half, float, int32_t)
HOSTCANN_ADVANCED_BINARY(Xor, wide(a) ^ wide(b), int16_t, uint16_t)

// One side of a power may be a number.
HOSTCANN_OPERATION(PowerOfTensor, (T a), power(a, s), T s;)
HOSTCANN_OPERATION(PowerOfNumber, (T a), power(s, a), T s;)
HOSTCANN_ADVANCED_FORMS(Power,
                        (const LocalTensor<T>& dstTensor, const LocalTensor<T>& src0Tensor,
                         const T& src1Scalar),
                        (dstTensor, src0Tensor), src0Tensor,
                        operations::PowerOfTensor<T>{src1Scalar}, half, float, int32_t)
HOSTCANN_ADVANCED_FORMS(Power,
                        (const LocalTensor<T>& dstTensor, const T& src0Scalar,
                         const LocalTensor<T>& src1Tensor),
                        (dstTensor, src1Tensor), src1Tensor,
                        operations::PowerOfNumber<T>{src0Scalar}, half, float, int32_t)

HOSTCANN_OPERATION(ClampMax, (T a), a > s ? s : a, T s;)
HOSTCANN_OPERATION(ClampMin, (T a), a < s ? s : a, T s;)
template <typename T, bool isReuseSource = false>
inline void ClampMax(const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor,
                     const LocalTensor<uint8_t>& sharedTmpBuffer, const T scalar,
                     const uint32_t calCount, hostcann::CallSite = {}) {
  HOSTCANN_TAKES(ClampMax, half, float);
  hostcann::elementwise("ClampMax", sharedTmpBuffer, calCount, operations::ClampMax<T>{scalar},
                        dstTensor, srcTensor);
}
template <typename T, bool isReuseSource = false>
inline void ClampMax(const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor,
                     const T scalar, const uint32_t calCount, hostcann::CallSite = {}) {
  HOSTCANN_TAKES(ClampMax, half, float);
  hostcann::elementwise("ClampMax", hostcann::Scratch(), calCount, operations::ClampMax<T>{scalar},
                        dstTensor, srcTensor);
}
template <typename T, bool isReuseSource = false>
inline void ClampMin(const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor,
                     const LocalTensor<uint8_t>& sharedTmpBuffer, const T scalar,
                     const uint32_t calCount, hostcann::CallSite = {}) {
  HOSTCANN_TAKES(ClampMin, half, float);
  hostcann::elementwise("ClampMin", sharedTmpBuffer, calCount, operations::ClampMin<T>{scalar},
                        dstTensor, srcTensor);
}
template <typename T, bool isReuseSource = false>
inline void ClampMin(const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor,
                     const T scalar, const uint32_t calCount, hostcann::CallSite = {}) {
  HOSTCANN_TAKES(ClampMin, half, float);
  hostcann::elementwise("ClampMin", hostcann::Scratch(), calCount, operations::ClampMin<T>{scalar},
                        dstTensor, srcTensor);
}

// The number of terms of the series is for the hardware: this one is exact without.
template <typename T, uint8_t taylorExpandLevel, bool isReuseSource = false>
inline void Exp(const LocalTensor<T>& dstLocal, const LocalTensor<T>& srcLocal,
                const LocalTensor<uint8_t>& sharedTmpBuffer, const uint32_t calCount,
                hostcann::CallSite = {}) {
  HOSTCANN_TAKES(Exp, half, float);
  hostcann::elementwise("Exp", sharedTmpBuffer, calCount, operations::Exp<T>(), dstLocal, srcLocal);
}
template <typename T, uint8_t taylorExpandLevel, bool isReuseSource>
inline void Exp(const LocalTensor<T>& dstLocal, const LocalTensor<T>& srcLocal,
                const uint32_t calCount, hostcann::CallSite = {}) {
  HOSTCANN_TAKES(Exp, half, float);
  hostcann::elementwise("Exp", hostcann::Scratch(), calCount, operations::Exp<T>(), dstLocal,
                        srcLocal);
}

// The product is rounded to the destination's type before it is added.
template <typename T, typename U, bool isReuseSource = false>
inline void Axpy(const LocalTensor<T>& dstTensor, const LocalTensor<U>& srcTensor,
                 const U scalarValue, const LocalTensor<uint8_t>& sharedTmpBuffer,
                 const uint32_t calCount, hostcann::CallSite = {}) {
  HOSTCANN_TAKES(Axpy, half, float);
  using hostcann::wide;
  static_assert(hostcann::kIsOneOf<U, half, float> && sizeof(U) <= sizeof(T),
                "Axpy of dav-2201 takes a source of half or float, no wider than dst");
  const U* const from = hostcann::input("Axpy", "src", srcTensor, calCount);
  const T* const old = hostcann::input("Axpy", "dst", dstTensor, calCount);
  T* const to = hostcann::output("Axpy", "dst", dstTensor, calCount);
  for (uint32_t i = 0; i < calCount; ++i) {
    const T product = static_cast<T>(wide(from[i]) * wide(scalarValue));
    to[i] = static_cast<T>(wide(product) + wide(old[i]));
  }
  hostcann::Scratch(sharedTmpBuffer).use("Axpy", {{dstTensor, calCount}, {srcTensor, calCount}});
}

// Sums from the first row or column on: of each column down, or of each row along.
template <typename T, const CumSumConfig& config = defaultCumSumConfig>
inline void CumSum(const LocalTensor<T>& dstTensor, const LocalTensor<T>& lastRowTensor,
                   const LocalTensor<T>& srcTensor, const hostcann::Scratch& scratch,
                   const CumSumInfo& cumSumInfo, hostcann::CallSite = {}) {
  HOSTCANN_TAKES(CumSum, half, float);
  using hostcann::wide;
  const size_t rows = cumSumInfo.outter;
  const size_t columns = cumSumInfo.inner;
  if (rows == 0 || columns == 0 || columns * sizeof(T) % hostcann::kBlockBytes != 0) {
    hostcann::fault(
        "CumSum: expected rows of a multiple of 32 bytes and at least one, got %zu of %zu elements",
        rows, columns);
  }
  const T* const from = hostcann::input("CumSum", "src", srcTensor, rows * columns);
  T* const to = hostcann::output("CumSum", "dst", dstTensor, rows * columns);
  for (size_t i = 0; i < rows * columns; ++i) {
    const bool first = config.isLastAxis ? i % columns == 0 : i < columns;
    const size_t before = config.isLastAxis ? i - 1 : i - columns;
    to[i] = first ? from[i] : static_cast<T>(wide(to[before]) + wide(from[i]));
  }
  if constexpr (config.outputLastRow) {
    T* const last = hostcann::output("CumSum", "lastRow", lastRowTensor, columns);
    std::memcpy(last, to + (rows - 1) * columns, columns * sizeof(T));
  }
  scratch.use("CumSum", {{dstTensor, rows * columns}, {srcTensor, rows * columns}});
}
template <typename T, const CumSumConfig& config = defaultCumSumConfig>
inline void CumSum(const LocalTensor<T>& dstTensor, const LocalTensor<T>& lastRowTensor,
                   const LocalTensor<T>& srcTensor, const CumSumInfo& cumSumInfo,
                   hostcann::CallSite site = {}) {
  CumSum<T, config>(dstTensor, lastRowTensor, srcTensor, hostcann::Scratch(), cumSumInfo, site);
}

}  // namespace AscendC

#endif  // HOSTCANN_ADVANCED_MATH_H
