// SPDX-License-Identifier: Apache-2.0
// Operator descriptions. They hold what they are given. There is no operator compiler here: the
// cast between formats is the one operator that runs, every other is refused.
#include <map>
#include <mutex>
#include <string>
#include <variant>
#include <vector>

#include "acl/acl_op.h"
#include "acl/acl_op_compiler.h"
#include "device.h"
#include "entry.h"
#include "error.h"
#include "format.h"
#include "hostcann/launch.h"

using namespace hostcann;

struct aclDataBuffer {
  void* data;
  size_t bytes;
};

struct aclTensorDesc {
  aclDataType type;
  aclFormat format;
  std::vector<int64_t> dims;
  aclFormat storage_format;
  std::vector<int64_t> storage_dims;
  aclMemType placement = ACL_MEMTYPE_DEVICE;
  std::string name;
};

struct aclopAttr {
  using Value =
      std::variant<bool, int64_t, float, aclDataType, std::string, std::vector<bool>,
                   std::vector<int64_t>, std::vector<float>, std::vector<std::vector<int64_t>>>;
  std::map<std::string, Value> values;
};

namespace {

Status check_list(const char* argument, int count, const void* values) {
  if (count < 0 || (count > 0 && values == nullptr)) {
    return refuse(ACL_ERROR_INVALID_PARAM, "argument '%s': expected %d values, got %s", argument,
                  count, values == nullptr ? "a null pointer" : "a negative number of them");
  }
  return {};
}

aclError set_attribute(const char* function, aclopAttr* attribute, const char* name,
                       aclopAttr::Value value) {
  if (attribute == nullptr || name == nullptr) {
    return report(function, refuse(ACL_ERROR_INVALID_PARAM,
                                   "argument '%s': expected an address, got a null pointer",
                                   attribute == nullptr ? "attr" : "attrName"));
  }
  attribute->values[name] = std::move(value);
  return ACL_SUCCESS;
}

template <typename Kept, typename Given>
aclError set_list(const char* function, aclopAttr* attribute, const char* name, int count,
                  const Given* values) {
  if (const Status status = check_list("values", count, values); !status.ok()) {
    return report(function, status);
  }
  std::vector<Kept> kept;
  kept.reserve(static_cast<size_t>(count));
  for (int i = 0; i < count; ++i) kept.push_back(static_cast<Kept>(values[i]));
  return set_attribute(function, attribute, name, std::move(kept));
}

size_t item_bytes(aclDataType type) {
  switch (type) {
    case ACL_BOOL:
    case ACL_INT8:
    case ACL_UINT8:
      return 1;
    case ACL_FLOAT16:
    case ACL_BF16:
    case ACL_INT16:
    case ACL_UINT16:
      return 2;
    case ACL_FLOAT:
    case ACL_INT32:
    case ACL_UINT32:
      return 4;
    case ACL_DOUBLE:
    case ACL_INT64:
    case ACL_UINT64:
      return 8;
    default:
      return 0;
  }
}

Stored stored(const aclTensorDesc& desc) {
  return {desc.storage_format, desc.dims, desc.storage_dims.empty() ? desc.dims : desc.storage_dims,
          item_bytes(desc.type)};
}

class CastTask : public Task {
 public:
  Shown shown() const override { return {"TransData", "bytes", cast.source_bytes()}; }
  Status run() override {
    cast.run(source, target);
    return {};
  }

