// SPDX-License-Identifier: Apache-2.0
// Buffers of the Unified Buffer: what TPipe and TBufPool cut up for queues and TBufs, and what
// LocalMemAllocator gives to kernels without a TPipe.
#ifndef HOSTCANN_TBUF_POOL_H
#define HOSTCANN_TBUF_POOL_H

#include <cstddef>
#include <cstdint>

#include "hostcann/tque.h"

namespace hostcann {

// `count` times `len` bytes of what lies between `used` and `end`; moves `used` on.
inline size_t reserve(size_t& used, size_t end, size_t count, size_t len, const char* caller) {
  const size_t bytes = round_up_to_block(len);
  if (used + count * bytes > end) {
    fault(
        "%s: expected all buffers to fit the %zu bytes of the %s, got %zu (%zu x %zu bytes after "
        "%zu); use smaller tiles",
        caller, end, end == kUbBytes ? "Unified Buffer" : "pool", used + count * bytes, count,
        bytes, used);
  }
  const size_t first = used;
  used += count * bytes;
  return first;
}

inline size_t add_buffers(BlockState& block, size_t& used, size_t end, size_t count, size_t len,
                          AscendC::TPosition position) {
  const size_t first = name_buffers(block, count, position);
  const size_t bytes = round_up_to_block(len);
  const size_t at = reserve(used, end, count, len, "InitBuffer");
  for (size_t i = 0; i < count; ++i) place_buffer(block, first + i, at + i * bytes, bytes);
  return first;
}

template <typename Queue>
inline void give_buffers(BlockState& block, size_t& used, size_t end, Queue& queue, size_t count,
                         size_t len) {
  require_no_buffers(block, queue.core(), count);
  const size_t first = add_buffers(block, used, end, count, len, Queue::kPosition);
  queue.core().attach(block, first, count, Queue::kFilledBy, Queue::kEmptiedBy);
}

template <AscendC::TPosition pos>
inline void give_buffer(BlockState& block, size_t& used, size_t end, AscendC::TBuf<pos>& buf,
                        size_t len) {
  buf.attach(block, add_buffers(block, used, end, 1, len, pos));
}

// A part of the Unified Buffer that is cut up apart from the rest.
class PoolRange {
 public:
  size_t used = 0;  // up to here it is given away

  void attach(size_t start, size_t len) {
    start_ = start;
    used = start;
    end_ = start + round_up_to_block(len);
    epoch_ = this_block("InitBufPool").epoch;
  }
  void share(const PoolRange& other, size_t len) {
    if (round_up_to_block(len) > other.end_ - other.start_) {
      fault("InitBufPool: expected at most the %zu bytes of the shared pool, got %zu",
            other.end_ - other.start_, len);
    }
    attach(other.start_, len);
  }
  size_t end() const { return end_; }
  bool holds(size_t at, size_t bytes) const { return at >= start_ && at + bytes <= end_; }

  BlockState& own_block() const {
    BlockState& block = this_block("TBufPool");
    if (end_ == 0 || epoch_ != block.epoch) {
      fault(
          "TBufPool: expected a pool with memory, got one that InitBufPool was not called for or "
          "whose TPipe ended");
    }
    return block;
  }

  // Takes the buffers back: their queues and tensors are dead.
  void reset() {
    BlockState& block = own_block();
    size_t left = 0;
    for (size_t i = 0; i < block.buffer_count; ++i) {
      UbBuffer& buffer = block.buffers[i];
      const size_t at = static_cast<size_t>(buffer.data - block.ub());
      if (at >= start_ && at < end_) {
        if (buffer.use == BufferUse::kAllocated || buffer.use == BufferUse::kEnqueued) {
          --block.allocated_at(buffer.position);
        }
        buffer = UbBuffer();
        buffer.data = block.ub() + kUbBytes;
      } else {
        left = i + 1;
      }
    }
    block.buffer_count = left;
    used = start_;
  }

 private:
  size_t start_ = 0;
  size_t end_ = 0;
  uint64_t epoch_ = 0;
};

// A pool of one's own says itself where its buffers lie.
class OwnPool : public PoolRange {
 public:
  // Buffers are known by the address of their number.
  AscendC::TBufHandle handle(uint8_t index, size_t most) {
    if (index >= most) {
      fault("GetBufHandle: expected a buffer below the %zu of EXTERN_IMPL_BUFPOOL, got %u", most,
            index);
    }
    return handles_ + index;
  }
  void set_address(uint32_t address) {
    own_block();
    if (address > end()) {
      fault("SetCurAddr: expected an address up to the pool's end, %zu, got %u", end(), address);
    }
    used = address;
  }
  uint8_t buffers = 0;

 private:
  uint8_t handles_[256] = {};
};

}  // namespace hostcann

