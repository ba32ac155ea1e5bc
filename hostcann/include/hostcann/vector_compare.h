// SPDX-License-Identifier: Apache-2.0
// Comparisons to bits and selections by bits. Bit i of the mask belongs to element i: the lowest
// bit of byte i / 8 first.
#ifndef HOSTCANN_VECTOR_COMPARE_H
#define HOSTCANN_VECTOR_COMPARE_H

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "hostcann/vector_arithmetic.h"

namespace AscendC {

enum class CMPMODE : uint8_t { LT = 0, GT, EQ, LE, GE, NE };

enum class SELMODE : uint8_t {
  VSEL_CMPMASK_SPR = 0,     // every repeat takes the same bits, those of the first
  VSEL_TENSOR_SCALAR_MODE,  // src1 is a scalar
  VSEL_TENSOR_TENSOR_MODE,
};

}  // namespace AscendC

namespace hostcann {

using AscendC::CMPMODE;
using AscendC::SELMODE;

template <typename T>
inline bool holds(CMPMODE mode, T a, T b) {
  switch (mode) {
    case CMPMODE::LT:
      return a < b;
    case CMPMODE::GT:
      return a > b;
    case CMPMODE::EQ:
      return a == b;
    case CMPMODE::LE:
      return a <= b;
    case CMPMODE::GE:
      return a >= b;
    default:
      return a != b;
  }
}

// A sequence of bits in the Unified Buffer.
struct BitView {
  uint8_t* data = nullptr;

