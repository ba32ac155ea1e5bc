// SPDX-License-Identifier: Apache-2.0
#ifndef HOSTCANN_PLATFORM_ASCENDC_H
#define HOSTCANN_PLATFORM_ASCENDC_H

#include "hostcann/platform.h"

#endif  // HOSTCANN_PLATFORM_ASCENDC_H
