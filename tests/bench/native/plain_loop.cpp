// SPDX-License-Identifier: Apache-2.0
// The limit of a core: the loop a compiler makes of the sum.
#include <cstdint>

extern "C" void plain_add(const float* x, const float* y, float* z, uint64_t length) {
  for (uint64_t i = 0; i < length; ++i) z[i] = x[i] + y[i];
}
