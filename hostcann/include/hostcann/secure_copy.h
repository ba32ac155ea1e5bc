// SPDX-License-Identifier: Apache-2.0
// memcpy_s, which CANN's headers for the host side bring along.
#ifndef HOSTCANN_SECURE_COPY_H
#define HOSTCANN_SECURE_COPY_H

#include <cerrno>
#include <cstddef>
#include <cstring>

// 0, or ERANGE with nothing copied when `count` bytes do not fit.
inline int memcpy_s(void* dest, size_t destMax, const void* src, size_t count) {
  if (dest == nullptr || src == nullptr) return EINVAL;
  if (count > destMax) return ERANGE;
  std::memcpy(dest, src, count);
  return 0;
}

#endif  // HOSTCANN_SECURE_COPY_H
