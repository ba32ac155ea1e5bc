// SPDX-License-Identifier: Apache-2.0
#include <c10/core/DispatchKeySet.h>
#include <torch/library.h>

#include <optional>
#include <string>
#include <utility>

#include "ascendc_add.h"
#include "check.h"

namespace {

using ascendc_ops::Argument;
using c10::DispatchKey;
using torch::CppFunction;

template <typename Check>
void for_each_tensor(const c10::OperatorHandle& op, const torch::jit::Stack& stack, Check check) {
  const auto& arguments = op.schema().arguments();
  const auto values = torch::jit::last(stack, arguments.size());
  const std::string& full = op.schema().name();
  const char* const name = full.c_str() + full.rfind(':') + 1;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (values[i].isTensor()) check({name, arguments[i].name().c_str(), values[i].toTensor()});
  }
}

// What the kernels below cannot see any more. torch.func keeps a gradient in a layer of its own,
// and the result would have one of zero; and a tracer asks the meta kernel about tensors without
// the device they stand for. Every other tensor gets to the kernel as it is, and is refused there.
void refuse_hidden(const c10::OperatorHandle& op, c10::DispatchKeySet keys,
                   torch::jit::Stack* stack) {
  std::optional<Argument> first;
  for_each_tensor(op, *stack, [&first](const Argument& arg) {
    const c10::DispatchKeySet wrappers = arg.tensor.key_set();
    if (wrappers.has(DispatchKey::Python) && !arg.tensor.is_meta()) {
      check_on_npu(arg);
      if (!first) first.emplace(arg);
      check_same_device(arg, *first);
    }
    if (wrappers.has(DispatchKey::FuncTorchGradWrapper)) check_no_grad(arg);
  });
  op.redispatchBoxed(keys & c10::after_autograd_keyset, stack);
}

// Without this torch would call the kernel in a loop, and warn that it is slow.
void refuse_batches(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  for_each_tensor(op, *stack, ascendc_ops::check_no_batch);
}

// Defines an operator: `kernel` computes on NPUs, `meta` answers tracers. Gradients, batches and
// devices that torch keeps out of their sight are refused, with check.h's sentences.
void define(torch::Library& library, const char* schema, CppFunction kernel, CppFunction meta) {
  library.def(schema);
  const std::string text = schema;
  const std::string name = text.substr(0, text.find('('));
  const auto on = [&](DispatchKey key, CppFunction function) {
    library.impl(name.c_str(), torch::dispatch(key, std::move(function)));
  };
  on(DispatchKey::PrivateUse1, std::move(kernel));
  on(DispatchKey::Meta, std::move(meta));
  on(DispatchKey::Autograd, CppFunction::makeFromBoxedFunction<&refuse_hidden>());
  on(DispatchKey::FuncTorchBatched, CppFunction::makeFromBoxedFunction<&refuse_batches>());
  // A pending negation or conjugation is the kernel's to refuse: torch would compute it first, with
  // an operator that an NPU need not have.
  for (const DispatchKey pending : {DispatchKey::Negative, DispatchKey::Conjugate}) {
    on(pending, CppFunction::makeFallthrough());
  }
}

}  // namespace

// A fragment, so that another library may add its own operators to the namespace; a second
// definition of this schema still ends the process, which is why the Python loader looks before it
// loads.
TORCH_LIBRARY_FRAGMENT(ascendc_ops, m) {
  define(m, "ascendc_add(Tensor x, Tensor y) -> Tensor", CppFunction(&ascendc_ops::ascendc_add),
         CppFunction(&ascendc_ops::ascendc_add_meta));
}
