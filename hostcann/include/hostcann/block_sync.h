// SPDX-License-Identifier: Apache-2.0
// Synchronisation between blocks, by counters that the runtime keeps for the launch. The workspaces
// that the hardware counts in are checked for their sizes and otherwise left alone.
#ifndef HOSTCANN_BLOCK_SYNC_H
#define HOSTCANN_BLOCK_SYNC_H

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "hostcann/global_tensor.h"
#include "hostcann/hard_event.h"
#include "hostcann/kernel_qualifiers.h"
#include "hostcann/launch.h"
#include "hostcann/local_tensor.h"

namespace hostcann {

// Counters of one launch: a kind and what tells those of the kind apart.
enum class SyncKind : uint8_t { kAll = 1, kPair, kTurn, kGroup, kCross };

inline uint64_t sync_key(SyncKind kind, uint64_t which) {
  return (static_cast<uint64_t>(kind) << 56) | (which & ((uint64_t{1} << 56) - 1));
}

inline void await_signals(const char* caller, uint64_t key, uint64_t count, bool take) {
  char why[300] = "";
  const int code = hostcann_await(key, count, take ? 1 : 0, why, sizeof(why));
  if (code == 0) return;
  fault_with_code(code, "%s: %s", caller, why);
}

inline void check_cores(const char* caller, const BlockState& block) {
  const uint32_t cores = hostcann_vector_cores();
  if (block.block_count > cores) {
    fault(
        "%s: expected at most %u blocks, as many as the chip has vector cores, got %u; the "
        "hardware "
        "would hang, because a waiting block keeps its core",
        caller, cores, block.block_count);
  }
}

inline void await_all(const char* caller, uint32_t blocks) {
  BlockState& block = this_block(caller);
  check_cores(caller, block);
  const uint64_t key = sync_key(SyncKind::kAll, 0);
  hostcann_signal(key);
  await_signals(caller, key, ++block.barriers_passed * uint64_t{blocks}, false);
  hostcann_note_barrier(1);
  if (block.checks != nullptr) block.checks->barrier();
}

inline void check_workspace(const char* caller, const AscendC::GlobalTensor<int32_t>& gm,
                            size_t gm_bytes, const AscendC::LocalTensor<int32_t>& ub,
                            size_t ub_bytes) {
  gm.view().access(caller, "gmWorkspace", gm_bytes, sizeof(int32_t));
  ub.view().aligned(caller, "ubWorkspace", ub_bytes);
}

inline uint64_t pair_key(const AscendC::GlobalTensor<int32_t>& gm, int32_t block, int32_t event) {
  const uint64_t address = reinterpret_cast<uint64_t>(gm.view().data);
  return sync_key(SyncKind::kPair, address ^ (static_cast<uint64_t>(block) << 44) ^
                                       (static_cast<uint64_t>(event) << 52));
}

}  // namespace hostcann