  FormatCast cast;
  void* source = nullptr;
  void* target = nullptr;
};

Status translate(const char* argument, const aclDataBuffer& buffer, size_t bytes, void** host) {
  if (buffer.bytes < bytes) {
    return refuse(ACL_ERROR_INVALID_PARAM, "argument '%s': expected %zu bytes, got %zu", argument,
                  bytes, buffer.bytes);
  }
  char why[600];
  if (bytes == 0) return {};
  const int code = hostcann_translate(buffer.data, bytes, host, why, sizeof why);
  return code == ACL_SUCCESS ? Status() : Status(code, std::string(argument) + ": " + why);
}

Status cast_format(int input_count, const aclTensorDesc* const inputs[],
                   const aclDataBuffer* const sources[], int output_count,
                   const aclTensorDesc* const outputs[], const aclDataBuffer* const targets[],
                   aclrtStream stream) {
  if (input_count != 1 || output_count != 1 || inputs[0] == nullptr || outputs[0] == nullptr ||
      sources == nullptr || sources[0] == nullptr || targets == nullptr || targets[0] == nullptr) {
    return refuse(ACL_ERROR_INVALID_PARAM,
                  "a cast between formats: expected one input and one output with their "
                  "buffers, got %d and %d, or a null pointer",
                  input_count, output_count);
  }
  auto task = std::make_unique<CastTask>();
  Status status = FormatCast::plan(stored(*inputs[0]), stored(*outputs[0]), &task->cast);
  if (status.ok()) {
    status = translate("inputs", *sources[0], task->cast.source_bytes(), &task->source);
  }
  if (status.ok()) {
    status = translate("outputs", *targets[0], task->cast.target_bytes(), &task->target);
  }
  std::shared_ptr<Stream> found;
  if (status.ok()) status = find_own_stream(stream, &found);
  return status.ok() ? found->enqueue(std::move(task)) : status;
}

aclError run_operator(const char* function, const char* type, int input_count,
                      const aclTensorDesc* const inputs[], const aclDataBuffer* const sources[],
                      int output_count, const aclTensorDesc* const outputs[],
                      const aclDataBuffer* const targets[], aclrtStream stream) {
  Status status = check_list("inputDesc", input_count, inputs);
  if (status.ok()) status = check_list("outputDesc", output_count, outputs);
  if (!status.ok()) return report(function, status);
  const std::string name = type == nullptr ? "(unnamed)" : type;
  if (name == "Identity" || name == "TransData") {
    status = cast_format(input_count, inputs, sources, output_count, outputs, targets, stream);
    if (status.ok()) return ACL_SUCCESS;
    status = refuse(status.code(), "operator '%s': %s", name.c_str(), status.why().c_str());
  } else {
    status = refuse(ACL_ERROR_OP_NOT_FOUND,
                    "operator '%s' is not implemented; compute it on the CPU (tensor.cpu()), or "
                    "see API.md for what hostcann implements",
                    name.c_str());
  }
  return report(function, status);
}

// What CANN starts with, where torch_npu or its users read it back.
struct CompileOptions {
  std::mutex mutex;
  std::map<aclCompileOpt, std::string> values{{ACL_OP_JIT_COMPILE, "disable"},
                                              {ACL_OP_DEBUG_OPTION, ""}};

  static CompileOptions& instance() {
    static auto* const only = new CompileOptions;
    return *only;
  }
};

Status check_option(aclCompileOpt option) {
  if (option >= ACL_PRECISION_MODE && option <= ACL_OP_DEBUG_OPTION) return {};
  return refuse(ACL_ERROR_INVALID_PARAM, "compile option: expected 0 to %d, got %d",
                static_cast<int>(ACL_OP_DEBUG_OPTION), static_cast<int>(option));
}

}  // namespace

HOSTCANN_API aclDataBuffer* aclCreateDataBuffer(void* data, size_t size) {
  HOSTCANN_ENTER_OR(nullptr);
  return new aclDataBuffer{data, size};
}

HOSTCANN_API aclError aclDestroyDataBuffer(const aclDataBuffer* dataBuffer) {
  HOSTCANN_REQUIRE_NOT_NULL(dataBuffer);
  HOSTCANN_ENTER();
  delete dataBuffer;
  return ACL_SUCCESS;
}

HOSTCANN_API void* aclGetDataBufferAddr(const aclDataBuffer* dataBuffer) {
  return dataBuffer == nullptr ? nullptr : dataBuffer->data;
}

HOSTCANN_API size_t aclGetDataBufferSizeV2(const aclDataBuffer* dataBuffer) {
  return dataBuffer == nullptr ? 0 : dataBuffer->bytes;
}

HOSTCANN_API aclTensorDesc* aclCreateTensorDesc(aclDataType dataType, int numDims,
                                                const int64_t* dims, aclFormat format) {
  HOSTCANN_ENTER_OR(nullptr);
  if (const Status status = check_list("dims", numDims, dims); !status.ok()) {
    report(__func__, status);
    return nullptr;
  }
  auto* desc = new aclTensorDesc{};
  desc->type = dataType;
  desc->format = format;
  desc->storage_format = format;
  if (numDims > 0) desc->dims.assign(dims, dims + numDims);
  return desc;
}

HOSTCANN_API void aclDestroyTensorDesc(const aclTensorDesc* desc) { delete desc; }

