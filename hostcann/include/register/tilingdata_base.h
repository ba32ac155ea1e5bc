// SPDX-License-Identifier: Apache-2.0
#ifndef HOSTCANN_TILINGDATA_BASE_H
#define HOSTCANN_TILINGDATA_BASE_H

#include "hostcann/tiling_data.h"

#endif  // HOSTCANN_TILINGDATA_BASE_H
