// SPDX-License-Identifier: Apache-2.0
// DataCopy and DataCopyPad between device memory and the Unified Buffer, and inside the latter.
#ifndef HOSTCANN_DATA_COPY_H
#define HOSTCANN_DATA_COPY_H

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "hostcann/global_tensor.h"
#include "hostcann/kernel_types.h"
#include "hostcann/local_tensor.h"

namespace AscendC {

// Lengths and gaps in blocks of 32 bytes; a gap runs from the end of one piece to the start of the
// next. Older kernels write srcStride and dstStride for the gaps.
struct DataCopyParams {
  inline DataCopyParams() : DataCopyParams(1, 0, 0, 0) {}
  inline DataCopyParams(uint16_t count, uint16_t len, uint16_t src, uint16_t dst)
      : blockCount(count), blockLen(len), srcGap(src), dstGap(dst) {}

  uint16_t blockCount;
  uint16_t blockLen;
  union {
    uint16_t srcGap;
    uint16_t srcStride;
  };
  union {
    uint16_t dstGap;
    uint16_t dstStride;
  };
};

// blockLen in bytes; a stride is in bytes on the side of device memory and in blocks of 32 bytes
// on the side of the Unified Buffer.
struct DataCopyExtParams {
  uint16_t blockCount = 1;
  uint32_t blockLen = 0;
  uint32_t srcStride = 0;
  uint32_t dstStride = 0;
  uint32_t rsv = 0;
};

template <typename T>
struct DataCopyPadExtParams {
  bool isPad = false;
  uint8_t leftPadding = 0;   // elements
  uint8_t rightPadding = 0;  // elements
  T paddingValue = T();
};

}  // namespace AscendC

namespace hostcann {

constexpr size_t kMaxCopyBlocks = 4095;
constexpr size_t kMaxPadBytes = 2097151;

// The hardware drops the part of a copy beyond the last whole block without a word.
inline size_t whole_blocks(size_t count, size_t element_bytes) {
  const size_t bytes = count * element_bytes;
  if (bytes % kBlockBytes != 0) {
    fault(
        "DataCopy: expected count x element size to be a multiple of 32 bytes, got %zu x %zu = "
        "%zu; the hardware would copy only %zu bytes, use DataCopyPad",
        count, element_bytes, bytes, bytes / kBlockBytes * kBlockBytes);
  }
  return bytes;
}

struct CopyPieces {
  size_t count;
  size_t bytes;
  size_t src_step;
  size_t dst_step;

  bool empty() const { return count == 0 || bytes == 0; }
  size_t src_extent() const { return (count - 1) * src_step + bytes; }
  size_t dst_extent() const { return (count - 1) * dst_step + bytes; }

  void run(uint8_t* dst, const uint8_t* src) const {
    for (size_t i = 0; i < count; ++i) std::memcpy(dst + i * dst_step, src + i * src_step, bytes);
  }
};

inline CopyPieces strided_pieces(const AscendC::DataCopyParams& params) {
  if (params.blockCount > kMaxCopyBlocks) {
    fault("DataCopy: expected blockCount to be at most %zu, got %u", kMaxCopyBlocks,
          static_cast<unsigned>(params.blockCount));
  }
  const size_t bytes = params.blockLen * kBlockBytes;
  return CopyPieces{params.blockCount, bytes, bytes + params.srcGap * kBlockBytes,
                    bytes + params.dstGap * kBlockBytes};
}

inline void check_pad_params(const AscendC::DataCopyExtParams& params, size_t element_bytes) {
  if (params.blockCount > kMaxCopyBlocks) {
    fault("DataCopyPad: expected blockCount to be at most %zu, got %u", kMaxCopyBlocks,
          static_cast<unsigned>(params.blockCount));
  }
  if (params.blockLen > kMaxPadBytes) {
    fault("DataCopyPad: expected blockLen to be at most %zu bytes, got %u", kMaxPadBytes,
          params.blockLen);
  }
  if (params.blockLen % element_bytes != 0) {
    fault("DataCopyPad: expected blockLen to be a multiple of the element's %zu bytes, got %u",
          element_bytes, params.blockLen);
  }
}

template <typename T>
inline void copy_in(const AscendC::LocalTensor<T>& dst, const AscendC::GlobalTensor<T>& src,
                    const CopyPieces& pieces) {
  static_assert(kIsMovable<T>, "DataCopy of dav-2201 does not take this element type");
  if (pieces.empty()) return;  // documented as no operation
  uint8_t* const to = dst.view().aligned("DataCopy", "dst", pieces.dst_extent());
  pieces.run(to, src.view().access("DataCopy", "src", pieces.src_extent(), sizeof(T)));
}

template <typename T>
inline void copy_out(const AscendC::GlobalTensor<T>& dst, const AscendC::LocalTensor<T>& src,
                     const CopyPieces& pieces) {
  static_assert(kIsMovable<T>, "DataCopy of dav-2201 does not take this element type");
  if (pieces.empty()) return;
  const uint8_t* const from = src.view().aligned("DataCopy", "src", pieces.src_extent());
  pieces.run(dst.view().access("DataCopy", "dst", pieces.dst_extent(), sizeof(T)), from);
}

template <typename T>
inline void copy_within(const AscendC::LocalTensor<T>& dst, const AscendC::LocalTensor<T>& src,
                        const CopyPieces& pieces) {
  static_assert(kIsMovable<T>, "DataCopy of dav-2201 does not take this element type");
  if (pieces.empty()) return;
  uint8_t* const to = dst.view().aligned("DataCopy", "dst", pieces.dst_extent());
  const uint8_t* const from = src.view().aligned("DataCopy", "src", pieces.src_extent());
  if (to < from + pieces.src_extent() && from < to + pieces.dst_extent()) {
    fault(
        "DataCopy: expected dst and src to be disjoint, got ranges of the Unified Buffer that "
        "overlap");
  }
  pieces.run(to, from);
}

}  // namespace hostcann