HOSTCANN_API aclDataType aclGetTensorDescType(const aclTensorDesc* desc) {
  return desc == nullptr ? ACL_DT_UNDEFINED : desc->type;
}

HOSTCANN_API aclFormat aclGetTensorDescFormat(const aclTensorDesc* desc) {
  return desc == nullptr ? ACL_FORMAT_UNDEFINED : desc->format;
}

HOSTCANN_API size_t aclGetTensorDescNumDims(const aclTensorDesc* desc) {
  return desc == nullptr ? 0 : desc->dims.size();
}

HOSTCANN_API aclError aclGetTensorDescDimV2(const aclTensorDesc* desc, size_t index,
                                            int64_t* dimSize) {
  HOSTCANN_REQUIRE_NOT_NULL(desc);
  HOSTCANN_REQUIRE_NOT_NULL(dimSize);
  *dimSize = 0;
  HOSTCANN_ENTER();
  if (index >= desc->dims.size()) {
    return report(__func__, refuse(ACL_ERROR_INVALID_PARAM,
                                   "argument 'index': expected less than %zu, got %zu",
                                   desc->dims.size(), index));
  }
  *dimSize = desc->dims[index];
  return ACL_SUCCESS;
}

HOSTCANN_API void aclSetTensorDescName(aclTensorDesc* desc, const char* name) {
  if (desc != nullptr) desc->name = name == nullptr ? "" : name;
}

HOSTCANN_API const char* aclGetTensorDescName(aclTensorDesc* desc) {
  return desc == nullptr ? "" : desc->name.c_str();
}

HOSTCANN_API aclError aclSetTensorFormat(aclTensorDesc* desc, aclFormat format) {
  HOSTCANN_REQUIRE_NOT_NULL(desc);
  HOSTCANN_ENTER();
  desc->storage_format = format;
  return ACL_SUCCESS;
}

HOSTCANN_API aclError aclSetTensorShape(aclTensorDesc* desc, int numDims, const int64_t* dims) {
  HOSTCANN_REQUIRE_NOT_NULL(desc);
  HOSTCANN_ENTER();
  HOSTCANN_RETURN_IF_FAILED(check_list("dims", numDims, dims));
  desc->storage_dims.assign(dims, dims + numDims);
  return ACL_SUCCESS;
}

HOSTCANN_API aclError aclSetTensorPlaceMent(aclTensorDesc* desc, aclMemType memType) {
  HOSTCANN_REQUIRE_NOT_NULL(desc);
  HOSTCANN_ENTER();
  desc->placement = memType;
  return ACL_SUCCESS;
}

HOSTCANN_API aclopAttr* aclopCreateAttr() {
  HOSTCANN_ENTER_OR(nullptr);
  return new aclopAttr;
}

HOSTCANN_API void aclopDestroyAttr(const aclopAttr* attr) { delete attr; }

HOSTCANN_API aclError aclopSetAttrBool(aclopAttr* attr, const char* attrName, uint8_t attrValue) {
  HOSTCANN_ENTER();
  return set_attribute(__func__, attr, attrName, attrValue != 0);
}

HOSTCANN_API aclError aclopSetAttrInt(aclopAttr* attr, const char* attrName, int64_t attrValue) {
  HOSTCANN_ENTER();
  return set_attribute(__func__, attr, attrName, attrValue);
}

HOSTCANN_API aclError aclopSetAttrFloat(aclopAttr* attr, const char* attrName, float attrValue) {
  HOSTCANN_ENTER();
  return set_attribute(__func__, attr, attrName, attrValue);
}

HOSTCANN_API aclError aclopSetAttrString(aclopAttr* attr, const char* attrName,
                                         const char* attrValue) {
  HOSTCANN_REQUIRE_NOT_NULL(attrValue);
  HOSTCANN_ENTER();
  return set_attribute(__func__, attr, attrName, std::string(attrValue));
}

HOSTCANN_API aclError aclopSetAttrDataType(aclopAttr* attr, const char* attrName,
                                           aclDataType attrValue) {
  HOSTCANN_ENTER();
  return set_attribute(__func__, attr, attrName, attrValue);
}

HOSTCANN_API aclError aclopSetAttrListBool(aclopAttr* attr, const char* attrName, int numValues,
                                           const uint8_t* values) {
  HOSTCANN_ENTER();
  return set_list<bool>(__func__, attr, attrName, numValues, values);
}

