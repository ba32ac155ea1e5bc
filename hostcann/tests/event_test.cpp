// SPDX-License-Identifier: Apache-2.0
#include <atomic>

#include "hostcann/launch.h"
#include "runtime_test.h"

namespace {

class EventTest : public RuntimeTest {
 protected:
  static aclrtEvent make_event(uint32_t flags = ACL_EVENT_SYNC | ACL_EVENT_TIME_LINE) {
    aclrtEvent event = nullptr;
    EXPECT_EQ(aclrtCreateEventExWithFlag(&event, flags), ACL_SUCCESS) << recent_sentence();
    return event;
  }

  static bool complete(aclrtEvent event) {
    aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_NOT_READY;
    EXPECT_EQ(aclrtQueryEventStatus(event, &status), ACL_SUCCESS) << recent_sentence();
    return status == ACL_EVENT_RECORDED_STATUS_COMPLETE;
  }
};

void store_true(void* flag) { static_cast<std::atomic<bool>*>(flag)->store(true); }

TEST_F(EventTest, ANeverRecordedEventIsCompleteAndHoldsNobodyUp) {
  const aclrtEvent event = make_event();
  EXPECT_TRUE(complete(event));
  EXPECT_EQ(aclrtSynchronizeEvent(event), ACL_SUCCESS);
  const aclrtStream stream = make_stream();
  ASSERT_EQ(aclrtStreamWaitEvent(stream, event), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream, 10000), ACL_SUCCESS);
}

TEST_F(EventTest, AnEventIsCompleteOnlyAfterTheWorkBeforeItsRecord) {
  const aclrtStream stream = make_stream();
  const aclrtEvent event = make_event();
  Gate gate;
  ASSERT_EQ(aclrtLaunchHostFunc(stream, &Gate::host_function, &gate), ACL_SUCCESS);
  ASSERT_EQ(aclrtRecordEvent(event, stream), ACL_SUCCESS);
  EXPECT_FALSE(complete(event));
  EXPECT_EQ(aclrtSynchronizeEventWithTimeout(event, 1), ACL_ERROR_RT_EVENT_SYNC_TIMEOUT);
  gate.open();
  ASSERT_EQ(aclrtSynchronizeEvent(event), ACL_SUCCESS);
  EXPECT_TRUE(complete(event));
}

TEST_F(EventTest, AStreamWaitsForWorkOnAnother) {
  const aclrtStream producer = make_stream();
  const aclrtStream consumer = make_stream();
  const aclrtEvent event = make_event();
  Gate gate;
  std::atomic<bool> consumed{false};
  ASSERT_EQ(aclrtLaunchHostFunc(producer, &Gate::host_function, &gate), ACL_SUCCESS);
  ASSERT_EQ(aclrtRecordEvent(event, producer), ACL_SUCCESS);
  ASSERT_EQ(aclrtStreamWaitEvent(consumer, event), ACL_SUCCESS);
  ASSERT_EQ(aclrtLaunchHostFunc(consumer, &store_true, &consumed), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(consumer, 20), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
  EXPECT_FALSE(consumed);
  aclrtEventWaitStatus waits = ACL_EVENT_WAIT_STATUS_RESERVED;
  EXPECT_EQ(aclrtQueryEventWaitStatus(event, &waits), ACL_SUCCESS);
  EXPECT_EQ(waits, ACL_EVENT_WAIT_STATUS_NOT_READY);
  gate.open();
  ASSERT_EQ(aclrtSynchronizeStream(consumer), ACL_SUCCESS);
  EXPECT_TRUE(consumed);
  EXPECT_EQ(aclrtQueryEventWaitStatus(event, &waits), ACL_SUCCESS);
  EXPECT_EQ(waits, ACL_EVENT_WAIT_STATUS_COMPLETE);
}

TEST_F(EventTest, AWaitIsForTheRecordBeforeItNotForALaterOne) {
  const aclrtStream producer = make_stream();
  const aclrtStream consumer = make_stream();
  const aclrtEvent event = make_event();
  Gate before;
  Gate after;
  ASSERT_EQ(aclrtLaunchHostFunc(producer, &Gate::host_function, &before), ACL_SUCCESS);
  ASSERT_EQ(aclrtRecordEvent(event, producer), ACL_SUCCESS);
  ASSERT_EQ(aclrtStreamWaitEvent(consumer, event), ACL_SUCCESS);
  ASSERT_EQ(aclrtLaunchHostFunc(producer, &Gate::host_function, &after), ACL_SUCCESS);
  ASSERT_EQ(aclrtRecordEvent(event, producer), ACL_SUCCESS);
  before.open();
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(consumer, 10000), ACL_SUCCESS);
  EXPECT_FALSE(complete(event));
  after.open();
  EXPECT_EQ(aclrtSynchronizeStream(producer), ACL_SUCCESS);
}

