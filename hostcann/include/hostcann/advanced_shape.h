// SPDX-License-Identifier: Apache-2.0
// Filling, repeating, padding and choosing elements of a matrix.
#ifndef HOSTCANN_ADVANCED_SHAPE_H
#define HOSTCANN_ADVANCED_SHAPE_H

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "hostcann/advanced_call.h"
#include "hostcann/advanced_reduce.h"
#include "hostcann/tiling_structs.h"

namespace AscendC {

struct DropOutShapeInfo {
  uint32_t firstAxis = 0;
  uint32_t srcLastAxis = 0;
  uint32_t maskLastAxis = 0;
};
struct SelectWithBytesMaskShapeInfo {
  uint32_t firstAxis = 0;
  uint32_t srcLastAxis = 0;
  uint32_t maskLastAxis = 0;
};
struct PadParams {
  uint16_t leftPad = 0;
  uint16_t rightPad = 0;
  int32_t padValue = 0;
};
struct UnPadParams {
  uint16_t leftPad = 0;
  uint16_t rightPad = 0;
};

// firstValue, firstValue + diffValue, …: each from its position, so that no error adds up.
template <typename T>
inline void Arange(const LocalTensor<T>& dst, const T firstValue, const T diffValue,
                   const int32_t count, hostcann::CallSite = {}) {
  HOSTCANN_TAKES(Arange, int16_t, half, int32_t, float);
  using hostcann::wide;
  if (count <= 0) hostcann::fault("Arange: expected a count above 0, got %d", count);
  T* const to = hostcann::output("Arange", "dst", dst, static_cast<size_t>(count));
  for (int32_t i = 0; i < count; ++i) {
    to[i] = static_cast<T>(wide(firstValue) +
                           wide(diffValue) * static_cast<decltype(wide(firstValue))>(i));
  }
}
template <typename T>
inline void ArithProgression(const LocalTensor<T>& dst, const T firstValue, const T diffValue,
                             const int32_t count, hostcann::CallSite site = {}) {
  Arange(dst, firstValue, diffValue, count, site);
}

// An axis of length 1 repeated to the length that dstShape has. CANN documents int8_t, uint8_t,
// half and float for dav-2201; its own sample repeats bfloat16_t and integers as well.
template <typename T, int32_t dim, int32_t axis, bool isReuseSource = false>
inline void Broadcast(const LocalTensor<T>& dstLocal, const LocalTensor<T>& srcLocal,
                      const uint32_t dstShape[dim], const uint32_t srcShape[dim],
                      const hostcann::Scratch& scratch, hostcann::CallSite = {}) {
  HOSTCANN_TAKES(Broadcast, int8_t, uint8_t, int16_t, uint16_t, half, bfloat16_t, int32_t, uint32_t,
                 float);
  static_assert((dim == 1 && axis == 0) || (dim == 2 && (axis == 0 || axis == 1)),
                "Broadcast of dav-2201 takes 1 or 2 dimensions and repeats one of them");
  if (srcShape[axis] != 1 && srcShape[axis] != dstShape[axis]) {
    hostcann::fault("Broadcast: expected axis %d of src to be 1 long, got %u", axis,
                    srcShape[axis]);
  }
  if (dim == 2 && srcShape[1 - axis] != dstShape[1 - axis]) {
    hostcann::fault("Broadcast: expected axis %d to be %u long in both, got %u", 1 - axis,
                    srcShape[1 - axis], dstShape[1 - axis]);
  }
  const size_t rows = dim == 1 ? 1 : dstShape[0];
  const size_t columns = dstShape[dim - 1];
  const size_t src_columns = srcShape[dim - 1];
  const size_t src_count = (dim == 1 ? 1 : srcShape[0]) * src_columns;
  const T* const from = hostcann::input("Broadcast", "src", srcLocal, src_count);
  T* const to = hostcann::output("Broadcast", "dst", dstLocal, rows * columns);
  const bool one_row = dim == 1 || srcShape[0] == 1;
  for (size_t row = 0; row < rows; ++row) {
    for (size_t column = 0; column < columns; ++column) {
      to[row * columns + column] =
          from[(one_row ? 0 : row) * src_columns + (src_columns == 1 ? 0 : column)];
    }
  }
  scratch.use("Broadcast", {{dstLocal, rows * columns}, {srcLocal, src_count}});
}
template <typename T, int32_t dim, int32_t axis, bool isReuseSource = false>
inline void Broadcast(const LocalTensor<T>& dstLocal, const LocalTensor<T>& srcLocal,
                      const uint32_t dstShape[dim], const uint32_t srcShape[dim],
                      hostcann::CallSite site = {}) {
  Broadcast<T, dim, axis>(dstLocal, srcLocal, dstShape, srcShape, hostcann::Scratch(), site);
}

// What the mask keeps, divided by the probability of keeping it; a byte or a bit per element.
template <typename T, bool isInitBitMode = false, uint32_t dropOutMode = 0>
inline void DropOut(const LocalTensor<T>& dstLocal, const LocalTensor<T>& srcLocal,
                    const LocalTensor<uint8_t>& maskLocal, const hostcann::Scratch& scratch,
                    const float keepProb, const DropOutShapeInfo& info, hostcann::CallSite = {}) {
  HOSTCANN_TAKES(DropOut, half, float);
  static_assert(dropOutMode <= 4, "the mode of DropOut is 0 to 4");
  const size_t rows = info.firstAxis;
  const size_t columns = info.srcLastAxis;
  const size_t mask_columns = info.maskLastAxis;
  hostcann::require_rows("DropOut", rows, columns, columns, sizeof(T));
  const bool bits = dropOutMode == 0 ? mask_columns < columns : dropOutMode >= 3;
  if (!(keepProb > 0 && keepProb < 1)) {
    hostcann::fault("DropOut: expected keepProb between 0 and 1, got %g",
                    static_cast<double>(keepProb));
  }
  if (mask_columns < (bits ? (columns + 7) / 8 : columns)) {
    hostcann::fault("DropOut: expected a mask of a %s per element of %zu, got rows of %zu bytes",
                    bits ? "bit" : "byte", columns, mask_columns);
  }
  const T* const from = hostcann::input("DropOut", "src", srcLocal, rows * columns);
  const uint8_t* const mask = hostcann::input("DropOut", "mask", maskLocal, rows * mask_columns);
  T* const to = hostcann::output("DropOut", "dst", dstLocal, rows * columns);
  const T factor = static_cast<T>(1.0f / keepProb);
  for (size_t i = 0; i < rows * columns; ++i) {
    const uint8_t* const row = mask + i / columns * mask_columns;
    const size_t column = i % columns;
    const bool kept = bits ? (row[column / 8] >> (column % 8) & 1) != 0 : row[column] != 0;
    to[i] = kept ? static_cast<T>(hostcann::wide(from[i]) * hostcann::wide(factor)) : T(0);
  }
  scratch.use("DropOut", {{dstLocal, rows * columns}, {srcLocal, rows * columns}});
}
template <typename T, bool isInitBitMode = false, uint32_t dropOutMode = 0>
inline void DropOut(const LocalTensor<T>& dstLocal, const LocalTensor<T>& srcLocal,
                    const LocalTensor<uint8_t>& maskLocal, const float keepProb,
                    const DropOutShapeInfo& info, hostcann::CallSite site = {}) {
  DropOut<T, isInitBitMode, dropOutMode>(dstLocal, srcLocal, maskLocal, hostcann::Scratch(),
                                         keepProb, info, site);
}

}  // namespace AscendC

