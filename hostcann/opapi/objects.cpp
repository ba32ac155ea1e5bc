// SPDX-License-Identifier: Apache-2.0
// libnnopbase.so: makes, destroys and describes the arguments of aclnn functions. Everything a
// caller passes is temporary and copied.
#include "objects.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "acl/error_codes/rt_error_codes.h"
#include "hostcann/operator.h"

#define HOSTCANN_API extern "C" __attribute__((visibility("default")))

namespace {

// torch_npu passes on a null pointer only where it means "absent", so a refusal needs both the
// sentence and the null.
std::nullptr_t refused(const char* function, const std::string& why) {
  hostcann_refuse_call(function, ACL_ERROR_RT_PARAM_INVALID, why.c_str());
  return nullptr;
}

template <class Array, class T>
Array* make_array(const char* function, const T* values, uint64_t count) {
  if (values == nullptr && count != 0) {
    return refused(function, "argument 'value': expected " + std::to_string(count) +
                                 " values, got a null pointer");
  }
  auto made = std::make_unique<Array>();
  if (count != 0) made->values.assign(values, values + count);
  return made.release();
}

// Types that torch_npu never sends keep their value, widened.
template <class T>
T read(const void* value) {
  T number;
  std::memcpy(&number, value, sizeof number);
  return number;
}

}  // namespace

HOSTCANN_API aclTensor* aclCreateTensor(const int64_t* viewDims, uint64_t viewDimsNum,
                                        aclDataType dataType, const int64_t* stride, int64_t offset,
                                        aclFormat format, const int64_t* storageDims,
                                        uint64_t storageDimsNum, void* tensorData) {
  if ((viewDims == nullptr && viewDimsNum != 0) ||
      (storageDims == nullptr && storageDimsNum != 0)) {
    return refused(__func__,
                   "arguments 'viewDims' and 'storageDims': expected as many values as "
                   "their counts say, got a null pointer");
  }
  if (offset < 0) {
    return refused(__func__,
                   "argument 'offset': expected 0 or more, got " + std::to_string(offset));
  }
  std::vector<int64_t> strides(viewDimsNum);
  if (stride != nullptr) {
    std::copy(stride, stride + viewDimsNum, strides.begin());
  } else {
    int64_t step = 1;
    for (uint64_t i = viewDimsNum; i-- > 0; step *= viewDims[i]) strides[i] = step;
  }
  return std::make_unique<aclTensor>(aclTensor{{viewDims, viewDims + viewDimsNum},
                                               std::move(strides),
                                               offset,
                                               dataType,
                                               format,
                                               {storageDims, storageDims + storageDimsNum},
                                               tensorData})
      .release();
}

HOSTCANN_API aclScalar* aclCreateScalar(void* value, aclDataType dataType) {
  if (value == nullptr) {
    return refused(__func__, "argument 'value': expected an address, got a null pointer");
  }
  auto made = std::make_unique<aclScalar>();
  switch (dataType) {
    case ACL_DOUBLE:
      made->value = read<double>(value);
      break;
    case ACL_FLOAT:
      made->value = static_cast<double>(read<float>(value));
      break;
    case ACL_INT64:
      made->value = read<int64_t>(value);
      break;
    case ACL_INT32:
      made->value = static_cast<int64_t>(read<int32_t>(value));
      break;
    case ACL_BOOL:
      made->value = read<uint8_t>(value) != 0;
      break;
    case ACL_COMPLEX128:
      made->value = read<std::complex<double>>(value);
      break;
    default:
      return refused(__func__,
                     "argument 'dataType': expected ACL_DOUBLE, ACL_FLOAT, ACL_INT64, ACL_INT32, "
                     "ACL_BOOL or ACL_COMPLEX128, got " +
                         std::to_string(dataType));
  }
  return made.release();
}

HOSTCANN_API aclIntArray* aclCreateIntArray(const int64_t* value, uint64_t size) {
  return make_array<aclIntArray>(__func__, value, size);
}

HOSTCANN_API aclFloatArray* aclCreateFloatArray(const float* value, uint64_t size) {
  return make_array<aclFloatArray>(__func__, value, size);
}

HOSTCANN_API aclBoolArray* aclCreateBoolArray(const bool* value, uint64_t size) {
  return make_array<aclBoolArray>(__func__, value, size);
}

HOSTCANN_API aclTensorList* aclCreateTensorList(const aclTensor* const* value, uint64_t size) {
  return make_array<aclTensorList>(__func__, value, size);
}

HOSTCANN_API aclScalarList* aclCreateScalarList(const aclScalar* const* value, uint64_t size) {
  return make_array<aclScalarList>(__func__, value, size);
}

HOSTCANN_API int aclDestroyTensor(const aclTensor* tensor) {
  delete tensor;
  return ACL_SUCCESS;
}

HOSTCANN_API int aclDestroyScalar(const aclScalar* scalar) {
  delete scalar;
  return ACL_SUCCESS;
}

HOSTCANN_API int aclDestroyIntArray(const aclIntArray* array) {
  delete array;
  return ACL_SUCCESS;
}

HOSTCANN_API int aclDestroyFloatArray(const aclFloatArray* array) {
  delete array;
  return ACL_SUCCESS;
}

HOSTCANN_API int aclDestroyBoolArray(const aclBoolArray* array) {
  delete array;
  return ACL_SUCCESS;
}

// A list owns its elements: torch_npu releases only the list.
HOSTCANN_API int aclDestroyTensorList(const aclTensorList* array) {
  if (array == nullptr) return ACL_SUCCESS;
  for (const aclTensor* tensor : array->values) delete tensor;
  delete array;
  return ACL_SUCCESS;
}

HOSTCANN_API int aclDestroyScalarList(const aclScalarList* array) {
  if (array == nullptr) return ACL_SUCCESS;
  for (const aclScalar* scalar : array->values) delete scalar;
  delete array;
  return ACL_SUCCESS;
}

// The caller frees viewDims with delete[].
HOSTCANN_API int aclGetViewShape(const aclTensor* tensor, int64_t** viewDims,
                                 uint64_t* viewDimsNum) {
  if (tensor == nullptr || viewDims == nullptr || viewDimsNum == nullptr) {
    return hostcann_refuse_call(__func__, ACL_ERROR_RT_PARAM_INVALID,
                                "arguments 'tensor', 'viewDims' and 'viewDimsNum': expected three "
                                "addresses, got a null pointer");
  }
  const std::vector<int64_t>& dims =
      tensor->found_dims == nullptr ? tensor->dims : *tensor->found_dims;
  *viewDims = std::make_unique<int64_t[]>(dims.size()).release();
  std::copy(dims.begin(), dims.end(), *viewDims);
  *viewDimsNum = dims.size();
  return ACL_SUCCESS;
}
