// SPDX-License-Identifier: Apache-2.0
// What the advanced functions have in common: operands that lie in one piece, and scratch space
// that they take from the caller or from what TPipe has left.
#ifndef HOSTCANN_ADVANCED_CALL_H
#define HOSTCANN_ADVANCED_CALL_H

#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include "hostcann/advanced_types.h"
#include "hostcann/vector_arithmetic.h"

namespace hostcann {

// An operand's bytes, noted as read or written by the vector unit.
template <typename T>
inline T* whole_operand(const char* caller, const char* name, const AscendC::LocalTensor<T>& tensor,
                        size_t count, Access access) {
  uint8_t* const data = tensor.view().aligned(caller, name, count * sizeof(T));
  note(caller, name, Unit::kVector, access, data, count * sizeof(T));
  return reinterpret_cast<T*>(data);
}
template <typename T>
inline const T* input(const char* caller, const char* name, const AscendC::LocalTensor<T>& tensor,
                      size_t count) {
  return whole_operand(caller, name, tensor, count, Access::kRead);
}
template <typename T>
inline T* output(const char* caller, const char* name, const AscendC::LocalTensor<T>& tensor,
                 size_t count) {
  return whole_operand(caller, name, tensor, count, Access::kWrite);
}

// What a function reads or writes of an operand.
struct Touched {
  template <typename T>
  Touched(const AscendC::LocalTensor<T>& tensor, size_t count)
      : data(tensor.view().data), bytes(count * sizeof(T)) {}

  const uint8_t* data;
  size_t bytes;
};

// Scratch space of the caller's: what was in it is gone, and no operand may lie in it.
class Scratch {
 public:
  Scratch(const AscendC::LocalTensor<uint8_t>& tensor) : view_(tensor.view()), given_(true) {}
  // Taken from what is left behind the buffers of TPipe.
  Scratch() = default;

  void use(const char* caller, std::initializer_list<Touched> operands) const {
    if (!given_) return require_room(caller);
    uint8_t* const data = view_.aligned(caller, "sharedTmpBuffer", 1);
    for (const Touched& operand : operands) require_apart(caller, operand);
    if (this_block(caller).checks == nullptr) return;
    note(caller, "sharedTmpBuffer", Unit::kVector, Access::kWrite, data, view_.bytes);
    BlockState::fill_unwritten(data, view_.bytes / sizeof(kUnwritten) * sizeof(kUnwritten));
  }

 private:
  static constexpr size_t kRoom = 256;

  static void require_room(const char* caller) {
    const size_t used = this_block(caller).used;
    if (used + kRoom <= kUbBytes) return;
    fault(
        "%s: expected room for its scratch space behind the buffers of TPipe, got %zu of %zu bytes "
        "in use; use smaller tiles or pass a sharedTmpBuffer",
        caller, used, kUbBytes);
  }
  void require_apart(const char* caller, const Touched& operand) const {
    const uint8_t* const end = view_.data + view_.bytes;
    if (operand.data >= end || operand.data + operand.bytes <= view_.data) return;
    fault("%s: expected sharedTmpBuffer apart from the operands, got one that lies in it", caller);
  }

  LocalView view_;
  bool given_ = false;
};

template <typename T>
inline Operand<T> flat_operand(const char* caller, const char* name,
                               const AscendC::LocalTensor<T>& tensor, const Walk& walk) {
  return operand(caller, name, tensor, walk, {1, walk.lanes * sizeof(T) / kBlockBytes});
}

template <typename Function, typename D, typename S>
inline void elementwise(const char* caller, const Scratch& scratch, size_t count, Function function,
                        const AscendC::LocalTensor<D>& dst, const AscendC::LocalTensor<S>& src) {
  const Walk walk = counted_walk(caller, sizeof(S), static_cast<int64_t>(count));
  run_lanes(caller, walk, function, flat_operand(caller, "dst", dst, walk),
            flat_operand(caller, "src", src, walk));
  scratch.use(caller, {{dst, count}, {src, count}});
}
template <typename Function, typename D, typename S>
inline void elementwise(const char* caller, const Scratch& scratch, size_t count, Function function,
                        const AscendC::LocalTensor<D>& dst, const AscendC::LocalTensor<S>& src0,
                        const AscendC::LocalTensor<S>& src1) {
  const Walk walk = counted_walk(caller, sizeof(S), static_cast<int64_t>(count));
  run_lanes(caller, walk, function, flat_operand(caller, "dst", dst, walk),
            flat_operand(caller, "src0", src0, walk), flat_operand(caller, "src1", src1, walk));
  scratch.use(caller, {{dst, count}, {src0, count}, {src1, count}});
}

}  // namespace hostcann