namespace hostcann {

// `chosen` where the mask's byte is not 0, else what src0 has.
template <typename T, typename M, typename Choose>
inline void select_by_bytes(const AscendC::LocalTensor<T>& dst, const AscendC::LocalTensor<T>& src,
                            const AscendC::LocalTensor<M>& mask, const Scratch& scratch,
                            const AscendC::SelectWithBytesMaskShapeInfo& info, Choose choose) {
  static_assert(kIsOneOf<T, half, float> && sizeof(M) <= 4,
                "Select by a mask of bytes takes half and float, and masks of 1 to 4 bytes");
  const size_t rows = info.firstAxis;
  const size_t columns = info.srcLastAxis;
  const size_t mask_columns = info.maskLastAxis;
  require_rows("Select", rows, columns, columns, sizeof(T));
  require_rows("Select", rows, mask_columns, columns, sizeof(M));
  const T* const from = input("Select", "src", src, rows * columns);
  const M* const bytes = input("Select", "mask", mask, rows * mask_columns);
  T* const to = output("Select", "dst", dst, rows * columns);
  for (size_t i = 0; i < rows * columns; ++i) {
    const M on = bytes[i / columns * mask_columns + i % columns];
    to[i] = choose(from[i], on != M(0));
  }
  scratch.use("Select", {{dst, rows * columns}, {src, rows * columns}});
}

}  // namespace hostcann

