// SPDX-License-Identifier: Apache-2.0
// GlobalTensor: a typed view of device memory.
#ifndef HOSTCANN_GLOBAL_TENSOR_H
#define HOSTCANN_GLOBAL_TENSOR_H

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "hostcann/block_state.h"
#include "hostcann/kernel_fault.h"
#include "hostcann/launch.h"
#include "hostcann/shape_info.h"

namespace hostcann {

inline void note_global_write(const uint8_t* data, size_t bytes, bool atomic) {
  const BlockState* const block = current_block;
  if (block == nullptr || block->checks == nullptr) return;
  hostcann_note_write(data, bytes, atomic ? 1 : 0, block->called_at.file, block->called_at.line);
}

struct GlobalView {
  static constexpr size_t kUnknown = ~size_t{0};

  uint8_t* data = nullptr;     // kernel-side address when `reach` is not 0, else whatever was given
  size_t declared = kUnknown;  // bytes, by SetGlobalBuffer
  size_t reach = 0;            // bytes up to the end of the allocation

  // A wrong address is kept and reported at its first use: kernels set up optional operands and
  // the share of idle blocks without ever touching them, which is harmless on the hardware.
  void bind(void* address, size_t bytes) {
    data = static_cast<uint8_t*>(address);
    declared = bytes;
    reach = 0;
    if (address == nullptr) return;
    const size_t wanted = bytes == kUnknown ? 0 : bytes;
    void* host = nullptr;
    if (wanted != 0 && hostcann_translate(address, wanted, &host, nullptr, 0) == 0) {
      reach = wanted;
    } else if (hostcann_translate(address, 0, &host, nullptr, 0) == 0) {
      reach = hostcann_bytes_from(address);
    }
    if (reach != 0) data = static_cast<uint8_t*>(host);
  }

  GlobalView from(size_t offset) const {
    GlobalView rest = *this;
    if (data != nullptr) rest.data += offset;
    rest.reach = offset < reach ? reach - offset : 0;
    if (declared != kUnknown) rest.declared = offset < declared ? declared - offset : 0;
    return rest;
  }

  uint8_t* access(const char* caller, const char* operand, size_t bytes, size_t alignment) const {
    if (bytes > declared) {
      fault("%s: expected %s (GlobalTensor) to hold at least %zu bytes from here, got %zu", caller,
            operand, bytes, declared);
    }
    if (bytes > reach) report_out_of_reach(caller, operand, bytes);
    if (reinterpret_cast<uintptr_t>(data) % alignment != 0) {
      fault(
          "%s: expected %s (GlobalTensor) to start at a multiple of its element's %zu bytes, got "
          "an address %zu past one",
          caller, operand, alignment,
          static_cast<size_t>(reinterpret_cast<uintptr_t>(data) % alignment));
    }
    return data;
  }

 private:
  [[noreturn]] __attribute__((cold, noinline)) void report_out_of_reach(const char* caller,
                                                                        const char* operand,
                                                                        size_t bytes) const {
    if (data == nullptr) {
      fault("%s: expected %s (GlobalTensor) to have an address, got a null pointer", caller,
            operand);
    }
    if (reach != 0) {
      fault(
          "%s: expected %zu bytes of device memory from %s (GlobalTensor) on, got %zu before its "
          "allocation ends",
          caller, bytes, operand, reach);
    }
    fault("%s: expected %s (GlobalTensor) to be in device memory, got %p", caller, operand,
          static_cast<const void*>(data));
  }
};

}  // namespace hostcann

namespace AscendC {

enum class CacheMode : uint8_t {
  CACHE_MODE_DISABLE = 0,
  CACHE_MODE_NORMAL,
  CACHE_MODE_LAST,
  CACHE_MODE_PERSISTENT,
};
enum class CacheRwMode : uint8_t { READ = 1, WRITE, RW };

template <typename T>
class GlobalTensor {
 public:
  using PrimType = T;

  GlobalTensor() = default;

  inline void SetGlobalBuffer(T* buffer, uint64_t bufferSize) {
    view_.bind(const_cast<void*>(static_cast<const volatile void*>(buffer)),
               bufferSize * sizeof(T));
  }
  inline void SetGlobalBuffer(T* buffer) {
    view_.bind(const_cast<void*>(static_cast<const volatile void*>(buffer)),
               hostcann::GlobalView::kUnknown);
  }

  inline const T* GetPhyAddr() const { return reinterpret_cast<const T*>(view_.data); }
  inline T* GetPhyAddr(const uint64_t offset) const {
    return reinterpret_cast<T*>(view_.data + offset * sizeof(T));
  }

  inline T GetValue(const uint64_t offset, hostcann::CallSite = {}) const {
    T value;
    std::memcpy(static_cast<void*>(&value), element("GetValue", offset), sizeof(T));
    return value;
  }

  // Written through at once; on the hardware it stays in the core's data cache until
  // DataCacheCleanAndInvalid.
  inline void SetValue(const uint64_t offset, T value, hostcann::CallSite = {}) {
    uint8_t* const to = element("SetValue", offset);
    hostcann::note_global_write(to, sizeof(T), false);
    std::memcpy(to, &value, sizeof(T));
  }

  inline T& operator()(const uint64_t offset, hostcann::CallSite = {}) const {
    return *reinterpret_cast<T*>(element("operator()", offset));
  }

  inline GlobalTensor operator[](const uint64_t offset) const {
    GlobalTensor rest;
    rest.view_ = view_.from(offset * sizeof(T));
    return rest;
  }

  // The hint is for the hardware's second-level cache.
  template <CacheRwMode mode = CacheRwMode::RW>
  inline void SetL2CacheHint(CacheMode) {}
  inline void SetShapeInfo(const ShapeInfo& shapeInfo) { shape_ = shapeInfo; }
  inline ShapeInfo GetShapeInfo() const { return shape_; }

  inline uint64_t GetSize() const {
    return view_.declared == hostcann::GlobalView::kUnknown ? 0 : view_.declared / sizeof(T);
  }

  // Not in CANN: for the functions of hostcann that take tensors.
  inline const hostcann::GlobalView& view() const { return view_; }

 private:
  inline uint8_t* element(const char* caller, uint64_t offset) const {
    return view_.from(offset * sizeof(T)).access(caller, "the tensor", sizeof(T), alignof(T));
  }

  hostcann::GlobalView view_;
  ShapeInfo shape_;
};

}  // namespace AscendC

#endif  // HOSTCANN_GLOBAL_TENSOR_H
