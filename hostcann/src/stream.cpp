// SPDX-License-Identifier: Apache-2.0
#include "stream.h"

#include <pthread.h>
#include <signal.h>

#include <chrono>
#include <cstdlib>
#include <optional>
#include <system_error>

#include "acl/error_codes/rt_error_codes.h"
#include "callback.h"
#include "config.h"
#include "device.h"
#include "schedule.h"

namespace hostcann {
namespace {

// As on the device, a stream that is this far behind makes whoever enqueues wait.
constexpr size_t kDepth = 1024;

// A worker that has had nothing to do for this long ends; the next task starts another.
constexpr auto kIdlePatience = std::chrono::milliseconds(100);

constexpr auto kExitPatience = std::chrono::seconds(1);

// A thread that sleeps takes longer to wake than a short kernel takes to run, most of all where its
// processor sleeps as well. So what follows within this time finds both sides awake.
constexpr auto kAwake = std::chrono::microseconds(50);

template <typename Condition>
void stay_awake_until(Condition condition) {
  const auto end = std::chrono::steady_clock::now() + kAwake;
  while (!condition() && std::chrono::steady_clock::now() < end) std::this_thread::yield();
}

// Workers are detached: a kernel that never returns must not keep a process from exiting. At
// exit what runs gets a moment to leave code and data of libraries that are about to be torn
// down, and what is queued is dropped, so that a static destructor may still synchronise.
struct ExitGate {
  std::mutex mutex;
  std::condition_variable changed;
  std::atomic<int> running{0};
  std::atomic<bool> exiting{false};

  static ExitGate& instance() {
    static auto* const only = new ExitGate;
    return *only;
  }

  bool enter() {
    running.fetch_add(1);
    if (!exiting.load()) return true;
    leave();
    return false;
  }

  void leave() {
    if (running.fetch_sub(1) == 1 && exiting.load()) {
      std::lock_guard lock(mutex);
      changed.notify_all();
    }
  }