TEST_F(EventTest, RecordingAgainNeedsNoReset) {
  const aclrtStream stream = make_stream();
  const aclrtEvent event = make_event();
  uint64_t first = 0;
  uint64_t second = 0;
  ASSERT_EQ(aclrtRecordEvent(event, stream), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeEvent(event), ACL_SUCCESS);
  ASSERT_EQ(aclrtEventGetTimestamp(event, &first), ACL_SUCCESS);
  Gate gate;
  ASSERT_EQ(aclrtLaunchHostFunc(stream, &Gate::host_function, &gate), ACL_SUCCESS);
  ASSERT_EQ(aclrtRecordEvent(event, stream), ACL_SUCCESS);
  EXPECT_FALSE(complete(event));
  const auto later = std::chrono::steady_clock::now() + std::chrono::milliseconds(1);
  while (std::chrono::steady_clock::now() < later) {
  }
  gate.open();
  ASSERT_EQ(aclrtSynchronizeEvent(event), ACL_SUCCESS);
  ASSERT_EQ(aclrtEventGetTimestamp(event, &second), ACL_SUCCESS);
  EXPECT_GT(second, first);
  EXPECT_GT(first, 0u);
}

TEST_F(EventTest, ElapsedTimeMeasuresWhatLiesBetween) {
  const aclrtStream stream = make_stream();
  const aclrtEvent start = make_event();
  const aclrtEvent end = make_event();
  const auto work_two_milliseconds = [](void*) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(2);
    while (std::chrono::steady_clock::now() < until) {
    }
  };
  ASSERT_EQ(aclrtRecordEvent(start, stream), ACL_SUCCESS);
  ASSERT_EQ(aclrtLaunchHostFunc(stream, work_two_milliseconds, nullptr), ACL_SUCCESS);
  ASSERT_EQ(aclrtRecordEvent(end, stream), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeEvent(end), ACL_SUCCESS);
  float ms = -1;
  ASSERT_EQ(aclrtEventElapsedTime(&ms, start, end), ACL_SUCCESS) << recent_sentence();
  EXPECT_GE(ms, 2.0F);
  EXPECT_EQ(aclrtEventElapsedTime(&ms, end, start), ACL_ERROR_RT_EVENT_TIMESTAMP_REVERSAL);
  EXPECT_EQ(ms, 0.0F);
}

