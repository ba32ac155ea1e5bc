// SPDX-License-Identifier: Apache-2.0
// How a vector instruction walks the Unified Buffer: repeats of 256 bytes, blocks of 32 bytes with
// strides between them, and a mask that says which lanes of a repeat take part.
#ifndef HOSTCANN_VECTOR_LANES_H
#define HOSTCANN_VECTOR_LANES_H

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include "hostcann/block_checks.h"
#include "hostcann/local_tensor.h"

namespace AscendC {

constexpr int32_t DEFAULT_BLK_NUM = 8;
constexpr int32_t DEFAULT_BLK_STRIDE = 1;
constexpr uint8_t DEFAULT_REPEAT_STRIDE = 8;
constexpr uint64_t MASK_PLACEHOLDER = 0;

enum class MaskMode : uint8_t { NORMAL = 0, COUNTER };

struct UnaryRepeatParams {
  UnaryRepeatParams() = default;
  UnaryRepeatParams(uint16_t dst_block, uint16_t src_block, uint8_t dst_repeat, uint8_t src_repeat)
      : dstBlkStride(dst_block),
        srcBlkStride(src_block),
        dstRepStride(dst_repeat),
        srcRepStride(src_repeat) {}

  uint32_t blockNumber = DEFAULT_BLK_NUM;
  uint16_t dstBlkStride = DEFAULT_BLK_STRIDE;
  uint16_t srcBlkStride = DEFAULT_BLK_STRIDE;
  uint8_t dstRepStride = DEFAULT_REPEAT_STRIDE;
  uint8_t srcRepStride = DEFAULT_REPEAT_STRIDE;
  bool repeatStrideMode = false;
  bool strideSizeMode = false;
  bool halfBlock = false;
};

struct BinaryRepeatParams {
  BinaryRepeatParams() = default;
  BinaryRepeatParams(uint8_t dst_block, uint8_t src0_block, uint8_t src1_block, uint8_t dst_repeat,
                     uint8_t src0_repeat, uint8_t src1_repeat)
      : dstBlkStride(dst_block),
        src0BlkStride(src0_block),
        src1BlkStride(src1_block),
        dstRepStride(dst_repeat),
        src0RepStride(src0_repeat),
        src1RepStride(src1_repeat) {}

  uint32_t blockNumber = DEFAULT_BLK_NUM;
  uint8_t dstBlkStride = DEFAULT_BLK_STRIDE;
  uint8_t src0BlkStride = DEFAULT_BLK_STRIDE;
  uint8_t src1BlkStride = DEFAULT_BLK_STRIDE;
  uint8_t dstRepStride = DEFAULT_REPEAT_STRIDE;
  uint8_t src0RepStride = DEFAULT_REPEAT_STRIDE;
  uint8_t src1RepStride = DEFAULT_REPEAT_STRIDE;
  bool repeatStrideMode = false;
  bool strideSizeMode = false;
};

}  // namespace AscendC

namespace hostcann {

constexpr size_t kRepeatBytes = 256;
constexpr size_t kMaxLanes = kRepeatBytes;

inline MaskRegister leading_lanes(size_t count) {
  const auto word = [](size_t bits) {
    return bits >= 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
  };
  return {word(count), count > 64 ? word(count - 64) : 0};
}

// What an instruction does, apart from where its operands are.
struct Walk {
  size_t repeats = 0;
  size_t lanes = 0;  // of one repeat
  size_t total = 0;  // elements, when they are counted and not masked
  bool counted = false;
  MaskRegister mask;

