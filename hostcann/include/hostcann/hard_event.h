// SPDX-License-Identifier: Apache-2.0
// Flags between the units of one core. Here a block runs its instructions one after the other, so
// a flag holds nobody up; but one that is missing or doubled hangs the hardware, and is a fault.
#ifndef HOSTCANN_HARD_EVENT_H
#define HOSTCANN_HARD_EVENT_H

#include <cstddef>
#include <cstdint>

#include "hostcann/block_checks.h"

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

enum event_t : int8_t {
  EVENT_ID0,
  EVENT_ID1,
  EVENT_ID2,
  EVENT_ID3,
  EVENT_ID4,
  EVENT_ID5,
  EVENT_ID6,
  EVENT_ID7,
};

namespace AscendC {

using TEventID = int8_t;

// From the unit that sets the flag to the one that waits for it. Those of cube kernels are absent.
enum class HardEvent : uint8_t {
  MTE2_V,
  V_MTE2,
  MTE3_V,
  V_MTE3,
  V_V,
  MTE3_MTE2,
  MTE2_MTE3,
  S_V,
  V_S,
  S_MTE2,
  MTE2_S,
  S_MTE3,
  MTE3_S,
  MAX,
};

}  // namespace AscendC

namespace hostcann {

using AscendC::HardEvent;

struct EventEnds {
  const char* name;
  Unit from;
  Unit to;
};

inline EventEnds ends_of(HardEvent event) {
  constexpr EventEnds kEnds[] = {
      {"MTE2_V", Unit::kMte2, Unit::kVector},  {"V_MTE2", Unit::kVector, Unit::kMte2},
      {"MTE3_V", Unit::kMte3, Unit::kVector},  {"V_MTE3", Unit::kVector, Unit::kMte3},
      {"V_V", Unit::kVector, Unit::kVector},   {"MTE3_MTE2", Unit::kMte3, Unit::kMte2},
      {"MTE2_MTE3", Unit::kMte2, Unit::kMte3}, {"S_V", Unit::kScalar, Unit::kVector},
      {"V_S", Unit::kVector, Unit::kScalar},   {"S_MTE2", Unit::kScalar, Unit::kMte2},
      {"MTE2_S", Unit::kMte2, Unit::kScalar},  {"S_MTE3", Unit::kScalar, Unit::kMte3},
      {"MTE3_S", Unit::kMte3, Unit::kScalar},
  };
  return kEnds[static_cast<size_t>(event)];
}

inline uint8_t& flags_of(BlockState& block, HardEvent event) {
  return block.flags[static_cast<size_t>(event)];
}
inline uint8_t& taken_ids_of(BlockState& block, HardEvent event) {
  return block.taken_event_ids[static_cast<size_t>(event)];
}

inline uint8_t flag_bit(const char* caller, HardEvent event, int32_t id) {
  if (id < 0 || id > 7) {
    fault("%s<HardEvent::%s>: expected an event id from 0 to 7, got %d", caller,
          ends_of(event).name, id);
  }
  return static_cast<uint8_t>(1u << id);
}

inline void set_flag(HardEvent event, int32_t id) {
  BlockState& block = this_block("SetFlag");
  const uint8_t bit = flag_bit("SetFlag", event, id);
  uint8_t& flags = flags_of(block, event);
  if ((flags & bit) != 0) {
    fault(
        "SetFlag<HardEvent::%s>: expected event %d to be waited for before it is set again, got a "
        "second SetFlag; WaitFlag first",
        ends_of(event).name, id);
  }
  flags |= bit;
  if (block.checks != nullptr) {
    block.checks->told_by(static_cast<size_t>(event), id) =
        block.checks->known_to(ends_of(event).from);
  }
}

inline void wait_flag(HardEvent event, int32_t id) {
  BlockState& block = this_block("WaitFlag");
  const uint8_t bit = flag_bit("WaitFlag", event, id);
  uint8_t& flags = flags_of(block, event);
  if ((flags & bit) == 0) {
    fault(
        "WaitFlag<HardEvent::%s>: expected event %d to be set, got a wait without a SetFlag; the "
        "hardware would wait for ever, SetFlag first",
        ends_of(event).name, id);
  }
  flags &= static_cast<uint8_t>(~bit);
  if (block.checks != nullptr) {
    block.checks->tell(ends_of(event).to, block.checks->told_by(static_cast<size_t>(event), id));
  }
}

inline void report_flags(const BlockState& block) {
  for (size_t event = 0; event < kHardEvents; ++event) {
    for (int32_t id = 0; id < 8; ++id) {
      if (((block.flags[event] >> id) & 1) == 0) continue;
      fault(
          "end of kernel: expected a WaitFlag for every SetFlag, got event %d of HardEvent::%s set "
          "and never waited for; it would end the next kernel's wait too early",
          id, ends_of(static_cast<HardEvent>(event)).name);
    }
  }
}

inline AscendC::TEventID take_event_id(const char* caller, BlockState& block, HardEvent event) {
  uint8_t& taken = taken_ids_of(block, event);
  for (int8_t id = 0; id < 8; ++id) {
    if (((taken >> id) & 1) != 0) continue;
    taken |= static_cast<uint8_t>(1u << id);
    return id;
  }
  fault("%s<HardEvent::%s>: expected a free event id, got all 8 taken; ReleaseEventID one first",
        caller, ends_of(event).name);
}

inline void give_event_id_back(const char* caller, BlockState& block, HardEvent event, int32_t id) {
  uint8_t& taken = taken_ids_of(block, event);
  const uint8_t bit = flag_bit(caller, event, id);
  if ((taken & bit) == 0) {
    fault("%s<HardEvent::%s>: expected an id from AllocEventID, got %d, which is free", caller,
          ends_of(event).name, id);
  }
  taken &= static_cast<uint8_t>(~bit);
}

}  // namespace hostcann

namespace AscendC {

static_assert(static_cast<size_t>(HardEvent::MAX) == hostcann::kHardEvents);

template <HardEvent event>
inline void SetFlag(int32_t eventID, hostcann::CallSite = {}) {
  hostcann::set_flag(event, eventID);
}

template <HardEvent event>
inline void WaitFlag(int32_t eventID, hostcann::CallSite = {}) {
  hostcann::wait_flag(event, eventID);
}

// Everything before it has finished already; PIPE_ALL orders the units for HOSTCANN_CHECK=all.
template <pipe_t pipe>
inline void PipeBarrier(hostcann::CallSite = {}) {
  static_assert(pipe != PIPE_S,
                "PipeBarrier: the scalar pipe keeps its own order, PIPE_S is not taken");
  if constexpr (pipe == PIPE_ALL) {
    hostcann::BlockChecks* const checks = hostcann::this_block("PipeBarrier").checks;
    if (checks != nullptr) checks->barrier();
  }
}

}  // namespace AscendC

#endif  // HOSTCANN_HARD_EVENT_H
