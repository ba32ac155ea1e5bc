// SPDX-License-Identifier: Apache-2.0
// What an Ascend C kernel includes. hostcann declares only what it implements: anything else is a
// compile error that names the missing function.
#ifndef HOSTCANN_KERNEL_OPERATOR_H
#define HOSTCANN_KERNEL_OPERATOR_H

#include "hostcann/data_copy.h"
#include "hostcann/global_tensor.h"
#include "hostcann/kernel_launch.h"
#include "hostcann/kernel_qualifiers.h"
#include "hostcann/kernel_system.h"
#include "hostcann/kernel_types.h"
#include "hostcann/local_tensor.h"
#include "hostcann/tpipe.h"
#include "hostcann/tque.h"
#include "hostcann/vector_binary.h"

#endif  // HOSTCANN_KERNEL_OPERATOR_H
