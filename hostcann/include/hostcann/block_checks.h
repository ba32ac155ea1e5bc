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
    line_count_ = 0;
    last_line_ = 0;
  }

  void forget(const uint8_t* data, size_t bytes) { std::memset(written_ + (data - ub_), 0, bytes); }

  void note(const char* caller, const char* name, Unit unit, Access access, const uint8_t* data,
            size_t bytes) {
    if (bytes == 0) return;
    const size_t first = static_cast<size_t>(data - ub_);
    if (access == Access::kRead) require_written(caller, name, first, bytes);
    const uint32_t now = tick(unit);
    const Limits limit = limits(unit, access);
    const uint16_t line = line_number();
    const size_t done = act(access, unit);
    for (size_t at = first / kBlockBytes; at <= (first + bytes - 1) / kBlockBytes; ++at) {
      Cell& cell = cells_[at];
      uint32_t late = 0;
      for (size_t i = 0; i < kActs; ++i) {
        late |= static_cast<uint32_t>(cell.times[i] > limit.of[i]);
      }
      if (late != 0) report(caller, name, unit, access, limit, cell);
      cell.times[done] = now;
      cell.lines[done] = line;
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
  static constexpr size_t kActs = 2 * kUnits;  // reads, then writes, of every unit

  // What every unit did to a block of 32 bytes last, by Access. A cache line, since a kernel goes
  // through all of them again and again.
  struct alignas(64) Cell {
    uint32_t times[kActs] = {};
    uint16_t lines[kActs] = {};
  };
  static constexpr size_t act(Access access, Unit unit) {
    return static_cast<size_t>(access) * kUnits + static_cast<size_t>(unit);
  }

  uint32_t tick(Unit unit) {
    UnitTimes& own = known_[static_cast<size_t>(unit)];
    // Instructions start after what the scalar unit did before it handed them out.
    own.join(known_[static_cast<size_t>(Unit::kScalar)]);
    return ++own.of[static_cast<size_t>(unit)];
  }

  void require_written(const char* caller, const char* name, size_t first, size_t bytes) const {
    const void* const unwritten = std::memchr(written_ + first, 0, bytes);
    if (unwritten == nullptr) return;
    const size_t i = static_cast<const uint8_t*>(unwritten) - written_;
    fault(
        "%s: expected %s to hold written data, got byte %zu of the Unified Buffer (%zu of this "
        "access), which nothing wrote since it was allocated; copy or compute it first",
        caller, name, i, i - first);
  }

  // The number under which the line of the call that runs is kept.
  uint16_t line_number() {
    const SourceLine& at = this_block("check").called_at;
    if (line_count_ != 0) {
      const SourceLine& last = lines_[last_line_];
      if (last.line == at.line && last.file == at.file) return last_line_;
    }
    for (uint16_t i = 0; i < line_count_; ++i) {
      if (lines_[i].line == at.line && lines_[i].file == at.file) return last_line_ = i;
    }
    if (line_count_ == kMaxLines) return last_line_ = kMaxLines;  // said as unknown
    lines_[line_count_] = at;
    return last_line_ = line_count_++;
  }

  // Of each unit the time up to which `unit` knows it; what cannot be out of order has no limit.
  struct Limits {
    uint32_t of[kActs];
  };
  Limits limits(Unit unit, Access access) const {
    Limits result;
    for (size_t i = 0; i < kActs; ++i) {
      const bool read = i < kUnits;
      const bool free =
          i % kUnits == static_cast<size_t>(unit) || (read && access == Access::kRead);
      result.of[i] = free ? ~uint32_t{0} : known_[static_cast<size_t>(unit)].of[i % kUnits];
    }
    return result;
  }

  [[noreturn]] __attribute__((cold, noinline)) void report(const char* caller, const char* name,
                                                           Unit unit, Access access,
                                                           const Limits& limit,
                                                           const Cell& cell) const {
    size_t late = 0;
    while (cell.times[late] <= limit.of[late]) ++late;
    const Unit other = static_cast<Unit>(late % kUnits);
    const uint16_t number = cell.lines[late];
    const SourceLine at = number < line_count_ ? lines_[number] : SourceLine();
    const char* did = late < kUnits ? "reads" : "writes";
    const char* here = access == Access::kWrite ? "written" : "read";
    fault(
        "%s: expected %s to be %s by %s after %s %s it at %s:%u, got nothing that makes it wait; "
        "put a queue, SetFlag and WaitFlag<HardEvent::%s_%s> or PipeBarrier<PIPE_ALL> between",
        caller, name, here, unit_name(unit), unit_name(other), did,
        at.file == nullptr ? "?" : at.file, at.line, unit_letter(other), unit_letter(unit));
  }

  static constexpr uint16_t kMaxLines = 512;

  const uint8_t* ub_ = nullptr;
  UnitTimes known_[kUnits];
  UnitTimes told_by_[kHardEvents][8];     // with each flag
  UnitTimes handed_on_[kMaxBuffers + 1];  // with each buffer of a queue
  SourceLine lines_[kMaxLines];
  uint16_t line_count_ = 0;
  uint16_t last_line_ = 0;
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
