// SPDX-License-Identifier: Apache-2.0
// The name by which newer kernels include the basic functions.
#ifndef HOSTCANN_BASIC_API_KERNEL_BASIC_INTF_H
#define HOSTCANN_BASIC_API_KERNEL_BASIC_INTF_H

#include "kernel_operator.h"

#endif  // HOSTCANN_BASIC_API_KERNEL_BASIC_INTF_H