namespace AscendC {

template <typename T>
inline void DataCopy(const LocalTensor<T>& dst, const GlobalTensor<T>& src, const uint32_t count) {
  hostcann::copy_in(dst, src, {1, hostcann::whole_blocks(count, sizeof(T)), 0, 0});
}

template <typename T>
inline void DataCopy(const GlobalTensor<T>& dst, const LocalTensor<T>& src, const uint32_t count) {
  hostcann::copy_out(dst, src, {1, hostcann::whole_blocks(count, sizeof(T)), 0, 0});
}

template <typename T>
inline void DataCopy(const LocalTensor<T>& dst, const LocalTensor<T>& src, const uint32_t count) {
  hostcann::copy_within(dst, src, {1, hostcann::whole_blocks(count, sizeof(T)), 0, 0});
}

template <typename T>
inline void DataCopy(const LocalTensor<T>& dst, const GlobalTensor<T>& src,
                     const DataCopyParams& repeatParams) {
  hostcann::copy_in(dst, src, hostcann::strided_pieces(repeatParams));
}

template <typename T>
inline void DataCopy(const GlobalTensor<T>& dst, const LocalTensor<T>& src,
                     const DataCopyParams& repeatParams) {
  hostcann::copy_out(dst, src, hostcann::strided_pieces(repeatParams));
}

template <typename T>
inline void DataCopy(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                     const DataCopyParams& repeatParams) {
  hostcann::copy_within(dst, src, hostcann::strided_pieces(repeatParams));
}

// Every piece is widened by the paddings and then to whole blocks.
template <typename T>
inline void DataCopyPad(const LocalTensor<T>& dst, const GlobalTensor<T>& src,
                        const DataCopyExtParams& dataCopyParams,
                        const DataCopyPadExtParams<T>& padParams) {
  static_assert(hostcann::kIsMovable<T>, "DataCopyPad of dav-2201 does not take this element type");
  hostcann::check_pad_params(dataCopyParams, sizeof(T));
  const size_t left = padParams.leftPadding * sizeof(T);
  const size_t right = padParams.rightPadding * sizeof(T);
  if (left > hostcann::kBlockBytes || right > hostcann::kBlockBytes) {
    hostcann::fault(
        "DataCopyPad: expected leftPadding and rightPadding of at most 32 bytes each, got %zu and "
        "%zu",
        left, right);
  }
  if constexpr (sizeof(T) == 8) {
    if (padParams.isPad && padParams.paddingValue != T()) {
      hostcann::fault(
          "DataCopyPad: expected paddingValue 0 for an element of 8 bytes, got another value");
    }
  }
  const size_t count = dataCopyParams.blockCount;
  const size_t bytes = dataCopyParams.blockLen;
  if (count == 0 || bytes == 0) return;
  const size_t row = hostcann::round_up_to_block(left + bytes + right);
  const size_t dst_step = row + dataCopyParams.dstStride * hostcann::kBlockBytes;
  const size_t src_step = bytes + dataCopyParams.srcStride;
  uint8_t* const to = dst.view().aligned("DataCopyPad", "dst", (count - 1) * dst_step + row);
  const uint8_t* const from =
      src.view().access("DataCopyPad", "src", (count - 1) * src_step + bytes, 1);
  for (size_t piece = 0; piece < count; ++piece) {
    T* const out = reinterpret_cast<T*>(to + piece * dst_step);
    std::memcpy(reinterpret_cast<uint8_t*>(out) + left, from + piece * src_step, bytes);
    // Documented: without paddings the rest of the last block repeats the piece's first element;
    // with paddings but no isPad it holds anything, which here is the pattern of unwritten memory.
    T fill = padParams.paddingValue;
    if (left + right == 0) {
      fill = out[0];
    } else if (!padParams.isPad) {
      for (size_t i = 0; i < sizeof(T); i += 2) {
        std::memcpy(reinterpret_cast<uint8_t*>(&fill) + i, &hostcann::kUnwritten,
                    sizeof(T) < 2 ? 1 : 2);
      }
    }
    for (size_t i = 0; i < left / sizeof(T); ++i) out[i] = fill;
    for (size_t i = (left + bytes) / sizeof(T); i < row / sizeof(T); ++i) out[i] = fill;
  }
}

// The bytes that only fill up a piece's last block are not written to device memory.
template <typename T>
inline void DataCopyPad(const GlobalTensor<T>& dst, const LocalTensor<T>& src,
                        const DataCopyExtParams& dataCopyParams) {
  static_assert(hostcann::kIsMovable<T>, "DataCopyPad of dav-2201 does not take this element type");
  hostcann::check_pad_params(dataCopyParams, sizeof(T));
  const size_t bytes = dataCopyParams.blockLen;
  const hostcann::CopyPieces pieces{
      dataCopyParams.blockCount, bytes,
      hostcann::round_up_to_block(bytes) + dataCopyParams.srcStride * hostcann::kBlockBytes,
      bytes + dataCopyParams.dstStride};
  if (pieces.empty()) return;
  const uint8_t* const from = src.view().aligned("DataCopyPad", "src", pieces.src_extent());
  pieces.run(dst.view().access("DataCopyPad", "dst", pieces.dst_extent(), 1), from);
}

}  // namespace AscendC

#endif  // HOSTCANN_DATA_COPY_H
