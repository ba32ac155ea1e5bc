// SPDX-License-Identifier: Apache-2.0
// Resizing and sampling of images.
#include <ATen/ops/_upsample_bicubic2d_aa.h>
#include <ATen/ops/_upsample_bicubic2d_aa_backward.h>
#include <ATen/ops/_upsample_bilinear2d_aa.h>
#include <ATen/ops/_upsample_bilinear2d_aa_backward.h>
#include <ATen/ops/_upsample_nearest_exact1d.h>
#include <ATen/ops/_upsample_nearest_exact1d_backward.h>
#include <ATen/ops/_upsample_nearest_exact2d.h>
#include <ATen/ops/_upsample_nearest_exact2d_backward.h>
#include <ATen/ops/_upsample_nearest_exact3d.h>
#include <ATen/ops/_upsample_nearest_exact3d_backward.h>
#include <ATen/ops/affine_grid_generator.h>
#include <ATen/ops/grid_sampler_2d.h>
#include <ATen/ops/grid_sampler_2d_backward.h>
#include <ATen/ops/grid_sampler_3d.h>
#include <ATen/ops/grid_sampler_3d_backward.h>
#include <ATen/ops/upsample_bicubic2d.h>
#include <ATen/ops/upsample_bicubic2d_backward.h>
#include <ATen/ops/upsample_bilinear2d.h>
#include <ATen/ops/upsample_bilinear2d_backward.h>
#include <ATen/ops/upsample_linear1d.h>
#include <ATen/ops/upsample_linear1d_backward.h>
#include <ATen/ops/upsample_nearest1d.h>
#include <ATen/ops/upsample_nearest1d_backward.h>
#include <ATen/ops/upsample_nearest2d.h>
#include <ATen/ops/upsample_nearest2d_backward.h>
#include <ATen/ops/upsample_nearest3d.h>
#include <ATen/ops/upsample_nearest3d_backward.h>
#include <ATen/ops/upsample_trilinear3d.h>
#include <ATen/ops/upsample_trilinear3d_backward.h>

#include <array>

#include "call.h"

namespace hostcann::opapi {
static constexpr char kFamily[] = "resample";
static constexpr Halves kHalves = Halves::widened;

// Scales that are not positive stand for none: they then follow from the sizes.
static std::optional<double> scale(double value) {
  return value > 0 ? std::optional<double>(value) : std::nullopt;
}

// By the number of scales, with and without a say in how corners are aligned.
#define HOSTCANN_RESIZE_1(name, op, Scale)                             \
  HOSTCANN_ACLNN(name, (In self, Ints size, Scale scale_w, Out out)) { \
    assign(out, at::op(self, size, scale(scale_w)));                   \
  }
#define HOSTCANN_RESIZE_1_BACK(name, op)                                                 \
  HOSTCANN_ACLNN(name, (In grad, Ints size, Ints input_size, double scale_w, Out out)) { \
    assign(out, at::op(grad, size, input_size, scale(scale_w)));                         \
  }
#define HOSTCANN_RESIZE_2(name, op, Scale)                                            \
  HOSTCANN_ACLNN(name, (In self, Ints size, Scale scale_h, Scale scale_w, Out out)) { \
    assign(out, at::op(self, size, scale(scale_h), scale(scale_w)));                  \
  }
#define HOSTCANN_RESIZE_2_BACK(name, op)                                                           \
  HOSTCANN_ACLNN(name,                                                                             \
                 (In grad, Ints size, Ints input_size, double scale_h, double scale_w, Out out)) { \
    assign(out, at::op(grad, size, input_size, scale(scale_h), scale(scale_w)));                   \
  }
#define HOSTCANN_RESIZE_3(name, op)                                                               \
  HOSTCANN_ACLNN(name,                                                                            \
                 (In self, Ints size, double scale_d, double scale_h, double scale_w, Out out)) { \
    assign(out, at::op(self, size, scale(scale_d), scale(scale_h), scale(scale_w)));              \
  }                                                                                               \
  HOSTCANN_ACLNN(name##Backward, (In grad, Ints size, Ints input_size, double scale_d,            \
                                  double scale_h, double scale_w, Out out)) {                     \
    assign(out, at::op##_backward(grad, size, input_size, scale(scale_d), scale(scale_h),         \
                                  scale(scale_w)));                                               \
  }
#define HOSTCANN_ALIGNED_2(name, op)                                                          \
  HOSTCANN_ACLNN(name,                                                                        \
                 (In self, Ints size, bool align, double scale_h, double scale_w, Out out)) { \
    assign(out, at::op(self, size, align, scale(scale_h), scale(scale_w)));                   \
  }
#define HOSTCANN_ALIGNED_2_BACK(name, op)                                                \
  HOSTCANN_ACLNN(name, (In grad, Ints size, Ints input_size, bool align, double scale_h, \
                        double scale_w, Out out)) {                                      \
    assign(out, at::op(grad, size, input_size, align, scale(scale_h), scale(scale_w)));  \
  }

