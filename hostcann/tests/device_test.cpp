// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <fstream>
#include <thread>

#include "runtime_test.h"

namespace {

class DeviceTest : public testing::Test {
 protected:
  static int32_t current_device() {
    int32_t device = -2;
    aclrtGetDevice(&device);
    return device;
  }
};

TEST_F(DeviceTest, TheCurrentDeviceBelongsToTheThread) {
  ASSERT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
  int32_t unset = 0;
  int32_t set = -1;
  std::thread([&] {
    unset = current_device();
    aclrtSetDevice(0);
    set = current_device();
  }).join();
  EXPECT_EQ(unset, -1);
  EXPECT_EQ(set, 0);
  EXPECT_EQ(current_device(), 1);
}

TEST_F(DeviceTest, WorkWithoutADeviceIsRefused) {
  int32_t device = 7;
  EXPECT_EQ(aclrtGetDevice(&device), ACL_ERROR_RT_CONTEXT_NULL);
  EXPECT_EQ(device, -1);
  aclrtStream stream = &device;
  EXPECT_EQ(aclrtCreateStream(&stream), ACL_ERROR_RT_CONTEXT_NULL);
  EXPECT_EQ(stream, nullptr);
  EXPECT_EQ(recent_sentence(),
            "hostcann: aclrtCreateStream: no device is set in this thread; call aclrtSetDevice "
            "first");
  EXPECT_EQ(aclrtSynchronizeDevice(), ACL_ERROR_RT_CONTEXT_NULL);
}

TEST_F(DeviceTest, TheDefaultDeviceOfTheConfigurationAppliesToThreadsWithoutOne) {
  const std::string path = testing::TempDir() + "hostcann_acl.json";
  std::ofstream(path) << R"({"defaultDevice": {"default_device": "1"}})";
  ASSERT_EQ(aclInit(path.c_str()), ACL_SUCCESS) << recent_sentence();
  EXPECT_EQ(current_device(), -1);
  aclrtStream stream = nullptr;
  EXPECT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS) << recent_sentence();
  EXPECT_EQ(current_device(), 1);
  EXPECT_EQ(aclInit(nullptr), ACL_ERROR_REPEAT_INITIALIZE);
  EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
  EXPECT_EQ(aclFinalize(), ACL_ERROR_REPEAT_FINALIZE);
}

TEST_F(DeviceTest, AConfigurationThatMakesNoSenseIsRefused) {
  const std::string path = testing::TempDir() + "hostcann_bad_acl.json";
  std::ofstream(path) << R"({"defaultDevice": {"default_device": "9"}})";
  EXPECT_EQ(aclInit(path.c_str()), ACL_ERROR_RT_INVALID_DEVICEID);
  EXPECT_HAS(recent_sentence(), "device: expected a number from 0 to 1, got 9");
  EXPECT_EQ(aclInit("/nowhere/acl.json"), ACL_ERROR_INVALID_FILE);
  EXPECT_EQ(aclInit(nullptr), ACL_SUCCESS);
}

TEST_F(DeviceTest, ADeviceThatDoesNotExistIsRefused) {
  for (const int32_t device : {-1, 2}) {
    EXPECT_EQ(aclrtSetDevice(device), ACL_ERROR_RT_INVALID_DEVICEID);
    EXPECT_HAS(recent_sentence(),
               "device: expected a number from 0 to 1, got " + std::to_string(device));
  }
  uint32_t count = 0;
  EXPECT_EQ(aclrtGetDeviceCount(&count), ACL_SUCCESS);
  EXPECT_EQ(count, 2u);
}

TEST_F(DeviceTest, AContextImpliesItsDevice) {
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  aclrtContext first = nullptr;
  ASSERT_EQ(aclrtGetCurrentContext(&first), ACL_SUCCESS);
  ASSERT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
  int32_t elsewhere = -1;
  std::thread([&] {
    aclrtSetCurrentContext(first);
    elsewhere = current_device();
  }).join();
  EXPECT_EQ(elsewhere, 0);
  ASSERT_EQ(aclrtSetCurrentContext(first), ACL_SUCCESS);
  EXPECT_EQ(current_device(), 0);
}

