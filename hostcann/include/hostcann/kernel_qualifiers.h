// SPDX-License-Identifier: Apache-2.0
// Qualifiers of the language. On the host every function and address is ordinary, so they expand
// to nothing; those of cube and mixed kernels (__cube__, __mix__, __cbuf__, …) stay undefined,
// which makes such a kernel a compile error instead of a wrong result.
#ifndef HOSTCANN_KERNEL_QUALIFIERS_H
#define HOSTCANN_KERNEL_QUALIFIERS_H

#include <cstdint>

#define __global__
#define __aicore__
#define __vector__
#define __host__
#define __gm__
#define __ubuf__

#define GM_ADDR __gm__ uint8_t*

#endif  // HOSTCANN_KERNEL_QUALIFIERS_H
