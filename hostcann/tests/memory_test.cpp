// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstring>
#include <vector>

#include "runtime_test.h"

namespace {

class MemoryTest : public RuntimeTest {
 protected:
  static std::vector<char> read_back(const void* device, size_t bytes) {
    std::vector<char> host(bytes);
    EXPECT_EQ(aclrtMemcpy(host.data(), bytes, device, bytes, ACL_MEMCPY_DEVICE_TO_HOST),
              ACL_SUCCESS)
        << recent_sentence();
    return host;
  }
};
using MemoryDeathTest = MemoryTest;

const std::vector<char> kText = {'d', 'a', 't', 'a'};

TEST_F(MemoryTest, WhatIsCopiedThereComesBack) {
  void* device = device_memory(4);
  ASSERT_EQ(aclrtMemcpy(device, 4, kText.data(), 4, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
  void* other = device_memory(4);
  ASSERT_EQ(aclrtMemcpy(other, 4, device, 4, ACL_MEMCPY_DEVICE_TO_DEVICE), ACL_SUCCESS);
  EXPECT_EQ(read_back(other, 4), kText);
}

TEST_F(MemoryTest, TheDefaultKindFindsTheDirectionItself) {
  void* device = device_memory(4);
  std::vector<char> host(4);
  ASSERT_EQ(aclrtMemcpy(device, 4, kText.data(), 4, ACL_MEMCPY_DEFAULT), ACL_SUCCESS);
  ASSERT_EQ(aclrtMemcpy(host.data(), 4, device, 4, ACL_MEMCPY_DEFAULT), ACL_SUCCESS);
  EXPECT_EQ(host, kText);
}

TEST_F(MemoryDeathTest, TheHostCannotTouchDeviceMemoryAndIsToldWhatItTouched) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  auto* device = static_cast<volatile char*>(device_memory(64));
  const testing::KilledBySignal died(SIGSEGV);
  EXPECT_EXIT(device[8] = 1, died,
              "hostcann: address 0x[0-9a-f]+ was touched, which is 8 bytes into an allocation of "
              "64 bytes on device 0; the host cannot read or write device memory: copy it");
  EXPECT_EXIT(static_cast<void>(device[0]), died, "0 bytes into an allocation of 64 bytes");
  ASSERT_EQ(aclrtFree(const_cast<char*>(device)), ACL_SUCCESS);
  EXPECT_EXIT(device[8] = 1, died, "8 bytes into a freed allocation of 64 bytes on device 0; keep");
  EXPECT_EXIT(device[1 << 20] = 1, died, "in no allocation of device 0; the host cannot");
}

TEST_F(MemoryDeathTest, AHandlerOfBeforeGetsTheSignalAsWell) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  // The statement runs in a process of its own, before the runtime's first allocation there.
  const auto touch = [] {
    std::signal(SIGSEGV, [](int) { _exit(42); });
    *static_cast<volatile char*>(device_memory(64)) = 1;
  };
  EXPECT_EXIT(touch(), testing::ExitedWithCode(42), "bytes into an allocation of 64 bytes");
}

TEST_F(MemoryDeathTest, AFaultElsewhereGetsNoSentence) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  const auto touch = [] {
    device_memory(64);
    // Not a constant, which the compiler would refuse.
    volatile uintptr_t nowhere = 8;
    std::fprintf(stderr, "before\n");
    *reinterpret_cast<volatile char*>(nowhere) = 1;
  };
  EXPECT_EXIT(touch(), testing::KilledBySignal(SIGSEGV), "^before\n$");
}

TEST_F(MemoryTest, AllocationsAreAlignedAndApart) {
  uintptr_t end_of_last = 0;
  for (size_t bytes : {1, 31, 512, 513, 100000}) {
    const auto begin = reinterpret_cast<uintptr_t>(device_memory(bytes));
    EXPECT_EQ(begin % 512, 0u);
    EXPECT_GE(begin, end_of_last);
    end_of_last = begin + bytes;
  }
}

