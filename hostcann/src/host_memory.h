// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <mutex>

#include "error.h"

namespace hostcann {

// Page-locked host memory. Nothing is locked here; what counts is that a copy from or to it
// may still be under way when aclrtMemcpyAsync returns.
class HostMemory {
 public:
  static HostMemory& instance();

  Status allocate(size_t bytes, void** address);
  Status release(void* address);
  Status adopt(void* address, size_t bytes);
  Status disown(void* address);
  bool is_pinned(const void* address, size_t bytes) const;

 private:
  struct Range {
    size_t bytes;
    bool ours;
  };
  mutable std::mutex mutex_;
  std::map<const char*, Range> ranges_;
};

}  // namespace hostcann
