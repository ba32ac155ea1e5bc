// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "error.h"

namespace hostcann {

// A tensor as it lies in memory: its own dims, and those of its storage in its format.
struct Stored {
  int format;
  std::vector<int64_t> dims;
  std::vector<int64_t> storage_dims;
  size_t item_bytes;
};

// Index i of a dimension is i / block steps of `outer` elements and i % block of `inner`.
struct Axis {
  int64_t size;
  int64_t block;
  int64_t outer;
  int64_t inner;

  int64_t place(int64_t i) const { return i / block * outer + i % block * inner; }
};

// The copy of a tensor from one format into another; padding becomes zero.
class FormatCast {
 public:
  static Status plan(const Stored& from, const Stored& to, FormatCast* plan);

  void run(const void* source, void* target) const;
  size_t source_bytes() const { return source_bytes_; }
  size_t target_bytes() const { return target_bytes_; }

 private:
  std::vector<Axis> from_;
  std::vector<Axis> to_;
  size_t item_bytes_ = 0;
  size_t source_bytes_ = 0;
  size_t target_bytes_ = 0;
};

}  // namespace hostcann
