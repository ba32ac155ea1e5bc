// SPDX-License-Identifier: Apache-2.0
// Layout: a shape and strides, as TransData is told them.
#ifndef HOSTCANN_TENSOR_LAYOUT_H
#define HOSTCANN_TENSOR_LAYOUT_H

#include <cstddef>
#include <tuple>

namespace AscendC {

template <typename... Sizes>
using Shape = std::tuple<Sizes...>;
template <typename... Sizes>
using Stride = std::tuple<Sizes...>;

template <typename... Sizes>
constexpr Shape<Sizes...> MakeShape(const Sizes&... sizes) {
  return {sizes...};
}
template <typename... Sizes>
constexpr Stride<Sizes...> MakeStride(const Sizes&... sizes) {
  return {sizes...};
}

template <typename ShapeType, typename StrideType>
struct Layout {
  static constexpr size_t rank = std::tuple_size_v<ShapeType>;

  constexpr Layout(const ShapeType& sizes = {}, const StrideType& steps = {})
      : shape_(sizes), stride_(steps) {}

  constexpr ShapeType GetShape() const { return shape_; }
  constexpr StrideType GetStride() const { return stride_; }

 private:
  ShapeType shape_;
  StrideType stride_;
};

template <typename ShapeType, typename StrideType>
constexpr Layout<ShapeType, StrideType> MakeLayout(const ShapeType& shape,
                                                   const StrideType& stride) {
  return {shape, stride};
}

}  // namespace AscendC

#endif  // HOSTCANN_TENSOR_LAYOUT_H
