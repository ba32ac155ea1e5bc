// SPDX-License-Identifier: Apache-2.0
// How much scratch space the advanced functions want, and their tiling. hostcann's functions need
// none, so the sizes are its own: enough to allocate by, and no promise about CANN's.
#ifndef HOSTCANN_ADVANCED_TILING_H
#define HOSTCANN_ADVANCED_TILING_H

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "hostcann/advanced_types.h"
#include "hostcann/graph_types.h"
#include "hostcann/platform.h"
#include "hostcann/tiling_structs.h"

namespace hostcann {

constexpr uint32_t kLeastScratch = 256;
constexpr uint32_t kScratchCopies = 2;  // of the operand, where a function would use them

inline uint32_t most_scratch(uint64_t elements, uint32_t type_size) {
  const uint64_t bytes = kScratchCopies * elements * type_size;
  return static_cast<uint32_t>(std::max<uint64_t>((bytes + 31) / 32 * 32, kLeastScratch));
}
inline void scratch_sizes(const ge::Shape& shape, uint32_t type_size, uint32_t& most,
                          uint32_t& least) {
  most = most_scratch(static_cast<uint64_t>(shape.GetShapeSize()), type_size);
  least = kLeastScratch;
}
inline void scratch_factors(uint32_t& copies, uint32_t& extra) {
  copies = kScratchCopies;
  extra = kLeastScratch;
}
inline uint32_t type_bytes(ge::DataType type) {
  switch (type) {
    case ge::DT_INT4:
    case ge::DT_INT8:
    case ge::DT_UINT8:
    case ge::DT_BOOL:
      return 1;
    case ge::DT_FLOAT16:
    case ge::DT_BF16:
    case ge::DT_INT16:
    case ge::DT_UINT16:
      return 2;
    case ge::DT_INT64:
    case ge::DT_UINT64:
    case ge::DT_DOUBLE:
      return 8;
    default:
      return 4;
  }
}

// [..., s, h]: what stands in front of the last two is b.
template <typename Tiling>
inline void fill_tiling(const ge::Shape& shape, Tiling& tiling) {
  const size_t dims = shape.GetDimNum();
  const auto of = [&](size_t from_the_end) {
    return dims < from_the_end ? 1u : static_cast<uint32_t>(shape.GetDim(dims - from_the_end));
  };
  uint32_t rest = 1;
  for (size_t i = 3; i <= dims; ++i) rest *= of(i);
  tiling.set_bLength(rest);
  tiling.set_sLength(of(2));
  tiling.set_hLength(of(1));
  tiling.set_originalHLength(of(1));
}
inline uint32_t last_dim(const ge::Shape& shape) {
  return shape.GetDimNum() == 0 ? 0u : static_cast<uint32_t>(shape.GetDim(shape.GetDimNum() - 1));
}
// [b, s, h as it is stored, h].
template <typename Tiling>
inline void fill_norm_tiling(const ge::Shape& shape, Tiling& tiling) {
  std::vector<int64_t> dims = shape.GetDims();
  if (dims.size() < 4) return fill_tiling(shape, tiling);
  const uint32_t original = static_cast<uint32_t>(dims.back());
  dims.pop_back();
  fill_tiling(ge::Shape(dims), tiling);
  tiling.set_originalHLength(original);
}

// Of [b, n, s, h], or of [s, h].
template <typename Tiling>
inline void fill_transpose_tiling(const ge::Shape& shape, Tiling& tiling) {
  const bool whole = shape.GetDimNum() == 4;
  fill_tiling(shape, tiling);
  tiling.set_bLength(whole ? static_cast<uint32_t>(shape.GetDim(0)) : 1);
  tiling.set_nLength(whole ? static_cast<uint32_t>(shape.GetDim(1)) : 1);
}

}  // namespace hostcann

// One line per function that is element by element.
#define HOSTCANN_SCRATCH(Name)                                                               \
  inline void Get##Name##MaxMinTmpSize(const ge::Shape& srcShape, const uint32_t typeSize,   \
                                       const bool, uint32_t& maxValue, uint32_t& minValue) { \
    hostcann::scratch_sizes(srcShape, typeSize, maxValue, minValue);                         \
  }                                                                                          \
  inline void Get##Name##TmpBufferFactorSize(const uint32_t, uint32_t& maxLiveNodeCount,     \
                                             uint32_t& extraBuf) {                           \
    hostcann::scratch_factors(maxLiveNodeCount, extraBuf);                                   \
  }
