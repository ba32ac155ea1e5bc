// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace hostcann {

// The adversarial mode: a device promises order within a stream and across events, and nothing
// else. With a seed, tasks start late and calls take long by numbers drawn from it, so that what
// is not ordered happens in another order. The same seed draws the same numbers.
void delay_call(int32_t stream, uint64_t task);
void delay_task(int32_t stream, uint64_t task);
void set_seed(uint64_t seed);

}  // namespace hostcann
