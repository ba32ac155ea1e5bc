// SPDX-License-Identifier: Apache-2.0
// Prints what the kernel left in device memory. The acl functions are declared by hand: the project
// shows the language, not where torch_npu keeps its headers.
#include <cstddef>
#include <cstdint>
#include <cstdio>

extern "C" {
int aclInit(const char*);
int aclrtSetDevice(int32_t);
int aclrtMalloc(void**, size_t, int);
int aclrtMemcpy(void*, size_t, const void*, size_t, int);
int aclrtSynchronizeDevice();
void launch(void* stream, int32_t* out);
}

int main() {
  constexpr int kDeviceToHost = 2;
  void* out = nullptr;
  int32_t value = 0;
  if (aclInit(nullptr) != 0 || aclrtSetDevice(0) != 0) return 2;
  if (aclrtMalloc(&out, sizeof(value), 0) != 0) return 3;
  launch(nullptr, static_cast<int32_t*>(out));
  if (aclrtSynchronizeDevice() != 0) return 4;
  if (aclrtMemcpy(&value, sizeof(value), out, sizeof(value), kDeviceToHost) != 0) return 5;
  std::printf("%d\n", value);
}
