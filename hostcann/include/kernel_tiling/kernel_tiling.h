// SPDX-License-Identifier: Apache-2.0
#ifndef HOSTCANN_KERNEL_TILING_H
#define HOSTCANN_KERNEL_TILING_H

#include "hostcann/tiling_structs.h"

#endif  // HOSTCANN_KERNEL_TILING_H
