// SPDX-License-Identifier: Apache-2.0
// Transpose by a tiling, between plain matrices (ND) and those stored in squares of 16 x 16 (NZ),
// and TransData between the formats of a convolution.
#ifndef HOSTCANN_ADVANCED_TRANSPOSE_H
#define HOSTCANN_ADVANCED_TRANSPOSE_H

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "hostcann/advanced_call.h"
#include "hostcann/tensor_layout.h"
#include "hostcann/tiling_structs.h"
#include "hostcann/vector_transpose.h"

namespace hostcann {

constexpr size_t kSquare = 16;

constexpr size_t in_squares(size_t length) { return (length + kSquare - 1) / kSquare; }
constexpr size_t to_squares(size_t length) { return in_squares(length) * kSquare; }

// `count` matrices [rows, columns], their last rows and columns filled up.
struct Matrices {
  bool squares = false;
  size_t count = 0;
  size_t rows = 0;
  size_t columns = 0;

  size_t elements() const {
    return count * (squares ? to_squares(rows) : rows) * to_squares(columns);
  }
  size_t at(size_t matrix, size_t row, size_t column) const {
    const size_t width = to_squares(columns);
    if (!squares) return (matrix * rows + row) * width + column;
    const size_t square =
        (matrix * in_squares(columns) + column / kSquare) * in_squares(rows) + row / kSquare;
    return (square * kSquare + row % kSquare) * kSquare + column % kSquare;
  }
};

// What moves from `source` to `target`, both distinct.
template <typename T, typename Move>
inline void rearrange(const char* caller, const AscendC::LocalTensor<T>& dst,
                      const AscendC::LocalTensor<T>& src, const Scratch& scratch,
                      size_t dst_elements, size_t src_elements, Move move) {
  const T* const from = input(caller, "src", src, src_elements);
  T* const to = output(caller, "dst", dst, dst_elements);
  const auto* const read = reinterpret_cast<const uint8_t*>(from);
  auto* const written = reinterpret_cast<uint8_t*>(to);
  check_overlap(caller, "src", written, dst_elements * sizeof(T), read, src_elements * sizeof(T));
  if (written == read)
    fault("%s: expected dst and src to be disjoint, got the same tensor", caller);
  move(to, from);
  scratch.use(caller, {{dst, dst_elements}, {src, src_elements}});
}

// [b, n, s, d] read and written as the type says; [b, s, n x d] is the same with the axes merged.
template <typename T>
inline void transpose_by_type(const AscendC::LocalTensor<T>& dst,
                              const AscendC::LocalTensor<T>& src, const Scratch& scratch,
                              AscendC::TransposeType type,
                              const AscendC::tiling::ConfusionTransposeTiling& tiling) {
  using Type = AscendC::TransposeType;
  static_assert(kIsOneOf<T, int16_t, uint16_t, half, int32_t, uint32_t, float>,
                "Transpose by a tiling takes int16_t, uint16_t, half, int32_t, uint32_t, float");
  const size_t b = tiling.bLength;
  const size_t n = tiling.nLength;
  const size_t s = tiling.sLength;
  const size_t d = tiling.hLength;
  const bool swaps = type == Type::TRANSPOSE_NZ2ND_0213 || type == Type::TRANSPOSE_NZ2NZ_0213;
  const bool splits =
      type == Type::TRANSPOSE_NZ2NZ_012_WITH_N || type == Type::TRANSPOSE_NZ2ND_012_WITH_N;
  const bool merges =
      type == Type::TRANSPOSE_NZ2ND_012_WITHOUT_N || type == Type::TRANSPOSE_NZ2NZ_012_WITHOUT_N;
  const bool plain = type == Type::TRANSPOSE_ND2ND_ONLY;
  if (!swaps && !splits && !merges && !plain) {
    fault(
        "Transpose: expected one of the types from TRANSPOSE_NZ2ND_0213 to TRANSPOSE_ND2ND_ONLY, "
        "got type %u, which dav-2201 does not do",
        static_cast<unsigned>(type));
  }
  const bool whole_d = splits || merges || d % kSquare == 0;
  if (b * n * s * d == 0 || s % kSquare != 0 || !whole_d || (plain && b * n != 1)) {
    fault(
        "Transpose: expected [b, n, s, h] whose s and, but where n is split off or merged, h are "
        "multiples of 16, or such [s, h] for TRANSPOSE_ND2ND_ONLY, got [%zu, %zu, %zu, %zu]; make "
        "the tiling by GetTransposeTilingInfo",
        b, n, s, d);
  }
  const Matrices each_n = {!plain, b * n, s, d};
  const Matrices of_n = {type == Type::TRANSPOSE_NZ2NZ_0213, b * s, n, d};
  const Matrices merged = {true, b, s, n * d};
  const bool nd =
      type == Type::TRANSPOSE_NZ2ND_012_WITH_N || type == Type::TRANSPOSE_NZ2ND_012_WITHOUT_N;
  const Matrices source = splits ? merged : each_n;
  Matrices target = swaps ? of_n : plain ? Matrices{false, 1, d, s} : splits ? each_n : merged;
  if (splits || merges) target.squares = !nd;
  rearrange("Transpose", dst, src, scratch, target.elements(), source.elements(),
            [&](T* to, const T* from) {
              for (size_t i = 0; i < b * n * s * d; ++i) {
                const size_t column = i % d;
                const size_t row = i / d % s;
                const size_t head = i / d / s % n;
                const size_t batch = i / d / s / n;
                const size_t in = splits ? source.at(batch, row, head * d + column)
                                         : source.at(batch * n + head, row, column);
                const size_t out = plain    ? target.at(0, column, row)
                                   : swaps  ? target.at(batch * s + row, head, column)
                                   : splits ? target.at(batch * n + head, row, column)
                                            : target.at(batch, row, head * d + column);
                to[out] = from[in];
              }
            });
}

// [n, c, d, h, w], and what c and n are cut into.
struct Volume {
  size_t n = 0;
  size_t c = 0;
  size_t d = 0;
  size_t area = 0;

