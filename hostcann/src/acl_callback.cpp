// SPDX-License-Identifier: Apache-2.0
// Callbacks that a thread of the user runs.
#include <pthread.h>

#include "acl/acl_rt.h"
#include "acl/error_codes/rt_error_codes.h"
#include "callback.h"
#include "device.h"
#include "entry.h"

using namespace hostcann;

HOSTCANN_API aclError aclrtSubscribeReport(uint64_t threadId, aclrtStream stream) {
  HOSTCANN_ENTER();
  std::shared_ptr<Stream> found;
  HOSTCANN_RETURN_IF_FAILED(find_stream(stream, &found));
  return report(__func__, found->subscribe(ReportQueue::of_thread(threadId, true)));
}

HOSTCANN_API aclError aclrtUnSubscribeReport(uint64_t threadId, aclrtStream stream) {
  HOSTCANN_ENTER();
  std::shared_ptr<Stream> found;
  HOSTCANN_RETURN_IF_FAILED(find_stream(stream, &found));
  return report(__func__, found->unsubscribe(threadId));
}

HOSTCANN_API aclError aclrtLaunchCallback(aclrtCallback fn, void* userData,
                                          aclrtCallbackBlockType blockType, aclrtStream stream) {
  HOSTCANN_REQUIRE_NOT_NULL(fn);
  HOSTCANN_ENTER();
  if (blockType != ACL_CALLBACK_NO_BLOCK && blockType != ACL_CALLBACK_BLOCK) {
    return report(__func__, refuse(ACL_ERROR_RT_PARAM_INVALID,
                                   "argument 'blockType': expected 0 (no block) or 1 (block), got "
                                   "%d",
                                   static_cast<int>(blockType)));
  }
  std::shared_ptr<Stream> found;
  HOSTCANN_RETURN_IF_FAILED(find_own_stream(stream, &found));
  if (!found->is_subscribed()) {
    return report(__func__, refuse(ACL_ERROR_RT_STREAM_NO_CB_REG,
                                   "no thread runs the callbacks of stream %d; call "
                                   "aclrtSubscribeReport first",
                                   found->id()));
  }
  return report(__func__, found->enqueue(std::make_unique<CallbackTask>(
                              *found, fn, userData, blockType == ACL_CALLBACK_BLOCK)));
}

HOSTCANN_API aclError aclrtProcessReport(int32_t timeout) {
  HOSTCANN_ENTER();
  HOSTCANN_RETURN_IF_FAILED(usable());
  const auto queue = ReportQueue::of_thread(pthread_self(), false);
  if (queue == nullptr) {
    return report(__func__, refuse(ACL_ERROR_RT_THREAD_SUBSCRIBE,
                                   "this thread is subscribed to no stream; call "
                                   "aclrtSubscribeReport with its id first"));
  }
  return report(__func__, queue->serve(timeout));
}
