// SPDX-License-Identifier: Apache-2.0
#include "hostcann/launch.h"

#include <atomic>
#include <cstdio>
#include <thread>
#include <vector>

#include "runtime_test.h"

namespace {

// A kernel as the compiler's headers would build one, with what the tests want to know of it.
struct Kernel {
  std::atomic<int> runs{0};
  std::atomic<int> destroys{0};
  uint32_t fails_at = UINT32_MAX;
  int32_t code = HOSTCANN_FAULT_VECTOR_CORE_EXCEPTION;
  Gate* gate = nullptr;

  static int run(void* closure, uint32_t block, uint32_t, HostcannKernelFault* fault) {
    auto* self = static_cast<Kernel*>(closure);
    if (self->gate != nullptr) self->gate->pass();
    ++self->runs;
    if (block != self->fails_at) return 0;
    fault->code = self->code;
    std::snprintf(fault->message, sizeof fault->message, "expected 32 bytes, got 31");
    return 1;
  }
  static void destroy(void* closure) { ++static_cast<Kernel*>(closure)->destroys; }

  HostcannLaunch launch(uint32_t blocks) {
    return {HOSTCANN_LAUNCH_ABI, "probe", blocks, this, &run, &destroy};
  }
};

class LaunchTest : public RuntimeTest {};

TEST_F(LaunchTest, EveryBlockRunsOnceAndTheClosureIsDestroyedOnce) {
  const aclrtStream stream = make_stream();
  Kernel kernel;
  const HostcannLaunch launch = kernel.launch(40);
  ASSERT_EQ(hostcann_launch(&launch, stream), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
  EXPECT_EQ(kernel.runs, 40);
  EXPECT_EQ(kernel.destroys, 1);
}

// Blocks that wait for each other: the closure is what they do.
struct Meeting {
  std::atomic<int> passed{0};
  std::atomic<int> timeouts{0};
  uint32_t absent = UINT32_MAX;  // this block does not come

  static int run(void* closure, uint32_t block, uint32_t blocks, HostcannKernelFault* fault) {
    auto* self = static_cast<Meeting*>(closure);
    if (block == self->absent) return 0;
    hostcann_signal(1);
    fault->code = hostcann_await(1, blocks, 0, fault->message, sizeof fault->message);
    if (fault->code == HOSTCANN_FAULT_VECTOR_CORE_TIMEOUT) ++self->timeouts;
    if (fault->code == 0) ++self->passed;
    return fault->code;
  }

  HostcannLaunch launch(uint32_t blocks) {
    return {HOSTCANN_LAUNCH_ABI, "meeting", blocks, this, &run, nullptr};
  }
};

TEST_F(LaunchTest, BlocksThatWaitForEachOtherAllGetToRun) {
  const aclrtStream stream = make_stream();
  Meeting meeting;
  const HostcannLaunch launch = meeting.launch(48);
  ASSERT_EQ(hostcann_launch(&launch, stream), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
  EXPECT_EQ(meeting.passed, 48);
}

TEST_F(LaunchTest, AWaitThatNobodyCanEndIsATimeout) {
  const aclrtStream stream = make_stream();
  Meeting meeting;
  meeting.absent = 3;
  const HostcannLaunch launch = meeting.launch(8);
  ASSERT_EQ(hostcann_launch(&launch, stream), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_ERROR_RT_VECTOR_CORE_TIMEOUT);
  EXPECT_HAS(recent_sentence(),
             "kernel 'meeting', block 0 of 8: expected another block to end this "
             "wait, got all 8 blocks waiting or ended, 7 of 8 signals here");
  EXPECT_EQ(meeting.passed, 0);
  EXPECT_EQ(meeting.timeouts, 7);
}

TEST_F(LaunchTest, ALaunchReturnsBeforeTheKernelHasRun) {
  const aclrtStream stream = make_stream();
  Gate gate;
  Kernel kernel;
  kernel.gate = &gate;
  const HostcannLaunch launch = kernel.launch(1);
  ASSERT_EQ(hostcann_launch(&launch, stream), ACL_SUCCESS);
  EXPECT_EQ(kernel.runs, 0);
  gate.open();
  ASSERT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
  EXPECT_EQ(kernel.runs, 1);
}

TEST_F(LaunchTest, ARefusedLaunchIsReportedByTheNextSynchronizeOnce) {
  struct Row {
    uint32_t blocks;
    const char* sentence;
  };
  const aclrtStream stream = make_stream();
  for (const Row& row : {Row{0, "number of blocks: expected 1 to 65535, got 0"},
                         Row{65536, "number of blocks: expected 1 to 65535, got 65536"}}) {
    Kernel kernel;
    const HostcannLaunch launch = kernel.launch(row.blocks);
    EXPECT_EQ(hostcann_launch(&launch, stream), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT_HAS(recent_sentence(), row.sentence);
    EXPECT_EQ(kernel.destroys, 1);
    EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT_HAS(recent_sentence(),
               std::string("launch of kernel 'probe' was refused: ") + row.sentence);
    EXPECT_EQ(kernel.runs, 0);
    EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
  }
  Kernel valid;
  const HostcannLaunch launch = valid.launch(65535);
  EXPECT_EQ(hostcann_launch(&launch, stream), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
  EXPECT_EQ(valid.runs, 65535);
}

TEST_F(LaunchTest, AStreamOfAnotherDeviceIsRefused) {
  const aclrtStream stream = make_stream();
  ASSERT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
  Kernel kernel;
  const HostcannLaunch launch = kernel.launch(1);
  EXPECT_EQ(hostcann_launch(&launch, stream), ACL_ERROR_RT_STREAM_CONTEXT);
  EXPECT_HAS(recent_sentence(), "of device 0, but the thread's current device is 1");
  EXPECT_EQ(kernel.destroys, 1);
  EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_ERROR_RT_STREAM_CONTEXT);
}

TEST_F(LaunchTest, AnUnknownStreamIsReportedByTheDevice) {
  int not_a_stream = 0;
  Kernel kernel;
  const HostcannLaunch launch = kernel.launch(1);
  EXPECT_EQ(hostcann_launch(&launch, &not_a_stream), ACL_ERROR_RT_STREAM_CONTEXT);
  EXPECT_EQ(kernel.destroys, 1);
  EXPECT_EQ(aclrtSynchronizeDevice(), ACL_ERROR_RT_STREAM_CONTEXT);
  EXPECT_HAS(recent_sentence(), "launch of kernel 'probe' was refused");
  EXPECT_EQ(aclrtSynchronizeDevice(), ACL_SUCCESS);
}

TEST_F(LaunchTest, AnUnknownAbiIsRefused) {
  Kernel kernel;
  HostcannLaunch launch = kernel.launch(1);
  launch.abi = HOSTCANN_LAUNCH_ABI + 1;
  EXPECT_EQ(hostcann_launch(&launch, nullptr), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_HAS(recent_sentence(), "rebuild the kernel with this hostcann");
}

TEST_F(LaunchTest, ARefusalTheCallerFoundIsKeptAsWell) {
  const aclrtStream stream = make_stream();
  EXPECT_EQ(hostcann_refuse_launch("probe", 107000, "argument 2: freed", stream), 107000);
  EXPECT_EQ(aclrtSynchronizeStream(stream), 107000);
  EXPECT_EQ(recent_sentence(),
            "hostcann: aclrtSynchronizeStream: launch of kernel 'probe' was refused: argument 2: "
            "freed");
}

TEST_F(LaunchTest, AFaultStopsTheStreamAndStays) {
  const aclrtStream stream = make_stream();
  Kernel broken;
  broken.fails_at = 2;
  Kernel after;
  const HostcannLaunch first = broken.launch(8);
  const HostcannLaunch second = after.launch(1);
  Gate gate;
  ASSERT_EQ(aclrtLaunchHostFunc(stream, &Gate::host_function, &gate), ACL_SUCCESS);
  ASSERT_EQ(hostcann_launch(&first, stream), ACL_SUCCESS);
  ASSERT_EQ(hostcann_launch(&second, stream), ACL_SUCCESS);
  gate.open();
  EXPECT_EQ(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL), ACL_SUCCESS);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_ERROR_RT_VECTOR_CORE_EXCEPTION);
    EXPECT_EQ(recent_sentence(),
              "hostcann: aclrtSynchronizeStream: kernel 'probe', block 2 of 8: expected 32 bytes, "
              "got 31");
  }
  EXPECT_EQ(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL), ACL_ERROR_RT_VECTOR_CORE_EXCEPTION);
  EXPECT_EQ(aclrtGetLastError(ACL_RT_THREAD_LEVEL), ACL_ERROR_RT_VECTOR_CORE_EXCEPTION);
  EXPECT_EQ(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL), ACL_SUCCESS);
  EXPECT_GE(broken.runs, 3);  // other threads may have started the next ones
  EXPECT_EQ(after.runs, 0);
  EXPECT_EQ(broken.destroys, 1);
  EXPECT_EQ(after.destroys, 1);

