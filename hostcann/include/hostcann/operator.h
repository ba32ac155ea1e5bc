// SPDX-License-Identifier: Apache-2.0
// What an operator library (libopapi.so) needs of the runtime besides hostcann/launch.h, and
// what tells a reader which operators that library has.
#ifndef HOSTCANN_OPERATOR_H
#define HOSTCANN_OPERATOR_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Keeps "hostcann: <function>: <why>" for aclGetRecentErrMsg of this thread; returns `code`.
int hostcann_refuse_call(const char* function, int code, const char* why);

// A tensor in its storage format (an aclFormat). `data` is an address of the host.
typedef struct HostcannStored {
  int format;
  const int64_t* dims;
  size_t rank;
  const int64_t* storage_dims;
  size_t storage_rank;
  size_t item_bytes;
  void* data;
} HostcannStored;

// Copies a tensor from one format into another, or only checks that it could while an address
// is NULL. 0; or an aclError and a sentence in `why`.
int hostcann_cast_format(const HostcannStored* from, const HostcannStored* to, char* why,
                         size_t why_size);

// Operator number `index` of libopapi.so: 0 and the strings set; 1 beyond the last. `arguments`
// are the kinds of what GetWorkspaceSize takes, such as "tensor scalar tensor", without the two
// addresses at the end.
int hostcann_operator(size_t index, const char** name, const char** family, const char** arguments);

#ifdef __cplusplus
}
#endif

#endif  // HOSTCANN_OPERATOR_H
