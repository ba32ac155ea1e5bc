// SPDX-License-Identifier: Apache-2.0
#include "entry.h"

#include <dlfcn.h>

#include <cstring>
#include <deque>
#include <string>

#include "acl/error_codes/rt_error_codes.h"
#include "config.h"

namespace hostcann {

std::atomic<bool> calls_are_watched{true};

namespace {

// They hand over what is kept, write a line, report to a profiler that is off or serve a kernel
// that runs.
constexpr const char* kCannotFail[] = {
    "aclAppLog",
    "aclGetRecentErrMsg",
    "aclrtGetLastError",
    "aclrtPeekAtLastError",
    "hostcann_refuse_call",
    "hostcann_refuse_launch",
    "MsprofGetHashId",
    "MsprofRegisterCallback",
    "MsprofReportAdditionalInfo",
    "MsprofReportApi",
    "MsprofReportCompactInfo",
    "MsprofSysCycleTime",
    "aclDestroyTensorDesc",
    "aclGetDataBufferAddr",
    "aclGetDataBufferSizeV2",
    "aclGetTensorDescFormat",
    "aclGetTensorDescName",
    "aclGetTensorDescNumDims",
    "aclGetTensorDescType",
    "aclSetTensorDescName",
    "aclopDestroyAttr",
    "hostcann_await",
    "hostcann_bytes_from",
    "hostcann_note_barrier",
    "hostcann_note_write",
    "hostcann_poll",
    "hostcann_signal",
    "hostcann_translate",
    "hostcann_vector_cores",
};

struct Countdown {
  explicit Countdown(const PlannedFault& planned) : fault(planned), left(planned.call) {}
  const PlannedFault& fault;
  std::atomic<uint64_t> left;
};

std::deque<Countdown>& countdowns() {
  static auto* const all = [] {
    auto* made = new std::deque<Countdown>;
    for (const PlannedFault& planned : config().faults) made->emplace_back(planned);
    return made;
  }();
  return *all;
}

// What torch_npu and programs written for CANN know how to handle.
aclError code_of(const char* function) {
  const std::string name = function;
  return name.find("Malloc") != std::string::npos ? ACL_ERROR_RT_MEMORY_ALLOCATION
                                                  : ACL_ERROR_RT_INTERNAL_ERROR;
}

}  // namespace

aclError enter_watched(const char* function) {
  const Config& wanted = config();
  if (wanted.log_level < LogLevel::trace && wanted.faults.empty()) {
    calls_are_watched.store(false);
    return ACL_SUCCESS;
  }
  log_line(LogLevel::trace, "%s", function);
  // Every entry counts every call of its function, also one that another entry makes fail.
  const PlannedFault* planned = nullptr;
  for (Countdown& one : countdowns()) {
    if (one.fault.function == function && one.left.fetch_sub(1) == 1) planned = &one.fault;
  }
  if (planned == nullptr) return ACL_SUCCESS;
  const aclError code = code_of(function);
  return report(function,
                refuse(code, "%scall %llu fails because HOSTCANN_FAULT says so",
                       code == ACL_ERROR_RT_MEMORY_ALLOCATION ? "Failed to allocate: " : "",
                       static_cast<unsigned long long>(planned->call)));
}

Status check_can_fail(const char* function) {
  for (const char* name : kCannotFail) {
    if (std::strcmp(name, function) == 0) {
      return refuse(ACL_ERROR_INVALID_PARAM, "%s reports no errors", function);
    }
  }
  Dl_info own{};
  Dl_info named{};
  if (dladdr(reinterpret_cast<void*>(&check_can_fail), &own) != 0) {
    void* const library = dlopen(own.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    void* const symbol = library == nullptr ? nullptr : dlsym(library, function);
    if (symbol != nullptr && dladdr(symbol, &named) != 0 && named.dli_fbase == own.dli_fbase) {
      return {};
    }
  }
  return refuse(ACL_ERROR_INVALID_PARAM, "hostcann's runtime has no function '%s'", function);
}

}  // namespace hostcann
