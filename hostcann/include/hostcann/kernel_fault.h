// SPDX-License-Identifier: Apache-2.0
// How device code stops: a fault unwinds to the block's trampoline, which hands the sentence to the
// runtime as the error of the stream.
#ifndef HOSTCANN_KERNEL_FAULT_H
#define HOSTCANN_KERNEL_FAULT_H

#include <cstdarg>
#include <cstdio>
#include <exception>

namespace hostcann {

class KernelFault : public std::exception {
 public:
  KernelFault(int fault_code, const char* format, va_list arguments) noexcept : code(fault_code) {
    std::vsnprintf(sentence_, sizeof(sentence_), format, arguments);
  }
  const char* what() const noexcept override { return sentence_; }

  const int code;

 private:
  char sentence_[800];
};

constexpr int kVectorCoreException = 507035;

// Out of line and cold: a check in front of a vector operation must cost a compare and a branch.
[[noreturn]] __attribute__((cold, noinline, format(printf, 1, 2))) inline void fault(
    const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const KernelFault thrown(kVectorCoreException, format, arguments);
  va_end(arguments);
  throw thrown;
}

// A fault that is not an exception of the vector core but, say, a wait that never ends.
[[noreturn]] __attribute__((cold, noinline, format(printf, 2, 3))) inline void fault_with_code(
    int code, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const KernelFault thrown(code, format, arguments);
  va_end(arguments);
  throw thrown;
}

}  // namespace hostcann

#endif  // HOSTCANN_KERNEL_FAULT_H
