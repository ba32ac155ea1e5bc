// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "error.h"

namespace hostcann {

constexpr uint32_t kMaxDevices = 16;

struct Soc {
  const char* name;
  int64_t cube_cores;
  int64_t vector_cores;
  int64_t l2_bytes;
};

enum class LogLevel { quiet, error, warn, info, trace };

// The `call`-th call of a function fails.
struct PlannedFault {
  std::string function;
  uint64_t call;
};

// What the environment asks for, read once. `problem` is the first variable that makes no sense.
struct Config {
  Status problem;
  const Soc* soc = nullptr;
  std::vector<uint32_t> physical_ids;  // one per visible device
  size_t device_memory_bytes = 0;
  LogLevel log_level = LogLevel::quiet;
  std::optional<uint64_t> seed;
  uint64_t delay_us = 0;
  std::vector<PlannedFault> faults;
  std::string trace;  // a file, or nothing

  bool adversarial() const { return delay_us > 0; }
  uint32_t device_count() const { return static_cast<uint32_t>(physical_ids.size()); }
};

const Config& config();

// One line on stderr when HOSTCANN_LOG is at least `level`.
[[gnu::format(printf, 2, 3)]] void log_line(LogLevel level, const char* format, ...);

}  // namespace hostcann
