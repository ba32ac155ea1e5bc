// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>

#include "acl/acl_rt.h"
#include "latch.h"
#include "stream.h"

namespace hostcann {

// The callbacks of every stream that one thread of the user has subscribed to. That thread runs
// them, inside aclrtProcessReport.
class ReportQueue {
 public:
  explicit ReportQueue(uint64_t thread) : thread_(thread) {}
  ~ReportQueue();

  // The queue of a thread; made when `make` says so, else nullptr when there is none.
  static std::shared_ptr<ReportQueue> of_thread(uint64_t thread, bool make);

  void push(aclrtCallback function, void* argument, std::shared_ptr<Latch> done);
  Status serve(int32_t timeout_ms);
  uint64_t thread() const { return thread_; }

 private:
  struct Entry {
    aclrtCallback function;
    void* argument;
    std::shared_ptr<Latch> done;  // nullptr: nobody waits for it
  };

  const uint64_t thread_;
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<Entry> entries_;
};

// Hands a callback over in stream order; a blocking one holds the stream until it has run.
class CallbackTask : public Task {
 public:
  CallbackTask(std::shared_ptr<ReportQueue> queue, aclrtCallback function, void* argument,
               bool blocks)
      : queue_(std::move(queue)), function_(function), argument_(argument), blocks_(blocks) {}
  Status run() override;
  Shown shown() const override { return {"callback"}; }
  bool only_waits() const override { return true; }

 private:
  std::shared_ptr<ReportQueue> queue_;
  const aclrtCallback function_;
  void* const argument_;
  const bool blocks_;
};

}  // namespace hostcann
