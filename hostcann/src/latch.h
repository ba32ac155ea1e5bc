// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <mutex>

#include "error.h"

namespace hostcann {

// Lets a thread wait for one task instead of a whole stream.
class Latch {
 public:
  void release(const Status& outcome) {
    std::lock_guard lock(mutex_);
    released_ = true;
    outcome_ = outcome;
    changed_.notify_all();
  }
  Status wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return released_; });
    return outcome_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool released_ = false;
  Status outcome_;
};

}  // namespace hostcann
