// SPDX-License-Identifier: Apache-2.0
// Copies, casts, fills and everything that only moves elements.
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/channel_shuffle.h>
#include <ATen/ops/col2im.h>
#include <ATen/ops/complex.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/copy.h>
#include <ATen/ops/eye.h>
#include <ATen/ops/fill.h>
#include <ATen/ops/fill_diagonal.h>
#include <ATen/ops/flip.h>
#include <ATen/ops/im2col.h>
#include <ATen/ops/linspace.h>
#include <ATen/ops/logspace.h>
#include <ATen/ops/polar.h>
#include <ATen/ops/range.h>
#include <ATen/ops/reflection_pad1d.h>
#include <ATen/ops/reflection_pad1d_backward.h>
#include <ATen/ops/reflection_pad2d.h>
#include <ATen/ops/reflection_pad2d_backward.h>
#include <ATen/ops/reflection_pad3d.h>
#include <ATen/ops/reflection_pad3d_backward.h>
#include <ATen/ops/repeat.h>
#include <ATen/ops/repeat_interleave.h>
#include <ATen/ops/replication_pad1d.h>
#include <ATen/ops/replication_pad1d_backward.h>
#include <ATen/ops/replication_pad2d.h>
#include <ATen/ops/replication_pad2d_backward.h>
#include <ATen/ops/replication_pad3d.h>
#include <ATen/ops/replication_pad3d_backward.h>
#include <ATen/ops/roll.h>
#include <ATen/ops/split_with_sizes.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tril.h>
#include <ATen/ops/triu.h>
#include <ATen/ops/unfold_backward.h>
#include <ATen/ops/zero.h>

#include "call.h"

