// SPDX-License-Identifier: Apache-2.0
// The only C ABI between a compiled kernel and the hostcann runtime (libascendcl.so).
// A kernel binary outlives the runtime it was built with: HostcannLaunch::abi lets the
// runtime refuse a layout it does not know instead of misreading it.
#ifndef HOSTCANN_LAUNCH_H
#define HOSTCANN_LAUNCH_H

#include <stddef.h>
#include <stdint.h>

#define HOSTCANN_LAUNCH_ABI 1u

// CANN rejects more blocks than this at launch.
#define HOSTCANN_MAX_BLOCKS 65535u

// ACL codes a kernel may report: an exception in a cube/mix kernel, in a vector kernel, and
// the timeouts of both (a wait for a flag that nobody sets).
#define HOSTCANN_FAULT_AICORE_TIMEOUT 507014
#define HOSTCANN_FAULT_AICORE_EXCEPTION 507015
#define HOSTCANN_FAULT_VECTOR_CORE_TIMEOUT 507034
#define HOSTCANN_FAULT_VECTOR_CORE_EXCEPTION 507035

#ifdef __cplusplus
extern "C" {
#endif

// The message says what went wrong; the runtime puts the kernel's name and the block before it.
typedef struct HostcannKernelFault {
  int32_t code;
  char message[1000];
} HostcannKernelFault;

// Runs one block. 0: fine. Otherwise *fault is filled in and no further block is started.
// Must not throw: blocks run on the stream's worker thread. Blocks of one launch may run on
// several threads at once, so a closure is read-only to it.
typedef int (*HostcannRunBlock)(void* closure, uint32_t block_idx, uint32_t num_blocks,
                                HostcannKernelFault* fault);

typedef struct HostcannLaunch {
  uint32_t abi;        // HOSTCANN_LAUNCH_ABI
  const char* kernel;  // for sentences; must live as long as the process
  uint32_t num_blocks;
  void* closure;
  HostcannRunBlock run_block;
  void (*destroy)(void* closure);  // may be NULL
} HostcannLaunch;

// Enqueues on `stream` (NULL: default stream of the current device) and returns at once.
// The runtime owns the closure from here on: destroy is called exactly once, also when the
// launch is refused. Returns an aclError. `<<<>>>` has no return value, so a refusal is kept
// as well and the next synchronise of that stream (or of the device) reports it.
int hostcann_launch(const HostcannLaunch* launch, void* stream);

// A launch that cannot even be built (a bad pointer argument, say): keeps `code` and `why` as
// the stream's pending error exactly as a refusal of hostcann_launch would. Returns `code`.
int hostcann_refuse_launch(const char* kernel, int code, const char* why, void* stream);

// Device address -> address the kernel may use. 0 and *host set; or an aclError, *host NULL and
// a sentence in `why` (may be NULL) when [device, device + bytes) is not inside one live
// allocation. An address that already is a kernel-side one comes back unchanged. bytes 0 asks
// only whether `device` lies in a live allocation.
int hostcann_translate(const void* device, size_t bytes, void** host, char* why, size_t why_size);

// How many bytes of the live allocation remain from `device` (either kind of address) on; 0
// when it is not inside one. Lets a kernel check a GlobalTensor's extent without a guess.
size_t hostcann_bytes_from(const void* device);

// The blocks of a launch run on as many threads as there are processors, and on more when some wait
// for others: whoever waits is known here, so every block gets to run, and a wait that nothing can
// end is reported.

// Adds one to the launch's counter `key`.
void hostcann_signal(uint64_t key);

// Waits until the counter is at least `count`; with `take` it is then lowered by that. 0; or
// HOSTCANN_FAULT_VECTOR_CORE_TIMEOUT and a sentence when the wait can never end; or
// HOSTCANN_ABANDONED when another block has failed.
#define HOSTCANN_ABANDONED (-1)
int hostcann_await(uint64_t key, uint64_t count, int take, char* why, size_t why_size);

// For a block that looks at device memory again and again: lets blocks run that have not started.
void hostcann_poll(void);

// Cores of the emulated chip: no more blocks than that can wait for each other.
uint32_t hostcann_vector_cores(void);

// A write to device memory, for the check at the end of the launch that no two blocks write the
// same bytes between two barriers of all blocks, unless both do so atomically.
void hostcann_note_write(const void* address, size_t bytes, int atomic, const char* file,
                         uint32_t line);
// The calling block has passed a barrier of all blocks, or one of some of them.
void hostcann_note_barrier(int of_all);

#ifdef __cplusplus
}
#endif

#endif  // HOSTCANN_LAUNCH_H
