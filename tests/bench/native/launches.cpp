// SPDX-License-Identifier: Apache-2.0
// Three ways to place a launch, otherwise the sample's wrapper, and loops around what is too short
// to be timed from Python.
#include <ATen/ops/empty.h>
#include <c10/core/DeviceGuard.h>
#include <torch/library.h>
#include <torch_npu/csrc/core/npu/NPUStream.h>
#include <torch_npu/csrc/framework/OpCommand.h>
#include <torch_npu/csrc/framework/utils/OpPreparation.h>

#include <array>
#include <chrono>
#include <string>

#include "add_custom/add_custom.h"
#include "check.h"

namespace {

using ascendc_ops::Argument;

constexpr uint32_t kBlocks = 8;
constexpr std::array<int64_t, 2> kShape{8, 2048};

uint8_t* address(const at::Tensor& tensor) { return static_cast<uint8_t*>(tensor.data_ptr()); }

void launch(aclrtStream stream, const at::Tensor& x, const at::Tensor& y, const at::Tensor& z) {
  add_custom_impl(kBlocks, stream, address(x), address(y), address(z),
                  static_cast<uint32_t>(x.numel()));
}

at::Tensor add_drained(const at::Tensor& x, const at::Tensor& y) {
  at::Tensor z = at::empty(x.sizes(), x.options());
  launch(c10_npu::getCurrentNPUStream().stream(), x, y, z);
  return z;
}

at::Tensor add_queued(const at::Tensor& x, const at::Tensor& y) {
  at::Tensor z = at::empty(x.sizes(), x.options());
  const aclrtStream stream = c10_npu::getCurrentNPUStream().stream(false);
  at_npu::native::OpCommand::RunOpApiV2("bench_add", [stream, x, y, z] {
    launch(stream, x, y, z);
    return 0;
  });
  return z;
}

// Only looked at, so that the compiler keeps the work.
void keep(const at::Tensor& tensor) { asm volatile("" : : "r"(&tensor) : "memory"); }

template <typename Work>
double seconds_of(int64_t times, Work work) {
  const auto start = std::chrono::steady_clock::now();
  for (int64_t i = 0; i < times; ++i) work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Seconds for `times` rounds of one step of the operator, on both tensors where it is a check.
double step_seconds(const at::Tensor& x, const at::Tensor& y, const std::string& step,
                    int64_t times) {
  using namespace ascendc_ops;
  const Argument a{"bench", "x", x};
  const Argument b{"bench", "y", y};
  const auto both = [&](auto check) {
    return seconds_of(times, [&] {
      check(a);
      check(b);
    });
  };
  if (step == "nothing") return both([](const Argument& arg) { keep(arg.tensor); });
  if (step == "on_npu") return both(check_on_npu);
  if (step == "same_device") return seconds_of(times, [&] { check_same_device(b, a); });
  if (step == "dtype") {
    return both([](const Argument& arg) { check_dtype(arg, c10::ScalarType::Float); });
  }
  if (step == "shape") return both([](const Argument& arg) { check_shape(arg, kShape); });
  if (step == "strided") return both(check_strided);
  if (step == "contiguous") return both(check_contiguous);
  if (step == "materialised") return both(check_materialised);
  if (step == "no_grad") return both(check_no_grad);
  if (step == "no_batch") return both(check_no_batch);
  if (step == "direct_call") return both(check_direct_call);
  if (step == "format_nd") return both(check_format_nd);
  if (step == "output_format_nd") return seconds_of(times, [&] { check_output_format_nd(a); });
  if (step == "device_guard") {
    return seconds_of(times, [&] { const c10::DeviceGuard guard(x.device()); });
  }
  if (step == "empty") {
    return seconds_of(times, [&] { keep(at::empty(kShape, x.options())); });
  }
  if (step == "apply_tensor") {
    return seconds_of(times, [&] {
      keep(at_npu::native::OpPreparation::apply_tensor_without_format(kShape, x.options()));
    });
  }
  if (step == "launch") {
    const aclrtStream stream = c10_npu::getCurrentNPUStream().stream();
    const at::Tensor z = at::empty(kShape, x.options());
    return seconds_of(times, [&] { launch(stream, x, y, z); });
  }
  if (step == "queue") {
    const aclrtStream stream = c10_npu::getCurrentNPUStream().stream(false);
    return seconds_of(times, [&] {
      at_npu::native::OpCommand::RunOpApiV2("bench_add", [stream, x, y] {
        launch(stream, x, y, y);
        return 0;
      });
    });
  }
  if (step == "stream") {
    return seconds_of(times, [&] { (void)c10_npu::getCurrentNPUStream().stream(); });
  }
  if (step == "stream_false") {
    return seconds_of(times, [&] { (void)c10_npu::getCurrentNPUStream().stream(false); });
  }
  TORCH_CHECK(false, "bench: expected a step of the operator, got '", step, "'");
}

}  // namespace

TORCH_LIBRARY(bench, m) {
  m.def("add_drained(Tensor x, Tensor y) -> Tensor");
  m.def("add_queued(Tensor x, Tensor y) -> Tensor");
  m.def("step_seconds(Tensor x, Tensor y, str step, int times) -> float");
}

TORCH_LIBRARY_IMPL(bench, PrivateUse1, m) {
  m.impl("add_drained", &add_drained);
  m.impl("add_queued", &add_queued);
  m.impl("step_seconds", &step_seconds);
}
