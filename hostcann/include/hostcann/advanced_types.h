// SPDX-License-Identifier: Apache-2.0
// What the advanced functions are told about their operands' shapes.
#ifndef HOSTCANN_ADVANCED_TYPES_H
#define HOSTCANN_ADVANCED_TYPES_H

#include <cstdint>

#include "hostcann/shape_info.h"

namespace AscendC {

// A is an axis that stays, R one that is reduced; the last letter is the innermost axis.
enum class ReducePattern { AR, RA };
namespace Pattern {
namespace Reduce {
struct AR {};
struct RA {};
}  // namespace Reduce
}  // namespace Pattern

struct CumSumInfo {
  uint32_t outter{0};
  uint32_t inner{0};
};
enum class CumSumAlgorithm { CUMSUM_ALGORITHM_LINEBYLINE = 0 };
struct CumSumConfig {
  bool isLastAxis{true};
  bool isReuseSource{false};
  bool outputLastRow{false};
  CumSumAlgorithm algorithm{CumSumAlgorithm::CUMSUM_ALGORITHM_LINEBYLINE};
};
inline constexpr CumSumConfig defaultCumSumConfig = {};

// `n` elements of each row count; a row takes up `inner`, whole blocks.
struct SumParams {
  uint32_t outter = 1;
  uint32_t inner;
  uint32_t n;
};
struct MeanParams {
  uint32_t outter = 1;
  uint32_t inner;
  uint32_t n;
};

// Rows and columns as they lie in the tensor, and without what was filled up.
struct SoftMaxShapeInfo {
  uint32_t srcM = 0;
  uint32_t srcK = 0;
  uint32_t oriSrcM = 0;
  uint32_t oriSrcK = 0;
};
enum class SoftmaxMode { SOFTMAX_NORMAL = 0 };
struct SoftmaxConfig {
  bool isCheckTiling = true;
  uint32_t oriSrcM = 0;
  uint32_t oriSrcK = 0;
  SoftmaxMode mode = SoftmaxMode::SOFTMAX_NORMAL;
};
inline constexpr SoftmaxConfig SOFTMAX_DEFAULT_CFG = {};
// Of SoftmaxFlashV3: the shape, which part of the row this is (from 1 on), how many pieces of a row
// have a mean of their own, and how far the row is shifted by it.
struct SoftMaxParams {
  uint32_t srcM;
  uint32_t srcK;
  uint32_t oriSrcM;
  uint32_t oriSrcK;
  uint32_t loopCnt;
  uint32_t splitMeanCnt;
  float alpha;
};

enum class TopKMode { TOPK_NORMAL, TOPK_NSMALL };
// `n` elements of each row count; a row takes up `inner`.
struct TopKInfo {
  int32_t outter = 1;
  int32_t inner;
  int32_t n;
};

// For the size of Sort's scratch space; the Sort that takes it is not in dav-2201.
enum class SortType { RADIX_SORT, MERGE_SORT };
struct SortConfig {
  SortType type = SortType::RADIX_SORT;
  bool isDescend = false;
  bool hasSrcIndex = false;
  bool hasDstIndex = false;
};

struct TransDataConfig {
  DataFormat srcFormat;
  DataFormat dstFormat;
};
template <typename T, typename U>
struct TransDataParams {
  T srcLayout;
  U dstLayout;
};

}  // namespace AscendC

#endif  // HOSTCANN_ADVANCED_TYPES_H
