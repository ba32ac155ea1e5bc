// SPDX-License-Identifier: Apache-2.0
#include <dirent.h>

#include <algorithm>
#include <future>
#include <numeric>
#include <thread>
#include <vector>

#include "hostcann/launch.h"
#include "runtime_test.h"

namespace {

class StreamTest : public RuntimeTest {
 protected:
  static aclrtStreamStatus query(aclrtStream stream) {
    aclrtStreamStatus status = ACL_STREAM_STATUS_RESERVED;
    EXPECT_EQ(aclrtStreamQuery(stream, &status), ACL_SUCCESS) << recent_sentence();
    return status;
  }
};

size_t threads_of_this_process() {
  size_t count = 0;
  DIR* tasks = opendir("/proc/self/task");
  while (const dirent* entry = readdir(tasks)) count += entry->d_name[0] != '.' ? 1 : 0;
  closedir(tasks);
  return count;
}

void count_up(void* counter) { ++*static_cast<std::atomic<int>*>(counter); }

TEST_F(StreamTest, TasksOfOneStreamRunInOrder) {
  struct Step {
    std::vector<int>* log;
    int number;
  };
  const aclrtStream stream = make_stream();
  std::vector<int> log;
  std::vector<Step> steps;
  for (int i = 0; i < 2000; ++i) steps.push_back({&log, i});
  const auto append = [](void* step) {
    static_cast<Step*>(step)->log->push_back(static_cast<Step*>(step)->number);
  };
  for (Step& step : steps) ASSERT_EQ(aclrtLaunchHostFunc(stream, append, &step), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
  std::vector<int> expected(2000);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(log, expected);
}

TEST_F(StreamTest, ABlockedStreamDoesNotHoldUpAnother) {
  const aclrtStream blocked = make_stream();
  const aclrtStream other = make_stream();
  Gate gate;
  std::atomic<int> done{0};
  ASSERT_EQ(aclrtLaunchHostFunc(blocked, &Gate::host_function, &gate), ACL_SUCCESS);
  ASSERT_EQ(aclrtLaunchHostFunc(other, &count_up, &done), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(other), ACL_SUCCESS);
  EXPECT_EQ(done, 1);
  EXPECT_EQ(query(blocked), ACL_STREAM_STATUS_NOT_READY);
  gate.open();
  EXPECT_EQ(aclrtSynchronizeStream(blocked), ACL_SUCCESS);
}

TEST_F(StreamTest, QueryIsNotReadyWhileTheLastTaskRuns) {
  const aclrtStream stream = make_stream();
  EXPECT_EQ(query(stream), ACL_STREAM_STATUS_COMPLETE);
  Gate gate;
  ASSERT_EQ(aclrtLaunchHostFunc(stream, &Gate::host_function, &gate), ACL_SUCCESS);
  gate.wait_until_reached();
  EXPECT_EQ(query(stream), ACL_STREAM_STATUS_NOT_READY);
  gate.open();
  ASSERT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
  EXPECT_EQ(query(stream), ACL_STREAM_STATUS_COMPLETE);
}

TEST_F(StreamTest, SynchronizeGivesUpAfterItsTimeout) {
  const aclrtStream stream = make_stream();
  Gate gate;
  ASSERT_EQ(aclrtLaunchHostFunc(stream, &Gate::host_function, &gate), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream, 1), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
  EXPECT_HAS(recent_sentence(), "still had 1 tasks to do after 1 ms");
  EXPECT_EQ(aclrtSynchronizeDeviceWithTimeout(1), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
  gate.open();
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream, -1), ACL_SUCCESS);
}

TEST_F(StreamTest, SynchronizeDeviceWaitsForEveryStream) {
  std::atomic<int> done{0};
  for (int i = 0; i < 8; ++i) {
    ASSERT_EQ(aclrtLaunchHostFunc(make_stream(), &count_up, &done), ACL_SUCCESS);
  }
  ASSERT_EQ(aclrtLaunchHostFunc(nullptr, &count_up, &done), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeDevice(), ACL_SUCCESS);
  EXPECT_EQ(done, 9);
}

// ThreadSanitizer starts a thread of its own beside the first one, before anything is counted.
size_t threads_before_any_stream() {
  std::thread([] {}).join();
  return threads_of_this_process();
}

TEST_F(StreamTest, AStreamHasNoThreadBeforeItsFirstTask) {
  const size_t before = threads_before_any_stream();
  std::vector<aclrtStream> streams;
  for (int i = 0; i < 64; ++i) streams.push_back(make_stream());
  for (const aclrtStream stream : streams) ASSERT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
  EXPECT_EQ(threads_of_this_process(), before);
  Gate gate;
  ASSERT_EQ(aclrtLaunchHostFunc(streams[0], &Gate::host_function, &gate), ACL_SUCCESS);
  gate.wait_until_reached();
  EXPECT_EQ(threads_of_this_process(), before + 1);
  gate.open();
  ASSERT_EQ(aclrtSynchronizeStream(streams[0]), ACL_SUCCESS);
}

TEST_F(StreamTest, AnIdleStreamGivesItsThreadBackAndStartsAnother) {
  const size_t before = threads_before_any_stream();
  const aclrtStream stream = make_stream();
  std::atomic<int> done{0};
  for (int round = 1; round <= 2; ++round) {
    ASSERT_EQ(aclrtLaunchHostFunc(stream, &count_up, &done), ACL_SUCCESS);
    ASSERT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
    EXPECT_EQ(done, round);
    while (threads_of_this_process() > before) std::this_thread::yield();
  }
}

TEST_F(StreamTest, TenThousandStreamsAreUsedAndDestroyed) {
  std::atomic<int> done{0};
  size_t most_threads = 0;
  std::vector<aclrtStream> streams;
  for (int i = 0; i < 10000; ++i) {
    streams.push_back(make_stream());
    if (i % 10 == 0) {
      ASSERT_EQ(aclrtLaunchHostFunc(streams.back(), &count_up, &done), ACL_SUCCESS);
      ASSERT_EQ(aclrtSynchronizeStream(streams.back()), ACL_SUCCESS);
      if (i % 500 == 0) most_threads = std::max(most_threads, threads_of_this_process());
    }
  }
  EXPECT_EQ(done, 1000);
  EXPECT_LT(most_threads, 1000u);
  for (const aclrtStream stream : streams) ASSERT_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
}

TEST_F(StreamTest, EnqueuingOnAStreamFarBehindWaitsForIt) {
  const aclrtStream stream = make_stream();
  Gate gate;
  std::atomic<int> enqueued{0};
  std::atomic<int> done{0};
  ASSERT_EQ(aclrtLaunchHostFunc(stream, &Gate::host_function, &gate), ACL_SUCCESS);
  gate.wait_until_reached();
  auto producer = std::async(std::launch::async, [&] {
    aclrtSetDevice(0);
    for (; enqueued < 3000; ++enqueued) aclrtLaunchHostFunc(stream, &count_up, &done);
  });
  while (enqueued < 1024) std::this_thread::yield();
  EXPECT_EQ(producer.wait_for(std::chrono::milliseconds(20)), std::future_status::timeout);
  EXPECT_EQ(enqueued, 1024);
  gate.open();
  producer.get();
  ASSERT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
  EXPECT_EQ(done, 3000);
}

TEST_F(StreamTest, DestroyWaitsForQueuedWork) {
  const aclrtStream stream = make_stream();
  Gate gate;
  std::atomic<int> done{0};
  ASSERT_EQ(aclrtLaunchHostFunc(stream, &Gate::host_function, &gate), ACL_SUCCESS);
  for (int i = 0; i < 100; ++i) {
    ASSERT_EQ(aclrtLaunchHostFunc(stream, &count_up, &done), ACL_SUCCESS);
  }
  auto destroyed = std::async(std::launch::async, [&] {
    const aclError code = aclrtDestroyStream(stream);
    return std::make_pair(code, done.load());
  });
  gate.wait_until_reached();
  gate.open();
  EXPECT_EQ(destroyed.get(), std::make_pair(ACL_SUCCESS, 100));
}

TEST_F(StreamTest, ForcedDestroyReturnsWhileATaskRunsAndDropsTheRest) {
  struct Dropped {
    std::atomic<int> runs{0};
    std::promise<void> destroyed;
  } dropped;
  const aclrtStream stream = make_stream();
  Gate gate;
  ASSERT_EQ(aclrtLaunchHostFunc(stream, &Gate::host_function, &gate), ACL_SUCCESS);
  HostcannLaunch launch{
      HOSTCANN_LAUNCH_ABI,
      "dropped",
      1,
      &dropped,
      [](void* closure, uint32_t, uint32_t, HostcannKernelFault*) {
        ++static_cast<Dropped*>(closure)->runs;
        return 0;
      },
      [](void* closure) { static_cast<Dropped*>(closure)->destroyed.set_value(); }};
  ASSERT_EQ(hostcann_launch(&launch, stream), ACL_SUCCESS);
  gate.wait_until_reached();
  ASSERT_EQ(aclrtDestroyStreamForce(stream), ACL_SUCCESS);
  gate.open();
  dropped.destroyed.get_future().wait();
  EXPECT_EQ(dropped.runs, 0);
}

using StreamDeathTest = StreamTest;

TEST_F(StreamDeathTest, AStaticDestructorMaySynchronizeABusyDeviceAndNothingNewStarts) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  static Gate& gate = *new Gate;
  static std::atomic<int> started{0};
  const auto exit_while_busy = [] {
    std::atexit([] {
      const aclError busy = aclrtSynchronizeDevice();
      gate.open();
      const aclError drained = aclrtSynchronizeDevice();
      std::fprintf(stderr, "busy %d, drained %d, started %d", busy, drained, started.load());
    });
    aclrtLaunchHostFunc(nullptr, &Gate::host_function, &gate);
    aclrtLaunchHostFunc(nullptr, &count_up, &started);
    gate.wait_until_reached();
    std::exit(0);
  };
  EXPECT_EXIT(exit_while_busy(), testing::ExitedWithCode(0), "busy 507046, drained 0, started 0");
}

