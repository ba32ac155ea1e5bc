// SPDX-License-Identifier: Apache-2.0
#include "callback.h"

#include <algorithm>
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

void ReportQueue::push(const Callback& callback) {
  std::lock_guard lock(mutex_);
  waiting_.push_back(callback);
  arrived_.notify_one();
}

void ReportQueue::forget(int32_t stream) {
  std::lock_guard lock(mutex_);
  const auto dropped = [&](const Callback& one) {
    if (one.stream != stream) return false;
    if (one.done != nullptr) one.done->release(Status());
    return true;
  };
  waiting_.erase(std::remove_if(waiting_.begin(), waiting_.end(), dropped), waiting_.end());
}

Status ReportQueue::serve(int32_t timeout_ms) {
  std::unique_lock lock(mutex_);
  const auto arrived = [&] { return !waiting_.empty(); };
  if (timeout_ms < 0) {
    arrived_.wait(lock, arrived);
  } else if (!arrived_.wait_for(lock, std::chrono::milliseconds(timeout_ms), arrived)) {
    return refuse(ACL_ERROR_RT_REPORT_TIMEOUT, "no callback arrived within %d ms", timeout_ms);
  }
  while (!waiting_.empty()) {
    const Callback callback = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    callback.function(callback.argument);
    if (callback.done != nullptr) callback.done->release(Status());
    lock.lock();
  }
  return {};
}

Status CallbackTask::run() {
  const auto done = blocks_ ? std::make_shared<Latch>() : nullptr;
  const bool taken = stream_.hand_over({stream_.id(), function_, argument_, done});
  return taken && done != nullptr ? done->wait() : Status();
}

}  // namespace hostcann
