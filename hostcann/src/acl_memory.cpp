// SPDX-License-Identifier: Apache-2.0
// Device and pinned host memory, copies and fills.
#include <condition_variable>
#include <cstring>
#include <mutex>

#include "acl/acl_rt.h"
#include "acl/error_codes/rt_error_codes.h"
#include "config.h"
#include "device.h"
#include "host_memory.h"

using namespace hostcann;

namespace {

struct Side {
  char* address = nullptr;
  const DeviceMemory* memory = nullptr;  // nullptr: host memory
};

struct Copy {
  Side to;
  Side from;
  size_t bytes = 0;

  bool touches_pageable() const {
    const HostMemory& host = HostMemory::instance();
    return (to.memory == nullptr && !host.is_pinned(to.address, bytes)) ||
           (from.memory == nullptr && !host.is_pinned(from.address, bytes));
  }
};

enum class Where { host, device, either };

struct Kind {
  const char* name;
  Where to;
  Where from;
};

Status describe(aclrtMemcpyKind kind, Kind* described) {
  switch (kind) {
    case ACL_MEMCPY_HOST_TO_HOST:
      *described = {"ACL_MEMCPY_HOST_TO_HOST", Where::host, Where::host};
      return {};
    case ACL_MEMCPY_HOST_TO_DEVICE:
      *described = {"ACL_MEMCPY_HOST_TO_DEVICE", Where::device, Where::host};
      return {};
    case ACL_MEMCPY_DEVICE_TO_HOST:
      *described = {"ACL_MEMCPY_DEVICE_TO_HOST", Where::host, Where::device};
      return {};
    case ACL_MEMCPY_DEVICE_TO_DEVICE:
    case ACL_MEMCPY_INNER_DEVICE_TO_DEVICE:
    case ACL_MEMCPY_INTER_DEVICE_TO_DEVICE:
      *described = {"ACL_MEMCPY_DEVICE_TO_DEVICE", Where::device, Where::device};
      return {};
    case ACL_MEMCPY_DEFAULT:
      *described = {"ACL_MEMCPY_DEFAULT", Where::either, Where::either};
      return {};
    default:
      break;
  }
  return refuse(ACL_ERROR_RT_PARAM_INVALID,
                "argument 'kind': expected 0 to 4, 6 or 7, got %d; hostcann has no other copy",
                static_cast<int>(kind));
}

Status resolve_side(const char* argument, const Kind& kind, Where where, const void* address,
                    size_t bytes, Side* side) {
  const DeviceMemory* memory = DeviceMemory::containing(address);
  const bool on_device = memory != nullptr;
  if (where != Where::either && on_device != (where == Where::device)) {
    return refuse(ACL_ERROR_RT_PARAM_INVALID,
                  "argument '%s': %s expects a %s address, got %s address %p; pass the kind that "
                  "matches the direction of the copy",
                  argument, kind.name, on_device ? "host" : "device", on_device ? "device" : "host",
                  address);
  }
  if (!on_device) {
    side->address = static_cast<char*>(const_cast<void*>(address));
    return {};
  }
  side->memory = memory;
  Status status = memory->resolve(address, bytes, Extent::as_requested, &side->address);
  if (status.ok()) return status;
  return refuse(status.code(), "argument '%s': %s", argument, status.why().c_str());
}

Status plan_copy(void* to, size_t room, const void* from, size_t bytes, aclrtMemcpyKind kind,
                 Copy* copy) {
  if (Status status = usable(); !status.ok()) return status;
  Kind described;
  if (Status status = describe(kind, &described); !status.ok()) return status;
  if (to == nullptr || from == nullptr) {
    return refuse(ACL_ERROR_RT_PARAM_INVALID,
                  "argument '%s': expected an address, got a null "
                  "pointer",
                  to == nullptr ? "dst" : "src");
  }
  if (bytes > room) {
    return refuse(ACL_ERROR_RT_PARAM_INVALID,
                  "argument 'count': expected at most destMax, which is %zu, got %zu", room, bytes);
  }
  copy->bytes = bytes;
  Status status = resolve_side("dst", described, described.to, to, bytes, &copy->to);
  if (!status.ok()) return status;
  status = resolve_side("src", described, described.from, from, bytes, &copy->from);
  if (!status.ok()) return status;
  const DeviceMemory* one = copy->to.memory;
  const DeviceMemory* other = copy->from.memory;
  if (one != nullptr && other != nullptr && !peers(one->device(), other->device())) {
    return refuse(ACL_ERROR_RT_PARAM_INVALID,
                  "a copy from device %u to device %u needs peer access; call "
                  "aclrtDeviceEnablePeerAccess first",
                  other->device(), one->device());
  }
  return {};
}

// Lets a caller wait for one task instead of the whole stream.
class Latch {
 public:
  void release(const Status& outcome) {
    std::lock_guard lock(mutex_);
    released_ = true;
    outcome_ = outcome;
    changed_.notify_all();
  }
  Status wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return released_; });
    return outcome_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool released_ = false;
  Status outcome_;
};

