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

struct Callback {
  int32_t stream;
  aclrtCallback function;
  void* argument;
  std::shared_ptr<Latch> done;  // nullptr: nobody waits for it
};

// The callbacks of every stream that one thread of the user has subscribed to. That thread runs
// them, inside aclrtProcessReport.
class ReportQueue {
 public:
  explicit ReportQueue(uint64_t thread) : thread_(thread) {}

  // The queue of a thread; made when `make` says so, else nullptr when there is none.
  static std::shared_ptr<ReportQueue> of_thread(uint64_t thread, bool make);

  void push(const Callback& callback);
  Status serve(int32_t timeout_ms);
  // Drops what the thread has not got to; a stream that waits for it goes on.
  void forget(int32_t stream);
  uint64_t thread() const { return thread_; }

 private:
  const uint64_t thread_;
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<Callback> waiting_;
};

// Hands a callback over in stream order; a blocking one holds the stream until it has run.
class CallbackTask : public Task {
 public:
  CallbackTask(Stream& stream, aclrtCallback function, void* argument, bool blocks)
      : stream_(stream), function_(function), argument_(argument), blocks_(blocks) {}
  Status run() override;
  Shown shown() const override { return {"callback"}; }
  bool only_waits() const override { return true; }

 private:
  Stream& stream_;  // which runs this task
  const aclrtCallback function_;
  void* const argument_;
  const bool blocks_;
};

}  // namespace hostcann
