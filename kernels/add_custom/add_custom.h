// SPDX-License-Identifier: Apache-2.0
// The one declaration of the kernel's ABI: C linkage stops name mangling but checks no parameter,
// so both the kernel and the wrapper include this file.
#pragma once

#include <cstdint>

struct AddCustomTiling {
  uint32_t totalLength;  // elements of x, y and z
  uint32_t tileNum;      // tiles each block splits its share into
};

constexpr uint32_t kAddCustomTileNum = 8;

// Adds x and y element-wise into z (float32, device addresses) with `numBlocks` blocks on
// `aclStream`. Returns at once. totalLength must be a multiple of numBlocks * kAddCustomTileNum * 8
// elements.
extern "C" void add_custom_impl(uint32_t numBlocks, void* aclStream, uint8_t* x, uint8_t* y,
                                uint8_t* z, uint32_t totalLength);