class CopyTask : public Task {
 public:
  CopyTask(const Copy& copy, std::shared_ptr<Latch> latch)
      : copy_(copy), latch_(std::move(latch)) {}
  Status run() override {
    std::memmove(copy_.to.address, copy_.from.address, copy_.bytes);
    if (latch_ != nullptr) latch_->release(Status());
    return {};
  }
  void drop(const Status& fault) override {
    if (latch_ != nullptr) latch_->release(fault);
  }

 private:
  const Copy copy_;
  const std::shared_ptr<Latch> latch_;
};

class FillTask : public Task {
 public:
  FillTask(char* address, int32_t value, size_t bytes)
      : address_(address), value_(value), bytes_(bytes) {}
  Status run() override {
    std::memset(address_, value_, bytes_);
    return {};
  }

 private:
  char* const address_;
  const int32_t value_;
  const size_t bytes_;
};

Status copy_async(const Copy& copy, aclrtStream handle) {
  std::shared_ptr<Stream> stream;
  if (Status status = find_own_stream(handle, &stream); !status.ok()) return status;
  if (copy.bytes == 0) return {};
  if (!copy.touches_pageable()) return stream->enqueue(std::make_unique<CopyTask>(copy, nullptr));
  if (stream->on_worker_thread()) {
    return refuse(ACL_ERROR_RT_PARAM_INVALID,
                  "a copy of pageable host memory cannot be waited for in a host function of the "
                  "same stream; use memory from aclrtMallocHost");
  }
  // The caller may reuse pageable memory as soon as the call returns.
  const auto latch = std::make_shared<Latch>();
  Status status = stream->enqueue(std::make_unique<CopyTask>(copy, latch));
  return status.ok() ? latch->wait() : status;
}

Status plan_fill(void* address, size_t room, size_t bytes, Side* side) {
  if (Status status = usable(); !status.ok()) return status;
  if (address == nullptr) {
    return refuse(ACL_ERROR_RT_PARAM_INVALID,
                  "argument 'devPtr': expected an address, got a null pointer");
  }
  if (bytes > room) {
    return refuse(ACL_ERROR_RT_PARAM_INVALID,
                  "argument 'count': expected at most maxCount, which is %zu, got %zu", room,
                  bytes);
  }
  const Kind kind{"a fill", Where::either, Where::either};
  return resolve_side("devPtr", kind, Where::either, address, bytes, side);
}

aclError allocate(const char* function, void** address, size_t bytes, int32_t policy) {
  *address = nullptr;
  constexpr int32_t kKnownPolicies = 0x7 | ACL_MEM_TYPE_LOW_BAND_WIDTH |
                                     ACL_MEM_TYPE_HIGH_BAND_WIDTH |
                                     ACL_MEM_ACCESS_USER_SPACE_READONLY;
  if ((policy & ~kKnownPolicies) != 0) {
    return report(function,
                  refuse(ACL_ERROR_RT_PARAM_INVALID,
                         "argument 'policy': expected an aclrtMemMallocPolicy, got %d", policy));
  }
  std::shared_ptr<Context> context;
  DeviceMemory* memory = nullptr;
  Status status = current_context(&context);
  if (status.ok()) status = memory_of(context->device(), &memory);
  if (status.ok()) status = memory->allocate(bytes, address);
  return report(function, status);
}

}  // namespace

