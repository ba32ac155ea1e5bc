// SPDX-License-Identifier: Apache-2.0
// ListTensorDesc: a list of tensors in device memory, which a kernel of a dynamic input gets.
#ifndef HOSTCANN_TENSOR_LIST_H
#define HOSTCANN_TENSOR_LIST_H

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "hostcann/global_tensor.h"

namespace AscendC {

template <typename T>
class TensorDesc {
 public:
  inline void SetShapeAddr(uint64_t* shapePtr) { shape_ = shapePtr; }
  inline uint64_t GetDim() const { return dim_; }
  inline uint64_t GetIndex() const { return index_; }
  inline uint64_t GetShape(uint32_t offset, hostcann::CallSite = {}) const {
    if (shape_ == nullptr || offset >= dim_) {
      hostcann::fault(
          "GetShape: expected an axis below %llu of a TensorDesc with a shape, got %u; call "
          "SetShapeAddr, then GetDesc",
          static_cast<unsigned long long>(dim_), offset);
    }
    return shape_[offset];
  }
  inline T* GetDataPtr() const { return data_; }
  inline GlobalTensor<T> GetDataObj() const {
    GlobalTensor<T> tensor;
    tensor.SetGlobalBuffer(data_);
    return tensor;
  }

 private:
  friend class ListTensorDesc;

  uint64_t* shape_ = nullptr;
  uint64_t dim_ = 0;
  uint64_t index_ = 0;
  T* data_ = nullptr;
};

// The offset of the pointers in bytes; of every tensor the number of its axes and its index, of 32
// bits each, and its sizes; the pointers. Words of 64 bits.
class ListTensorDesc {
 public:
  ListTensorDesc() = default;
  inline ListTensorDesc(void* data, uint32_t length = kAny, uint32_t shapeSize = kAny,
                        hostcann::CallSite site = {}) {
    Init(data, length, shapeSize, site);
  }

  inline void Init(void* data, uint32_t length = kAny, uint32_t shapeSize = kAny,
                   hostcann::CallSite = {}) {
    words_.bind(data, hostcann::GlobalView::kUnknown);
    const uint64_t offset = word(0);
    count_ = 0;
    uint64_t at = kWord;
    while (at < offset) {
      at += kWord + (word(at) & kAny) * kWord;
      ++count_;
    }
    if (at != offset) {
      hostcann::fault(
          "ListTensorDesc: expected the pointers right behind the shapes, at byte %llu, got an "
          "offset of %llu",
          static_cast<unsigned long long>(at), static_cast<unsigned long long>(offset));
    }
    if ((shapeSize != kAny && shapeSize != count_) ||
        (length != kAny && length < offset + count_ * kWord)) {
      hostcann::fault("ListTensorDesc: expected %u tensors in %u bytes, got %u in %llu", shapeSize,
                      length, count_, static_cast<unsigned long long>(offset + count_ * kWord));
    }
    pointers_ = offset;
  }

  inline uint32_t GetSize() const { return count_; }

  template <typename T>
  inline T* GetDataPtr(uint32_t index, hostcann::CallSite = {}) const {
    require("GetDataPtr", index);
    return reinterpret_cast<T*>(word(pointers_ + index * kWord));
  }

  // The sizes go where SetShapeAddr said.
  template <typename T>
  inline void GetDesc(TensorDesc<T>& desc, uint32_t index, hostcann::CallSite = {}) const {
    require("GetDesc", index);
    if (desc.shape_ == nullptr) {
      hostcann::fault("GetDesc: expected a place for the sizes, got none; call SetShapeAddr first");
    }
    uint64_t at = kWord;
    for (uint32_t i = 0; i < index; ++i) at += kWord + (word(at) & kAny) * kWord;
    desc.dim_ = word(at) & kAny;
    desc.index_ = word(at) >> 32;
    for (uint64_t i = 0; i < desc.dim_; ++i) desc.shape_[i] = word(at + (1 + i) * kWord);
    desc.data_ = reinterpret_cast<T*>(word(pointers_ + index * kWord));
  }

 private:
  static constexpr uint32_t kAny = 0xffffffff;
  static constexpr uint64_t kWord = sizeof(uint64_t);

  inline uint64_t word(uint64_t byte) const {
    uint64_t value;
    std::memcpy(&value, words_.from(byte).access("ListTensorDesc", "data", kWord, kWord), kWord);
    return value;
  }
  inline void require(const char* caller, uint32_t index) const {
    if (index < count_) return;
    hostcann::fault("%s: expected an index below the %u tensors of the list, got %u", caller,
                    count_, index);
  }

  hostcann::GlobalView words_;
  uint64_t pointers_ = 0;
  uint32_t count_ = 0;
};

}  // namespace AscendC

#endif  // HOSTCANN_TENSOR_LIST_H
