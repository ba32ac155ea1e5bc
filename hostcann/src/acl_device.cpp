// SPDX-License-Identifier: Apache-2.0
// Devices, contexts and what a device says about itself.
#include <unistd.h>

#include <cstring>

#include "acl/acl_rt.h"
#include "acl/error_codes/rt_error_codes.h"
#include "config.h"
#include "device.h"
#include "entry.h"

using namespace hostcann;

HOSTCANN_API aclError aclrtSetDevice(int32_t deviceId) {
  HOSTCANN_ENTER();
  return report(__func__, set_device(deviceId));
}

HOSTCANN_API aclError aclrtResetDevice(int32_t deviceId) {
  HOSTCANN_ENTER();
  return report(__func__, reset_device(deviceId, false));
}

HOSTCANN_API aclError aclrtResetDeviceForce(int32_t deviceId) {
  HOSTCANN_ENTER();
  return report(__func__, reset_device(deviceId, true));
}

// Does not apply the default device: torch_npu asks in order to learn that none is set.
HOSTCANN_API aclError aclrtGetDevice(int32_t* deviceId) {
  HOSTCANN_REQUIRE_NOT_NULL(deviceId);
  *deviceId = -1;
  HOSTCANN_ENTER();
  HOSTCANN_RETURN_IF_FAILED(usable());
  const auto context = context_if_any();
  if (context == nullptr) {
    return report(__func__, refuse(ACL_ERROR_RT_CONTEXT_NULL,
                                   "no device is set in this thread; call aclrtSetDevice first"));
  }
  *deviceId = static_cast<int32_t>(context->device());
  return ACL_SUCCESS;
}

HOSTCANN_API aclError aclrtGetDeviceCount(uint32_t* count) {
  HOSTCANN_REQUIRE_NOT_NULL(count);
  *count = config().device_count();
  HOSTCANN_ENTER();
  HOSTCANN_RETURN_IF_FAILED(config().problem);
  return ACL_SUCCESS;
}

HOSTCANN_API aclError aclrtGetRunMode(aclrtRunMode* runMode) {
  HOSTCANN_REQUIRE_NOT_NULL(runMode);
  *runMode = ACL_HOST;
  HOSTCANN_ENTER();
  return ACL_SUCCESS;
}

HOSTCANN_API aclError aclrtGetPrimaryCtxState(int32_t deviceId, uint32_t* flags, int32_t* active) {
  HOSTCANN_REQUIRE_NOT_NULL(active);
  *active = 0;
  if (flags != nullptr) *flags = 0;
  HOSTCANN_ENTER();
  HOSTCANN_RETURN_IF_FAILED(check_device(deviceId));
  *active = device_is_set(static_cast<uint32_t>(deviceId)) ? 1 : 0;
  return ACL_SUCCESS;
}

HOSTCANN_API aclError aclrtGetLogicDevIdByUserDevId(const int32_t userDevid,
                                                    int32_t* const logicDevId) {
  HOSTCANN_REQUIRE_NOT_NULL(logicDevId);
  *logicDevId = -1;
  HOSTCANN_ENTER();
  HOSTCANN_RETURN_IF_FAILED(check_device(userDevid));
  *logicDevId = static_cast<int32_t>(config().physical_ids[static_cast<size_t>(userDevid)]);
  return ACL_SUCCESS;
}

HOSTCANN_API aclError aclrtDeviceGetBareTgid(int32_t* pid) {
  HOSTCANN_REQUIRE_NOT_NULL(pid);
  *pid = getpid();
  HOSTCANN_ENTER();
  return ACL_SUCCESS;
}

HOSTCANN_API aclError aclrtDeviceGetUuid(int32_t deviceId, aclrtUuid* uuid) {
  HOSTCANN_REQUIRE_NOT_NULL(uuid);
  std::memset(uuid, 0, sizeof *uuid);
  HOSTCANN_ENTER();
  HOSTCANN_RETURN_IF_FAILED(check_device(deviceId));
  const uint32_t physical = config().physical_ids[static_cast<size_t>(deviceId)];
  std::memcpy(uuid->bytes, "hostcann device", 15);
  uuid->bytes[15] = static_cast<char>(physical);
  return ACL_SUCCESS;
}

HOSTCANN_API const char* aclrtGetSocName() {
  HOSTCANN_ENTER_OR(nullptr);
  if (!config().problem.ok()) {
    report(__func__, config().problem);
    return nullptr;
  }
  return config().soc->name;
}

HOSTCANN_API aclError aclGetDeviceCapability(uint32_t deviceId, aclDeviceInfo deviceInfo,
                                             int64_t* value) {
  HOSTCANN_REQUIRE_NOT_NULL(value);
  *value = 0;
  HOSTCANN_ENTER();
  HOSTCANN_RETURN_IF_FAILED(check_device(deviceId));
  switch (deviceInfo) {
    case ACL_DEVICE_INFO_AI_CORE_NUM:
      *value = config().soc->cube_cores;
      return ACL_SUCCESS;
    case ACL_DEVICE_INFO_VECTOR_CORE_NUM:
      *value = config().soc->vector_cores;
      return ACL_SUCCESS;
    case ACL_DEVICE_INFO_L2_SIZE:
      *value = config().soc->l2_bytes;
      return ACL_SUCCESS;
    default:
      break;
  }
  return report(__func__,
                refuse(ACL_ERROR_INVALID_PARAM, "argument 'deviceInfo': expected 0, 1 or 2, got %d",
                       static_cast<int>(deviceInfo)));
}

