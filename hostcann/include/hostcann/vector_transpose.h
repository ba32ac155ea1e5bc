// SPDX-License-Identifier: Apache-2.0
// Transpositions of small matrices in the Unified Buffer.
#ifndef HOSTCANN_VECTOR_TRANSPOSE_H
#define HOSTCANN_VECTOR_TRANSPOSE_H

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "hostcann/vector_arithmetic.h"

namespace AscendC {

constexpr int32_t NCHW_CONV_ADDR_LIST_SIZE = 16;

struct TransDataTo5HDParams {
  TransDataTo5HDParams() = default;
  TransDataTo5HDParams(bool dst_high, bool src_high, uint8_t repeats, uint16_t dst_repeat,
                       uint16_t src_repeat)
      : dstHighHalf(dst_high),
        srcHighHalf(src_high),
        repeatTimes(repeats),
        dstRepStride(dst_repeat),
        srcRepStride(src_repeat) {}

  bool dstHighHalf = false;
  bool srcHighHalf = false;
  uint8_t repeatTimes = 1;
  uint16_t dstRepStride = 0;
  uint16_t srcRepStride = 0;
};

enum class TransposeType : uint8_t {
  TRANSPOSE_TYPE_NONE,
  TRANSPOSE_NZ2ND_0213,
  TRANSPOSE_NZ2NZ_0213,
  TRANSPOSE_NZ2NZ_012_WITH_N,
  TRANSPOSE_NZ2ND_012_WITH_N,
  TRANSPOSE_NZ2ND_012_WITHOUT_N,
  TRANSPOSE_NZ2NZ_012_WITHOUT_N,
  TRANSPOSE_ND2ND_ONLY,
  TRANSPOSE_ND_UB_GM,
  TRANSPOSE_GRAD_ND_UB_GM,
  TRANSPOSE_ND2ND_B16,
  TRANSPOSE_NCHW2NHWC,
  TRANSPOSE_NHWC2NCHW,
};
struct TransposeParamsExt {
  TransposeParamsExt() = default;
  TransposeParamsExt(uint16_t n, uint16_t c, uint16_t h, uint16_t w, TransposeType type)
      : nSize(n), cSize(c), hSize(h), wSize(w), transposeType(type) {}

  uint16_t nSize = 0;
  uint16_t cSize = 0;
  uint16_t hSize = 0;
  uint16_t wSize = 0;
  TransposeType transposeType = TransposeType::TRANSPOSE_ND2ND_B16;
};

}  // namespace AscendC

namespace hostcann {

constexpr size_t kRows = AscendC::NCHW_CONV_ADDR_LIST_SIZE;

inline uint8_t* listed_block(const char* name, uint64_t address, size_t offset, Access access) {
  const BlockState& block = this_block("TransDataTo5HD");
  uint8_t* const at = reinterpret_cast<uint8_t*>(address) + offset;
  if (at < block.ub() || at + kBlockBytes > block.ub() + kUbBytes) {
    fault(
        "TransDataTo5HD: expected the addresses of %s to be in the Unified Buffer, got one that is "
        "not; take GetPhyAddr of a LocalTensor",
        name);
  }
  note("TransDataTo5HD", name, Unit::kVector, access, at, kBlockBytes);
  return at;
}

// Sixteen rows of one block each. Of two bytes an element, row r and column c change places; of
// four bytes, column c of the first eight rows becomes row 2c and of the last eight row 2c + 1; of
// one byte, half of every block takes part.
template <typename T>
inline void transpose_listed(const uint64_t* dst, const uint64_t* src,
                             const AscendC::TransDataTo5HDParams& params) {
  constexpr size_t kColumns = sizeof(T) == 1 ? 16 : kBlockBytes / sizeof(T);
  constexpr size_t kHalf = sizeof(T) == 1 ? 16 : 0;
  for (size_t repeat = 0; repeat < params.repeatTimes; ++repeat) {
    uint8_t rows[kRows][kBlockBytes];
    for (size_t row = 0; row < kRows; ++row) {
      std::memcpy(
          rows[row],
          listed_block("src", src[row], repeat * params.srcRepStride * kBlockBytes, Access::kRead),
          kBlockBytes);
    }
    const size_t from = params.srcHighHalf ? kHalf : 0;
    const size_t into = params.dstHighHalf ? kHalf : 0;
    for (size_t row = 0; row < kRows; ++row) {
      uint8_t* const to =
          listed_block("dst", dst[row], repeat * params.dstRepStride * kBlockBytes, Access::kWrite);
      for (size_t column = 0; column < kColumns; ++column) {
        const size_t source_row = sizeof(T) == 4 ? column + row % 2 * 8 : column;
        const size_t source_column = sizeof(T) == 4 ? row / 2 : row;
        std::memcpy(to + into + column * sizeof(T),
                    rows[source_row] + from + source_column * sizeof(T), sizeof(T));
      }
    }
  }
}

}  // namespace hostcann

