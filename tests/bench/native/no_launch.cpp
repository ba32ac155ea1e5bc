// SPDX-License-Identifier: Apache-2.0
// Stands in for libascendc_kernels.so, by whose name it is loaded first: a call then costs what the
// host does and nothing else.
#include "add_custom/add_custom.h"

extern "C" void add_custom_impl(uint32_t, void*, uint8_t*, uint8_t*, uint8_t*, uint32_t) {}
