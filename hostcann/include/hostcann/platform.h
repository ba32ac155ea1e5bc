// SPDX-License-Identifier: Apache-2.0
// What the host side of an operator asks about the chip: dav-2201, by the name hostcann goes by.
#ifndef HOSTCANN_PLATFORM_H
#define HOSTCANN_PLATFORM_H

#include <cstddef>
#include <cstdint>

#include "hostcann/launch.h"

namespace platform_ascendc {

enum class CoreMemType { L0_A = 0, L0_B, L0_C, L1, L2, UB, HBM, FB, BT, RESERVED };
enum class SocVersion { ASCEND910B = 1 };
enum class NpuArch { DAV_2201 = 2201 };
enum class ReservedSize { RESERVED_SIZE_8K, RESERVED_SIZE_16K, RESERVED_SIZE_32K };

class PlatformAscendC {
 public:
  // CANN's takes the platform information of a tiling context, which hostcann has none of.
  explicit PlatformAscendC(const void* = nullptr) {}

  uint32_t GetCoreNumAiv() const { return hostcann_vector_cores(); }
  uint32_t GetCoreNumAic() const { return hostcann_vector_cores() / 2; }
  uint32_t GetCoreNum() const { return GetCoreNumAic(); }
  uint32_t GetCoreNumVector() const { return 0; }  // of chips with vector cores of another kind
  SocVersion GetSocVersion() const { return SocVersion::ASCEND910B; }
  NpuArch GetCurNpuArch() const { return NpuArch::DAV_2201; }
  uint32_t GetLibApiWorkSpaceSize() const { return 16u << 20; }

  // 0 for memory whose size hostcann does not know.
  void GetCoreMemSize(const CoreMemType& memType, uint64_t& size) const {
    switch (memType) {
      case CoreMemType::L0_A:
      case CoreMemType::L0_B:
        size = 64 * 1024;
        break;
      case CoreMemType::L0_C:
        size = 128 * 1024;
        break;
      case CoreMemType::L1:
        size = 512 * 1024 - 256;
        break;
      case CoreMemType::UB:
        size = 192 * 1024 - 256 - reserved_;
        break;
      case CoreMemType::BT:
        size = 1024;
        break;
      default:
        size = 0;
    }
  }
  void ReserveLocalMemory(ReservedSize size) {
    reserved_ = uint64_t{8 * 1024} << static_cast<unsigned>(size);
  }

 private:
  uint64_t reserved_ = 0;
};

class PlatformAscendCManager {
 public:
  static PlatformAscendC* GetInstance() {
    static PlatformAscendC platform;
    return &platform;
  }
  // Null for a chip that hostcann does not emulate.
  static PlatformAscendC* GetInstance(const char* customSocVersion) {
    constexpr char kFamily[] = "Ascend910";
    if (customSocVersion == nullptr) return GetInstance();
    for (size_t i = 0; kFamily[i] != 0; ++i) {
      if (customSocVersion[i] != kFamily[i]) return nullptr;
    }
    const char next = customSocVersion[sizeof(kFamily) - 1];
    return next == 'B' || next == '_' ? GetInstance() : nullptr;
  }
};

}  // namespace platform_ascendc

#endif  // HOSTCANN_PLATFORM_H
