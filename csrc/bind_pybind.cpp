// SPDX-License-Identifier: Apache-2.0
#include <c10/util/Exception.h>
#include <pybind11/pybind11.h>
#include <torch/csrc/Exceptions.h>

#include <exception>
#include <string>
#include <utility>

#include "ascendc_add.h"
#include "check.h"

namespace py = pybind11;

namespace {

// A message of our own: pybind11's for a wrong type prints every argument, which would copy whole
// tensors back from the device. A copy of the handle: without the GIL, another thread may swap the
// one inside the Python object.
at::Tensor to_tensor(const char* op, const char* name, const py::object& value) {
  py::detail::make_caster<at::Tensor> loaded;
  if (!loaded.load(value, false)) {
    throw py::type_error(std::string(op) + ": argument '" + name +
                         "': expected a torch.Tensor, got " + Py_TYPE(value.ptr())->tp_name);
  }
  auto tensor = py::detail::cast_op<at::Tensor>(std::move(loaded));
  ascendc_ops::check_direct_call({op, name, tensor});
  return tensor;
}

using BinaryOperator = at::Tensor (*)(const at::Tensor& x, const at::Tensor& y);

void define(py::module_& m, const char* name, BinaryOperator compute) {
  const auto call = [name, compute](const py::object& x, const py::object& y) {
    const at::Tensor x_tensor = to_tensor(name, "x", x);
    const at::Tensor y_tensor = to_tensor(name, "y", y);
    at::Tensor z;
    {
      // Draining torch_npu's queue may wait for a thread that needs the interpreter.
      const py::gil_scoped_release no_gil;
      z = compute(x_tensor, y_tensor);
    }
    return py::cast(std::move(z));
  };
  const std::string doc =
      std::string(name) + "(x: Tensor, y: Tensor) -> Tensor\n\n" + "See ascendc_ops." + name + ".";
  py::options options;
  options.disable_function_signatures();
  m.def(name, call, py::arg("x"), py::arg("y"), doc.c_str());
}

}  // namespace

PYBIND11_MODULE(_C, m, py::multiple_interpreters::not_supported()) {
  m.doc() = "Operators of ascendc_ops; import the package, not this module.";
  // torch's own mapping of C++ exceptions, so that both variants raise the same types and
  // sentences.
  py::register_local_exception_translator([](std::exception_ptr error) {
    try {
      std::rethrow_exception(error);
    } catch (const c10::Error&) {
      torch::translate_exception_to_python(error);
    }
  });
  define(m, "ascendc_add", &ascendc_ops::ascendc_add);
}
