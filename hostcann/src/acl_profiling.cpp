// SPDX-License-Identifier: Apache-2.0
// The reporting side of the profiler. Profiling can never be started (there is no aclprofInit),
// and CANN too drops what is reported while it is off.
#include <chrono>

#include "error.h"
#include "profiling/aprof_pub.h"

HOSTCANN_API int32_t MsprofRegisterCallback(uint32_t /*moduleId*/, ProfCommandHandle /*handle*/) {
  return MSPROF_ERROR_NONE;
}

HOSTCANN_API int32_t MsprofReportApi(uint32_t /*nonPersistantFlag*/,
                                     const struct MsprofApi* /*api*/) {
  return MSPROF_ERROR_NONE;
}

HOSTCANN_API int32_t MsprofReportCompactInfo(uint32_t /*nonPersistantFlag*/,
                                             const VOID_PTR /*data*/, uint32_t /*length*/) {
  return MSPROF_ERROR_NONE;
}

HOSTCANN_API int32_t MsprofReportAdditionalInfo(uint32_t /*nonPersistantFlag*/,
                                                const VOID_PTR /*data*/, uint32_t /*length*/) {
  return MSPROF_ERROR_NONE;
}

// FNV-1a: equal texts give equal ids in every process.
HOSTCANN_API uint64_t MsprofGetHashId(const char* hashInfo, size_t length) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (size_t i = 0; hashInfo != nullptr && i < length; ++i) {
    hash = (hash ^ static_cast<unsigned char>(hashInfo[i])) * 0x100000001b3u;
  }
  return hash;
}

HOSTCANN_API uint64_t MsprofSysCycleTime(void) {
  return static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
}
