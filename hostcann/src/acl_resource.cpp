// SPDX-License-Identifier: Apache-2.0
// Limits of the cores that operators may use. A launch runs on one thread, within any limit: they
// are kept and read back.
#include "acl/acl_rt.h"
#include "acl/error_codes/rt_error_codes.h"
#include "config.h"
#include "device.h"
#include "entry.h"

using namespace hostcann;

namespace {

thread_local void* stream_of_thread = nullptr;

Status check_type(aclrtDevResLimitType type) {
  if (type == ACL_RT_DEV_RES_CUBE_CORE || type == ACL_RT_DEV_RES_VECTOR_CORE) return {};
  return refuse(ACL_ERROR_RT_PARAM_INVALID,
                "argument 'type': expected 0 (cube) or 1 (vector cores), got %d",
                static_cast<int>(type));
}

Status check_limit(aclrtDevResLimitType type, uint32_t value) {
  if (Status status = check_type(type); !status.ok()) return status;
  const uint32_t most = cores_of_chip(type);
  if (value >= 1 && value <= most) return {};
  return refuse(ACL_ERROR_RT_PARAM_INVALID, "argument 'value': expected 1 to %u cores, got %u",
                most, value);
}

// A stream's own limit, else its device's.
uint32_t limit_of(const Stream& stream, aclrtDevResLimitType type) {
  const uint32_t own = stream.core_limits().get(type);
  return own != 0 ? own : device_core_limits(stream.context().device()).effective(type);
}

}  // namespace

HOSTCANN_API aclError aclrtGetDeviceResLimit(int32_t deviceId, aclrtDevResLimitType type,
                                             uint32_t* value) {
  HOSTCANN_REQUIRE_NOT_NULL(value);
  *value = 0;
  HOSTCANN_ENTER();
  HOSTCANN_RETURN_IF_FAILED(check_device(deviceId));
  HOSTCANN_RETURN_IF_FAILED(check_type(type));
  *value = device_core_limits(static_cast<uint32_t>(deviceId)).effective(type);
  return ACL_SUCCESS;
}

HOSTCANN_API aclError aclrtSetDeviceResLimit(int32_t deviceId, aclrtDevResLimitType type,
                                             uint32_t value) {
  HOSTCANN_ENTER();
  HOSTCANN_RETURN_IF_FAILED(check_device(deviceId));
  HOSTCANN_RETURN_IF_FAILED(check_limit(type, value));
  device_core_limits(static_cast<uint32_t>(deviceId)).set(type, value);
  return ACL_SUCCESS;
}

HOSTCANN_API aclError aclrtResetDeviceResLimit(int32_t deviceId) {
  HOSTCANN_ENTER();
  HOSTCANN_RETURN_IF_FAILED(check_device(deviceId));
  device_core_limits(static_cast<uint32_t>(deviceId)).reset();
  return ACL_SUCCESS;
}

HOSTCANN_API aclError aclrtGetStreamResLimit(aclrtStream stream, aclrtDevResLimitType type,
                                             uint32_t* value) {
  HOSTCANN_REQUIRE_NOT_NULL(value);
  *value = 0;
  HOSTCANN_ENTER();
  std::shared_ptr<Stream> found;
  HOSTCANN_RETURN_IF_FAILED(find_stream(stream, &found));
  HOSTCANN_RETURN_IF_FAILED(check_type(type));
  *value = limit_of(*found, type);
  return ACL_SUCCESS;
}

HOSTCANN_API aclError aclrtSetStreamResLimit(aclrtStream stream, aclrtDevResLimitType type,
                                             uint32_t value) {
  HOSTCANN_ENTER();
  std::shared_ptr<Stream> found;
  HOSTCANN_RETURN_IF_FAILED(find_stream(stream, &found));
  HOSTCANN_RETURN_IF_FAILED(check_limit(type, value));
  found->core_limits().set(type, value);
  return ACL_SUCCESS;
}

HOSTCANN_API aclError aclrtResetStreamResLimit(aclrtStream stream) {
  HOSTCANN_ENTER();
  std::shared_ptr<Stream> found;
  HOSTCANN_RETURN_IF_FAILED(find_stream(stream, &found));
  found->core_limits().reset();
  return ACL_SUCCESS;
}

HOSTCANN_API aclError aclrtUseStreamResInCurrentThread(aclrtStream stream) {
  HOSTCANN_ENTER();
  std::shared_ptr<Stream> found;
  HOSTCANN_RETURN_IF_FAILED(find_stream(stream, &found));
  stream_of_thread = stream;
  return ACL_SUCCESS;
}

HOSTCANN_API aclError aclrtUnuseStreamResInCurrentThread(aclrtStream stream) {
  HOSTCANN_ENTER();
  std::shared_ptr<Stream> found;
  HOSTCANN_RETURN_IF_FAILED(find_stream(stream, &found));
  stream_of_thread = nullptr;
  return ACL_SUCCESS;
}

HOSTCANN_API aclError aclrtGetResInCurrentThread(aclrtDevResLimitType type, uint32_t* value) {
  HOSTCANN_REQUIRE_NOT_NULL(value);
  *value = 0;
  HOSTCANN_ENTER();
  HOSTCANN_RETURN_IF_FAILED(check_type(type));
  // Without a stream to go by it is the default one's, which has its device's limits.
  std::shared_ptr<Stream> found;
  HOSTCANN_RETURN_IF_FAILED(find_stream(stream_of_thread, &found));
  *value = limit_of(*found, type);
  return ACL_SUCCESS;
}
