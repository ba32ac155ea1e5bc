// SPDX-License-Identifier: Apache-2.0
// TQue, TQueBind and TBuf. On the hardware a queue is memory plus event flags, and misusing one
// hangs the core; here every such case is a fault.
#ifndef HOSTCANN_TQUE_H
#define HOSTCANN_TQUE_H

#include <cstddef>
#include <cstdint>

#include "hostcann/block_checks.h"
#include "hostcann/local_tensor.h"

namespace hostcann {

// Buffers that have no place yet.
inline size_t name_buffers(BlockState& block, size_t count, AscendC::TPosition position) {
  if (block.buffer_count + count > kMaxBuffers) {
    fault("InitBuffer: expected at most %zu buffers in a kernel, got %zu", kMaxBuffers,
          block.buffer_count + count);
  }
  const size_t first = block.buffer_count;
  block.buffer_count += count;
  for (size_t i = first; i < block.buffer_count; ++i) {
    block.buffers[i] = UbBuffer();
    block.buffers[i].data = block.ub() + kUbBytes;
    block.buffers[i].position = position;
  }
  return first;
}

inline void place_buffer(BlockState& block, size_t index, size_t at, size_t bytes) {
  BlockState::fill_unwritten(block.ub() + at, bytes);
  if (block.checks != nullptr) block.checks->forget(block.ub() + at, bytes);
  block.buffers[index].data = block.ub() + at;
  block.buffers[index].bytes = bytes;
}

// As a pool of one's own says it.
template <typename Pool>
inline void place_in_pool(Pool* pool, size_t index, size_t at, size_t len) {
  auto& range = pool->hostcann_range();
  BlockState& block = range.own_block();
  const size_t bytes = round_up_to_block(len);
  if (at % kBlockBytes != 0 || !range.holds(at, bytes)) {
    fault(
        "InitBufHandle: expected a buffer within the pool that starts at a multiple of 32 bytes, "
        "got %zu bytes from %zu on",
        len, at);
  }
  place_buffer(block, index, at, bytes);
}

class QueueCore {
 public:
  void attach(BlockState& block, size_t first, size_t count, Unit filled_by, Unit emptied_by) {
    filled_by_ = filled_by;
    emptied_by_ = emptied_by;
    epoch_ = block.epoch;
    number_ = ++block.queue_count;
    for (size_t i = 0; i < count; ++i) block.buffers[first + i].queue = number_;
    first_ = first;
    count_ = count;
    next_ = 0;
    head_ = 0;
    waiting_ = 0;
  }

  // The buffer that InitStartBufHandle gave a queue as its `index`th.
  size_t named(uint32_t index) const {
    attached_block("InitBufHandle");
    if (index < count_) return first_ + index;
    fault("InitBufHandle: expected an index below the %zu of InitStartBufHandle, got %u", count_,
          index);
  }

  bool attached_to(const BlockState& block) const {
    return number_ != 0 && epoch_ == block.epoch && block.buffers[first_].queue == number_;
  }

  LocalView allocate() {
    BlockState& block = attached_block("AllocTensor");
    const AscendC::TPosition position = block.buffers[first_].position;
    if (block.allocated_at(position) == kMaxTensorsPerPosition) {
      fault(
          "AllocTensor: expected at most %zu tensors of %s queues allocated at once, got one more; "
          "FreeTensor earlier or merge queues",
          kMaxTensorsPerPosition, position_name(position));
    }
    for (size_t tried = 0; tried < count_; ++tried) {
      const size_t index = first_ + next_;
      next_ = next_ + 1 == count_ ? 0 : next_ + 1;
      UbBuffer& buffer = block.buffers[index];
      if (buffer.use != BufferUse::kFree) continue;
      buffer.use = BufferUse::kAllocated;
      buffer.ticket = block.new_ticket();
      buffer.taken_at = block.called_at;
      ++block.allocated_at(position);
      if (block.checks != nullptr) {
        block.checks->tell(filled_by_, block.checks->handed_on(index));
        block.checks->forget(buffer.data, buffer.bytes);
      }
      return view_of(buffer, index);
    }
    fault(
        "AllocTensor: expected a free buffer in %s queue %u, got all %zu in use; the hardware "
        "would wait for ever, FreeTensor one first",
        position_name(position), number_, count_);
  }

