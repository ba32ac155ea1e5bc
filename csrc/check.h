// SPDX-License-Identifier: Apache-2.0
// The checks every operator makes before it takes a pointer. Each throws c10::Error (RuntimeError
// in Python) with `<op>: argument '<name>': expected <rule>, got <value>`; call them in this file's
// order.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/ScalarType.h>
#include <c10/util/Exception.h>

#include <string>

namespace ascendc_ops {

// What a check needs to name the tensor it looks at.
struct Argument {
  const char* op;
  const char* name;
  const at::Tensor& tensor;
};

// The name PyTorch users write: float16, not Half.
std::string dtype_name(c10::ScalarType dtype);

// The name of an aclFormat value: ND, FRACTAL_NZ, …; `acl format <n>` for one without a name here.
std::string format_name(int64_t format);

// Of a call that torch's dispatcher does not see: what traces, batches or wraps tensors works by
// standing in between, and would pass such a call by without a word.
void check_direct_call(const Argument& arg);
void check_on_npu(const Argument& arg);
void check_same_device(const Argument& arg, const Argument& reference);
void check_dtype(const Argument& arg, c10::ScalarType expected);
void check_strided(const Argument& arg);
void check_shape(const Argument& arg, c10::IntArrayRef expected);
void check_contiguous(const Argument& arg);
// The bytes are the values: no pending negation, and a storage that holds every element.
void check_materialised(const Argument& arg);
// Of reverse mode and of forward mode.
void check_no_grad(const Argument& arg);
// No dimension that torch.vmap hides from the shape.
void check_no_batch(const Argument& arg);
// Logical contiguity says nothing of the physical layout, so the storage format is its own check.
void check_format_nd(const Argument& arg);
void check_output_format_nd(const Argument& arg);

}  // namespace ascendc_ops
