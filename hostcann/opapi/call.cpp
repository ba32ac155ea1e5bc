// SPDX-License-Identifier: Apache-2.0
// What the two phases of every operator share: from acl objects to views, the life of an
// executor, and the run on the stream's thread.
#include "call.h"

#include <ATen/ExpandUtils.h>
#include <ATen/ScalarOps.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/result_type.h>
#include <c10/util/Exception.h>
#include <c10/util/accumulate.h>

#include <algorithm>
#include <cstdio>
#include <mutex>
#include <sstream>
#include <unordered_set>

#include "hostcann/launch.h"
#include "hostcann/operator.h"

namespace hostcann::opapi {
namespace {

// aclnn's code for an argument that is refused.
constexpr int kBadArgument = 161002;
constexpr int kInner = 561000;

struct Refusal : std::runtime_error {
  using std::runtime_error::runtime_error;
};

[[noreturn]] void refuse(const Position& at, const std::string& why) {
  throw Refusal("argument " + std::to_string(at.argument) + ": " + why);
}

struct Type {
  aclDataType acl;
  ScalarType torch;
};

constexpr Type kTypes[] = {
    {ACL_FLOAT, ScalarType::Float},
    {ACL_FLOAT16, ScalarType::Half},
    {ACL_BF16, ScalarType::BFloat16},
    {ACL_DOUBLE, ScalarType::Double},
    {ACL_INT64, ScalarType::Long},
    {ACL_INT32, ScalarType::Int},
    {ACL_INT16, ScalarType::Short},
    {ACL_INT8, ScalarType::Char},
    {ACL_UINT8, ScalarType::Byte},
    {ACL_BOOL, ScalarType::Bool},
    {ACL_UINT16, ScalarType::UInt16},
    {ACL_UINT32, ScalarType::UInt32},
    {ACL_UINT64, ScalarType::UInt64},
    {ACL_COMPLEX64, ScalarType::ComplexFloat},
    {ACL_COMPLEX128, ScalarType::ComplexDouble},
    {ACL_COMPLEX32, ScalarType::ComplexHalf},
    {ACL_FLOAT8_E5M2, ScalarType::Float8_e5m2},
    {ACL_FLOAT8_E4M3FN, ScalarType::Float8_e4m3fn},
};

bool is_dense(aclFormat format) {
  constexpr aclFormat kDense[] = {ACL_FORMAT_ND,    ACL_FORMAT_NCHW, ACL_FORMAT_NHWC,
                                  ACL_FORMAT_HWCN,  ACL_FORMAT_NCL,  ACL_FORMAT_NCDHW,
                                  ACL_FORMAT_NDHWC, ACL_FORMAT_NC};
  return std::find(std::begin(kDense), std::end(kDense), format) != std::end(kDense);
}

// Elements from the first to one past the last of a view; 0 for a view without elements.
int64_t extent(const aclTensor& tensor) {
  int64_t last = 0;
  for (size_t i = 0; i < tensor.dims.size(); ++i) {
    if (tensor.dims[i] == 0) return 0;
    last += (tensor.dims[i] - 1) * tensor.strides[i];
  }
  return last + 1;
}

void* translate(const Position& at, const void* device, size_t bytes) {
  if (bytes == 0) return nullptr;
  char why[600];
  void* host = nullptr;
  if (hostcann_translate(device, bytes, &host, why, sizeof why) != 0) refuse(at, why);
  return host;
}

std::string text(IntArrayRef sizes) {
  std::ostringstream stream;
  stream << sizes;
  return stream.str();
}

// Executors between their two phases; a second phase 2 finds nothing and cannot free it again.
class Waiting {
 public:
  // Leaked: the exit of the process must not race with a queue thread.
  static Waiting& instance() {
    static auto* const waiting = new Waiting;
    return *waiting;
  }

  aclOpExecutor* add(std::unique_ptr<aclOpExecutor> call) {
    std::lock_guard lock(mutex_);
    calls_.insert(call.get());
    return call.release();
  }

  std::unique_ptr<aclOpExecutor> take(aclOpExecutor* call, const char* function) {
    std::lock_guard lock(mutex_);
    const auto found = calls_.find(call);
    if (found == calls_.end() || call->function != function) return nullptr;
    calls_.erase(found);
    return std::unique_ptr<aclOpExecutor>(call);
  }

