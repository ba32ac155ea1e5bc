// SPDX-License-Identifier: Apache-2.0
// TPipe: cuts the Unified Buffer into the buffers of queues and TBufs.
#ifndef HOSTCANN_TPIPE_H
#define HOSTCANN_TPIPE_H

#include <cstddef>
#include <cstdint>

#include "hostcann/block_state.h"
#include "hostcann/hard_event.h"
#include "hostcann/tbuf_pool.h"
#include "hostcann/tque.h"

namespace AscendC {

class TPipe {
 public:
  inline TPipe(hostcann::CallSite = {}) {
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
  inline bool InitBuffer(TQueBind<src, dst, depth, mask>& que, uint8_t num, uint32_t len,
                         hostcann::CallSite = {}) {
    hostcann::give_buffers(own_block(), own_block().used, hostcann::kUbBytes, que, num, len);
    return true;
  }
  template <TPosition pos>
  inline bool InitBuffer(TBuf<pos>& buf, uint32_t len, hostcann::CallSite = {}) {
    hostcann::give_buffer(own_block(), own_block().used, hostcann::kUbBytes, buf, len);
    return true;
  }
  // A part of the Unified Buffer that the pool cuts up by itself; with `shareBuf` the part that
  // another pool has as well.
  template <typename Pool>
  inline bool InitBufPool(Pool& pool, uint32_t len, hostcann::CallSite = {}) {
    hostcann::BlockState& block = own_block();
    pool.hostcann_range().attach(block.used, len);
    hostcann::reserve(block.used, hostcann::kUbBytes, 1, len, "InitBufPool");
    return true;
  }
  template <typename Pool, typename Shared>
  inline bool InitBufPool(Pool& pool, uint32_t len, Shared& shareBuf, hostcann::CallSite = {}) {
    own_block();
    pool.hostcann_range().share(shareBuf.hostcann_range(), len);
    return true;
  }

  inline void Reset(hostcann::CallSite = {}) { own_block().release_buffers(); }

  inline void Destroy(hostcann::CallSite = {}) { release(own_block()); }

  template <HardEvent event>
  inline TEventID AllocEventID(hostcann::CallSite = {}) {
    return hostcann::take_event_id("AllocEventID", own_block(), event);
  }
  template <HardEvent event>
  inline void ReleaseEventID(TEventID id, hostcann::CallSite = {}) {
    hostcann::give_event_id_back("ReleaseEventID", own_block(), event, id);
  }
  template <HardEvent event>
  inline TEventID FetchEventID(hostcann::CallSite = {}) {
    return FetchEventID(event);
  }
  // An id that is free now, without taking it.
  inline TEventID FetchEventID(HardEvent event, hostcann::CallSite = {}) {
    hostcann::BlockState& block = own_block();
    const TEventID id = hostcann::take_event_id("FetchEventID", block, event);
    hostcann::give_event_id_back("FetchEventID", block, event, id);
    return id;
  }

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
};

inline TPipe* GetTPipePtr() {
  return static_cast<TPipe*>(hostcann::this_block("GetTPipePtr").pipe);
}

// What InitBuffer has left of the Unified Buffer, until the next call of either.
template <typename T, TPosition pos>
inline bool PopStackBuffer(LocalTensor<T>& popLocal, hostcann::CallSite = {}) {
  const size_t used = hostcann::this_block("PopStackBuffer").used;
  popLocal = LocalTensor<T>(
      hostcann::LocalView::at("PopStackBuffer", pos, used, hostcann::kUbBytes - used));
  return true;
}

}  // namespace AscendC

#endif  // HOSTCANN_TPIPE_H
