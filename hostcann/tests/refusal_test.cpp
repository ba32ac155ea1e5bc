// SPDX-License-Identifier: Apache-2.0
// What is not implemented says so under its own name and writes its out-parameters.
#include <functional>

#include "runtime_test.h"

extern "C" {
int rtKernelLaunch(const void*, uint32_t, void*, uint32_t, void*, void*);
int rtGetC2cCtrlAddr(uint64_t*, uint32_t*);
}

namespace {

struct Refusal {
  const char* function;
  std::function<aclError()> call;
};
void PrintTo(const Refusal& refusal, std::ostream* out) { *out << refusal.function; }

class RefusalTest : public testing::TestWithParam<Refusal> {};

void* handle = &handle;
void* other_handle = &other_handle;
uint64_t number = 1;
uint32_t small_number = 1;

TEST_P(RefusalTest, NamesItselfAndLeavesNothingUnwritten) {
  handle = &handle;
  other_handle = &other_handle;
  number = small_number = 1;
  EXPECT_EQ(GetParam().call(), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
  EXPECT_HAS(recent_sentence(),
             std::string("hostcann: ") + GetParam().function + ": is not implemented; ");
}

INSTANTIATE_TEST_SUITE_P(
    Unimplemented, RefusalTest,
    testing::Values(Refusal{"aclrtGetFunctionAddr",
                            [] {
                              const aclError code =
                                  aclrtGetFunctionAddr(nullptr, &handle, &other_handle);
                              EXPECT_EQ(handle, nullptr);
                              EXPECT_EQ(other_handle, nullptr);
                              return code;
                            }},
                    Refusal{"aclrtMemExportToShareableHandle",
                            [] {
                              const aclError code = aclrtMemExportToShareableHandle(
                                  nullptr, ACL_MEM_HANDLE_TYPE_NONE, 0, &number);
                              EXPECT_EQ(number, 0u);
                              return code;
                            }},
                    Refusal{"rtGetC2cCtrlAddr",
                            [] {
                              const aclError code = rtGetC2cCtrlAddr(&number, &small_number);
                              EXPECT_EQ(number, 0u);
                              EXPECT_EQ(small_number, 0u);
                              return code;
                            }},
                    Refusal{
                        "rtKernelLaunch",
                        [] { return rtKernelLaunch(nullptr, 1, nullptr, 0, nullptr, nullptr); }},
                    Refusal{"aclrtGetHardwareSyncAddr",
                            [] {
                              const aclError code = aclrtGetHardwareSyncAddr(&handle);
                              EXPECT_EQ(handle, nullptr);
                              return code;
                            }},
                    Refusal{"aclrtLaunchKernelWithHostArgs",
                            [] {
                              return aclrtLaunchKernelWithHostArgs(nullptr, 1, nullptr, nullptr,
                                                                   nullptr, 0, nullptr, 0);
                            }},
                    Refusal{"aclrtGetDeviceUtilizationRate",
                            [] {
                              aclrtUtilizationInfo info{1, 1, 1, 1, nullptr};
                              const aclError code = aclrtGetDeviceUtilizationRate(0, &info);
                              EXPECT_EQ(info.cubeUtilization, 0);
                              return code;
                            }}),
    [](const auto& row) { return row.param.function; });

}  // namespace
