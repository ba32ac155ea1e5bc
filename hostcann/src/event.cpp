// SPDX-License-Identifier: Apache-2.0
#include "event.h"

#include <algorithm>
#include <atomic>
#include <chrono>

#include "acl/acl_rt.h"
#include "acl/error_codes/rt_error_codes.h"
#include "stream.h"

namespace hostcann {
namespace {

std::atomic<uint32_t> next_id{1};
std::atomic<uint32_t> wait_timeout_s{0};

uint64_t now_ns() {
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                   std::chrono::steady_clock::now().time_since_epoch())
                                   .count());
}

}  // namespace

void set_wait_timeout(uint32_t seconds) { wait_timeout_s.store(seconds); }

class RecordTask : public Task {
 public:
  RecordTask(std::shared_ptr<Event> event, uint64_t record)
      : event_(std::move(event)), record_(record) {}
  Shown shown() const override { return {"record event", "event", event_->id_}; }
  Status run() override {
    event_->reached(record_, Status());
    return {};
  }
  // Whoever waits for the event must not wait for a stream that has stopped.
  void drop(const Status& fault) override { event_->reached(record_, fault); }

 private:
  const std::shared_ptr<Event> event_;
  const uint64_t record_;
};

class WaitTask : public Task {
 public:
  WaitTask(std::shared_ptr<Event> event, uint64_t record)
      : event_(std::move(event)), record_(record) {}
  Shown shown() const override { return {"wait for event", "event", event_->id_}; }
  Status run() override {
    const auto limit = std::chrono::seconds(wait_timeout_s.load());
    std::unique_lock lock(event_->mutex_);
    const auto reached = [&] { return event_->reached_ >= record_; };
    bool in_time = true;
    if (limit.count() == 0) {
      event_->changed_.wait(lock, reached);
    } else {
      in_time = event_->changed_.wait_for(lock, limit, reached);
    }
    --event_->open_waits_;
    if (in_time) return {};
    return refuse(ACL_ERROR_RT_WAIT_TIMEOUT,
                  "event %u was not reached within the %lld s that aclrtSetOpWaitTimeout allows",
                  event_->id_, static_cast<long long>(limit.count()));
  }
  void drop(const Status& /*fault*/) override {
    std::lock_guard lock(event_->mutex_);
    --event_->open_waits_;
  }
  bool only_waits() const override { return true; }

 private:
  const std::shared_ptr<Event> event_;
  const uint64_t record_;
};

class ResetTask : public Task {
 public:
  ResetTask(std::shared_ptr<Event> event, uint64_t record)
      : event_(std::move(event)), record_(record) {}
  Shown shown() const override { return {"reset event", "event", event_->id_}; }
  Status run() override {
    std::lock_guard lock(event_->mutex_);
    event_->forgotten_ = std::max(event_->forgotten_, record_);
    return {};
  }

 private:
  const std::shared_ptr<Event> event_;
  const uint64_t record_;
};

Event::Event(uint32_t flags) : id_(next_id.fetch_add(1)), flags_(flags) {}

void Event::reached(uint64_t record, const Status& fault) {
  const uint64_t when = now_ns();
  std::lock_guard lock(mutex_);
  if (record < reached_) return;
  reached_ = record;
  when_ns_ = when;
  fault_ = fault;
  changed_.notify_all();
}

Status Event::record_on(const std::shared_ptr<Event>& self, Stream& stream) {
  uint64_t record;
  {
    std::lock_guard lock(mutex_);
    record = ++issued_;
  }
  Status status = stream.enqueue(std::make_unique<RecordTask>(self, record));
  // A stopped stream drops the record into the event, where it is reported: destructors in
  // torch_npu record events and cannot bear an error.
  return stream.fault().ok() ? status : Status();
}

Status Event::make_wait(const std::shared_ptr<Event>& self, Stream& stream) {
  uint64_t record;
  {
    std::lock_guard lock(mutex_);
    if (reached_ >= issued_) return {};
    record = issued_;
    ++open_waits_;
  }
  Status status = stream.enqueue(std::make_unique<WaitTask>(self, record));
  return stream.fault().ok() ? status : Status();
}

Status Event::reset_on(const std::shared_ptr<Event>& self, Stream& stream) {
  uint64_t record;
  {
    std::lock_guard lock(mutex_);
    record = issued_;
  }
  return stream.enqueue(std::make_unique<ResetTask>(self, record));
}

bool Event::complete() const {
  std::lock_guard lock(mutex_);
  return reached_ >= issued_;
}

bool Event::waits_complete() const {
  std::lock_guard lock(mutex_);
  return open_waits_ == 0;
}

Status Event::synchronize(int32_t timeout_ms) {
  std::unique_lock lock(mutex_);
  const uint64_t target = issued_;
  const auto reached = [&] { return reached_ >= target; };
  if (timeout_ms < 0) {
    changed_.wait(lock, reached);
  } else if (!changed_.wait_for(lock, std::chrono::milliseconds(timeout_ms), reached)) {
    return refuse(ACL_ERROR_RT_EVENT_SYNC_TIMEOUT, "event %u was not reached within %d ms", id_,
                  timeout_ms);
  }
  return fault_;
}

Status Event::timestamp_ns(uint64_t* when) const {
  std::lock_guard lock(mutex_);
  if ((flags_ & ACL_EVENT_TIME_LINE) == 0) {
    return refuse(ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID,
                  "event %u has no time stamp; create it with the flag ACL_EVENT_TIME_LINE", id_);
  }
  if (issued_ == forgotten_) {
    return refuse(ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID, "event %u has not been recorded", id_);
  }
  if (reached_ < issued_) {
    return refuse(ACL_ERROR_RT_EVENT_NOT_COMPLETE,
                  "event %u has been recorded but not reached; synchronise it first", id_);
  }
  *when = when_ns_;
  return {};
}

}  // namespace hostcann