namespace AscendC {

template <bool isAIVOnly = true>
inline void SyncAll(hostcann::CallSite = {}) {
  hostcann::await_all("SyncAll", hostcann::this_block("SyncAll").block_count);
}
template <bool isAIVOnly = true>
inline void SyncAll(const GlobalTensor<int32_t>& gmWorkspace,
                    const LocalTensor<int32_t>& ubWorkspace, const int32_t usedCores = 0,
                    hostcann::CallSite = {}) {
  const uint32_t blocks = usedCores > 0 ? static_cast<uint32_t>(usedCores)
                                        : hostcann::this_block("SyncAll").block_count;
  const size_t bytes = blocks * hostcann::kBlockBytes;
  hostcann::check_workspace("SyncAll", gmWorkspace, bytes, ubWorkspace, bytes);
  hostcann::await_all("SyncAll", blocks);
}

template <bool isAIVOnly = true>
inline void IBSet(const GlobalTensor<int32_t>& gmWorkspace, const LocalTensor<int32_t>& ubWorkspace,
                  int32_t blockIdx, int32_t eventID, hostcann::CallSite = {}) {
  hostcann::check_workspace("IBSet", gmWorkspace, hostcann::kBlockBytes, ubWorkspace,
                            hostcann::kBlockBytes);
  hostcann_note_barrier(0);
  hostcann_signal(hostcann::pair_key(gmWorkspace, blockIdx, eventID));
}
template <bool isAIVOnly = true>
inline void IBWait(const GlobalTensor<int32_t>& gmWorkspace,
                   const LocalTensor<int32_t>& ubWorkspace, int32_t blockIdx, int32_t eventID,
                   hostcann::CallSite = {}) {
  hostcann::check_workspace("IBWait", gmWorkspace, hostcann::kBlockBytes, ubWorkspace,
                            hostcann::kBlockBytes);
  hostcann::check_cores("IBWait", hostcann::this_block("IBWait"));
  hostcann::await_signals("IBWait", hostcann::pair_key(gmWorkspace, blockIdx, eventID), 1, true);
  hostcann_note_barrier(0);
}

inline void InitDetermineComputeWorkspace(GlobalTensor<int32_t>& gmWorkspace,
                                          LocalTensor<int32_t>& ubWorkspace,
                                          hostcann::CallSite = {}) {
  const size_t blocks = hostcann::this_block("InitDetermineComputeWorkspace").block_count;
  hostcann::check_workspace("InitDetermineComputeWorkspace", gmWorkspace,
                            blocks * hostcann::kBlockBytes, ubWorkspace,
                            (blocks + 1) * hostcann::kBlockBytes);
}
// Blocks take turns, in the order of their indices, as often as they ask.
inline void WaitPreBlock(GlobalTensor<int32_t>& gmWorkspace, LocalTensor<int32_t>& ubWorkspace,
                         hostcann::CallSite = {}) {
  hostcann::BlockState& block = hostcann::this_block("WaitPreBlock");
  hostcann::check_workspace("WaitPreBlock", gmWorkspace, hostcann::kBlockBytes, ubWorkspace,
                            hostcann::kBlockBytes);
  hostcann::check_cores("WaitPreBlock", block);
  const uint64_t turn = block.turns_taken++ * block.block_count + block.block_index;
  hostcann::await_signals("WaitPreBlock", hostcann::sync_key(hostcann::SyncKind::kTurn, 0), turn,
                          false);
  hostcann_note_barrier(0);
}
inline void NotifyNextBlock(GlobalTensor<int32_t>& gmWorkspace, LocalTensor<int32_t>& ubWorkspace,
                            hostcann::CallSite = {}) {
  hostcann::check_workspace("NotifyNextBlock", gmWorkspace, hostcann::kBlockBytes, ubWorkspace,
                            hostcann::kBlockBytes);
  hostcann_signal(hostcann::sync_key(hostcann::SyncKind::kTurn, 0));
}

enum class PipeMode : uint8_t { SCALAR_MODE = 0, MTE3_MODE = 1, MAX };

// Blocks of one group wait until those of another have arrived, round by round.
template <PipeMode pipeMode>
class GroupBarrier {
 public:
  inline GroupBarrier(GM_ADDR groupWorkspace, uint32_t arriveSizeIn, uint32_t waitSizeIn,
                      hostcann::CallSite = {})
      : arrive_(arriveSizeIn), wait_(waitSizeIn), workspace_(groupWorkspace) {}

  inline void Arrive(uint32_t arriveIndex, hostcann::CallSite = {}) {
    check_index("Arrive", arriveIndex, arrive_);
    hostcann_note_barrier(0);
    hostcann_signal(key());
  }
  inline void Wait(uint32_t waitIndex, hostcann::CallSite = {}) {
    check_index("Wait", waitIndex, wait_);
    hostcann::check_cores("GroupBarrier::Wait", hostcann::this_block("GroupBarrier::Wait"));
    hostcann::await_signals("GroupBarrier::Wait", key(), ++rounds_ * arrive_, false);
    hostcann_note_barrier(0);
  }
  inline uint64_t GetWorkspaceLen() const { return uint64_t{wait_} * 512; }

 private:
  inline uint64_t key() const {
    return hostcann::sync_key(hostcann::SyncKind::kGroup, reinterpret_cast<uint64_t>(workspace_));
  }
  static inline void check_index(const char* caller, uint32_t index, uint32_t size) {
    if (index < size) return;
    hostcann::fault("GroupBarrier::%s: expected an index below the group's size %u, got %u", caller,
                    size, index);
  }

