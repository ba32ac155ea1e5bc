// SPDX-License-Identifier: Apache-2.0
// What an operator library (libopapi.so) needs of the runtime besides hostcann/launch.h, and
// what tells a reader which operators that library has.
#ifndef HOSTCANN_OPERATOR_H
#define HOSTCANN_OPERATOR_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

// Keeps "hostcann: <function>: <why>" for aclGetRecentErrMsg of this thread; returns `code`.
int hostcann_refuse_call(const char* function, int code, const char* why);

// Operator number `index` of libopapi.so: 0 and both strings set; 1 beyond the last.
int hostcann_operator(size_t index, const char** name, const char** family);

#ifdef __cplusplus
}
#endif

#endif  // HOSTCANN_OPERATOR_H
