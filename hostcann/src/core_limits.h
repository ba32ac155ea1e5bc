// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

#include "acl/acl_rt.h"

namespace hostcann {

// How many cores of a kind the chip has.
uint32_t cores_of_chip(aclrtDevResLimitType type);

// How many cores of either kind a device or a stream may use; 0: not limited.
class CoreLimits {
 public:
  uint32_t get(aclrtDevResLimitType type) const { return limits_[index(type)].load(); }
  uint32_t effective(aclrtDevResLimitType type) const {
    const uint32_t limit = get(type);
    return limit != 0 ? limit : cores_of_chip(type);
  }
  void set(aclrtDevResLimitType type, uint32_t value) { limits_[index(type)].store(value); }
  void reset() {
    for (auto& limit : limits_) limit.store(0);
  }

 private:
  static size_t index(aclrtDevResLimitType type) {
    return type == ACL_RT_DEV_RES_CUBE_CORE ? 0 : 1;
  }

  std::atomic<uint32_t> limits_[2] = {};
};

}  // namespace hostcann
