// SPDX-License-Identifier: Apache-2.0
// Quantisation to int8 and back.
#ifndef HOSTCANN_ADVANCED_QUANTISATION_H
#define HOSTCANN_ADVANCED_QUANTISATION_H

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "hostcann/advanced_call.h"
#include "hostcann/vector_cast.h"

namespace AscendC {

struct DequantParams {
  uint32_t m;
  uint32_t n;
  uint32_t calCount;
};
enum class DeQuantMode { DEQUANT_WITH_SINGLE_ROW, DEQUANT_WITH_MULTI_ROW };
// 0 where the tensors' own ShapeInfo says it.
struct AntiQuantShapeInfo {
  uint32_t offsetHeight{0};
  uint32_t offsetWidth{0};
  uint32_t scaleHeight{0};
  uint32_t scaleWidth{0};
};

}  // namespace AscendC

namespace hostcann {

// dav-2201 computes in half: every step is rounded to it.
template <typename T>
inline int8_t quantised(T value, half scale, half offset) {
  const half product = static_cast<half>(wide(static_cast<half>(value)) * wide(scale));
  const half sum = static_cast<half>(wide(product) + wide(offset));
  return converted<int8_t>(sum, RoundMode::CAST_RINT);
}

inline float dequant_scale(float scale) { return scale; }
inline float dequant_scale(bfloat16_t scale) { return static_cast<float>(scale); }
// The upper half is for control, the lower a float.
inline float dequant_scale(uint64_t scale) {
  const uint32_t bits = static_cast<uint32_t>(scale);
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

template <AscendC::DeQuantMode mode, typename D, typename ScaleAt>
inline void dequantise(const AscendC::LocalTensor<D>& dst, const AscendC::LocalTensor<int32_t>& src,
                       AscendC::DequantParams params, ScaleAt scale_at) {
  static_assert(kIsOneOf<D, half, float, bfloat16_t>,
                "AscendDequant of dav-2201 makes half, float, bfloat16_t");
  constexpr uint32_t kPerBlock = kBlockBytes / sizeof(D);
  if (params.calCount == 0 || params.calCount > params.n || params.n % 8 != 0) {
    fault(
        "AscendDequant: expected n to be a multiple of 8 and calCount 1 to n, got n %u, calCount "
        "%u",
        params.n, params.calCount);
  }
  if (mode == AscendC::DeQuantMode::DEQUANT_WITH_SINGLE_ROW && params.m == 1 &&
      params.calCount % kPerBlock == 0 && params.n % params.calCount == 0) {
    params = {params.n / params.calCount, params.calCount, params.calCount};
  }
  const size_t step = (params.n + kPerBlock - 1) / kPerBlock * kPerBlock;
  const size_t end = (params.m - 1) * step + params.calCount;
  const int32_t* const from = input("AscendDequant", "src", src, size_t{params.m} * params.n);
  D* const to = output("AscendDequant", "dst", dst, end);
  for (size_t row = 0; row < params.m; ++row) {
    for (size_t i = 0; i < params.calCount; ++i) {
      const float value = static_cast<float>(from[row * params.n + i]) * scale_at(i);
      to[row * step + i] = static_cast<D>(value);
    }
  }
}

// (src + offset) * scale, each step rounded to half; for bfloat16 in float and rounded once.
template <typename D>
inline D dequantised(int8_t value, D offset, D scale) {
  if constexpr (std::is_same_v<D, half>) {
    const half sum = static_cast<half>(static_cast<float>(value) + wide(offset));
    return static_cast<half>(wide(sum) * wide(scale));
  } else {
    return static_cast<D>((static_cast<float>(value) + static_cast<float>(offset)) *
                          static_cast<float>(scale));
  }
}

}  // namespace hostcann

namespace AscendC {

// One scale and offset for all.
template <typename T, bool isReuseSource = false>
inline void AscendQuant(const LocalTensor<int8_t>& dstTensor, const LocalTensor<T>& srcTensor,
                        const hostcann::Scratch& scratch, const float scale, const float offset,
                        const uint32_t calCount, hostcann::CallSite = {}) {
  HOSTCANN_TAKES(AscendQuant, half, float);
  const T* const from = hostcann::input("AscendQuant", "src", srcTensor, calCount);
  int8_t* const to = hostcann::output("AscendQuant", "dst", dstTensor, calCount);
  for (uint32_t i = 0; i < calCount; ++i) {
    to[i] = hostcann::quantised(from[i], static_cast<half>(scale), static_cast<half>(offset));
  }
  scratch.use("AscendQuant", {{dstTensor, calCount}, {srcTensor, calCount}});
}
template <typename T, bool isReuseSource = false>
inline void AscendQuant(const LocalTensor<int8_t>& dstTensor, const LocalTensor<T>& srcTensor,
                        const hostcann::Scratch& scratch, const float scale, const float offset,
                        hostcann::CallSite site = {}) {
  AscendQuant<T>(dstTensor, srcTensor, scratch, scale, offset, srcTensor.GetSize(), site);
}
template <typename T, bool isReuseSource = false>
inline void AscendQuant(const LocalTensor<int8_t>& dstTensor, const LocalTensor<T>& srcTensor,
                        const float scale, const float offset, const uint32_t calCount,
                        hostcann::CallSite site = {}) {
  AscendQuant<T>(dstTensor, srcTensor, hostcann::Scratch(), scale, offset, calCount, site);
}
template <typename T, bool isReuseSource = false>
inline void AscendQuant(const LocalTensor<int8_t>& dstTensor, const LocalTensor<T>& srcTensor,
                        const float scale, const float offset, hostcann::CallSite site = {}) {
  AscendQuant<T>(dstTensor, srcTensor, hostcann::Scratch(), scale, offset, srcTensor.GetSize(),
                 site);
}

}  // namespace AscendC

namespace hostcann {

// A scale for each of scaleCount columns.
template <typename T, typename OffsetAt>
inline void quantise_channels(const AscendC::LocalTensor<int8_t>& dst,
                              const AscendC::LocalTensor<T>& src, const Scratch& scratch,
                              const AscendC::LocalTensor<T>& scale, uint32_t channels,
                              uint32_t count, OffsetAt offset_at) {
  static_assert(kIsOneOf<T, half, float>, "AscendQuant of dav-2201 takes half, float");
  if (channels == 0 || channels % 32 != 0 || count % channels != 0) {
    fault(
        "AscendQuant: expected scaleCount to be a multiple of 32 and calCount one of scaleCount, "
        "got scaleCount %u, calCount %u",
        channels, count);
  }
  const T* const from = input("AscendQuant", "src", src, count);
  const T* const scales = input("AscendQuant", "scale", scale, channels);
  int8_t* const to = output("AscendQuant", "dst", dst, count);
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t channel = i % channels;
    to[i] = quantised(from[i], static_cast<half>(scales[channel]),
                      static_cast<half>(offset_at(channel)));
  }
  scratch.use("AscendQuant", {{dst, count}, {src, count}, {scale, channels}});
}

}  // namespace hostcann

