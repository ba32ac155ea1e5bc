// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <mutex>

#include "error.h"

namespace hostcann {

constexpr size_t kPageBytes = 4096;

constexpr uint64_t round_up(uint64_t value, uint64_t step) {
  return (value + step - 1) / step * step;
}

enum class Extent {
  as_requested,  // what a copy may touch: the bytes that were asked for
  in_blocks,     // what a kernel may touch: rounded up, because its copies move whole 32 bytes
};

// What a signal handler can say of an address that was touched.
struct Stray {
  enum Kind { unknown, live, freed, foreign } kind = unknown;
  uint32_t device = 0;
  size_t bytes = 0;   // of the allocation
  size_t inside = 0;  // from its start to the address
};

// The memory of one device: one memory file, mapped twice. Addresses of the first mapping are
// handed out and cannot be touched; the runtime and the kernels use the second one, which lies
// at a constant distance.
class DeviceMemory {
 public:
  static Status create(uint32_t device, size_t capacity, DeviceMemory** made);

  // The memory that `address` lies in, by either mapping; nullptr when it is no device address.
  static DeviceMemory* containing(const void* address);

  Status allocate(size_t bytes, void** address);
  Status release(const void* address);
  void release_all();

  // Pages without an address, for virtual memory: their place in the memory file.
  Status take_pages(size_t bytes, uint64_t* offset);
  void return_pages(uint64_t offset, size_t bytes);
  int file() const { return file_; }

  // Checks that [address, address + bytes) is inside one live allocation and gives the address
  // to use for it. `rest` (may be nullptr) receives the bytes up to the allocation's end.
  Status resolve(const void* address, size_t bytes, Extent extent, char** usable,
                 size_t* rest = nullptr) const;

  // Allocates nothing and waits for nobody: it is called from a signal handler.
  void describe_stray(const void* address, Stray* stray) const;

  uint32_t device() const { return device_; }
  size_t capacity() const { return capacity_; }
  size_t used() const;

 private:
  struct Allocation {
    size_t requested;
    size_t reserved;
  };
  using Offset = uint64_t;

  DeviceMemory(uint32_t device, size_t capacity, int file, char* guarded, char* usable);
  bool offset_of(const void* address, Offset* offset) const;
  Status take(size_t bytes, size_t reserved, size_t alignment, Offset* begin);
  void protect(Offset begin, size_t bytes, int protection) const;
  std::map<Offset, size_t>::iterator find_hole(size_t reserved, size_t alignment);
  void give_back(Offset begin, Offset end);
  Status describe_dead(const void* address, Offset offset) const;

  const uint32_t device_;
  const size_t capacity_;
  const int file_;
  char* const guarded_;
  char* const usable_;

  mutable std::mutex mutex_;
  std::map<Offset, Allocation> live_;
  std::map<Offset, size_t> holes_;      // begin -> bytes, never adjacent to each other
  std::map<Offset, Allocation> freed_;  // for sentences only; forgotten when space is reused
  Offset cursor_ = 0;
  size_t used_ = 0;
};

}  // namespace hostcann