TEST_F(StreamTest, ADestroyedStreamIsRefusedEvenWhenItsSlotIsUsedAgain) {
  const aclrtStream stale = make_stream();
  ASSERT_EQ(aclrtDestroyStream(stale), ACL_SUCCESS);
  const aclrtStream next = make_stream();
  EXPECT_NE(stale, next);
  EXPECT_EQ(aclrtSynchronizeStream(stale), ACL_ERROR_RT_STREAM_CONTEXT);
  EXPECT_HAS(recent_sentence(),
             "is not a live stream; it was destroyed, or never came "
             "from aclrtCreateStream");
  EXPECT_EQ(aclrtDestroyStream(stale), ACL_ERROR_RT_STREAM_CONTEXT);
  int not_a_stream = 0;
  EXPECT_EQ(aclrtSynchronizeStream(&not_a_stream), ACL_ERROR_RT_STREAM_CONTEXT);
}

TEST_F(StreamTest, TheDefaultStreamCannotBeDestroyed) {
  EXPECT_EQ(aclrtDestroyStream(nullptr), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_HAS(recent_sentence(), "the default stream belongs to the runtime");
}

TEST_F(StreamTest, AHostFunctionCannotSynchronizeItsOwnStream) {
  struct Attempt {
    aclrtStream stream;
    aclError code = ACL_SUCCESS;
    std::string why;
  } attempt{make_stream(), ACL_SUCCESS, ""};
  const auto synchronize = [](void* argument) {
    auto* self = static_cast<Attempt*>(argument);
    self->code = aclrtSynchronizeStream(self->stream);
    self->why = recent_sentence();
  };
  ASSERT_EQ(aclrtLaunchHostFunc(attempt.stream, synchronize, &attempt), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(attempt.stream), ACL_SUCCESS);
  EXPECT_EQ(attempt.code, ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_HAS(attempt.why, "cannot wait for itself from its own host function");
}

TEST_F(StreamTest, PriorityAndFlagsAreKeptAndCheckedAgainstWhatExists) {
  aclrtStream stream = nullptr;
  ASSERT_EQ(aclrtCreateStreamWithConfig(&stream, 3, ACL_STREAM_FAST_LAUNCH | ACL_STREAM_FAST_SYNC),
            ACL_SUCCESS);
  uint32_t priority = 99;
  uint32_t flags = 99;
  EXPECT_EQ(aclrtStreamGetPriority(stream, &priority), ACL_SUCCESS);
  EXPECT_EQ(aclrtStreamGetFlags(stream, &flags), ACL_SUCCESS);
  EXPECT_EQ(priority, 3u);
  EXPECT_EQ(flags, 3u);
  EXPECT_EQ(aclrtCreateStreamWithConfig(&stream, 8, 0), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(stream, nullptr);
  EXPECT_EQ(aclrtCreateStreamWithConfig(&stream, 0, ACL_STREAM_CPU_SCHEDULE),
            ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
  EXPECT_HAS(recent_sentence(), "got 0x10");
}

TEST_F(StreamTest, CaptureIsReportedAsNone) {
  aclmdlRICaptureStatus status = ACL_MODEL_RI_CAPTURE_STATUS_INVALIDATED;
  aclmdlRI model = &status;
  EXPECT_EQ(aclmdlRICaptureGetInfo(make_stream(), &status, &model), ACL_SUCCESS);
  EXPECT_EQ(status, ACL_MODEL_RI_CAPTURE_STATUS_NONE);
  EXPECT_EQ(model, nullptr);
}

}  // namespace
