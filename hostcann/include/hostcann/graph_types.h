// SPDX-License-Identifier: Apache-2.0
// ge::Shape and ge::DataType, as the functions of the host side's tiling take them.
#ifndef HOSTCANN_GRAPH_TYPES_H
#define HOSTCANN_GRAPH_TYPES_H

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace ge {

enum DataType {
  DT_FLOAT = 0,
  DT_FLOAT16 = 1,
  DT_INT8 = 2,
  DT_INT32 = 3,
  DT_UINT8 = 4,
  DT_INT16 = 6,
  DT_UINT16 = 7,
  DT_UINT32 = 8,
  DT_INT64 = 9,
  DT_UINT64 = 10,
  DT_DOUBLE = 11,
  DT_BOOL = 12,
  DT_UNDEFINED = 26,
  DT_BF16 = 27,
  DT_INT4 = 29,
};

class Shape {
 public:
  Shape() = default;
  explicit Shape(const std::vector<int64_t>& dims) : dims_(dims) {}

  size_t GetDimNum() const { return dims_.size(); }
  // 0 for a dimension that is not there.
  int64_t GetDim(size_t index) const { return index < dims_.size() ? dims_[index] : 0; }
  bool SetDim(size_t index, int64_t value) {
    if (index >= dims_.size()) return false;
    dims_[index] = value;
    return true;
  }
  std::vector<int64_t> GetDims() const { return dims_; }
  // The number of elements; 0 without a dimension, as CANN has it.
  int64_t GetShapeSize() const {
    int64_t size = dims_.empty() ? 0 : 1;
    for (const int64_t dim : dims_) size *= dim;
    return size;
  }

 private:
  std::vector<int64_t> dims_;
};

}  // namespace ge

#endif  // HOSTCANN_GRAPH_TYPES_H