HOSTCANN_ACLNN(UpsampleNearest1d, (In self, Ints size, Out out)) {
  assign(out, at::upsample_nearest1d(self, size));
}
HOSTCANN_ACLNN(UpsampleNearest2d, (In self, Ints size, Out out)) {
  assign(out, at::upsample_nearest2d(self, size));
}
HOSTCANN_RESIZE_1(UpsampleNearest1dV2, upsample_nearest1d, float)
HOSTCANN_RESIZE_1_BACK(UpsampleNearest1dBackward, upsample_nearest1d_backward)
HOSTCANN_RESIZE_2(UpsampleNearest2dV2, upsample_nearest2d, float)
HOSTCANN_RESIZE_2_BACK(UpsampleNearest2dBackward, upsample_nearest2d_backward)
HOSTCANN_RESIZE_3(UpsampleNearest3d, upsample_nearest3d)
HOSTCANN_RESIZE_1(UpsampleNearestExact1d, _upsample_nearest_exact1d, double)
HOSTCANN_RESIZE_1_BACK(UpsampleNearestExact1dBackward, _upsample_nearest_exact1d_backward)
HOSTCANN_RESIZE_2(UpsampleNearestExact2d, _upsample_nearest_exact2d, double)
HOSTCANN_RESIZE_2_BACK(UpsampleNearestExact2dBackward, _upsample_nearest_exact2d_backward)
HOSTCANN_RESIZE_3(UpsampleNearestExact3d, _upsample_nearest_exact3d)

HOSTCANN_ACLNN(UpsampleLinear1d, (In self, Ints size, bool align, double scale_w, Out out)) {
  assign(out, at::upsample_linear1d(self, size, align, scale(scale_w)));
}
HOSTCANN_ACLNN(UpsampleLinear1dBackward,
               (In grad, Ints size, Ints input_size, bool align, double scale_w, Out out)) {
  assign(out, at::upsample_linear1d_backward(grad, size, input_size, align, scale(scale_w)));
}
HOSTCANN_ALIGNED_2(UpsampleBilinear2d, upsample_bilinear2d)
HOSTCANN_ALIGNED_2_BACK(UpsampleBilinear2dBackward, upsample_bilinear2d_backward)
HOSTCANN_ALIGNED_2_BACK(UpsampleBilinear2dBackwardV2, upsample_bilinear2d_backward)
HOSTCANN_ALIGNED_2(UpsampleBilinear2dAA, _upsample_bilinear2d_aa)
HOSTCANN_ALIGNED_2_BACK(UpsampleBilinear2dAABackward, _upsample_bilinear2d_aa_backward)
HOSTCANN_ALIGNED_2(UpsampleBicubic2d, upsample_bicubic2d)
HOSTCANN_ALIGNED_2_BACK(UpsampleBicubic2dBackward, upsample_bicubic2d_backward)
HOSTCANN_ALIGNED_2(UpsampleBicubic2dAA, _upsample_bicubic2d_aa)
HOSTCANN_ALIGNED_2_BACK(UpsampleBicubic2dAAGrad, _upsample_bicubic2d_aa_backward)
HOSTCANN_ACLNN(UpsampleTrilinear3d, (In self, Ints size, bool align, double scale_d, double scale_h,
                                     double scale_w, Out out)) {
  assign(out, at::upsample_trilinear3d(self, size, align, scale(scale_d), scale(scale_h),
                                       scale(scale_w)));
}
HOSTCANN_ACLNN(UpsampleTrilinear3dBackward,
               (In grad, Ints size, Ints input_size, bool align, double scale_d, double scale_h,
                double scale_w, Out out)) {
  assign(out, at::upsample_trilinear3d_backward(grad, size, input_size, align, scale(scale_d),
                                                scale(scale_h), scale(scale_w)));
}

// torch's CPU kernels sample float and double; a half is widened, as the device does.
static Tensor wide(In self) {
  return c10::isReducedFloatingType(self.scalar_type()) ? self.to(ScalarType::Float) : self;
}
#define HOSTCANN_GRID_SAMPLER(name, op)                                                         \
  HOSTCANN_ACLNN(name, (In self, In grid, int64_t how, int64_t padding, bool align, Out out)) { \
    assign(out, at::op(wide(self), wide(grid), how, padding, align));                           \
  }                                                                                             \
  HOSTCANN_ACLNN(name##Backward, (In grad, In self, In grid, int64_t how, int64_t padding,      \
                                  bool align, Bools mask, MaybeOut grad_self, Out grad_grid)) { \
    TORCH_CHECK(mask.size() == 2, "output mask: expected 2 values, got ", mask.size());         \
    const std::array<bool, 2> wanted = {mask[0] != 0, mask[1] != 0};                            \
    const auto [a, b] =                                                                         \
        at::op##_backward(wide(grad), wide(self), wide(grid), how, padding, align, wanted);     \
    if (wanted[0] && grad_self != nullptr) assign(*grad_self, a);                               \
    if (wanted[1]) assign(grad_grid, b);                                                        \
  }
HOSTCANN_GRID_SAMPLER(GridSampler2D, grid_sampler_2d)
HOSTCANN_GRID_SAMPLER(GridSampler3D, grid_sampler_3d)
HOSTCANN_ACLNN(AffineGrid, (In theta, Ints size, bool align, Out out)) {
  assign(out, at::affine_grid_generator(wide(theta), size, align));
}

}  // namespace hostcann::opapi
