// SPDX-License-Identifier: Apache-2.0
// printf for kernels that include nothing else.
#ifndef HOSTCANN_UTILS_DEBUG_ASC_PRINTF_H
#define HOSTCANN_UTILS_DEBUG_ASC_PRINTF_H

#include "hostcann/kernel_print.h"
#include "hostcann/kernel_qualifiers.h"

#endif  // HOSTCANN_UTILS_DEBUG_ASC_PRINTF_H
