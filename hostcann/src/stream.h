// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>

#include "core_limits.h"
#include "error.h"
#include "trace.h"

namespace hostcann {

class Context;
class ReportQueue;
struct Callback;

constexpr int32_t kForever = -1;

// One piece of work on a stream. It either runs on the stream's worker thread or, when the
// stream has stopped or is destroyed by force, is dropped.
class Task {
 public:
  virtual ~Task() = default;
  virtual Status run() = 0;
  virtual Shown shown() const = 0;
  virtual void drop(const Status& /*fault*/) {}
  // Waits for another stream instead of working: nothing that a process exit must let finish.
  virtual bool only_waits() const { return false; }
};

enum class AfterFault { stop_stream, stop_context, carry_on };

class Stream : public std::enable_shared_from_this<Stream> {
 public:
  Stream(std::shared_ptr<Context> context, uint32_t priority, uint32_t flags);

  // Refuses when the stream has stopped; `task` has been dropped then.
  Status enqueue(std::unique_ptr<Task> task);

  // Waits for what was enqueued before the call. Reports the fault that stopped the stream, or
  // once a refused launch. `timeout_ms` may be kForever.
  Status synchronize(int32_t timeout_ms);

  bool busy() const;
  Status fault() const;
  void remember_refusal(const Status& refusal);
  void set_after_fault(AfterFault mode);

  // Ends the stream: waits for its work, or drops what has not started yet.
  void close(bool drop_queued);

  // Which thread runs the callbacks of this stream.
  Status subscribe(std::shared_ptr<ReportQueue> queue);
  Status unsubscribe(uint64_t thread);
  bool is_subscribed() const;
  // False when no thread runs the stream's callbacks any more.
  bool hand_over(const Callback& callback);

  CoreLimits& core_limits() { return core_limits_; }
  const CoreLimits& core_limits() const { return core_limits_; }

  bool on_worker_thread() const;
  Context& context() const { return *context_; }
  int32_t id() const { return id_; }
  uint32_t priority() const { return priority_; }
  uint32_t flags() const { return flags_; }

 private:
  Status start_worker();
  void work();
  bool wait_for_work(std::unique_lock<std::mutex>& lock);
  Status run_or_drop(Task& task, uint64_t number, bool dropped);
  Status fault_locked() const;
  Status stopped_locked() const;
  void end_subscription();

  const std::shared_ptr<Context> context_;
  const int32_t id_;
  const uint32_t priority_;
  const uint32_t flags_;

  mutable std::mutex mutex_;
  std::condition_variable has_work_;
  std::condition_variable has_progress_;
  std::deque<std::unique_ptr<Task>> queue_;
  // Written with the mutex held.
  std::atomic<uint64_t> submitted_{0};
  std::atomic<uint64_t> completed_{0};
  bool worker_started_ = false;
  bool worker_idle_ = false;
  bool closing_ = false;
  bool dropping_ = false;
  uint32_t waiters_ = 0;
  std::atomic<std::thread::id> worker_{};
  AfterFault after_fault_ = AfterFault::stop_stream;
  Status fault_;
  Status refusal_;
  std::shared_ptr<ReportQueue> reports_;
  CoreLimits core_limits_;
};

}  // namespace hostcann