  bool at(size_t index) const { return ((data[index / 8] >> (index % 8)) & 1) != 0; }
  void set(size_t index, bool bit) const {
    const uint8_t one = static_cast<uint8_t>(1u << (index % 8));
    data[index / 8] = static_cast<uint8_t>(bit ? data[index / 8] | one : data[index / 8] & ~one);
  }
};

template <typename U>
inline BitView bits_of(const char* caller, const char* name, Access access,
                       const AscendC::LocalTensor<U>& tensor, size_t count) {
  const size_t bytes = (count + 7) / 8;
  uint8_t* const data = tensor.view().aligned(caller, name, bytes);
  note(caller, name, Unit::kVector, access, data, bytes);
  return {data};
}

template <typename T>
inline void check_compare(const char* caller, CMPMODE mode) {
  static_assert(kIsOneOf<T, half, float, int32_t>,
                "Compare and Compares of dav-2201 take half, float and, for EQ, int32_t");
  if (std::is_same_v<T, int32_t> && mode != CMPMODE::EQ) {
    fault("%s: expected CMPMODE::EQ for int32_t, the only one that dav-2201 has, got another",
          caller);
  }
}

// Every repeat yields one bit per lane; the mask is not looked at.
template <typename T, typename U, typename Right>
inline void run_compare(const char* caller, const Walk& walk, const AscendC::LocalTensor<U>& dst,
                        const Operand<T>& left, CMPMODE mode, Right right) {
  static_assert(kIsOneOf<U, int8_t, uint8_t>, "dst of Compare and Compares is int8_t or uint8_t");
  check_compare<T>(caller, mode);
  const BitView out = bits_of(caller, "dst", Access::kWrite, dst, walk.elements());
  Register<T> a;
  Register<T> b;
  for (size_t repeat = 0; repeat < walk.repeats; ++repeat) {
    left.load(a.lanes, walk, repeat);
    right(b.lanes, repeat);
    for (size_t i = 0; i < walk.lanes_of(repeat); ++i) {
      out.set(repeat * walk.lanes + i, holds(mode, a.lanes[i], b.lanes[i]));
    }
  }
}

inline Walk compared_walk(const char* caller, size_t element_bytes, uint32_t count) {
  if (count * element_bytes % kRepeatBytes != 0) {
    fault(
        "%s: expected count x element size to be a multiple of 256 bytes, got %u x %zu = %zu; the "
        "hardware does not compare the rest, round count up",
        caller, count, element_bytes, count * element_bytes);
  }
  return counted_walk(caller, element_bytes, count);
}

inline Walk whole_repeats(size_t element_bytes, size_t repeats) {
  Walk walk;
  walk.lanes = kRepeatBytes / element_bytes;
  walk.repeats = repeats;
  walk.mask = leading_lanes(walk.lanes);
  return walk;
}

template <typename T, typename U>
inline void compare_tensors(const Walk& walk, const AscendC::LocalTensor<U>& dst,
                            const AscendC::LocalTensor<T>& src0,
                            const AscendC::LocalTensor<T>& src1, CMPMODE mode,
                            const AscendC::BinaryRepeatParams& params) {
  const Operand<T> left = operand("Compare", "src0", src0, walk, src0_of(params));
  const Operand<T> right = operand("Compare", "src1", src1, walk, src1_of(params));
  note_lanes("Compare", "src0", Access::kRead, walk, left);
  note_lanes("Compare", "src1", Access::kRead, walk, right);
  run_compare("Compare", walk, dst, left, mode,
              [&](T* lanes, size_t repeat) { right.load(lanes, walk, repeat); });
}

template <typename T, typename U>
inline void compare_scalar(const Walk& walk, const AscendC::LocalTensor<U>& dst,
                           const AscendC::LocalTensor<T>& src, T scalar, CMPMODE mode,
                           const AscendC::UnaryRepeatParams& params) {
  const Operand<T> left = operand("Compares", "src0", src, walk, src_of(params));
  note_lanes("Compares", "src0", Access::kRead, walk, left);
  run_compare("Compares", walk, dst, left, mode, [&](T* lanes, size_t) {
    for (size_t i = 0; i < walk.lanes; ++i) lanes[i] = scalar;
  });
}

// `right` fills in the lanes that a 0 selects.
template <typename T, typename U, typename Right>
inline void run_select(const Walk& walk, const AscendC::LocalTensor<T>& dst,
                       const AscendC::LocalTensor<U>* mask, const AscendC::LocalTensor<T>& src0,
                       SELMODE mode, const AscendC::BinaryRepeatParams& params, Right right) {
  static_assert(kIsOneOf<T, half, float>, "Select of dav-2201 takes half, float");
  const bool same_bits = mode == SELMODE::VSEL_CMPMASK_SPR;
  const MaskRegister held = this_block("Select").compare_mask;
  uint8_t held_bytes[sizeof(held)];
  std::memcpy(held_bytes, &held, sizeof(held));
  BitView bits{held_bytes};
  if (mask != nullptr) {
    const size_t count = walk.elements();
    bits = bits_of("Select", "selMask", Access::kRead, *mask,
                   same_bits && count > walk.lanes ? walk.lanes : count);
  }
  const Operand<T> left = operand("Select", "src0", src0, walk, src0_of(params));
  const Operand<T> to = operand("Select", "dst", dst, walk, dst_of(params));
  note_lanes("Select", "src0", Access::kRead, walk, left);
  note_lanes("Select", "dst", Access::kWrite, walk, to);
  Register<T> chosen;
  Register<T> other;
  for (size_t repeat = 0; repeat < walk.repeats; ++repeat) {
    left.load(chosen.lanes, walk, repeat);
    right(other.lanes, repeat);
    for (size_t i = 0; i < walk.lanes_of(repeat); ++i) {
      if (!bits.at(same_bits ? i : repeat * walk.lanes + i)) chosen.lanes[i] = other.lanes[i];
    }
    to.store(chosen.lanes, walk, repeat);
  }
}

template <typename T, typename U>
inline void select_tensor(const Walk& walk, const AscendC::LocalTensor<T>& dst,
                          const AscendC::LocalTensor<U>* mask, const AscendC::LocalTensor<T>& src0,
                          const AscendC::LocalTensor<T>& src1, SELMODE mode,
                          const AscendC::BinaryRepeatParams& params) {
  if (mode == SELMODE::VSEL_TENSOR_SCALAR_MODE) {
    fault("Select: expected a scalar src1 for VSEL_TENSOR_SCALAR_MODE, got a tensor");
  }
  const Operand<T> right = operand("Select", "src1", src1, walk, src1_of(params));
  note_lanes("Select", "src1", Access::kRead, walk, right);
  run_select(walk, dst, mask, src0, mode, params,
             [&](T* lanes, size_t repeat) { right.load(lanes, walk, repeat); });
}

template <typename T, typename U>
inline void select_scalar(const Walk& walk, const AscendC::LocalTensor<T>& dst,
                          const AscendC::LocalTensor<U>* mask, const AscendC::LocalTensor<T>& src0,
                          T scalar, SELMODE mode, const AscendC::BinaryRepeatParams& params) {
  if (mode == SELMODE::VSEL_TENSOR_TENSOR_MODE) {
    fault("Select: expected a tensor src1 for VSEL_TENSOR_TENSOR_MODE, got a scalar");
  }
  run_select(walk, dst, mask, src0, mode, params, [&](T* lanes, size_t) {
    for (size_t i = 0; i < walk.lanes; ++i) lanes[i] = scalar;
  });
}

}  // namespace hostcann