  void enqueue(const LocalView& tensor, size_t depth) {
    BlockState& block = attached_block("EnQue");
    UbBuffer& buffer = own_buffer(block, "EnQue", tensor);
    if (buffer.use == BufferUse::kEnqueued) {
      fault(
          "EnQue: expected a tensor that is not enqueued yet, got one that already waits in %s "
          "queue %u",
          position_name(buffer.position), number_);
    }
    // Depth 0 declares the in-place form, whose queue is as long as it has buffers.
    const size_t room = depth == 0 ? count_ : depth;
    if (waiting_ == room) {
      fault(
          "EnQue: expected at most %zu tensor(s) waiting in %s queue %u, its depth, got one more; "
          "DeQue first or raise the depth",
          room, position_name(buffer.position), number_);
    }
    buffer.use = BufferUse::kEnqueued;
    if (block.checks != nullptr) {
      block.checks->handed_on(tensor.buffer) = block.checks->known_to(filled_by_);
    }
    order_[(head_ + waiting_) % kMaxBuffers] = static_cast<uint8_t>(tensor.buffer);
    ++waiting_;
  }

  LocalView dequeue() {
    BlockState& block = attached_block("DeQue");
    if (waiting_ == 0) {
      fault(
          "DeQue: expected a tensor in %s queue %u, got an empty queue; the hardware would wait "
          "for ever, EnQue first",
          position_name(block.buffers[first_].position), number_);
    }
    const size_t index = order_[head_];
    head_ = (head_ + 1) % kMaxBuffers;
    --waiting_;
    UbBuffer& buffer = block.buffers[index];
    if (block.checks != nullptr) block.checks->tell(emptied_by_, block.checks->handed_on(index));
    buffer.use = BufferUse::kAllocated;
    return view_of(buffer, index);
  }

  void release(const LocalView& tensor) {
    BlockState& block = attached_block("FreeTensor");
    UbBuffer& buffer = own_buffer(block, "FreeTensor", tensor);
    if (buffer.use == BufferUse::kEnqueued) {
      fault(
          "FreeTensor: expected a tensor taken out by DeQue, got one that still waits in %s queue "
          "%u",
          position_name(buffer.position), number_);
    }
    if (block.checks != nullptr) {
      block.checks->handed_on(tensor.buffer) = block.checks->known_to(emptied_by_);
    }
    buffer.use = BufferUse::kFree;
    buffer.ticket = 0;
    --block.allocated_at(buffer.position);
  }

  size_t waiting(const char* caller) {
    attached_block(caller);
    return waiting_;
  }

  bool has_free_buffer() {
    const BlockState& block = attached_block("HasIdleBuffer");
    for (size_t i = 0; i < count_; ++i) {
      if (block.buffers[first_ + i].use == BufferUse::kFree) return true;
    }
    return false;
  }

 private:
  BlockState& attached_block(const char* caller) const {
    BlockState& block = this_block(caller);
    if (!attached_to(block)) {
      fault(
          "%s: expected a queue with buffers, got one that TPipe::InitBuffer was not called for or "
          "whose TPipe ended",
          caller);
    }
    return block;
  }

  UbBuffer& own_buffer(BlockState& block, const char* caller, const LocalView& tensor) const {
    UbBuffer& buffer = tensor.live_buffer(caller, "the tensor");
    if (buffer.queue == number_) return buffer;
    const char* own = position_name(block.buffers[first_].position);
    if (buffer.queue == 0) {
      fault("%s: expected a tensor of %s queue %u, got one of a TBuf", caller, own, number_);
    }
    fault("%s: expected a tensor of %s queue %u, got one of %s queue %u", caller, own, number_,
          position_name(buffer.position), buffer.queue);
  }

  static LocalView view_of(const UbBuffer& buffer, size_t index) {
    return LocalView{buffer.data, buffer.bytes, buffer.ticket, static_cast<uint32_t>(index),
                     buffer.position};
  }

  uint64_t epoch_ = 0;
  uint32_t number_ = 0;
  size_t first_ = 0;
  size_t count_ = 0;
  size_t next_ = 0;
  uint8_t order_[kMaxBuffers] = {};
  size_t head_ = 0;
  size_t waiting_ = 0;
  Unit filled_by_ = Unit::kVector;
  Unit emptied_by_ = Unit::kVector;
};

inline void require_no_buffers(const BlockState& block, const QueueCore& queue, size_t count) {
  if (queue.attached_to(block)) {
    fault(
        "InitBuffer: expected a queue without buffers, got one that has them; call Reset before "
        "giving it others");
  }
  if (count == 0) fault("InitBuffer: expected num to be at least 1, got 0");
}

}  // namespace hostcann

