// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

#include "error.h"

namespace hostcann {

// False once it is known that nobody wants to see or to break a call.
extern std::atomic<bool> calls_are_watched;

aclError enter_watched(const char* function);

inline aclError enter(const char* function) {
  return calls_are_watched.load(std::memory_order_relaxed) ? enter_watched(function) : ACL_SUCCESS;
}

// Of HOSTCANN_FAULT's functions: one that this library has and that can report an error.
Status check_can_fail(const char* function);

}  // namespace hostcann

// What every exported function does first, after its out-parameters are empty: it is seen by
// HOSTCANN_LOG=trace, and HOSTCANN_FAULT makes it fail.
#define HOSTCANN_ENTER()                                                              \
  do {                                                                                \
    if (const aclError planned = ::hostcann::enter(__func__); planned != ACL_SUCCESS) \
      return planned;                                                                 \
  } while (0)

// For functions that return something else than an aclError.
#define HOSTCANN_ENTER_OR(value)                                  \
  do {                                                            \
    if (::hostcann::enter(__func__) != ACL_SUCCESS) return value; \
  } while (0)
