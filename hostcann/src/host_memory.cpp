// SPDX-License-Identifier: Apache-2.0
#include "host_memory.h"

#include <cstdlib>

#include "acl/error_codes/rt_error_codes.h"

namespace hostcann {
namespace {

constexpr size_t kPageBytes = 4096;

}  // namespace

HostMemory& HostMemory::instance() {
  static auto* const only = new HostMemory;
  return *only;
}

Status HostMemory::allocate(size_t bytes, void** address) {
  *address = nullptr;
  if (bytes == 0) {
    return refuse(ACL_ERROR_RT_PARAM_INVALID, "argument 'size': expected at least 1 byte, got 0");
  }
  if (posix_memalign(address, kPageBytes, bytes) != 0) {
    *address = nullptr;
    return refuse(ACL_ERROR_RT_MEMORY_ALLOCATION,
                  "Failed to allocate %zu bytes of host memory: the host has none left", bytes);
  }
  std::lock_guard lock(mutex_);
  ranges_[static_cast<const char*>(*address)] = Range{bytes, true};
  return {};
}

Status HostMemory::release(void* address) {
  {
    std::lock_guard lock(mutex_);
    const auto found = ranges_.find(static_cast<const char*>(address));
    if (found == ranges_.end() || !found->second.ours) {
      return refuse(ACL_ERROR_RT_PARAM_INVALID,
                    "address %p was not returned by aclrtMallocHost, or was already freed",
                    address);
    }
    ranges_.erase(found);
  }
  std::free(address);
  return {};
}

Status HostMemory::adopt(void* address, size_t bytes) {
  const char* const begin = static_cast<const char*>(address);
  std::lock_guard lock(mutex_);
  const auto next = ranges_.lower_bound(begin);
  const bool hits_next = next != ranges_.end() && next->first < begin + bytes;
  const bool hits_previous =
      next != ranges_.begin() && std::prev(next)->first + std::prev(next)->second.bytes > begin;
  if (hits_next || hits_previous) {
    return refuse(ACL_ERROR_HOST_MEMORY_ALREADY_REGISTERED,
                  "host memory %p + %zu bytes overlaps memory that is already registered", address,
                  bytes);
  }
  ranges_[begin] = Range{bytes, false};
  return {};
}

Status HostMemory::disown(void* address) {
  std::lock_guard lock(mutex_);
  const auto found = ranges_.find(static_cast<const char*>(address));
  if (found == ranges_.end() || found->second.ours) {
    return refuse(ACL_ERROR_HOST_MEMORY_NOT_REGISTERED,
                  "host address %p was not registered; pass the start of a registered range",
                  address);
  }
  ranges_.erase(found);
  return {};
}

bool HostMemory::is_pinned(const void* address, size_t bytes) const {
  const char* const begin = static_cast<const char*>(address);
  std::lock_guard lock(mutex_);
  const auto next = ranges_.upper_bound(begin);
  if (next == ranges_.begin()) return false;
  const auto& [start, range] = *std::prev(next);
  return begin + bytes <= start + range.bytes;
}

}  // namespace hostcann
