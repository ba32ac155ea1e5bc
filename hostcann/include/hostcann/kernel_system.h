// SPDX-License-Identifier: Apache-2.0
// System variables and barriers of a vector kernel.
#ifndef HOSTCANN_KERNEL_SYSTEM_H
#define HOSTCANN_KERNEL_SYSTEM_H

#include <cstdint>

#include "hostcann/block_state.h"

enum pipe_t {
  PIPE_S,
  PIPE_V,
  PIPE_M,
  PIPE_MTE1,
  PIPE_MTE2,
  PIPE_MTE3,
  PIPE_ALL,
  PIPE_FIX,
};

namespace AscendC {

inline int64_t GetBlockIdx() { return hostcann::this_block("GetBlockIdx").block_index; }

inline int64_t GetBlockNum() { return hostcann::this_block("GetBlockNum").block_count; }

// Nothing to wait for: a block runs its instructions one after the other here, so everything
// before the barrier has finished.
template <pipe_t pipe>
inline void PipeBarrier() {
  static_assert(pipe != PIPE_S,
                "PipeBarrier: the scalar pipe keeps its own order, PIPE_S is not taken");
}

}  // namespace AscendC

#endif  // HOSTCANN_KERNEL_SYSTEM_H
