// SPDX-License-Identifier: Apache-2.0
// What a kernel has without a namespace: the words block_idx and block_num, GetTPipePtr, and min
// and max of scalars.
#ifndef HOSTCANN_KERNEL_BUILTINS_H
#define HOSTCANN_KERNEL_BUILTINS_H

#include <algorithm>
#include <cstdint>

#include "hostcann/kernel_system.h"
#include "hostcann/tpipe.h"

namespace hostcann {

struct BlockIndexWord {
  operator int64_t() const { return AscendC::GetBlockIdx(); }
};
struct BlockNumberWord {
  operator int64_t() const { return AscendC::GetBlockNum(); }
};

}  // namespace hostcann

constexpr hostcann::BlockIndexWord block_idx;
constexpr hostcann::BlockNumberWord block_num;

using AscendC::GetTPipePtr;
using std::max;
using std::min;

#endif  // HOSTCANN_KERNEL_BUILTINS_H
