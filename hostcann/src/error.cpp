// SPDX-License-Identifier: Apache-2.0
#include "error.h"

#include <pthread.h>

#include <cstdarg>
#include <cstdio>
#include <cstring>

#include "config.h"
#include "device.h"

namespace hostcann {
namespace {

constexpr size_t kSentenceBytes = 2048;

// Trivially destructible on purpose: torch_npu asks for sentences while the process exits,
// after the thread's non-trivial thread_local objects are gone.
struct ThreadErrors {
  char kept[kSentenceBytes];
  char handed_out[kSentenceBytes];
  bool has_sentence;
  aclError last;
};
thread_local ThreadErrors thread_errors;

// torch_npu raises an error of its queue thread once, at some later call, and from then on drops
// what is queued without one. The device keeps the error, so that no synchronise passes stale
// results as good.
void keep_for_synchronise(const char* function, const Status& status) {
  char name[16] = "";
  pthread_getname_np(pthread_self(), name, sizeof name);
  if (std::strcmp(name, "acl_thread") != 0) return;
  if (const auto context = context_if_any()) {
    context->stop(refuse(status.code(),
                         "%s: %s; torch_npu drops every operation queued after it, so start the "
                         "process again",
                         function, status.why().c_str()));
  }
}

}  // namespace

Status refuse(aclError code, const char* format, ...) {
  char text[kSentenceBytes];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  return Status(code, text);
}

aclError report(const char* function, const Status& status) {
  if (status.ok()) return ACL_SUCCESS;
  std::snprintf(thread_errors.kept, sizeof thread_errors.kept, "hostcann: %s: %s", function,
                status.why().c_str());
  thread_errors.has_sentence = true;
  log_line(LogLevel::error, "%s (%d)", thread_errors.kept + std::strlen("hostcann: "),
           status.code());
  keep_for_synchronise(function, status);
  return status.code();
}

aclError report_fault(const char* function, const Status& status) {
  if (!status.ok()) thread_errors.last = status.code();
  return report(function, status);
}

const char* take_sentence() {
  if (!thread_errors.has_sentence) return nullptr;
  thread_errors.has_sentence = false;
  std::memcpy(thread_errors.handed_out, thread_errors.kept, sizeof thread_errors.kept);
  return thread_errors.handed_out;
}

aclError peek_last_error() { return thread_errors.last; }

aclError take_last_error() { return std::exchange(thread_errors.last, ACL_SUCCESS); }

}  // namespace hostcann