  static void close() {
    if (forked()) return;
    ExitGate& gate = instance();
    gate.exiting.store(true);
    std::unique_lock lock(gate.mutex);
    gate.changed.wait_for(lock, kExitPatience, [&] { return gate.running.load() == 0; });
  }
};

std::atomic<int32_t> next_id{0};

}  // namespace

Stream::Stream(std::shared_ptr<Context> context, uint32_t priority, uint32_t flags)
    : context_(std::move(context)), id_(next_id.fetch_add(1)), priority_(priority), flags_(flags) {}

Status Stream::fault_locked() const { return fault_.ok() ? context_->fault() : fault_; }

Status Stream::stopped_locked() const {
  if (after_fault_ == AfterFault::carry_on) return {};
  return fault_locked();
}

Status Stream::start_worker() {
  static const int registered = std::atexit(&ExitGate::close);
  static_cast<void>(registered);
  // Signals belong to the program's own threads (Python's Ctrl-C, for one), but for those that
  // come of what the worker itself does.
  sigset_t blocked, before;
  sigfillset(&blocked);
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) sigdelset(&blocked, signal);
  pthread_sigmask(SIG_SETMASK, &blocked, &before);
  Status status;
  try {
    std::thread([self = shared_from_this()] { self->work(); }).detach();
    worker_started_ = true;
  } catch (const std::system_error& error) {
    status = refuse(ACL_ERROR_RT_NO_STREAM_RESOURCE,
                    "cannot start a thread for stream %d: %s; use fewer streams at a time", id_,
                    error.what());
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return status;
}

Status Stream::enqueue(std::unique_ptr<Task> task) {
  std::unique_lock lock(mutex_);
  if (config().adversarial()) {
    const uint64_t number = submitted_;
    lock.unlock();
    delay_call(id_, number);
    lock.lock();
  }
  if (queue_.size() >= kDepth && !on_worker_thread()) {
    ++waiters_;
    has_progress_.wait(lock, [&] { return queue_.size() <= kDepth / 2; });
    --waiters_;
  }
  Status refusal = stopped_locked();
  if (!refusal.ok()) {
    refusal = refuse(refusal.code(), "stream %d has stopped and takes no more tasks: %s", id_,
                     refusal.why().c_str());
  } else if (closing_) {
    refusal = refuse(ACL_ERROR_RT_STREAM_CONTEXT, "stream %d is being destroyed", id_);
  }
  if (refusal.ok() && !worker_started_) refusal = start_worker();
  if (!refusal.ok()) {
    lock.unlock();
    task->drop(refusal);
    return refusal;
  }
  queue_.push_back(std::move(task));
  ++submitted_;
  const bool wake = worker_idle_;
  lock.unlock();
  if (wake) has_work_.notify_one();
  return {};
}

Status Stream::run_or_drop(Task& task, uint64_t number, bool dropped) {
  if (dropped) {
    task.drop(Status(ACL_ERROR_RT_STREAM_ABORT, "the stream was stopped before this task"));
    return {};
  }
  delay_task(id_, number);
  std::optional<Span> span;
  if (tracing()) span.emplace(context_->device(), id_, task.shown());
  if (task.only_waits()) return task.run();
  ExitGate& gate = ExitGate::instance();
  if (!gate.enter()) {
    task.drop(Status(ACL_ERROR_RT_STREAM_ABORT, "the process is exiting"));
    return {};
  }
  Status outcome;
  try {
    outcome = task.run();
  } catch (const std::exception& error) {
    outcome = refuse(ACL_ERROR_RT_INTERNAL_ERROR, "a task on stream %d threw an exception: %s", id_,
                     error.what());
  }
  gate.leave();
  return outcome;
}

// False when the worker shall end.
bool Stream::wait_for_work(std::unique_lock<std::mutex>& lock) {
  if (queue_.empty() && !closing_) {
    lock.unlock();
    stay_awake_until([&] { return submitted_ != completed_; });
    lock.lock();
  }
  worker_idle_ = true;
  has_work_.wait_for(lock, kIdlePatience, [&] { return closing_ || !queue_.empty(); });
  worker_idle_ = false;
  if (!queue_.empty()) return true;
  worker_started_ = false;
  worker_.store(std::thread::id());
  return false;
}

void Stream::work() {
  worker_.store(std::this_thread::get_id());
  char name[16];
  std::snprintf(name, sizeof name, "npu%u-stream%d", context_->device(), id_);
  pthread_setname_np(pthread_self(), name);
  make_current(context_->handle());

  std::unique_lock lock(mutex_);
  while (wait_for_work(lock)) {
    std::unique_ptr<Task> task = std::move(queue_.front());
    queue_.pop_front();
    const bool dropped = dropping_ || !stopped_locked().ok();
    const AfterFault after_fault = after_fault_;
    const uint64_t number = completed_;
    lock.unlock();
    Status outcome = run_or_drop(*task, number, dropped);
    // Before the task counts as complete: whoever synchronises may rely on a launch's closure
    // being gone.
    task.reset();
    if (!outcome.ok() && after_fault == AfterFault::stop_context) context_->stop(outcome);
    lock.lock();
    if (!outcome.ok() && fault_.ok()) fault_ = std::move(outcome);
    ++completed_;
    if (waiters_ > 0) has_progress_.notify_all();
  }
}

Status Stream::synchronize(int32_t timeout_ms) {
  if (on_worker_thread()) {
    return refuse(ACL_ERROR_RT_PARAM_INVALID,
                  "stream %d cannot wait for itself from its own host function", id_);
  }
  const uint64_t target = submitted_;
  const auto reached = [&] { return completed_ >= target; };
  stay_awake_until(reached);
  std::unique_lock lock(mutex_);
  if (timeout_ms < 0 && ExitGate::instance().exiting.load()) {
    timeout_ms = static_cast<int32_t>(std::chrono::milliseconds(kExitPatience).count());
  }
  ++waiters_;
  bool finished = true;
  if (timeout_ms < 0) {
    has_progress_.wait(lock, reached);
  } else {
    finished = has_progress_.wait_for(lock, std::chrono::milliseconds(timeout_ms), reached);
  }
  --waiters_;
  if (!finished) {
    return refuse(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT,
                  "stream %d still had %llu tasks to do after %d ms", id_,
                  static_cast<unsigned long long>(target - completed_), timeout_ms);
  }
  Status fault = fault_locked();
  if (!fault.ok()) {
    if (after_fault_ == AfterFault::carry_on) fault_ = Status();
    return fault;
  }
  Status refused = std::exchange(refusal_, Status());
  return refused.ok() ? context_->take_refusal() : refused;
}

bool Stream::busy() const {
  std::lock_guard lock(mutex_);
  return completed_ != submitted_;
}

Status Stream::fault() const {
  std::lock_guard lock(mutex_);
  return fault_locked();
}

void Stream::remember_refusal(const Status& refusal) {
  std::lock_guard lock(mutex_);
  if (refusal_.ok()) refusal_ = refusal;
}

void Stream::set_after_fault(AfterFault mode) {
  std::lock_guard lock(mutex_);
  after_fault_ = mode;
}

void Stream::close(bool drop_queued) {
  std::unique_lock lock(mutex_);
  closing_ = true;
  dropping_ = drop_queued;
  if (!drop_queued && !on_worker_thread()) {
    ++waiters_;
    has_progress_.wait(lock, [&] { return completed_ == submitted_; });
    --waiters_;
  }
  end_subscription();
  has_work_.notify_all();
}

Status Stream::subscribe(std::shared_ptr<ReportQueue> queue) {
  std::lock_guard lock(mutex_);
  if (reports_ != nullptr) {
    return refuse(ACL_ERROR_RT_STREAM_SUBSCRIBE,
                  "stream %d already has thread %llu for its callbacks; call "
                  "aclrtUnSubscribeReport first",
                  id_, static_cast<unsigned long long>(reports_->thread()));
  }
  reports_ = std::move(queue);
  return {};
}

Status Stream::unsubscribe(uint64_t thread) {
  std::lock_guard lock(mutex_);
  if (reports_ == nullptr || reports_->thread() != thread) {
    return refuse(ACL_ERROR_RT_THREAD_SUBSCRIBE,
                  "thread %llu does not run the callbacks of stream %d; nothing to cancel",
                  static_cast<unsigned long long>(thread), id_);
  }
  end_subscription();
  return {};
}

void Stream::end_subscription() {
  if (reports_ != nullptr) reports_->forget(id_);
  reports_.reset();
}

bool Stream::is_subscribed() const {
  std::lock_guard lock(mutex_);
  return reports_ != nullptr;
}

bool Stream::hand_over(const Callback& callback) {
  std::lock_guard lock(mutex_);
  if (reports_ == nullptr) return false;
  reports_->push(callback);
  return true;
}

bool Stream::on_worker_thread() const { return worker_.load() == std::this_thread::get_id(); }

}  // namespace hostcann
