// SPDX-License-Identifier: Apache-2.0
// Events.
#include "acl/acl_rt.h"
#include "acl/error_codes/rt_error_codes.h"
#include "device.h"
#include "entry.h"
#include "event.h"
#include "handle_table.h"

using namespace hostcann;

namespace {

HandleTable<Event>& events() {
  static auto* const table = new HandleTable<Event>('E');
  return *table;
}

Status find_event(void* handle, std::shared_ptr<Event>* event) {
  if (Status status = usable(); !status.ok()) return status;
  *event = events().find(handle);
  if (*event != nullptr) return {};
  return refuse(ACL_ERROR_RT_PARAM_INVALID,
                "%p is not a live event; it was destroyed, or never came from aclrtCreateEvent",
                handle);
}

aclError create(const char* function, aclrtEvent* event, uint32_t flags) {
  constexpr uint32_t kKnown = ACL_EVENT_SYNC | ACL_EVENT_CAPTURE_STREAM_PROGRESS |
                              ACL_EVENT_TIME_LINE | ACL_EVENT_DEVICE_USE_ONLY | ACL_EVENT_EXTERNAL;
  // 0x4 has no name but is part of the default 0xe that torch_npu falls back to.
  constexpr uint32_t kUnnamed = 0x4;
  if ((flags & ~(kKnown | kUnnamed)) != 0) {
    return report(function, refuse(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                                   "argument 'flag': event flags 0x%x are not implemented (0x40 "
                                   "would share the event between processes)",
                                   flags & ~(kKnown | kUnnamed)));
  }
  std::shared_ptr<Context> context;
  const Status status = current_context(&context);
  if (!status.ok()) return report(function, status);
  *event = events().insert(std::make_shared<Event>(flags));
  return ACL_SUCCESS;
}

}  // namespace

HOSTCANN_API aclError aclrtCreateEvent(aclrtEvent* event) {
  HOSTCANN_REQUIRE_NOT_NULL(event);
  *event = nullptr;
  HOSTCANN_ENTER();
  return create(__func__, event, ACL_EVENT_SYNC | ACL_EVENT_TIME_LINE);
}

HOSTCANN_API aclError aclrtCreateEventWithFlag(aclrtEvent* event, uint32_t flag) {
  HOSTCANN_REQUIRE_NOT_NULL(event);
  *event = nullptr;
  HOSTCANN_ENTER();
  return create(__func__, event, flag);
}

HOSTCANN_API aclError aclrtCreateEventExWithFlag(aclrtEvent* event, uint32_t flag) {
  HOSTCANN_REQUIRE_NOT_NULL(event);
  *event = nullptr;
  HOSTCANN_ENTER();
  return create(__func__, event, flag);
}

HOSTCANN_API aclError aclrtDestroyEvent(aclrtEvent event) {
  HOSTCANN_ENTER();
  std::shared_ptr<Event> found;
  HOSTCANN_RETURN_IF_FAILED(find_event(event, &found));
  events().remove(event);
  return ACL_SUCCESS;
}

HOSTCANN_API aclError aclrtRecordEvent(aclrtEvent event, aclrtStream stream) {
  HOSTCANN_ENTER();
  std::shared_ptr<Event> found;
  HOSTCANN_RETURN_IF_FAILED(find_event(event, &found));
  std::shared_ptr<Stream> on;
  HOSTCANN_RETURN_IF_FAILED(find_own_stream(stream, &on));
  return report(__func__, found->record_on(found, *on));
}

HOSTCANN_API aclError aclrtResetEvent(aclrtEvent event, aclrtStream stream) {
  HOSTCANN_ENTER();
  std::shared_ptr<Event> found;
  HOSTCANN_RETURN_IF_FAILED(find_event(event, &found));
  std::shared_ptr<Stream> on;
  HOSTCANN_RETURN_IF_FAILED(find_own_stream(stream, &on));
  return report(__func__, found->reset_on(found, *on));
}

HOSTCANN_API aclError aclrtStreamWaitEvent(aclrtStream stream, aclrtEvent event) {
  HOSTCANN_ENTER();
  std::shared_ptr<Event> found;
  HOSTCANN_RETURN_IF_FAILED(find_event(event, &found));
  std::shared_ptr<Stream> on;
  HOSTCANN_RETURN_IF_FAILED(find_own_stream(stream, &on));
  return report(__func__, found->make_wait(found, *on));
}

HOSTCANN_API aclError aclrtSynchronizeEvent(aclrtEvent event) {
  HOSTCANN_ENTER();
  std::shared_ptr<Event> found;
  HOSTCANN_RETURN_IF_FAILED(find_event(event, &found));
  return report_fault(__func__, found->synchronize(kForever));
}

