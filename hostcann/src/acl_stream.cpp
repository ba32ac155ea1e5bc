// SPDX-License-Identifier: Apache-2.0
// Streams and host functions.
#include "acl/acl_rt.h"
#include "acl/error_codes/rt_error_codes.h"
#include "device.h"
#include "entry.h"

using namespace hostcann;

namespace {

// Lower is more urgent in CANN. Every stream has a thread of its own here, so none waits for
// another and the number is only kept.
constexpr uint32_t kLeastUrgent = 7;

class HostFunctionTask : public Task {
 public:
  HostFunctionTask(aclrtHostFunc function, void* argument)
      : function_(function), argument_(argument) {}
  Shown shown() const override { return {"host function"}; }
  Status run() override {
    function_(argument_);
    return {};
  }

 private:
  const aclrtHostFunc function_;
  void* const argument_;
};

aclError create(const char* function, aclrtStream* stream, uint32_t priority, uint32_t flags) {
  if (priority > kLeastUrgent) {
    return report(function,
                  refuse(ACL_ERROR_RT_PARAM_INVALID,
                         "argument 'priority': expected 0 to %u, got %u", kLeastUrgent, priority));
  }
  constexpr uint32_t kHints = ACL_STREAM_FAST_LAUNCH | ACL_STREAM_FAST_SYNC | ACL_STREAM_HUGE;
  if ((flags & ~kHints) != 0) {
    return report(function, refuse(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                                   "argument 'flag': hostcann knows 0x1 (fast launch), 0x2 (fast "
                                   "synchronise) and 0x8 (huge), got 0x%x",
                                   flags));
  }
  return report(function, create_stream(priority, flags, stream));
}

aclError synchronize(const char* function, aclrtStream stream, int32_t timeout_ms) {
  std::shared_ptr<Stream> found;
  Status status = find_stream(stream, &found);
  if (!status.ok()) return report(function, status);
  return report_fault(function, found->synchronize(timeout_ms));
}

}  // namespace

HOSTCANN_API aclError aclrtCreateStream(aclrtStream* stream) {
  HOSTCANN_REQUIRE_NOT_NULL(stream);
  *stream = nullptr;
  HOSTCANN_ENTER();
  return create(__func__, stream, 0, 0);
}

HOSTCANN_API aclError aclrtCreateStreamWithConfig(aclrtStream* stream, uint32_t priority,
                                                  uint32_t flag) {
  HOSTCANN_REQUIRE_NOT_NULL(stream);
  *stream = nullptr;
  HOSTCANN_ENTER();
  return create(__func__, stream, priority, flag);
}

HOSTCANN_API aclError aclrtDestroyStream(aclrtStream stream) {
  HOSTCANN_ENTER();
  return report(__func__, destroy_stream(stream, false));
}

HOSTCANN_API aclError aclrtDestroyStreamForce(aclrtStream stream) {
  HOSTCANN_ENTER();
  return report(__func__, destroy_stream(stream, true));
}

HOSTCANN_API aclError aclrtSynchronizeStream(aclrtStream stream) {
  HOSTCANN_ENTER();
  return synchronize(__func__, stream, kForever);
}

HOSTCANN_API aclError aclrtSynchronizeStreamWithTimeout(aclrtStream stream, int32_t timeout) {
  HOSTCANN_ENTER();
  return synchronize(__func__, stream, timeout);
}

HOSTCANN_API aclError aclrtStreamQuery(aclrtStream stream, aclrtStreamStatus* status) {
  HOSTCANN_REQUIRE_NOT_NULL(status);
  *status = ACL_STREAM_STATUS_RESERVED;
  HOSTCANN_ENTER();
  std::shared_ptr<Stream> found;
  HOSTCANN_RETURN_IF_FAILED(find_stream(stream, &found));
  *status = found->busy() ? ACL_STREAM_STATUS_NOT_READY : ACL_STREAM_STATUS_COMPLETE;
  return report_fault(__func__, found->fault());
}