namespace AscendC {

template <typename T, typename U, bool isReuseMask = true>
inline void Select(const LocalTensor<T>& dst, const LocalTensor<T>& src0, T src1,
                   const LocalTensor<U>& mask, const LocalTensor<uint8_t>& sharedTmpBuffer,
                   const SelectWithBytesMaskShapeInfo& info, hostcann::CallSite = {}) {
  hostcann::select_by_bytes(dst, src0, mask, sharedTmpBuffer, info,
                            [src1](T value, bool on) { return on ? src1 : value; });
}
template <typename T, typename U, bool isReuseMask = true>
inline void Select(const LocalTensor<T>& dst, T src0, const LocalTensor<T>& src1,
                   const LocalTensor<U>& mask, const LocalTensor<uint8_t>& sharedTmpBuffer,
                   const SelectWithBytesMaskShapeInfo& info, hostcann::CallSite = {}) {
  hostcann::select_by_bytes(dst, src1, mask, sharedTmpBuffer, info,
                            [src0](T value, bool on) { return on ? value : src0; });
}

// Columns added on both sides of a matrix whose rows are then whole blocks.
template <typename T>
inline void Pad(const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor,
                const PadParams& padParams, const hostcann::Scratch& scratch,
                const PadTiling& tiling, hostcann::CallSite = {}) {
  HOSTCANN_TAKES(Pad, int16_t, uint16_t, half, int32_t, uint32_t, float);
  const size_t rows = size_t{tiling.bLength} * tiling.sLength;
  const size_t stored = tiling.hLength;
  const size_t used = tiling.originalHLength;
  const size_t padded = (stored * sizeof(T) + 31) / 32 * 32 / sizeof(T);
  if (rows == 0 || used > stored || padParams.leftPad + used + padParams.rightPad > padded) {
    hostcann::fault(
        "Pad: expected %u + %zu + %u columns to fit the %zu of whole blocks, got rows of %zu",
        padParams.leftPad, used, padParams.rightPad, padded, stored);
  }
  const T* const from = hostcann::input("Pad", "src", srcTensor, rows * stored);
  T* const to = hostcann::output("Pad", "dst", dstTensor, rows * padded);
  for (size_t i = 0; i < rows * padded; ++i) {
    const size_t column = i % padded;
    const bool inside = column >= padParams.leftPad && column < padParams.leftPad + used;
    to[i] = inside ? from[i / padded * stored + column - padParams.leftPad]
                   : static_cast<T>(padParams.padValue);
  }
  scratch.use("Pad", {{dstTensor, rows * padded}, {srcTensor, rows * stored}});
}
template <typename T>
inline void Pad(const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor,
                const PadParams& padParams, const PadTiling& tiling, hostcann::CallSite site = {}) {
  Pad(dstTensor, srcTensor, padParams, hostcann::Scratch(), tiling, site);
}

// Columns on the right left out.
template <typename T>
inline void UnPad(const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor,
                  const UnPadParams& unPadParams, const hostcann::Scratch& scratch,
                  const UnPadTiling& tiling, hostcann::CallSite = {}) {
  HOSTCANN_TAKES(UnPad, int16_t, uint16_t, half, int32_t, uint32_t, float);
  const size_t rows = size_t{tiling.bLength} * tiling.sLength;
  const size_t stored = tiling.hLength;
  hostcann::require_rows("UnPad", rows, stored, stored, sizeof(T));
  if (unPadParams.leftPad != 0 || unPadParams.rightPad == 0 ||
      unPadParams.rightPad * sizeof(T) >= hostcann::kBlockBytes) {
    hostcann::fault(
        "UnPad: expected no columns to be left out on the left and fewer than a block on the "
        "right, "
        "got %u and %u",
        unPadParams.leftPad, unPadParams.rightPad);
  }
  const size_t kept = stored - unPadParams.rightPad;
  const T* const from = hostcann::input("UnPad", "src", srcTensor, rows * stored);
  T* const to = hostcann::output("UnPad", "dst", dstTensor, rows * kept);
  for (size_t i = 0; i < rows * kept; ++i) to[i] = from[i / kept * stored + i % kept];
  scratch.use("UnPad", {{dstTensor, rows * kept}, {srcTensor, rows * stored}});
}
template <typename T>
inline void UnPad(const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor,
                  const UnPadParams& unPadParams, const UnPadTiling& tiling,
                  hostcann::CallSite site = {}) {
  UnPad(dstTensor, srcTensor, unPadParams, hostcann::Scratch(), tiling, site);
}

}  // namespace AscendC

#endif  // HOSTCANN_ADVANCED_SHAPE_H
