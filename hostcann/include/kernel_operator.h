// SPDX-License-Identifier: Apache-2.0
// What an Ascend C kernel includes. hostcann declares only what it implements: anything else is a
// compile error that names the missing function.
#ifndef HOSTCANN_KERNEL_OPERATOR_H
#define HOSTCANN_KERNEL_OPERATOR_H

#include "hostcann/advanced_activation.h"
#include "hostcann/advanced_math.h"
#include "hostcann/advanced_norm.h"
#include "hostcann/advanced_quantisation.h"
#include "hostcann/advanced_reduce.h"
#include "hostcann/advanced_shape.h"
#include "hostcann/advanced_softmax.h"
#include "hostcann/advanced_sort.h"
#include "hostcann/advanced_transpose.h"
#include "hostcann/block_sync.h"
#include "hostcann/data_copy.h"
#include "hostcann/dma_atomic.h"
#include "hostcann/global_tensor.h"
#include "hostcann/hard_event.h"
#include "hostcann/kernel_builtins.h"
#include "hostcann/kernel_launch.h"
#include "hostcann/kernel_print.h"
#include "hostcann/kernel_qualifiers.h"
#include "hostcann/kernel_std.h"
#include "hostcann/kernel_system.h"
#include "hostcann/kernel_types.h"
#include "hostcann/local_tensor.h"
#include "hostcann/tensor_layout.h"
#include "hostcann/tensor_list.h"
#include "hostcann/tpipe.h"
#include "hostcann/tque.h"
#include "hostcann/vector_arithmetic.h"
#include "hostcann/vector_cast.h"
#include "hostcann/vector_compare.h"
#include "hostcann/vector_gather.h"
#include "hostcann/vector_reduce.h"
#include "hostcann/vector_sort.h"
#include "hostcann/vector_transpose.h"

#endif  // HOSTCANN_KERNEL_OPERATOR_H
