// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "error.h"

namespace hostcann {

// What HOSTCANN_TRACE says of a piece of work: its name, and at most one number with its name.
struct Shown {
  std::string name;
  const char* detail = nullptr;
  uint64_t amount = 0;
};

// The row of what the caller's thread does itself.
constexpr int32_t kCallerRow = -1;

bool tracing();

// The time from here to the end of its life, as a bar on the row of a device's stream.
class Span {
 public:
  Span(uint32_t device, int32_t stream, const Shown& shown);
  ~Span();
  Span(const Span&) = delete;
  Span& operator=(const Span&) = delete;

 private:
  const uint32_t device_;
  const int32_t stream_;
  const Shown shown_;
  const uint64_t start_ns_;
};

// HOSTCANN_TRACE: a file that can be written.
Status check_trace_file(const char* path);

}  // namespace hostcann