HOSTCANN_API aclError aclopSetAttrListInt(aclopAttr* attr, const char* attrName, int numValues,
                                          const int64_t* values) {
  HOSTCANN_ENTER();
  return set_list<int64_t>(__func__, attr, attrName, numValues, values);
}

HOSTCANN_API aclError aclopSetAttrListFloat(aclopAttr* attr, const char* attrName, int numValues,
                                            const float* values) {
  HOSTCANN_ENTER();
  return set_list<float>(__func__, attr, attrName, numValues, values);
}

HOSTCANN_API aclError aclopSetAttrListListInt(aclopAttr* attr, const char* attrName, int numLists,
                                              const int* numValues, const int64_t* const values[]) {
  HOSTCANN_ENTER();
  HOSTCANN_RETURN_IF_FAILED(check_list("numValues", numLists, numValues));
  HOSTCANN_RETURN_IF_FAILED(check_list("values", numLists, values));
  std::vector<std::vector<int64_t>> kept;
  for (int i = 0; i < numLists; ++i) {
    HOSTCANN_RETURN_IF_FAILED(check_list("values", numValues[i], values[i]));
    kept.emplace_back(values[i], values[i] + numValues[i]);
  }
  return set_attribute(__func__, attr, attrName, std::move(kept));
}

HOSTCANN_API aclError aclopCompileAndExecute(
    const char* opType, int numInputs, const aclTensorDesc* const inputDesc[],
    const aclDataBuffer* const inputs[], int numOutputs, const aclTensorDesc* const outputDesc[],
    aclDataBuffer* const outputs[], const aclopAttr* /*attr*/, aclopEngineType /*engineType*/,
    aclopCompileType /*compileFlag*/, const char* /*opPath*/, aclrtStream stream) {
  HOSTCANN_ENTER();
  return run_operator(__func__, opType, numInputs, inputDesc, inputs, numOutputs, outputDesc,
                      outputs, stream);
}

HOSTCANN_API aclError aclopCompileAndExecuteV2(const char* opType, int numInputs,
                                               aclTensorDesc* inputDesc[], aclDataBuffer* inputs[],
                                               int numOutputs, aclTensorDesc* outputDesc[],
                                               aclDataBuffer* outputs[], aclopAttr* /*attr*/,
                                               aclopEngineType /*engineType*/,
                                               aclopCompileType /*compileFlag*/,
                                               const char* /*opPath*/, aclrtStream stream) {
  HOSTCANN_ENTER();
  return run_operator(__func__, opType, numInputs, inputDesc, inputs, numOutputs, outputDesc,
                      outputs, stream);
}

HOSTCANN_API aclError aclSetCompileopt(aclCompileOpt opt, const char* value) {
  HOSTCANN_REQUIRE_NOT_NULL(value);
  HOSTCANN_ENTER();
  HOSTCANN_RETURN_IF_FAILED(check_option(opt));
  CompileOptions& options = CompileOptions::instance();
  std::lock_guard lock(options.mutex);
  options.values[opt] = value;
  return ACL_SUCCESS;
}

// Sizes count the terminating zero, so that a buffer of this size is enough.
HOSTCANN_API size_t aclGetCompileoptSize(aclCompileOpt opt) {
  HOSTCANN_ENTER_OR(0);
  CompileOptions& options = CompileOptions::instance();
  std::lock_guard lock(options.mutex);
  const auto found = options.values.find(opt);
  return found == options.values.end() ? 0 : found->second.size() + 1;
}

HOSTCANN_API aclError aclGetCompileopt(aclCompileOpt opt, char* value, size_t length) {
  HOSTCANN_REQUIRE_NOT_NULL(value);
  HOSTCANN_ENTER();
  if (length > 0) *value = '\0';
  HOSTCANN_RETURN_IF_FAILED(check_option(opt));
  CompileOptions& options = CompileOptions::instance();
  std::lock_guard lock(options.mutex);
  const auto found = options.values.find(opt);
  if (found == options.values.end()) {
    return report(__func__, refuse(ACL_ERROR_INVALID_PARAM, "compile option %d has not been set",
                                   static_cast<int>(opt)));
  }
  if (length < found->second.size() + 1) {
    return report(__func__, refuse(ACL_ERROR_INVALID_PARAM,
                                   "argument 'length': expected at least %zu, got %zu",
                                   found->second.size() + 1, length));
  }
  found->second.copy(value, found->second.size());
  value[found->second.size()] = '\0';
  return ACL_SUCCESS;
}
