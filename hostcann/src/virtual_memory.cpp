// SPDX-License-Identifier: Apache-2.0
#include "virtual_memory.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <mutex>

#include "acl/error_codes/rt_error_codes.h"

namespace hostcann {
namespace {

void* pointer(uintptr_t address) { return reinterpret_cast<void*>(address); }

// A forked child would otherwise write into its parent's device memory.
void keep_to_this_process(uintptr_t begin, size_t bytes) {
  madvise(pointer(begin), bytes, MADV_DONTFORK);
  madvise(pointer(begin), bytes, MADV_DONTDUMP);
}

}  // namespace

HandleTable<PhysicalMemory>& physical_memories() {
  static auto* const table = new HandleTable<PhysicalMemory>('P');
  return *table;
}

VirtualMemory& VirtualMemory::instance() {
  static auto* const only = new VirtualMemory;
  return *only;
}

Status VirtualMemory::reserve(size_t bytes, void** address) {
  void* both =
      mmap(nullptr, 2 * bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (both == MAP_FAILED) {
    return refuse(ACL_ERROR_RT_MEMORY_ALLOCATION, "cannot reserve addresses for %zu bytes: %s",
                  bytes, std::strerror(errno));
  }
  const auto begin = reinterpret_cast<Address>(both);
  keep_to_this_process(begin, 2 * bytes);
  std::unique_lock lock(mutex_);
  reservations_.emplace(begin, Reservation{bytes, {}});
  used_.store(true, std::memory_order_release);
  *address = both;
  return {};
}

Status VirtualMemory::release(const void* address) {
  std::unique_lock lock(mutex_);
  const auto found = reservations_.find(reinterpret_cast<Address>(address));
  if (found == reservations_.end()) {
    return refuse(ACL_ERROR_RT_PARAM_INVALID,
                  "address %p is not the start of reserved memory; pass what "
                  "aclrtReserveMemAddress returned",
                  address);
  }
  const Reservation& reservation = found->second;
  if (!reservation.mappings.empty()) {
    return refuse(ACL_ERROR_RT_PARAM_INVALID,
                  "%zu ranges are still mapped in the memory reserved at %p, the first at %p; call "
                  "aclrtUnmapMem for each first",
                  reservation.mappings.size(), address,
                  pointer(reservation.mappings.begin()->first));
  }
  munmap(pointer(found->first), 2 * reservation.bytes);
  reservations_.erase(found);
  return {};
}

const VirtualMemory::Reservation* VirtualMemory::around(Address address, Address* begin) const {
  const auto next = reservations_.upper_bound(address);
  if (next == reservations_.begin()) return nullptr;
  const auto& [start, reservation] = *std::prev(next);
  *begin = start;
  return address - start < 2 * reservation.bytes ? &reservation : nullptr;
}

VirtualMemory::Reservation* VirtualMemory::holding(Address address, Address* begin) {
  return const_cast<Reservation*>(around(address, begin));
}

Status VirtualMemory::map(const void* address, size_t bytes, size_t offset,
                          const std::shared_ptr<PhysicalMemory>& physical) {
  const auto from = reinterpret_cast<Address>(address);
  std::unique_lock lock(mutex_);
  Address begin = 0;
  Reservation* reservation = holding(from, &begin);
  if (reservation == nullptr || from - begin + bytes > reservation->bytes) {
    return refuse(ACL_ERROR_RT_PARAM_INVALID,
                  "%zu bytes at %p are not inside reserved memory; pass a range of what "
                  "aclrtReserveMemAddress returned",
                  bytes, address);
  }
  auto& mappings = reservation->mappings;
  const auto next = mappings.lower_bound(from);
  const bool hits_next = next != mappings.end() && next->first < from + bytes;
  const bool hits_previous =
      next != mappings.begin() && std::prev(next)->first + std::prev(next)->second.bytes > from;
  if (hits_next || hits_previous) {
    return refuse(ACL_ERROR_RT_PARAM_INVALID,
                  "part of the %zu bytes at %p is already mapped; call aclrtUnmapMem first", bytes,
                  address);
  }
  const Address usable = from + reservation->bytes;
  if (mmap(pointer(usable), bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, physical->file(),
           static_cast<off_t>(physical->offset() + offset)) == MAP_FAILED) {
    return refuse(ACL_ERROR_RT_MEMORY_ALLOCATION, "cannot map %zu bytes at %p: %s", bytes, address,
                  std::strerror(errno));
  }
  keep_to_this_process(usable, bytes);
  mappings.emplace(from, Mapping{bytes, physical});
  return {};
}

Status VirtualMemory::unmap_one(Address begin, Reservation& reservation,
                                std::map<Address, Mapping>::iterator mapping) {
  const Address usable = mapping->first + reservation.bytes;
  const size_t bytes = mapping->second.bytes;
  constexpr int kNothing = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
  if (mmap(pointer(usable), bytes, PROT_NONE, kNothing, -1, 0) == MAP_FAILED) {
    return refuse(ACL_ERROR_RT_INTERNAL_ERROR, "cannot unmap %zu bytes at %p: %s", bytes,
                  pointer(mapping->first), std::strerror(errno));
  }
  keep_to_this_process(begin, 2 * reservation.bytes);
  reservation.mappings.erase(mapping);
  return {};
}

Status VirtualMemory::unmap(const void* address) {
  const auto from = reinterpret_cast<Address>(address);
  std::unique_lock lock(mutex_);
  Address begin = 0;
  if (Reservation* reservation = holding(from, &begin)) {
    const auto found = reservation->mappings.find(from);
    if (found != reservation->mappings.end()) {
      return unmap_one(begin, *reservation, found);
    }
  }
  return refuse(ACL_ERROR_RT_PARAM_INVALID,
                "address %p is not the start of a mapped range; pass what aclrtMapMem was given",
                address);
}

void VirtualMemory::release_device(uint32_t device) {
  std::unique_lock lock(mutex_);
  for (auto& [begin, reservation] : reservations_) {
    for (auto at = reservation.mappings.begin(); at != reservation.mappings.end();) {
      const auto mapping = at++;
      if (mapping->second.physical->device() != device) continue;
      // One that cannot be unmapped stays listed as mapped.
      static_cast<void>(unmap_one(begin, reservation, mapping));
    }
  }
  physical_memories().remove_if([&](const PhysicalMemory& one) { return one.device() == device; });
}

bool VirtualMemory::contains(const void* address) const {
  if (!used_.load(std::memory_order_acquire)) return false;
  std::shared_lock lock(mutex_);
  Address begin = 0;
  return around(reinterpret_cast<Address>(address), &begin) != nullptr;
}

// Pieces that touch each other are one range: that is what virtual memory is for.
Status VirtualMemory::resolve(const void* address, size_t bytes, DeviceRange* range) const {
  const auto given = reinterpret_cast<Address>(address);
  std::shared_lock lock(mutex_);
  Address begin = 0;
  const Reservation* reservation = around(given, &begin);
  if (reservation == nullptr) {
    return refuse(ACL_ERROR_RT_PARAM_INVALID, "the memory reserved around %p was released",
                  address);
  }
  const size_t inside = (given - begin) % reservation->bytes;
  const Address from = begin + inside;
  const auto& mappings = reservation->mappings;
  auto piece = mappings.upper_bound(from);
  const bool mapped =
      piece != mappings.begin() && from < std::prev(piece)->first + std::prev(piece)->second.bytes;
  if (!mapped) {
    return refuse(ACL_ERROR_RT_PARAM_INVALID,
                  "address %p is reserved but not mapped; call aclrtMapMem first", address);
  }
  const auto first = std::prev(piece);
  Address end = first->first + first->second.bytes;
  for (; piece != mappings.end() && piece->first == end; ++piece) end += piece->second.bytes;
  if (bytes > end - from) {
    return refuse(ACL_ERROR_RT_PARAM_INVALID,
                  "%zu bytes from address %p pass the end of what is mapped there: %zu bytes are "
                  "left",
                  bytes, address, static_cast<size_t>(end - from));
  }
  range->usable = static_cast<char*>(pointer(from + reservation->bytes));
  range->rest = end - from;
  range->device = first->second.physical->device();
  return {};
}

bool VirtualMemory::describe_stray(const void* address, Stray* stray) const {
  if (!used_.load(std::memory_order_acquire)) return false;
  const std::shared_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return false;
  Address begin = 0;
  const auto given = reinterpret_cast<Address>(address);
  const Reservation* reservation = around(given, &begin);
  if (reservation == nullptr) return false;
  const size_t inside = (given - begin) % reservation->bytes;
  const auto next = reservation->mappings.upper_bound(begin + inside);
  stray->kind = Stray::foreign;
  if (next == reservation->mappings.begin()) return true;
  const auto& [start, mapping] = *std::prev(next);
  if (begin + inside >= start + mapping.bytes) return true;
  stray->kind = Stray::live;
  stray->device = mapping.physical->device();
  stray->bytes = mapping.bytes;
  stray->inside = begin + inside - start;
  return true;
}

}  // namespace hostcann
