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
constexpr size_t kWholeUb = kMaxBuffers;       // number of the buffer behind static tensors
constexpr uint64_t kWholeUbTicket = ~uint64_t{0};
constexpr size_t kMaxTensorsPerPosition = 8;  // one hardware event id each
constexpr size_t kHardEvents = 13;            // pairs of units that a flag may connect
constexpr uint16_t kUnwritten = 0x7fa5;       // a NaN as float, half and bfloat16

constexpr size_t round_up_to_block(size_t bytes) {
  return (bytes + kBlockBytes - 1) / kBlockBytes * kBlockBytes;
}

enum class BufferUse : uint8_t { kFree, kAllocated, kEnqueued, kScratch };

// Where in the kernel's source a call stands.
struct SourceLine {
  const char* file = nullptr;
  uint32_t line = 0;
};

struct UbBuffer {
  uint8_t* data = nullptr;
  size_t bytes = 0;
  uint64_t ticket = 0;  // identifies the LocalTensors that may use it; 0: none
  uint32_t queue = 0;   // in order of InitBuffer, from 1; TBufs have none
  AscendC::TPosition position = AscendC::TPosition::GM;
  BufferUse use = BufferUse::kFree;
  SourceLine taken_at;  // by AllocTensor
};

// The vector unit's mask register: in normal mode the lanes of every repeat, in counter mode the
// number of elements in `low`.
struct MaskRegister {
  uint64_t low = ~uint64_t{0};
  uint64_t high = ~uint64_t{0};
};

// What a copy to device memory does with the value that is there.
enum class AtomicMode : uint8_t { kNone, kAdd, kMax, kMin };

class BlockChecks;

class BlockState {
 public:
  BlockState() : ub_(static_cast<uint8_t*>(::operator new(kUbBytes, kUbAlignment))) {
    buffers[kWholeUb].data = ub_;
    buffers[kWholeUb].bytes = kUbBytes;
    buffers[kWholeUb].ticket = kWholeUbTicket;
    buffers[kWholeUb].use = BufferUse::kScratch;
  }
  ~BlockState() { ::operator delete(ub_, kUbAlignment); }
  BlockState(const BlockState&) = delete;
  BlockState& operator=(const BlockState&) = delete;

  void begin(uint32_t index, uint32_t count) {
    block_index = index;
    block_count = count;
    pipe = nullptr;
    leaked_from = UbBuffer();
    leaked = 0;
    called_at = SourceLine();
    barriers_passed = 0;
    turns_taken = 0;
    std::memset(cross_rounds, 0, sizeof(cross_rounds));
    std::memset(flags, 0, sizeof(flags));
    std::memset(taken_event_ids, 0, sizeof(taken_event_ids));
    reset_registers();
    release_buffers();
  }

  // What InitSocState resets, and the state a kernel starts in.
  void reset_registers() {
    counter_mode = false;
    mask = MaskRegister();
    compare_mask = MaskRegister();
    atomic = AtomicMode::kNone;
    pad_value = 0;
    pad_value_set = false;
    dequant_scale = 1.0f;
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

  uint8_t* ub() const { return ub_; }

  uint8_t& allocated_at(AscendC::TPosition position) {
    return allocated[static_cast<size_t>(position)];
  }

  uint32_t block_index = 0;
  uint32_t block_count = 0;
  uint64_t epoch = 0;  // of the buffers: a queue initialised under another epoch has none left
  void* pipe = nullptr;
  UbBuffer buffers[kMaxBuffers + 1];  // the last one: all of the Unified Buffer
  size_t buffer_count = 0;
  uint32_t queue_count = 0;
  size_t used = 0;       // bytes that TPipe gave away
  UbBuffer leaked_from;  // first buffer still held when its TPipe ended
  size_t leaked = 0;
  SourceLine called_at;

  uint64_t barriers_passed = 0;  // of all blocks
  uint64_t turns_taken = 0;      // by WaitPreBlock
  uint64_t gathered = 0;         // elements, by the last GatherMask
  uint64_t reduced_value = 0;    // bits of the last reduction's value
  uint64_t reduced_index = 0;
  uint16_t merged[4] = {};  // pairs of each queue, by the last MrgSort
  uint64_t cross_rounds[16] = {};

  uint8_t flags[kHardEvents] = {};  // one bit per event id
  uint8_t taken_event_ids[kHardEvents] = {};

  bool counter_mode = false;
  MaskRegister mask;
  MaskRegister compare_mask;
  AtomicMode atomic = AtomicMode::kNone;
  uint64_t pad_value = 0;
  bool pad_value_set = false;
  float dequant_scale = 1.0f;
  BlockChecks* checks = nullptr;  // of HOSTCANN_CHECK=all

  // Doubling what is filled already: a block starts often, and this must not show in its time.
  static void fill_unwritten(uint8_t* data, size_t bytes) {
    if (bytes == 0) return;
    std::memcpy(data, &kUnwritten, sizeof(kUnwritten));
    for (size_t filled = sizeof(kUnwritten); filled < bytes; filled *= 2) {
      std::memcpy(data + filled, data, filled < bytes - filled ? filled : bytes - filled);
    }
  }

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

// The last parameter of what a kernel calls: as a default argument it is evaluated at the caller's
// line, and a fault of that call names the line.
struct CallSite {
  CallSite(const char* file = __builtin_FILE(), uint32_t line = __builtin_LINE()) {
    if (current_block != nullptr) current_block->called_at = {file, line};
  }
};

}  // namespace hostcann

#endif  // HOSTCANN_BLOCK_STATE_H
