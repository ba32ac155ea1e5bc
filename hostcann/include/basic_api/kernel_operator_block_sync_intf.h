// SPDX-License-Identifier: Apache-2.0
// Synchronisation, by the name of its part.
#ifndef HOSTCANN_BASIC_API_KERNEL_OPERATOR_BLOCK_SYNC_INTF_H
#define HOSTCANN_BASIC_API_KERNEL_OPERATOR_BLOCK_SYNC_INTF_H

#include "kernel_operator.h"

#endif  // HOSTCANN_BASIC_API_KERNEL_OPERATOR_BLOCK_SYNC_INTF_H
