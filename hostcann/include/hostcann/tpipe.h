// SPDX-License-Identifier: Apache-2.0
// TPipe: cuts the Unified Buffer into the buffers of queues and TBufs.
#ifndef HOSTCANN_TPIPE_H
#define HOSTCANN_TPIPE_H

#include <cstddef>
#include <cstdint>

#include "hostcann/block_state.h"
#include "hostcann/tque.h"

namespace AscendC {

class TPipe {
 public:
  inline TPipe() {
    hostcann::BlockState& block = hostcann::this_block("TPipe");
    if (block.pipe != nullptr) {
      hostcann::fault(
          "TPipe: expected one TPipe at a time in a kernel, got a second; Destroy the first or "
          "pass it on");
    }
    block.release_buffers();
    block.pipe = this;
  }

  // A destructor must not throw, least of all while a fault unwinds: what is still held is only
  // noted, and the trampoline reports it when the kernel has returned.
  inline ~TPipe() {
    hostcann::BlockState* block = hostcann::current_block;
    if (block == nullptr || block->pipe != this) return;
    for (size_t i = 0; i < block->buffer_count; ++i) {
      const hostcann::UbBuffer& buffer = block->buffers[i];
      if (buffer.use == hostcann::BufferUse::kFree || buffer.use == hostcann::BufferUse::kScratch)
        continue;
      if (block->leaked++ == 0) block->leaked_from = buffer;
    }
    release(*block);
  }

  TPipe(const TPipe&) = delete;
  TPipe& operator=(const TPipe&) = delete;

  template <TPosition src, TPosition dst, int32_t depth, auto mask>
  inline bool InitBuffer(TQueBind<src, dst, depth, mask>& que, uint8_t num, uint32_t len) {
    hostcann::BlockState& block = own_block();
    if (que.core_.attached_to(block)) {
      hostcann::fault(
          "InitBuffer: expected a queue without buffers, got one that has them; call Reset before "
          "giving it others");
    }
    if (num == 0) hostcann::fault("InitBuffer: expected num to be at least 1, got 0");
    const size_t first = add_buffers(block, num, len, que.kPosition);
    const uint32_t number = ++block.queue_count;
    for (size_t i = first; i < block.buffer_count; ++i) block.buffers[i].queue = number;
    que.core_.attach(block, number, first, num);
    return true;
  }

  template <TPosition pos>
  inline bool InitBuffer(TBuf<pos>& buf, uint32_t len) {
    hostcann::BlockState& block = own_block();
    buf.index_ = add_buffers(block, 1, len, pos);
    block.buffers[buf.index_].use = hostcann::BufferUse::kScratch;
    block.buffers[buf.index_].ticket = block.new_ticket();
    buf.epoch_ = block.epoch;
    buf.attached_ = true;
    return true;
  }

  inline void Reset() { own_block().release_buffers(); }

  inline void Destroy() { release(own_block()); }

 private:
  inline hostcann::BlockState& own_block() {
    hostcann::BlockState& block = hostcann::this_block("TPipe");
    if (block.pipe != this) {
      hostcann::fault(
          "TPipe: expected the TPipe of this kernel, got one that was destroyed or belongs to "
          "another block");
    }
    return block;
  }

  static inline void release(hostcann::BlockState& block) {
    block.release_buffers();
    block.pipe = nullptr;
  }

  static inline size_t add_buffers(hostcann::BlockState& block, size_t count, size_t len,
                                   TPosition position) {
    if (block.buffer_count + count > hostcann::kMaxBuffers) {
      hostcann::fault("InitBuffer: expected at most %zu buffers in a kernel, got %zu",
                      hostcann::kMaxBuffers, block.buffer_count + count);
    }
    const size_t bytes = hostcann::round_up_to_block(len);
    if (block.used + count * bytes > hostcann::kUbBytes) {
      hostcann::fault(
          "InitBuffer: expected all buffers to fit the %zu bytes of the Unified Buffer, got %zu "
          "(%zu x %zu bytes after %zu); use smaller tiles",
          hostcann::kUbBytes, block.used + count * bytes, count, bytes, block.used);
    }
    const size_t first = block.buffer_count;
    for (size_t i = 0; i < count; ++i) {
      hostcann::UbBuffer& buffer = block.buffers[block.buffer_count++];
      buffer = hostcann::UbBuffer();
      buffer.data = block.take(bytes);
      buffer.bytes = bytes;
      buffer.position = position;
    }
    return first;
  }
};

inline TPipe* GetTPipePtr() {
  return static_cast<TPipe*>(hostcann::this_block("GetTPipePtr").pipe);
}

}  // namespace AscendC

#endif  // HOSTCANN_TPIPE_H
