// SPDX-License-Identifier: Apache-2.0
// The objects behind aclnn's opaque pointers. libnnopbase.so makes them, libopapi.so reads them.
#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <variant>
#include <vector>

#include "acl/acl_base_rt.h"

struct aclTensor {
  std::vector<int64_t> dims;
  std::vector<int64_t> strides;
  int64_t offset;  // in elements
  aclDataType type;
  aclFormat format;
  std::vector<int64_t> storage_dims;
  void* data;
  // Of an output whose shape the operator finds: set by the stream's thread, read after the
  // caller has synchronised. The tensor may be destroyed before the operator has run.
  std::shared_ptr<std::vector<int64_t>> found_dims = nullptr;
};

struct aclScalar {
  std::variant<double, int64_t, bool, std::complex<double>> value;
};

template <class T>
struct AclArray {
  std::vector<T> values;
};
struct aclIntArray : AclArray<int64_t> {};
struct aclFloatArray : AclArray<float> {};
// Not std::vector<bool>: a span of bool is made of it.
struct aclBoolArray : AclArray<uint8_t> {};
struct aclTensorList : AclArray<const aclTensor*> {};
struct aclScalarList : AclArray<const aclScalar*> {};