// Those that ask for the chip as well.
#define HOSTCANN_SCRATCH_OF_CHIP(Name)                                                       \
  inline void Get##Name##MaxMinTmpSize(const platform_ascendc::PlatformAscendC&,             \
                                       const ge::Shape& srcShape, const uint32_t typeSize,   \
                                       const bool, uint32_t& maxValue, uint32_t& minValue) { \
    hostcann::scratch_sizes(srcShape, typeSize, maxValue, minValue);                         \
  }                                                                                          \
  inline void Get##Name##TmpBufferFactorSize(const platform_ascendc::PlatformAscendC&,       \
                                             const uint32_t, uint32_t& maxLiveNodeCount,     \
                                             uint32_t& extraBuf) {                           \
    hostcann::scratch_factors(maxLiveNodeCount, extraBuf);                                   \
  }
#define HOSTCANN_REDUCE_SCRATCH(Name)                                                          \
  inline void Get##Name##MaxMinTmpSize(const ge::Shape& srcShape, const ge::DataType dataType, \
                                       ReducePattern, bool, bool, uint32_t& maxValue,          \
                                       uint32_t& minValue) {                                   \
    hostcann::scratch_sizes(srcShape, hostcann::type_bytes(dataType), maxValue, minValue);     \
  }

namespace AscendC {

HOSTCANN_SCRATCH(Acos)
HOSTCANN_SCRATCH(Acosh)
HOSTCANN_SCRATCH(Asin)
HOSTCANN_SCRATCH(Asinh)
HOSTCANN_SCRATCH(Atan)
HOSTCANN_SCRATCH(Atanh)
HOSTCANN_SCRATCH(Axpy)
HOSTCANN_SCRATCH(Ceil)
HOSTCANN_SCRATCH(Clamp)
HOSTCANN_SCRATCH(Cos)
HOSTCANN_SCRATCH(Cosh)
HOSTCANN_SCRATCH(Digamma)
HOSTCANN_SCRATCH(Erf)
HOSTCANN_SCRATCH(Erfc)
HOSTCANN_SCRATCH(Exp)
HOSTCANN_SCRATCH(Floor)
HOSTCANN_SCRATCH(Fmod)
HOSTCANN_SCRATCH(Frac)
HOSTCANN_SCRATCH(GeGLU)
HOSTCANN_SCRATCH(Lgamma)
HOSTCANN_SCRATCH(Log)
HOSTCANN_SCRATCH(Log10)
HOSTCANN_SCRATCH(Log2)
HOSTCANN_SCRATCH(ReGlu)
HOSTCANN_SCRATCH(Sigmoid)
HOSTCANN_SCRATCH(Sign)
HOSTCANN_SCRATCH(Sin)
HOSTCANN_SCRATCH(Sinh)
HOSTCANN_SCRATCH(Tan)
HOSTCANN_SCRATCH(Tanh)
HOSTCANN_SCRATCH(Trunc)
HOSTCANN_SCRATCH(Xor)
HOSTCANN_SCRATCH_OF_CHIP(Round)
HOSTCANN_REDUCE_SCRATCH(ReduceMax)
HOSTCANN_REDUCE_SCRATCH(ReduceMin)
HOSTCANN_REDUCE_SCRATCH(ReduceSum)

#undef HOSTCANN_SCRATCH
#undef HOSTCANN_SCRATCH_OF_CHIP
#undef HOSTCANN_REDUCE_SCRATCH

inline uint32_t GetGeluMaxTmpSize(const ge::Shape& srcShape, const uint32_t typeSize) {
  return hostcann::most_scratch(srcShape.GetShapeSize(), typeSize);
}
inline uint32_t GetGeluMinTmpSize(const ge::Shape&, const uint32_t) {
  return hostcann::kLeastScratch;
}
inline void GetGeluMaxMinTmpSize(const ge::Shape& srcShape, const uint32_t typeSize,
                                 uint32_t& maxValue, uint32_t& minValue) {
  hostcann::scratch_sizes(srcShape, typeSize, maxValue, minValue);
}
inline void GetSwishTmpSize(const ge::Shape& srcShape, const uint32_t typeSize, const bool,
                            uint32_t& maxValue, uint32_t& minValue) {
  hostcann::scratch_sizes(srcShape, typeSize, maxValue, minValue);
}
inline void GetSiluTmpSize(const ge::Shape& srcShape, const uint32_t typeSize, const bool,
                           uint32_t& maxValue, uint32_t& minValue) {
  hostcann::scratch_sizes(srcShape, typeSize, maxValue, minValue);
}
inline void GetSwiGLUMaxMinTmpSize(const ge::Shape& srcShape, const uint32_t typeSize,
                                   uint32_t& maxValue, uint32_t& minValue, const bool) {
  hostcann::scratch_sizes(srcShape, typeSize, maxValue, minValue);
}
inline void GetSwiGLUTmpBufferFactorSize(const uint32_t, uint32_t& maxLiveNodeCount,
                                         uint32_t& extraBuffer) {
  hostcann::scratch_factors(maxLiveNodeCount, extraBuffer);
}
inline void GetPowerMaxMinTmpSize(const ge::Shape& srcShape1, const ge::Shape& srcShape2,
                                  const bool, const uint32_t typeSize, const bool,
                                  uint32_t& maxValue, uint32_t& minValue) {
  const bool first = srcShape1.GetShapeSize() > srcShape2.GetShapeSize();
  hostcann::scratch_sizes(first ? srcShape1 : srcShape2, typeSize, maxValue, minValue);
}
inline void GetPowerTmpBufferFactorSize(const bool, const bool, const bool, const uint32_t,
                                        uint32_t& maxLiveNodeCount, uint32_t& extraBuffer) {
  hostcann::scratch_factors(maxLiveNodeCount, extraBuffer);
}
inline void GetCumSumMaxMinTmpSize(const ge::Shape& srcShape, const uint32_t typeSize, const bool,
                                   const bool, uint32_t& maxValue, uint32_t& minValue) {
  hostcann::scratch_sizes(srcShape, typeSize, maxValue, minValue);
}
inline void GetSumMaxMinTmpSize(const uint32_t n, const uint32_t typeSize, const bool,
                                uint32_t& maxValue, uint32_t& minValue) {
  maxValue = hostcann::most_scratch(n, typeSize);
  minValue = hostcann::kLeastScratch;
}
inline void GetMeanMaxMinTmpSize(const uint32_t n, const uint32_t, const uint32_t accTypeSize,
                                 const bool, uint32_t& maxSize, uint32_t& minSize) {
  maxSize = hostcann::most_scratch(n, accTypeSize);
  minSize = hostcann::kLeastScratch;
}
inline void GetMeanTmpBufferFactorSize(const uint32_t, uint32_t& maxLiveNodeCount,
                                       uint32_t& extraBuffer) {
  hostcann::scratch_factors(maxLiveNodeCount, extraBuffer);
}

inline uint32_t GetSoftMaxMaxTmpSize(const ge::Shape& srcShape, const uint32_t dataTypeSize,
                                     const bool) {
  return hostcann::most_scratch(srcShape.GetShapeSize(), dataTypeSize);
}
inline uint32_t GetSoftMaxMinTmpSize(const ge::Shape&, const uint32_t, const bool) {
  return hostcann::kLeastScratch;
}
inline uint32_t GetSoftMaxFlashMaxTmpSize(const ge::Shape& srcShape, const uint32_t dataTypeSize,
                                          const bool, const bool) {
  return hostcann::most_scratch(srcShape.GetShapeSize(), dataTypeSize);
}
inline uint32_t GetSoftMaxFlashMinTmpSize(const ge::Shape&, const uint32_t, const bool,
                                          const bool) {
  return hostcann::kLeastScratch;
}
inline uint32_t GetSoftMaxFlashV2MaxTmpSize(const ge::Shape& srcShape, const uint32_t dataTypeSize1,
                                            const uint32_t, const bool, const bool = false,
                                            const bool = false) {
  return hostcann::most_scratch(srcShape.GetShapeSize(), dataTypeSize1);
}
inline uint32_t GetSoftMaxFlashV2MinTmpSize(const ge::Shape&, const uint32_t, const uint32_t,
                                            const bool, const bool = false, const bool = false) {
  return hostcann::kLeastScratch;
}
inline void GetSoftMaxFlashV3MaxMinTmpSize(const ge::Shape& srcShape, const uint32_t dataTypeSize1,
                                           const uint32_t, uint32_t& maxValue, uint32_t& minValue,
                                           const bool, const bool = false) {
  hostcann::scratch_sizes(srcShape, dataTypeSize1, maxValue, minValue);
}
inline uint32_t GetSoftMaxGradMaxTmpSize(const ge::Shape& srcShape, const uint32_t dataTypeSize,
                                         const bool, const bool) {
  return hostcann::most_scratch(srcShape.GetShapeSize(), dataTypeSize);
}
inline uint32_t GetSoftMaxGradMinTmpSize(const ge::Shape&, const uint32_t, const bool, const bool) {
  return hostcann::kLeastScratch;
}
inline uint32_t GetLogSoftMaxMaxTmpSize(const ge::Shape& srcShape, const uint32_t dataTypeSize,
                                        const bool) {
  return hostcann::most_scratch(srcShape.GetShapeSize(), dataTypeSize);
}
inline uint32_t GetLogSoftMaxMinTmpSize(const ge::Shape&, const uint32_t, const bool) {
  return hostcann::kLeastScratch;
}

// The tiling may be AscendC::tiling's or optiling's.
template <typename Tiling>
inline void SoftMaxTilingFunc(const ge::Shape& srcShape, const uint32_t, const uint32_t,
                              Tiling& softmaxTiling) {
  hostcann::fill_tiling(srcShape, softmaxTiling);
}
template <typename Tiling>
inline void SoftMaxFlashTilingFunc(const ge::Shape& srcShape, const uint32_t, const uint32_t,
                                   Tiling& softmaxFlashTiling, const bool = false) {
  hostcann::fill_tiling(srcShape, softmaxFlashTiling);
}
template <typename Tiling>
inline void SoftMaxFlashV2TilingFunc(const ge::Shape& srcShape, const uint32_t, const uint32_t,
                                     const uint32_t, Tiling& softmaxFlashTiling, const bool,
                                     const bool = false, const bool = false) {
  hostcann::fill_tiling(srcShape, softmaxFlashTiling);
}
template <typename Tiling>
inline void SoftMaxFlashV3TilingFunc(const ge::Shape& srcShape, const uint32_t, const uint32_t,
                                     const uint32_t, Tiling& softmaxFlashV3Tiling, const bool,
                                     const bool = false) {
  hostcann::fill_tiling(srcShape, softmaxFlashV3Tiling);
}
template <typename Tiling>
inline void SoftMaxGradTilingFunc(const ge::Shape& srcShape, const uint32_t, const uint32_t,
                                  Tiling& softmaxGradTiling, const bool = false) {
  hostcann::fill_tiling(srcShape, softmaxGradTiling);
}
template <typename Tiling>
inline void LogSoftMaxTilingFunc(const ge::Shape& srcShape, const uint32_t, const uint32_t,
                                 Tiling& softmaxTiling) {
  hostcann::fill_tiling(srcShape, softmaxTiling);
}

inline void GetLayerNormMaxMinTmpSize(const ge::Shape& srcShape, const uint32_t typeSize,
                                      const bool, uint32_t& maxValue, uint32_t& minValue) {
  hostcann::scratch_sizes(srcShape, typeSize, maxValue, minValue);
}
inline void GetLayerNormMaxMinTmpSize(const ge::Shape& srcShape, const uint32_t typeSize,
                                      const bool, const bool, const bool, uint32_t& maxValue,
                                      uint32_t& minValue) {
  hostcann::scratch_sizes(srcShape, typeSize, maxValue, minValue);
}
// Of [a, r], with the inverse of the deviation.
template <typename Tiling>
inline void GetLayerNormNDTilingInfo(const ge::Shape& srcShape, const uint32_t, const uint32_t,
                                     const bool, const bool, Tiling& tiling) {
  hostcann::fill_tiling(srcShape, tiling);
}
template <typename Tiling>
inline void GetLayerNormNDTilingInfo(const ge::Shape& srcShape, const uint32_t, const uint32_t,
                                     const bool, Tiling& tiling) {
  hostcann::fill_norm_tiling(srcShape, tiling);
}
inline bool GetRmsNormMaxMinTmpSize(const ge::Shape& srcShape, const uint32_t typeSize,
                                    uint32_t& maxValue, uint32_t& minValue, const bool = false) {
  hostcann::scratch_sizes(srcShape, typeSize, maxValue, minValue);
  return true;
}
template <typename Tiling>
inline bool GetRmsNormTilingInfo(const ge::Shape& srcShape, const ge::Shape& originSrcShape,
                                 const uint32_t, const uint32_t, Tiling& tiling,
                                 const bool = false) {
  hostcann::fill_tiling(srcShape, tiling);
  tiling.set_originalHLength(hostcann::last_dim(originSrcShape));
  return true;
}

inline bool GetDeepNormMaxMinTmpSize(const ge::Shape& srcShape, const uint32_t typeSize, const bool,
                                     const bool, uint32_t& maxValue, uint32_t& minValue) {
  hostcann::scratch_sizes(srcShape, typeSize, maxValue, minValue);
  return true;
}
template <typename Tiling>
inline bool GetDeepNormTilingInfo(const ge::Shape& srcShape, const ge::Shape& originSrcShape,
                                  const uint32_t, const uint32_t, const bool, const bool,
                                  Tiling& tiling) {
  hostcann::fill_tiling(srcShape, tiling);
  tiling.set_originalHLength(hostcann::last_dim(originSrcShape));
  return true;
}
inline void GetLayerNormGradMaxMinTmpSize(const ge::Shape& srcShape, const uint32_t typeSize,
                                          const bool, uint32_t& maxValue, uint32_t& minValue) {
  hostcann::scratch_sizes(srcShape, typeSize, maxValue, minValue);
}
template <typename Tiling>
inline void GetLayerNormGradNDTilingInfo(const ge::Shape srcShape, const uint32_t, const uint32_t,
                                         const bool, Tiling& tiling) {
  hostcann::fill_norm_tiling(srcShape, tiling);
}
inline void GetLayerNormGradBetaMaxMinTmpSize(const ge::Shape& srcShape, const uint32_t typeSize,
                                              const bool, uint32_t& maxValue, uint32_t& minValue) {
  hostcann::scratch_sizes(srcShape, typeSize, maxValue, minValue);
}
template <typename Tiling>
inline void GetLayerNormGradBetaNDTilingInfo(const ge::Shape srcShape, const uint32_t,
                                             const uint32_t, const bool, Tiling& tiling) {
  hostcann::fill_norm_tiling(srcShape, tiling);
}
inline void GetNormalizeMaxMinTmpSize(const ge::Shape& srcShape, const uint32_t,
                                      const uint32_t typeSizeT, const bool, const bool, const bool,
                                      uint32_t& maxValue, uint32_t& minValue) {
  hostcann::scratch_sizes(srcShape, typeSizeT, maxValue, minValue);
}
inline void GetWelfordUpdateMaxMinTmpSize(const ge::Shape& srcShape, const uint32_t,
                                          const uint32_t typeSizeU, const bool, const bool,
                                          uint32_t& maxValue, uint32_t& minValue) {
  hostcann::scratch_sizes(srcShape, typeSizeU, maxValue, minValue);
}
inline void GetWelfordFinalizeMaxMinTmpSize(const ge::Shape& srcShape, const uint32_t typeSize,
                                            const bool, uint32_t& maxValue, uint32_t& minValue) {
  hostcann::scratch_sizes(srcShape, typeSize, maxValue, minValue);
}
// Room for as many pairs of score and index.
inline uint32_t GetSortTmpSize(const platform_ascendc::PlatformAscendC&, const uint32_t elemCount,
                               const uint32_t) {
  return 8 * elemCount;
}
inline uint32_t GetConcatTmpSize(const platform_ascendc::PlatformAscendC&, const uint32_t,
                                 const uint32_t) {
  return hostcann::kLeastScratch;
}
// Sort's own scratch space, whose tensor may be this one: as much.
inline void GetSortMaxMinTmpSize(const ge::Shape& srcShape, ge::DataType, ge::DataType, bool,
                                 const SortConfig&, uint32_t& maxValue, uint32_t& minValue) {
  maxValue = 8 * static_cast<uint32_t>(srcShape.GetShapeSize());
  minValue = maxValue;
}
inline bool GetTopKMaxMinTmpSize(const platform_ascendc::PlatformAscendC&, const int32_t inner,
                                 const int32_t outter, const bool, const bool, enum TopKMode,
                                 const bool, const uint32_t dataTypeSize, uint32_t& maxValue,
                                 uint32_t& minValue) {
  hostcann::scratch_sizes(ge::Shape({outter, inner}), dataTypeSize, maxValue, minValue);
  return true;
}
template <typename Tiling>
inline bool TopKTilingFunc(const platform_ascendc::PlatformAscendC&, const int32_t inner,
                           const int32_t outter, const int32_t, const uint32_t, const bool,
                           enum TopKMode, const bool, Tiling& topKTiling) {
  hostcann::fill_tiling(ge::Shape({outter, inner}), topKTiling);
  return true;
}
inline void GetTransposeMaxMinTmpSize(const ge::Shape& srcShape, const uint32_t typeSize,
                                      const uint32_t, uint32_t& maxValue, uint32_t& minValue) {
  hostcann::scratch_sizes(srcShape, typeSize, maxValue, minValue);
}
template <typename Tiling>
inline void GetTransposeTilingInfo(const ge::Shape& srcShape, const uint32_t, const uint32_t,
                                   const uint32_t, Tiling& tiling) {
  hostcann::fill_transpose_tiling(srcShape, tiling);
}
inline bool GetTransDataMaxMinTmpSize(const platform_ascendc::PlatformAscendC&,
                                      const ge::Shape& srcShape, const ge::Shape&,
                                      const ge::DataType dataType, const TransDataConfig&,
                                      uint32_t& maxValue, uint32_t& minValue) {
  hostcann::scratch_sizes(srcShape, hostcann::type_bytes(dataType), maxValue, minValue);
  return true;
}
inline void GetPadMaxMinTmpSize(const ge::Shape& srcShape, const uint32_t typeSize,
                                uint32_t& maxValue, uint32_t& minValue) {
  hostcann::scratch_sizes(srcShape, typeSize, maxValue, minValue);
}
template <typename Tiling>
inline void PadTilingFunc(const ge::Shape srcShape, const ge::Shape oriSrcShape, const uint32_t,
                          const uint32_t, Tiling& tiling) {
  hostcann::fill_tiling(srcShape, tiling);
  tiling.set_originalHLength(hostcann::last_dim(oriSrcShape));
}
inline void GetUnPadMaxMinTmpSize(const platform_ascendc::PlatformAscendC&,
                                  const ge::Shape& srcShape, const uint32_t typeSize,
                                  uint32_t& maxValue, uint32_t& minValue) {
  hostcann::scratch_sizes(srcShape, typeSize, maxValue, minValue);
}
template <typename Tiling>
inline void UnPadTilingFunc(const ge::Shape srcShape, const uint32_t, const uint32_t,
                            Tiling& tiling) {
  hostcann::fill_tiling(srcShape, tiling);
}
inline void GetSelectMaxMinTmpSize(const ge::Shape& src0Shape, const ge::Shape& src1Shape,
                                   const uint32_t srcTypeSize, const ge::Shape&, const uint32_t,
                                   const bool, uint32_t& maxValue, uint32_t& minValue) {
  const bool first = src0Shape.GetShapeSize() > src1Shape.GetShapeSize();
  hostcann::scratch_sizes(first ? src0Shape : src1Shape, srcTypeSize, maxValue, minValue);
}

inline void GetAscendQuantMaxMinTmpSize(const ge::Shape& srcShape, const uint32_t typeSize,
                                        uint32_t& maxValue, uint32_t& minValue) {
  hostcann::scratch_sizes(srcShape, typeSize, maxValue, minValue);
}
inline void GetAscendDequantMaxMinTmpSize(const ge::Shape& srcShape, const uint32_t typeSize,
                                          uint32_t& maxValue, uint32_t& minValue) {
  hostcann::scratch_sizes(srcShape, typeSize, maxValue, minValue);
}
inline void GetAscendAntiQuantMaxMinTmpSize(const ge::Shape& srcShape, const ge::Shape&, const bool,
                                            const ge::DataType, const ge::DataType outputDataType,
                                            uint32_t& maxValue, uint32_t& minValue) {
  hostcann::scratch_sizes(srcShape, hostcann::type_bytes(outputDataType), maxValue, minValue);
}
inline void GetDropOutMaxMinTmpSize(const ge::Shape& srcShape, const uint32_t typeSize, const bool,
                                    uint32_t& maxValue, uint32_t& minValue) {
  hostcann::scratch_sizes(srcShape, typeSize, maxValue, minValue);
}
inline void GetArangeMaxMinTmpSize(uint32_t& maxValue, uint32_t& minValue) {
  maxValue = hostcann::kLeastScratch;
  minValue = hostcann::kLeastScratch;
}
inline void GetArithProgressionMaxMinTmpSize(uint32_t& maxValue, uint32_t& minValue) {
  GetArangeMaxMinTmpSize(maxValue, minValue);
}
inline void GetBroadCastMaxMinTmpSize(const platform_ascendc::PlatformAscendC&, const ge::Shape&,
                                      const ge::Shape& dstShape, const uint32_t typeSize,
                                      const bool, uint32_t& maxValue, uint32_t& minValue) {
  hostcann::scratch_sizes(dstShape, typeSize, maxValue, minValue);
}

}  // namespace AscendC

#endif  // HOSTCANN_ADVANCED_TILING_H
