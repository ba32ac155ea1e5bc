// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "core_limits.h"
#include "device_memory.h"
#include "error.h"
#include "stream.h"

namespace hostcann {

// What a thread works in: a device and the streams made there. Every device has a primary
// context, shared by all threads that call aclrtSetDevice.
class Context : public std::enable_shared_from_this<Context> {
 public:
  explicit Context(uint32_t device) : device_(device) {}

  uint32_t device() const { return device_; }
  void* handle() const { return handle_; }
  void set_handle(void* handle) { handle_ = handle; }

  std::shared_ptr<Stream> default_stream();
  std::shared_ptr<Stream> make_stream(uint32_t priority, uint32_t flags);
  std::vector<std::shared_ptr<Stream>> streams() const;
  // Ends all streams. The default one goes, which holds its context as the context holds it.
  void close_streams(bool drop_queued);

  // A fault on a stream in stop-on-failure mode stops every stream of the context.
  void stop(const Status& fault);
  Status fault() const;

  // A refused launch whose stream could not be told.
  void remember_refusal(const Status& refusal);
  Status take_refusal();

 private:
  const uint32_t device_;
  void* handle_ = nullptr;
  mutable std::mutex mutex_;
  std::shared_ptr<Stream> default_stream_;
  std::vector<std::weak_ptr<Stream>> streams_;
  size_t tidy_at_ = 64;
  std::atomic<bool> stopped_{false};
  std::atomic<bool> has_refusal_{false};
  Status fault_;
  Status refusal_;
};

// The environment makes sense and this process did not inherit the device from its parent.
Status usable();
bool forked();

Status check_device(int64_t device);
Status set_device(int64_t device);
Status reset_device(int64_t device, bool force);
bool device_is_set(uint32_t device);
void set_default_device(int64_t device);

// The calling thread's context; applies the default device when there is none.
Status current_context(std::shared_ptr<Context>* context);
// As current_context, but a thread without one stays without.
std::shared_ptr<Context> context_if_any();
void make_current(void* context_handle);
Status create_context(int64_t device, void** handle);
Status destroy_context(void* handle);
Status use_context(void* handle);

// A stream handle; nullptr stands for the default stream of the current context.
Status find_stream(void* handle, std::shared_ptr<Stream>* stream);
// As find_stream, for enqueuing: the stream must belong to the current context.
Status find_own_stream(void* handle, std::shared_ptr<Stream>* stream);
Status create_stream(uint32_t priority, uint32_t flags, void** handle);
Status destroy_stream(void* handle, bool drop_queued);
Status synchronize_device(int32_t timeout_ms);

Status memory_of(uint32_t device, DeviceMemory** memory);
CoreLimits& device_core_limits(uint32_t device);
Status enable_peer_access(uint32_t from, int64_t to, bool enabled);
bool peers(uint32_t one, uint32_t other);

}  // namespace hostcann