  Kernel late;
  const HostcannLaunch third = late.launch(1);
  EXPECT_EQ(hostcann_launch(&third, stream), ACL_ERROR_RT_VECTOR_CORE_EXCEPTION);
  EXPECT_HAS(recent_sentence(), "has stopped and takes no more tasks");
  EXPECT_EQ(late.destroys, 1);
  EXPECT_EQ(aclrtSynchronizeDevice(), ACL_ERROR_RT_VECTOR_CORE_EXCEPTION);
}

TEST_F(LaunchTest, AFaultLeavesOtherStreamsAlone) {
  const aclrtStream stream = make_stream();
  const aclrtStream other = make_stream();
  Kernel broken;
  broken.fails_at = 0;
  Kernel fine;
  const HostcannLaunch first = broken.launch(1);
  const HostcannLaunch second = fine.launch(1);
  ASSERT_EQ(hostcann_launch(&first, stream), ACL_SUCCESS);
  EXPECT_NE(aclrtSynchronizeStream(stream), ACL_SUCCESS);
  ASSERT_EQ(hostcann_launch(&second, other), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(other), ACL_SUCCESS);
  EXPECT_EQ(fine.runs, 1);
}

TEST_F(LaunchTest, StopOnFailureStopsEveryStreamOfTheContext) {
  const aclrtStream stream = make_stream();
  const aclrtStream other = make_stream();
  ASSERT_EQ(aclrtSetStreamFailureMode(stream, ACL_STOP_ON_FAILURE), ACL_SUCCESS);
  Kernel broken;
  broken.fails_at = 0;
  broken.code = HOSTCANN_FAULT_AICORE_EXCEPTION;
  const HostcannLaunch launch = broken.launch(1);
  ASSERT_EQ(hostcann_launch(&launch, stream), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_ERROR_RT_AICORE_EXCEPTION);
  EXPECT_EQ(aclrtSynchronizeStream(other), ACL_ERROR_RT_AICORE_EXCEPTION);
  ASSERT_EQ(aclrtResetDeviceForce(0), ACL_SUCCESS);
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(make_stream()), ACL_SUCCESS);
}