HOSTCANN_API aclError aclrtSetStreamFailureMode(aclrtStream stream, uint64_t mode) {
  HOSTCANN_ENTER();
  if (mode != ACL_STOP_ON_FAILURE && mode != ACL_CONTINUE_ON_FAILURE) {
    return report(__func__, refuse(ACL_ERROR_RT_PARAM_INVALID,
                                   "argument 'mode': expected 0 (continue) or 1 (stop), got %llu",
                                   static_cast<unsigned long long>(mode)));
  }
  std::shared_ptr<Stream> found;
  HOSTCANN_RETURN_IF_FAILED(find_stream(stream, &found));
  found->set_after_fault(mode == ACL_STOP_ON_FAILURE ? AfterFault::stop_context
                                                     : AfterFault::carry_on);
  return ACL_SUCCESS;
}

HOSTCANN_API aclError aclrtSetStreamOverflowSwitch(aclrtStream stream, uint32_t flag) {
  HOSTCANN_ENTER();
  std::shared_ptr<Stream> found;
  HOSTCANN_RETURN_IF_FAILED(find_stream(stream, &found));
  if (flag == 0) return ACL_SUCCESS;
  return report(__func__, refuse(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                                 "overflow detection is not implemented; arithmetic follows "
                                 "IEEE 754 with infinities and NaN"));
}

HOSTCANN_API aclError aclrtGetStreamOverflowSwitch(aclrtStream stream, uint32_t* flag) {
  HOSTCANN_REQUIRE_NOT_NULL(flag);
  *flag = 0;
  HOSTCANN_ENTER();
  std::shared_ptr<Stream> found;
  return report(__func__, find_stream(stream, &found));
}

HOSTCANN_API aclError aclrtStreamGetId(aclrtStream stream, int32_t* streamId) {
  HOSTCANN_REQUIRE_NOT_NULL(streamId);
  *streamId = -1;
  HOSTCANN_ENTER();
  std::shared_ptr<Stream> found;
  HOSTCANN_RETURN_IF_FAILED(find_stream(stream, &found));
  *streamId = found->id();
  return ACL_SUCCESS;
}

HOSTCANN_API aclError aclrtStreamGetPriority(aclrtStream stream, uint32_t* priority) {
  HOSTCANN_REQUIRE_NOT_NULL(priority);
  *priority = 0;
  HOSTCANN_ENTER();
  std::shared_ptr<Stream> found;
  HOSTCANN_RETURN_IF_FAILED(find_stream(stream, &found));
  *priority = found->priority();
  return ACL_SUCCESS;
}

HOSTCANN_API aclError aclrtStreamGetFlags(aclrtStream stream, uint32_t* flags) {
  HOSTCANN_REQUIRE_NOT_NULL(flags);
  *flags = 0;
  HOSTCANN_ENTER();
  std::shared_ptr<Stream> found;
  HOSTCANN_RETURN_IF_FAILED(find_stream(stream, &found));
  *flags = found->flags();
  return ACL_SUCCESS;
}

// Nothing is ever captured into a graph: there is no aclmdlRICaptureBegin.
HOSTCANN_API aclError aclmdlRICaptureGetInfo(aclrtStream stream, aclmdlRICaptureStatus* status,
                                             aclmdlRI* modelRI) {
  HOSTCANN_REQUIRE_NOT_NULL(status);
  *status = ACL_MODEL_RI_CAPTURE_STATUS_NONE;
  if (modelRI != nullptr) *modelRI = nullptr;
  HOSTCANN_ENTER();
  std::shared_ptr<Stream> found;
  return report(__func__, find_stream(stream, &found));
}

HOSTCANN_API aclError aclrtLaunchHostFunc(aclrtStream stream, aclrtHostFunc fn, void* args) {
  HOSTCANN_REQUIRE_NOT_NULL(fn);
  HOSTCANN_ENTER();
  std::shared_ptr<Stream> found;
  HOSTCANN_RETURN_IF_FAILED(find_own_stream(stream, &found));
  return report(__func__, found->enqueue(std::make_unique<HostFunctionTask>(fn, args)));
}
