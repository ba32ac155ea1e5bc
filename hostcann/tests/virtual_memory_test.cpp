// SPDX-License-Identifier: Apache-2.0
#include <csignal>
#include <cstring>
#include <string>
#include <vector>

#include "hostcann/launch.h"
#include "runtime_test.h"

namespace {

constexpr size_t kPiece = size_t{2} << 20;

class VirtualMemoryTest : public RuntimeTest {
 protected:
  static aclrtPhysicalMemProp properties(uint32_t device = 0) {
    aclrtPhysicalMemProp wanted{};
    wanted.handleType = ACL_MEM_HANDLE_TYPE_NONE;
    wanted.allocationType = ACL_MEM_ALLOCATION_TYPE_PINNED;
    wanted.memAttr = ACL_HBM_MEM_HUGE;
    wanted.location = {device, ACL_MEM_LOCATION_TYPE_DEVICE};
    return wanted;
  }
  static char* reserve(size_t bytes) {
    void* address = nullptr;
    EXPECT_EQ(aclrtReserveMemAddress(&address, bytes, 0, nullptr, 1), ACL_SUCCESS)
        << recent_sentence();
    return static_cast<char*>(address);
  }
  static aclrtDrvMemHandle physical(size_t bytes, uint32_t device = 0) {
    const aclrtPhysicalMemProp wanted = properties(device);
    aclrtDrvMemHandle handle = nullptr;
    EXPECT_EQ(aclrtMallocPhysical(&handle, bytes, &wanted, 0), ACL_SUCCESS) << recent_sentence();
    return handle;
  }
  static size_t free_bytes() {
    size_t free = 0, total = 0;
    EXPECT_EQ(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total), ACL_SUCCESS);
    return free;
  }
};
using VirtualMemoryDeathTest = VirtualMemoryTest;

TEST_F(VirtualMemoryTest, PiecesSideBySideAreOneRange) {
  char* address = reserve(4 * kPiece);
  for (size_t i : {1, 0}) {
    ASSERT_EQ(aclrtMapMem(address + i * kPiece, kPiece, 0, physical(kPiece), 0), ACL_SUCCESS);
  }
  const std::string text = "across the border";
  char* const border = address + kPiece - 5;
  ASSERT_EQ(aclrtMemcpy(border, text.size(), text.data(), text.size(), ACL_MEMCPY_HOST_TO_DEVICE),
            ACL_SUCCESS)
      << recent_sentence();
  std::string back(text.size(), '?');
  ASSERT_EQ(aclrtMemcpy(back.data(), back.size(), border, back.size(), ACL_MEMCPY_DEVICE_TO_HOST),
            ACL_SUCCESS);
  EXPECT_EQ(back, text);
  EXPECT_EQ(hostcann_bytes_from(border), kPiece + 5);
  void* host = nullptr;
  ASSERT_EQ(hostcann_translate(border, text.size(), &host, nullptr, 0), ACL_SUCCESS);
  EXPECT_EQ(std::memcmp(host, text.data(), text.size()), 0);
  void* again = nullptr;
  ASSERT_EQ(hostcann_translate(host, text.size(), &again, nullptr, 0), ACL_SUCCESS);
  EXPECT_EQ(again, host);
}

TEST_F(VirtualMemoryTest, ReservedMemoryComesInWholePages) {
  char* address = reserve(512);
  EXPECT_EQ(aclrtMapMem(address, kPiece, 0, physical(kPiece), 0), ACL_SUCCESS);
}

