// SPDX-License-Identifier: Apache-2.0
// The softmax family over the rows of a matrix. Sums and maxima fill a block of 32 bytes per row.
#ifndef HOSTCANN_ADVANCED_SOFTMAX_H
#define HOSTCANN_ADVANCED_SOFTMAX_H

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "hostcann/advanced_call.h"
#include "hostcann/advanced_reduce.h"
#include "hostcann/tiling_structs.h"

namespace hostcann {

struct Rows {
  size_t count = 0;
  size_t length = 0;  // as stored
  size_t used = 0;    // what is reduced

  size_t elements() const { return count * length; }
  // Of a tensor with a block per row.
  template <typename T>
  size_t blocks(const AscendC::LocalTensor<T>&) const {
    return count * (kBlockBytes / sizeof(T));
  }
};

// From the shape, else from the tiling.
template <typename Tiling>
inline Rows rows_of(const char* caller, const Tiling& tiling,
                    const AscendC::SoftMaxShapeInfo& shape, size_t element_bytes) {
  Rows rows;
  const bool given = shape.srcM != 0 && shape.srcK != 0;
  rows.count = given ? shape.srcM : tiling.bLength * tiling.sLength;
  rows.length = given ? shape.srcK : tiling.hLength;
  rows.used = given && shape.oriSrcK != 0 ? shape.oriSrcK : rows.length;
  require_rows(caller, rows.count, rows.length, rows.used, element_bytes);
  return rows;
}

// One number per row, in every element of the row's block.
template <typename T>
class RowBlocks {
 public:
  static constexpr size_t kPerBlock = kBlockBytes / sizeof(T);

  RowBlocks(const char* caller, const char* name, const AscendC::LocalTensor<T>& tensor,
            const Rows& rows, Access access)
      : data_(whole_operand(caller, name, tensor, rows.count * kPerBlock, access)) {}

  float get(size_t row) const { return static_cast<float>(data_[row * kPerBlock]); }
  void set(size_t row, float value) const {
    for (size_t i = 0; i < kPerBlock; ++i) data_[row * kPerBlock + i] = static_cast<T>(value);
  }

 private:
  T* data_;
};

template <typename T>
inline float row_max(const T* row, size_t count) {
  float result = static_cast<float>(row[0]);
  for (size_t i = 1; i < count; ++i) result = larger(result, static_cast<float>(row[i]));
  return result;
}

// exp(x - max) of a row into `to`, and their sum. What was filled up is computed, not summed.
template <typename T>
inline float exponentials(float* to, const T* row, const Rows& rows, float max) {
  for (size_t i = 0; i < rows.length; ++i) {
    to[i] = __builtin_expf(static_cast<float>(row[i]) - max);
  }
  return tree_sum<float>(0, rows.used, [&](size_t i) { return to[i]; });
}

// A row of the longest tensor that fits, on the block's own thread.
inline float* row_of_floats() {
  static thread_local float row[kUbBytes / sizeof(half)];
  return row;
}

enum class SoftmaxOutput { kQuotient, kLog10, kExponential };

template <SoftmaxOutput kind, typename T, typename U>
inline void softmax_rows(const char* caller, const Rows& rows, const AscendC::LocalTensor<T>& dst,
                         const AscendC::LocalTensor<U>* sums, const AscendC::LocalTensor<U>* maxima,
                         const AscendC::LocalTensor<T>& src) {
  const T* const from = input(caller, "src", src, rows.elements());
  T* const to = output(caller, "dst", dst, rows.elements());
  float* const exps = row_of_floats();
  for (size_t row = 0; row < rows.count; ++row) {
    const T* const x = from + row * rows.length;
    const float max = row_max(x, rows.used);
    const float sum = exponentials(exps, x, rows, max);
    if (maxima != nullptr) {
      RowBlocks<U>(caller, "max", *maxima, rows, Access::kWrite).set(row, max);
      RowBlocks<U>(caller, "sum", *sums, rows, Access::kWrite).set(row, sum);
    }
    for (size_t i = 0; i < rows.length; ++i) {
      float value = exps[i];
      if constexpr (kind != SoftmaxOutput::kExponential) value /= sum;
      if constexpr (kind == SoftmaxOutput::kLog10) value = __builtin_log10f(value);
      to[row * rows.length + i] = static_cast<T>(value);
    }
  }
}

}  // namespace hostcann