namespace AscendC {

template <typename T, typename U>
inline void Compare(const LocalTensor<U>& dst, const LocalTensor<T>& src0,
                    const LocalTensor<T>& src1, CMPMODE cmpMode, uint32_t count,
                    hostcann::CallSite = {}) {
  hostcann::compare_tensors(hostcann::compared_walk("Compare", sizeof(T), count), dst, src0, src1,
                            cmpMode, {});
}
template <typename T, typename U, bool isSetMask = true, typename Mask>
inline void Compare(const LocalTensor<U>& dst, const LocalTensor<T>& src0,
                    const LocalTensor<T>& src1, CMPMODE cmpMode, Mask, uint8_t repeatTime,
                    const BinaryRepeatParams& repeatParams, hostcann::CallSite = {}) {
  hostcann::compare_tensors(hostcann::whole_repeats(sizeof(T), repeatTime), dst, src0, src1,
                            cmpMode, repeatParams);
}

// Of one repeat, into the register that Select and GetCmpMask read.
template <typename T, bool isSetMask = true, typename Mask>
inline void Compare(const LocalTensor<T>& src0, const LocalTensor<T>& src1, CMPMODE cmpMode,
                    Mask mask, const BinaryRepeatParams& repeatParams, hostcann::CallSite = {}) {
  const hostcann::Walk walk = hostcann::masked_walk("Compare", sizeof(T), isSetMask, mask, 1);
  hostcann::check_compare<T>("Compare", cmpMode);
  const auto left =
      hostcann::operand("Compare", "src0", src0, walk, hostcann::src0_of(repeatParams));
  const auto right =
      hostcann::operand("Compare", "src1", src1, walk, hostcann::src1_of(repeatParams));
  hostcann::note_lanes("Compare", "src0", hostcann::Access::kRead, walk, left);
  hostcann::note_lanes("Compare", "src1", hostcann::Access::kRead, walk, right);
  hostcann::Register<T> a;
  hostcann::Register<T> b;
  left.load(a.lanes, walk, 0);
  right.load(b.lanes, walk, 0);
  hostcann::MaskRegister bits{0, 0};
  for (size_t i = 0; i < walk.lanes_of(0); ++i) {
    if (!walk.on(i) || !hostcann::holds(cmpMode, a.lanes[i], b.lanes[i])) continue;
    (i < 64 ? bits.low : bits.high) |= uint64_t{1} << (i % 64);
  }
  hostcann::this_block("Compare").compare_mask = bits;
}

template <typename T, typename U>
inline void Compares(const LocalTensor<U>& dst, const LocalTensor<T>& src0, const T src1Scalar,
                     CMPMODE cmpMode, uint32_t count, hostcann::CallSite = {}) {
  hostcann::compare_scalar(hostcann::compared_walk("Compares", sizeof(T), count), dst, src0,
                           src1Scalar, cmpMode, {});
}
template <typename T, typename U, bool isSetMask = true, typename Mask>
inline void Compares(const LocalTensor<U>& dst, const LocalTensor<T>& src0, const T src1Scalar,
                     CMPMODE cmpMode, Mask, uint8_t repeatTime,
                     const UnaryRepeatParams& repeatParams, hostcann::CallSite = {}) {
  hostcann::compare_scalar(hostcann::whole_repeats(sizeof(T), repeatTime), dst, src0, src1Scalar,
                           cmpMode, repeatParams);
}
// The older name.
template <typename T, typename U>
inline void CompareScalar(const LocalTensor<U>& dst, const LocalTensor<T>& src0, const T src1Scalar,
                          CMPMODE cmpMode, uint32_t count, hostcann::CallSite site = {}) {
  Compares(dst, src0, src1Scalar, cmpMode, count, site);
}

template <typename T>
inline void GetCmpMask(const LocalTensor<T>& dst, hostcann::CallSite = {}) {
  constexpr size_t kBytes = sizeof(hostcann::MaskRegister);
  uint8_t* const to = dst.view().aligned("GetCmpMask", "dst", kBytes);
  hostcann::note("GetCmpMask", "dst", hostcann::Unit::kVector, hostcann::Access::kWrite, to,
                 kBytes);
  std::memcpy(to, &hostcann::this_block("GetCmpMask").compare_mask, kBytes);
}
template <typename T>
inline void SetCmpMask(const LocalTensor<T>& src, hostcann::CallSite = {}) {
  constexpr size_t kBytes = sizeof(hostcann::MaskRegister);
  const uint8_t* const from = src.view().aligned("SetCmpMask", "src", kBytes);
  hostcann::note("SetCmpMask", "src", hostcann::Unit::kVector, hostcann::Access::kRead, from,
                 kBytes);
  std::memcpy(&hostcann::this_block("SetCmpMask").compare_mask, from, kBytes);
}

template <typename T, typename U>
inline void Select(const LocalTensor<T>& dst, const LocalTensor<U>& selMask,
                   const LocalTensor<T>& src0, T src1, SELMODE selMode, uint32_t count,
                   hostcann::CallSite = {}) {
  hostcann::select_scalar(hostcann::counted_walk("Select", sizeof(T), count), dst, &selMask, src0,
                          src1, selMode, {});
}
template <typename T, typename U>
inline void Select(const LocalTensor<T>& dst, const LocalTensor<U>& selMask,
                   const LocalTensor<T>& src0, const LocalTensor<T>& src1, SELMODE selMode,
                   uint32_t count, hostcann::CallSite = {}) {
  hostcann::select_tensor(hostcann::counted_walk("Select", sizeof(T), count), dst, &selMask, src0,
                          src1, selMode, {});
}
template <typename T, typename U, bool isSetMask = true, typename Mask>
inline void Select(const LocalTensor<T>& dst, const LocalTensor<U>& selMask,
                   const LocalTensor<T>& src0, T src1, SELMODE selMode, Mask mask,
                   uint8_t repeatTime, const BinaryRepeatParams& repeatParams,
                   hostcann::CallSite = {}) {
  hostcann::select_scalar(hostcann::masked_walk("Select", sizeof(T), isSetMask, mask, repeatTime),
                          dst, &selMask, src0, src1, selMode, repeatParams);
}
template <typename T, typename U, bool isSetMask = true, typename Mask>
inline void Select(const LocalTensor<T>& dst, const LocalTensor<U>& selMask,
                   const LocalTensor<T>& src0, const LocalTensor<T>& src1, SELMODE selMode,
                   Mask mask, uint8_t repeatTime, const BinaryRepeatParams& repeatParams,
                   hostcann::CallSite = {}) {
  hostcann::select_tensor(hostcann::masked_walk("Select", sizeof(T), isSetMask, mask, repeatTime),
                          dst, &selMask, src0, src1, selMode, repeatParams);
}
// By the bits that Compare or SetCmpMask left in the register.
template <typename T, SELMODE selMode>
inline void Select(const LocalTensor<T>& dst, const LocalTensor<T>& src0,
                   const LocalTensor<T>& src1, uint8_t repeatTime,
                   const BinaryRepeatParams& repeatParams, hostcann::CallSite = {}) {
  static_assert(selMode == SELMODE::VSEL_CMPMASK_SPR, "without selMask the register is the mask");
  hostcann::select_tensor<T, uint8_t>(
      hostcann::masked_walk("Select", sizeof(T), false, uint64_t{0}, repeatTime), dst, nullptr,
      src0, src1, selMode, repeatParams);
}

}  // namespace AscendC

#endif  // HOSTCANN_VECTOR_COMPARE_H
