// SPDX-License-Identifier: Apache-2.0
// Device and pinned host memory, copies and fills.
#include <cstring>
#include <optional>

#include "acl/acl_rt.h"
#include "acl/error_codes/rt_error_codes.h"
#include "config.h"
#include "device.h"
#include "device_address.h"
#include "entry.h"
#include "host_memory.h"
#include "latch.h"

using namespace hostcann;

namespace {

struct Side {
  char* address = nullptr;
  std::optional<uint32_t> device;  // none: host memory
};

struct Copy {
  Side to;
  Side from;
  size_t bytes = 0;

  bool touches_pageable() const {
    const HostMemory& host = HostMemory::instance();
    return (!to.device && !host.is_pinned(to.address, bytes)) ||
           (!from.device && !host.is_pinned(from.address, bytes));
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
  const bool on_device = is_device_address(address);
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
  DeviceRange range;
  Status status = resolve_address(address, bytes, Extent::as_requested, &range);
  side->address = range.usable;
  side->device = range.device;
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
  if (!copy->to.device || !copy->from.device || peers(*copy->to.device, *copy->from.device)) {
    return {};
  }
  return refuse(ACL_ERROR_RT_PARAM_INVALID,
                "a copy from device %u to device %u needs peer access; call "
                "aclrtDeviceEnablePeerAccess first",
                *copy->from.device, *copy->to.device);
}

// What a call asked for. It is checked twice: at the call and, because memory may have been freed
// in between, when the stream gets there.
struct CopyRequest {
  void* to;
  size_t room;
  const void* from;
  size_t bytes;
  aclrtMemcpyKind kind;

  Status plan(Copy* copy) const { return plan_copy(to, room, from, bytes, kind, copy); }
};

Status too_late(const char* what, const Status& why) {
  if (why.ok()) return {};
  return refuse(ACL_ERROR_RT_SYS_DMA, "%s was accepted, but cannot run: %s", what,
                why.why().c_str());
}

Shown shown_copy(const void* to, const void* from, size_t bytes) {
  const auto place = [](const void* at) { return is_device_address(at) ? "device" : "host"; };
  return {std::string("copy ") + place(from) + " to " + place(to), "bytes", bytes};
}

Shown shown_fill(size_t bytes) { return {"fill", "bytes", bytes}; }

class CopyTask : public Task {
 public:
  CopyTask(const CopyRequest& request, std::shared_ptr<Latch> latch)
      : request_(request), latch_(std::move(latch)) {}
  Shown shown() const override { return shown_copy(request_.to, request_.from, request_.bytes); }
  Status run() override {
    Copy copy;
    const Status status = too_late("a copy", request_.plan(&copy));
    if (status.ok()) std::memmove(copy.to.address, copy.from.address, copy.bytes);
    if (latch_ != nullptr) latch_->release(status);
    return status;
  }
  void drop(const Status& fault) override {
    if (latch_ != nullptr) latch_->release(fault);
  }

 private:
  const CopyRequest request_;
  const std::shared_ptr<Latch> latch_;
};

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

class FillTask : public Task {
 public:
  FillTask(void* address, int32_t value, size_t bytes)
      : address_(address), value_(value), bytes_(bytes) {}
  Shown shown() const override { return shown_fill(bytes_); }
  Status run() override {
    Side side;
    const Status status = too_late("a fill", plan_fill(address_, bytes_, bytes_, &side));
    if (status.ok()) std::memset(side.address, value_, bytes_);
    return status;
  }

