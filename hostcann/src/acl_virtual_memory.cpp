// SPDX-License-Identifier: Apache-2.0
// Reserved addresses and the physical memory that is mapped into them.
#include "acl/acl_rt.h"
#include "acl/error_codes/rt_error_codes.h"
#include "config.h"
#include "device.h"
#include "entry.h"
#include "virtual_memory.h"

using namespace hostcann;

namespace {

// A huge page, the unit that CANN allocates physical memory in.
constexpr size_t kGranularity = size_t{2} << 20;

Status check_multiple(const char* argument, size_t value, bool zero_allowed) {
  if (value % kGranularity == 0 && (zero_allowed || value > 0)) return {};
  return refuse(ACL_ERROR_RT_PARAM_INVALID,
                "argument '%s': expected a multiple of %zu bytes, got %zu", argument, kGranularity,
                value);
}

Status check_zero(const char* argument, uint64_t value) {
  if (value == 0) return {};
  return refuse(ACL_ERROR_RT_PARAM_INVALID, "argument '%s': expected 0, got %llu", argument,
                static_cast<unsigned long long>(value));
}

Status check_properties(const aclrtPhysicalMemProp& wanted) {
  if (Status status = check_device(wanted.location.id); !status.ok()) return status;
  if (wanted.location.type == ACL_MEM_LOCATION_TYPE_DEVICE &&
      wanted.handleType == ACL_MEM_HANDLE_TYPE_NONE &&
      wanted.allocationType == ACL_MEM_ALLOCATION_TYPE_PINNED) {
    return {};
  }
  return refuse(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                "argument 'prop': expected pinned memory of a device without a handle to share, "
                "got location type %d, allocation type %d and handle type %d",
                static_cast<int>(wanted.location.type), static_cast<int>(wanted.allocationType),
                static_cast<int>(wanted.handleType));
}

Status find_physical(aclrtDrvMemHandle handle, std::shared_ptr<PhysicalMemory>* physical) {
  if (Status status = usable(); !status.ok()) return status;
  *physical = physical_memories().find(handle);
  if (*physical != nullptr) return {};
  return refuse(ACL_ERROR_RT_PARAM_INVALID,
                "%p is no live physical memory; it was freed, or never came from "
                "aclrtMallocPhysical",
                handle);
}

}  // namespace

HOSTCANN_API aclError aclrtReserveMemAddress(void** virPtr, size_t size, size_t alignment,
                                             void* expectPtr, uint64_t flags) {
  HOSTCANN_REQUIRE_NOT_NULL(virPtr);
  *virPtr = nullptr;
  HOSTCANN_ENTER();
  HOSTCANN_RETURN_IF_FAILED(usable());
  if (size == 0) {
    return report(__func__, refuse(ACL_ERROR_RT_PARAM_INVALID,
                                   "argument 'size': expected at least 1 byte, got 0"));
  }
  HOSTCANN_RETURN_IF_FAILED(check_zero("alignment", alignment));
  HOSTCANN_RETURN_IF_FAILED(check_zero("expectPtr", reinterpret_cast<uint64_t>(expectPtr)));
  if (flags > 1) {
    return report(__func__, refuse(ACL_ERROR_RT_PARAM_INVALID,
                                   "argument 'flags': expected 0 or 1 (huge pages), got %llu",
                                   static_cast<unsigned long long>(flags)));
  }
  // In whole pages of what is mapped into it; torch_npu tries with 512 bytes whether it works.
  return report(__func__, VirtualMemory::instance().reserve(round_up(size, kGranularity), virPtr));
}

HOSTCANN_API aclError aclrtReleaseMemAddress(void* virPtr) {
  HOSTCANN_ENTER();
  HOSTCANN_RETURN_IF_FAILED(usable());
  return report(__func__, VirtualMemory::instance().release(virPtr));
}