TEST_F(VirtualMemoryTest, WhatIsNotMappedCannotBeUsed) {
  char* address = reserve(2 * kPiece);
  char byte = 0;
  EXPECT_EQ(aclrtMemcpy(address, 1, &byte, 1, ACL_MEMCPY_HOST_TO_DEVICE),
            ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_HAS(recent_sentence(), "is reserved but not mapped");
  ASSERT_EQ(aclrtMapMem(address, kPiece, 0, physical(kPiece), 0), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemset(address + kPiece - 1, 2, 0, 2), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_HAS(recent_sentence(), "pass the end of what is mapped there: 1 bytes are left");
  EXPECT_EQ(aclrtMemset(address + kPiece - 1, 1, 0, 1), ACL_SUCCESS);
  ASSERT_EQ(aclrtUnmapMem(address), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemset(address, 1, 0, 1), ACL_ERROR_RT_PARAM_INVALID);
}

TEST_F(VirtualMemoryTest, MemoryInfoCountsPhysicalMemoryUntilItIsUnmappedAndFreed) {
  const size_t before = free_bytes();
  char* address = reserve(8 * kPiece);
  EXPECT_EQ(free_bytes(), before);
  const aclrtDrvMemHandle handle = physical(3 * kPiece);
  EXPECT_EQ(free_bytes(), before - 3 * kPiece);
  ASSERT_EQ(aclrtMapMem(address, kPiece, 2 * kPiece, handle, 0), ACL_SUCCESS);
  ASSERT_EQ(aclrtFreePhysical(handle), ACL_SUCCESS);
  EXPECT_EQ(free_bytes(), before - 3 * kPiece);
  EXPECT_EQ(aclrtMemset(address, kPiece, 1, kPiece), ACL_SUCCESS);
  ASSERT_EQ(aclrtUnmapMem(address), ACL_SUCCESS);
  EXPECT_EQ(free_bytes(), before);
  EXPECT_EQ(aclrtReleaseMemAddress(address), ACL_SUCCESS);
}

TEST_F(VirtualMemoryTest, EveryWrongCallHasItsSentence) {
  char* address = reserve(2 * kPiece);
  const aclrtDrvMemHandle handle = physical(kPiece);
  ASSERT_EQ(aclrtMapMem(address, kPiece, 0, handle, 0), ACL_SUCCESS);
  const auto expect = [](aclError code, const char* sentence) {
    EXPECT_EQ(code, ACL_ERROR_RT_PARAM_INVALID);
    EXPECT_HAS(recent_sentence(), sentence);
  };
  expect(aclrtMapMem(address, kPiece, 0, handle, 0), "is already mapped");
  expect(aclrtMapMem(address + kPiece, kPiece, kPiece, handle, 0),
         "pass the end of the physical memory, which has 2097152 bytes");
  expect(aclrtMapMem(address + 2 * kPiece, kPiece, 0, handle, 0), "are not inside reserved memory");
  expect(aclrtMapMem(address + kPiece, 5, 0, handle, 0),
         "argument 'size': expected a multiple of 2097152 bytes, got 5");
  expect(aclrtMapMem(address + kPiece, kPiece, 0, &address, 0), "is no live physical memory");
  expect(aclrtUnmapMem(address + kPiece), "is not the start of a mapped range");
  expect(aclrtReleaseMemAddress(address + kPiece), "is not the start of reserved memory");
  expect(aclrtReleaseMemAddress(address), "1 ranges are still mapped");
  expect(aclrtFree(address), "is virtual memory");
  ASSERT_EQ(aclrtFreePhysical(handle), ACL_SUCCESS);
  expect(aclrtFreePhysical(handle), "is no live physical memory");
  ASSERT_EQ(aclrtUnmapMem(address), ACL_SUCCESS);
  EXPECT_EQ(aclrtReleaseMemAddress(address), ACL_SUCCESS);
}

TEST_F(VirtualMemoryTest, AWrongRequestIsRefusedAndLeavesNothing) {
  aclrtPhysicalMemProp wanted = properties();
  aclrtDrvMemHandle handle = &wanted;
  EXPECT_EQ(aclrtMallocPhysical(&handle, 1, &wanted, 0), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(handle, nullptr);
  EXPECT_EQ(aclrtMallocPhysical(&handle, size_t{1} << 46, &wanted, 0),
            ACL_ERROR_RT_MEMORY_ALLOCATION);
  EXPECT_HAS(recent_sentence(), "Failed to allocate 70368744177664 bytes on device 0");
  wanted.location.id = 99;
  EXPECT_EQ(aclrtMallocPhysical(&handle, kPiece, &wanted, 0), ACL_ERROR_RT_INVALID_DEVICEID);
  wanted = properties();
  wanted.handleType = ACL_MEM_HANDLE_TYPE_POSIX;
  EXPECT_EQ(aclrtMallocPhysical(&handle, kPiece, &wanted, 0), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
  void* address = &wanted;
  EXPECT_EQ(aclrtReserveMemAddress(&address, kPiece, 0, &wanted, 1), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(address, nullptr);
  EXPECT_EQ(aclrtReserveMemAddress(&address, 0, 0, nullptr, 1), ACL_ERROR_RT_PARAM_INVALID);
}

TEST_F(VirtualMemoryTest, TheGranularityIsWhatTheOtherCallsExpect) {
  aclrtPhysicalMemProp wanted = properties();
  size_t granularity = 0;
  ASSERT_EQ(
      aclrtMemGetAllocationGranularity(&wanted, ACL_RT_MEM_ALLOC_GRANULARITY_MINIMUM, &granularity),
      ACL_SUCCESS);
  EXPECT_EQ(granularity, kPiece);
}

TEST_F(VirtualMemoryTest, ResettingTheDeviceUnmapsItsMemory) {
  const size_t before = free_bytes();
  char* address = reserve(kPiece);
  ASSERT_EQ(aclrtMapMem(address, kPiece, 0, physical(kPiece), 0), ACL_SUCCESS);
  ASSERT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(free_bytes(), before);
  EXPECT_EQ(aclrtMemset(address, 1, 0, 1), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtReleaseMemAddress(address), ACL_SUCCESS);
}

TEST_F(VirtualMemoryDeathTest, TheHostCannotTouchIt) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  auto* address = static_cast<volatile char*>(reserve(kPiece));
  ASSERT_EQ(aclrtMapMem(const_cast<char*>(address), kPiece, 0, physical(kPiece), 0), ACL_SUCCESS);
  EXPECT_EXIT(address[7] = 1, testing::KilledBySignal(SIGSEGV),
              "was touched, which is 7 bytes into an allocation of 2097152 bytes on device 0");
}

}  // namespace
