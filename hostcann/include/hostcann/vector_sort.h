// SPDX-License-Identifier: Apache-2.0
// Sorting of (score, index) pairs of 8 bytes, by falling scores; of equal scores the first stays
// first. A half stands in the first two bytes of its pair.
#ifndef HOSTCANN_VECTOR_SORT_H
#define HOSTCANN_VECTOR_SORT_H

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "hostcann/vector_reduce.h"

namespace AscendC {

template <typename T>
struct MrgSortSrcList {
  MrgSortSrcList() = default;
  MrgSortSrcList(const LocalTensor<T>& one, const LocalTensor<T>& two, const LocalTensor<T>& three,
                 const LocalTensor<T>& four)
      : src1(one), src2(two), src3(three), src4(four) {}

  LocalTensor<T> src1;
  LocalTensor<T> src2;
  LocalTensor<T> src3;
  LocalTensor<T> src4;
};

struct MrgSort4Info {
  MrgSort4Info() = default;
  MrgSort4Info(const uint16_t lengths[4], bool suspend, uint16_t valid, uint16_t repeats)
      : ifExhaustedSuspension(suspend), validBit(valid), repeatTimes(repeats) {
    for (int i = 0; i < 4; ++i) elementLengths[i] = lengths[i];
  }

  uint16_t elementLengths[4] = {};
  bool ifExhaustedSuspension = false;
  uint16_t validBit = 0;
  uint8_t repeatTimes = 1;
};

}  // namespace AscendC

namespace hostcann {

constexpr size_t kPairBytes = 8;
constexpr size_t kSorted = 32;

template <typename T>
inline T score_of(const uint8_t* pair) {
  T score;
  std::memcpy(&score, pair, sizeof(score));
  return score;
}

// One queue of a merge.
struct SortedQueue {
  const uint8_t* data = nullptr;
  size_t length = 0;
  size_t taken = 0;
};

// Takes the highest score of the queues' heads until all, or with `suspend` one, are empty.
template <typename T>
inline size_t merge(SortedQueue* queues, size_t count, bool suspend, uint8_t* out) {
  size_t written = 0;
  for (;;) {
    SortedQueue* best = nullptr;
    for (size_t i = 0; i < count; ++i) {
      SortedQueue& queue = queues[i];
      if (queue.taken == queue.length) {
        if (suspend) return written;
        continue;
      }
      if (best == nullptr || score_of<T>(queue.data + queue.taken * kPairBytes) >
                                 score_of<T>(best->data + best->taken * kPairBytes)) {
        best = &queue;
      }
    }
    if (best == nullptr) return written;
    std::memcpy(out + written++ * kPairBytes, best->data + best->taken++ * kPairBytes, kPairBytes);
  }
}

}  // namespace hostcann

