// SPDX-License-Identifier: Apache-2.0
#include "device_address.h"

#include "acl/error_codes/rt_error_codes.h"
#include "virtual_memory.h"

namespace hostcann {

bool is_device_address(const void* address) {
  return DeviceMemory::containing(address) != nullptr ||
         VirtualMemory::instance().contains(address);
}

Status resolve_address(const void* address, size_t bytes, Extent extent, DeviceRange* range) {
  if (const DeviceMemory* memory = DeviceMemory::containing(address)) {
    range->device = memory->device();
    return memory->resolve(address, bytes, extent, &range->usable, &range->rest);
  }
  if (VirtualMemory::instance().contains(address)) {
    return VirtualMemory::instance().resolve(address, bytes, range);
  }
  return refuse(ACL_ERROR_RT_PARAM_INVALID,
                "%p is not a device address; copy the data to memory from aclrtMalloc and pass "
                "its address",
                address);
}

}  // namespace hostcann