TEST_F(LaunchTest, AFaultOnOneDeviceLeavesOthersAloneAndAResetClearsIt) {
  Kernel broken;
  broken.fails_at = 0;
  broken.code = HOSTCANN_FAULT_AICORE_EXCEPTION;
  const HostcannLaunch launch = broken.launch(1);
  ASSERT_EQ(hostcann_launch(&launch, nullptr), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeDevice(), ACL_ERROR_RT_AICORE_EXCEPTION);
  EXPECT_HAS(recent_sentence(), "kernel 'probe', block 0 of 1");
  ASSERT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
  Kernel fine;
  const HostcannLaunch elsewhere = fine.launch(1);
  ASSERT_EQ(hostcann_launch(&elsewhere, nullptr), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeDevice(), ACL_SUCCESS);
  EXPECT_EQ(fine.runs, 1);
  ASSERT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  Kernel again;
  const HostcannLaunch after = again.launch(1);
  ASSERT_EQ(hostcann_launch(&after, nullptr), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeDevice(), ACL_SUCCESS) << recent_sentence();
  EXPECT_EQ(again.runs, 1);
}

TEST_F(LaunchTest, ContinueOnFailureRunsTheRestAndReportsOnce) {
  const aclrtStream stream = make_stream();
  ASSERT_EQ(aclrtSetStreamFailureMode(stream, ACL_CONTINUE_ON_FAILURE), ACL_SUCCESS);
  Kernel broken;
  broken.fails_at = 0;
  Kernel after;
  const HostcannLaunch first = broken.launch(4);
  const HostcannLaunch second = after.launch(1);
  ASSERT_EQ(hostcann_launch(&first, stream), ACL_SUCCESS);
  ASSERT_EQ(hostcann_launch(&second, stream), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_ERROR_RT_VECTOR_CORE_EXCEPTION);
  EXPECT_EQ(after.runs, 1);
  EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
}

