// SPDX-License-Identifier: Apache-2.0
#include "runtime_test.h"

namespace {

class ResourceTest : public RuntimeTest {
 protected:
  static uint32_t of_device() {
    uint32_t value = 0;
    EXPECT_EQ(aclrtGetDeviceResLimit(0, ACL_RT_DEV_RES_CUBE_CORE, &value), ACL_SUCCESS);
    return value;
  }
  static uint32_t of_stream(aclrtStream stream) {
    uint32_t value = 0;
    EXPECT_EQ(aclrtGetStreamResLimit(stream, ACL_RT_DEV_RES_CUBE_CORE, &value), ACL_SUCCESS);
    return value;
  }
  static uint32_t of_thread() {
    uint32_t value = 0;
    EXPECT_EQ(aclrtGetResInCurrentThread(ACL_RT_DEV_RES_CUBE_CORE, &value), ACL_SUCCESS);
    return value;
  }
};

TEST_F(ResourceTest, AStreamWithoutALimitHasItsDevices) {
  const aclrtStream stream = make_stream();
  EXPECT_EQ(of_device(), 24u);
  ASSERT_EQ(aclrtSetDeviceResLimit(0, ACL_RT_DEV_RES_CUBE_CORE, 12), ACL_SUCCESS);
  EXPECT_EQ(of_stream(stream), 12u);
  ASSERT_EQ(aclrtSetStreamResLimit(stream, ACL_RT_DEV_RES_CUBE_CORE, 6), ACL_SUCCESS);
  EXPECT_EQ(of_stream(stream), 6u);
  EXPECT_EQ(of_device(), 12u);
  ASSERT_EQ(aclrtResetStreamResLimit(stream), ACL_SUCCESS);
  EXPECT_EQ(of_stream(stream), 12u);
  ASSERT_EQ(aclrtResetDeviceResLimit(0), ACL_SUCCESS);
  EXPECT_EQ(of_stream(stream), 24u);
}

TEST_F(ResourceTest, AThreadHasTheLimitOfTheStreamItUses) {
  const aclrtStream stream = make_stream();
  ASSERT_EQ(aclrtSetStreamResLimit(stream, ACL_RT_DEV_RES_CUBE_CORE, 6), ACL_SUCCESS);
  EXPECT_EQ(of_thread(), 24u);
  ASSERT_EQ(aclrtUseStreamResInCurrentThread(stream), ACL_SUCCESS);
  EXPECT_EQ(of_thread(), 6u);
  ASSERT_EQ(aclrtUnuseStreamResInCurrentThread(stream), ACL_SUCCESS);
  EXPECT_EQ(of_thread(), 24u);
}

TEST_F(ResourceTest, ALimitTheChipDoesNotHaveIsRefused) {
  EXPECT_EQ(aclrtSetDeviceResLimit(0, ACL_RT_DEV_RES_CUBE_CORE, 25), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_HAS(recent_sentence(), "argument 'value': expected 1 to 24 cores, got 25");
  EXPECT_EQ(aclrtSetDeviceResLimit(0, ACL_RT_DEV_RES_CUBE_CORE, 0), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtSetDeviceResLimit(0, static_cast<aclrtDevResLimitType>(7), 1),
            ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(of_device(), 24u);
}

}  // namespace
