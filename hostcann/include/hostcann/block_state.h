// SPDX-License-Identifier: Apache-2.0
// What one block (one emulated vector core) owns: its index, its Unified Buffer and the buffers
// that TPipe cut out of it.
#ifndef HOSTCANN_BLOCK_STATE_H
#define HOSTCANN_BLOCK_STATE_H

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>

#include "hostcann/kernel_fault.h"
#include "hostcann/kernel_types.h"

namespace hostcann {

constexpr size_t kBlockBytes = 32;             // granularity of every access to the Unified Buffer
constexpr size_t kUbBytes = 192 * 1024 - 256;  // dav-2201: CANN keeps the last 256 bytes
constexpr size_t kMaxBuffers = 64;             // of all queues and TBufs of one kernel
constexpr size_t kMaxTensorsPerPosition = 8;   // one hardware event id each
constexpr uint16_t kUnwritten = 0x7fa5;        // a NaN as float, half and bfloat16

constexpr size_t round_up_to_block(size_t bytes) {
  return (bytes + kBlockBytes - 1) / kBlockBytes * kBlockBytes;
}

enum class BufferUse : uint8_t { kFree, kAllocated, kEnqueued, kScratch };

struct UbBuffer {
  uint8_t* data = nullptr;
  size_t bytes = 0;
  uint64_t ticket = 0;  // identifies the LocalTensors that may use it; 0: none
  uint32_t queue = 0;   // in order of InitBuffer, from 1; TBufs have none
  AscendC::TPosition position = AscendC::TPosition::GM;
  BufferUse use = BufferUse::kFree;
};

class BlockState {
 public:
  BlockState() : ub_(static_cast<uint8_t*>(::operator new(kUbBytes, kUbAlignment))) {}
  ~BlockState() { ::operator delete(ub_, kUbAlignment); }
  BlockState(const BlockState&) = delete;
  BlockState& operator=(const BlockState&) = delete;

  void begin(uint32_t index, uint32_t count) {
    block_index = index;
    block_count = count;
    pipe = nullptr;
    leaked_from = UbBuffer();
    leaked = 0;
    release_buffers();
  }

  // Tickets and epochs never repeat on a thread, so whatever outlives its buffer is recognised.
  void release_buffers() {
    ++epoch;
    for (size_t i = 0; i < buffer_count; ++i) buffers[i].ticket = 0;
    buffer_count = 0;
    queue_count = 0;
    used = 0;
    std::memset(allocated, 0, sizeof(allocated));
  }

  uint64_t new_ticket() { return ++last_ticket_; }

  uint8_t* take(size_t bytes) {
    uint8_t* data = ub_ + used;
    used += bytes;
    if (bytes == 0) return data;
    // Doubling what is filled already: a block starts often, and this must not show in its time.
    std::memcpy(data, &kUnwritten, sizeof(kUnwritten));
    for (size_t filled = sizeof(kUnwritten); filled < bytes; filled *= 2) {
      std::memcpy(data + filled, data, filled < bytes - filled ? filled : bytes - filled);
    }
    return data;
  }

  uint8_t& allocated_at(AscendC::TPosition position) {
    return allocated[static_cast<size_t>(position)];
  }

  uint32_t block_index = 0;
  uint32_t block_count = 0;
  uint64_t epoch = 0;  // of the buffers: a queue initialised under another epoch has none left
  void* pipe = nullptr;
  UbBuffer buffers[kMaxBuffers];
  size_t buffer_count = 0;
  uint32_t queue_count = 0;
  size_t used = 0;
  UbBuffer leaked_from;  // first buffer still held when its TPipe ended
  size_t leaked = 0;

 private:
  static constexpr std::align_val_t kUbAlignment{4096};

  uint8_t allocated[static_cast<size_t>(AscendC::TPosition::MAX)] = {};
  uint64_t last_ticket_ = 0;
  uint8_t* const ub_;
};

// Hidden: every kernels library runs its blocks on its own state, whatever else is loaded.
__attribute__((visibility("hidden"))) inline thread_local BlockState* current_block = nullptr;

inline BlockState& this_block(const char* caller) {
  if (current_block == nullptr) {
    fault("hostcann: %s: expected a call from a kernel, got one from the host", caller);
  }
  return *current_block;
}

}  // namespace hostcann

#endif  // HOSTCANN_BLOCK_STATE_H
