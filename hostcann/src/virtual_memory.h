// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <shared_mutex>

#include "device_address.h"
#include "device_memory.h"
#include "error.h"
#include "handle_table.h"

namespace hostcann {

// Pages of a device that have no address of their own.
class PhysicalMemory {
 public:
  PhysicalMemory(DeviceMemory& memory, uint64_t offset, size_t bytes)
      : memory_(memory), offset_(offset), bytes_(bytes) {}
  ~PhysicalMemory() { memory_.return_pages(offset_, bytes_); }
  PhysicalMemory(const PhysicalMemory&) = delete;
  PhysicalMemory& operator=(const PhysicalMemory&) = delete;

  uint32_t device() const { return memory_.device(); }
  int file() const { return memory_.file(); }
  uint64_t offset() const { return offset_; }
  size_t bytes() const { return bytes_; }

 private:
  DeviceMemory& memory_;
  const uint64_t offset_;
  const size_t bytes_;
};

HandleTable<PhysicalMemory>& physical_memories();

// Reserved addresses, into which physical memory is mapped piece by piece. As with a device's own
// memory, the addresses handed out are protected and a second range of the same length behind
// them is what the runtime and the kernels use.
class VirtualMemory {
 public:
  static VirtualMemory& instance();

  // `bytes` are whole pages.
  Status reserve(size_t bytes, void** address);
  Status release(const void* address);
  Status map(const void* address, size_t bytes, size_t offset,
             const std::shared_ptr<PhysicalMemory>& physical);
  Status unmap(const void* address);
  // Unmaps and frees all physical memory of a device.
  void release_device(uint32_t device);

  bool contains(const void* address) const;
  Status resolve(const void* address, size_t bytes, DeviceRange* range) const;
  // As DeviceMemory::describe_stray; false when the address is not in reserved memory.
  bool describe_stray(const void* address, Stray* stray) const;

 private:
  using Address = uintptr_t;
  struct Mapping {
    size_t bytes;
    std::shared_ptr<PhysicalMemory> physical;
  };
  struct Reservation {
    size_t bytes;
    std::map<Address, Mapping> mappings;  // by their protected address
  };

  const Reservation* around(Address address, Address* begin) const;
  Reservation* holding(Address address, Address* begin);
  Status unmap_one(Address begin, Reservation& reservation,
                   std::map<Address, Mapping>::iterator mapping);

  std::atomic<bool> used_{false};
  mutable std::shared_mutex mutex_;
  std::map<Address, Reservation> reservations_;
};

}  // namespace hostcann
