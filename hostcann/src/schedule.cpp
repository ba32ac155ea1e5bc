// SPDX-License-Identifier: Apache-2.0
#include "schedule.h"

#include <atomic>
#include <chrono>
#include <thread>

#include "config.h"
#include "entry.h"

namespace hostcann {
namespace {

// The seed's own value says nothing about whether there is one.
std::atomic<bool> seed_was_set{false};
std::atomic<uint64_t> current_seed{0};

bool seeded() { return seed_was_set.load() || config().seed.has_value(); }

uint64_t seed() { return seed_was_set.load() ? current_seed.load() : config().seed.value_or(0); }

// splitmix64: neighbouring inputs give unrelated numbers.
uint64_t mix(uint64_t value) {
  value += 0x9e3779b97f4a7c15u;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
  return value ^ (value >> 31);
}

uint64_t draw(int32_t stream, uint64_t task, uint64_t purpose) {
  return mix(mix(mix(seed() ^ purpose) ^ static_cast<uint64_t>(stream)) ^ task);
}

void pause(uint64_t microseconds) {
  if (microseconds > 0) std::this_thread::sleep_for(std::chrono::microseconds(microseconds));
}

}  // namespace

// One call in four: a thread may lose its core between any two instructions.
void delay_call(int32_t stream, uint64_t task) {
  if (!config().adversarial() || !seeded()) return;
  const uint64_t drawn = draw(stream, task, 1);
  if (drawn % 4 == 0) pause((drawn >> 8) % (config().delay_us + 1));
}

// Half of the tasks at once, some late, a few very late: only then do queues fill up.
void delay_task(int32_t stream, uint64_t task) {
  if (!config().adversarial()) return;
  if (!seeded()) return pause(config().delay_us);
  const uint64_t drawn = draw(stream, task, 2);
  const uint64_t longest[] = {0, 0, 0, 0, 1, 1, 1, 4};
  pause((drawn >> 8) % (longest[drawn % 8] * config().delay_us + 1));
}

void set_seed(uint64_t seed) {
  current_seed.store(seed);
  seed_was_set.store(true);
}

}  // namespace hostcann

HOSTCANN_API int hostcann_set_seed(uint64_t seed) {
  HOSTCANN_ENTER();
  HOSTCANN_RETURN_IF_FAILED(hostcann::config().problem);
  if (!hostcann::config().adversarial()) {
    return hostcann::report(
        __func__, hostcann::refuse(ACL_ERROR_FEATURE_UNSUPPORTED,
                                   "the adversarial mode is off; set HOSTCANN_SEED before the "
                                   "process starts"));
  }
  hostcann::set_seed(seed);
  return ACL_SUCCESS;
}