namespace AscendC {

template <typename T, bool isReuseSource = false>
inline void AscendQuant(const LocalTensor<int8_t>& dstTensor, const LocalTensor<T>& srcTensor,
                        const hostcann::Scratch& scratch, const LocalTensor<T>& scaleTensor,
                        const T offset, const uint32_t scaleCount, const uint32_t calCount,
                        hostcann::CallSite = {}) {
  hostcann::quantise_channels(dstTensor, srcTensor, scratch, scaleTensor, scaleCount, calCount,
                              [offset](uint32_t) { return offset; });
}
template <typename T, bool isReuseSource = false>
inline void AscendQuant(const LocalTensor<int8_t>& dstTensor, const LocalTensor<T>& srcTensor,
                        const hostcann::Scratch& scratch, const LocalTensor<T>& scaleTensor,
                        const LocalTensor<T>& offsetTensor, const uint32_t scaleCount,
                        const uint32_t offsetCount, const uint32_t calCount,
                        hostcann::CallSite = {}) {
  if (offsetCount != scaleCount) {
    hostcann::fault("AscendQuant: expected offsetCount to be scaleCount, %u, got %u", scaleCount,
                    offsetCount);
  }
  const T* const offsets = hostcann::input("AscendQuant", "offset", offsetTensor, offsetCount);
  hostcann::quantise_channels(dstTensor, srcTensor, scratch, scaleTensor, scaleCount, calCount,
                              [offsets](uint32_t channel) { return offsets[channel]; });
}
template <typename T, bool isReuseSource = false>
inline void AscendQuant(const LocalTensor<int8_t>& dstTensor, const LocalTensor<T>& srcTensor,
                        const hostcann::Scratch& scratch, const LocalTensor<T>& scaleTensor,
                        const T offset, hostcann::CallSite site = {}) {
  AscendQuant<T>(dstTensor, srcTensor, scratch, scaleTensor, offset, scaleTensor.GetSize(),
                 srcTensor.GetSize(), site);
}
template <typename T, bool isReuseSource = false>
inline void AscendQuant(const LocalTensor<int8_t>& dstTensor, const LocalTensor<T>& srcTensor,
                        const hostcann::Scratch& scratch, const LocalTensor<T>& scaleTensor,
                        const LocalTensor<T>& offsetTensor, hostcann::CallSite site = {}) {
  AscendQuant<T>(dstTensor, srcTensor, scratch, scaleTensor, offsetTensor, scaleTensor.GetSize(),
                 offsetTensor.GetSize(), srcTensor.GetSize(), site);
}
template <typename T, bool isReuseSource = false>
inline void AscendQuant(const LocalTensor<int8_t>& dstTensor, const LocalTensor<T>& srcTensor,
                        const LocalTensor<T>& scaleTensor, const T offset,
                        const uint32_t scaleCount, const uint32_t calCount,
                        hostcann::CallSite site = {}) {
  AscendQuant<T>(dstTensor, srcTensor, hostcann::Scratch(), scaleTensor, offset, scaleCount,
                 calCount, site);
}
template <typename T, bool isReuseSource = false>
inline void AscendQuant(const LocalTensor<int8_t>& dstTensor, const LocalTensor<T>& srcTensor,
                        const LocalTensor<T>& scaleTensor, const LocalTensor<T>& offsetTensor,
                        const uint32_t scaleCount, const uint32_t offsetCount,
                        const uint32_t calCount, hostcann::CallSite site = {}) {
  AscendQuant<T>(dstTensor, srcTensor, hostcann::Scratch(), scaleTensor, offsetTensor, scaleCount,
                 offsetCount, calCount, site);
}
template <typename T, bool isReuseSource = false>
inline void AscendQuant(const LocalTensor<int8_t>& dstTensor, const LocalTensor<T>& srcTensor,
                        const LocalTensor<T>& scaleTensor, const T offset,
                        hostcann::CallSite site = {}) {
  AscendQuant<T>(dstTensor, srcTensor, hostcann::Scratch(), scaleTensor, offset, site);
}
template <typename T, bool isReuseSource = false>
inline void AscendQuant(const LocalTensor<int8_t>& dstTensor, const LocalTensor<T>& srcTensor,
                        const LocalTensor<T>& scaleTensor, const LocalTensor<T>& offsetTensor,
                        hostcann::CallSite site = {}) {
  AscendQuant<T>(dstTensor, srcTensor, hostcann::Scratch(), scaleTensor, offsetTensor, site);
}

// A scale for each of the last axis's elements.
template <typename D, typename S, DeQuantMode mode = DeQuantMode::DEQUANT_WITH_SINGLE_ROW>
inline void AscendDequant(const LocalTensor<D>& dstTensor, const LocalTensor<int32_t>& srcTensor,
                          const LocalTensor<S>& deqScale, const hostcann::Scratch& scratch,
                          DequantParams params, hostcann::CallSite = {}) {
  static_assert(hostcann::kIsOneOf<S, float, bfloat16_t, uint64_t>,
                "AscendDequant of dav-2201 takes scales of float, bfloat16_t, uint64_t");
  const S* const scales = hostcann::input("AscendDequant", "deqScale", deqScale, params.calCount);
  hostcann::dequantise<mode>(dstTensor, srcTensor, params,
                             [&](size_t i) { return hostcann::dequant_scale(scales[i]); });
  scratch.use("AscendDequant", {{deqScale, params.calCount}, {srcTensor, params.m * params.n}});
}
template <typename D, typename S, DeQuantMode mode = DeQuantMode::DEQUANT_WITH_SINGLE_ROW>
inline void AscendDequant(const LocalTensor<D>& dstTensor, const LocalTensor<int32_t>& srcTensor,
                          const LocalTensor<S>& deqScale, DequantParams params,
                          hostcann::CallSite site = {}) {
  AscendDequant<D, S, mode>(dstTensor, srcTensor, deqScale, hostcann::Scratch(), params, site);
}
// One scale for all.
template <typename D, typename S, DeQuantMode mode = DeQuantMode::DEQUANT_WITH_SINGLE_ROW>
inline void AscendDequant(const LocalTensor<D>& dstTensor, const LocalTensor<int32_t>& srcTensor,
                          const S deqScale, const hostcann::Scratch& scratch, DequantParams params,
                          hostcann::CallSite = {}) {
  static_assert(hostcann::kIsOneOf<S, float, bfloat16_t>,
                "AscendDequant of dav-2201 takes a scale of float, bfloat16_t");
  hostcann::dequantise<mode>(dstTensor, srcTensor, params,
                             [&](size_t) { return hostcann::dequant_scale(deqScale); });
  scratch.use("AscendDequant", {{srcTensor, params.m * params.n}});
}
template <typename D, typename S, DeQuantMode mode = DeQuantMode::DEQUANT_WITH_SINGLE_ROW>
inline void AscendDequant(const LocalTensor<D>& dstTensor, const LocalTensor<int32_t>& srcTensor,
                          const S deqScale, DequantParams params, hostcann::CallSite site = {}) {
  AscendDequant<D, S, mode>(dstTensor, srcTensor, deqScale, hostcann::Scratch(), params, site);
}

// A scale and an offset per group of rows and per column of [k, n]; transposed, of [n, k].
template <typename InputDataType, typename OutputDataType, bool isTranspose>
inline void AscendAntiQuant(const LocalTensor<OutputDataType>& dst,
                            const LocalTensor<InputDataType>& src,
                            const LocalTensor<OutputDataType>& offset,
                            const LocalTensor<OutputDataType>& scale,
                            const hostcann::Scratch& scratch, const uint32_t k,
                            const AntiQuantShapeInfo& shapeInfo = {}, hostcann::CallSite = {}) {
  static_assert(
      std::is_same_v<InputDataType, int8_t> && hostcann::kIsOneOf<OutputDataType, half, bfloat16_t>,
      "AscendAntiQuant of hostcann takes int8_t to half, bfloat16_t");
  const ShapeInfo own = offset.GetShapeInfo();
  const size_t height = shapeInfo.offsetHeight != 0 ? shapeInfo.offsetHeight : own.shape[0];
  const size_t width = shapeInfo.offsetWidth != 0 ? shapeInfo.offsetWidth : own.shape[1];
  const size_t groups = isTranspose ? width : height;
  const size_t elements = src.GetSize();
  if (k == 0 || groups == 0 || k % groups != 0 || elements % k != 0 ||
      elements / k != (isTranspose ? height : width)) {
    hostcann::fault(
        "AscendAntiQuant: expected offset to be [groups of k, n] for src of %zu elements, got k %u "
        "and offset [%zu, %zu]",
        elements, k, height, width);
  }
  const size_t columns = isTranspose ? k : elements / k;
  const size_t group = k / groups;
  const InputDataType* const from = hostcann::input("AscendAntiQuant", "src", src, elements);
  const OutputDataType* const offsets =
      hostcann::input("AscendAntiQuant", "offset", offset, height * width);
  const OutputDataType* const scales =
      hostcann::input("AscendAntiQuant", "scale", scale, height * width);
  OutputDataType* const to = hostcann::output("AscendAntiQuant", "dst", dst, elements);
  for (size_t i = 0; i < elements; ++i) {
    const size_t row = i / columns;
    const size_t column = i % columns;
    const size_t at = isTranspose ? row * width + column / group : row / group * width + column;
    to[i] = hostcann::dequantised<OutputDataType>(from[i], offsets[at], scales[at]);
  }
  scratch.use("AscendAntiQuant", {{dst, elements}, {src, elements}});
}
template <typename InputDataType, typename OutputDataType, bool isTranspose>
inline void AscendAntiQuant(const LocalTensor<OutputDataType>& dst,
                            const LocalTensor<InputDataType>& src, const OutputDataType offset,
                            const OutputDataType scale, const hostcann::Scratch& scratch,
                            const uint32_t, const AntiQuantShapeInfo& = {},
                            hostcann::CallSite = {}) {
  static_assert(
      std::is_same_v<InputDataType, int8_t> && hostcann::kIsOneOf<OutputDataType, half, bfloat16_t>,
      "AscendAntiQuant of hostcann takes int8_t to half, bfloat16_t");
  const size_t elements = src.GetSize();
  const InputDataType* const from = hostcann::input("AscendAntiQuant", "src", src, elements);
  OutputDataType* const to = hostcann::output("AscendAntiQuant", "dst", dst, elements);
  for (size_t i = 0; i < elements; ++i) {
    to[i] = hostcann::dequantised<OutputDataType>(from[i], offset, scale);
  }
  scratch.use("AscendAntiQuant", {{dst, elements}, {src, elements}});
}

}  // namespace AscendC

#endif  // HOSTCANN_ADVANCED_QUANTISATION_H
