// SPDX-License-Identifier: Apache-2.0
// What HOSTCANN_CHECK=all watches in the Unified Buffer: reads of bytes that nobody wrote, and
// accesses of two units that nothing puts in an order.
//
// The scalar unit hands instructions to the vector unit and to the two units that move data (MTE2
// in, MTE3 out), and these run on their own. Each has a clock and knows how far the others had come
// when it last waited for them: what another unit did later is not ordered before it.
#ifndef HOSTCANN_BLOCK_CHECKS_H
#define HOSTCANN_BLOCK_CHECKS_H

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "hostcann/block_state.h"

namespace hostcann {

enum class Unit : uint8_t { kScalar, kVector, kMte2, kMte3 };
enum class Access : uint8_t { kRead, kWrite };
constexpr size_t kUnits = 4;

inline const char* unit_name(Unit unit) {
  constexpr const char* kNames[kUnits] = {"the scalar unit", "the vector unit", "MTE2", "MTE3"};
  return kNames[static_cast<size_t>(unit)];
}
inline const char* unit_letter(Unit unit) {
  constexpr const char* kLetters[kUnits] = {"S", "V", "MTE2", "MTE3"};
  return kLetters[static_cast<size_t>(unit)];
}

// How far each unit had come, as one of them knows it.
struct UnitTimes {
  uint32_t of[kUnits] = {};

  void join(const UnitTimes& other) {
    for (size_t i = 0; i < kUnits; ++i) {
      if (other.of[i] > of[i]) of[i] = other.of[i];
    }
  }
};

class BlockChecks {
 public:
  void begin(const BlockState& block) {
    ub_ = block.ub();
    std::memset(written_, 0, sizeof(written_));
    for (Cell& cell : cells_) cell = Cell();
    for (UnitTimes& times : known_) times = UnitTimes();
    for (UnitTimes& times : handed_on_) times = UnitTimes();
  }

  void forget(const uint8_t* data, size_t bytes) { std::memset(written_ + (data - ub_), 0, bytes); }

  void note(const char* caller, const char* name, Unit unit, Access access, const uint8_t* data,
            size_t bytes) {
    if (bytes == 0) return;
    const size_t first = static_cast<size_t>(data - ub_);
    if (access == Access::kRead) require_written(caller, name, first, bytes);
    const uint32_t now = tick(unit);
    for (size_t at = first / kBlockBytes; at <= (first + bytes - 1) / kBlockBytes; ++at) {
      order(caller, name, unit, access, cells_[at], now);
    }
    if (access == Access::kWrite) std::memset(written_ + first, 1, bytes);
  }

  // What `unit` knows, to be handed on by a flag or a queue.
  UnitTimes known_to(Unit unit) const {
    UnitTimes times = known_[static_cast<size_t>(unit)];
    times.join(known_[static_cast<size_t>(Unit::kScalar)]);
    return times;
  }
  void tell(Unit unit, const UnitTimes& times) { known_[static_cast<size_t>(unit)].join(times); }
  UnitTimes& told_by(size_t event, int32_t id) { return told_by_[event][id]; }
  UnitTimes& handed_on(size_t buffer) { return handed_on_[buffer]; }

  void barrier() {
    UnitTimes all;
    for (const UnitTimes& times : known_) all.join(times);
    for (UnitTimes& times : known_) times = all;
  }

 private:
  struct Done {
    uint32_t time = 0;
    SourceLine at;
  };
  struct Cell {
    Done by[2][kUnits];  // by Access
  };

  uint32_t tick(Unit unit) {
    UnitTimes& own = known_[static_cast<size_t>(unit)];
    // Instructions start after what the scalar unit did before it handed them out.
    own.join(known_[static_cast<size_t>(Unit::kScalar)]);
    return ++own.of[static_cast<size_t>(unit)];
  }

  void require_written(const char* caller, const char* name, size_t first, size_t bytes) const {
    for (size_t i = first; i < first + bytes; ++i) {
      if (written_[i] != 0) continue;
      fault(
          "%s: expected %s to hold written data, got byte %zu of the Unified Buffer (%zu of this "
          "access), which nothing wrote since it was allocated; copy or compute it first",
          caller, name, i, i - first);
    }
  }

  void order(const char* caller, const char* name, Unit unit, Access access, Cell& cell,
             uint32_t now) {
    const UnitTimes& known = known_[static_cast<size_t>(unit)];
    for (size_t other = 0; other < kUnits; ++other) {
      if (other == static_cast<size_t>(unit)) continue;
      for (size_t kind = 0; kind < 2; ++kind) {
        if (access == Access::kRead && kind == static_cast<size_t>(Access::kRead)) continue;
        const Done& done = cell.by[kind][other];
        if (done.time > known.of[other]) {
          report(caller, name, unit, access, static_cast<Unit>(other), static_cast<Access>(kind),
                 done.at);
        }
      }
    }
    cell.by[static_cast<size_t>(access)][static_cast<size_t>(unit)] = {
        now, this_block(caller).called_at};
  }

  [[noreturn]] __attribute__((cold, noinline)) static void report(const char* caller,
                                                                  const char* name, Unit unit,
                                                                  Access access, Unit other,
                                                                  Access kind,
                                                                  const SourceLine& at) {
    const char* did = kind == Access::kWrite ? "writes" : "reads";
    const char* here = access == Access::kWrite ? "written" : "read";
    fault(
        "%s: expected %s to be %s by %s after %s %s it at %s:%u, got nothing that makes it wait; "
        "put a queue, SetFlag and WaitFlag<HardEvent::%s_%s> or PipeBarrier<PIPE_ALL> between",
        caller, name, here, unit_name(unit), unit_name(other), did,
        at.file == nullptr ? "?" : at.file, at.line, unit_letter(other), unit_letter(unit));
  }

  const uint8_t* ub_ = nullptr;
  UnitTimes known_[kUnits];
  UnitTimes told_by_[kHardEvents][8];     // with each flag
  UnitTimes handed_on_[kMaxBuffers + 1];  // with each buffer of a queue
  uint8_t written_[kUbBytes] = {};
  Cell cells_[kUbBytes / kBlockBytes];
};

inline void note(const char* caller, const char* name, Unit unit, Access access,
                 const uint8_t* data, size_t bytes) {
  BlockChecks* const checks = this_block(caller).checks;
  if (checks != nullptr) checks->note(caller, name, unit, access, data, bytes);
}

}  // namespace hostcann

#endif  // HOSTCANN_BLOCK_CHECKS_H
