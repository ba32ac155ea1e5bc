// SPDX-License-Identifier: Apache-2.0
// Calls the operator from C++, without its Python package: prints the result's device and whether
// it is right, then what a wrong call is told.
#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/arange.h>
#include <Python.h>

#include <iostream>

namespace {

void call() {
  const auto add = c10::Dispatcher::singleton()
                       .findSchemaOrThrow("ascendc_ops::ascendc_add", "")
                       .typed<at::Tensor(const at::Tensor&, const at::Tensor&)>();
  const c10::Device npu(c10::DeviceType::PrivateUse1, 0);
  const at::Tensor x = at::arange(8 * 2048, at::kFloat).reshape({8, 2048}).div(1000);
  const at::Tensor y = x.flip(0).mul(-0.25);
  const at::Tensor z = add.call(x.to(npu), y.to(npu));
  std::cout << z.device() << " " << (z.cpu().equal(x.add(y)) ? "right" : "wrong") << std::endl;
  try {
    add.call(x.to(npu), y.to(npu).slice(1, 1));
  } catch (const c10::Error& error) {
    std::cout << error.what_without_backtrace() << std::endl;
  }
}

}  // namespace

int main() {
  // torch_npu brings up a device through its Python package, and its threads may want the
  // interpreter while this one waits for them.
  Py_Initialize();
  if (PyRun_SimpleString("import torch_npu") != 0) return 1;
  PyThreadState* const python = PyEval_SaveThread();
  call();
  PyEval_RestoreThread(python);
  return Py_FinalizeEx();
}