  size_t padded_area() const { return to_squares(area); }
  size_t plain() const { return n * c * d * padded_area(); }
  size_t cut(bool fractal) const {
    return d * to_squares(c) * area * (fractal ? to_squares(n) : n);
  }
  size_t plain_at(size_t in, size_t ic, size_t id, size_t i) const {
    return ((in * c + ic) * d + id) * padded_area() + i;
  }
  size_t cut_at(bool fractal, size_t in, size_t ic, size_t id, size_t i) const {
    const size_t c1 = ic / kSquare;
    const size_t depth = fractal ? id : in * d + id;
    const size_t place = (depth * in_squares(c) + c1) * area + i;
    return (fractal ? place * to_squares(n) + in : place) * kSquare + ic % kSquare;
  }
};

template <typename Layout>
inline Volume volume_of(const Layout& layout) {
  static_assert(Layout::rank == 5, "the layout of NCDHW has the sizes n, c, d, h, w");
  const auto [n, c, d, h, w] = layout.GetShape();
  return {size_t(n), size_t(c), size_t(d), size_t(h) * size_t(w)};
}
// What the layout of a cut format has to be.
template <typename Layout>
inline void require_cut(const Layout& layout, bool fractal, const Volume& whole) {
  size_t elements = 1;
  std::apply([&](auto... sizes) { ((elements *= size_t(sizes)), ...); }, layout.GetShape());
  if (elements == whole.cut(fractal)) return;
  fault(
      "TransData: expected the %s layout of n %zu, c %zu, d %zu, h x w %zu to have %zu elements, "
      "got %zu; c and n are cut into 16",
      fractal ? "FRACTAL_Z_3D" : "NDC1HWC0", whole.n, whole.c, whole.d, whole.area,
      whole.cut(fractal), elements);
}

}  // namespace hostcann

namespace AscendC {

template <typename T>
inline void Transpose(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                      const LocalTensor<uint8_t>& sharedTmpBuffer, TransposeType transposeType,
                      ConfusionTransposeTiling& tiling, hostcann::CallSite = {}) {
  hostcann::transpose_by_type(dst, src, sharedTmpBuffer, transposeType, tiling);
}
template <typename T>
inline void Transpose(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                      TransposeType transposeType, ConfusionTransposeTiling& tiling,
                      hostcann::CallSite = {}) {
  hostcann::transpose_by_type(dst, src, hostcann::Scratch(), transposeType, tiling);
}

// NCDHW, each h x w filled up to whole blocks, to NDC1HWC0 or FRACTAL_Z_3D and back. What c and n
// are filled up with is 0.
template <const TransDataConfig& config, typename T, typename U, typename S>
inline void TransData(const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor,
                      const hostcann::Scratch& scratch, const TransDataParams<U, S>& params,
                      hostcann::CallSite = {}) {
  using namespace hostcann;
  static_assert(kIsOneOf<T, int16_t, uint16_t, half, bfloat16_t>,
                "TransData takes int16_t, uint16_t, half, bfloat16_t");
  constexpr bool kCuts = config.srcFormat == DataFormat::NCDHW;
  constexpr DataFormat kCut = kCuts ? config.dstFormat : config.srcFormat;
  constexpr bool kFractal = kCut == DataFormat::FRACTAL_Z_3D;
  static_assert((kCuts || config.dstFormat == DataFormat::NCDHW) &&
                    (kFractal || kCut == DataFormat::NDC1HWC0),
                "TransData goes from NCDHW to NDC1HWC0 or FRACTAL_Z_3D, or back");
  Volume whole;
  if constexpr (kCuts) {
    whole = volume_of(params.srcLayout);
    require_cut(params.dstLayout, kFractal, whole);
  } else {
    whole = volume_of(params.dstLayout);
    require_cut(params.srcLayout, kFractal, whole);
  }
  const size_t plain = whole.plain();
  const size_t cut = whole.cut(kFractal);
  rearrange("TransData", dstTensor, srcTensor, scratch, kCuts ? cut : plain, kCuts ? plain : cut,
            [&](T* to, const T* from) {
              if constexpr (kCuts) std::memset(static_cast<void*>(to), 0, cut * sizeof(T));
              for (size_t i = 0; i < whole.n * whole.c * whole.d * whole.area; ++i) {
                const size_t inside = i % whole.area;
                const size_t depth = i / whole.area % whole.d;
                const size_t channel = i / whole.area / whole.d % whole.c;
                const size_t image = i / whole.area / whole.d / whole.c;
                const size_t in_plain = whole.plain_at(image, channel, depth, inside);
                const size_t in_cut = whole.cut_at(kFractal, image, channel, depth, inside);
                to[kCuts ? in_cut : in_plain] = from[kCuts ? in_plain : in_cut];
              }
            });
}
template <const TransDataConfig& config, typename T, typename U, typename S>
inline void TransData(const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor,
                      const TransDataParams<U, S>& params, hostcann::CallSite site = {}) {
  TransData<config, T, U, S>(dstTensor, srcTensor, hostcann::Scratch(), params, site);
}

}  // namespace AscendC

#endif  // HOSTCANN_ADVANCED_TRANSPOSE_H
