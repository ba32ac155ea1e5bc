// SPDX-License-Identifier: Apache-2.0
// A launch in a header: the driver must see what the preprocessor sees.
#pragma once

#include "kernel_operator.h"

__global__ __vector__ void in_header(__gm__ int64_t* out, int64_t value);

inline void launch_from_header(void* stream, int64_t* out) {
  in_header<<<2, nullptr, stream>>>(out, 21);
}
