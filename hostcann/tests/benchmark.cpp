// SPDX-License-Identifier: Apache-2.0
// The runtime's own cost: figures to read, not limits to pass.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <vector>

#include "acl/acl_rt.h"
#include "hostcann/launch.h"

namespace {

using Clock = std::chrono::steady_clock;

void check(aclError code) {
  if (code == ACL_SUCCESS) return;
  std::fprintf(stderr, "benchmark: %s\n", aclGetRecentErrMsg());
  std::exit(1);
}

template <typename Work>
double microseconds(Work work) {
  const auto start = Clock::now();
  work();
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

template <typename Work>
double median_microseconds(int repeats, Work work) {
  std::vector<double> times;
  for (int i = 0; i < repeats; ++i) times.push_back(microseconds([&] { work(i); }));
  std::nth_element(times.begin(), times.begin() + repeats / 2, times.end());
  return times[repeats / 2];
}

void launch(aclrtStream stream) {
  static const HostcannLaunch empty{
      HOSTCANN_LAUNCH_ABI,
      "empty",
      1,
      nullptr,
      [](void*, uint32_t, uint32_t, HostcannKernelFault*) { return 0; },
      nullptr};
  check(hostcann_launch(&empty, stream));
}

size_t resident_kib() {
  std::ifstream file("/proc/self/statm");
  size_t total = 0, resident = 0;
  file >> total >> resident;
  return resident * 4;
}

void measure_launches(aclrtStream stream) {
  // Half of what fits into a stream at a time, so that no launch waits for room.
  const double launched = median_microseconds(200000, [&](int i) {
    launch(stream);
    if (i % 512 == 511) check(aclrtSynchronizeStream(stream));
  });
  const double round_trip = median_microseconds(20000, [&](int) {
    launch(stream);
    check(aclrtSynchronizeStream(stream));
  });
  std::printf("launch of an empty kernel, median: %.2f us\n", launched);
  std::printf("launch and synchronise, median: %.2f us\n", round_trip);
}

void measure_growth(aclrtStream stream) {
  const auto run = [&](int count) {
    for (int i = 0; i < count; ++i) launch(stream);
    check(aclrtSynchronizeStream(stream));
  };
  run(100000);
  const size_t before = resident_kib();
  run(1000000);
  const size_t after = resident_kib();
  std::printf("memory after 1000000 launches: %+ld KiB\n",
              static_cast<long>(after) - static_cast<long>(before));
}

void measure_copies() {
  constexpr size_t kBytes = size_t{64} << 20;
  std::vector<char> from(kBytes, 'a'), to(kBytes, 'b');
  void* device = nullptr;
  check(aclrtMalloc(&device, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
  check(aclrtMemset(device, kBytes, 0, kBytes));
  // In turn and the best of each: another program that wants the memory would decide otherwise.
  double host = 1e12, there = 1e12, back = 1e12;
  for (int i = 0; i < 30; ++i) {
    host = std::min(host, microseconds([&] { std::memcpy(to.data(), from.data(), kBytes); }));
    there = std::min(
        there, microseconds([&] {
          check(aclrtMemcpy(device, kBytes, from.data(), kBytes, ACL_MEMCPY_HOST_TO_DEVICE));
        }));
    back =
        std::min(back, microseconds([&] {
                   check(aclrtMemcpy(to.data(), kBytes, device, kBytes, ACL_MEMCPY_DEVICE_TO_HOST));
                 }));
  }
  std::printf("aclrtMemcpy of 64 MiB, of memcpy's speed: %.2f there, %.2f back\n", host / there,
              host / back);
  check(aclrtFree(device));
}

void measure_streams() {
  std::vector<aclrtStream> streams(10000);
  const double time = microseconds([&] {
    for (aclrtStream& stream : streams) check(aclrtCreateStream(&stream));
    for (const aclrtStream stream : streams) check(aclrtDestroyStream(stream));
  });
  std::printf("10000 streams created and destroyed: %.1f ms\n", time / 1000);
}

}  // namespace

int main() {
  check(aclrtSetDevice(0));
  aclrtStream stream = nullptr;
  check(aclrtCreateStream(&stream));
  measure_launches(stream);
  measure_growth(stream);
  measure_copies();
  measure_streams();
}
