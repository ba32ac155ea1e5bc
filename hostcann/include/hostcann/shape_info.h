// SPDX-License-Identifier: Apache-2.0
// The shape a tensor carries along; nothing but GetShapeInfo and DumpTensor looks at it.
#ifndef HOSTCANN_SHAPE_INFO_H
#define HOSTCANN_SHAPE_INFO_H

#include <cstdint>

namespace AscendC {

constexpr uint32_t K_MAX_SHAPE_DIM = 8;
constexpr uint32_t K_MAX_DIM = 8;

using TTagType = int32_t;

enum class DataFormat : uint8_t {
  ND = 0,
  NZ,
  NCHW,
  NC1HWC0,
  NHWC,
  NCDHW,
  NDC1HWC0,
  FRACTAL_Z_3D,
};

struct ShapeInfo {
  ShapeInfo() = default;
  ShapeInfo(uint8_t dims, const uint32_t sizes[], DataFormat format = DataFormat::ND)
      : ShapeInfo(dims, sizes, dims, sizes, format) {}
  ShapeInfo(uint8_t dims, const uint32_t sizes[], uint8_t original_dims,
            const uint32_t original_sizes[], DataFormat format = DataFormat::ND)
      : shapeDim(dims), originalShapeDim(original_dims), dataFormat(format) {
    for (uint32_t i = 0; i < dims && i < K_MAX_SHAPE_DIM; ++i) shape[i] = sizes[i];
    for (uint32_t i = 0; i < original_dims && i < K_MAX_SHAPE_DIM; ++i) {
      originalShape[i] = original_sizes[i];
    }
  }

  uint8_t shapeDim = 0;
  uint8_t originalShapeDim = 0;
  uint32_t shape[K_MAX_SHAPE_DIM] = {};
  uint32_t originalShape[K_MAX_SHAPE_DIM] = {};
  DataFormat dataFormat = DataFormat::ND;
};

}  // namespace AscendC

#endif  // HOSTCANN_SHAPE_INFO_H
