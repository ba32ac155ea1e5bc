/* SPDX-License-Identifier: Apache-2.0 */
/* Callgrind counts between these two calls only. */
#include <valgrind/callgrind.h>

void count_start(void) {
  CALLGRIND_START_INSTRUMENTATION;
  CALLGRIND_ZERO_STATS;
}

void count_stop(const char* name) {
  CALLGRIND_DUMP_STATS_AT(name);
  CALLGRIND_STOP_INSTRUMENTATION;
}