namespace AscendC {

// The types of sum and max may be float where the others are half.
template <typename T, bool isReuseSource = false, bool isBasicBlock = false,
          bool isDataFormatNZ = false, const SoftmaxConfig& config = SOFTMAX_DEFAULT_CFG,
          typename V, typename U>
inline void SoftMax(const LocalTensor<V>& dstTensor, const LocalTensor<U>& sumTensor,
                    const LocalTensor<U>& maxTensor, const LocalTensor<V>& srcTensor,
                    const hostcann::Scratch& scratch, const SoftMaxTiling& tiling,
                    const SoftMaxShapeInfo& softmaxShapeInfo = {}, hostcann::CallSite = {}) {
  HOSTCANN_TAKES(SoftMax, half, float);
  static_assert(!isDataFormatNZ, "SoftMax of hostcann takes ND tensors only");
  const hostcann::Rows rows = hostcann::rows_of("SoftMax", tiling, softmaxShapeInfo, sizeof(V));
  hostcann::softmax_rows<hostcann::SoftmaxOutput::kQuotient>("SoftMax", rows, dstTensor, &sumTensor,
                                                             &maxTensor, srcTensor);
  scratch.use("SoftMax", {{dstTensor, rows.elements()},
                          {sumTensor, rows.blocks(sumTensor)},
                          {maxTensor, rows.blocks(maxTensor)},
                          {srcTensor, rows.elements()}});
}
template <typename T, bool isReuseSource = false, bool isBasicBlock = false,
          bool isDataFormatNZ = false, const SoftmaxConfig& config = SOFTMAX_DEFAULT_CFG,
          typename V, typename U>
inline void SoftMax(const LocalTensor<V>& dstTensor, const LocalTensor<U>& sumTensor,
                    const LocalTensor<U>& maxTensor, const LocalTensor<V>& srcTensor,
                    const SoftMaxTiling& tiling, const SoftMaxShapeInfo& softmaxShapeInfo = {},
                    hostcann::CallSite site = {}) {
  SoftMax<T, isReuseSource, isBasicBlock, isDataFormatNZ>(dstTensor, sumTensor, maxTensor,
                                                          srcTensor, hostcann::Scratch(), tiling,
                                                          softmaxShapeInfo, site);
}
template <typename T, bool isReuseSource = false, bool isBasicBlock = false,
          const SoftmaxConfig& config = SOFTMAX_DEFAULT_CFG>
inline void SoftMax(const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor,
                    const hostcann::Scratch& scratch, const SoftMaxTiling& tiling,
                    const SoftMaxShapeInfo& softmaxShapeInfo = {}, hostcann::CallSite = {}) {
  HOSTCANN_TAKES(SoftMax, half, float);
  const hostcann::Rows rows = hostcann::rows_of("SoftMax", tiling, softmaxShapeInfo, sizeof(T));
  const LocalTensor<T>* const none = nullptr;
  hostcann::softmax_rows<hostcann::SoftmaxOutput::kQuotient>("SoftMax", rows, dstTensor, none, none,
                                                             srcTensor);
  scratch.use("SoftMax", {{dstTensor, rows.elements()}, {srcTensor, rows.elements()}});
}
template <typename T, bool isReuseSource = false, bool isBasicBlock = false,
          const SoftmaxConfig& config = SOFTMAX_DEFAULT_CFG>
inline void SoftMax(const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor,
                    const SoftMaxTiling& tiling, const SoftMaxShapeInfo& softmaxShapeInfo = {},
                    hostcann::CallSite site = {}) {
  SoftMax<T>(dstTensor, srcTensor, hostcann::Scratch(), tiling, softmaxShapeInfo, site);
}

// The logarithm is the decimal one, as CANN has it.
template <typename T, bool isReuseSource = false, bool isDataFormatNZ = false>
inline void LogSoftMax(const LocalTensor<T>& dst, const LocalTensor<T>& sum,
                       const LocalTensor<T>& max, const LocalTensor<T>& src,
                       const LocalTensor<uint8_t>& sharedTmpBuffer, const LogSoftMaxTiling& tiling,
                       const SoftMaxShapeInfo& softmaxShapeInfo = {}, hostcann::CallSite = {}) {
  HOSTCANN_TAKES(LogSoftMax, half, float);
  static_assert(!isDataFormatNZ, "LogSoftMax of hostcann takes ND tensors only");
  const hostcann::Rows rows = hostcann::rows_of("LogSoftMax", tiling, softmaxShapeInfo, sizeof(T));
  hostcann::softmax_rows<hostcann::SoftmaxOutput::kLog10>("LogSoftMax", rows, dst, &sum, &max, src);
  hostcann::Scratch(sharedTmpBuffer)
      .use("LogSoftMax", {{dst, rows.elements()},
                          {sum, rows.blocks(sum)},
                          {max, rows.blocks(max)},
                          {src, rows.elements()}});
}

// Softmax by sums and maxima that were computed before.
template <typename T, bool isReuseSource = false, bool isBasicBlock = false,
          bool isDataFormatNZ = false, const SoftmaxConfig& config = SOFTMAX_DEFAULT_CFG,
          typename V, typename U>
inline void SimpleSoftMax(const LocalTensor<V>& dstTensor, const LocalTensor<U>& inSumTensor,
                          const LocalTensor<U>& inMaxTensor, const LocalTensor<V>& srcTensor,
                          const hostcann::Scratch& scratch, const SoftMaxTiling& tiling,
                          const SoftMaxShapeInfo& softmaxShapeInfo = {}, hostcann::CallSite = {}) {
  using namespace hostcann;
  HOSTCANN_TAKES(SimpleSoftMax, half, float);
  static_assert(!isDataFormatNZ, "SimpleSoftMax of hostcann takes ND tensors only");
  const Rows rows = rows_of("SimpleSoftMax", tiling, softmaxShapeInfo, sizeof(V));
  const RowBlocks<U> sums("SimpleSoftMax", "inSum", inSumTensor, rows, Access::kRead);
  const RowBlocks<U> maxima("SimpleSoftMax", "inMax", inMaxTensor, rows, Access::kRead);
  const V* const from = input("SimpleSoftMax", "src", srcTensor, rows.elements());
  V* const to = output("SimpleSoftMax", "dst", dstTensor, rows.elements());
  for (size_t i = 0; i < rows.elements(); ++i) {
    const size_t row = i / rows.length;
    to[i] = static_cast<V>(__builtin_expf(static_cast<float>(from[i]) - maxima.get(row)) /
                           sums.get(row));
  }
  scratch.use("SimpleSoftMax", {{dstTensor, rows.elements()},
                                {inSumTensor, rows.blocks(inSumTensor)},
                                {inMaxTensor, rows.blocks(inMaxTensor)},
                                {srcTensor, rows.elements()}});
}
template <typename T, bool isReuseSource = false, bool isBasicBlock = false,
          bool isDataFormatNZ = false, const SoftmaxConfig& config = SOFTMAX_DEFAULT_CFG,
          typename V, typename U>
inline void SimpleSoftMax(const LocalTensor<V>& dstTensor, const LocalTensor<U>& inSumTensor,
                          const LocalTensor<U>& inMaxTensor, const LocalTensor<V>& srcTensor,
                          const SoftMaxTiling& tiling,
                          const SoftMaxShapeInfo& softmaxShapeInfo = {},
                          hostcann::CallSite site = {}) {
  SimpleSoftMax<T, isReuseSource, isBasicBlock, isDataFormatNZ>(dstTensor, inSumTensor, inMaxTensor,
                                                                srcTensor, hostcann::Scratch(),
                                                                tiling, softmaxShapeInfo, site);
}

// The exponentials, not divided: what a later part of the row still changes is carried by expMax.
template <typename T, bool isUpdate = false, bool isReuseSource = false, bool isBasicBlock = false,
          bool isDataFormatNZ = false, const SoftmaxConfig& config = SOFTMAX_DEFAULT_CFG,
          typename V, typename U>
inline void SoftmaxFlashV2(const LocalTensor<V>& dstTensor, const LocalTensor<U>& expSumTensor,
                           const LocalTensor<U>& maxTensor, const LocalTensor<V>& srcTensor,
                           const LocalTensor<V>& expMaxTensor, const LocalTensor<U>& inExpSumTensor,
                           const LocalTensor<U>& inMaxTensor, const hostcann::Scratch& scratch,
                           const SoftMaxTiling& tiling,
                           const SoftMaxShapeInfo& softmaxShapeInfo = {}, hostcann::CallSite = {}) {
  using namespace hostcann;
  constexpr const char* kName = "SoftmaxFlashV2";
  HOSTCANN_TAKES(SoftmaxFlashV2, half, float);
  static_assert(!isDataFormatNZ, "SoftmaxFlashV2 of hostcann takes ND tensors only");
  const Rows rows = rows_of(kName, tiling, softmaxShapeInfo, sizeof(V));
  if constexpr (!isUpdate) {
    softmax_rows<SoftmaxOutput::kExponential>(kName, rows, dstTensor, &expSumTensor, &maxTensor,
                                              srcTensor);
  } else {
    const RowBlocks<U> old_sums(kName, "inExpSum", inExpSumTensor, rows, Access::kRead);
    const RowBlocks<U> old_maxima(kName, "inMax", inMaxTensor, rows, Access::kRead);
    const RowBlocks<U> sums(kName, "expSum", expSumTensor, rows, Access::kWrite);
    const RowBlocks<U> maxima(kName, "max", maxTensor, rows, Access::kWrite);
    const RowBlocks<V> exp_maxima(kName, "expMax", expMaxTensor, rows, Access::kWrite);
    const V* const from = input(kName, "src", srcTensor, rows.elements());
    V* const to = output(kName, "dst", dstTensor, rows.elements());
    float* const exps = row_of_floats();
    for (size_t row = 0; row < rows.count; ++row) {
      const V* const x = from + row * rows.length;
      const float old_max = old_maxima.get(row);
      const float max = larger(row_max(x, rows.used), old_max);
      const float scale = __builtin_expf(old_max - max);
      const float sum = exponentials(exps, x, rows, max) + scale * old_sums.get(row);
      exp_maxima.set(row, scale);
      maxima.set(row, max);
      sums.set(row, sum);
      for (size_t i = 0; i < rows.length; ++i) {
        to[row * rows.length + i] = static_cast<V>(exps[i]);
      }
    }
  }
  scratch.use(kName, {{dstTensor, rows.elements()},
                      {expSumTensor, rows.blocks(expSumTensor)},
                      {maxTensor, rows.blocks(maxTensor)},
                      {srcTensor, rows.elements()}});
}
template <typename T, bool isUpdate = false, bool isReuseSource = false, bool isBasicBlock = false,
          bool isDataFormatNZ = false, const SoftmaxConfig& config = SOFTMAX_DEFAULT_CFG,
          typename V, typename U>
inline void SoftmaxFlashV2(const LocalTensor<V>& dstTensor, const LocalTensor<U>& expSumTensor,
                           const LocalTensor<U>& maxTensor, const LocalTensor<V>& srcTensor,
                           const LocalTensor<V>& expMaxTensor, const LocalTensor<U>& inExpSumTensor,
                           const LocalTensor<U>& inMaxTensor, const SoftMaxTiling& tiling,
                           const SoftMaxShapeInfo& softmaxShapeInfo = {},
                           hostcann::CallSite site = {}) {
  SoftmaxFlashV2<T, isUpdate, isReuseSource, isBasicBlock, isDataFormatNZ>(
      dstTensor, expSumTensor, maxTensor, srcTensor, expMaxTensor, inExpSumTensor, inMaxTensor,
      hostcann::Scratch(), tiling, softmaxShapeInfo, site);
}

}  // namespace AscendC

