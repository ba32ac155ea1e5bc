// SPDX-License-Identifier: Apache-2.0
#include "check.h"

#include <ATen/TracerMode.h>
#include <acl/acl_base.h>
#include <c10/core/DeviceType.h>
#include <c10/core/Layout.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <c10/core/impl/TorchDispatchModeTLS.h>
#include <c10/util/DimVector.h>

#include <algorithm>
#include <sstream>

#include "stack.h"

namespace ascendc_ops {
namespace {

template <typename T>
std::string to_text(const T& value) {
  std::ostringstream text;
  text << value;
  return text.str();
}

std::string device_text(const at::Tensor& tensor) {
  // c10 prints PrivateUse1 by the name torch_npu registered for it.
  return to_text(tensor.device());
}

std::string where(const Argument& arg) {
  return std::string(arg.op) + ": argument '" + arg.name + "': ";
}

// A traced tensor's sizes may be symbols; asking for the number fixes it for the trace.
int64_t number(const c10::SymInt& value) {
  return value.is_heap_allocated() ? value.guard_int(__FILE__, __LINE__) : value.as_int_unchecked();
}

std::string numbers(c10::SymIntArrayRef values) {
  c10::DimVector known;
  for (const c10::SymInt& value : values) known.push_back(number(value));
  return to_text(c10::IntArrayRef(known));
}

// The name of what traces or transforms calls on this thread; null if nothing does. Each of them
// includes a key of its own, or that of Python, or the dispatcher would not find it either.
const char* tracer(c10::DispatchKeySet included) {
  using Modes = c10::impl::TorchDispatchModeTLS;
  constexpr c10::DispatchKeySet kTracers{c10::DispatchKey::FuncTorchDynamicLayerFrontMode,
                                         c10::DispatchKey::Tracer, c10::DispatchKey::Python};
  if (!included.has_any(kTracers)) return nullptr;
  if (c10::impl::tls_is_dispatch_key_included(c10::DispatchKey::FuncTorchDynamicLayerFrontMode)) {
    return "torch.func";
  }
  if (at::tracer::impl::is_dispatch_enabled()) return "torch.jit.trace";
  if (Modes::get_mode(c10::impl::TorchDispatchModeKey::PROXY)) return "make_fx";
  if (Modes::get_mode(c10::impl::TorchDispatchModeKey::FAKE)) return "FakeTensorMode";
  return nullptr;
}

}  // namespace

std::string dtype_name(c10::ScalarType dtype) {
  return std::string(c10::getDtypeNames(dtype).first);
}

std::string format_name(int64_t format) {
  switch (format) {
    case ACL_FORMAT_ND:
      return "ND";
    case ACL_FORMAT_NCHW:
      return "NCHW";
    case ACL_FORMAT_NHWC:
      return "NHWC";
    case ACL_FORMAT_NC1HWC0:
      return "NC1HWC0";
    case ACL_FORMAT_FRACTAL_Z:
      return "FRACTAL_Z";
    case ACL_FORMAT_FRACTAL_NZ:
      return "FRACTAL_NZ";
    default:
      return "acl format " + to_text(format);
  }
}

void check_direct_call(const Argument& arg) {
  const c10::impl::LocalDispatchKeySet here = c10::impl::tls_local_dispatch_key_set();
  const char* const recording = tracer(here.included_);
  TORCH_CHECK(recording == nullptr, arg.op, ": expected a call that nothing traces, got one under ",
              recording, ", which cannot see it; call torch.ops.ascendc_ops.", arg.op);
  constexpr c10::DispatchKeySet kWrappers{c10::DispatchKey::Python, c10::DispatchKey::Functionalize,
                                          c10::DispatchKey::FuncTorchBatched,
                                          c10::DispatchKey::FuncTorchGradWrapper};
  // A subclass that handles a call itself excludes its key meanwhile.
  const auto found = (arg.tensor.key_set() & kWrappers) - here.excluded_;
  TORCH_CHECK(found.empty(), where(arg), "expected a plain tensor, got one that wraps another (",
              c10::toString(found.highestPriorityTypeId()), "); call torch.ops.ascendc_ops.",
              arg.op);
}

void check_on_npu(const Argument& arg) {
  TORCH_CHECK(arg.tensor.defined(), where(arg), "expected a tensor, got an undefined one");
  TORCH_CHECK(arg.tensor.device().is_privateuseone(), where(arg), "expected device npu, got ",
              device_text(arg.tensor));
}

void check_same_device(const Argument& arg, const Argument& reference) {
  TORCH_CHECK(arg.tensor.device() == reference.tensor.device(), where(arg), "expected device ",
              device_text(reference.tensor), " like argument '", reference.name, "', got ",
              device_text(arg.tensor));
}

void check_dtype(const Argument& arg, c10::ScalarType expected) {
  TORCH_CHECK(arg.tensor.scalar_type() == expected, where(arg), "expected dtype ",
              dtype_name(expected), ", got ", dtype_name(arg.tensor.scalar_type()));
}

void check_strided(const Argument& arg) {
  TORCH_CHECK(!arg.tensor.is_nested(), where(arg), "expected a strided tensor, got a nested one");
  TORCH_CHECK(arg.tensor.layout() == c10::kStrided, where(arg),
              "expected a strided tensor, got layout ", to_text(arg.tensor.layout()));
}

void check_shape(const Argument& arg, c10::IntArrayRef expected) {
  const c10::SymIntArrayRef sizes = arg.tensor.sym_sizes();
  const bool equal =
      std::equal(sizes.begin(), sizes.end(), expected.begin(), expected.end(),
                 [](const c10::SymInt& size, int64_t wanted) { return number(size) == wanted; });
  TORCH_CHECK(equal, where(arg), "expected shape ", to_text(expected), ", got ", numbers(sizes));
}

void check_contiguous(const Argument& arg) {
  TORCH_CHECK(arg.tensor.is_contiguous(), where(arg), "expected a contiguous tensor, got strides ",
              to_text(arg.tensor.strides()));
}

void check_materialised(const Argument& arg) {
  TORCH_CHECK(!arg.tensor.is_neg(), where(arg),
              "expected values in memory, got a lazily negated tensor; call resolve_neg()");
  const int64_t elements = number(arg.tensor.sym_storage_offset()) + number(arg.tensor.sym_numel());
  const int64_t needed = elements * static_cast<int64_t>(arg.tensor.itemsize());
  const int64_t held = number(arg.tensor.storage().sym_nbytes());
  TORCH_CHECK(held >= needed, where(arg), "expected a storage of at least ", needed, " bytes, got ",
              held);
}

void check_no_grad(const Argument& arg) {
  // Where either would be kept.
  if (arg.tensor.unsafeGetTensorImpl()->autograd_meta() == nullptr) return;
  TORCH_CHECK(!arg.tensor.requires_grad(), where(arg),
              "expected requires_grad=False (no backward is registered), got requires_grad=True");
  TORCH_CHECK(!arg.tensor._fw_grad(/*level=*/0).defined(), where(arg),
              "expected no tangent (no forward-mode derivative is registered), got a dual tensor");
}

void check_no_batch(const Argument& arg) {
  TORCH_CHECK(!arg.tensor.key_set().has(c10::DispatchKey::FuncTorchBatched), where(arg),
              "expected one tensor (no batching rule is registered), got a batch of them under "
              "torch.vmap; call the operator in a loop");
}

void check_format_nd(const Argument& arg) {
  const int64_t format = storage_format(arg.tensor);
  TORCH_CHECK(format == ACL_FORMAT_ND, where(arg), "expected storage format ND, got ",
              format_name(format));
}

void check_output_format_nd(const Argument& arg) {
  const int64_t format = storage_format(arg.tensor);
  TORCH_CHECK(format == ACL_FORMAT_ND, arg.op, ": output '", arg.name,
              "': expected storage format ND, got ", format_name(format));
}

}  // namespace ascendc_ops
