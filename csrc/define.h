// SPDX-License-Identifier: Apache-2.0
// How an operator is made known to torch.library; the same for every operator.
#pragma once

#include <torch/library.h>

namespace ascendc_ops {

// Defines an operator: `kernel` computes on NPUs, `meta` answers tracers. Gradients,
// batches and devices that torch keeps out of their sight are refused, with check.h's sentences.
void define(torch::Library& library, const char* schema, torch::CppFunction kernel,
            torch::CppFunction meta);

}  // namespace ascendc_ops