namespace hostcann {

// The means of a row's eight pieces, as CANN adds them up: of the first 512 elements every 64 in
// turn belong to a piece, of each 64 that follow every eight.
constexpr size_t kMeanPieces = 8;
constexpr size_t kFirstOfMeans = 512;

template <typename T>
inline void piece_means(float (&means)[kMeanPieces], const T* row, size_t length) {
  for (size_t piece = 0; piece < kMeanPieces; ++piece) {
    float sums[kMeanPieces] = {};
    for (size_t i = 0; i < kMeanPieces; ++i) {
      const T* const eight = row + (piece * kMeanPieces + i) * 8;
      sums[i] = tree_sum<float>(0, 8, [&](size_t at) { return static_cast<float>(eight[at]); });
      for (size_t at = kFirstOfMeans + piece * 8 + i; at < length; at += 64) {
        sums[i] += static_cast<float>(row[at]);
      }
    }
    means[piece] = tree_sum<float>(0, kMeanPieces, [&](size_t i) { return sums[i]; }) /
                   static_cast<float>(length / kMeanPieces);
  }
}

}  // namespace hostcann

namespace AscendC {

// SoftmaxFlashV2 of a row whose pieces are shifted towards its mean; inMean to inMax are of the
// parts before.
template <typename T, typename U, bool isUpdate = false, bool isReuseSource = false,
          bool isBasicBlock = false, bool isDataFormatNZ = false,
          const SoftmaxConfig& config = SOFTMAX_DEFAULT_CFG>
inline void SoftmaxFlashV3(const LocalTensor<T>& dstTensor, const LocalTensor<U>& meanTensor,
                           const LocalTensor<U>& expSumTensor, const LocalTensor<U>& maxTensor,
                           const LocalTensor<T>& srcTensor, const LocalTensor<T>& expMaxTensor,
                           const LocalTensor<U>& inMeanTensor, const LocalTensor<U>& inExpSumTensor,
                           const LocalTensor<U>& inMaxTensor, const hostcann::Scratch& scratch,
                           const SoftMaxTiling&, const SoftMaxParams& params,
                           hostcann::CallSite = {}) {
  using namespace hostcann;
  constexpr const char* kName = "SoftmaxFlashV3";
  static_assert(std::is_same_v<T, half> && std::is_same_v<U, float>,
                "SoftmaxFlashV3 of dav-2201 takes half, and float for mean, sum and max");
  static_assert(!isDataFormatNZ, "SoftmaxFlashV3 takes ND tensors only");
  const Rows rows = {params.srcM, params.srcK, params.srcK};
  if (rows.count == 0 || rows.count % 8 != 0 || rows.length < kFirstOfMeans ||
      rows.length % 64 != 0 || params.oriSrcM != params.srcM || params.oriSrcK != params.srcK) {
    fault(
        "%s: expected a multiple of 8 rows of 512 elements or more, a multiple of 64, none filled "
        "up, got srcM %u, srcK %u, oriSrcM %u, oriSrcK %u",
        kName, params.srcM, params.srcK, params.oriSrcM, params.oriSrcK);
  }
  if (params.splitMeanCnt != kMeanPieces || (isUpdate && params.loopCnt == 0)) {
    fault("%s: expected splitMeanCnt 8 and loopCnt from 1 on, got %u and %u", kName,
          params.splitMeanCnt, params.loopCnt);
  }
  const float factor = params.alpha / (1 - params.alpha);
  const float parts = static_cast<float>(params.loopCnt);
  const T* const from = input(kName, "src", srcTensor, rows.elements());
  T* const to = output(kName, "dst", dstTensor, rows.elements());
  float* const shifted = row_of_floats();
  for (size_t row = 0; row < rows.count; ++row) {
    const T* const x = from + row * rows.length;
    float means[kMeanPieces];
    piece_means(means, x, rows.length);
    const float own = tree_sum<float>(0, kMeanPieces, [&](size_t i) { return means[i]; }) /
                      static_cast<float>(kMeanPieces);
    const size_t piece = rows.length / kMeanPieces;
    for (size_t i = 0; i < rows.length; ++i) {
      shifted[i] = static_cast<float>(x[i]) - (own - means[i / piece]) * factor;
    }
    float mean = own;
    float max = row_max(shifted, rows.length);
    float shift = 0;
    float scale = 0;
    float sum_before = 0;
    if constexpr (isUpdate) {
      const float before =
          RowBlocks<U>(kName, "inMean", inMeanTensor, rows, Access::kRead).get(row);
      const float old = RowBlocks<U>(kName, "inMax", inMaxTensor, rows, Access::kRead).get(row);
      mean = (own + before * (parts - 1)) / parts;
      shift = (own - mean) * factor;
      const float shift_before = (before - mean) * factor;
      max = larger(shift + max, shift_before + old);
      scale = __builtin_expf(old - max + shift_before);
      sum_before =
          RowBlocks<U>(kName, "inExpSum", inExpSumTensor, rows, Access::kRead).get(row) * scale;
      RowBlocks<T>(kName, "expMax", expMaxTensor, rows, Access::kWrite).set(row, scale);
    }
    const float sum = exponentials(shifted, shifted, rows, max - shift) + sum_before;
    RowBlocks<U>(kName, "mean", meanTensor, rows, Access::kWrite).set(row, mean);
    RowBlocks<U>(kName, "max", maxTensor, rows, Access::kWrite).set(row, max);
    RowBlocks<U>(kName, "expSum", expSumTensor, rows, Access::kWrite).set(row, sum);
    for (size_t i = 0; i < rows.length; ++i) {
      to[row * rows.length + i] = static_cast<T>(shifted[i]);
    }
  }
  scratch.use(kName, {{dstTensor, rows.elements()},
                      {meanTensor, rows.blocks(meanTensor)},
                      {expSumTensor, rows.blocks(expSumTensor)},
                      {maxTensor, rows.blocks(maxTensor)},
                      {srcTensor, rows.elements()}});
}
template <typename T, typename U, bool isUpdate = false, bool isReuseSource = false,
          bool isBasicBlock = false, bool isDataFormatNZ = false,
          const SoftmaxConfig& config = SOFTMAX_DEFAULT_CFG>
inline void SoftmaxFlashV3(const LocalTensor<T>& dstTensor, const LocalTensor<U>& meanTensor,
                           const LocalTensor<U>& expSumTensor, const LocalTensor<U>& maxTensor,
                           const LocalTensor<T>& srcTensor, const LocalTensor<T>& expMaxTensor,
                           const LocalTensor<U>& inMeanTensor, const LocalTensor<U>& inExpSumTensor,
                           const LocalTensor<U>& inMaxTensor, const SoftMaxTiling& tiling,
                           const SoftMaxParams& params, hostcann::CallSite site = {}) {
  SoftmaxFlashV3<T, U, isUpdate, isReuseSource, isBasicBlock, isDataFormatNZ>(
      dstTensor, meanTensor, expSumTensor, maxTensor, srcTensor, expMaxTensor, inMeanTensor,
      inExpSumTensor, inMaxTensor, hostcann::Scratch(), tiling, params, site);
}

// Of each row the sum of grad * src, in a block; or (grad - that sum) * src.
template <typename T, bool isReuseSource = false, bool isDataFormatNZ = false>
inline void SoftmaxGrad(const LocalTensor<T>& dstTensor, const LocalTensor<T>& gradTensor,
                        const LocalTensor<T>& srcTensor, const hostcann::Scratch& scratch,
                        const SoftMaxTiling& tiling, bool isFront = false,
                        const SoftMaxShapeInfo& softmaxShapeInfo = {}, hostcann::CallSite = {}) {
  using namespace hostcann;
  HOSTCANN_TAKES(SoftmaxGrad, half, float);
  static_assert(!isDataFormatNZ, "SoftmaxGrad of hostcann takes ND tensors only");
  const Rows rows = rows_of("SoftmaxGrad", tiling, softmaxShapeInfo, sizeof(T));
  const T* const grad = input("SoftmaxGrad", "grad", gradTensor, rows.elements());
  const T* const from = input("SoftmaxGrad", "src", srcTensor, rows.elements());
  const auto product = [&](size_t i) { return wide(grad[i]) * wide(from[i]); };
  if (isFront) {
    const RowBlocks<T> sums("SoftmaxGrad", "dst", dstTensor, rows, Access::kWrite);
    for (size_t row = 0; row < rows.count; ++row) {
      sums.set(row, tree_sum<float>(row * rows.length, rows.used, product));
    }
  } else {
    T* const to = output("SoftmaxGrad", "dst", dstTensor, rows.elements());
    for (size_t row = 0; row < rows.count; ++row) {
      const float sum = tree_sum<float>(row * rows.length, rows.used, product);
      for (size_t i = row * rows.length; i < (row + 1) * rows.length; ++i) {
        to[i] = static_cast<T>((wide(grad[i]) - sum) * wide(from[i]));
      }
    }
  }
  scratch.use("SoftmaxGrad", {{dstTensor, isFront ? rows.blocks(dstTensor) : rows.elements()},
                              {gradTensor, rows.elements()},
                              {srcTensor, rows.elements()}});
}
template <typename T, bool isReuseSource = false, bool isDataFormatNZ = false>
inline void SoftmaxGrad(const LocalTensor<T>& dstTensor, const LocalTensor<T>& gradTensor,
                        const LocalTensor<T>& srcTensor, const SoftMaxTiling& tiling,
                        bool isFront = false, const SoftMaxShapeInfo& softmaxShapeInfo = {},
                        hostcann::CallSite site = {}) {
  SoftmaxGrad<T, isReuseSource, isDataFormatNZ>(dstTensor, gradTensor, srcTensor,
                                                hostcann::Scratch(), tiling, isFront,
                                                softmaxShapeInfo, site);
}
template <typename T, bool isBasicBlock = false, bool isDataFormatNZ = false>
inline void SoftmaxGradFront(const LocalTensor<T>& dstTensor, const LocalTensor<T>& gradTensor,
                             const LocalTensor<T>& srcTensor, const hostcann::Scratch& scratch,
                             const SoftMaxTiling& tiling,
                             const SoftMaxShapeInfo& softmaxShapeInfo = {},
                             hostcann::CallSite site = {}) {
  SoftmaxGrad<T, false, isDataFormatNZ>(dstTensor, gradTensor, srcTensor, scratch, tiling, true,
                                        softmaxShapeInfo, site);
}
template <typename T, bool isBasicBlock = false, bool isDataFormatNZ = false>
inline void SoftmaxGradFront(const LocalTensor<T>& dstTensor, const LocalTensor<T>& gradTensor,
                             const LocalTensor<T>& srcTensor, const SoftMaxTiling& tiling,
                             const SoftMaxShapeInfo& softmaxShapeInfo = {},
                             hostcann::CallSite site = {}) {
  SoftmaxGrad<T, false, isDataFormatNZ>(dstTensor, gradTensor, srcTensor, hostcann::Scratch(),
                                        tiling, true, softmaxShapeInfo, site);
}

// Rows whose maximum has the bits of `from` become `to`; whether there was one.
template <typename T1, typename T2, bool isDataFormatNZ = false, uint8_t stepSizeMode = 0>
inline bool AdjustSoftMaxRes(const LocalTensor<T1>& softMaxRes, const LocalTensor<T2>& maxTensor,
                             const uint32_t from, const T1 to,
                             const SoftMaxShapeInfo& softmaxShapeInfo, hostcann::CallSite = {}) {
  using namespace hostcann;
  static_assert(kIsOneOf<T1, half, float> && kIsOneOf<T2, half, float>,
                "AdjustSoftMaxRes of dav-2201 takes half and float");
  static_assert(!isDataFormatNZ, "AdjustSoftMaxRes of hostcann takes ND tensors only");
  constexpr size_t kStep = stepSizeMode == 0 ? kBlockBytes / sizeof(T2) : 1;
  const Rows rows =
      rows_of("AdjustSoftMaxRes", tiling::SoftMaxTiling(), softmaxShapeInfo, sizeof(T1));
  const T2* const maxima = input("AdjustSoftMaxRes", "max", maxTensor, rows.count * kStep);
  T1* const result =
      whole_operand("AdjustSoftMaxRes", "softMaxRes", softMaxRes, rows.elements(), Access::kWrite);
  bool found = false;
  for (size_t row = 0; row < rows.count; ++row) {
    uint32_t bits = 0;
    std::memcpy(&bits, maxima + row * kStep, sizeof(T2));
    if (bits != from) continue;
    found = true;
    for (size_t i = 0; i < rows.length; ++i) result[row * rows.length + i] = to;
  }
  return found;
}

}  // namespace AscendC

#endif  // HOSTCANN_ADVANCED_SOFTMAX_H
