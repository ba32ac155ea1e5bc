// SPDX-License-Identifier: Apache-2.0
#include "config.h"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>

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
  for (const char* at = visible;;) {
    const char* rest = at;
    const auto id = whole_number(at, &rest);
    if (!id || *id >= count || (*rest != ',' && *rest != '\0')) {
      return refuse(ACL_ERROR_INVALID_PARAM,
                    "environment variable ASCEND_RT_VISIBLE_DEVICES: expected device numbers "
                    "from 0 to %d separated by commas, got '%s'; unset it to see all devices",
                    static_cast<int>(count) - 1, visible);
    }
    into.physical_ids.push_back(static_cast<uint32_t>(*id));
    if (*rest == '\0') return {};
    at = rest + 1;
  }
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
  const char* rest = text;
  const auto level = whole_number(text, &rest);
  if (!level || *level > 3 || *rest != '\0') {
    return refuse(ACL_ERROR_INVALID_PARAM,
                  "environment variable HOSTCANN_LOG: expected 0 (quiet) to 3 (everything), got "
                  "'%s'; unset it for 0",
                  text);
  }
  into.log_level = static_cast<int>(*level);
  return {};
}

Config* read_config() {
  auto* made = new Config;
  for (auto* read : {read_soc, read_devices, read_memory, read_log}) {
    made->problem = read(*made);
    if (!made->problem.ok()) {
      // Printed as well: a caller that only counts devices drops the error code.
      std::fprintf(stderr, "hostcann: %s\n", made->problem.why().c_str());
      made->physical_ids.clear();
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

void log_line(int level, const char* format, ...) {
  if (config().log_level < level) return;
  char text[1024];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  std::fprintf(stderr, "hostcann: %s\n", text);
}

}  // namespace hostcann