  uint64_t arrive_;
  uint32_t wait_;
  GM_ADDR workspace_;
  uint64_t rounds_ = 0;
};

// Mode 0 is for all vector cores, mode 1 for those of one group, of which a vector kernel has none
// but itself.
template <uint8_t modeId, pipe_t pipe>
inline void CrossCoreSetFlag(uint16_t flagId, hostcann::CallSite = {}) {
  static_assert(modeId == 0 || modeId == 1,
                "CrossCoreSetFlag of a vector kernel takes mode 0 or 1; 2 needs a cube core");
  hostcann_note_barrier(modeId == 0 ? 1 : 0);
  hostcann_signal(hostcann::sync_key(
      hostcann::SyncKind::kCross,
      flagId + (modeId == 0
                    ? 0
                    : 0x10000u * (1 + hostcann::this_block("CrossCoreSetFlag").block_index))));
}
template <uint8_t modeId = 0, pipe_t pipe = PIPE_S>
inline void CrossCoreWaitFlag(uint16_t flagId, hostcann::CallSite = {}) {
  static_assert(modeId == 0 || modeId == 1,
                "CrossCoreWaitFlag of a vector kernel takes mode 0 or 1; 2 needs a cube core");
  hostcann::BlockState& block = hostcann::this_block("CrossCoreWaitFlag");
  hostcann::check_cores("CrossCoreWaitFlag", block);
  const bool all = modeId == 0;
  const uint64_t which = flagId + (all ? 0 : 0x10000u * (1 + block.block_index));
  const uint64_t rounds = ++block.cross_rounds[flagId % 16];
  hostcann::await_signals("CrossCoreWaitFlag",
                          hostcann::sync_key(hostcann::SyncKind::kCross, which),
                          rounds * (all ? block.block_count : 1), false);
}

// Kernels of one stream follow each other here, whole.
template <pipe_t AIV_PIPE = PIPE_MTE3, pipe_t AIC_PIPE = PIPE_FIX, bool FORCE = false>
inline void SetNextTaskStart() {}
template <bool FORCE = false>
inline void WaitPreTaskEnd() {}

// Device memory has no cache in front of it here: what is written is there at once.
enum class CacheLine : uint64_t { SINGLE_CACHE_LINE = 0, ENTIRE_DATA_CACHE };
enum class DcciDst : uint64_t { CACHELINE_ALL = 0, CACHELINE_UB, CACHELINE_OUT, CACHELINE_ATOMIC };
enum class MemDsbT : uint64_t { ALL = 0, DDR, UB, SEQ };

template <typename T, CacheLine entireType, DcciDst dcciDst = DcciDst::CACHELINE_ALL>
inline void DataCacheCleanAndInvalid(const GlobalTensor<T>&) {}
template <typename T, CacheLine entireType, DcciDst dcciDst = DcciDst::CACHELINE_ALL>
inline void DataCacheCleanAndInvalid(const LocalTensor<T>&) {}
template <typename T>
inline void DataCachePreload(const GlobalTensor<T>&, const int64_t) {}
template <MemDsbT arg0>
inline void DataSyncBarrier() {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

// Other blocks may be waiting for the value, or be about to write it.
template <typename T>
inline T ReadGmByPassDCache(__gm__ T* addr, hostcann::CallSite = {}) {
  hostcann_poll();
  GlobalTensor<T> tensor;
  tensor.SetGlobalBuffer(addr, 1);
  return __atomic_load_n(&tensor(0), __ATOMIC_SEQ_CST);
}
template <typename T>
inline void WriteGmByPassDCache(__gm__ T* addr, T value, hostcann::CallSite = {}) {
  GlobalTensor<T> tensor;
  tensor.SetGlobalBuffer(addr, 1);
  __atomic_store_n(&tensor(0), value, __ATOMIC_SEQ_CST);
}

// `size` elements of device memory set to `value` by every block that calls it.
template <typename T>
inline void InitOutput(GlobalTensor<T> gmWorkspaceAddr, uint32_t size, T value = T(0),
                       hostcann::CallSite = {}) {
  uint8_t* const to =
      gmWorkspaceAddr.view().access("InitOutput", "the tensor", size * sizeof(T), alignof(T));
  hostcann::note_global_write(to, size * sizeof(T), false);
  for (uint32_t i = 0; i < size; ++i) std::memcpy(to + i * sizeof(T), &value, sizeof(T));
}
template <typename T>
inline void Fill(GlobalTensor<T> gmWorkspaceAddr, uint64_t size, T value, hostcann::CallSite = {}) {
  InitOutput(gmWorkspaceAddr, static_cast<uint32_t>(size), value);
}

}  // namespace AscendC

#endif  // HOSTCANN_BLOCK_SYNC_H
