// SPDX-License-Identifier: Apache-2.0
// DataCopy and DataCopyPad between device memory and the Unified Buffer, and inside the latter.
#ifndef HOSTCANN_DATA_COPY_H
#define HOSTCANN_DATA_COPY_H

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "hostcann/dma_atomic.h"
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
  DataCopyExtParams() = default;
  DataCopyExtParams(uint16_t count, uint32_t len, uint32_t src, uint32_t dst, uint32_t reserved)
      : blockCount(count), blockLen(len), srcStride(src), dstStride(dst), rsv(reserved) {}

  uint16_t blockCount = 1;
  uint32_t blockLen = 0;
  uint32_t srcStride = 0;
  uint32_t dstStride = 0;
  uint32_t rsv = 0;
};

struct DataCopyPadParams {
  DataCopyPadParams() = default;
  DataCopyPadParams(bool pad, uint8_t left, uint8_t right, uint64_t value)
      : isPad(pad), leftPadding(left), rightPadding(right), paddingValue(value) {}

  bool isPad = false;
  uint8_t leftPadding = 0;
  uint8_t rightPadding = 0;
  uint64_t paddingValue = 0;  // its lowest bytes are the element
};

// Of one dimension: elements startIndex to endIndex in pieces of burstLen blocks of 32 bytes with
// `stride` elements between them, out of shapeValue.
struct SliceInfo {
  uint32_t startIndex = 0;
  uint32_t endIndex = 0;
  uint32_t stride = 0;
  uint32_t burstLen = 0;
  uint32_t shapeValue = 0;
};

template <typename T>
struct DataCopyPadExtParams {
  DataCopyPadExtParams() = default;
  DataCopyPadExtParams(bool pad, uint8_t left, uint8_t right, T value)
      : isPad(pad), leftPadding(left), rightPadding(right), paddingValue(value) {}

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
  void note_local(const char* caller, const char* name, Unit unit, Access access,
                  const uint8_t* data, size_t step) const {
    if (this_block(caller).checks == nullptr) return;
    for (size_t i = 0; i < count; ++i) note(caller, name, unit, access, data + i * step, bytes);
  }

  // To device memory: what is there is replaced or, after SetAtomicAdd and its like, combined.
  template <typename T>
  void run_out(uint8_t* dst, const uint8_t* src) const {
    const AtomicMode mode = this_block("DataCopy").atomic;
    for (size_t i = 0; i < count; ++i) {
      note_global_write(dst + i * dst_step, bytes, mode != AtomicMode::kNone);
      if (mode == AtomicMode::kNone) {
        std::memcpy(dst + i * dst_step, src + i * src_step, bytes);
      } else {
        combine<T>(mode, dst + i * dst_step, src + i * src_step, bytes);
      }
    }
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
  static_assert(kIsMovable<T> || std::is_same_v<T, bool>,
                "DataCopy of dav-2201 does not take this element type");
  if (pieces.empty()) return;  // documented as no operation
  uint8_t* const to = dst.view().aligned("DataCopy", "dst", pieces.dst_extent());
  const uint8_t* const from = src.view().access("DataCopy", "src", pieces.src_extent(), sizeof(T));
  pieces.note_local("DataCopy", "dst", Unit::kMte2, Access::kWrite, to, pieces.dst_step);
  pieces.run(to, from);
}

template <typename T>
inline void copy_out(const AscendC::GlobalTensor<T>& dst, const AscendC::LocalTensor<T>& src,
                     const CopyPieces& pieces) {
  static_assert(kIsMovable<T> || std::is_same_v<T, bool>,
                "DataCopy of dav-2201 does not take this element type");
  if (pieces.empty()) return;
  const uint8_t* const from = src.view().aligned("DataCopy", "src", pieces.src_extent());
  uint8_t* const to = dst.view().access("DataCopy", "dst", pieces.dst_extent(), sizeof(T));
  pieces.note_local("DataCopy", "src", Unit::kMte3, Access::kRead, from, pieces.src_step);
  pieces.run_out<T>(to, from);
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
  pieces.note_local("DataCopy", "src", Unit::kVector, Access::kRead, from, pieces.src_step);
  pieces.note_local("DataCopy", "dst", Unit::kVector, Access::kWrite, to, pieces.dst_step);
  pieces.run(to, from);
}

}  // namespace hostcann

