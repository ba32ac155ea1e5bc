// SPDX-License-Identifier: Apache-2.0
#include "config.h"

#include <unistd.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include "entry.h"
#include "trace.h"

namespace hostcann {
namespace {

constexpr int64_t kMiB = int64_t{1} << 20;
constexpr size_t kDefaultMemory = size_t{32} << 30;

// Chips of the dav-2201 architecture, which is the one the Ascend C headers model.
constexpr Soc kSocs[] = {
    {"Ascend910B1", 24, 48, 192 * kMiB},    {"Ascend910B2", 24, 48, 192 * kMiB},
    {"Ascend910B2C", 24, 48, 192 * kMiB},   {"Ascend910B3", 20, 40, 192 * kMiB},
    {"Ascend910B4", 20, 40, 96 * kMiB},     {"Ascend910B4-1", 20, 40, 168 * kMiB},
    {"Ascend910_9391", 24, 48, 192 * kMiB}, {"Ascend910_9392", 24, 48, 192 * kMiB},
    {"Ascend910_9381", 24, 48, 192 * kMiB}, {"Ascend910_9382", 24, 48, 192 * kMiB},
    {"Ascend910_9372", 20, 40, 192 * kMiB}, {"Ascend910_9362", 20, 40, 192 * kMiB},
};

std::optional<uint64_t> whole_number(const char* text, const char** rest) {
  if (*text < '0' || *text > '9') return std::nullopt;
  char* end = nullptr;
  errno = 0;
  const unsigned long long value = std::strtoull(text, &end, 10);
  if (errno != 0) return std::nullopt;
  *rest = end;
  return value;
}

Status read_soc(Config& into) {
  const char* wanted = std::getenv("HOSTCANN_SOC");
  if (wanted == nullptr) wanted = kSocs[0].name;
  std::string known;
  for (const Soc& soc : kSocs) {
    if (std::strcmp(soc.name, wanted) == 0) into.soc = &soc;
    known += (known.empty() ? "" : ", ") + std::string(soc.name);
  }
  if (into.soc != nullptr) return {};
  return refuse(ACL_ERROR_INVALID_PARAM,
                "environment variable HOSTCANN_SOC: expected one of %s, got '%s'; unset it for %s",
                known.c_str(), wanted, kSocs[0].name);
}

Status read_devices(Config& into) {
  uint64_t count = 2;
  if (const char* text = std::getenv("HOSTCANN_DEVICE_COUNT")) {
    const char* rest = text;
    const auto value = whole_number(text, &rest);
    if (!value || *rest != '\0' || *value < 1 || *value > kMaxDevices) {
      return refuse(ACL_ERROR_INVALID_PARAM,
                    "environment variable HOSTCANN_DEVICE_COUNT: expected a whole number from 1 "
                    "to %u, got '%s'; unset it for 2",
                    kMaxDevices, text);
    }
    count = *value;
  }
  const char* visible = std::getenv("ASCEND_RT_VISIBLE_DEVICES");
  if (visible == nullptr) {
    for (uint32_t id = 0; id < count; ++id) into.physical_ids.push_back(id);
    return {};
  }
  std::string read;
  for (const char* at = visible;;) {
    const char* rest = at;
    const auto id = whole_number(at, &rest);
    if (!id || *id >= count) break;
    if (!read.empty() && *id <= into.physical_ids.back()) break;
    into.physical_ids.push_back(static_cast<uint32_t>(*id));
    read += (read.empty() ? "" : ",") + std::to_string(*id);
    if (*rest != ',') break;
    at = rest + 1;
  }
  // CANN stops at the first thing out of order; what was read is then less than what was asked.
  if (!read.empty() && read == visible) return {};
  return refuse(ACL_ERROR_INVALID_PARAM,
                "environment variable ASCEND_RT_VISIBLE_DEVICES: expected device numbers from 0 "
                "to %d, ascending, with commas alone between, got '%s'; unset it to see all "
                "devices",
                static_cast<int>(count) - 1, visible);
}

Status read_memory(Config& into) {
  into.device_memory_bytes = kDefaultMemory;
  const char* text = std::getenv("HOSTCANN_DEVICE_MEMORY");
  if (text == nullptr) return {};
  const char* rest = text;
  const auto value = whole_number(text, &rest);
  const std::string unit = rest;
  int shift = -1;
  if (unit.empty() || unit == "B") shift = 0;
  if (unit == "K" || unit == "KiB") shift = 10;
  if (unit == "M" || unit == "MiB") shift = 20;
  if (unit == "G" || unit == "GiB") shift = 30;
  // The upper bound keeps 16 devices with two mappings each inside a 47-bit address space.
  constexpr uint64_t kLeast = 1ull << 20;
  constexpr uint64_t kMost = 1ull << 40;
  if (!value || shift < 0 || *value > (kMost >> shift) || (*value << shift) < kLeast) {
    return refuse(ACL_ERROR_INVALID_PARAM,
                  "environment variable HOSTCANN_DEVICE_MEMORY: expected bytes from 1 MiB to "
                  "1024 GiB, optionally with K, M or G, got '%s'; unset it for 32G",
                  text);
  }
  into.device_memory_bytes = static_cast<size_t>(*value << shift);
  return {};
}

Status read_log(Config& into) {
  const char* text = std::getenv("HOSTCANN_LOG");
  if (text == nullptr) return {};
  constexpr std::pair<const char*, LogLevel> kNames[] = {{"error", LogLevel::error},
                                                         {"warn", LogLevel::warn},
                                                         {"info", LogLevel::info},
                                                         {"trace", LogLevel::trace}};
  for (const auto& [name, level] : kNames) {
    if (std::strcmp(name, text) != 0) continue;
    into.log_level = level;
    return {};
  }
  return refuse(ACL_ERROR_INVALID_PARAM,
                "environment variable HOSTCANN_LOG: expected error, warn, info or trace, got '%s'; "
                "unset it for none",
                text);
}

Status read_number(const char* variable, uint64_t most, std::optional<uint64_t>* number) {
  const char* text = std::getenv(variable);
  if (text == nullptr) return {};
  const char* rest = text;
  const auto value = whole_number(text, &rest);
  if (!value || *value > most || *rest != '\0') {
    return refuse(
        ACL_ERROR_INVALID_PARAM,
        "environment variable %s: expected a whole number from 0 to %llu, got '%s'; unset "
        "it for none",
        variable, static_cast<unsigned long long>(most), text);
  }
  *number = value;
  return {};
}

Status read_schedule(Config& into) {
  constexpr uint64_t kDefaultDelayUs = 200;
  constexpr uint64_t kLongestDelayUs = 1000000;
  std::optional<uint64_t> delay;
  Status status = read_number("HOSTCANN_SEED", UINT64_MAX, &into.seed);
  if (status.ok()) status = read_number("HOSTCANN_STREAM_DELAY_US", kLongestDelayUs, &delay);
  into.delay_us = delay.value_or(into.seed ? kDefaultDelayUs : 0);
  return status;
}

Status read_fault(const std::string& entry, PlannedFault* planned) {
  const size_t colon = entry.find(':');
  const char* rest = "?";
  std::optional<uint64_t> call;
  if (colon != std::string::npos) call = whole_number(entry.c_str() + colon + 1, &rest);
  if (!call || *call == 0 || *rest != '\0') {
    return refuse(ACL_ERROR_INVALID_PARAM, "'%s' does not read <function>:<call, from 1>",
                  entry.c_str());
  }
  *planned = {entry.substr(0, colon), *call};
  return check_can_fail(planned->function.c_str());
}

Status read_faults(Config& into) {
  const char* text = std::getenv("HOSTCANN_FAULT");
  if (text == nullptr) return {};
  const std::string all = text;
  for (size_t at = 0; at <= all.size();) {
    const size_t comma = std::min(all.find(',', at), all.size());
    PlannedFault planned;
    if (Status status = read_fault(all.substr(at, comma - at), &planned); !status.ok()) {
      return refuse(status.code(),
                    "environment variable HOSTCANN_FAULT: expected entries like aclrtMalloc:3, "
                    "separated by commas, got '%s': %s",
                    text, status.why().c_str());
    }
    into.faults.push_back(planned);
    at = comma + 1;
  }
  return {};
}

Status read_trace(Config& into) {
  const char* text = std::getenv("HOSTCANN_TRACE");
  if (text == nullptr) return {};
  into.trace = text;
  if (const size_t at = into.trace.find("%p"); at != std::string::npos) {
    into.trace.replace(at, 2, std::to_string(getpid()));
  }
  return check_trace_file(into.trace.c_str());
}

Config* read_config() {
  auto* made = new Config;
  for (auto* read :
       {read_soc, read_devices, read_memory, read_log, read_schedule, read_faults, read_trace}) {
    made->problem = read(*made);
    if (!made->problem.ok()) {
      // Printed as well: a caller that only counts devices drops the error code.
      std::fprintf(stderr, "hostcann: %s\n", made->problem.why().c_str());
      made->physical_ids.clear();
      made->faults.clear();
      made->trace.clear();
      break;
    }
  }
  return made;
}

}  // namespace

const Config& config() {
  // Never destroyed: other libraries call in from their own static destructors.
  static const Config* const read = read_config();
  return *read;
}

void log_line(LogLevel level, const char* format, ...) {
  if (config().log_level < level) return;
  char text[1024];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  std::fprintf(stderr, "hostcann: %s\n", text);
}

}  // namespace hostcann