namespace hostcann::opapi {
static constexpr char kFamily[] = "shape";
static constexpr Halves kHalves = Halves::as_they_are;

HOSTCANN_ACLNN(InplaceCopy, (Out self, In source)) { self.copy_(source); }
HOSTCANN_ACLNN(Cast, (In self, ScalarType, Out out)) { assign(out, self); }
HOSTCANN_ACLNN(InplaceZero, (Out self)) { self.zero_(); }
HOSTCANN_ACLNN(InplaceOne, (Out self)) { self.fill_(1); }
HOSTCANN_ACLNN(InplaceFillScalar, (Out self, Number value)) { self.fill_(value); }
HOSTCANN_ACLNN(InplaceFillTensor, (Out self, In value)) { self.fill_(value.reshape({})); }
HOSTCANN_ACLNN(InplaceFillDiagonal, (Out self, Number value, bool wrap)) {
  self.fill_diagonal_(value, wrap);
}

HOSTCANN_ACLNN(Arange, (Number start, Number end, Number step, Out out)) {
  at::arange_out(out, start, end, step);
}
HOSTCANN_ACLNN(Range, (Number start, Number end, Number step, Out out)) {
  at::range_out(out, start, end, step);
}
HOSTCANN_ACLNN(Linspace, (Number start, Number end, int64_t steps, Out out)) {
  at::linspace_out(out, start, end, steps);
}
HOSTCANN_ACLNN(LogSpace, (Number start, Number end, int64_t steps, double base, Out out)) {
  at::logspace_out(out, start, end, steps, base);
}
HOSTCANN_ACLNN(Eye, (int64_t n, int64_t m, Out out)) { at::eye_out(out, n, m); }
HOSTCANN_ACLNN(Complex, (In real, In imaginary, Out out)) { at::complex_out(out, real, imaginary); }
HOSTCANN_ACLNN(Polar, (In size, In angle, Out out)) { at::polar_out(out, size, angle); }

// A caller may leave out empty tensors of any shape, as torch.cat does.
static void expect_alike(Tensors tensors, int64_t dim, Out out) {
  const int64_t axis = c10::maybe_wrap_dim(dim, out.dim());
  for (const Tensor& tensor : tensors) {
    if (tensor.dim() == 1 && tensor.numel() == 0) continue;
    bool alike = tensor.dim() == out.dim();
    for (int64_t i = 0; alike && i < out.dim(); ++i) {
      alike = i == axis || tensor.size(i) == out.size(i);
    }
    TORCH_CHECK(alike, "tensors: expected the output's shape but in dimension ", dim, ", ",
                out.sizes(), ", got shape ", tensor.sizes());
  }
}
HOSTCANN_ACLNN_CHECKED(Cat, (Tensors tensors, int64_t dim, Out out), expect_alike) {
  at::cat_out(out, tensors, dim);
}
static void expect_stack(Tensors tensors, int64_t, Out) {
  for (const Tensor& tensor : tensors) {
    TORCH_CHECK(tensor.sizes() == tensors[0].sizes(), "tensors: expected one shape, got ",
                tensors[0].sizes(), " and ", tensor.sizes());
  }
}
HOSTCANN_ACLNN_CHECKED(Stack, (Tensors tensors, int64_t dim, Out out), expect_stack) {
  at::stack_out(out, tensors, dim);
}
HOSTCANN_ACLNN(SplitWithSize, (In self, Ints sizes, int64_t dim, OutTensors out)) {
  const std::vector<Tensor> parts = self.split_with_sizes(sizes, dim);
  TORCH_CHECK(parts.size() == out.size(), "expected ", parts.size(), " outputs, got ", out.size());
  for (size_t i = 0; i < parts.size(); ++i) assign(out[i], parts[i]);
}

HOSTCANN_ACLNN(Repeat, (In self, Ints repeats, Out out)) { assign(out, self.repeat(repeats)); }
HOSTCANN_ACLNN(RepeatInterleave, (In self, In repeats, int64_t, Out out)) {
  assign(out, self.repeat_interleave(repeats));
}
HOSTCANN_ACLNN(RepeatInterleaveWithDim, (In self, In repeats, int64_t dim, int64_t, Out out)) {
  assign(out, self.repeat_interleave(repeats, dim));
}
HOSTCANN_ACLNN(RepeatInterleaveInt, (In self, int64_t repeats, int64_t, Out out)) {
  assign(out, self.repeat_interleave(repeats));
}
HOSTCANN_ACLNN(RepeatInterleaveIntWithDim,
               (In self, int64_t repeats, int64_t dim, int64_t, Out out)) {
  assign(out, self.repeat_interleave(repeats, dim));
}
HOSTCANN_ACLNN(RepeatInterleaveTensor, (In repeats, int64_t, Out out)) {
  assign(out, at::repeat_interleave(repeats));
}

HOSTCANN_ACLNN(Tril, (In self, int64_t diagonal, Out out)) { at::tril_out(out, self, diagonal); }
HOSTCANN_ACLNN(Triu, (In self, int64_t diagonal, Out out)) { at::triu_out(out, self, diagonal); }
HOSTCANN_ACLNN(InplaceTril, (Out self, int64_t diagonal)) { self.tril_(diagonal); }
HOSTCANN_ACLNN(InplaceTriu, (Out self, int64_t diagonal)) { self.triu_(diagonal); }
HOSTCANN_ACLNN(Flip, (In self, Ints dims, Out out)) { assign(out, at::flip(self, dims)); }
HOSTCANN_ACLNN(Roll, (In self, Ints shifts, Ints dims, Out out)) {
  assign(out, at::roll(self, shifts, dims));
}
HOSTCANN_ACLNN(ChannelShuffle, (In self, int64_t groups, Out out)) {
  assign(out, at::channel_shuffle(self, groups));
}
HOSTCANN_ACLNN(UnfoldGrad,
               (In grad, Ints input_sizes, int64_t dim, int64_t size, int64_t step, Out out)) {
  assign(out, at::unfold_backward(grad, input_sizes, dim, size, step));
}
HOSTCANN_ACLNN(Im2col, (In self, Ints kernel, Ints dilation, Ints padding, Ints stride, Out out)) {
  assign(out, at::im2col(self, kernel, dilation, padding, stride));
}

HOSTCANN_ACLNN(Im2colBackward, (In self, Ints size, Ints kernel, Ints dilation, Ints padding,
                                Ints stride, Out out)) {
  assign(out, at::col2im(self, size, kernel, dilation, padding, stride));
}

HOSTCANN_ACLNN(ConstantPadNd, (In self, Ints padding, Number value, Out out)) {
  assign(out, at::constant_pad_nd(self, padding, value));
}
#define HOSTCANN_PAD(name, op)                                                                   \
  HOSTCANN_ACLNN(name, (In self, Ints padding, Out out)) { assign(out, at::op(self, padding)); } \
  HOSTCANN_ACLNN(name##Backward, (In grad, In self, Ints padding, Out out)) {                    \
    assign(out, at::op##_backward(grad, self, padding));                                         \
  }
HOSTCANN_PAD(ReflectionPad1d, reflection_pad1d)
HOSTCANN_PAD(ReflectionPad2d, reflection_pad2d)
HOSTCANN_PAD(ReflectionPad3d, reflection_pad3d)
HOSTCANN_PAD(ReplicationPad1d, replication_pad1d)
HOSTCANN_PAD(ReplicationPad2d, replication_pad2d)
HOSTCANN_PAD(ReplicationPad3d, replication_pad3d)

}  // namespace hostcann::opapi
