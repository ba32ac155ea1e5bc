// SPDX-License-Identifier: Apache-2.0
#include <pthread.h>

#include <thread>

#include "acl/acl_op.h"
#include "acl/acl_op_compiler.h"
#include "runtime_test.h"

namespace {

class OperatorTest : public RuntimeTest {
 protected:
  static aclError run(const char* type, const aclTensorDesc* desc, aclrtStream stream) {
    const aclTensorDesc* descs[] = {desc};
    return aclopCompileAndExecute(type, 1, descs, nullptr, 0, nullptr, nullptr, nullptr,
                                  ACL_ENGINE_SYS, ACL_COMPILE_SYS, nullptr, stream);
  }
};

TEST_F(OperatorTest, AnOperatorIsRefusedByName) {
  const aclrtStream stream = make_stream();
  const int64_t dims[] = {2};
  aclTensorDesc* desc = aclCreateTensorDesc(ACL_FLOAT, 1, dims, ACL_FORMAT_ND);
  EXPECT_EQ(run("Add", desc, stream), ACL_ERROR_OP_NOT_FOUND);
  EXPECT_HAS(recent_sentence(),
             "hostcann: aclopCompileAndExecute: operator 'Add' is not implemented");
  EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
  aclDestroyTensorDesc(desc);
}

TEST_F(OperatorTest, ARefusalOnTorchNpusQueueThreadStopsTheDevice) {
  const aclrtStream stream = make_stream(), other = make_stream();
  const int64_t dims[] = {2};
  aclTensorDesc* desc = aclCreateTensorDesc(ACL_FLOAT, 1, dims, ACL_FORMAT_ND);
  std::thread([&] {
    pthread_setname_np(pthread_self(), "acl_thread");
    aclrtSetDevice(0);
    run("Add", desc, stream);
  }).join();
  EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_ERROR_OP_NOT_FOUND);
  EXPECT_HAS(recent_sentence(), "operator 'Add' is not implemented");
  EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_ERROR_OP_NOT_FOUND);
  EXPECT_EQ(aclrtSynchronizeStream(other), ACL_ERROR_OP_NOT_FOUND);
  aclDestroyTensorDesc(desc);
}

TEST_F(OperatorTest, ADescriptionHoldsWhatItWasGiven) {
  const int64_t dims[] = {8, 2048};
  aclTensorDesc* desc = aclCreateTensorDesc(ACL_BF16, 2, dims, ACL_FORMAT_NCHW);
  EXPECT_EQ(aclGetTensorDescType(desc), ACL_BF16);
  EXPECT_EQ(aclGetTensorDescFormat(desc), ACL_FORMAT_NCHW);
  EXPECT_EQ(aclGetTensorDescNumDims(desc), 2u);
  int64_t size = 0;
  EXPECT_EQ(aclGetTensorDescDimV2(desc, 1, &size), ACL_SUCCESS);
  EXPECT_EQ(size, 2048);
  EXPECT_EQ(aclGetTensorDescDimV2(desc, 2, &size), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(size, 0);
  aclSetTensorDescName(desc, "x1");
  EXPECT_STREQ(aclGetTensorDescName(desc), "x1");
  aclDestroyTensorDesc(desc);
  EXPECT_EQ(aclCreateTensorDesc(ACL_FLOAT, 2, nullptr, ACL_FORMAT_ND), nullptr);
}

TEST_F(OperatorTest, AMissingListOfDescriptionsIsRefused) {
  EXPECT_EQ(aclopCompileAndExecute("Add", 3, nullptr, nullptr, 0, nullptr, nullptr, nullptr,
                                   ACL_ENGINE_SYS, ACL_COMPILE_SYS, nullptr, nullptr),
            ACL_ERROR_INVALID_PARAM);
  EXPECT_HAS(recent_sentence(), "argument 'inputDesc': expected 3 values, got a null pointer");
}

TEST_F(OperatorTest, ACompileOptionIsReadBackAsSet) {
  ASSERT_EQ(aclSetCompileopt(ACL_PRECISION_MODE, "must_keep_origin_dtype"), ACL_SUCCESS);
  const size_t size = aclGetCompileoptSize(ACL_PRECISION_MODE);
  ASSERT_EQ(size, sizeof "must_keep_origin_dtype");
  std::string value(size, '?');
  ASSERT_EQ(aclGetCompileopt(ACL_PRECISION_MODE, value.data(), size), ACL_SUCCESS);
  EXPECT_STREQ(value.c_str(), "must_keep_origin_dtype");
  EXPECT_EQ(aclGetCompileopt(ACL_PRECISION_MODE, value.data(), size - 1), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclGetCompileopt(ACL_DEBUG_DIR, value.data(), size), ACL_ERROR_INVALID_PARAM);
  EXPECT_HAS(recent_sentence(), "compile option 6 has not been set");
}

}  // namespace