TEST_F(LaunchTest, TheSentenceIsForTheThreadThatSynchronizes) {
  const aclrtStream stream = make_stream();
  Kernel broken;
  broken.fails_at = 0;
  const HostcannLaunch launch = broken.launch(1);
  ASSERT_EQ(hostcann_launch(&launch, stream), ACL_SUCCESS);
  std::string elsewhere;
  std::thread([&] {
    aclrtSynchronizeStream(stream);
    elsewhere = recent_sentence();
  }).join();
  EXPECT_HAS(elsewhere, "expected 32 bytes, got 31");
  EXPECT_EQ(recent_sentence(), "");
}

class TranslateTest : public RuntimeTest {
 protected:
  static std::string why(const void* address, size_t bytes) {
    void* host = this_is_never_null;
    char text[512] = "";
    const int code = hostcann_translate(address, bytes, &host, text, sizeof text);
    EXPECT_EQ(code == ACL_SUCCESS, text[0] == '\0');
    EXPECT_EQ(code == ACL_SUCCESS, host != nullptr);
    return text;
  }
  static inline char storage;
  static inline void* const this_is_never_null = &storage;
};

TEST_F(TranslateTest, GivesAnAddressTheHostMayUse) {
  char* device = static_cast<char*>(device_memory(100));
  void* host = nullptr;
  ASSERT_EQ(hostcann_translate(device + 4, 96, &host, nullptr, 0), ACL_SUCCESS);
  static_cast<char*>(host)[0] = 'q';
  char read = 0;
  ASSERT_EQ(aclrtMemcpy(&read, 1, device + 4, 1, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
  EXPECT_EQ(read, 'q');

  void* again = nullptr;
  ASSERT_EQ(hostcann_translate(host, 96, &again, nullptr, 0), ACL_SUCCESS);
  EXPECT_EQ(again, host);
}

TEST_F(TranslateTest, AllowsWhole32ByteBlocksAndNoMore) {
  char* device = static_cast<char*>(device_memory(100));
  EXPECT_EQ(why(device, 128), "");
  EXPECT_HAS(why(device, 129), "pass the end of its allocation");
  EXPECT_HAS(why(device + 128, 0), "pass the end of its allocation");
  EXPECT_EQ(hostcann_bytes_from(device + 28), 100u);
  EXPECT_EQ(hostcann_bytes_from(&storage), 0u);
}

TEST_F(TranslateTest, RefusesHostAndFreedMemory) {
  void* device = device_memory(64);
  EXPECT_HAS(why(&storage, 1), "is not a device address");
  EXPECT_HAS(why(pinned_memory(64), 1), "is not a device address");
  ASSERT_EQ(aclrtFree(device), ACL_SUCCESS);
  EXPECT_HAS(why(device, 1), "already freed");
}

TEST_F(TranslateTest, RefusesMemoryOfAnotherDeviceWithoutPeerAccess) {
  void* device = device_memory(64);
  ASSERT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
  EXPECT_HAS(why(device, 1), "is memory of device 0, but the kernel runs on device 1");
  ASSERT_EQ(aclrtDeviceEnablePeerAccess(0, 0), ACL_SUCCESS);
  EXPECT_EQ(why(device, 1), "");
}

}  // namespace
