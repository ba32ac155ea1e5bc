// SPDX-License-Identifier: Apache-2.0
// What a kernel prints: printf, DumpTensor, assert. It goes to the standard output at once.
#ifndef HOSTCANN_KERNEL_PRINT_H
#define HOSTCANN_KERNEL_PRINT_H

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <type_traits>

#include "hostcann/global_tensor.h"
#include "hostcann/local_tensor.h"

namespace hostcann {

// What C's printf takes: half and bfloat16_t are printed as the doubles they are worth.
template <typename T>
inline auto printable(T value) {
  if constexpr (std::is_same_v<T, half> || std::is_same_v<T, bfloat16_t>) {
    return static_cast<double>(static_cast<float>(value));
  } else if constexpr (std::is_enum_v<T>) {
    return static_cast<std::underlying_type_t<T>>(value);
  } else {
    return value;
  }
}

template <typename T>
inline const char* element_name() {
  if (std::is_same_v<T, half>) return "half";
  if (std::is_same_v<T, bfloat16_t>) return "bfloat16_t";
  if (std::is_same_v<T, float>) return "float";
  if (std::is_same_v<T, double>) return "double";
  constexpr const char* kSigned[] = {"int8_t", "int16_t", "int32_t", "int64_t"};
  constexpr const char* kUnsigned[] = {"uint8_t", "uint16_t", "uint32_t", "uint64_t"};
  constexpr size_t kSize = sizeof(T) == 8 ? 3 : sizeof(T) / 2;
  return std::is_signed_v<T> ? kSigned[kSize] : kUnsigned[kSize];
}

template <typename Tensor>
inline void dump(const Tensor& tensor, const char* position, uint32_t desc, size_t count,
                 const AscendC::ShapeInfo& shape) {
  using T = typename Tensor::PrimType;
  const BlockState& block = this_block("DumpTensor");
  size_t elements = shape.shapeDim == 0 ? count : 1;
  for (uint32_t i = 0; i < shape.shapeDim; ++i) elements *= shape.shape[i];
  const size_t row = shape.shapeDim == 0 ? 8 : shape.shape[shape.shapeDim - 1];
  std::printf("DumpTensor: desc=%u, block=%u, data_type=%s, position=%s, dump_size=%zu\n", desc,
              block.block_index, element_name<T>(), position, count);
  for (size_t i = 0; i < elements; ++i) {
    const char* const end = i + 1 == elements || (i + 1) % row == 0 ? "\n" : " ";
    if (i >= count) {
      std::printf("-%s", end);  // the shape has more elements than were to be dumped
    } else if constexpr (std::is_integral_v<T>) {
      std::printf("%lld%s", static_cast<long long>(tensor.GetValue(i)), end);
    } else {
      std::printf("%f%s", static_cast<double>(static_cast<float>(tensor.GetValue(i))), end);
    }
  }
}

}  // namespace hostcann

namespace AscendC {

template <typename... Arguments>
inline void printf(const char* fmt, Arguments... arguments) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-security"
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
  std::printf(fmt, hostcann::printable(arguments)...);
#pragma GCC diagnostic pop
}
template <typename... Arguments>
inline void PRINTF(const char* fmt, Arguments... arguments) {
  AscendC::printf(fmt, arguments...);
}

template <typename T>
inline void DumpTensor(const LocalTensor<T>& tensor, uint32_t desc, uint32_t dumpSize,
                       hostcann::CallSite = {}) {
  hostcann::dump(tensor, "UB", desc, dumpSize, ShapeInfo());
}
template <typename T>
inline void DumpTensor(const GlobalTensor<T>& tensor, uint32_t desc, uint32_t dumpSize,
                       hostcann::CallSite = {}) {
  hostcann::dump(tensor, "GM", desc, dumpSize, ShapeInfo());
}
template <typename T>
inline void DumpTensor(const LocalTensor<T>& tensor, uint32_t desc, uint32_t dumpSize,
                       const ShapeInfo& shapeInfo, hostcann::CallSite = {}) {
  hostcann::dump(tensor, "UB", desc, dumpSize, shapeInfo);
}
template <typename T>
inline void DumpTensor(const GlobalTensor<T>& tensor, uint32_t desc, uint32_t dumpSize,
                       const ShapeInfo& shapeInfo, hostcann::CallSite = {}) {
  hostcann::dump(tensor, "GM", desc, dumpSize, shapeInfo);
}

inline void Trap(hostcann::CallSite = {}) { hostcann::fault("Trap: the kernel asked to stop"); }

}  // namespace AscendC

namespace hostcann {

template <typename... Arguments>
[[noreturn]] inline void assertion_failed_with(const char* text, CallSite, const char* format,
                                               Arguments... arguments) {
  char message[400];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-security"
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
  std::snprintf(message, sizeof(message), format, printable(arguments)...);
#pragma GCC diagnostic pop
  fault("assert: expected %s: %s", text, message);
}
[[noreturn]] inline void assertion_failed_with(const char* text, CallSite) {
  fault("assert: expected %s", text);
}

}  // namespace hostcann

// In a kernel a failed assertion is a fault of the block, not the end of the process. Built with
// NDEBUG it is nothing, as on the device.
#ifdef NDEBUG
#define ascendc_assert(condition, ...) ((void)0)
#else
#define ascendc_assert(condition, ...)              \
  ((condition) ? (void)0                            \
               : ::hostcann::assertion_failed_with( \
                     #condition, ::hostcann::CallSite(__FILE__, __LINE__), ##__VA_ARGS__))
#endif
#define ASSERT(condition) ascendc_assert(condition)
#define ASCENDC_ASSERT(condition, behaviour) \
  do {                                       \
    if (!(condition)) behaviour;             \
  } while (0)
// To the standard error, where the hardware says nothing.
#define KERNEL_LOG(level, format, ...) \
  ::std::fprintf(stderr, #level ": " format "\n", ##__VA_ARGS__)

#endif  // HOSTCANN_KERNEL_PRINT_H