HOSTCANN_API aclError aclrtSynchronizeEventWithTimeout(aclrtEvent event, int32_t timeout) {
  HOSTCANN_ENTER();
  std::shared_ptr<Event> found;
  HOSTCANN_RETURN_IF_FAILED(find_event(event, &found));
  return report_fault(__func__, found->synchronize(timeout));
}

// Here COMPLETE is 0; in aclrtQueryEventStatus it is 1.
HOSTCANN_API aclError aclrtQueryEvent(aclrtEvent event, aclrtEventStatus* status) {
  HOSTCANN_REQUIRE_NOT_NULL(status);
  *status = ACL_EVENT_STATUS_RESERVED;
  HOSTCANN_ENTER();
  std::shared_ptr<Event> found;
  HOSTCANN_RETURN_IF_FAILED(find_event(event, &found));
  *status = found->complete() ? ACL_EVENT_STATUS_COMPLETE : ACL_EVENT_STATUS_NOT_READY;
  return ACL_SUCCESS;
}

HOSTCANN_API aclError aclrtQueryEventStatus(aclrtEvent event, aclrtEventRecordedStatus* status) {
  HOSTCANN_REQUIRE_NOT_NULL(status);
  *status = ACL_EVENT_RECORDED_STATUS_NOT_READY;
  HOSTCANN_ENTER();
  std::shared_ptr<Event> found;
  HOSTCANN_RETURN_IF_FAILED(find_event(event, &found));
  if (found->complete()) *status = ACL_EVENT_RECORDED_STATUS_COMPLETE;
  return ACL_SUCCESS;
}

HOSTCANN_API aclError aclrtQueryEventWaitStatus(aclrtEvent event, aclrtEventWaitStatus* status) {
  HOSTCANN_REQUIRE_NOT_NULL(status);
  *status = ACL_EVENT_WAIT_STATUS_RESERVED;
  HOSTCANN_ENTER();
  std::shared_ptr<Event> found;
  HOSTCANN_RETURN_IF_FAILED(find_event(event, &found));
  *status =
      found->waits_complete() ? ACL_EVENT_WAIT_STATUS_COMPLETE : ACL_EVENT_WAIT_STATUS_NOT_READY;
  return ACL_SUCCESS;
}

HOSTCANN_API aclError aclrtEventElapsedTime(float* ms, aclrtEvent startEvent, aclrtEvent endEvent) {
  HOSTCANN_REQUIRE_NOT_NULL(ms);
  *ms = 0.0F;
  HOSTCANN_ENTER();
  std::shared_ptr<Event> start;
  std::shared_ptr<Event> end;
  HOSTCANN_RETURN_IF_FAILED(find_event(startEvent, &start));
  HOSTCANN_RETURN_IF_FAILED(find_event(endEvent, &end));
  uint64_t from = 0;
  uint64_t to = 0;
  HOSTCANN_RETURN_IF_FAILED(start->timestamp_ns(&from));
  HOSTCANN_RETURN_IF_FAILED(end->timestamp_ns(&to));
  if (to < from) {
    return report(__func__, refuse(ACL_ERROR_RT_EVENT_TIMESTAMP_REVERSAL,
                                   "event %u, the end, was reached before event %u, the start; "
                                   "swap the arguments",
                                   end->id(), start->id()));
  }
  *ms = static_cast<float>(static_cast<double>(to - from) / 1e6);
  return ACL_SUCCESS;
}

HOSTCANN_API aclError aclrtEventGetTimestamp(aclrtEvent event, uint64_t* timestamp) {
  HOSTCANN_REQUIRE_NOT_NULL(timestamp);
  *timestamp = 0;
  HOSTCANN_ENTER();
  std::shared_ptr<Event> found;
  HOSTCANN_RETURN_IF_FAILED(find_event(event, &found));
  uint64_t when_ns = 0;
  HOSTCANN_RETURN_IF_FAILED(found->timestamp_ns(&when_ns));
  *timestamp = when_ns / 1000;
  return ACL_SUCCESS;
}

HOSTCANN_API aclError aclrtGetEventId(aclrtEvent event, uint32_t* eventId) {
  HOSTCANN_REQUIRE_NOT_NULL(eventId);
  *eventId = 0;
  HOSTCANN_ENTER();
  std::shared_ptr<Event> found;
  HOSTCANN_RETURN_IF_FAILED(find_event(event, &found));
  *eventId = found->id();
  return ACL_SUCCESS;
}