HOSTCANN_API aclError aclrtMemGetAllocationGranularity(aclrtPhysicalMemProp* prop,
                                                       aclrtMemGranularityOptions option,
                                                       size_t* granularity) {
  HOSTCANN_REQUIRE_NOT_NULL(prop);
  HOSTCANN_REQUIRE_NOT_NULL(granularity);
  *granularity = 0;
  HOSTCANN_ENTER();
  HOSTCANN_RETURN_IF_FAILED(check_properties(*prop));
  if (option != ACL_RT_MEM_ALLOC_GRANULARITY_MINIMUM &&
      option != ACL_RT_MEM_ALLOC_GRANULARITY_RECOMMENDED) {
    return report(__func__, refuse(ACL_ERROR_RT_PARAM_INVALID,
                                   "argument 'option': expected 0 (minimum) or 1 (recommended), "
                                   "got %d",
                                   static_cast<int>(option)));
  }
  *granularity = kGranularity;
  return ACL_SUCCESS;
}

HOSTCANN_API aclError aclrtMallocPhysical(aclrtDrvMemHandle* handle, size_t size,
                                          const aclrtPhysicalMemProp* prop, uint64_t flags) {
  HOSTCANN_REQUIRE_NOT_NULL(handle);
  HOSTCANN_REQUIRE_NOT_NULL(prop);
  *handle = nullptr;
  HOSTCANN_ENTER();
  HOSTCANN_RETURN_IF_FAILED(usable());
  HOSTCANN_RETURN_IF_FAILED(check_multiple("size", size, false));
  HOSTCANN_RETURN_IF_FAILED(check_properties(*prop));
  HOSTCANN_RETURN_IF_FAILED(check_zero("flags", flags));
  DeviceMemory* memory = nullptr;
  HOSTCANN_RETURN_IF_FAILED(memory_of(prop->location.id, &memory));
  uint64_t offset = 0;
  HOSTCANN_RETURN_IF_FAILED(memory->take_pages(size, &offset));
  *handle = physical_memories().insert(std::make_shared<PhysicalMemory>(*memory, offset, size));
  return ACL_SUCCESS;
}

// Memory that is still mapped stays until it is unmapped.
HOSTCANN_API aclError aclrtFreePhysical(aclrtDrvMemHandle handle) {
  HOSTCANN_ENTER();
  std::shared_ptr<PhysicalMemory> physical;
  HOSTCANN_RETURN_IF_FAILED(find_physical(handle, &physical));
  physical_memories().remove(handle);
  return ACL_SUCCESS;
}

HOSTCANN_API aclError aclrtMapMem(void* virPtr, size_t size, size_t offset,
                                  aclrtDrvMemHandle handle, uint64_t flags) {
  HOSTCANN_REQUIRE_NOT_NULL(virPtr);
  HOSTCANN_ENTER();
  std::shared_ptr<PhysicalMemory> physical;
  HOSTCANN_RETURN_IF_FAILED(find_physical(handle, &physical));
  HOSTCANN_RETURN_IF_FAILED(check_multiple("size", size, false));
  HOSTCANN_RETURN_IF_FAILED(check_multiple("offset", offset, true));
  HOSTCANN_RETURN_IF_FAILED(check_zero("flags", flags));
  if (offset > physical->bytes() || size > physical->bytes() - offset) {
    return report(__func__, refuse(ACL_ERROR_RT_PARAM_INVALID,
                                   "%zu bytes from offset %zu pass the end of the physical memory, "
                                   "which has %zu bytes",
                                   size, offset, physical->bytes()));
  }
  return report(__func__, VirtualMemory::instance().map(virPtr, size, offset, physical));
}

HOSTCANN_API aclError aclrtUnmapMem(void* virPtr) {
  HOSTCANN_REQUIRE_NOT_NULL(virPtr);
  HOSTCANN_ENTER();
  HOSTCANN_RETURN_IF_FAILED(usable());
  return report(__func__, VirtualMemory::instance().unmap(virPtr));
}
