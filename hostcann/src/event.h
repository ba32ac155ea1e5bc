// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>

#include "error.h"

namespace hostcann {

class Stream;

// How long aclrtStreamWaitEvent may hold a stream; 0: for ever.
void set_wait_timeout(uint32_t seconds);

// Every record gets a number when it is enqueued. An event is complete when its newest record
// has been reached, which makes recording it again without a reset well defined.
class Event {
 public:
  explicit Event(uint32_t flags);

  Status record_on(const std::shared_ptr<Event>& self, Stream& stream);
  Status make_wait(const std::shared_ptr<Event>& self, Stream& stream);
  Status reset_on(const std::shared_ptr<Event>& self, Stream& stream);

  bool complete() const;
  bool waits_complete() const;
  Status synchronize(int32_t timeout_ms);
  Status timestamp_ns(uint64_t* when) const;

  uint32_t id() const { return id_; }

 private:
  friend class RecordTask;
  friend class WaitTask;
  friend class ResetTask;
  void reached(uint64_t record, const Status& fault);

  const uint32_t id_;
  const uint32_t flags_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  uint64_t issued_ = 0;
  uint64_t reached_ = 0;
  uint64_t forgotten_ = 0;  // records up to this one were undone by a reset
  uint64_t when_ns_ = 0;
  uint32_t open_waits_ = 0;
  Status fault_;
};

}  // namespace hostcann
