// SPDX-License-Identifier: Apache-2.0
// Initialisation, versions, attributes, errors and the log.
#include <dlfcn.h>

#include <atomic>
#include <cctype>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <optional>
#include <sstream>
#include <string>

#include "acl/acl_mdl.h"
#include "acl/acl_rt.h"
#include "acl/error_codes/rt_error_codes.h"
#include "config.h"
#include "device.h"
#include "entry.h"
#include "event.h"
#include "hostcann/kernel_types.h"

using namespace hostcann;

namespace {

// One number for every package. From 8.3 on torch_npu relies on the default device, and from 9.0
// on it asks aclrtGetDeviceInfo for the memory's size.
constexpr const char* kCannVersion = HOSTCANN_CANN_VERSION;
constexpr const char* kDriverVersion = "25.2.0";

enum class Lifetime { fresh, initialized, finalized };
std::atomic<Lifetime> lifetime{Lifetime::fresh};

// The one key of the acl configuration that changes what the runtime does.
std::optional<long> default_device_in(const std::string& json) {
  const std::string key = "\"default_device\"";
  size_t at = json.find(key);
  if (at == std::string::npos) return std::nullopt;
  at += key.size();
  while (at < json.size() && (std::isspace(static_cast<unsigned char>(json[at])) != 0 ||
                              json[at] == ':' || json[at] == '"')) {
    ++at;
  }
  if (at == json.size() || std::isdigit(static_cast<unsigned char>(json[at])) == 0) return -1;
  return std::strtol(json.c_str() + at, nullptr, 10);
}

Status read_acl_config(const char* path) {
  if (path == nullptr || *path == '\0') return {};
  std::ifstream file(path);
  std::stringstream text;
  if (!file || !(text << file.rdbuf())) {
    return refuse(ACL_ERROR_INVALID_FILE, "cannot read the configuration file '%s'", path);
  }
  const std::optional<long> device = default_device_in(text.str());
  if (!device) return {};
  if (Status status = check_device(*device); !status.ok()) {
    return refuse(status.code(), "'default_device' in '%s': %s", path, status.why().c_str());
  }
  set_default_device(*device);
  return {};
}

struct SystemOptions {
  std::mutex mutex;
  int64_t value[ACL_OPT_STRONG_CONSISTENCY + 1] = {};

  static SystemOptions& instance() {
    static auto* const only = new SystemOptions;
    return *only;
  }

  Status check(aclSysParamOpt option) const {
    if (option >= ACL_OPT_DETERMINISTIC && option <= ACL_OPT_STRONG_CONSISTENCY) return {};
    return refuse(ACL_ERROR_RT_PARAM_INVALID, "argument 'opt': expected 0, 1 or 2, got %d",
                  static_cast<int>(option));
  }

  Status set(aclSysParamOpt option, int64_t wanted) {
    if (Status status = check(option); !status.ok()) return status;
    std::lock_guard lock(mutex);
    value[option] = wanted;
    return {};
  }

  Status get(aclSysParamOpt option, int64_t* got) {
    if (Status status = check(option); !status.ok()) return status;
    std::lock_guard lock(mutex);
    *got = value[option];
    return {};
  }
};

const char* version_of(aclCANNPackageName package) {
  if (package == ACL_PKG_NAME_DRIVER) return kDriverVersion;
  return package >= ACL_PKG_NAME_CANN && package < ACL_PKG_NAME_DRIVER ? kCannVersion : nullptr;
}

// torch_npu opens the operators by name at the first of them. Where the loader does not look for
// them, because only this library was loaded by its path, they are found all the same once they
// are loaded. They are torch's own kernels: without torch nobody can call them.
void load_operators() {
  if (dlopen("libtorch_cpu.so", RTLD_LAZY | RTLD_NOLOAD) == nullptr) return;
  Dl_info self;
  if (dladdr(&lifetime, &self) == 0) return;
  const std::string folder = std::filesystem::path(self.dli_fname).parent_path();
  for (const char* name : {"libnnopbase.so", "libopapi.so"}) {
    if (dlopen((folder + "/" + name).c_str(), RTLD_LAZY) == nullptr) {
      log_line(LogLevel::error, "the operators were not loaded: %s", dlerror());
    }
  }
}

}  // namespace