// The four forms of a function of one or two tensors: with and without scratch space, of the first
// calCount elements or of all.
#define HOSTCANN_ADVANCED_FORMS(Name, Parameters, Arguments, first, operation, ...)                \
  template <typename T, bool isReuseSource = false>                                                \
  inline void Name(HOSTCANN_UNPACK Parameters, const LocalTensor<uint8_t>& sharedTmpBuffer,        \
                   const uint32_t calCount, hostcann::CallSite = {}) {                             \
    HOSTCANN_TAKES(Name, __VA_ARGS__);                                                             \
    hostcann::elementwise(#Name, sharedTmpBuffer, calCount, operation, HOSTCANN_UNPACK Arguments); \
  }                                                                                                \
  template <typename T, bool isReuseSource = false>                                                \
  inline void Name(HOSTCANN_UNPACK Parameters, const LocalTensor<uint8_t>& sharedTmpBuffer,        \
                   hostcann::CallSite = {}) {                                                      \
    HOSTCANN_TAKES(Name, __VA_ARGS__);                                                             \
    hostcann::elementwise(#Name, sharedTmpBuffer, first.GetSize(), operation,                      \
                          HOSTCANN_UNPACK Arguments);                                              \
  }                                                                                                \
  template <typename T, bool isReuseSource = false>                                                \
  inline void Name(HOSTCANN_UNPACK Parameters, const uint32_t calCount, hostcann::CallSite = {}) { \
    HOSTCANN_TAKES(Name, __VA_ARGS__);                                                             \
    hostcann::elementwise(#Name, hostcann::Scratch(), calCount, operation,                         \
                          HOSTCANN_UNPACK Arguments);                                              \
  }                                                                                                \
  template <typename T, bool isReuseSource = false>                                                \
  inline void Name(HOSTCANN_UNPACK Parameters, hostcann::CallSite = {}) {                          \
    HOSTCANN_TAKES(Name, __VA_ARGS__);                                                             \
    hostcann::elementwise(#Name, hostcann::Scratch(), first.GetSize(), operation,                  \
                          HOSTCANN_UNPACK Arguments);                                              \
  }
#define HOSTCANN_UNPACK(...) __VA_ARGS__

#define HOSTCANN_ADVANCED_UNARY(Name, expression, ...)                                        \
  HOSTCANN_OPERATION(Name, (T a), expression, )                                               \
  HOSTCANN_ADVANCED_FORMS(Name,                                                               \
                          (const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor), \
                          (dstTensor, srcTensor), srcTensor, operations::Name<T>(), __VA_ARGS__)
#define HOSTCANN_ADVANCED_BINARY(Name, expression, ...)                                           \
  HOSTCANN_OPERATION(Name, (T a, T b), expression, )                                              \
  HOSTCANN_ADVANCED_FORMS(Name,                                                                   \
                          (const LocalTensor<T>& dstTensor, const LocalTensor<T>& src0Tensor,     \
                           const LocalTensor<T>& src1Tensor),                                     \
                          (dstTensor, src0Tensor, src1Tensor), src0Tensor, operations::Name<T>(), \
                          __VA_ARGS__)

#endif  // HOSTCANN_ADVANCED_CALL_H
