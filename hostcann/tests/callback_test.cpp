// SPDX-License-Identifier: Apache-2.0
#include <pthread.h>

#include <atomic>
#include <thread>

#include "runtime_test.h"

namespace {

struct Note {
  std::atomic<int> runs{0};
  std::thread::id thread;

  static void take(void* note) {
    auto* self = static_cast<Note*>(note);
    self->thread = std::this_thread::get_id();
    ++self->runs;
  }
};

// A thread of the user that runs callbacks until it is told to stop.
class Reporter {
 public:
  Reporter() : thread_([this] { serve(); }) {}
  ~Reporter() {
    stop_ = true;
    thread_.join();
  }
  uint64_t id() { return thread_.native_handle(); }
  std::thread::id std_id() const { return thread_.get_id(); }

 private:
  void serve() {
    while (!stop_) {
      if (aclrtProcessReport(10) == ACL_ERROR_RT_THREAD_SUBSCRIBE) std::this_thread::yield();
    }
  }
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

class CallbackTest : public RuntimeTest {};

TEST_F(CallbackTest, ABlockingCallbackRunsOnTheSubscribedThreadBeforeLaterWork) {
  const aclrtStream stream = make_stream();
  Reporter reporter;
  ASSERT_EQ(aclrtSubscribeReport(reporter.id(), stream), ACL_SUCCESS) << recent_sentence();
  Note note;
  int seen_by_later_work = -1;
  struct Later {
    Note* note;
    int* seen;
  } later{&note, &seen_by_later_work};
  ASSERT_EQ(aclrtLaunchCallback(&Note::take, &note, ACL_CALLBACK_BLOCK, stream), ACL_SUCCESS);
  ASSERT_EQ(aclrtLaunchHostFunc(
                stream,
                [](void* argument) {
                  auto* self = static_cast<Later*>(argument);
                  *self->seen = self->note->runs;
                },
                &later),
            ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
  EXPECT_EQ(note.thread, reporter.std_id());
  EXPECT_EQ(seen_by_later_work, 1);
  EXPECT_EQ(aclrtUnSubscribeReport(reporter.id(), stream), ACL_SUCCESS);
}

TEST_F(CallbackTest, ACallbackThatDoesNotBlockLetsTheStreamGoOn) {
  const aclrtStream stream = make_stream();
  ASSERT_EQ(aclrtSubscribeReport(pthread_self(), stream), ACL_SUCCESS);
  Note note;
  ASSERT_EQ(aclrtLaunchCallback(&Note::take, &note, ACL_CALLBACK_NO_BLOCK, stream), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
  EXPECT_EQ(note.runs, 0);
  EXPECT_EQ(aclrtProcessReport(1000), ACL_SUCCESS);
  EXPECT_EQ(note.runs, 1);
  EXPECT_EQ(note.thread, std::this_thread::get_id());
}

TEST_F(CallbackTest, WithoutACallbackProcessReportTimesOut) {
  EXPECT_EQ(aclrtProcessReport(1), ACL_ERROR_RT_THREAD_SUBSCRIBE);
  EXPECT_HAS(recent_sentence(), "this thread is subscribed to no stream");
  const aclrtStream stream = make_stream();
  ASSERT_EQ(aclrtSubscribeReport(pthread_self(), stream), ACL_SUCCESS);
  EXPECT_EQ(aclrtProcessReport(1), ACL_ERROR_RT_REPORT_TIMEOUT);
  EXPECT_HAS(recent_sentence(), "no callback arrived within 1 ms");
}

TEST_F(CallbackTest, EveryWrongSubscriptionIsRefused) {
  const aclrtStream stream = make_stream();
  Note note;
  EXPECT_EQ(aclrtLaunchCallback(&Note::take, &note, ACL_CALLBACK_BLOCK, stream),
            ACL_ERROR_RT_STREAM_NO_CB_REG);
  EXPECT_HAS(recent_sentence(), "call aclrtSubscribeReport first");
  ASSERT_EQ(aclrtSubscribeReport(pthread_self(), stream), ACL_SUCCESS);
  EXPECT_EQ(aclrtSubscribeReport(1, stream), ACL_ERROR_RT_STREAM_SUBSCRIBE);
  EXPECT_EQ(aclrtUnSubscribeReport(1, stream), ACL_ERROR_RT_THREAD_SUBSCRIBE);
  EXPECT_EQ(aclrtLaunchCallback(&Note::take, &note, static_cast<aclrtCallbackBlockType>(2), stream),
            ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtUnSubscribeReport(pthread_self(), stream), ACL_SUCCESS);
  EXPECT_EQ(note.runs, 0);
}

TEST_F(CallbackTest, EndingTheSubscriptionReleasesAStreamThatWaits) {
  const aclrtStream stream = make_stream();
  ASSERT_EQ(aclrtSubscribeReport(pthread_self(), stream), ACL_SUCCESS);
  Note note;
  ASSERT_EQ(aclrtLaunchCallback(&Note::take, &note, ACL_CALLBACK_BLOCK, stream), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream, 1), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
  ASSERT_EQ(aclrtUnSubscribeReport(pthread_self(), stream), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
  EXPECT_EQ(note.runs, 0);
}

TEST_F(CallbackTest, TheSubscriptionOfOneStreamEndsWithoutThatOfAnother) {
  const aclrtStream stream = make_stream();
  const aclrtStream other = make_stream();
  Note note;
  Note noted_by_other;
  for (const auto& [each, its_note] : {std::pair(stream, &note), {other, &noted_by_other}}) {
    ASSERT_EQ(aclrtSubscribeReport(pthread_self(), each), ACL_SUCCESS);
    ASSERT_EQ(aclrtLaunchCallback(&Note::take, its_note, ACL_CALLBACK_BLOCK, each), ACL_SUCCESS);
    EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(each, 1), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
  }
  ASSERT_EQ(aclrtUnSubscribeReport(pthread_self(), stream), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream, 10000), ACL_SUCCESS);
  EXPECT_EQ(aclrtProcessReport(1000), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(other, 10000), ACL_SUCCESS);
  EXPECT_EQ(note.runs, 0);
  EXPECT_EQ(noted_by_other.runs, 1);
}

TEST_F(CallbackTest, ADestroyedStreamHasNoSubscription) {
  const aclrtStream stream = make_stream();
  ASSERT_EQ(aclrtSubscribeReport(pthread_self(), stream), ACL_SUCCESS);
  Note note;
  ASSERT_EQ(aclrtLaunchCallback(&Note::take, &note, ACL_CALLBACK_BLOCK, stream), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream, 1), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
  ASSERT_EQ(aclrtDestroyStreamForce(stream), ACL_SUCCESS);
  EXPECT_EQ(aclrtProcessReport(1), ACL_ERROR_RT_THREAD_SUBSCRIBE);
  EXPECT_EQ(note.runs, 0);
}

}  // namespace