HOSTCANN_API aclError aclInit(const char* configPath) {
  HOSTCANN_ENTER();
  HOSTCANN_RETURN_IF_FAILED(config().problem);
  if (lifetime.exchange(Lifetime::initialized) == Lifetime::initialized) {
    return report(__func__, refuse(ACL_ERROR_REPEAT_INITIALIZE,
                                   "aclInit was already called in this process; call it once"));
  }
  log_line(LogLevel::info,
           "version %s, a stand-in for CANN %s on the CPU; devices: %u, named %s; no NPU is used",
           HOSTCANN_VERSION, kCannVersion, config().device_count(), config().soc->name);
  load_operators();
  const Status status = read_acl_config(configPath);
  if (!status.ok()) lifetime.store(Lifetime::fresh);
  return report(__func__, status);
}

HOSTCANN_API aclError aclFinalize() {
  HOSTCANN_ENTER();
  if (lifetime.exchange(Lifetime::finalized) == Lifetime::initialized) return ACL_SUCCESS;
  return report(__func__, refuse(ACL_ERROR_REPEAT_FINALIZE,
                                 "there is nothing to finalise; call aclInit first"));
}

HOSTCANN_API const char* aclGetRecentErrMsg() { return take_sentence(); }

HOSTCANN_API aclError aclrtPeekAtLastError(aclrtLastErrLevel level) {
  return level == ACL_RT_THREAD_LEVEL ? peek_last_error() : ACL_ERROR_RT_PARAM_INVALID;
}

HOSTCANN_API aclError aclrtGetLastError(aclrtLastErrLevel level) {
  return level == ACL_RT_THREAD_LEVEL ? take_last_error() : ACL_ERROR_RT_PARAM_INVALID;
}

HOSTCANN_API aclError aclrtGetVersion(int32_t* majorVersion, int32_t* minorVersion,
                                      int32_t* patchVersion) {
  HOSTCANN_REQUIRE_NOT_NULL(majorVersion);
  HOSTCANN_REQUIRE_NOT_NULL(minorVersion);
  HOSTCANN_REQUIRE_NOT_NULL(patchVersion);
  *majorVersion = ACL_MAJOR_VERSION;
  *minorVersion = ACL_MINOR_VERSION;
  *patchVersion = ACL_PATCH_VERSION;
  HOSTCANN_ENTER();
  return ACL_SUCCESS;
}

HOSTCANN_API aclError aclsysGetCANNVersion(aclCANNPackageName name,
                                           aclCANNPackageVersion* version) {
  HOSTCANN_REQUIRE_NOT_NULL(version);
  std::memset(version, 0, sizeof *version);
  HOSTCANN_ENTER();
  const char* text = version_of(name);
  if (text == nullptr) {
    return report(__func__, refuse(ACL_ERROR_INVALID_PARAM,
                                   "argument 'name': expected a package from 0 to 7, got %d",
                                   static_cast<int>(name)));
  }
  std::strcpy(version->version, text);
  std::sscanf(text, "%63[^.].%63[^.].%63s", version->majorVersion, version->minorVersion,
              version->releaseVersion);
  return ACL_SUCCESS;
}

HOSTCANN_API aclError aclsysGetVersionStr(char* pkgName, char* versionStr) {
  HOSTCANN_REQUIRE_NOT_NULL(pkgName);
  HOSTCANN_REQUIRE_NOT_NULL(versionStr);
  HOSTCANN_ENTER();
  *versionStr = '\0';
  const char* text = std::strcmp(pkgName, "driver") == 0 ? kDriverVersion : kCannVersion;
  std::strcpy(versionStr, text);
  return ACL_SUCCESS;
}

HOSTCANN_API aclError aclGetCannAttributeList(const aclCannAttr** cannAttrList, size_t* num) {
  HOSTCANN_REQUIRE_NOT_NULL(cannAttrList);
  HOSTCANN_REQUIRE_NOT_NULL(num);
  HOSTCANN_ENTER();
  static const aclCannAttr supported[] = {ACL_CANN_ATTR_INF_NAN, ACL_CANN_ATTR_BF16,
                                          ACL_CANN_ATTR_JIT_COMPILE};
  *cannAttrList = supported;
  *num = sizeof supported / sizeof *supported;
  return ACL_SUCCESS;
}