TEST_F(DeviceTest, ThreadsShareADevicesDefaultContext) {
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  aclrtContext here = nullptr;
  aclrtContext there = nullptr;
  ASSERT_EQ(aclrtGetCurrentContext(&here), ACL_SUCCESS);
  std::thread([&] {
    aclrtSetDevice(0);
    aclrtGetCurrentContext(&there);
  }).join();
  EXPECT_EQ(here, there);
}

TEST_F(DeviceTest, ACreatedContextHasStreamsOfItsOwn) {
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  aclrtStream primary = nullptr;
  ASSERT_EQ(aclrtCreateStream(&primary), ACL_SUCCESS);
  aclrtContext context = nullptr;
  ASSERT_EQ(aclrtCreateContext(&context, 0), ACL_SUCCESS);
  EXPECT_EQ(aclrtLaunchHostFunc(primary, [](void*) {}, nullptr), ACL_ERROR_RT_STREAM_CONTEXT);
  EXPECT_HAS(recent_sentence(), "belongs to another context of device 0");
  ASSERT_EQ(aclrtDestroyContext(context), ACL_SUCCESS);
  EXPECT_EQ(aclrtSetCurrentContext(context), ACL_ERROR_RT_CONTEXT_NULL);
}

TEST_F(DeviceTest, ResetIsCountedAndTheLastOneReleasesEverything) {
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  void* memory = nullptr;
  ASSERT_EQ(aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  ASSERT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(current_device(), 0);
  ASSERT_EQ(aclrtMemset(memory, 64, 1, 64), ACL_SUCCESS);
  ASSERT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(current_device(), -1);
  EXPECT_EQ(aclrtMemset(memory, 64, 1, 64), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtResetDevice(0), ACL_ERROR_RT_INVALID_DEVICEID);
}

TEST_F(DeviceTest, ItSaysWhatItIs) {
  EXPECT_STREQ(aclrtGetSocName(), "Ascend910B1");
  aclrtUuid uuid{};
  ASSERT_EQ(aclrtDeviceGetUuid(1, &uuid), ACL_SUCCESS);
  EXPECT_EQ(std::memcmp(uuid.bytes, "hostcann device\x01", 16), 0);
  int64_t value = -1;
  ASSERT_EQ(aclGetDeviceCapability(0, ACL_DEVICE_INFO_VECTOR_CORE_NUM, &value), ACL_SUCCESS);
  EXPECT_EQ(value, 48);
  ASSERT_EQ(aclrtGetDeviceInfo(0, ACL_DEV_ATTR_TOTAL_GLOBAL_MEM_SIZE, &value), ACL_SUCCESS);
  EXPECT_EQ(value, int64_t{32} << 30);
  EXPECT_EQ(aclrtGetDeviceInfo(0, ACL_DEV_ATTR_SMP_ID, &value), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
  EXPECT_EQ(value, 0);
  int32_t inf_nan = 0;
  ASSERT_EQ(aclGetCannAttribute(ACL_CANN_ATTR_INF_NAN, &inf_nan), ACL_SUCCESS);
  EXPECT_EQ(inf_nan, 1);
}

TEST_F(DeviceTest, EveryPackageReportsOneVersion) {
  for (int package = ACL_PKG_NAME_CANN; package < ACL_PKG_NAME_DRIVER; ++package) {
    aclCANNPackageVersion version;
    ASSERT_EQ(aclsysGetCANNVersion(static_cast<aclCANNPackageName>(package), &version),
              ACL_SUCCESS);
    EXPECT_STREQ(version.version, "9.1.0");
    EXPECT_STREQ(version.majorVersion, "9");
    EXPECT_STREQ(version.minorVersion, "1");
    EXPECT_STREQ(version.releaseVersion, "0");
  }
}

TEST_F(DeviceTest, ASentenceIsReadOnce) {
  ASSERT_NE(aclrtSetDevice(99), ACL_SUCCESS);
  EXPECT_HAS(recent_sentence(), "hostcann: aclrtSetDevice: ");
  EXPECT_EQ(aclGetRecentErrMsg(), nullptr);
}

}  // namespace
