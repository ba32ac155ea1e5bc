// SPDX-License-Identifier: Apache-2.0
// One fault for each sanitizer: where one is not seen, a green matrix says nothing.
#include <thread>

extern "C" void overflow() {
  // Known only when it runs: UBSan would see it as well.
  volatile int size = 8;
  volatile char* const bytes = new char[size];
  bytes[size] = 1;
  delete[] bytes;
}

extern "C" int shift() {
  volatile int width = 33;
  return 1 << width;
}

extern "C" void race() {
  int shared = 0;
  std::thread other([&shared] { ++shared; });
  ++shared;
  other.join();
}