HOSTCANN_API aclError aclrtMalloc(void** devPtr, size_t size, aclrtMemMallocPolicy policy) {
  HOSTCANN_REQUIRE_NOT_NULL(devPtr);
  return allocate(__func__, devPtr, size, policy);
}

HOSTCANN_API aclError aclrtMallocAlign32(void** devPtr, size_t size, aclrtMemMallocPolicy policy) {
  HOSTCANN_REQUIRE_NOT_NULL(devPtr);
  return allocate(__func__, devPtr, size, policy);
}

HOSTCANN_API aclError aclrtMallocCached(void** devPtr, size_t size, aclrtMemMallocPolicy policy) {
  HOSTCANN_REQUIRE_NOT_NULL(devPtr);
  return allocate(__func__, devPtr, size, policy);
}

HOSTCANN_API aclError aclrtFree(void* devPtr) {
  HOSTCANN_RETURN_IF_FAILED(usable());
  DeviceMemory* memory = DeviceMemory::containing(devPtr);
  if (memory == nullptr) {
    return report(__func__,
                  refuse(ACL_ERROR_RT_PARAM_INVALID,
                         "%p is not a device address; pass one that aclrtMalloc returned", devPtr));
  }
  return report(__func__, memory->release(devPtr));
}

HOSTCANN_API aclError aclrtMallocHost(void** hostPtr, size_t size) {
  HOSTCANN_REQUIRE_NOT_NULL(hostPtr);
  return report(__func__, HostMemory::instance().allocate(size, hostPtr));
}

HOSTCANN_API aclError aclrtMallocHostWithCfg(void** ptr, uint64_t size, aclrtMallocConfig* cfg) {
  HOSTCANN_REQUIRE_NOT_NULL(ptr);
  *ptr = nullptr;
  // Module ids only label memory. Anything else would change what is allocated.
  for (size_t i = 0; cfg != nullptr && i < cfg->numAttrs; ++i) {
    if (cfg->attrs[i].attr == ACL_RT_MEM_ATTR_MODULE_ID ||
        cfg->attrs[i].attr == ACL_RT_MEM_ATTR_RSV) {
      continue;
    }
    return report(__func__, refuse(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                                   "allocation attribute %d is not known to hostcann",
                                   static_cast<int>(cfg->attrs[i].attr)));
  }
  return report(__func__, HostMemory::instance().allocate(size, ptr));
}

HOSTCANN_API aclError aclrtFreeHost(void* hostPtr) {
  HOSTCANN_REQUIRE_NOT_NULL(hostPtr);
  return report(__func__, HostMemory::instance().release(hostPtr));
}

HOSTCANN_API aclError aclrtHostRegisterV2(void* ptr, uint64_t size, uint32_t flag) {
  HOSTCANN_REQUIRE_NOT_NULL(ptr);
  if (flag != ACL_HOST_REG_PINNED || size == 0 || DeviceMemory::containing(ptr) != nullptr) {
    return report(__func__, refuse(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                                   "expected at least 1 byte of host memory and the flag "
                                   "ACL_HOST_REG_PINNED, got %llu bytes at %p and 0x%x; host "
                                   "memory is not mapped to a device here",
                                   static_cast<unsigned long long>(size), ptr, flag));
  }
  return report(__func__, HostMemory::instance().adopt(ptr, size));
}

HOSTCANN_API aclError aclrtHostUnregister(void* ptr) {
  HOSTCANN_REQUIRE_NOT_NULL(ptr);
  return report(__func__, HostMemory::instance().disown(ptr));
}