 private:
  void* const address_;
  const int32_t value_;
  const size_t bytes_;
};

// By the calling thread, which waits for it.
Status copy_now(const CopyRequest& request) {
  Copy copy;
  if (Status status = request.plan(&copy); !status.ok()) return status;
  std::optional<Span> span;
  if (tracing()) {
    const std::optional<uint32_t> device = copy.to.device ? copy.to.device : copy.from.device;
    span.emplace(device.value_or(0), kCallerRow, shown_copy(request.to, request.from, copy.bytes));
  }
  std::memmove(copy.to.address, copy.from.address, copy.bytes);
  return {};
}

Status copy_async(const CopyRequest& request, aclrtStream handle) {
  Copy copy;
  if (Status status = request.plan(&copy); !status.ok()) return status;
  std::shared_ptr<Stream> stream;
  if (Status status = find_own_stream(handle, &stream); !status.ok()) return status;
  if (copy.bytes == 0) return {};
  if (!copy.touches_pageable()) {
    return stream->enqueue(std::make_unique<CopyTask>(request, nullptr));
  }
  if (stream->on_worker_thread()) {
    return refuse(ACL_ERROR_RT_PARAM_INVALID,
                  "a copy of pageable host memory cannot be waited for in a host function of the "
                  "same stream; use memory from aclrtMallocHost");
  }
  // The caller may reuse pageable memory as soon as the call returns.
  const auto latch = std::make_shared<Latch>();
  Status status = stream->enqueue(std::make_unique<CopyTask>(request, latch));
  return status.ok() ? latch->wait() : status;
}

// The arrays of a batch, checked before the first copy starts.
struct Batch {
  void** to;
  size_t* rooms;
  void** from;
  size_t* bytes;
  size_t count;
  aclrtMemcpyBatchAttr* attributes;
  size_t* attribute_starts;
  size_t attribute_count;

  CopyRequest request(size_t i) const {
    return {to[i], rooms[i], from[i], bytes[i], ACL_MEMCPY_DEFAULT};
  }

  Status check_arrays() const {
    if (to == nullptr || rooms == nullptr || from == nullptr || bytes == nullptr ||
        attributes == nullptr || attribute_starts == nullptr || count == 0 ||
        attribute_count == 0) {
      return refuse(ACL_ERROR_RT_PARAM_INVALID,
                    "a batch: expected at least one copy and one attribute, and no null pointer "
                    "among the arrays");
    }
    for (size_t i = 0; i < attribute_count; ++i) {
      const size_t least = i == 0 ? 0 : attribute_starts[i - 1] + 1;
      const size_t most = i == 0 ? 0 : count - 1;
      if (attribute_starts[i] < least || attribute_starts[i] > most) {
        return refuse(ACL_ERROR_RT_PARAM_INVALID,
                      "argument 'attrsIndexes': expected 0 first, then growing numbers below %zu, "
                      "got %zu at %zu",
                      count, attribute_starts[i], i);
      }
    }
    return {};
  }

  // What the attributes say of a copy's two sides must be true of them.
  Status check(size_t i) const {
    Copy copy;
    if (Status status = request(i).plan(&copy); !status.ok()) return status;
    size_t which = attribute_count - 1;
    while (attribute_starts[which] > i) --which;
    Status status = check_side("dst", attributes[which].dstLoc, copy.to);
    return status.ok() ? check_side("src", attributes[which].srcLoc, copy.from) : status;
  }

  static Status check_side(const char* argument, const aclrtMemLocation& said, const Side& side) {
    const bool device = said.type == ACL_MEM_LOCATION_TYPE_DEVICE;
    if (device == side.device.has_value() && (!device || said.id == *side.device)) return {};
    return refuse(ACL_ERROR_RT_PARAM_INVALID,
                  "argument '%s': the attribute says %s memory, but the address is of %s memory",
                  argument, device ? "that device's" : "host", side.device ? "a device's" : "host");
  }

