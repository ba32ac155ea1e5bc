// SPDX-License-Identifier: Apache-2.0
#include "device_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>

#include "acl/error_codes/rt_error_codes.h"
#include "config.h"
#include "stray_access.h"

namespace hostcann {
namespace {

// CANN guarantees less, but torch_npu and kernels get by with this everywhere.
constexpr size_t kAlignment = 512;
constexpr size_t kBlockBytes = 32;
constexpr size_t kRememberedFrees = 4096;

std::atomic<DeviceMemory*> memories[kMaxDevices];

constexpr uint64_t round_down(uint64_t value, uint64_t step) { return value / step * step; }

}  // namespace

DeviceMemory::DeviceMemory(uint32_t device, size_t capacity, int file, char* guarded, char* usable)
    : device_(device), capacity_(capacity), file_(file), guarded_(guarded), usable_(usable) {
  holes_.emplace(0, capacity);
}

Status DeviceMemory::create(uint32_t device, size_t capacity, DeviceMemory** made) {
  capacity = round_up(capacity, kPageBytes);
  const auto failed = [&](const char* call) {
    return refuse(ACL_ERROR_RT_DEV_SETUP_ERROR,
                  "cannot set up %zu bytes of memory for device %u: %s failed (%s); set "
                  "HOSTCANN_DEVICE_MEMORY to less",
                  capacity, device, call, std::strerror(errno));
  };
  const int file = memfd_create("hostcann-device-memory", MFD_CLOEXEC);
  if (file < 0) return failed("memfd_create");
  if (ftruncate(file, static_cast<off_t>(capacity)) != 0) {
    close(file);
    return failed("ftruncate");
  }
  // One reservation for both mappings, so that the distance is `capacity` on every device.
  void* both =
      mmap(nullptr, 2 * capacity, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (both == MAP_FAILED) {
    close(file);
    return failed("mmap");
  }
  char* const guarded = static_cast<char*>(both);
  char* const usable = guarded + capacity;
  const bool mapped =
      mmap(guarded, capacity, PROT_NONE, MAP_SHARED | MAP_FIXED, file, 0) != MAP_FAILED &&
      mmap(usable, capacity, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED | MAP_NORESERVE, file,
           0) != MAP_FAILED;
  if (!mapped) {
    munmap(both, 2 * capacity);
    close(file);
    return failed("mmap");
  }
  // A forked child would otherwise write into its parent's device memory.
  madvise(both, 2 * capacity, MADV_DONTFORK);
  madvise(both, 2 * capacity, MADV_DONTDUMP);
  *made = new DeviceMemory(device, capacity, file, guarded, usable);
  memories[device].store(*made, std::memory_order_release);
  explain_stray_accesses();
  return {};
}

DeviceMemory* DeviceMemory::containing(const void* address) {
  for (const auto& memory : memories) {
    DeviceMemory* candidate = memory.load(std::memory_order_acquire);
    Offset offset;
    if (candidate != nullptr && candidate->offset_of(address, &offset)) return candidate;
  }
  return nullptr;
}

bool DeviceMemory::offset_of(const void* address, Offset* offset) const {
  const auto distance =
      reinterpret_cast<uintptr_t>(address) - reinterpret_cast<uintptr_t>(guarded_);
  if (distance >= 2 * capacity_) return false;
  *offset = distance < capacity_ ? distance : distance - capacity_;
  return true;
}

// Next fit: an address is not handed out again before the rest of the device has been, so a
// pointer used after its free still gets the sentence it deserves.
std::map<uint64_t, size_t>::iterator DeviceMemory::find_hole(size_t reserved, size_t alignment) {
  const auto fits = [&](const auto& hole) {
    const size_t skipped = round_up(hole.first, alignment) - hole.first;
    return hole.second >= skipped && hole.second - skipped >= reserved;
  };
  const auto start = holes_.lower_bound(cursor_);
  const auto after = std::find_if(start, holes_.end(), fits);
  if (after != holes_.end()) return after;
  const auto before = std::find_if(holes_.begin(), start, fits);
  return before == start ? holes_.end() : before;
}

// Takes a range out of the holes; `bytes` is what the caller asked for.
Status DeviceMemory::take(size_t bytes, size_t reserved, size_t alignment, Offset* begin) {
  const auto hole = reserved > capacity_ ? holes_.end() : find_hole(reserved, alignment);
  if (hole == holes_.end()) {
    const bool scattered = reserved <= capacity_ - used_;
    return refuse(ACL_ERROR_RT_MEMORY_ALLOCATION,
                  "Failed to allocate %zu bytes on device %u: %zu of %zu bytes are free%s; free "
                  "memory or set HOSTCANN_DEVICE_MEMORY to more",
                  bytes, device_, capacity_ - used_, capacity_,
                  scattered ? ", but not in one piece" : "");
  }
  const Offset hole_begin = hole->first;
  const Offset hole_end = hole_begin + hole->second;
  *begin = round_up(hole_begin, alignment);
  const Offset end = *begin + reserved;
  holes_.erase(hole);
  if (hole_begin < *begin) holes_.emplace(hole_begin, *begin - hole_begin);
  if (end < hole_end) holes_.emplace(end, hole_end - end);
  used_ += reserved;
  cursor_ = end;
  auto forgotten = freed_.lower_bound(*begin);
  if (forgotten != freed_.begin()) {
    const auto previous = std::prev(forgotten);
    if (previous->first + previous->second.reserved > *begin) forgotten = previous;
  }
  while (forgotten != freed_.end() && forgotten->first < end) forgotten = freed_.erase(forgotten);
  return {};
}

Status DeviceMemory::allocate(size_t bytes, void** address) {
  *address = nullptr;
  if (bytes == 0) {
    return refuse(ACL_ERROR_RT_PARAM_INVALID, "argument 'size': expected at least 1 byte, got 0");
  }
  // Whole pages, so that work which comes after the free faults instead of finding old data.
  const size_t alignment = config().adversarial() ? kPageBytes : kAlignment;
  const size_t reserved = bytes > capacity_ ? bytes : round_up(bytes, alignment);
  std::lock_guard lock(mutex_);
  Offset begin = 0;
  if (Status status = take(bytes, reserved, alignment, &begin); !status.ok()) return status;
  live_.emplace(begin, Allocation{bytes, reserved});
  protect(begin, reserved, PROT_READ | PROT_WRITE);
  *address = guarded_ + begin;
  return {};
}

void DeviceMemory::protect(Offset begin, size_t bytes, int protection) const {
  if (config().adversarial()) mprotect(usable_ + begin, bytes, protection);
}

Status DeviceMemory::take_pages(size_t bytes, uint64_t* offset) {
  std::lock_guard lock(mutex_);
  return take(bytes, round_up(bytes, kPageBytes), kPageBytes, offset);
}

void DeviceMemory::return_pages(uint64_t offset, size_t bytes) {
  std::lock_guard lock(mutex_);
  const size_t reserved = round_up(bytes, kPageBytes);
  used_ -= reserved;
  give_back(offset, offset + reserved);
}

Status DeviceMemory::release(const void* address) {
  Offset offset = 0;
  offset_of(address, &offset);
  std::lock_guard lock(mutex_);
  const auto found = live_.find(offset);
  if (found == live_.end()) {
    const auto next = live_.upper_bound(offset);
    if (next != live_.begin()) {
      const auto around = std::prev(next);
      if (offset < around->first + around->second.reserved) {
        return refuse(ACL_ERROR_RT_PARAM_INVALID,
                      "address %p is %zu bytes inside an allocation; free its start, %p", address,
                      static_cast<size_t>(offset - around->first),
                      static_cast<void*>(guarded_ + around->first));
      }
    }
    return describe_dead(address, offset);
  }
  const Allocation allocation = found->second;
  live_.erase(found);
  used_ -= allocation.reserved;
  protect(offset, allocation.reserved, PROT_NONE);
  if (freed_.size() >= kRememberedFrees) freed_.erase(freed_.begin());
  freed_[offset] = allocation;
  give_back(offset, offset + allocation.reserved);
  return {};
}

void DeviceMemory::release_all() {
  std::lock_guard lock(mutex_);
  while (!live_.empty()) {
    const auto [offset, allocation] = *live_.begin();
    live_.erase(live_.begin());
    used_ -= allocation.reserved;
    protect(offset, allocation.reserved, PROT_NONE);
    freed_[offset] = allocation;
    give_back(offset, offset + allocation.reserved);
  }
}

// Joins the freed range with the holes around it and returns the pages that are now wholly
// unused to the system.
void DeviceMemory::give_back(Offset begin, Offset end) {
  Offset hole_begin = begin;
  Offset hole_end = end;
  const auto next = holes_.lower_bound(begin);
  if (next != holes_.end() && next->first == end) hole_end += next->second;
  if (next != holes_.begin()) {
    const auto previous = std::prev(next);
    if (previous->first + previous->second == begin) hole_begin = previous->first;
  }
  if (hole_end != end) holes_.erase(end);
  holes_[hole_begin] = hole_end - hole_begin;

  const Offset first = std::max(round_up(hole_begin, kPageBytes), round_down(begin, kPageBytes));
  const Offset last = std::min(round_down(hole_end, kPageBytes), round_up(end, kPageBytes));
  if (first < last) {
    fallocate(file_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(first),
              static_cast<off_t>(last - first));
  }
}

Status DeviceMemory::describe_dead(const void* address, Offset offset) const {
  const auto next = freed_.upper_bound(offset);
  if (next != freed_.begin()) {
    const auto around = std::prev(next);
    if (offset < around->first + around->second.reserved) {
      return refuse(ACL_ERROR_RT_PARAM_INVALID,
                    "address %p on device %u is in an allocation of %zu bytes that was already "
                    "freed; keep the memory until its last use",
                    address, device_, around->second.requested);
    }
  }
  return refuse(ACL_ERROR_RT_PARAM_INVALID,
                "address %p is not inside any live allocation of device %u; pass an address that "
                "aclrtMalloc returned",
                address, device_);
}

Status DeviceMemory::resolve(const void* address, size_t bytes, Extent extent, char** usable,
                             size_t* rest) const {
  *usable = nullptr;
  Offset offset = 0;
  offset_of(address, &offset);
  std::lock_guard lock(mutex_);
  const auto next = live_.upper_bound(offset);
  if (next == live_.begin()) return describe_dead(address, offset);
  const auto& [begin, allocation] = *std::prev(next);
  if (offset >= begin + allocation.reserved) return describe_dead(address, offset);
  const size_t allowed = extent == Extent::as_requested
                             ? allocation.requested
                             : round_up(allocation.requested, kBlockBytes);
  const size_t inside = offset - begin;
  if (inside > allowed || bytes > allowed - inside || (bytes == 0 && inside == allowed)) {
    return refuse(ACL_ERROR_RT_PARAM_INVALID,
                  "%zu bytes from address %p pass the end of its allocation on device %u: %zu "
                  "bytes were allocated and the address is %zu bytes into them",
                  bytes, address, device_, allocation.requested, inside);
  }
  *usable = usable_ + offset;
  if (rest != nullptr) *rest = allowed - inside;
  return {};
}

void DeviceMemory::describe_stray(const void* address, Stray* stray) const {
  Offset offset = 0;
  offset_of(address, &offset);
  stray->device = device_;
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return;
  stray->kind = Stray::foreign;
  for (const auto* allocations : {&live_, &freed_}) {
    const auto next = allocations->upper_bound(offset);
    if (next == allocations->begin()) continue;
    const auto& [begin, allocation] = *std::prev(next);
    if (offset >= begin + allocation.reserved) continue;
    stray->kind = allocations == &live_ ? Stray::live : Stray::freed;
    stray->bytes = allocation.requested;
    stray->inside = offset - begin;
    return;
  }
}

size_t DeviceMemory::used() const {
  std::lock_guard lock(mutex_);
  return used_;
}

}  // namespace hostcann
