// SPDX-License-Identifier: Apache-2.0
// LocalTensor: a typed view of one buffer of the Unified Buffer.
#ifndef HOSTCANN_LOCAL_TENSOR_H
#define HOSTCANN_LOCAL_TENSOR_H

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "hostcann/block_checks.h"
#include "hostcann/shape_info.h"

namespace hostcann {

// The untyped part, so that the checks are compiled once and not per element type.
struct LocalView {
  uint8_t* data = nullptr;
  size_t bytes = 0;
  uint64_t ticket = 0;
  uint32_t buffer = 0;
  AscendC::TPosition position = AscendC::TPosition::VECCALC;

  UbBuffer& live_buffer(const char* caller, const char* operand) const {
    if (data == nullptr) {
      fault(
          "%s: expected %s to have memory, got a LocalTensor that AllocTensor, DeQue or Get never "
          "returned",
          caller, operand);
    }
    UbBuffer& owner = this_block(caller).buffers[buffer];
    if (owner.ticket != ticket) {
      fault(
          "%s: expected %s to be live, got a LocalTensor used after FreeTensor or after its TPipe "
          "ended",
          caller, operand);
    }
    return owner;
  }

  // Address of `bytes_needed` bytes from the tensor's start on, for a unit that works on whole
  // blocks.
  uint8_t* aligned(const char* caller, const char* operand, size_t bytes_needed) const {
    live_buffer(caller, operand);
    if (reinterpret_cast<uintptr_t>(data) % kBlockBytes != 0) {
      fault(
          "%s: expected %s to start at a multiple of 32 bytes in the Unified Buffer, got %zu bytes "
          "past one",
          caller, operand, static_cast<size_t>(reinterpret_cast<uintptr_t>(data) % kBlockBytes));
    }
    if (bytes_needed > bytes) {
      fault("%s: expected %s (LocalTensor) to hold at least %zu bytes, got %zu", caller, operand,
            bytes_needed, bytes);
    }
    return data;
  }

  uint8_t* element(const char* caller, size_t index, size_t element_bytes) const {
    live_buffer(caller, "the tensor");
    if (index >= bytes / element_bytes) {
      fault("%s: expected an index below %zu, got %zu", caller, bytes / element_bytes, index);
    }
    return data + index * element_bytes;
  }

  // A tensor at an address of the Unified Buffer, without TPipe.
  static LocalView at(const char* caller, AscendC::TPosition position, size_t address,
                      size_t bytes) {
    const BlockState& block = this_block(caller);
    if (address % kBlockBytes != 0) {
      fault("%s: expected an address that is a multiple of 32 bytes, got %zu", caller, address);
    }
    if (address + bytes > kUbBytes) {
      fault(
          "%s: expected the tensor to fit the %zu bytes of the Unified Buffer, got %zu bytes from "
          "%zu on; use smaller tiles",
          caller, kUbBytes, bytes, address);
    }
    return {block.ub() + address, bytes, kWholeUbTicket, static_cast<uint32_t>(kWholeUb), position};
  }
};

}  // namespace hostcann

namespace AscendC {

template <typename T>
class LocalTensor {
 public:
  using PrimType = T;

  LocalTensor() = default;
  // Not in CANN: how the queues and TBufs of hostcann make one.
  inline explicit LocalTensor(const hostcann::LocalView& view) : view_(view) {}

  // `tileSize` elements at byte `addr` of the Unified Buffer.
  inline LocalTensor(TPosition pos, uint32_t addr, uint32_t tileSize, hostcann::CallSite = {})
      : view_(hostcann::LocalView::at("LocalTensor", pos, addr, hostcann::bytes_of<T>(tileSize))) {}

  inline uint64_t GetPhyAddr() const { return GetPhyAddr(0); }
  inline uint64_t GetPhyAddr(const uint32_t offset) const {
    view_.live_buffer("GetPhyAddr", "the tensor");
    return reinterpret_cast<uint64_t>(view_.data + hostcann::bytes_of<T>(offset));
  }