namespace AscendC {

template <typename T>
inline void TransDataTo5HD(uint64_t dstList[NCHW_CONV_ADDR_LIST_SIZE],
                           uint64_t srcList[NCHW_CONV_ADDR_LIST_SIZE],
                           const TransDataTo5HDParams& nchwconvParams, hostcann::CallSite = {}) {
  static_assert(sizeof(T) <= 4, "TransDataTo5HD of dav-2201 takes elements of 1, 2 and 4 bytes");
  hostcann::transpose_listed<T>(dstList, srcList, nchwconvParams);
}
template <typename T>
inline void TransDataTo5HD(const LocalTensor<T> (&dstList)[NCHW_CONV_ADDR_LIST_SIZE],
                           const LocalTensor<T> (&srcList)[NCHW_CONV_ADDR_LIST_SIZE],
                           const TransDataTo5HDParams& nchwconvParams, hostcann::CallSite = {}) {
  uint64_t dst[NCHW_CONV_ADDR_LIST_SIZE];
  uint64_t src[NCHW_CONV_ADDR_LIST_SIZE];
  for (int32_t i = 0; i < NCHW_CONV_ADDR_LIST_SIZE; ++i) {
    dst[i] = dstList[i].GetPhyAddr();
    src[i] = srcList[i].GetPhyAddr();
  }
  hostcann::transpose_listed<T>(dst, src, nchwconvParams);
}

// A matrix of 16 x 16 elements of two bytes.
template <typename T>
inline void Transpose(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                      hostcann::CallSite = {}) {
  using namespace hostcann;
  HOSTCANN_TAKES(Transpose, int16_t, uint16_t, half);
  constexpr size_t kBytes = kRows * kRows * sizeof(T);
  const uint8_t* const from = src.view().aligned("Transpose", "src", kBytes);
  uint8_t* const to = dst.view().aligned("Transpose", "dst", kBytes);
  note("Transpose", "src", Unit::kVector, Access::kRead, from, kBytes);
  note("Transpose", "dst", Unit::kVector, Access::kWrite, to, kBytes);
  uint8_t matrix[kBytes];
  std::memcpy(matrix, from, kBytes);
  for (size_t row = 0; row < kRows; ++row) {
    for (size_t column = 0; column < kRows; ++column) {
      std::memcpy(to + (row * kRows + column) * sizeof(T),
                  matrix + (column * kRows + row) * sizeof(T), sizeof(T));
    }
  }
}

// [n, c, h, w] to [n, h, w, c] and back, each as one piece. CANN's scratch space is not used.
template <typename T>
inline void Transpose(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                      const LocalTensor<uint8_t>& sharedTmpBuffer,
                      const TransposeParamsExt& transposeParams, hostcann::CallSite site = {}) {
  using namespace hostcann;
  const TransposeType type = transposeParams.transposeType;
  if (type == TransposeType::TRANSPOSE_TYPE_NONE) return;
  if (type == TransposeType::TRANSPOSE_ND2ND_B16) {
    if constexpr (sizeof(T) == 2) return Transpose(dst, src, site);
    fault("Transpose: expected elements of 2 bytes for TRANSPOSE_ND2ND_B16, got %zu", sizeof(T));
  }
  const bool to_last = type == TransposeType::TRANSPOSE_NCHW2NHWC;
  if (!to_last && type != TransposeType::TRANSPOSE_NHWC2NCHW) {
    fault(
        "Transpose: expected TRANSPOSE_ND2ND_B16, TRANSPOSE_NCHW2NHWC or TRANSPOSE_NHWC2NCHW, got "
        "type %u, which dav-2201 does not do",
        static_cast<unsigned>(type));
  }
  const size_t channels = transposeParams.cSize;
  const size_t area = size_t{transposeParams.hSize} * transposeParams.wSize;
  const size_t count = transposeParams.nSize * channels * area;
  if (channels > 4095 || area > 4095 || area * sizeof(T) % kBlockBytes != 0) {
    fault(
        "Transpose: expected cSize and hSize x wSize up to 4095, the latter whole blocks, got %zu "
        "and %zu elements of %zu bytes",
        channels, area, sizeof(T));
  }
  if (count == 0) return;
  sharedTmpBuffer.view().aligned("Transpose", "sharedTmpBuffer", 1);
  const uint8_t* const from = src.view().aligned("Transpose", "src", count * sizeof(T));
  uint8_t* const to = dst.view().aligned("Transpose", "dst", count * sizeof(T));
  note("Transpose", "src", Unit::kVector, Access::kRead, from, count * sizeof(T));
  note("Transpose", "dst", Unit::kVector, Access::kWrite, to, count * sizeof(T));
  check_overlap("Transpose", "src", to, count * sizeof(T), from, count * sizeof(T));
  if (to == from) fault("Transpose: expected dst and src to be disjoint, got the same tensor");
  const size_t rows = to_last ? channels : area;
  const size_t columns = to_last ? area : channels;
  for (size_t i = 0; i < count; ++i) {
    const size_t row = i / columns % rows;
    const size_t at = i - i % (rows * columns) + i % columns * rows + row;
    std::memcpy(to + at * sizeof(T), from + i * sizeof(T), sizeof(T));
  }
}

}  // namespace AscendC

#endif  // HOSTCANN_VECTOR_TRANSPOSE_H
