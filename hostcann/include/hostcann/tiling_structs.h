// SPDX-License-Identifier: Apache-2.0
// The tiling of the functions that need one: the sizes it was made for, and room for what CANN
// keeps there. A kernel reads the plain struct, the host side fills in either form.
#ifndef HOSTCANN_TILING_STRUCTS_H
#define HOSTCANN_TILING_STRUCTS_H

#include <cstdint>

#include "hostcann/tiling_data.h"

namespace hostcann {
constexpr int kTilingWords = 11;
}  // namespace hostcann

// [bLength, sLength, hLength], of whose rows originalHLength elements count; nLength is an axis
// between the first two, where there is one. Of the words for CANN's own, a plain struct names
// those that kernels write themselves, and has `left` others.
#define HOSTCANN_TILING_STRUCT_NAMING(Name, left, ...)                    \
  namespace AscendC {                                                     \
  namespace tiling {                                                      \
  struct Name {                                                           \
    uint32_t bLength = 0;                                                 \
    uint32_t sLength = 0;                                                 \
    uint32_t hLength = 0;                                                 \
    uint32_t originalHLength = 0;                                         \
    uint32_t nLength = 0;                                                 \
    __VA_ARGS__                                                           \
    uint32_t reserved[left] = {};                                         \
    void set_bLength(uint32_t value) { bLength = value; }                 \
    void set_sLength(uint32_t value) { sLength = value; }                 \
    void set_hLength(uint32_t value) { hLength = value; }                 \
    void set_originalHLength(uint32_t value) { originalHLength = value; } \
    void set_nLength(uint32_t value) { nLength = value; }                 \
  };                                                                      \
  }                                                                       \
  }                                                                       \
  using AscendC::tiling::Name;                                            \
  namespace optiling {                                                    \
  BEGIN_TILING_DATA_DEF(Name)                                             \
  TILING_DATA_FIELD_DEF(uint32_t, bLength);                               \
  TILING_DATA_FIELD_DEF(uint32_t, sLength);                               \
  TILING_DATA_FIELD_DEF(uint32_t, hLength);                               \
  TILING_DATA_FIELD_DEF(uint32_t, originalHLength);                       \
  TILING_DATA_FIELD_DEF(uint32_t, nLength);                               \
  TILING_DATA_FIELD_DEF_ARR(uint32_t, hostcann::kTilingWords, reserved);  \
  END_TILING_DATA_DEF;                                                    \
  }

#define HOSTCANN_TILING_STRUCT(Name) HOSTCANN_TILING_STRUCT_NAMING(Name, hostcann::kTilingWords, )

HOSTCANN_TILING_STRUCT(ConfusionTransposeTiling)
HOSTCANN_TILING_STRUCT(DeepNormTiling)
HOSTCANN_TILING_STRUCT(LayerNormGradBetaTiling)
HOSTCANN_TILING_STRUCT(LayerNormGradTiling)
HOSTCANN_TILING_STRUCT(LayerNormSeparateTiling)
HOSTCANN_TILING_STRUCT(LayerNormTiling)
HOSTCANN_TILING_STRUCT(LogSoftMaxTiling)
HOSTCANN_TILING_STRUCT(PadTiling)
HOSTCANN_TILING_STRUCT_NAMING(RmsNormTiling, hostcann::kTilingWords - 8,
                              float reciprocalOfHLength = 0;
                              uint32_t mainBshLength = 0; uint32_t mainBsLength = 0;
                              uint32_t mainBsLengthAlign = 0; uint32_t loopRound = 0;
                              uint32_t inputTailPos = 0; uint32_t tailBshLength = 0;
                              uint32_t tailBsLength = 0;)
HOSTCANN_TILING_STRUCT(SoftMaxTiling)
HOSTCANN_TILING_STRUCT(TopkTiling)
HOSTCANN_TILING_STRUCT(UnPadTiling)

#undef HOSTCANN_TILING_STRUCT
#undef HOSTCANN_TILING_STRUCT_NAMING

#endif  // HOSTCANN_TILING_STRUCTS_H
