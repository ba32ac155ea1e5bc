// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "device_memory.h"
#include "error.h"

namespace hostcann {

// Where a device address leads.
struct DeviceRange {
  char* usable = nullptr;  // what the runtime and kernels use for it
  size_t rest = 0;         // bytes up to the end of what it lies in
  uint32_t device = 0;
};

bool is_device_address(const void* address);

// Checks that [address, address + bytes) is inside one live allocation, or inside mapped virtual
// memory without a gap.
Status resolve_address(const void* address, size_t bytes, Extent extent, DeviceRange* range);

}  // namespace hostcann