namespace AscendC {

template <typename T>
inline void DataCopy(const LocalTensor<T>& dst, const GlobalTensor<T>& src, const uint32_t count,
                     hostcann::CallSite = {}) {
  hostcann::copy_in(dst, src, {1, hostcann::whole_blocks(count, sizeof(T)), 0, 0});
}

template <typename T>
inline void DataCopy(const GlobalTensor<T>& dst, const LocalTensor<T>& src, const uint32_t count,
                     hostcann::CallSite = {}) {
  hostcann::copy_out(dst, src, {1, hostcann::whole_blocks(count, sizeof(T)), 0, 0});
}

template <typename T>
inline void DataCopy(const LocalTensor<T>& dst, const LocalTensor<T>& src, const uint32_t count,
                     hostcann::CallSite = {}) {
  hostcann::copy_within(dst, src, {1, hostcann::whole_blocks(count, sizeof(T)), 0, 0});
}

template <typename T>
inline void DataCopy(const LocalTensor<T>& dst, const GlobalTensor<T>& src,
                     const DataCopyParams& repeatParams, hostcann::CallSite = {}) {
  hostcann::copy_in(dst, src, hostcann::strided_pieces(repeatParams));
}

template <typename T>
inline void DataCopy(const GlobalTensor<T>& dst, const LocalTensor<T>& src,
                     const DataCopyParams& repeatParams, hostcann::CallSite = {}) {
  hostcann::copy_out(dst, src, hostcann::strided_pieces(repeatParams));
}

template <typename T>
inline void DataCopy(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                     const DataCopyParams& repeatParams, hostcann::CallSite = {}) {
  hostcann::copy_within(dst, src, hostcann::strided_pieces(repeatParams));
}

// Every piece is widened by the paddings and then to whole blocks.
template <typename T>
inline void DataCopyPad(const LocalTensor<T>& dst, const GlobalTensor<T>& src,
                        const DataCopyExtParams& dataCopyParams,
                        const DataCopyPadExtParams<T>& padParams, hostcann::CallSite = {}) {
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
  const hostcann::BlockState& block = hostcann::this_block("DataCopyPad");
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
    hostcann::note("DataCopyPad", "dst", hostcann::Unit::kMte2, hostcann::Access::kWrite,
                   to + piece * dst_step, row);
    std::memcpy(reinterpret_cast<uint8_t*>(out) + left, from + piece * src_step, bytes);
    // Documented: without paddings the rest of the last block repeats the piece's first element;
    // with paddings but no isPad it holds anything, which here is the pattern of unwritten memory.
    T fill = padParams.paddingValue;
    if (left + right == 0) {
      fill = out[0];
    } else if (!padParams.isPad && block.pad_value_set) {
      std::memcpy(static_cast<void*>(&fill), &block.pad_value, sizeof(T));
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
                        const DataCopyExtParams& dataCopyParams, hostcann::CallSite = {}) {
  static_assert(hostcann::kIsMovable<T>, "DataCopyPad of dav-2201 does not take this element type");
  hostcann::check_pad_params(dataCopyParams, sizeof(T));
  const size_t bytes = dataCopyParams.blockLen;
  const hostcann::CopyPieces pieces{
      dataCopyParams.blockCount, bytes,
      hostcann::round_up_to_block(bytes) + dataCopyParams.srcStride * hostcann::kBlockBytes,
      bytes + dataCopyParams.dstStride};
  if (pieces.empty()) return;
  const uint8_t* const from = src.view().aligned("DataCopyPad", "src", pieces.src_extent());
  uint8_t* const to = dst.view().access("DataCopyPad", "dst", pieces.dst_extent(), 1);
  pieces.note_local("DataCopyPad", "src", hostcann::Unit::kMte3, hostcann::Access::kRead, from,
                    pieces.src_step);
  pieces.run_out<T>(to, from);
}

// The older parameters: lengths of 16 bits, and gaps that count as in DataCopyExtParams.
template <typename T>
inline void DataCopyPad(const LocalTensor<T>& dst, const GlobalTensor<T>& src,
                        const DataCopyParams& dataCopyParams, const DataCopyPadParams& padParams,
                        hostcann::CallSite site = {}) {
  DataCopyPadExtParams<T> pad(padParams.isPad, padParams.leftPadding, padParams.rightPadding, T());
  std::memcpy(static_cast<void*>(&pad.paddingValue), &padParams.paddingValue, sizeof(T));
  DataCopyPad(dst, src,
              DataCopyExtParams(dataCopyParams.blockCount, dataCopyParams.blockLen,
                                dataCopyParams.srcStride, dataCopyParams.dstStride, 0),
              pad, site);
}
template <typename T>
inline void DataCopyPad(const GlobalTensor<T>& dst, const LocalTensor<T>& src,
                        const DataCopyParams& dataCopyParams, hostcann::CallSite site = {}) {
  DataCopyPad(dst, src,
              DataCopyExtParams(dataCopyParams.blockCount, dataCopyParams.blockLen,
                                dataCopyParams.srcStride, dataCopyParams.dstStride, 0),
              site);
}

// What DataCopyPad fills in when paddings are given but no value.
template <typename T, TPosition pos = TPosition::MAX>
inline void SetPadValue(T paddingValue, hostcann::CallSite = {}) {
  hostcann::BlockState& block = hostcann::this_block("SetPadValue");
  block.pad_value = 0;
  std::memcpy(&block.pad_value, &paddingValue, sizeof(T));
  block.pad_value_set = true;
}

}  // namespace AscendC

namespace hostcann {

// The pieces of a slice in elements from the start of its tensor, in order.
template <typename Visit>
inline void each_slice(const AscendC::SliceInfo slices[], uint32_t dims, size_t element_bytes,
                       Visit visit) {
  const AscendC::SliceInfo& row = slices[0];
  const size_t burst = row.burstLen * kBlockBytes / element_bytes;
  if (burst == 0) fault("DataCopy: expected burstLen of slice 0 to be at least 1, got 0");
  size_t outer = 1;
  for (uint32_t dim = 1; dim < dims; ++dim) {
    if (slices[dim].burstLen != 1) {
      fault("DataCopy: expected burstLen of slice %u to be 1, got %u", dim, slices[dim].burstLen);
    }
    outer *= (slices[dim].endIndex - slices[dim].startIndex) / (1 + slices[dim].stride) + 1;
  }
  for (size_t number = 0; number < outer; ++number) {
    size_t rest = number;
    size_t offset = 0;
    size_t pitch = row.shapeValue;
    for (uint32_t dim = 1; dim < dims; ++dim) {
      const size_t step = 1 + slices[dim].stride;
      const size_t pieces = (slices[dim].endIndex - slices[dim].startIndex) / step + 1;
      offset += (slices[dim].startIndex + rest % pieces * step) * pitch;
      rest /= pieces;
      pitch *= slices[dim].shapeValue;
    }
    for (size_t at = row.startIndex; at + burst <= size_t{row.endIndex} + 1;
         at += burst + row.stride) {
      visit(offset + at, burst);
    }
  }
}

template <typename Dst, typename Src>
inline void copy_slices(const Dst& dst, const Src& src, const AscendC::SliceInfo to[],
                        const AscendC::SliceInfo from[], uint32_t dims, size_t element_bytes) {
  const BlockState& block = this_block("DataCopy");
  size_t wanted = 0;
  each_slice(to, dims, element_bytes, [&](size_t, size_t) { ++wanted; });
  size_t index = 0;
  each_slice(from, dims, element_bytes, [&](size_t source_at, size_t count) {
    size_t target = 0;
    size_t room = 0;
    size_t number = 0;
    each_slice(to, dims, element_bytes, [&](size_t at, size_t length) {
      if (number++ == index) {
        target = at;
        room = length;
      }
    });
    if (index >= wanted || room != count) {
      fault("DataCopy: expected slices of as many pieces of one length, got others in dst and src");
    }
    AscendC::DataCopy(dst[target], src[source_at], static_cast<uint32_t>(count),
                      CallSite(block.called_at.file, block.called_at.line));
    ++index;
  });
  if (index != wanted) {
    fault("DataCopy: expected slices of as many pieces, got %zu in dst and %zu in src", wanted,
          index);
  }
}

}  // namespace hostcann

namespace AscendC {

template <typename T>
inline void DataCopy(const LocalTensor<T>& dst, const GlobalTensor<T>& src,
                     const SliceInfo dstSliceInfo[], const SliceInfo srcSliceInfo[],
                     const uint32_t dimValue = 1, hostcann::CallSite = {}) {
  hostcann::copy_slices(dst, src, dstSliceInfo, srcSliceInfo, dimValue, sizeof(T));
}
template <typename T>
inline void DataCopy(const GlobalTensor<T>& dst, const LocalTensor<T>& src,
                     const SliceInfo dstSliceInfo[], const SliceInfo srcSliceInfo[],
                     const uint32_t dimValue = 1, hostcann::CallSite = {}) {
  hostcann::copy_slices(dst, src, dstSliceInfo, srcSliceInfo, dimValue, sizeof(T));
}

}  // namespace AscendC

#endif  // HOSTCANN_DATA_COPY_H