namespace AscendC {

template <TPosition pos, uint32_t bufIDSize = 4>
class TBufPool {
 public:
  template <TPosition src, TPosition dst, int32_t depth, auto mask>
  inline bool InitBuffer(TQueBind<src, dst, depth, mask>& que, uint8_t num, uint32_t len,
                         hostcann::CallSite = {}) {
    hostcann::give_buffers(range_.own_block(), range_.used, range_.end(), que, num, len);
    return true;
  }
  template <TPosition bufPos>
  inline bool InitBuffer(TBuf<bufPos>& buf, uint32_t len, hostcann::CallSite = {}) {
    hostcann::give_buffer(range_.own_block(), range_.used, range_.end(), buf, len);
    return true;
  }
  template <typename Pool>
  inline bool InitBufPool(Pool& pool, uint32_t len, hostcann::CallSite = {}) {
    range_.own_block();
    pool.hostcann_range().attach(range_.used, len);
    hostcann::reserve(range_.used, range_.end(), 1, len, "InitBufPool");
    return true;
  }
  template <typename Pool, typename Shared>
  inline bool InitBufPool(Pool& pool, uint32_t len, Shared& shareBuf, hostcann::CallSite = {}) {
    range_.own_block();
    pool.hostcann_range().share(shareBuf.hostcann_range(), len);
    return true;
  }

  inline void Reset(hostcann::CallSite = {}) { range_.reset(); }

  // Not in CANN: for InitBufPool.
  inline hostcann::PoolRange& hostcann_range() { return range_; }

 private:
  hostcann::PoolRange range_;
};

enum class Hardware : uint8_t { GM, UB, L1, L0A, L0B, L0C, BIAS, FIXBUF, MAX };

template <Hardware hard = Hardware::UB>
class LocalMemAllocator {
  static_assert(hard == Hardware::UB, "hostcann implements LocalMemAllocator of Hardware::UB only");

 public:
  template <TPosition pos, typename T>
  inline LocalTensor<T> Alloc(uint32_t tileSize, hostcann::CallSite = {}) {
    hostcann::BlockState& block = hostcann::this_block("Alloc");
    const size_t at =
        hostcann::reserve(used_, hostcann::kUbBytes, 1, tileSize * sizeof(T), "Alloc");
    hostcann::BlockState::fill_unwritten(block.ub() + at, tileSize * sizeof(T));
    if (block.checks != nullptr) block.checks->forget(block.ub() + at, tileSize * sizeof(T));
    return LocalTensor<T>(pos, static_cast<uint32_t>(at), tileSize);
  }
  template <typename T>
  inline LocalTensor<T> Alloc(uint32_t tileSize, hostcann::CallSite site = {}) {
    return Alloc<TPosition::VECCALC, T>(tileSize, site);
  }
  template <typename T, uint32_t tileSize>
  inline LocalTensor<T> Alloc(hostcann::CallSite site = {}) {
    return Alloc<TPosition::VECCALC, T>(tileSize, site);
  }
  template <TPosition pos, typename T, uint32_t tileSize>
  inline LocalTensor<T> Alloc(hostcann::CallSite site = {}) {
    return Alloc<pos, T>(tileSize, site);
  }

  inline uint32_t GetCurAddr() const { return static_cast<uint32_t>(used_); }

 private:
  size_t used_ = 0;
};

}  // namespace AscendC

// Makes the class it stands in a pool whose InitBuffer is the author's.
#define EXTERN_IMPL_BUFPOOL(EXT_BUFPOOL, POSITION, BUFID_SIZE)                              \
 public:                                                                                    \
  inline void Init() { hostcann_pool_ = hostcann::OwnPool(); }                              \
  inline void Reset(hostcann::CallSite = {}) {                                              \
    hostcann_pool_.reset();                                                                 \
    hostcann_pool_.buffers = 0;                                                             \
  }                                                                                         \
  inline AscendC::TBufHandle GetBufHandle(uint8_t offset, hostcann::CallSite = {}) {        \
    return hostcann_pool_.handle(offset, BUFID_SIZE);                                       \
  }                                                                                         \
  inline uint32_t GetCurAddr() const { return static_cast<uint32_t>(hostcann_pool_.used); } \
  inline void SetCurAddr(uint32_t curAddr, hostcann::CallSite = {}) {                       \
    hostcann_pool_.set_address(curAddr);                                                    \
  }                                                                                         \
  inline uint8_t GetCurBufSize() const { return hostcann_pool_.buffers; }                   \
  inline void SetCurBufSize(uint8_t curBufSize) { hostcann_pool_.buffers = curBufSize; }    \
  inline hostcann::OwnPool& hostcann_range() { return hostcann_pool_; }                     \
                                                                                            \
 private:                                                                                   \
  static_assert(hostcann::in_unified_buffer(POSITION) && (BUFID_SIZE) <= 256,               \
                "EXTERN_IMPL_BUFPOOL of hostcann takes VECIN, VECOUT or VECCALC");          \
  hostcann::OwnPool hostcann_pool_

#endif  // HOSTCANN_TBUF_POOL_H
