// SPDX-License-Identifier: Apache-2.0
#include "callback.h"

#include <chrono>
#include <map>

#include "acl/error_codes/rt_error_codes.h"

namespace hostcann {
namespace {

struct Queues {
  std::mutex mutex;
  std::map<uint64_t, std::weak_ptr<ReportQueue>> by_thread;

  static Queues& instance() {
    static auto* const only = new Queues;
    return *only;
  }
};

}  // namespace

ReportQueue::~ReportQueue() {
  for (const Entry& entry : entries_) {
    if (entry.done != nullptr) entry.done->release(Status());
  }
}

std::shared_ptr<ReportQueue> ReportQueue::of_thread(uint64_t thread, bool make) {
  Queues& queues = Queues::instance();
  std::lock_guard lock(queues.mutex);
  const auto found = queues.by_thread.find(thread);
  auto queue = found == queues.by_thread.end() ? nullptr : found->second.lock();
  if (queue == nullptr && make) {
    queue = std::make_shared<ReportQueue>(thread);
    queues.by_thread[thread] = queue;
  }
  return queue;
}

void ReportQueue::push(aclrtCallback function, void* argument, std::shared_ptr<Latch> done) {
  std::lock_guard lock(mutex_);
  entries_.push_back({function, argument, std::move(done)});
  arrived_.notify_one();
}

Status ReportQueue::serve(int32_t timeout_ms) {
  std::unique_lock lock(mutex_);
  const auto arrived = [&] { return !entries_.empty(); };
  if (timeout_ms < 0) {
    arrived_.wait(lock, arrived);
  } else if (!arrived_.wait_for(lock, std::chrono::milliseconds(timeout_ms), arrived)) {
    return refuse(ACL_ERROR_RT_REPORT_TIMEOUT, "no callback arrived within %d ms", timeout_ms);
  }
  while (!entries_.empty()) {
    const Entry entry = std::move(entries_.front());
    entries_.pop_front();
    lock.unlock();
    entry.function(entry.argument);
    if (entry.done != nullptr) entry.done->release(Status());
    lock.lock();
  }
  return {};
}

Status CallbackTask::run() {
  const auto done = blocks_ ? std::make_shared<Latch>() : nullptr;
  queue_->push(function_, argument_, done);
  // Not kept while waiting: when the last subscription ends, nobody will run what is left.
  queue_.reset();
  return done == nullptr ? Status() : done->wait();
}

}  // namespace hostcann
