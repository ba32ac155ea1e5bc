// SPDX-License-Identifier: Apache-2.0
// One kernel per function and element type: it takes a picture of the Unified Buffer in, makes one
// call with the form and the places it is told, and takes the picture out again.
#pragma once

#include "kernel_operator.h"

// As in vector_calls.py.
struct Call {
  int32_t form;  // 0: count, 1: mask of leading lanes, 2: mask of bits
  int32_t count;
  int32_t repeats;
  int32_t mode;
  int32_t places[4];   // byte offsets of dst, src0, src1, and of a fourth tensor
  int32_t strides[6];  // blocks of dst, src0, src1; repeats of dst, src0, src1
  uint64_t mask[2];
  double scalar;
};

constexpr uint32_t kPictureBytes = 32768;

class Picture {
 public:
  __aicore__ inline explicit Picture(GM_ADDR gm) {
    gm_.SetGlobalBuffer((__gm__ uint8_t*)gm, kPictureBytes);
    ub_ = AscendC::LocalTensor<uint8_t>(AscendC::TPosition::VECCALC, 0, kPictureBytes);
    AscendC::DataCopy(ub_, gm_, kPictureBytes);
    AscendC::PipeBarrier<PIPE_ALL>();
  }
  template <typename T>
  __aicore__ inline AscendC::LocalTensor<T> at(int32_t place) {
    return ub_[place].template ReinterpretCast<T>();
  }
  __aicore__ inline void write_back() {
    AscendC::PipeBarrier<PIPE_ALL>();
    AscendC::DataCopy(gm_, ub_, kPictureBytes);
  }

 private:
  AscendC::GlobalTensor<uint8_t> gm_;
  AscendC::LocalTensor<uint8_t> ub_;
};

__aicore__ inline AscendC::BinaryRepeatParams binary_params(const Call& c) {
  return AscendC::BinaryRepeatParams(c.strides[0], c.strides[1], c.strides[2], c.strides[3],
                                     c.strides[4], c.strides[5]);
}
__aicore__ inline AscendC::UnaryRepeatParams unary_params(const Call& c) {
  return AscendC::UnaryRepeatParams(c.strides[0], c.strides[1], c.strides[3], c.strides[4]);
}

#define CALL_KERNEL(name, T, ...)                                               \
  __global__ __vector__ void name##_##T(GM_ADDR gm, Call c) {                   \
    Picture picture(gm);                                                        \
    [[maybe_unused]] auto dst = picture.at<T>(c.places[0]);                     \
    [[maybe_unused]] auto src0 = picture.at<T>(c.places[1]);                    \
    [[maybe_unused]] auto src1 = picture.at<T>(c.places[2]);                    \
    [[maybe_unused]] const T scalar = static_cast<T>(c.scalar);                 \
    __VA_ARGS__                                                                 \
    picture.write_back();                                                       \
  }                                                                             \
  extern "C" void call_##name##_##T(void* stream, uint8_t* gm, const Call* c) { \
    name##_##T<<<1, nullptr, stream>>>(gm, *c);                                 \
  }

#define BINARY_KERNEL(Name, T)                                                            \
  CALL_KERNEL(Name, T, if (c.form == 0) AscendC::Name(dst, src0, src1, c.count);          \
              else if (c.form == 1)                                                       \
                  AscendC::Name(dst, src0, src1, c.mask[0], c.repeats, binary_params(c)); \
              else AscendC::Name(dst, src0, src1, c.mask, c.repeats, binary_params(c));)
#define UNARY_KERNEL(Name, T)                                                                    \
  CALL_KERNEL(Name, T, if (c.form == 0) AscendC::Name(dst, src0, c.count); else if (c.form == 1) \
                  AscendC::Name(dst, src0, c.mask[0], c.repeats, unary_params(c));               \
              else AscendC::Name(dst, src0, c.mask, c.repeats, unary_params(c));)
#define SCALAR_KERNEL(Name, T)                                                             \
  CALL_KERNEL(Name, T, if (c.form == 0) AscendC::Name(dst, src0, scalar, c.count);         \
              else if (c.form == 1)                                                        \
                  AscendC::Name(dst, src0, scalar, c.mask[0], c.repeats, unary_params(c)); \
              else AscendC::Name(dst, src0, scalar, c.mask, c.repeats, unary_params(c));)
