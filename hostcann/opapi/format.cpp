// SPDX-License-Identifier: Apache-2.0
// Casts between storage formats.
#include <memory>

#include "acl/error_codes/rt_error_codes.h"
#include "call.h"
#include "hostcann/operator.h"

namespace hostcann::opapi {
static constexpr char kFamily[] = "format";
static constexpr Halves kHalves = Halves::as_they_are;

static HostcannStored described(Raw stored, void* data) {
  const aclTensor& tensor = stored.tensor;
  return {tensor.format,
          tensor.dims.data(),
          tensor.dims.size(),
          tensor.storage_dims.data(),
          tensor.storage_dims.size(),
          stored.item_bytes,
          data};
}

static void cast(Raw from, void* source, Raw to, void* target) {
  const HostcannStored sides[] = {described(from, source), described(to, target)};
  char why[600];
  TORCH_CHECK(hostcann_cast_format(&sides[0], &sides[1], why, sizeof why) == 0, why);
}

static void check_cast(Raw from, Raw to) { cast(from, nullptr, to, nullptr); }
HOSTCANN_ACLNN_CHECKED(NpuFormatCast, (Raw from, Raw to), check_cast) {
  cast(from, from.data, to, to.data);
}

// The length of the innermost dimension of a format in fractals, which is 32 bytes.
static int64_t block_of(aclDataType type) {
  constexpr int64_t kBlockBytes = 32;
  return kBlockBytes / static_cast<int64_t>(c10::elementSize(type_of({"", 3}, type)));
}

// Casts between matrices and FRACTAL_NZ. torch_npu takes the operator "Identity" for the others,
// as it does on a device.
static std::vector<int64_t> storage_dims(const aclTensor& source, int format, aclDataType type) {
  const bool back = source.format == ACL_FORMAT_FRACTAL_NZ && format == ACL_FORMAT_ND;
  if (back) return source.dims;
  TORCH_CHECK(
      source.format == ACL_FORMAT_ND && format == ACL_FORMAT_FRACTAL_NZ && source.dims.size() >= 2,
      "expected a cast of two or more dimensions from ND (2) to FRACTAL_NZ (29), or back, "
      "got one of ",
      source.dims.size(), " dimensions from ", static_cast<int>(source.format), " to ", format);
  constexpr int64_t kRows = 16;
  const int64_t block = block_of(type);
  std::vector<int64_t> dims(source.dims.begin(), source.dims.end() - 2);
  const int64_t rows = source.dims.end()[-2], columns = source.dims.end()[-1];
  dims.insert(dims.end(),
              {(columns + block - 1) / block, (rows + kRows - 1) / kRows, kRows, block});
  return dims;
}

static constexpr char kCalculate[] = "aclnnNpuFormatCastCalculateSizeAndFormat";
static constexpr const char* kCalculateArguments[] = {"tensor", "int32", "int32"};
static constexpr Listed::Kinds kCalculateKinds(kCalculateArguments);
static const Listed listed(kCalculate, kFamily, kCalculateKinds);

}  // namespace hostcann::opapi

// The caller frees dstShape with delete[].
HOSTCANN_EXPORTED int aclnnNpuFormatCastCalculateSizeAndFormat(const aclTensor* source, int format,
                                                               int type, int64_t** shape,
                                                               uint64_t* rank, int* found_format) {
  using namespace hostcann::opapi;
  try {
    TORCH_CHECK(source != nullptr && shape != nullptr && rank != nullptr && found_format != nullptr,
                "expected four addresses, got a null pointer");
    const std::vector<int64_t> dims = storage_dims(*source, format, static_cast<aclDataType>(type));
    auto copy = std::make_unique<int64_t[]>(dims.size());
    std::copy(dims.begin(), dims.end(), copy.get());
    *shape = copy.release();
    *rank = dims.size();
    *found_format = format;
    return 0;
  } catch (...) {
    return refused_in_phase_1(kCalculate);
  }
}