  size_t lanes_of(size_t repeat) const {
    if (!counted) return lanes;
    const size_t rest = total - repeat * lanes;
    return rest < lanes ? rest : lanes;
  }
  bool on(size_t lane) const {
    if (counted || lane >= 128) return true;
    return ((lane < 64 ? mask.low >> lane : mask.high >> (lane - 64)) & 1) != 0;
  }
  // One more than the highest lane of a repeat that takes part.
  size_t lanes_reached() const {
    size_t lane = lanes;
    while (lane > 0 && !on(lane - 1)) --lane;
    return lane;
  }
  bool every_lane() const {
    if (counted) return true;
    const MaskRegister whole = leading_lanes(lanes);
    return (mask.low & whole.low) == whole.low && (mask.high & whole.high) == whole.high;
  }
  size_t elements() const { return counted ? total : repeats * lanes; }
};

// The first `count` elements. Afterwards the mask register is as after ResetMask and SetMaskNorm.
inline Walk counted_walk(const char* caller, size_t element_bytes, int64_t count) {
  if (count < 0) {
    fault("%s: expected count to be 0 or more, got %lld", caller, static_cast<long long>(count));
  }
  BlockState& block = this_block(caller);
  block.counter_mode = false;
  block.mask = MaskRegister();
  Walk walk;
  walk.counted = true;
  walk.total = static_cast<size_t>(count);
  walk.lanes = kRepeatBytes / element_bytes;
  walk.repeats = (walk.total + walk.lanes - 1) / walk.lanes;
  return walk;
}

inline Walk registered_walk(const BlockState& block, size_t element_bytes, size_t repeats) {
  Walk walk;
  walk.lanes = kRepeatBytes / element_bytes;
  walk.mask = block.mask;
  walk.counted = block.counter_mode;
  if (walk.counted) {
    walk.total = block.mask.low;
    repeats = (walk.total + walk.lanes - 1) / walk.lanes;
  }
  walk.repeats = repeats;
  return walk;
}

// `mask` lanes of every repeat; in counter mode it is the number of elements, and `repeats` is not
// looked at. Without `set` the mask register decides, and the argument says nothing.
inline Walk masked_walk(const char* caller, size_t element_bytes, bool set, uint64_t mask,
                        size_t repeats) {
  BlockState& block = this_block(caller);
  const size_t lanes = kRepeatBytes / element_bytes;
  if (set && block.counter_mode) {
    block.mask = {mask, 0};
  } else if (set) {
    if (mask > lanes) {
      fault("%s: expected a mask of at most %zu elements of %zu bytes, got %llu", caller, lanes,
            element_bytes, static_cast<unsigned long long>(mask));
    }
    block.mask = leading_lanes(mask);
  }
  return registered_walk(block, element_bytes, repeats);
}

inline Walk masked_walk(const char* caller, size_t element_bytes, bool set, const uint64_t* mask,
                        size_t repeats) {
  BlockState& block = this_block(caller);
  if (set) {
    block.mask = {mask[0], element_bytes >= 4 ? 0 : mask[1]};
    if (element_bytes >= 4 && mask[1] != 0) {
      fault("%s: expected mask[1] to be 0 for elements of %zu bytes, got 0x%llx", caller,
            element_bytes, static_cast<unsigned long long>(mask[1]));
    }
  }
  return registered_walk(block, element_bytes, repeats);
}

// Strides in blocks.
struct Strides {
  size_t block = 1;
  size_t repeat = 8;
};

// One operand of an instruction, of whatever type.
struct Place {
  uint8_t* data = nullptr;
  Strides strides;
  size_t element_bytes = 1;

  size_t per_block() const { return kBlockBytes / element_bytes; }
  uint8_t* block(size_t repeat, size_t index) const {
    return data + (repeat * strides.repeat + index * strides.block) * kBlockBytes;
  }
  uint8_t* element(size_t repeat, size_t lane) const {
    return block(repeat, lane / per_block()) + lane % per_block() * element_bytes;
  }
  bool contiguous(const Walk& walk) const {
    if (strides.block != 1 && walk.lanes_reached() > per_block()) return false;
    return walk.repeats <= 1 || strides.repeat * per_block() == walk.lanes;
  }

  void load(void* lanes, const Walk& walk, size_t repeat) const {
    uint8_t* const to = static_cast<uint8_t*>(lanes);
    const size_t count = walk.lanes_of(repeat);
    for (size_t lane = 0; lane < count; ++lane) {
      if (!walk.on(lane)) continue;
      std::memcpy(to + lane * element_bytes, element(repeat, lane), element_bytes);
    }
  }
  void store(const void* lanes, const Walk& walk, size_t repeat) const {
    const uint8_t* const from = static_cast<const uint8_t*>(lanes);
    const size_t count = walk.lanes_of(repeat);
    for (size_t lane = 0; lane < count; ++lane) {
      if (!walk.on(lane)) continue;
      std::memcpy(element(repeat, lane), from + lane * element_bytes, element_bytes);
    }
  }
};

template <typename T>
struct Operand : Place {
  static constexpr size_t kPerBlock = kBlockBytes / sizeof(T);

