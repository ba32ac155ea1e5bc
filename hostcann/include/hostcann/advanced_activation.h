// SPDX-License-Identifier: Apache-2.0
// Activations element by element. They are computed in float and rounded once.
#ifndef HOSTCANN_ADVANCED_ACTIVATION_H
#define HOSTCANN_ADVANCED_ACTIVATION_H

#include <cstdint>

#include "hostcann/advanced_call.h"

namespace hostcann {

inline float sigmoid(float value) { return 1.0f / (1.0f + __builtin_expf(-value)); }
inline float swish(float value, float beta) { return value * sigmoid(beta * value); }
// By the hyperbolic tangent, as in CANN: 2 * sqrt(2 / pi) * (x + 0.044715 x^3) is what it takes.
inline float gelu(float value) {
  const float inner = value * (1.0f + 0.044715f * value * value);
  return value * sigmoid(1.5957691216057308f * inner);
}
// The error function by a parabola on either side of 0.
inline float parabolic_gelu(float value) {
  const float scaled = __builtin_fabsf(value * 0.70710678f);
  const float rest = (scaled < 1.769f ? scaled : 1.769f) - 1.769f;
  const float half_erf = 0.5f - 0.1444f * rest * rest;
  return value * ((value < 0 ? -half_erf : half_erf) + 0.5f);
}

}  // namespace hostcann

// Functions whose forms name the precision: here there is one.
#define HOSTCANN_GELU(Name, expression)                                                          \
  HOSTCANN_OPERATION(Name, (T a), expression, )                                                  \
  template <typename T, bool highPrecision = false, bool highPerformance = false>                \
  inline void Name(const LocalTensor<T>& dstLocal, const LocalTensor<T>& srcLocal,               \
                   const LocalTensor<uint8_t>& sharedTmpBuffer, const uint32_t dataSize,         \
                   hostcann::CallSite = {}) {                                                    \
    HOSTCANN_TAKES(Name, half, float);                                                           \
    hostcann::elementwise(#Name, sharedTmpBuffer, dataSize, operations::Name<T>(), dstLocal,     \
                          srcLocal);                                                             \
  }                                                                                              \
  template <typename T, bool highPrecision = false, bool highPerformance = false>                \
  inline void Name(const LocalTensor<T>& dstLocal, const LocalTensor<T>& srcLocal,               \
                   const uint32_t dataSize, hostcann::CallSite = {}) {                           \
    HOSTCANN_TAKES(Name, half, float);                                                           \
    hostcann::elementwise(#Name, hostcann::Scratch(), dataSize, operations::Name<T>(), dstLocal, \
                          srcLocal);                                                             \
  }

namespace AscendC {

HOSTCANN_ADVANCED_UNARY(Sigmoid, sigmoid(wide(a)), half, float)
HOSTCANN_ADVANCED_BINARY(GeGLU, wide(a) * gelu(wide(b)), half, float)
HOSTCANN_ADVANCED_BINARY(ReGlu, wide(a) * rectified(wide(b)), half, float)
HOSTCANN_GELU(Gelu, gelu(wide(a)))
HOSTCANN_GELU(FasterGelu, swish(wide(a), 1.702f))
HOSTCANN_GELU(FasterGeluV2, parabolic_gelu(wide(a)))

HOSTCANN_OPERATION(Swish, (T a), swish(wide(a), s), float s;)
HOSTCANN_OPERATION(SwiGLU, (T a, T b), wide(a) * swish(wide(b), s), float s;)
HOSTCANN_ADVANCED_FORMS(SwiGLU,
                        (const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor0,
                         const LocalTensor<T>& srcTensor1, const float& scalarValue),
                        (dstTensor, srcTensor0, srcTensor1), srcTensor0,
                        operations::SwiGLU<T>{scalarValue}, half, float)

template <typename T, bool isReuseSource = false>
inline void Swish(const LocalTensor<T>& dstLocal, const LocalTensor<T>& srcLocal, uint32_t dataSize,
                  const T scalarValue, hostcann::CallSite = {}) {
  HOSTCANN_TAKES(Swish, half, float);
  hostcann::elementwise("Swish", hostcann::Scratch(), dataSize,
                        operations::Swish<T>{static_cast<float>(scalarValue)}, dstLocal, srcLocal);
}
template <typename T, bool isReuseSource = false>
inline void Silu(const LocalTensor<T>& dstLocal, const LocalTensor<T>& srcLocal, uint32_t dataSize,
                 hostcann::CallSite = {}) {
  HOSTCANN_TAKES(Silu, half, float);
  hostcann::elementwise("Silu", hostcann::Scratch(), dataSize, operations::Swish<T>{1.0f}, dstLocal,
                        srcLocal);
}

}  // namespace AscendC

#undef HOSTCANN_GELU

#endif  // HOSTCANN_ADVANCED_ACTIVATION_H