  Status check_all(size_t* fail_index) const {
    *fail_index = SIZE_MAX;
    if (Status status = check_arrays(); !status.ok()) return status;
    for (size_t i = 0; i < count; ++i) {
      Status status = check(i);
      if (status.ok()) continue;
      *fail_index = i;
      return refuse(status.code(), "copy %zu of %zu: %s", i, count, status.why().c_str());
    }
    return {};
  }
};

aclError allocate(const char* function, void** address, size_t bytes, int32_t policy) {
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
  *devPtr = nullptr;
  HOSTCANN_ENTER();
  return allocate(__func__, devPtr, size, policy);
}

HOSTCANN_API aclError aclrtMallocAlign32(void** devPtr, size_t size, aclrtMemMallocPolicy policy) {
  HOSTCANN_REQUIRE_NOT_NULL(devPtr);
  *devPtr = nullptr;
  HOSTCANN_ENTER();
  return allocate(__func__, devPtr, size, policy);
}

HOSTCANN_API aclError aclrtMallocCached(void** devPtr, size_t size, aclrtMemMallocPolicy policy) {
  HOSTCANN_REQUIRE_NOT_NULL(devPtr);
  *devPtr = nullptr;
  HOSTCANN_ENTER();
  return allocate(__func__, devPtr, size, policy);
}

HOSTCANN_API aclError aclrtFree(void* devPtr) {
  HOSTCANN_ENTER();
  HOSTCANN_RETURN_IF_FAILED(usable());
  if (DeviceMemory* memory = DeviceMemory::containing(devPtr)) {
    return report(__func__, memory->release(devPtr));
  }
  return report(__func__, refuse(ACL_ERROR_RT_PARAM_INVALID, "%p is %s", devPtr,
                                 is_device_address(devPtr)
                                     ? "virtual memory; call aclrtUnmapMem and "
                                       "aclrtReleaseMemAddress for it"
                                     : "not a device address; pass one that aclrtMalloc returned"));
}

HOSTCANN_API aclError aclrtMallocHost(void** hostPtr, size_t size) {
  HOSTCANN_REQUIRE_NOT_NULL(hostPtr);
  *hostPtr = nullptr;
  HOSTCANN_ENTER();
  return report(__func__, HostMemory::instance().allocate(size, hostPtr));
}

HOSTCANN_API aclError aclrtMallocHostWithCfg(void** ptr, uint64_t size, aclrtMallocConfig* cfg) {
  HOSTCANN_REQUIRE_NOT_NULL(ptr);
  *ptr = nullptr;
  HOSTCANN_ENTER();
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
  HOSTCANN_ENTER();
  return report(__func__, HostMemory::instance().release(hostPtr));
}

HOSTCANN_API aclError aclrtHostRegisterV2(void* ptr, uint64_t size, uint32_t flag) {
  HOSTCANN_REQUIRE_NOT_NULL(ptr);
  HOSTCANN_ENTER();
  if (flag != ACL_HOST_REG_PINNED || size == 0 || is_device_address(ptr)) {
    return report(__func__, refuse(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                                   "expected at least 1 byte of host memory and the flag "
                                   "ACL_HOST_REG_PINNED, got %llu bytes at %p and 0x%x; host "
                                   "memory is not mapped to a device here",
                                   static_cast<unsigned long long>(size), ptr, flag));
  }
  return report(__func__, HostMemory::instance().adopt(ptr, size));
}

// The same for callers that want a device's address of it, which there is none of here.
HOSTCANN_API aclError aclrtHostRegister(void* ptr, uint64_t size, aclrtHostRegisterType type,
                                        void** devPtr) {
  HOSTCANN_REQUIRE_NOT_NULL(ptr);
  HOSTCANN_REQUIRE_NOT_NULL(devPtr);
  *devPtr = nullptr;
  HOSTCANN_ENTER();
  return report(__func__, refuse(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                                 "%llu bytes of type %d: host memory is not mapped to a device "
                                 "here; call aclrtHostRegisterV2 with ACL_HOST_REG_PINNED and copy",
                                 static_cast<unsigned long long>(size), static_cast<int>(type)));
}

HOSTCANN_API aclError aclrtHostUnregister(void* ptr) {
  HOSTCANN_REQUIRE_NOT_NULL(ptr);
  HOSTCANN_ENTER();
  return report(__func__, HostMemory::instance().disown(ptr));
}

HOSTCANN_API aclError aclrtGetMemInfo(aclrtMemAttr attr, size_t* free, size_t* total) {
  HOSTCANN_REQUIRE_NOT_NULL(free);
  HOSTCANN_REQUIRE_NOT_NULL(total);
  *free = 0;
  *total = 0;
  HOSTCANN_ENTER();
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
  HOSTCANN_ENTER();
  attributes->pageSize = 4096;
  DeviceRange range;
  if (is_device_address(ptr)) {
    HOSTCANN_RETURN_IF_FAILED(resolve_address(ptr, 0, Extent::in_blocks, &range));
    attributes->location = {range.device, ACL_MEM_LOCATION_TYPE_DEVICE};
  } else if (HostMemory::instance().is_pinned(ptr, 1)) {
    attributes->location = {0, ACL_MEM_LOCATION_TYPE_HOST};
  } else {
    attributes->location = {0, ACL_MEM_LOCATION_TYPE_UNREGISTERED};
  }
  return ACL_SUCCESS;
}

HOSTCANN_API aclError aclrtMemcpy(void* dst, size_t destMax, const void* src, size_t count,
                                  aclrtMemcpyKind kind) {
  HOSTCANN_ENTER();
  return report(__func__, copy_now({dst, destMax, src, count, kind}));
}

HOSTCANN_API aclError aclrtMemcpyAsync(void* dst, size_t destMax, const void* src, size_t count,
                                       aclrtMemcpyKind kind, aclrtStream stream) {
  HOSTCANN_ENTER();
  return report(__func__, copy_async({dst, destMax, src, count, kind}, stream));
}

HOSTCANN_API aclError aclrtMemcpyBatch(void** dsts, size_t* destMaxs, void** srcs, size_t* sizes,
                                       size_t numBatches, aclrtMemcpyBatchAttr* attrs,
                                       size_t* attrsIndexes, size_t numAttrs, size_t* failIndex) {
  HOSTCANN_REQUIRE_NOT_NULL(failIndex);
  *failIndex = SIZE_MAX;
  HOSTCANN_ENTER();
  const Batch batch{dsts, destMaxs, srcs, sizes, numBatches, attrs, attrsIndexes, numAttrs};
  HOSTCANN_RETURN_IF_FAILED(batch.check_all(failIndex));
  for (size_t i = 0; i < numBatches; ++i) {
    HOSTCANN_RETURN_IF_FAILED(copy_now(batch.request(i)));
  }
  return ACL_SUCCESS;
}

HOSTCANN_API aclError aclrtMemcpyBatchAsync(void** dsts, size_t* destMaxs, void** srcs,
                                            size_t* sizes, size_t numBatches,
                                            aclrtMemcpyBatchAttr* attrs, size_t* attrsIndexes,
                                            size_t numAttrs, size_t* failIndex,
                                            aclrtStream stream) {
  HOSTCANN_REQUIRE_NOT_NULL(failIndex);
  *failIndex = SIZE_MAX;
  HOSTCANN_ENTER();
  const Batch batch{dsts, destMaxs, srcs, sizes, numBatches, attrs, attrsIndexes, numAttrs};
  HOSTCANN_RETURN_IF_FAILED(batch.check_all(failIndex));
  for (size_t i = 0; i < numBatches; ++i) {
    HOSTCANN_RETURN_IF_FAILED(copy_async(batch.request(i), stream));
  }
  return ACL_SUCCESS;
}

HOSTCANN_API aclError aclrtMemset(void* devPtr, size_t maxCount, int32_t value, size_t count) {
  HOSTCANN_ENTER();
  Side side;
  HOSTCANN_RETURN_IF_FAILED(plan_fill(devPtr, maxCount, count, &side));
  std::optional<Span> span;
  if (tracing()) span.emplace(side.device.value_or(0), kCallerRow, shown_fill(count));
  std::memset(side.address, value, count);
  return ACL_SUCCESS;
}

HOSTCANN_API aclError aclrtMemsetAsync(void* devPtr, size_t maxCount, int32_t value, size_t count,
                                       aclrtStream stream) {
  HOSTCANN_ENTER();
  Side side;
  HOSTCANN_RETURN_IF_FAILED(plan_fill(devPtr, maxCount, count, &side));
  std::shared_ptr<Stream> found;
  HOSTCANN_RETURN_IF_FAILED(find_own_stream(stream, &found));
  return report(__func__, found->enqueue(std::make_unique<FillTask>(devPtr, value, count)));
}

// Coherent memory has nothing to fetch ahead or to write back: checking the range is all of it.
HOSTCANN_API aclError aclrtCmoAsync(void* src, size_t size, aclrtCmoType cmoType,
                                    aclrtStream stream) {
  HOSTCANN_ENTER();
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