TEST_F(EventTest, ATimeThatDoesNotExistIsRefused) {
  const aclrtStream stream = make_stream();
  const aclrtEvent untimed = make_event(ACL_EVENT_SYNC);
  const aclrtEvent unrecorded = make_event();
  ASSERT_EQ(aclrtRecordEvent(untimed, stream), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
  uint64_t when = 1;
  EXPECT_EQ(aclrtEventGetTimestamp(untimed, &when), ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID);
  EXPECT_HAS(recent_sentence(), "create it with the flag ACL_EVENT_TIME_LINE");
  EXPECT_EQ(when, 0u);
  EXPECT_EQ(aclrtEventGetTimestamp(unrecorded, &when), ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID);
  EXPECT_HAS(recent_sentence(), "has not been recorded");
}

TEST_F(EventTest, ResetForgetsTheRecord) {
  const aclrtStream stream = make_stream();
  const aclrtEvent event = make_event();
  ASSERT_EQ(aclrtRecordEvent(event, stream), ACL_SUCCESS);
  ASSERT_EQ(aclrtResetEvent(event, stream), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
  uint64_t when = 0;
  EXPECT_EQ(aclrtEventGetTimestamp(event, &when), ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID);
}

TEST_F(EventTest, DestroyingAnEventDoesNotDisturbItsPendingWork) {
  const aclrtStream producer = make_stream();
  const aclrtStream consumer = make_stream();
  const aclrtEvent event = make_event();
  Gate gate;
  ASSERT_EQ(aclrtLaunchHostFunc(producer, &Gate::host_function, &gate), ACL_SUCCESS);
  ASSERT_EQ(aclrtRecordEvent(event, producer), ACL_SUCCESS);
  ASSERT_EQ(aclrtStreamWaitEvent(consumer, event), ACL_SUCCESS);
  ASSERT_EQ(aclrtDestroyEvent(event), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(consumer, 20), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
  gate.open();
  EXPECT_EQ(aclrtSynchronizeStream(consumer), ACL_SUCCESS);
  EXPECT_EQ(aclrtRecordEvent(event, producer), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_HAS(recent_sentence(), "is not a live event");
}

TEST_F(EventTest, AnEventOnAFaultedStreamReleasesItsWaitersAndReportsTheFault) {
  const aclrtStream faulty = make_stream();
  const aclrtStream consumer = make_stream();
  const aclrtEvent event = make_event();
  HostcannLaunch launch{HOSTCANN_LAUNCH_ABI,
                        "broken",
                        1,
                        nullptr,
                        [](void*, uint32_t, uint32_t, HostcannKernelFault* fault) {
                          fault->code = HOSTCANN_FAULT_VECTOR_CORE_EXCEPTION;
                          return 1;
                        },
                        nullptr};
  ASSERT_EQ(hostcann_launch(&launch, faulty), ACL_SUCCESS);
  ASSERT_EQ(aclrtRecordEvent(event, faulty), ACL_SUCCESS);
  ASSERT_EQ(aclrtStreamWaitEvent(consumer, event), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(consumer, 10000), ACL_SUCCESS);
  EXPECT_NE(aclrtSynchronizeEvent(event), ACL_SUCCESS);
}

TEST_F(EventTest, AWaitThatTakesLongerThanAllowedIsAFaultOfTheStream) {
  const aclrtStream blocked = make_stream();
  const aclrtStream waiting = make_stream();
  Gate gate;
  aclrtEvent event = nullptr;
  ASSERT_EQ(aclrtCreateEvent(&event), ACL_SUCCESS);
  ASSERT_EQ(aclrtSetOpWaitTimeout(1), ACL_SUCCESS);
  ASSERT_EQ(aclrtLaunchHostFunc(blocked, &Gate::host_function, &gate), ACL_SUCCESS);
  ASSERT_EQ(aclrtRecordEvent(event, blocked), ACL_SUCCESS);
  ASSERT_EQ(aclrtStreamWaitEvent(waiting, event), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(waiting), ACL_ERROR_RT_WAIT_TIMEOUT);
  EXPECT_HAS(recent_sentence(), "was not reached within the 1 s that aclrtSetOpWaitTimeout allows");
  gate.open();
  EXPECT_EQ(aclrtSynchronizeStream(blocked), ACL_SUCCESS);
}

TEST_F(EventTest, SynchronizingAnEventGivesUpAfterItsTimeout) {
  const aclrtStream stream = make_stream();
  Gate gate;
  aclrtEvent event = nullptr;
  ASSERT_EQ(aclrtCreateEvent(&event), ACL_SUCCESS);
  ASSERT_EQ(aclrtLaunchHostFunc(stream, &Gate::host_function, &gate), ACL_SUCCESS);
  ASSERT_EQ(aclrtRecordEvent(event, stream), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeEventWithTimeout(event, 1), ACL_ERROR_RT_EVENT_SYNC_TIMEOUT);
  EXPECT_HAS(recent_sentence(), "was not reached within 1 ms");
  gate.open();
  EXPECT_EQ(aclrtSynchronizeEventWithTimeout(event, -1), ACL_SUCCESS);
}

TEST_F(EventTest, AnEventForOtherProcessesIsRefused) {
  aclrtEvent event = &event;
  EXPECT_EQ(aclrtCreateEventExWithFlag(&event, ACL_EVENT_IPC), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
  EXPECT_EQ(event, nullptr);
  EXPECT_HAS(recent_sentence(), "event flags 0x40 are not implemented");
}

}  // namespace
