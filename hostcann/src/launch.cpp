// SPDX-License-Identifier: Apache-2.0
#include "hostcann/launch.h"

#include <cstdio>
#include <string>

#include "acl/error_codes/rt_error_codes.h"
#include "block_group.h"
#include "device.h"
#include "device_address.h"
#include "entry.h"

namespace hostcann {
namespace {

class LaunchTask : public Task {
 public:
  explicit LaunchTask(const HostcannLaunch& launch) : launch_(launch) {}
  ~LaunchTask() override {
    if (launch_.destroy != nullptr) launch_.destroy(launch_.closure);
  }

  const HostcannLaunch& launch() const { return launch_; }

  Shown shown() const override { return {launch_.kernel, "blocks", launch_.num_blocks}; }
  Status run() override { return std::make_shared<BlockGroup>(launch_, context_if_any())->run(); }

 private:
  const HostcannLaunch launch_;
};

Status refused(const char* kernel, const Status& reason) {
  return refuse(reason.code(), "launch of kernel '%s' was refused: %s", kernel,
                reason.why().c_str());
}

// `<<<>>>` returns nothing, so the refusal waits for whoever synchronises next.
void remember(void* stream_handle, const Status& refusal) {
  std::shared_ptr<Stream> stream;
  if (find_stream(stream_handle, &stream).ok()) return stream->remember_refusal(refusal);
  if (const auto context = context_if_any()) context->remember_refusal(refusal);
}

Status check(const HostcannLaunch& launch) {
  if (launch.run_block == nullptr) {
    return refuse(ACL_ERROR_RT_PARAM_INVALID, "run_block: expected a function, got a null pointer");
  }
  if (launch.num_blocks < 1 || launch.num_blocks > HOSTCANN_MAX_BLOCKS) {
    return refuse(ACL_ERROR_RT_PARAM_INVALID, "number of blocks: expected 1 to %u, got %u",
                  HOSTCANN_MAX_BLOCKS, launch.num_blocks);
  }
  return {};
}

Status launch_on(std::unique_ptr<LaunchTask> task, void* stream_handle) {
  if (Status status = check(task->launch()); !status.ok()) return status;
  std::shared_ptr<Stream> stream;
  if (Status status = find_own_stream(stream_handle, &stream); !status.ok()) return status;
  return stream->enqueue(std::move(task));
}

Status resolve_for_kernel(const void* address, size_t bytes, DeviceRange* range) {
  Status status = resolve_address(address, bytes, Extent::in_blocks, range);
  if (!status.ok()) return status;
  const auto context = context_if_any();
  if (context == nullptr || peers(context->device(), range->device)) return {};
  return refuse(ACL_ERROR_RT_PARAM_INVALID,
                "address %p is memory of device %u, but the kernel runs on device %u; set the "
                "device that owns the memory, or enable peer access",
                address, range->device, context->device());
}

}  // namespace
}  // namespace hostcann

using namespace hostcann;

HOSTCANN_API int hostcann_launch(const HostcannLaunch* launch, void* stream) {
  HOSTCANN_REQUIRE_NOT_NULL(launch);
  if (launch->abi != HOSTCANN_LAUNCH_ABI) {
    return report(__func__, refuse(ACL_ERROR_RT_PARAM_INVALID,
                                   "launch ABI: expected %u, got %u; rebuild the kernel with this "
                                   "hostcann",
                                   HOSTCANN_LAUNCH_ABI, launch->abi));
  }
  HostcannLaunch copy = *launch;
  if (copy.kernel == nullptr) copy.kernel = "(unnamed)";
  auto task = std::make_unique<LaunchTask>(copy);
  // A planned fault is a refusal like others: the closure goes, and the next synchronise tells.
  const aclError planned = enter(__func__);
  const Status status = planned == ACL_SUCCESS
                            ? launch_on(std::move(task), stream)
                            : refuse(planned, "this call fails because HOSTCANN_FAULT says so");
  if (status.ok()) return ACL_SUCCESS;
  const Status refusal = refused(copy.kernel, status);
  remember(stream, refusal);
  return report(__func__, refusal);
}

HOSTCANN_API int hostcann_refuse_launch(const char* kernel, int code, const char* why,
                                        void* stream) {
  const Status reason(code == ACL_SUCCESS ? ACL_ERROR_RT_PARAM_INVALID : code,
                      why == nullptr ? "no reason was given" : why);
  const Status refusal = refused(kernel == nullptr ? "(unnamed)" : kernel, reason);
  remember(stream, refusal);
  return report(__func__, refusal);
}

HOSTCANN_API int hostcann_translate(const void* device, size_t bytes, void** host, char* why,
                                    size_t why_size) {
  HOSTCANN_REQUIRE_NOT_NULL(host);
  *host = nullptr;
  DeviceRange range;
  const Status status = resolve_for_kernel(device, bytes, &range);
  if (status.ok()) *host = range.usable;
  if (why != nullptr && why_size > 0) std::snprintf(why, why_size, "%s", status.why().c_str());
  return status.code();
}

HOSTCANN_API size_t hostcann_bytes_from(const void* device) {
  DeviceRange range;
  return resolve_for_kernel(device, 0, &range).ok() ? range.rest : 0;
}