namespace AscendC {

using TBufHandle = uint8_t*;

class TPipe;
template <TPosition src, TPosition dst, int32_t depth, auto mask = 0>
class TQueBind;

template <TPosition src, TPosition dst, int32_t depth, auto mask>
class TQueBind {
  static_assert(hostcann::in_unified_buffer(src) || hostcann::in_unified_buffer(dst),
                "hostcann implements queues of VECIN and VECOUT only");
  static_assert(depth >= 0, "the depth of a queue is 0 (in-place form) or more");

 public:
  // The unit that writes a queue's tensors before EnQue, and the one that reads them after DeQue.
  static constexpr hostcann::Unit kFilledBy = src == TPosition::GM ? hostcann::Unit::kMte2
                                              : src == TPosition::VECIN && dst == TPosition::VECOUT
                                                  ? hostcann::Unit::kMte2
                                                  : hostcann::Unit::kVector;
  static constexpr hostcann::Unit kEmptiedBy = dst == TPosition::GM || dst == TPosition::VECOUT
                                                   ? hostcann::Unit::kMte3
                                                   : hostcann::Unit::kVector;
  static constexpr TPosition kPosition = hostcann::in_unified_buffer(src) ? src : dst;

  template <typename T>
  inline LocalTensor<T> AllocTensor(hostcann::CallSite = {}) {
    static_assert(depth != 0, "a queue of depth 0 takes AllocTensor(tensor)");
    return LocalTensor<T>(core_.allocate());
  }
  template <typename T>
  inline void AllocTensor(LocalTensor<T>& tensor, hostcann::CallSite = {}) {
    static_assert(depth == 0, "AllocTensor(tensor) is for queues of depth 0");
    tensor = LocalTensor<T>(core_.allocate());
  }

  template <typename T>
  inline bool EnQue(const LocalTensor<T>& tensor, hostcann::CallSite = {}) {
    core_.enqueue(tensor.view(), depth);
    return true;
  }

  template <typename T>
  inline LocalTensor<T> DeQue(hostcann::CallSite = {}) {
    static_assert(depth != 0, "a queue of depth 0 takes DeQue(tensor)");
    return LocalTensor<T>(core_.dequeue());
  }
  template <typename T>
  inline void DeQue(LocalTensor<T>& tensor, hostcann::CallSite = {}) {
    static_assert(depth == 0, "DeQue(tensor) is for queues of depth 0");
    tensor = LocalTensor<T>(core_.dequeue());
  }

  template <typename T>
  inline void FreeTensor(LocalTensor<T>& tensor, hostcann::CallSite = {}) {
    core_.release(tensor.view());
  }

  inline bool HasTensorInQue() { return core_.waiting("HasTensorInQue") != 0; }
  inline int32_t GetTensorCountInQue() {
    return static_cast<int32_t>(core_.waiting("GetTensorCountInQue"));
  }
  inline bool VacantInQue() { return core_.waiting("VacantInQue") < static_cast<size_t>(depth); }
  // Flags belong to hardware; what a queue holds is as it was.
  inline void FreeAllEvent() {}
  inline bool HasIdleBuffer() { return core_.has_free_buffer(); }

  // For the InitBuffer of a pool of one's own.
  inline void InitStartBufHandle(TBufHandle, uint8_t num, uint32_t, hostcann::CallSite = {}) {
    hostcann::BlockState& block = hostcann::this_block("InitStartBufHandle");
    hostcann::require_no_buffers(block, core_, num);
    core_.attach(block, hostcann::name_buffers(block, num, kPosition), num, kFilledBy, kEmptiedBy);
  }
  template <typename Pool>
  inline void InitBufHandle(Pool* bufPool, uint32_t index, TBufHandle, uint32_t curPoolAddr,
                            uint32_t len, hostcann::CallSite = {}) {
    hostcann::place_in_pool(bufPool, core_.named(index), curPoolAddr, len);
  }

  // Not in CANN: for InitBuffer.
  inline hostcann::QueueCore& core() { return core_; }