  inline T GetValue(const uint32_t index, hostcann::CallSite = {}) const {
    static_assert(!hostcann::kIsNibble<T>, "GetValue takes no int4b_t");
    T value;
    const uint8_t* const from = view_.element("GetValue", index, sizeof(T));
    hostcann::note("GetValue", "the element", hostcann::Unit::kScalar, hostcann::Access::kRead,
                   from, sizeof(T));
    std::memcpy(static_cast<void*>(&value), from, sizeof(T));
    return value;
  }

  template <typename V>
  inline void SetValue(const uint32_t index, const V value, hostcann::CallSite = {}) const {
    static_assert(!hostcann::kIsNibble<T>, "SetValue takes no int4b_t");
    const T converted = static_cast<T>(value);
    uint8_t* const to = view_.element("SetValue", index, sizeof(T));
    hostcann::note("SetValue", "the element", hostcann::Unit::kScalar, hostcann::Access::kWrite, to,
                   sizeof(T));
    std::memcpy(to, &converted, sizeof(T));
  }

  // Read or written through the reference: which, hostcann cannot see.
  inline T& operator()(const uint32_t offset, hostcann::CallSite = {}) const {
    static_assert(!hostcann::kIsNibble<T>, "operator() takes no int4b_t");
    uint8_t* const at = view_.element("operator()", offset, sizeof(T));
    hostcann::note("operator()", "the element", hostcann::Unit::kScalar, hostcann::Access::kWrite,
                   at, sizeof(T));
    return *reinterpret_cast<T*>(at);
  }

  inline LocalTensor operator[](const uint32_t offset) const {
    view_.live_buffer("operator[]", "the tensor");
    if (offset > GetSize()) {
      hostcann::fault("operator[]: expected an offset of at most %u elements, got %u", GetSize(),
                      offset);
    }
    LocalTensor rest = *this;
    if (hostcann::kIsNibble<T> && offset % 2 != 0) {
      hostcann::fault("operator[]: expected an even offset of int4b_t, got %u", offset);
    }
    rest.view_.data += hostcann::bytes_of<T>(offset);
    rest.view_.bytes -= hostcann::bytes_of<T>(offset);
    return rest;
  }

  template <typename U>
  inline LocalTensor<U> ReinterpretCast() const {
    return LocalTensor<U>(view_);
  }

  inline int32_t GetPosition() const { return static_cast<int32_t>(view_.position); }
  inline uint32_t GetSize() const {
    return static_cast<uint32_t>(hostcann::elements_in<T>(view_.bytes));
  }
  inline uint32_t GetLength() const { return static_cast<uint32_t>(view_.bytes); }

  inline void SetSize(const uint32_t size, hostcann::CallSite = {}) {
    const hostcann::UbBuffer& owner = view_.live_buffer("SetSize", "the tensor");
    const size_t room = owner.data + owner.bytes - view_.data;
    if (hostcann::bytes_of<T>(size) > room) {
      hostcann::fault("SetSize: expected at most %zu elements, which its buffer holds, got %u",
                      hostcann::elements_in<T>(room), size);
    }
    view_.bytes = hostcann::bytes_of<T>(size);
  }

  inline void SetBufferLen(uint32_t dataLen) { SetSize(dataLen); }
  inline void SetUserTag(const TTagType tag) { tag_ = tag; }
  inline TTagType GetUserTag() const { return tag_; }
  inline void SetShapeInfo(const ShapeInfo& shapeInfo) { shape_ = shapeInfo; }
  inline ShapeInfo GetShapeInfo() const { return shape_; }

  // Not in CANN: for the functions of hostcann that take tensors.
  inline const hostcann::LocalView& view() const { return view_; }

 private:
  hostcann::LocalView view_;
  TTagType tag_ = 0;
  ShapeInfo shape_;
};

}  // namespace AscendC

#endif  // HOSTCANN_LOCAL_TENSOR_H