HOSTCANN_API aclError aclrtGetMemInfo(aclrtMemAttr attr, size_t* free, size_t* total) {
  HOSTCANN_REQUIRE_NOT_NULL(free);
  HOSTCANN_REQUIRE_NOT_NULL(total);
  *free = 0;
  *total = 0;
  switch (attr) {
    case ACL_HBM_MEM:
    case ACL_HBM_MEM_HUGE:
    case ACL_HBM_MEM_NORMAL:
    case ACL_HBM_MEM_P2P_HUGE:
    case ACL_HBM_MEM_P2P_NORMAL:
    case ACL_HBM_MEM_HUGE1G:
    case ACL_HBM_MEM_P2P_HUGE1G:
      break;
    default:
      return report(__func__, refuse(ACL_ERROR_RT_PARAM_INVALID,
                                     "argument 'attr': expected an HBM kind (1, 4, 5, 8 to 11), "
                                     "which is all this device has, got %d",
                                     static_cast<int>(attr)));
  }
  std::shared_ptr<Context> context;
  HOSTCANN_RETURN_IF_FAILED(current_context(&context));
  DeviceMemory* memory = nullptr;
  HOSTCANN_RETURN_IF_FAILED(memory_of(context->device(), &memory));
  *total = memory->capacity();
  *free = memory->capacity() - memory->used();
  return ACL_SUCCESS;
}

HOSTCANN_API aclError aclrtPointerGetAttributes(const void* ptr, aclrtPtrAttributes* attributes) {
  HOSTCANN_REQUIRE_NOT_NULL(ptr);
  HOSTCANN_REQUIRE_NOT_NULL(attributes);
  std::memset(attributes, 0, sizeof *attributes);
  attributes->pageSize = 4096;
  if (const DeviceMemory* memory = DeviceMemory::containing(ptr)) {
    attributes->location = {memory->device(), ACL_MEM_LOCATION_TYPE_DEVICE};
  } else if (HostMemory::instance().is_pinned(ptr, 1)) {
    attributes->location = {0, ACL_MEM_LOCATION_TYPE_HOST};
  } else {
    attributes->location = {0, ACL_MEM_LOCATION_TYPE_UNREGISTERED};
  }
  return ACL_SUCCESS;
}

HOSTCANN_API aclError aclrtMemcpy(void* dst, size_t destMax, const void* src, size_t count,
                                  aclrtMemcpyKind kind) {
  Copy copy;
  HOSTCANN_RETURN_IF_FAILED(plan_copy(dst, destMax, src, count, kind, &copy));
  std::memmove(copy.to.address, copy.from.address, copy.bytes);
  return ACL_SUCCESS;
}

HOSTCANN_API aclError aclrtMemcpyAsync(void* dst, size_t destMax, const void* src, size_t count,
                                       aclrtMemcpyKind kind, aclrtStream stream) {
  Copy copy;
  HOSTCANN_RETURN_IF_FAILED(plan_copy(dst, destMax, src, count, kind, &copy));
  return report(__func__, copy_async(copy, stream));
}

HOSTCANN_API aclError aclrtMemset(void* devPtr, size_t maxCount, int32_t value, size_t count) {
  Side side;
  HOSTCANN_RETURN_IF_FAILED(plan_fill(devPtr, maxCount, count, &side));
  std::memset(side.address, value, count);
  return ACL_SUCCESS;
}

HOSTCANN_API aclError aclrtMemsetAsync(void* devPtr, size_t maxCount, int32_t value, size_t count,
                                       aclrtStream stream) {
  Side side;
  HOSTCANN_RETURN_IF_FAILED(plan_fill(devPtr, maxCount, count, &side));
  std::shared_ptr<Stream> found;
  HOSTCANN_RETURN_IF_FAILED(find_own_stream(stream, &found));
  return report(__func__, found->enqueue(std::make_unique<FillTask>(side.address, value, count)));
}

// Coherent memory has nothing to fetch ahead or to write back: checking the range is all of it.
HOSTCANN_API aclError aclrtCmoAsync(void* src, size_t size, aclrtCmoType cmoType,
                                    aclrtStream stream) {
  if (cmoType != ACL_RT_CMO_TYPE_PREFETCH) {
    return report(__func__, refuse(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                                   "argument 'cmoType': expected 0 (prefetch), got %d",
                                   static_cast<int>(cmoType)));
  }
  Side side;
  const Kind kind{"a prefetch", Where::device, Where::device};
  HOSTCANN_REQUIRE_NOT_NULL(src);
  HOSTCANN_RETURN_IF_FAILED(resolve_side("src", kind, Where::device, src, size, &side));
  std::shared_ptr<Stream> found;
  return report(__func__, find_own_stream(stream, &found));
}