 private:
  hostcann::QueueCore core_;
};

namespace detail {

constexpr TPosition queue_source(TPosition position) {
  return position == TPosition::VECIN ? TPosition::GM : position;
}
constexpr TPosition queue_target(TPosition position) {
  return position == TPosition::VECIN ? position : TPosition::GM;
}

}  // namespace detail

template <TPosition pos, int32_t depth, auto mask = 0>
class TQue : public TQueBind<detail::queue_source(pos), detail::queue_target(pos), depth, mask> {
  static_assert(hostcann::in_unified_buffer(pos),
                "hostcann implements queues of VECIN and VECOUT only");
};

// One buffer without a queue: its tensors are never freed.
template <TPosition pos = TPosition::LCM>
class TBuf {
  static_assert(hostcann::in_unified_buffer(pos),
                "hostcann implements TBuf of VECIN, VECOUT and VECCALC only");

 public:
  // Not in CANN: for InitBuffer.
  inline void attach(hostcann::BlockState& block, size_t index) {
    block.buffers[index].use = hostcann::BufferUse::kScratch;
    block.buffers[index].ticket = block.new_ticket();
    index_ = index;
    ticket_ = block.buffers[index].ticket;
  }

  // For the InitBuffer of a pool of one's own.
  inline void InitStartBufHandle(TBufHandle, uint8_t num, uint32_t, hostcann::CallSite = {}) {
    if (num != 1) {
      hostcann::fault("InitStartBufHandle: expected num to be 1 for a TBuf, got %u", num);
    }
    hostcann::BlockState& block = hostcann::this_block("InitStartBufHandle");
    attach(block, hostcann::name_buffers(block, 1, pos));
  }
  template <typename Pool>
  inline void InitBufHandle(Pool* bufPool, uint32_t, TBufHandle, uint32_t curPoolAddr, uint32_t len,
                            hostcann::CallSite = {}) {
    attached("InitBufHandle");
    hostcann::place_in_pool(bufPool, index_, curPoolAddr, len);
  }

  template <typename T>
  inline LocalTensor<T> Get(hostcann::CallSite = {}) {
    return LocalTensor<T>(part("Get", 0, attached("Get").bytes));
  }
  template <typename T>
  inline LocalTensor<T> Get(uint32_t len, hostcann::CallSite = {}) {
    return LocalTensor<T>(part("Get", 0, len * sizeof(T)));
  }
  template <typename T>
  inline LocalTensor<T> GetWithOffset(uint32_t size, uint32_t bufOffset, hostcann::CallSite = {}) {
    if (bufOffset % hostcann::kBlockBytes != 0) {
      hostcann::fault("GetWithOffset: expected bufOffset to be a multiple of 32 bytes, got %u",
                      bufOffset);
    }
    return LocalTensor<T>(part("GetWithOffset", bufOffset, size * sizeof(T)));
  }

  // As of a queue with one buffer that is never handed on.
  template <typename T>
  inline LocalTensor<T> AllocTensor(hostcann::CallSite = {}) {
    return LocalTensor<T>(part("AllocTensor", 0, attached("AllocTensor").bytes));
  }
  template <typename T>
  inline void FreeTensor(LocalTensor<T>& tensor, hostcann::CallSite = {}) {
    tensor.view().live_buffer("FreeTensor", "the tensor");
  }

 private:
  friend class TPipe;
  template <TPosition src, TPosition dst, int32_t depth, auto mask = 0>
  class TQueBind;

  inline const hostcann::UbBuffer& attached(const char* caller) const {
    const hostcann::BlockState& block = hostcann::this_block(caller);
    if (ticket_ == 0 || block.buffers[index_].ticket != ticket_) {
      hostcann::fault(
          "%s: expected a TBuf with memory, got one that TPipe::InitBuffer was not called for or "
          "whose TPipe ended",
          caller);
    }
    return block.buffers[index_];
  }

  inline hostcann::LocalView part(const char* caller, size_t offset, size_t bytes) const {
    const hostcann::UbBuffer& buffer = attached(caller);
    if (offset + bytes > buffer.bytes) {
      hostcann::fault("%s: expected at most the %zu bytes of the TBuf, got %zu from byte %zu on",
                      caller, buffer.bytes, bytes, offset);
    }
    return hostcann::LocalView{buffer.data + offset, bytes, buffer.ticket,
                               static_cast<uint32_t>(index_), buffer.position};
  }

  uint64_t ticket_ = 0;
  size_t index_ = 0;
};

}  // namespace AscendC

#endif  // HOSTCANN_TQUE_H
