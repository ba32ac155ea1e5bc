// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>

#include "acl/acl_base_rt.h"

#define HOSTCANN_API extern "C" __attribute__((visibility("default")))

namespace hostcann {

// An aclError and, when it is not 0, the sentence that explains it.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(aclError code, std::string why) : code_(code), why_(std::move(why)) {}

  bool ok() const { return code_ == ACL_SUCCESS; }
  aclError code() const { return code_; }
  const std::string& why() const { return why_; }

 private:
  aclError code_ = ACL_SUCCESS;
  std::string why_;
};

[[gnu::format(printf, 2, 3)]] Status refuse(aclError code, const char* format, ...);

// Hands a status to the caller of `function`: keeps its sentence for aclGetRecentErrMsg.
aclError report(const char* function, const Status& status);

// As report, for the fault of a task: it is also what aclrtPeekAtLastError returns.
aclError report_fault(const char* function, const Status& status);

// Returns the thread's kept sentence and forgets it; nullptr when there is none.
const char* take_sentence();

aclError peek_last_error();
aclError take_last_error();

}  // namespace hostcann

// Leaves the enclosing ACL function with the code and sentence of a failed Status.
#define HOSTCANN_RETURN_IF_FAILED(expression)                                    \
  do {                                                                           \
    const ::hostcann::Status failed_status = (expression);                       \
    if (!failed_status.ok()) return ::hostcann::report(__func__, failed_status); \
  } while (0)

#define HOSTCANN_REQUIRE_NOT_NULL(pointer)                                                         \
  do {                                                                                             \
    if ((pointer) == nullptr)                                                                      \
      return ::hostcann::report(                                                                   \
          __func__,                                                                                \
          ::hostcann::refuse(ACL_ERROR_RT_PARAM_INVALID,                                           \
                             "argument '%s': expected an address, got a null pointer", #pointer)); \
  } while (0)