HOSTCANN_API aclError aclrtGetDeviceInfo(uint32_t deviceId, aclrtDevAttr attr, int64_t* value) {
  HOSTCANN_REQUIRE_NOT_NULL(value);
  *value = 0;
  HOSTCANN_ENTER();
  HOSTCANN_RETURN_IF_FAILED(check_device(deviceId));
  constexpr int64_t kUnifiedBufferBytes = 192 * 1024 - 256;
  switch (static_cast<int>(attr)) {
    case ACL_DEV_ATTR_AICORE_CORE_NUM:
    case ACL_DEV_ATTR_CUBE_CORE_NUM:
      *value = config().soc->cube_cores;
      return ACL_SUCCESS;
    case ACL_DEV_ATTR_VECTOR_CORE_NUM:
      *value = config().soc->vector_cores;
      return ACL_SUCCESS;
    case ACL_DEV_ATTR_UBUF_PER_VECTOR_CORE:
      *value = kUnifiedBufferBytes;
      return ACL_SUCCESS;
    case ACL_DEV_ATTR_TOTAL_GLOBAL_MEM_SIZE:
      *value = static_cast<int64_t>(config().device_memory_bytes);
      return ACL_SUCCESS;
    case ACL_DEV_ATTR_L2_CACHE_SIZE:
      *value = config().soc->l2_bytes;
      return ACL_SUCCESS;
    case ACL_DEV_ATTR_PHY_CHIP_ID:
      *value = config().physical_ids[deviceId];
      return ACL_SUCCESS;
    case ACL_DEV_ATTR_IS_VIRTUAL:
      *value = 0;
      return ACL_SUCCESS;
    case ACL_DEV_ATTR_NPU_ARCH:
      *value = 2201;
      return ACL_SUCCESS;
    default:
      break;
  }
  return report(__func__,
                refuse(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                       "device attribute %d is not known to hostcann", static_cast<int>(attr)));
}

HOSTCANN_API aclError aclrtDeviceCanAccessPeer(int32_t* canAccessPeer, int32_t deviceId,
                                               int32_t peerDeviceId) {
  HOSTCANN_REQUIRE_NOT_NULL(canAccessPeer);
  *canAccessPeer = 0;
  HOSTCANN_ENTER();
  HOSTCANN_RETURN_IF_FAILED(check_device(deviceId));
  HOSTCANN_RETURN_IF_FAILED(check_device(peerDeviceId));
  *canAccessPeer = deviceId == peerDeviceId ? 0 : 1;
  return ACL_SUCCESS;
}

HOSTCANN_API aclError aclrtDeviceEnablePeerAccess(int32_t peerDeviceId, uint32_t flags) {
  HOSTCANN_ENTER();
  if (flags != 0) {
    return report(__func__, refuse(ACL_ERROR_RT_PARAM_INVALID,
                                   "argument 'flags': expected 0, got %u", flags));
  }
  std::shared_ptr<Context> context;
  HOSTCANN_RETURN_IF_FAILED(current_context(&context));
  return report(__func__, enable_peer_access(context->device(), peerDeviceId, true));
}

HOSTCANN_API aclError aclrtDeviceDisablePeerAccess(int32_t peerDeviceId) {
  HOSTCANN_ENTER();
  std::shared_ptr<Context> context;
  HOSTCANN_RETURN_IF_FAILED(current_context(&context));
  return report(__func__, enable_peer_access(context->device(), peerDeviceId, false));
}

HOSTCANN_API aclError aclrtCreateContext(aclrtContext* context, int32_t deviceId) {
  HOSTCANN_REQUIRE_NOT_NULL(context);
  *context = nullptr;
  HOSTCANN_ENTER();
  return report(__func__, create_context(deviceId, context));
}

HOSTCANN_API aclError aclrtDestroyContext(aclrtContext context) {
  HOSTCANN_ENTER();
  return report(__func__, destroy_context(context));
}

HOSTCANN_API aclError aclrtSetCurrentContext(aclrtContext context) {
  HOSTCANN_ENTER();
  return report(__func__, use_context(context));
}

HOSTCANN_API aclError aclrtGetCurrentContext(aclrtContext* context) {
  HOSTCANN_REQUIRE_NOT_NULL(context);
  *context = nullptr;
  HOSTCANN_ENTER();
  std::shared_ptr<Context> current;
  HOSTCANN_RETURN_IF_FAILED(current_context(&current));
  *context = current->handle();
  return ACL_SUCCESS;
}

HOSTCANN_API aclError aclrtSynchronizeDevice(void) {
  HOSTCANN_ENTER();
  return report_fault(__func__, synchronize_device(kForever));
}

HOSTCANN_API aclError aclrtSynchronizeDeviceWithTimeout(int32_t timeout) {
  HOSTCANN_ENTER();
  return report_fault(__func__, synchronize_device(timeout));
}
