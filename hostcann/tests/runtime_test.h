// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>
#include <string>

#include "acl/acl_rt.h"
#include "acl/error_codes/rt_error_codes.h"

// Holds a stream's worker until it is opened, so that a test decides what is still running. The
// stream must be synchronised before the gate goes.
class Gate {
 public:
  ~Gate() { open(); }

  static void host_function(void* gate) { static_cast<Gate*>(gate)->pass(); }

  void pass() {
    std::unique_lock lock(mutex_);
    reached_ = true;
    changed_.notify_all();
    changed_.wait(lock, [&] { return open_; });
  }
  void wait_until_reached() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return reached_; });
  }
  void open() {
    std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool reached_ = false;
  bool open_ = false;
};

inline std::string recent_sentence() {
  const char* text = aclGetRecentErrMsg();
  return text == nullptr ? "" : text;
}

#define EXPECT_HAS(text, part) EXPECT_PRED_FORMAT2(testing::IsSubstring, std::string(part), text)

class RuntimeTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS) << recent_sentence(); }

  static aclrtStream make_stream() {
    aclrtStream stream = nullptr;
    EXPECT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS) << recent_sentence();
    return stream;
  }

  static void* device_memory(size_t bytes) {
    void* address = nullptr;
    EXPECT_EQ(aclrtMalloc(&address, bytes, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS)
        << recent_sentence();
    return address;
  }

  static void* pinned_memory(size_t bytes) {
    void* address = nullptr;
    EXPECT_EQ(aclrtMallocHost(&address, bytes), ACL_SUCCESS) << recent_sentence();
    return address;
  }
};