  Operand(uint8_t* start, Strides steps) : Place{start, steps, sizeof(T)} {}
  T* flat() const { return reinterpret_cast<T*>(data); }
};

template <typename T>
struct Register {
  T lanes[kRepeatBytes / sizeof(T) < 128 ? 128 : kMaxLanes];
};

// Bytes from an operand's start to the end of the last element that takes part.
inline size_t reach(const Walk& walk, const Strides& strides, size_t element_bytes) {
  const auto end_of = [&](size_t repeat, size_t lanes) -> size_t {
    if (lanes == 0) return 0;
    const size_t per_block = kBlockBytes / element_bytes;
    const size_t last = lanes - 1;
    return (repeat * strides.repeat + last / per_block * strides.block) * kBlockBytes +
           (last % per_block + 1) * element_bytes;
  };
  if (walk.repeats == 0) return 0;
  const size_t last = walk.repeats - 1;
  size_t bytes = end_of(last, walk.counted ? walk.lanes_of(last) : walk.lanes_reached());
  if (walk.counted && last > 0) {
    const size_t before = end_of(last - 1, walk.lanes);
    if (before > bytes) bytes = before;
  }
  return bytes;
}

template <typename T>
inline Operand<T> operand(const char* caller, const char* name,
                          const AscendC::LocalTensor<T>& tensor, const Walk& walk,
                          Strides strides) {
  return {tensor.view().aligned(caller, name, reach(walk, strides, sizeof(T))), strides};
}

inline void note_lanes(const char* caller, const char* name, Access access, const Walk& walk,
                       const Place& place) {
  BlockChecks* const checks = this_block(caller).checks;
  if (checks == nullptr) return;
  const size_t width = place.element_bytes;
  if (walk.every_lane() && place.contiguous(walk)) {
    checks->note(caller, name, Unit::kVector, access, place.data, walk.elements() * width);
    return;
  }
  for (size_t repeat = 0; repeat < walk.repeats; ++repeat) {
    for (size_t lane = 0; lane < walk.lanes_of(repeat); ++lane) {
      if (!walk.on(lane)) continue;
      checks->note(caller, name, Unit::kVector, access, place.element(repeat, lane), width);
    }
  }
}

inline void check_overlap(const char* caller, const char* name, const uint8_t* dst,
                          size_t dst_bytes, const uint8_t* src, size_t src_bytes) {
  if (dst == src || dst + dst_bytes <= src || src + src_bytes <= dst) return;
  fault("%s: expected dst and %s to be the same or disjoint, got them %zu bytes apart in %zu",
        caller, name, static_cast<size_t>(dst < src ? src - dst : dst - src),
        dst_bytes < src_bytes ? src_bytes : dst_bytes);
}

// A third source is what the destination held before.
constexpr const char* source_name(size_t count, size_t index) {
  constexpr const char* kNames[] = {"src0", "src1", "dst"};
  return count == 1 ? "src" : kNames[index];
}

// The overlap check of the caller is what makes the promise true; -O2 would not vectorise without.
template <typename Function, typename D, typename... S>
inline void run_flat(size_t count, Function function, D* dst, const S*... src) {
#pragma omp simd
  for (size_t i = 0; i < count; ++i) dst[i] = function(src[i]...);
}

// Notes what is read and written. True when the instruction is one run over whole operands.
inline bool begin_lanes(const char* caller, const Walk& walk, const Place& dst,
                        const Place* sources, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    note_lanes(caller, source_name(count, i), Access::kRead, walk, sources[i]);
  }
  note_lanes(caller, "dst", Access::kWrite, walk, dst);
  bool flat = walk.every_lane() && dst.contiguous(walk);
  for (size_t i = 0; i < count; ++i) flat = flat && sources[i].contiguous(walk);
  if (!flat) return false;
  const size_t elements = walk.elements();
  for (size_t i = 0; i < count; ++i) {
    check_overlap(caller, source_name(count, i), dst.data, elements * dst.element_bytes,
                  sources[i].data, elements * sources[i].element_bytes);
  }
  return true;
}

template <typename Function, typename D, typename... S, size_t... index>
inline void run_indexed(const char* caller, const Walk& walk, Function function,
                        std::index_sequence<index...>, const Operand<D>& dst,
                        const Operand<S>&... src) {
  const Place sources[sizeof...(S) + 1] = {src...};
  if (begin_lanes(caller, walk, dst, sources, sizeof...(S))) {
    return run_flat(walk.elements(), function, dst.flat(), src.flat()...);
  }
  // A repeat is read whole before it is written, as in the vector unit: a destination that is a
  // later repeat's source accumulates.
  alignas(64) uint8_t registers[sizeof...(S) + 1][kMaxLanes * sizeof(uint64_t)] = {};
  for (size_t repeat = 0; repeat < walk.repeats; ++repeat) {
    (src.load(registers[index + 1], walk, repeat), ...);
    run_flat(walk.lanes_of(repeat), function, reinterpret_cast<D*>(registers[0]),
             reinterpret_cast<const S*>(registers[index + 1])...);
    dst.store(registers[0], walk, repeat);
  }
}

template <typename Function, typename D, typename... S>
inline void run_lanes(const char* caller, const Walk& walk, Function function,
                      const Operand<D>& dst, const Operand<S>&... src) {
  if (walk.repeats == 0) return;
  run_indexed(caller, walk, function, std::index_sequence_for<S...>(), dst, src...);
}

}  // namespace hostcann

#endif  // HOSTCANN_VECTOR_LANES_H