TEST_F(MemoryTest, MemInfoCountsWhatIsAllocated) {
  size_t free_before = 0, free_after = 0, total = 0;
  ASSERT_EQ(aclrtGetMemInfo(ACL_HBM_MEM, &free_before, &total), ACL_SUCCESS);
  void* device = device_memory(size_t{1} << 20);
  ASSERT_EQ(aclrtGetMemInfo(ACL_HBM_MEM, &free_after, &total), ACL_SUCCESS);
  EXPECT_EQ(free_before - free_after, size_t{1} << 20);
  ASSERT_EQ(aclrtFree(device), ACL_SUCCESS);
  ASSERT_EQ(aclrtGetMemInfo(ACL_HBM_MEM, &free_after, &total), ACL_SUCCESS);
  EXPECT_EQ(free_after, free_before);
  EXPECT_EQ(aclrtGetMemInfo(ACL_DDR_MEM, &free_after, &total), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(total, 0u);
}

TEST_F(MemoryTest, TheWholeDeviceCanBeAllocatedFreedAndAllocatedAgain) {
  size_t free = 0, total = 0;
  ASSERT_EQ(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total), ACL_SUCCESS);
  for (int i = 0; i < 2; ++i) {
    std::vector<void*> parts;
    for (int part = 0; part < 4; ++part) parts.push_back(device_memory(total / 4));
    void* more = nullptr;
    EXPECT_EQ(aclrtMalloc(&more, 1, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_RT_MEMORY_ALLOCATION);
    for (const int part : {1, 3, 0, 2}) EXPECT_EQ(aclrtFree(parts[part]), ACL_SUCCESS);
    ASSERT_EQ(aclrtFree(device_memory(total)), ACL_SUCCESS);
  }
}

TEST_F(MemoryTest, RunningOutOfMemorySaysHowMuchIsLeft) {
  void* used = nullptr;
  ASSERT_EQ(aclrtMalloc(&used, 4096, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  size_t free = 0;
  size_t total = 0;
  ASSERT_EQ(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total), ACL_SUCCESS);
  ASSERT_LT(free, total);
  void* device = &device;
  EXPECT_EQ(aclrtMalloc(&device, size_t{1} << 46, ACL_MEM_MALLOC_HUGE_FIRST),
            ACL_ERROR_RT_MEMORY_ALLOCATION);
  EXPECT_EQ(device, nullptr);
  EXPECT_HAS(recent_sentence(),
             "hostcann: aclrtMalloc: Failed to allocate 70368744177664 bytes on device 0: " +
                 std::to_string(free) + " of " + std::to_string(total) + " bytes are free");
  EXPECT_EQ(aclrtFree(used), ACL_SUCCESS);
}

TEST_F(MemoryTest, AnAllocationThatMakesNoSenseIsRefused) {
  void* device = &device;
  EXPECT_EQ(aclrtMalloc(&device, 0, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(device, nullptr);
  EXPECT_HAS(recent_sentence(), "argument 'size': expected at least 1 byte, got 0");
  device = &device;
  EXPECT_EQ(aclrtMalloc(&device, 1, static_cast<aclrtMemMallocPolicy>(0x8)),
            ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(device, nullptr);
  EXPECT_HAS(recent_sentence(), "argument 'policy': expected an aclrtMemMallocPolicy, got 8");
  EXPECT_EQ(aclrtMallocHost(&device, 0), ACL_ERROR_RT_PARAM_INVALID);
}

TEST_F(MemoryTest, FreedPagesReadAsZeroWhenAllocatedAgain) {
  constexpr size_t kBytes = size_t{1} << 20;
  size_t free = 0, total = 0;
  ASSERT_EQ(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total), ACL_SUCCESS);
  void* device = device_memory(kBytes);
  ASSERT_EQ(aclrtMemset(device, kBytes, 0xff, kBytes), ACL_SUCCESS);
  ASSERT_EQ(aclrtFree(device), ACL_SUCCESS);
  void* all = device_memory(total);
  EXPECT_EQ(read_back(all, kBytes), std::vector<char>(kBytes, 0));
}

// One valid copy; each row changes one thing.
struct CopyFault {
  const char* name;
  aclrtMemcpyKind kind;
  enum { device, host, freed, past_end } to;
  size_t room;
  size_t bytes;
  const char* sentence;
};
class CopyFaultTest : public MemoryTest, public testing::WithParamInterface<CopyFault> {};

TEST_P(CopyFaultTest, IsRefusedWithASentence) {
  const CopyFault& row = GetParam();
  char host[64] = {};
  char source[64] = {};
  char* device = static_cast<char*>(device_memory(64));
  void* freed = device_memory(64);
  ASSERT_EQ(aclrtFree(freed), ACL_SUCCESS);
  ASSERT_EQ(aclrtMemcpy(device, 64, source, 64, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
  void* const targets[] = {device, host, freed, device + 32};
  void* const to = targets[row.to];
  EXPECT_EQ(aclrtMemcpy(to, row.room, source, row.bytes, row.kind), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_HAS(recent_sentence(), row.sentence);
  EXPECT_EQ(aclrtMemcpyAsync(to, row.room, source, row.bytes, row.kind, nullptr),
            ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_HAS(recent_sentence(), row.sentence);
}

INSTANTIATE_TEST_SUITE_P(
    Copy, CopyFaultTest,
    testing::Values(
        CopyFault{"HostTargetOfHostToDevice", ACL_MEMCPY_HOST_TO_DEVICE, CopyFault::host, 64, 64,
                  "argument 'dst': ACL_MEMCPY_HOST_TO_DEVICE expects a device address, got host "
                  "address"},
        CopyFault{"DeviceTargetOfHostToHost", ACL_MEMCPY_HOST_TO_HOST, CopyFault::device, 64, 64,
                  "argument 'dst': ACL_MEMCPY_HOST_TO_HOST expects a host address, got device "
                  "address"},
        CopyFault{"HostSourceOfDeviceToDevice", ACL_MEMCPY_DEVICE_TO_DEVICE, CopyFault::device, 64,
                  64,
                  "argument 'src': ACL_MEMCPY_DEVICE_TO_DEVICE expects a device address, got host"},
        CopyFault{"HostSourceOfDeviceToHost", ACL_MEMCPY_DEVICE_TO_HOST, CopyFault::host, 64, 64,
                  "argument 'src': ACL_MEMCPY_DEVICE_TO_HOST expects a device address, got host"},
        CopyFault{"FreedTarget", ACL_MEMCPY_HOST_TO_DEVICE, CopyFault::freed, 64, 64,
                  "is in an allocation of 64 bytes that was already freed"},
        CopyFault{"PastTheEnd", ACL_MEMCPY_HOST_TO_DEVICE, CopyFault::past_end, 64, 33,
                  "pass the end of its allocation on device 0: 64 bytes were allocated and the "
                  "address is 32 bytes into them"},
        CopyFault{"MoreThanTheTargetHolds", ACL_MEMCPY_HOST_TO_DEVICE, CopyFault::device, 63, 64,
                  "argument 'count': expected at most destMax, which is 63, got 64"},
        CopyFault{"KindThatIsNotImplemented", ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE, CopyFault::device,
                  64, 64, "argument 'kind': expected 0 to 4, 6 or 7, got 5"}),
    [](const auto& row) { return row.param.name; });

TEST_F(MemoryTest, FreeingWhatCannotBeFreedIsRefused) {
  char* device = static_cast<char*>(device_memory(1024));
  int local = 0;
  EXPECT_EQ(aclrtFree(device + 32), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_HAS(recent_sentence(), "is 32 bytes inside an allocation; free its start");
  EXPECT_EQ(aclrtFree(&local), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_HAS(recent_sentence(), "is not a device address");
  EXPECT_EQ(aclrtFree(nullptr), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtFree(device), ACL_SUCCESS);
  EXPECT_EQ(aclrtFree(device), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_HAS(recent_sentence(), "that was already freed");
}

TEST_F(MemoryTest, FreeingPinnedMemoryTwiceIsRefused) {
  void* pinned = pinned_memory(64);
  int local = 0;
  EXPECT_EQ(aclrtFreeHost(&local), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtFreeHost(pinned), ACL_SUCCESS);
  EXPECT_EQ(aclrtFreeHost(pinned), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_HAS(recent_sentence(), "was not returned by aclrtMallocHost, or was already");
}

TEST_F(MemoryTest, RegisteredHostMemoryIsPinnedUntilItIsUnregistered) {
  std::vector<char> memory(8192);
  aclrtPtrAttributes attributes{};
  ASSERT_EQ(aclrtHostRegisterV2(memory.data(), 8192, ACL_HOST_REG_PINNED), ACL_SUCCESS);
  ASSERT_EQ(aclrtPointerGetAttributes(memory.data() + 8191, &attributes), ACL_SUCCESS);
  EXPECT_EQ(attributes.location.type, ACL_MEM_LOCATION_TYPE_HOST);
  EXPECT_EQ(aclrtHostRegisterV2(memory.data() + 4096, 1, ACL_HOST_REG_PINNED),
            ACL_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
  ASSERT_EQ(aclrtHostUnregister(memory.data()), ACL_SUCCESS);
  ASSERT_EQ(aclrtPointerGetAttributes(memory.data(), &attributes), ACL_SUCCESS);
  EXPECT_EQ(attributes.location.type, ACL_MEM_LOCATION_TYPE_UNREGISTERED);
  EXPECT_EQ(aclrtHostUnregister(memory.data()), ACL_ERROR_HOST_MEMORY_NOT_REGISTERED);
  EXPECT_EQ(aclrtHostRegisterV2(memory.data(), 8192, ACL_HOST_REG_MAPPED),
            ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
}

TEST_F(MemoryTest, PointerAttributesTellDevicePinnedAndPageable) {
  aclrtPtrAttributes attributes{};
  ASSERT_EQ(aclrtPointerGetAttributes(device_memory(64), &attributes), ACL_SUCCESS);
  EXPECT_EQ(attributes.location.type, ACL_MEM_LOCATION_TYPE_DEVICE);
  ASSERT_EQ(aclrtPointerGetAttributes(pinned_memory(64), &attributes), ACL_SUCCESS);
  EXPECT_EQ(attributes.location.type, ACL_MEM_LOCATION_TYPE_HOST);
  ASSERT_EQ(aclrtPointerGetAttributes(&attributes, &attributes), ACL_SUCCESS);
  EXPECT_EQ(attributes.location.type, ACL_MEM_LOCATION_TYPE_UNREGISTERED);
}

TEST_F(MemoryTest, AnAsyncCopyOfPinnedMemoryReturnsBeforeItRuns) {
  const aclrtStream stream = make_stream();
  char* pinned = static_cast<char*>(pinned_memory(4));
  std::memcpy(pinned, "old ", 4);
  void* device = device_memory(4);
  Gate gate;
  ASSERT_EQ(aclrtLaunchHostFunc(stream, &Gate::host_function, &gate), ACL_SUCCESS);
  ASSERT_EQ(aclrtMemcpyAsync(device, 4, pinned, 4, ACL_MEMCPY_HOST_TO_DEVICE, stream), ACL_SUCCESS);
  std::memcpy(pinned, kText.data(), 4);
  gate.open();
  ASSERT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
  EXPECT_EQ(read_back(device, 4), kText);
}

TEST_F(MemoryTest, AnAsyncCopyOfPageableMemoryIsDoneWhenItReturns) {
  const aclrtStream stream = make_stream();
  void* device = device_memory(4);
  for (int i = 0; i < 200; ++i) {
    std::vector<char> pageable(4, static_cast<char>(i));
    ASSERT_EQ(aclrtMemcpyAsync(device, 4, pageable.data(), 4, ACL_MEMCPY_HOST_TO_DEVICE, stream),
              ACL_SUCCESS);
    ASSERT_EQ(read_back(device, 4), pageable);
  }
}

TEST_F(MemoryTest, AnAsyncFillKeepsItsPlaceInTheStream) {
  const aclrtStream stream = make_stream();
  void* device = device_memory(4);
  Gate gate;
  ASSERT_EQ(aclrtLaunchHostFunc(stream, &Gate::host_function, &gate), ACL_SUCCESS);
  ASSERT_EQ(aclrtMemsetAsync(device, 4, 'x', 4, stream), ACL_SUCCESS);
  EXPECT_EQ(read_back(device, 4), std::vector<char>(4, 0));
  gate.open();
  ASSERT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
  EXPECT_EQ(read_back(device, 4), std::vector<char>(4, 'x'));
  EXPECT_EQ(aclrtMemsetAsync(device, 4, 'x', 5, stream), ACL_ERROR_RT_PARAM_INVALID);
}

TEST_F(MemoryTest, ACopyOfMemoryFreedBeforeItsTurnIsAFaultOfTheStream) {
  const aclrtStream stream = make_stream();
  char* pinned = static_cast<char*>(pinned_memory(64));
  void* device = device_memory(64);
  Gate gate;
  ASSERT_EQ(aclrtLaunchHostFunc(stream, &Gate::host_function, &gate), ACL_SUCCESS);
  ASSERT_EQ(aclrtMemcpyAsync(device, 64, pinned, 64, ACL_MEMCPY_HOST_TO_DEVICE, stream),
            ACL_SUCCESS);
  ASSERT_EQ(aclrtFree(device), ACL_SUCCESS);
  gate.open();
  EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_ERROR_RT_SYS_DMA);
  EXPECT_HAS(recent_sentence(), "a copy was accepted, but cannot run: argument 'dst': address");
}

class BatchTest : public MemoryTest {
 protected:
  void SetUp() override {
    MemoryTest::SetUp();
    to = {device_memory(4), device_memory(4), host.data()};
    from = {const_cast<char*>(kText.data()), pinned_memory(4), device_memory(4)};
    rooms = bytes = {4, 4, 4};
    std::memcpy(from[1], "pin ", 4);
    ASSERT_EQ(aclrtMemset(from[2], 4, 'x', 4), ACL_SUCCESS);
    const aclrtMemLocation on_device{0, ACL_MEM_LOCATION_TYPE_DEVICE};
    const aclrtMemLocation on_host{0, ACL_MEM_LOCATION_TYPE_HOST};
    attributes = {{on_device, on_host, {}}, {on_host, on_device, {}}};
    starts = {0, 2};
  }
  aclError copy() {
    return aclrtMemcpyBatch(to.data(), rooms.data(), from.data(), bytes.data(), to.size(),
                            attributes.data(), starts.data(), starts.size(), &fail_index);
  }
  aclError copy_async(aclrtStream stream) {
    return aclrtMemcpyBatchAsync(to.data(), rooms.data(), from.data(), bytes.data(), to.size(),
                                 attributes.data(), starts.data(), starts.size(), &fail_index,
                                 stream);
  }
  void expect_copied() {
    EXPECT_EQ(fail_index, SIZE_MAX);
    EXPECT_EQ(read_back(to[0], 4), kText);
    EXPECT_EQ(read_back(to[1], 4), (std::vector<char>{'p', 'i', 'n', ' '}));
    EXPECT_EQ(host, std::vector<char>(4, 'x'));
  }

  std::vector<char> host = std::vector<char>(4);
  std::vector<void*> to, from;
  std::vector<size_t> rooms, bytes, starts;
  std::vector<aclrtMemcpyBatchAttr> attributes;
  size_t fail_index = 0;
};

TEST_F(BatchTest, EveryCopyIsMade) {
  ASSERT_EQ(copy(), ACL_SUCCESS) << recent_sentence();
  expect_copied();
}

TEST_F(BatchTest, EveryCopyIsMadeByTheStream) {
  const aclrtStream stream = make_stream();
  ASSERT_EQ(copy_async(stream), ACL_SUCCESS) << recent_sentence();
  ASSERT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
  expect_copied();
}

TEST_F(BatchTest, TheCopyThatCannotBeMadeIsNamedAndNoneIs) {
  rooms[1] = 3;
  EXPECT_EQ(copy(), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(fail_index, 1u);
  EXPECT_HAS(recent_sentence(), "copy 1 of 3: argument 'count': expected at most destMax");
  EXPECT_EQ(read_back(to[0], 4), std::vector<char>(4, 0));
}

TEST_F(BatchTest, AnAttributeThatIsNotTrueIsRefused) {
  starts[1] = 1;
  EXPECT_EQ(copy(), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(fail_index, 1u);
  EXPECT_HAS(recent_sentence(), "the attribute says host memory, but the address is of a device's");
  starts[1] = 3;
  EXPECT_EQ(copy(), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(fail_index, SIZE_MAX);
  EXPECT_HAS(recent_sentence(), "expected 0 first, then growing numbers below 3, got 3 at 1");
}

TEST_F(MemoryTest, MappingHostMemoryToADeviceIsRefused) {
  std::vector<char> memory(4096);
  void* device = &device;
  EXPECT_EQ(aclrtHostRegister(memory.data(), 4096, ACL_HOST_REGISTER_MAPPED, &device),
            ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
  EXPECT_EQ(device, nullptr);
  EXPECT_HAS(recent_sentence(), "host memory is not mapped to a device here");
}

TEST_F(MemoryTest, CopiesBetweenDevicesNeedPeerAccess) {
  void* on_first = device_memory(4);
  ASSERT_EQ(aclrtMemcpy(on_first, 4, kText.data(), 4, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
  ASSERT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
  void* on_second = device_memory(4);
  EXPECT_EQ(aclrtMemcpy(on_second, 4, on_first, 4, ACL_MEMCPY_DEVICE_TO_DEVICE),
            ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_HAS(recent_sentence(), "a copy from device 0 to device 1 needs peer access");
  int32_t possible = 0;
  ASSERT_EQ(aclrtDeviceCanAccessPeer(&possible, 1, 0), ACL_SUCCESS);
  EXPECT_EQ(possible, 1);
  ASSERT_EQ(aclrtDeviceEnablePeerAccess(0, 0), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemcpy(on_second, 4, on_first, 4, ACL_MEMCPY_DEVICE_TO_DEVICE), ACL_SUCCESS);
  EXPECT_EQ(read_back(on_second, 4), kText);
}

}  // namespace