HOSTCANN_API aclError aclGetCannAttribute(aclCannAttr cannAttr, int32_t* value) {
  HOSTCANN_REQUIRE_NOT_NULL(value);
  *value = 0;
  HOSTCANN_ENTER();
  if (cannAttr < ACL_CANN_ATTR_INF_NAN || cannAttr > ACL_CANN_ATTR_JIT_COMPILE) {
    return report(__func__,
                  refuse(ACL_ERROR_INVALID_PARAM, "argument 'cannAttr': expected 0, 1 or 2, got %d",
                         static_cast<int>(cannAttr)));
  }
  *value = 1;
  return ACL_SUCCESS;
}

HOSTCANN_API aclError aclrtSetSysParamOpt(aclSysParamOpt opt, int64_t value) {
  HOSTCANN_ENTER();
  return report(__func__, SystemOptions::instance().set(opt, value));
}

HOSTCANN_API aclError aclrtGetSysParamOpt(aclSysParamOpt opt, int64_t* value) {
  HOSTCANN_REQUIRE_NOT_NULL(value);
  *value = 0;
  HOSTCANN_ENTER();
  return report(__func__, SystemOptions::instance().get(opt, value));
}

// hostcann has no per-context options: all contexts compute with the same CPU.
HOSTCANN_API aclError aclrtCtxSetSysParamOpt(aclSysParamOpt opt, int64_t value) {
  HOSTCANN_ENTER();
  return report(__func__, SystemOptions::instance().set(opt, value));
}

HOSTCANN_API aclError aclrtCtxGetSysParamOpt(aclSysParamOpt opt, int64_t* value) {
  HOSTCANN_REQUIRE_NOT_NULL(value);
  *value = 0;
  HOSTCANN_ENTER();
  return report(__func__, SystemOptions::instance().get(opt, value));
}

HOSTCANN_API aclError aclrtSetDeviceSatMode(aclrtFloatOverflowMode mode) {
  HOSTCANN_ENTER();
  if (mode == ACL_RT_OVERFLOW_MODE_INFNAN) return ACL_SUCCESS;
  return report(__func__,
                refuse(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                       "argument 'mode': expected 1 (infinities and NaN), got %d; saturation is "
                       "not implemented",
                       static_cast<int>(mode)));
}

HOSTCANN_API aclError aclrtGetDeviceSatMode(aclrtFloatOverflowMode* mode) {
  HOSTCANN_REQUIRE_NOT_NULL(mode);
  *mode = ACL_RT_OVERFLOW_MODE_INFNAN;
  HOSTCANN_ENTER();
  return ACL_SUCCESS;
}

// A limit on a device's time says nothing about a CPU's, so none is enforced. A kernel that
// waits for what never comes is found by the kernel headers instead.
HOSTCANN_API aclError aclrtSetOpWaitTimeout(uint32_t timeout) {
  HOSTCANN_ENTER();
  set_wait_timeout(timeout);
  return ACL_SUCCESS;
}

HOSTCANN_API aclError aclrtSetOpExecuteTimeOut(uint32_t /*timeout*/) {
  HOSTCANN_ENTER();
  return ACL_SUCCESS;
}

HOSTCANN_API aclError aclrtSetOpExecuteTimeOutV2(uint64_t timeout, uint64_t* actualTimeout) {
  HOSTCANN_REQUIRE_NOT_NULL(actualTimeout);
  *actualTimeout = timeout;
  HOSTCANN_ENTER();
  return ACL_SUCCESS;
}

HOSTCANN_API void aclAppLog(aclLogLevel logLevel, const char* func, const char* file, uint32_t line,
                            const char* fmt, ...) {
  const LogLevel needed = logLevel >= ACL_ERROR     ? LogLevel::error
                          : logLevel == ACL_WARNING ? LogLevel::warn
                                                    : LogLevel::info;
  if (config().log_level < needed || fmt == nullptr) return;
  char text[2048];
  va_list arguments;
  va_start(arguments, fmt);
  std::vsnprintf(text, sizeof text, fmt, arguments);
  va_end(arguments);
  std::fprintf(stderr, "[acl log %d] %s (%s:%u) %s\n", static_cast<int>(logLevel),
               func == nullptr ? "" : func, file == nullptr ? "" : file, line, text);
}

HOSTCANN_API float aclFloat16ToFloat(aclFloat16 value) {
  half number;
  std::memcpy(&number, &value, sizeof number);
  return static_cast<float>(number);
}

HOSTCANN_API aclFloat16 aclFloatToFloat16(float value) {
  const half number = static_cast<half>(value);
  aclFloat16 bits;
  std::memcpy(&bits, &number, sizeof bits);
  return bits;
}
