// SPDX-License-Identifier: Apache-2.0
// Element-wise operations on two tensors, in the form that takes a count of elements.
#ifndef HOSTCANN_VECTOR_BINARY_H
#define HOSTCANN_VECTOR_BINARY_H

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "hostcann/local_tensor.h"

namespace hostcann {

template <typename T>
inline constexpr bool kIsVectorArithmetic = std::is_same_v<T, int16_t> || std::is_same_v<T, half> ||
                                            std::is_same_v<T, int32_t> || std::is_same_v<T, float>;

// Signed overflow is undefined in C++, so integers wrap by way of their unsigned type.
template <typename T>
struct Wrapping {
  using Type = T;
};
template <>
struct Wrapping<int16_t> {
  using Type = uint32_t;
};
template <>
struct Wrapping<int32_t> {
  using Type = uint32_t;
};

inline void check_overlap(const char* caller, const char* operand, const uint8_t* dst,
                          const uint8_t* src, size_t bytes) {
  if (dst == src || dst + bytes <= src || src + bytes <= dst) return;
  fault("%s: expected dst and %s to be the same or disjoint, got them %zu bytes apart in %zu",
        caller, operand, static_cast<size_t>(dst < src ? src - dst : dst - src), bytes);
}

template <typename T, typename Operation>
inline void apply_binary(const char* caller, const AscendC::LocalTensor<T>& dst,
                         const AscendC::LocalTensor<T>& src0, const AscendC::LocalTensor<T>& src1,
                         int32_t count, Operation operation) {
  static_assert(kIsVectorArithmetic<T>,
                "dav-2201 takes int16_t, half, int32_t and float in Add, Sub and Mul");
  if (count < 0) fault("%s: expected count to be 0 or more, got %d", caller, count);
  if (count == 0) return;  // documented: nothing is computed and dst is left alone
  const size_t bytes = static_cast<size_t>(count) * sizeof(T);
  uint8_t* const out_bytes = dst.view().aligned(caller, "dst", bytes);
  const uint8_t* const left_bytes = src0.view().aligned(caller, "src0", bytes);
  const uint8_t* const right_bytes = src1.view().aligned(caller, "src1", bytes);
  check_overlap(caller, "src0", out_bytes, left_bytes, bytes);
  check_overlap(caller, "src1", out_bytes, right_bytes, bytes);
  T* const out = reinterpret_cast<T*>(out_bytes);
  const T* const left = reinterpret_cast<const T*>(left_bytes);
  const T* const right = reinterpret_cast<const T*>(right_bytes);
  using Wide = typename Wrapping<T>::Type;
// The overlap check above is what makes this promise true; -O2 would not vectorise without it.
#pragma omp simd
  for (int32_t i = 0; i < count; ++i) {
    out[i] = static_cast<T>(operation(static_cast<Wide>(left[i]), static_cast<Wide>(right[i])));
  }
}

}  // namespace hostcann

namespace AscendC {

template <typename T>
inline void Add(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1,
                const int32_t& count) {
  hostcann::apply_binary("Add", dst, src0, src1, count, [](auto a, auto b) { return a + b; });
}

template <typename T>
inline void Sub(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1,
                const int32_t& count) {
  hostcann::apply_binary("Sub", dst, src0, src1, count, [](auto a, auto b) { return a - b; });
}

template <typename T>
inline void Mul(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1,
                const int32_t& count) {
  hostcann::apply_binary("Mul", dst, src0, src1, count, [](auto a, auto b) { return a * b; });
}

}  // namespace AscendC

#endif  // HOSTCANN_VECTOR_BINARY_H