 private:
  std::mutex mutex_;
  std::unordered_set<aclOpExecutor*> calls_;
};

int run_block(void* closure, uint32_t, uint32_t, HostcannKernelFault* fault) {
  const at::AutoDispatchBelowADInplaceOrView below_autograd;
  const at::NoGradGuard no_grad;
  const auto failed = [fault](const char* why) {
    fault->code = HOSTCANN_FAULT_AICORE_EXCEPTION;
    std::snprintf(fault->message, sizeof fault->message, "%s", why);
    return 1;
  };
  try {
    static_cast<aclOpExecutor*>(closure)->run();
    return 0;
  } catch (const c10::Error& error) {
    return failed(error.what_without_backtrace());
  } catch (const std::exception& error) {
    return failed(error.what());
  } catch (...) {
    return failed("an exception of an unknown type");
  }
}

void destroy(void* closure) { delete static_cast<aclOpExecutor*>(closure); }

struct Entry {
  const char* name;
  const char* family;
  std::string arguments;  // kinds with spaces between
};

std::vector<Entry>& listing() {
  static std::vector<Entry> entries;
  return entries;
}

}  // namespace

ScalarType type_of(const Position& at, aclDataType type) {
  for (const Type& known : kTypes) {
    if (known.acl == type) return known.torch;
  }
  refuse(at,
         "expected a data type that torch has on a CPU, got aclDataType " + std::to_string(type));
}

void refuse_null(const Position& at) { refuse(at, "expected an object, got a null pointer"); }

Tensor view_of(const Position& at, const aclTensor* tensor) {
  if (tensor == nullptr) refuse_null(at);
  if (!is_dense(tensor->format)) {
    refuse(at, "expected a base format such as ND (2) or NCHW (0), got format " +
                   std::to_string(tensor->format) +
                   "; cast it back with torch_npu.npu_format_cast(tensor, 2)");
  }
  const ScalarType type = type_of(at, tensor->type);
  const size_t item_bytes = c10::elementSize(type);
  const char* first =
      static_cast<const char*>(tensor->data) + static_cast<size_t>(tensor->offset) * item_bytes;
  void* data = translate(at, first, static_cast<size_t>(extent(*tensor)) * item_bytes);
  return at::for_blob(data, tensor->dims)
      .strides(tensor->strides)
      .options(at::TensorOptions(type))
      .make_tensor();
}

std::optional<Tensor> maybe_view_of(const Position& at, const aclTensor* tensor) {
  if (tensor == nullptr) return std::nullopt;
  return view_of(at, tensor);
}

// torch_npu passes a null pointer for an empty list.
std::vector<Tensor> views_of(const Position& at, const aclTensorList* list) {
  std::vector<Tensor> views;
  if (list == nullptr) return views;
  views.reserve(list->values.size());
  for (const aclTensor* tensor : list->values) {
    views.push_back(maybe_view_of(at, tensor).value_or(Tensor()));
  }
  return views;
}

Stored stored_of(const Position& at, const aclTensor* tensor) {
  if (tensor == nullptr) refuse_null(at);
  const size_t item_bytes = c10::elementSize(type_of(at, tensor->type));
  const int64_t count = c10::multiply_integers(tensor->storage_dims);
  Stored stored{*tensor, item_bytes, nullptr};
  stored.data = translate(at, tensor->data, static_cast<size_t>(count) * item_bytes);
  return stored;
}

Found found_view_of(const Position& at, aclTensor* tensor) {
  Tensor buffer = view_of(at, tensor);
  if (!buffer.is_contiguous()) {
    refuse(at, "expected a contiguous buffer for a result of unknown shape, got strides " +
                   text(buffer.strides()));
  }
  tensor->found_dims = std::make_shared<std::vector<int64_t>>(tensor->dims);
  return {std::move(buffer), tensor->found_dims};
}

Scalar number_of(const Position& at, const aclScalar* scalar) {
  if (scalar == nullptr) refuse_null(at);
  return std::visit(
      [](auto value) -> Scalar {
        if constexpr (std::is_same_v<decltype(value), std::complex<double>>) {
          return c10::complex<double>(value);
        } else {
          return value;
        }
      },
      scalar->value);
}

std::vector<Scalar> numbers_of(const Position& at, const aclScalarList* list) {
  if (list == nullptr) refuse_null(at);
  std::vector<Scalar> numbers;
  numbers.reserve(list->values.size());
  for (const aclScalar* scalar : list->values) numbers.push_back(number_of(at, scalar));
  return numbers;
}

Tensor wrapped(Number number) {
  Tensor tensor = c10::scalar_to_tensor(number);
  tensor.unsafeGetTensorImpl()->set_wrapped_number(true);
  return tensor;
}

void assign(Out out, In value) {
  TORCH_CHECK(out.sizes() == value.sizes(), "the output was expected to have shape ", value.sizes(),
              ", got shape ", out.sizes());
  out.copy_(value);
}

void expect_floating_self(Out self) {
  TORCH_CHECK(!c10::isIntegralType(self.scalar_type(), true),
              "the output: expected a floating-point type, got ", self.scalar_type());
}

void expect_floating(In self, Out out) {
  TORCH_CHECK(self.sizes() == out.sizes(), "the output: expected shape ", self.sizes(),
              ", got shape ", out.sizes());
  expect_floating_self(out);
}

void expect_broadcast(In self, In other, Out out) {
  const at::DimVector sizes = at::infer_size_dimvector(self.sizes(), other.sizes());
  TORCH_CHECK(out.sizes() == IntArrayRef(sizes), "the output: expected shape ", IntArrayRef(sizes),
              ", got shape ", out.sizes());
  const ScalarType type = at::result_type(self, other);
  TORCH_CHECK(c10::canCast(type, out.scalar_type()), "result type ", type,
              " can't be cast to the desired output type ", out.scalar_type());
}

void expect_even(In self, int64_t dim) {
  TORCH_CHECK(self.size(dim) % 2 == 0, "self: expected an even size in dimension ", dim,
              ", got shape ", self.sizes());
}

void Found::set(const Tensor& result) {
  TORCH_CHECK(result.numel() <= buffer_.numel(), "the result has ", result.numel(),
              " elements, but its buffer holds ", buffer_.numel());
  buffer_.view(-1).narrow(0, 0, result.numel()).view(result.sizes()).copy_(result);
  *dims_ = result.sizes().vec();
}

bool is_half(In tensor) {
  return tensor.defined() && c10::isReducedFloatingType(tensor.scalar_type());
}

bool widen(Tensor& tensor) {
  if (!is_half(tensor)) return false;
  tensor = tensor.to(ScalarType::Float);
  return true;
}

OutputView::OutputView(Tensor view) : view_(std::move(view)) { remember(); }

void OutputView::remember() {
  if (!view_.defined()) return;
  sizes_ = view_.sizes().vec();
  data_ = view_.const_data_ptr();
}

bool OutputView::widen() {
  const Tensor before = view_;
  if (!opapi::widen(view_)) return false;
  narrow_ = before;
  remember();
  return true;
}

void OutputView::finish() {
  if (!view_.defined()) return;
  TORCH_CHECK(view_.sizes() == IntArrayRef(sizes_) && view_.const_data_ptr() == data_,
              "the output was expected to have shape ", view_.sizes(), ", got shape ",
              IntArrayRef(sizes_));
  if (narrow_.defined()) narrow_.copy_(view_);
}

int keep(std::unique_ptr<aclOpExecutor> call, uint64_t* workspace_size, aclOpExecutor** executor) {
  if (workspace_size == nullptr || executor == nullptr) {
    return hostcann_refuse_call(call->function, kBadArgument,
                                "arguments 'workspaceSize' and 'executor': expected two "
                                "addresses, got a null pointer");
  }
  *workspace_size = 0;
  *executor = Waiting::instance().add(std::move(call));
  return 0;
}

int refused_in_phase_1(const char* function) {
  try {
    throw;
  } catch (const Refusal& refusal) {
    return hostcann_refuse_call(function, kBadArgument, refusal.what());
  } catch (const c10::Error& error) {
    return hostcann_refuse_call(function, kBadArgument, error.what_without_backtrace());
  } catch (const std::exception& error) {
    return hostcann_refuse_call(function, kInner, error.what());
  }
}

int launch(const char* function, aclOpExecutor* executor, void* stream) {
  std::unique_ptr<aclOpExecutor> call = Waiting::instance().take(executor, function);
  if (call == nullptr) {
    return hostcann_refuse_call(function, kBadArgument,
                                "argument 'executor': expected one that this function's "
                                "GetWorkspaceSize made and that was not used yet");
  }
  const HostcannLaunch task{HOSTCANN_LAUNCH_ABI, function, 1, call.release(), run_block, destroy};
  return hostcann_launch(&task, stream);
}

Listed::Listed(const char* name, const char* family, Kinds arguments) noexcept {
  std::string kinds;
  for (const char* kind : arguments) (kinds += kinds.empty() ? "" : " ") += kind;
  listing().push_back({name, family, kinds});
}

}  // namespace hostcann::opapi

HOSTCANN_EXPORTED int hostcann_operator(size_t index, const char** name, const char** family,
                                        const char** arguments) {
  const auto& entries = hostcann::opapi::listing();
  if (index >= entries.size() || name == nullptr || family == nullptr || arguments == nullptr) {
    return 1;
  }
  *name = entries[index].name;
  *family = entries[index].family;
  *arguments = entries[index].arguments.c_str();
  return 0;
}