namespace AscendC {

template <typename T>
inline void Sort32(const LocalTensor<T>& dst, const LocalTensor<T>& src0,
                   const LocalTensor<uint32_t>& src1, const int32_t repeatTime,
                   hostcann::CallSite = {}) {
  using namespace hostcann;
  HOSTCANN_TAKES(Sort32, half, float);
  if (repeatTime < 0) fault("Sort32: expected 0 repeats or more, got %d", repeatTime);
  const size_t count = static_cast<size_t>(repeatTime) * kSorted;
  const uint8_t* const scores = src0.view().aligned("Sort32", "src0", count * sizeof(T));
  const uint8_t* const indices = src1.view().aligned("Sort32", "src1", count * sizeof(uint32_t));
  uint8_t* const to = dst.view().aligned("Sort32", "dst", count * kPairBytes);
  note("Sort32", "src0", Unit::kVector, Access::kRead, scores, count * sizeof(T));
  note("Sort32", "src1", Unit::kVector, Access::kRead, indices, count * sizeof(uint32_t));
  note("Sort32", "dst", Unit::kVector, Access::kWrite, to, count * kPairBytes);
  for (size_t first = 0; first < count; first += kSorted) {
    uint8_t pairs[kSorted * kPairBytes] = {};
    for (size_t i = 0; i < kSorted; ++i) {
      uint8_t pair[kPairBytes] = {};
      std::memcpy(pair, scores + (first + i) * sizeof(T), sizeof(T));
      std::memcpy(pair + 4, indices + (first + i) * sizeof(uint32_t), sizeof(uint32_t));
      size_t at = i;  // insertion keeps the order of equal scores
      while (at > 0 && score_of<T>(pairs + (at - 1) * kPairBytes) < score_of<T>(pair)) {
        std::memcpy(pairs + at * kPairBytes, pairs + (at - 1) * kPairBytes, kPairBytes);
        --at;
      }
      std::memcpy(pairs + at * kPairBytes, pair, kPairBytes);
    }
    std::memcpy(to + first * kPairBytes, pairs, sizeof(pairs));
  }
}

// Merges two, three or four sorted queues of pairs.
template <typename T>
inline void MrgSort(const LocalTensor<T>& dst, const MrgSortSrcList<T>& src,
                    const MrgSort4Info& params, hostcann::CallSite = {}) {
  using namespace hostcann;
  HOSTCANN_TAKES(MrgSort, half, float);
  if (params.validBit != 3 && params.validBit != 7 && params.validBit != 15) {
    fault("MrgSort: expected validBit 3, 7 or 15, got %u", params.validBit);
  }
  const size_t queues = params.validBit == 3 ? 2 : params.validBit == 7 ? 3 : 4;
  const LocalTensor<T>* const sources[4] = {&src.src1, &src.src2, &src.src3, &src.src4};
  size_t total = 0;
  for (size_t i = 0; i < queues; ++i) total += params.elementLengths[i];
  BlockState& block = this_block("MrgSort");
  uint8_t* to = dst.view().aligned("MrgSort", "dst", total * params.repeatTimes * kPairBytes);
  for (size_t repeat = 0; repeat < params.repeatTimes; ++repeat) {
    SortedQueue heads[4];
    for (size_t i = 0; i < queues; ++i) {
      const size_t bytes = params.elementLengths[i] * kPairBytes;
      const size_t skipped = repeat * total * kPairBytes;
      sources[i]->view().live_buffer("MrgSort", "src");
      if (skipped + bytes > sources[i]->view().bytes) {
        fault("MrgSort: expected src%zu (LocalTensor) to hold at least %zu bytes, got %zu", i + 1,
              skipped + bytes, sources[i]->view().bytes);
      }
      heads[i].data = sources[i]->view().data + skipped;
      heads[i].length = params.elementLengths[i];
      note("MrgSort", "src", Unit::kVector, Access::kRead, heads[i].data, bytes);
    }
    note("MrgSort", "dst", Unit::kVector, Access::kWrite, to, total * kPairBytes);
    to += merge<T>(heads, queues, params.ifExhaustedSuspension, to) * kPairBytes;
    for (size_t i = 0; i < 4; ++i) block.merged[i] = static_cast<uint16_t>(heads[i].taken);
  }
}

// How many pairs of each queue the last MrgSort took.
inline void GetMrgSortResult(uint16_t& mrgSortList1, uint16_t& mrgSortList2, uint16_t& mrgSortList3,
                             uint16_t& mrgSortList4, hostcann::CallSite = {}) {
  const hostcann::BlockState& block = hostcann::this_block("GetMrgSortResult");
  mrgSortList1 = block.merged[0];
  mrgSortList2 = block.merged[1];
  mrgSortList3 = block.merged[2];
  mrgSortList4 = block.merged[3];
}

// Of `elemCount` pairs the length, and of pair `elemOffset` the place, in elements of T.
template <typename T>
inline uint32_t GetSortLen(const uint32_t elemCount) {
  return elemCount * static_cast<uint32_t>(hostcann::kPairBytes / sizeof(T));
}
template <typename T>
inline uint32_t GetSortOffset(const uint32_t elemOffset) {
  return GetSortLen<T>(elemOffset);
}

// What Sort takes. On dav-2201 that is the scores as they are.
template <typename T>
inline void Concat(LocalTensor<T>& concat, const LocalTensor<T>& src, const LocalTensor<T>&,
                   const int32_t, hostcann::CallSite = {}) {
  HOSTCANN_TAKES(Concat, half, float);
  concat = src;
}

// Pairs, highest score first: of every 32, or with isFullSort of all. `tmp` holds as many pairs.
template <typename T, bool isFullSort>
inline void Sort(const LocalTensor<T>& dst, const LocalTensor<T>& concat,
                 const LocalTensor<uint32_t>& index, const LocalTensor<T>& tmp,
                 const int32_t repeatTime, hostcann::CallSite site = {}) {
  using namespace hostcann;
  Sort32(dst, concat, index, repeatTime, site);
  if constexpr (isFullSort) {
    const size_t count = static_cast<size_t>(repeatTime) * kSorted;
    uint8_t* from = dst.view().aligned("Sort", "dst", count * kPairBytes);
    uint8_t* to = tmp.view().aligned("Sort", "tmp", count * kPairBytes);
    note("Sort", "tmp", Unit::kVector, Access::kWrite, to, count * kPairBytes);
    check_overlap("Sort", "tmp", from, count * kPairBytes, to, count * kPairBytes);
    for (size_t run = kSorted; run < count; run *= 2) {
      for (size_t first = 0; first < count; first += 2 * run) {
        const size_t left = count - first < run ? count - first : run;
        const size_t rest = count - first - left;
        SortedQueue halves[2];
        halves[0].data = from + first * kPairBytes;
        halves[0].length = left;
        halves[1].data = halves[0].data + left * kPairBytes;
        halves[1].length = rest < run ? rest : run;
        merge<T>(halves, 2, false, to + first * kPairBytes);
      }
      uint8_t* const merged = to;
      to = from;
      from = merged;
    }
    uint8_t* const result = dst.view().data;
    if (from != result) std::memcpy(result, from, count * kPairBytes);
  }
}

// Scores and indices of sorted pairs apart, 32 pairs a repeat.
template <typename T>
inline void Extract(const LocalTensor<T>& dstValue, const LocalTensor<uint32_t>& dstIndex,
                    const LocalTensor<T>& sorted, const int32_t repeatTime,
                    hostcann::CallSite = {}) {
  using namespace hostcann;
  HOSTCANN_TAKES(Extract, half, float);
  if (repeatTime < 0) fault("Extract: expected 0 repeats or more, got %d", repeatTime);
  const size_t count = static_cast<size_t>(repeatTime) * kSorted;
  const uint8_t* const pairs = sorted.view().aligned("Extract", "sorted", count * kPairBytes);
  uint8_t* const values = dstValue.view().aligned("Extract", "dstValue", count * sizeof(T));
  uint8_t* const indices = dstIndex.view().aligned("Extract", "dstIndex", count * sizeof(uint32_t));
  note("Extract", "sorted", Unit::kVector, Access::kRead, pairs, count * kPairBytes);
  note("Extract", "dstValue", Unit::kVector, Access::kWrite, values, count * sizeof(T));
  note("Extract", "dstIndex", Unit::kVector, Access::kWrite, indices, count * sizeof(uint32_t));
  for (size_t i = 0; i < count; ++i) {
    std::memcpy(values + i * sizeof(T), pairs + i * kPairBytes, sizeof(T));
    std::memcpy(indices + i * sizeof(uint32_t), pairs + i * kPairBytes + 4, sizeof(uint32_t));
  }
}

}  // namespace AscendC

#endif  // HOSTCANN_VECTOR_SORT_H
