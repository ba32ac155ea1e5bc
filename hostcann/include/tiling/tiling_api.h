// SPDX-License-Identifier: Apache-2.0
// What the host side of an operator includes.
#ifndef HOSTCANN_TILING_API_H
#define HOSTCANN_TILING_API_H

#include "hostcann/advanced_tiling.h"
#include "hostcann/graph_types.h"
#include "hostcann/platform.h"
#include "hostcann/secure_copy.h"
#include "hostcann/tiling_data.h"
#include "hostcann/tiling_structs.h"

#endif  // HOSTCANN_TILING_API_H
