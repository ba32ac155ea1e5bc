// SPDX-License-Identifier: Apache-2.0
#include "device.h"

#include <pthread.h>

#include <algorithm>
#include <chrono>

#include "acl/error_codes/rt_error_codes.h"
#include "config.h"
#include "handle_table.h"
#include "virtual_memory.h"

namespace hostcann {
namespace {

struct Device {
  std::mutex mutex;
  std::shared_ptr<Context> primary;
  uint64_t references = 0;
  DeviceMemory* memory = nullptr;
  CoreLimits core_limits;
};

// Never destroyed: threads of torch_npu and static destructors call in until the very end.
struct State {
  Device devices[kMaxDevices];
  HandleTable<Context> contexts{'C'};
  HandleTable<Stream> streams{'S'};
  std::atomic<bool> peer_access[kMaxDevices][kMaxDevices] = {};
  std::atomic<int64_t> default_device{-1};
  std::atomic<bool> active{false};
  std::atomic<bool> forked{false};

  static State& instance() {
    static auto* const only = new State;
    return *only;
  }
};

thread_local void* current_handle = nullptr;

void mark_active() {
  State& state = State::instance();
  if (state.active.exchange(true)) return;
  pthread_atfork(nullptr, nullptr, [] { State::instance().forked.store(true); });
}

Status wait_for_all(const std::vector<std::shared_ptr<Stream>>& streams, int32_t timeout_ms) {
  const auto start = std::chrono::steady_clock::now();
  Status first;
  for (const auto& stream : streams) {
    int32_t left = timeout_ms;
    if (timeout_ms >= 0) {
      const auto spent = std::chrono::duration_cast<std::chrono::milliseconds>(
          std::chrono::steady_clock::now() - start);
      left = static_cast<int32_t>(std::max<int64_t>(0, timeout_ms - spent.count()));
    }
    Status outcome = stream->synchronize(left);
    if (first.ok()) first = std::move(outcome);
  }
  return first;
}

}  // namespace

std::shared_ptr<Stream> Context::make_stream(uint32_t priority, uint32_t flags) {
  auto stream = std::make_shared<Stream>(shared_from_this(), priority, flags);
  std::lock_guard lock(mutex_);
  // Not every time: ten thousand streams would be looked at ten thousand times.
  if (streams_.size() >= tidy_at_) {
    const auto gone = [](const auto& weak) { return weak.expired(); };
    streams_.erase(std::remove_if(streams_.begin(), streams_.end(), gone), streams_.end());
    tidy_at_ = 2 * streams_.size() + 64;
  }
  streams_.push_back(stream);
  return stream;
}

std::shared_ptr<Stream> Context::default_stream() {
  {
    std::lock_guard lock(mutex_);
    if (default_stream_ != nullptr) return default_stream_;
  }
  auto made = make_stream(0, 0);
  std::lock_guard lock(mutex_);
  if (default_stream_ == nullptr) default_stream_ = std::move(made);
  return default_stream_;
}

std::vector<std::shared_ptr<Stream>> Context::streams() const {
  std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<Stream>> alive;
  for (const auto& weak : streams_) {
    if (auto stream = weak.lock()) alive.push_back(std::move(stream));
  }
  return alive;
}

void Context::close_streams(bool drop_queued) {
  for (const auto& stream : streams()) stream->close(drop_queued);
  std::shared_ptr<Stream> ended;  // destroyed after the lock is gone
  std::lock_guard lock(mutex_);
  ended = std::move(default_stream_);
}

void Context::stop(const Status& fault) {
  std::lock_guard lock(mutex_);
  if (!fault_.ok()) return;
  fault_ = fault;
  stopped_.store(true, std::memory_order_release);
}

Status Context::fault() const {
  if (!stopped_.load(std::memory_order_acquire)) return {};
  std::lock_guard lock(mutex_);
  return fault_;
}

void Context::remember_refusal(const Status& refusal) {
  std::lock_guard lock(mutex_);
  if (refusal_.ok()) refusal_ = refusal;
  has_refusal_.store(true, std::memory_order_release);
}

Status Context::take_refusal() {
  if (!has_refusal_.load(std::memory_order_acquire)) return {};
  std::lock_guard lock(mutex_);
  has_refusal_.store(false);
  return std::exchange(refusal_, Status());
}

bool forked() { return State::instance().forked.load(); }

Status usable() {
  if (!config().problem.ok()) return config().problem;
  if (forked()) {
    return refuse(ACL_ERROR_RT_DEV_SETUP_ERROR,
                  "this process was forked after its parent had used a device; start it with "
                  "multiprocessing's 'spawn' method, or use no device before the fork");
  }
  return {};
}

Status check_device(int64_t device) {
  if (Status status = usable(); !status.ok()) return status;
  if (device < 0 || device >= config().device_count()) {
    return refuse(ACL_ERROR_RT_INVALID_DEVICEID, "device: expected a number from 0 to %d, got %lld",
                  static_cast<int>(config().device_count()) - 1, static_cast<long long>(device));
  }
  return {};
}

Status set_device(int64_t id) {
  if (Status status = check_device(id); !status.ok()) return status;
  mark_active();
  State& state = State::instance();
  Device& device = state.devices[id];
  std::lock_guard lock(device.mutex);
  if (device.primary == nullptr) {
    device.primary = std::make_shared<Context>(static_cast<uint32_t>(id));
    device.primary->set_handle(state.contexts.insert(device.primary));
  }
  ++device.references;
  current_handle = device.primary->handle();
  return {};
}

Status reset_device(int64_t id, bool force) {
  if (Status status = check_device(id); !status.ok()) return status;
  State& state = State::instance();
  Device& device = state.devices[id];
  std::shared_ptr<Context> closing;
  DeviceMemory* memory = nullptr;
  {
    std::lock_guard lock(device.mutex);
    if (device.references == 0) {
      return refuse(ACL_ERROR_RT_INVALID_DEVICEID,
                    "device %lld is not in use; call aclrtSetDevice first",
                    static_cast<long long>(id));
    }
    device.references = force ? 0 : device.references - 1;
    if (device.references > 0) return {};
    closing = std::exchange(device.primary, nullptr);
    state.contexts.remove(closing->handle());
    memory = device.memory;
  }
  closing->close_streams(force);
  const auto contexts = state.contexts.all();
  const bool last = std::none_of(contexts.begin(), contexts.end(), [&](const auto& context) {
    return context->device() == static_cast<uint32_t>(id);
  });
  if (last && memory != nullptr) {
    VirtualMemory::instance().release_device(static_cast<uint32_t>(id));
    memory->release_all();
    device_core_limits(static_cast<uint32_t>(id)).reset();
  }
  return {};
}

bool device_is_set(uint32_t id) {
  Device& device = State::instance().devices[id];
  std::lock_guard lock(device.mutex);
  return device.primary != nullptr;
}

void set_default_device(int64_t device) { State::instance().default_device.store(device); }

std::shared_ptr<Context> context_if_any() {
  if (current_handle == nullptr) return nullptr;
  return State::instance().contexts.find(current_handle);
}

Status current_context(std::shared_ptr<Context>* context) {
  if (Status status = usable(); !status.ok()) return status;
  *context = context_if_any();
  if (*context != nullptr) return {};
  const int64_t fallback = State::instance().default_device.load();
  if (fallback < 0) {
    return refuse(ACL_ERROR_RT_CONTEXT_NULL,
                  "no device is set in this thread; call aclrtSetDevice first");
  }
  if (Status status = set_device(fallback); !status.ok()) return status;
  *context = context_if_any();
  return {};
}

void make_current(void* context_handle) { current_handle = context_handle; }

Status create_context(int64_t id, void** handle) {
  if (Status status = check_device(id); !status.ok()) return status;
  mark_active();
  auto context = std::make_shared<Context>(static_cast<uint32_t>(id));
  *handle = State::instance().contexts.insert(context);
  context->set_handle(*handle);
  current_handle = *handle;
  return {};
}

Status destroy_context(void* handle) {
  if (Status status = usable(); !status.ok()) return status;
  State& state = State::instance();
  const auto context = state.contexts.find(handle);
  if (context == nullptr) {
    return refuse(ACL_ERROR_RT_CONTEXT_NULL, "%p is not a live context", handle);
  }
  Device& device = state.devices[context->device()];
  {
    std::lock_guard lock(device.mutex);
    if (context == device.primary) {
      return refuse(ACL_ERROR_RT_PARAM_INVALID,
                    "the default context of device %u belongs to the runtime; use aclrtResetDevice",
                    context->device());
    }
  }
  state.contexts.remove(handle);
  context->close_streams(false);
  if (current_handle == handle) current_handle = nullptr;
  return {};
}

Status use_context(void* handle) {
  if (Status status = usable(); !status.ok()) return status;
  if (State::instance().contexts.find(handle) == nullptr) {
    return refuse(ACL_ERROR_RT_CONTEXT_NULL, "%p is not a live context", handle);
  }
  current_handle = handle;
  return {};
}

Status find_stream(void* handle, std::shared_ptr<Stream>* stream) {
  if (handle == nullptr) {
    std::shared_ptr<Context> context;
    if (Status status = current_context(&context); !status.ok()) return status;
    *stream = context->default_stream();
    return {};
  }
  if (Status status = usable(); !status.ok()) return status;
  *stream = State::instance().streams.find(handle);
  if (*stream != nullptr) return {};
  return refuse(ACL_ERROR_RT_STREAM_CONTEXT,
                "%p is not a live stream; it was destroyed, or never came from "
                "aclrtCreateStream",
                handle);
}

Status find_own_stream(void* handle, std::shared_ptr<Stream>* stream) {
  std::shared_ptr<Context> context;
  if (Status status = current_context(&context); !status.ok()) return status;
  if (Status status = find_stream(handle, stream); !status.ok()) return status;
  const Context& owner = (*stream)->context();
  if (&owner == context.get()) return {};
  return refuse(ACL_ERROR_RT_STREAM_CONTEXT,
                "stream %d belongs to %s of device %u, but the thread's current device is %u; "
                "call aclrtSetDevice or aclrtSetCurrentContext for the stream's first",
                (*stream)->id(),
                owner.device() == context->device() ? "another context" : "a context",
                owner.device(), context->device());
}

Status create_stream(uint32_t priority, uint32_t flags, void** handle) {
  std::shared_ptr<Context> context;
  if (Status status = current_context(&context); !status.ok()) return status;
  *handle = State::instance().streams.insert(context->make_stream(priority, flags));
  return {};
}

Status destroy_stream(void* handle, bool drop_queued) {
  if (handle == nullptr) {
    return refuse(ACL_ERROR_RT_PARAM_INVALID,
                  "the default stream belongs to the runtime and cannot be destroyed");
  }
  std::shared_ptr<Stream> stream;
  if (Status status = find_stream(handle, &stream); !status.ok()) return status;
  State::instance().streams.remove(handle);
  stream->close(drop_queued);
  return {};
}

Status synchronize_device(int32_t timeout_ms) {
  std::shared_ptr<Context> current;
  if (Status status = current_context(&current); !status.ok()) return status;
  std::vector<std::shared_ptr<Stream>> streams;
  for (const auto& context : State::instance().contexts.all()) {
    if (context->device() != current->device()) continue;
    const auto more = context->streams();
    streams.insert(streams.end(), more.begin(), more.end());
  }
  Status outcome = wait_for_all(streams, timeout_ms);
  return outcome.ok() ? current->take_refusal() : outcome;
}

Status memory_of(uint32_t id, DeviceMemory** memory) {
  Device& device = State::instance().devices[id];
  std::lock_guard lock(device.mutex);
  if (device.memory == nullptr) {
    Status status = DeviceMemory::create(id, config().device_memory_bytes, &device.memory);
    if (!status.ok()) return status;
  }
  *memory = device.memory;
  return {};
}

uint32_t cores_of_chip(aclrtDevResLimitType type) {
  const Soc& soc = *config().soc;
  return static_cast<uint32_t>(type == ACL_RT_DEV_RES_CUBE_CORE ? soc.cube_cores
                                                                : soc.vector_cores);
}

CoreLimits& device_core_limits(uint32_t device) {
  return State::instance().devices[device].core_limits;
}

Status enable_peer_access(uint32_t from, int64_t to, bool enabled) {
  if (Status status = check_device(to); !status.ok()) return status;
  if (static_cast<uint32_t>(to) == from) {
    return refuse(ACL_ERROR_RT_INVALID_DEVICEID,
                  "peerDeviceId: expected a device other than the current one, got %u", from);
  }
  State::instance().peer_access[from][to].store(enabled);
  return {};
}

bool peers(uint32_t one, uint32_t other) {
  const auto& access = State::instance().peer_access;
  return one == other || access[one][other].load() || access[other][one].load();
}

}  // namespace hostcann
