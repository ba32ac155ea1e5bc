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
  if (block.buffer_count + count > kMaxBuffers) {
    fault("InitBuffer: expected at most %zu buffers in a kernel, got %zu", kMaxBuffers,
          block.buffer_count + count);
  }
  const size_t bytes = round_up_to_block(len);
  const size_t at = reserve(used, end, count, len, "InitBuffer");
  BlockState::fill_unwritten(block.ub() + at, count * bytes);
  if (block.checks != nullptr) block.checks->forget(block.ub() + at, count * bytes);
  const size_t first = block.buffer_count;
  for (size_t i = 0; i < count; ++i) {
    UbBuffer& buffer = block.buffers[block.buffer_count++];
    buffer = UbBuffer();
    buffer.data = block.ub() + at + i * bytes;
    buffer.bytes = bytes;
    buffer.position = position;
  }
  return first;
}

template <typename Queue>
inline void give_buffers(BlockState& block, size_t& used, size_t end, Queue& queue, size_t count,
                         size_t len) {
  if (queue.core().attached_to(block)) {
    fault(
        "InitBuffer: expected a queue without buffers, got one that has them; call Reset before "
        "giving it others");
  }
  if (count == 0) fault("InitBuffer: expected num to be at least 1, got 0");
  const size_t first = add_buffers(block, used, end, count, len, Queue::kPosition);
  const uint32_t number = ++block.queue_count;
  for (size_t i = first; i < block.buffer_count; ++i) block.buffers[i].queue = number;
  queue.core().attach(block, number, first, count, Queue::kFilledBy, Queue::kEmptiedBy);
}

template <AscendC::TPosition pos>
inline void give_buffer(BlockState& block, size_t& used, size_t end, AscendC::TBuf<pos>& buf,
                        size_t len) {
  buf.attach(block, add_buffers(block, used, end, 1, len, pos));
}

}  // namespace hostcann

namespace AscendC {

template <TPosition pos, uint32_t bufIDSize = 4>
class TBufPool {
 public:
  template <TPosition src, TPosition dst, int32_t depth, auto mask>
  inline bool InitBuffer(TQueBind<src, dst, depth, mask>& que, uint8_t num, uint32_t len,
                         hostcann::CallSite = {}) {
    hostcann::BlockState& block = own_block();
    hostcann::give_buffers(block, used_, end_, que, num, len);
    return true;
  }
  template <TPosition bufPos>
  inline bool InitBuffer(TBuf<bufPos>& buf, uint32_t len, hostcann::CallSite = {}) {
    hostcann::BlockState& block = own_block();
    hostcann::give_buffer(block, used_, end_, buf, len);
    return true;
  }
  template <TPosition poolPos, uint32_t idSize>
  inline bool InitBufPool(TBufPool<poolPos, idSize>& pool, uint32_t len, hostcann::CallSite = {}) {
    own_block();
    pool.attach(used_, len);
    hostcann::reserve(used_, end_, 1, len, "InitBufPool");
    return true;
  }
  template <TPosition poolPos, uint32_t idSize, typename Shared>
  inline bool InitBufPool(TBufPool<poolPos, idSize>& pool, uint32_t len, Shared& shareBuf,
                          hostcann::CallSite = {}) {
    own_block();
    pool.share(shareBuf, len);
    return true;
  }

  // Takes the buffers back: their queues and tensors are dead.
  inline void Reset(hostcann::CallSite = {}) {
    hostcann::BlockState& block = own_block();
    size_t left = 0;
    for (size_t i = 0; i < block.buffer_count; ++i) {
      hostcann::UbBuffer& buffer = block.buffers[i];
      const size_t at = static_cast<size_t>(buffer.data - block.ub());
      if (at >= start_ && at < end_) {
        if (buffer.use == hostcann::BufferUse::kAllocated ||
            buffer.use == hostcann::BufferUse::kEnqueued) {
          --block.allocated_at(buffer.position);
        }
        buffer = hostcann::UbBuffer();
        buffer.data = block.ub() + hostcann::kUbBytes;
      } else {
        left = i + 1;
      }
    }
    block.buffer_count = left;
    used_ = start_;
  }

  // Not in CANN: for InitBufPool.
  inline void attach(size_t start, size_t len) {
    start_ = start;
    used_ = start;
    end_ = start + hostcann::round_up_to_block(len);
    epoch_ = hostcann::this_block("InitBufPool").epoch;
  }
  template <typename Shared>
  inline void share(const Shared& other, size_t len) {
    if (hostcann::round_up_to_block(len) > other.end() - other.start()) {
      hostcann::fault("InitBufPool: expected at most the %zu bytes of the shared pool, got %zu",
                      other.end() - other.start(), len);
    }
    attach(other.start(), len);
  }
  inline size_t start() const { return start_; }
  inline size_t end() const { return end_; }

 private:
  inline hostcann::BlockState& own_block() {
    hostcann::BlockState& block = hostcann::this_block("TBufPool");
    if (end_ == 0 || epoch_ != block.epoch) {
      hostcann::fault(
          "TBufPool: expected a pool with memory, got one that InitBufPool was not called for or "
          "whose TPipe ended");
    }
    return block;
  }

  size_t start_ = 0;
  size_t used_ = 0;
  size_t end_ = 0;
  uint64_t epoch_ = 0;
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

#endif  // HOSTCANN_TBUF_POOL_H
