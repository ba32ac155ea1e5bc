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
  KernelFault(const char* format, va_list arguments) noexcept {
    std::vsnprintf(sentence_, sizeof(sentence_), format, arguments);
  }
  const char* what() const noexcept override { return sentence_; }

 private:
  char sentence_[800];
};

// Out of line and cold: a check in front of a vector operation must cost a compare and a branch.
[[noreturn]] __attribute__((cold, noinline, format(printf, 1, 2))) inline void fault(
    const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const KernelFault thrown(format, arguments);
  va_end(arguments);
  throw thrown;
}

}  // namespace hostcann

#endif  // HOSTCANN_KERNEL_FAULT_H
