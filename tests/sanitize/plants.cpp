// SPDX-License-Identifier: Apache-2.0
// One fault for each sanitizer, in place of the kernel that a row launches: where one is not seen,
// a green matrix says nothing.
#include <cstdlib>
#include <string_view>
#include <thread>

namespace {

void overflow() {
  // Known only when it runs: UBSan would see it as well.
  volatile int size = 8;
  volatile char* const bytes = new char[size];
  bytes[size] = 1;
  delete[] bytes;
}

void shift() {
  volatile int width = 33;
  width = 1 << width;
}

void race() {
  int shared = 0;
  std::thread other([&shared] { ++shared; });
  ++shared;
  other.join();
}

}  // namespace

extern "C" void add_custom_impl() {
  const std::string_view fault = std::getenv("SANITIZE_PLANT");
  if (fault == "overflow") overflow();
  if (fault == "shift") shift();
  if (fault == "race") race();
}
