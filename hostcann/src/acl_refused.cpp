// SPDX-License-Identifier: Apache-2.0
// What torch_npu links or is told to expect, but hostcann does not implement. Each refuses with its
// own name and leaves its out-parameters empty. Other names that torch_npu only looks up are absent
// instead, so that it says itself which function it missed.
#include "acl/acl_mdl.h"
#include "acl/acl_rt.h"
#include "acl/error_codes/rt_error_codes.h"
#include "entry.h"

namespace {

template <typename... Out>
aclError refuse_call(const char* function, const char* advice, Out*... outs) {
  ((outs == nullptr ? void() : void(*outs = Out())), ...);
  return hostcann::report(function, hostcann::refuse(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                                                     "is not implemented; %s", advice));
}

constexpr const char* kNoBinaries =
    "device binaries cannot run on a CPU, compile the kernel with hostcann's bisheng";
constexpr const char* kNoSharing = "share the data through host memory";
constexpr const char* kNoDump = "copy the tensor to the CPU and save it there";

}  // namespace

// HOSTCANN_REFUSE(name, (parameters as in the header), advice, out-parameters…)
#define HOSTCANN_REFUSE(name, parameters, ...)                   \
  HOSTCANN_API aclError name parameters {                        \
    const aclError refused = refuse_call(__func__, __VA_ARGS__); \
    HOSTCANN_ENTER();                                            \
    return refused;                                              \
  }

HOSTCANN_REFUSE(aclmdlInitDump, (), kNoDump)
HOSTCANN_REFUSE(aclmdlSetDump, (const char*), kNoDump)
HOSTCANN_REFUSE(aclmdlFinalizeDump, (), kNoDump)
HOSTCANN_REFUSE(aclrtBinaryLoadFromData,
                (const void*, size_t, const aclrtBinaryLoadOptions*, aclrtBinHandle* handle),
                kNoBinaries, handle)
HOSTCANN_REFUSE(aclrtBinaryGetFunction,
                (const aclrtBinHandle, const char*, aclrtFuncHandle* handle), kNoBinaries, handle)
HOSTCANN_REFUSE(aclrtGetFunctionAddr, (aclrtFuncHandle, void** cube, void** vector), kNoBinaries,
                cube, vector)
HOSTCANN_REFUSE(aclrtLaunchKernelWithHostArgs,
                (aclrtFuncHandle, uint32_t, aclrtStream, aclrtLaunchKernelCfg*, void*, size_t,
                 aclrtPlaceHolderInfo*, size_t),
                kNoBinaries)
HOSTCANN_REFUSE(aclrtGetHardwareSyncAddr, (void** address), kNoBinaries, address)
HOSTCANN_REFUSE(aclrtGetDeviceUtilizationRate, (int32_t, aclrtUtilizationInfo* info),
                "measure the process on the CPU instead", info)
HOSTCANN_REFUSE(aclrtMemExportToShareableHandle,
                (aclrtDrvMemHandle, aclrtMemHandleType, uint64_t, uint64_t* handle), kNoSharing,
                handle)
HOSTCANN_REFUSE(aclrtMemImportFromShareableHandle, (uint64_t, int32_t, aclrtDrvMemHandle* handle),
                kNoSharing, handle)
HOSTCANN_REFUSE(aclrtMemSetPidToShareableHandle, (uint64_t, int32_t*, size_t), kNoSharing)

// No header of the wheel declares these four of the older runtime interface.
HOSTCANN_REFUSE(rtDevBinaryRegister, (const void*, void** handle), kNoBinaries, handle)
HOSTCANN_REFUSE(rtFunctionRegister, (void*, const void*, const char*, const void*, uint32_t),
                kNoBinaries)
HOSTCANN_REFUSE(rtKernelLaunch, (const void*, uint32_t, void*, uint32_t, void*, void*), kNoBinaries)
HOSTCANN_REFUSE(rtGetC2cCtrlAddr, (uint64_t* address, uint32_t* length), kNoBinaries, address,
                length)
