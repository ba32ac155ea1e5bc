// SPDX-License-Identifier: Apache-2.0
#include "block_group.h"

#include <sched.h>

#include <algorithm>
#include <cstdio>
#include <deque>
#include <thread>

#include "config.h"
#include "device.h"

namespace hostcann {
namespace {

// What a thread runs a block of.
thread_local BlockGroup* this_group = nullptr;
thread_local uint32_t this_block = 0;
thread_local uint32_t this_phase = 0;

uint32_t processors() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return static_cast<uint32_t>(CPU_COUNT(&set));
  return std::max(1u, std::thread::hardware_concurrency());
}

// Threads that wait for a launch to help with. It has as many as were ever needed at once: blocks
// that wait for each other must all be live.
class Pool {
 public:
  void help(std::shared_ptr<BlockGroup> group) {
    const std::lock_guard<std::mutex> lock(mutex_);
    calls_.push_back(std::move(group));
    if (calls_.size() > idle_ + starting_) {
      std::thread(&Pool::serve, this).detach();
      ++starting_;
    }
    called_.notify_one();
  }

  // Its launch is over. What is left of its calls would count as work, and start threads for it.
  void forget(const BlockGroup* group) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto is_over = [group](const auto& call) { return call.get() == group; };
    calls_.erase(std::remove_if(calls_.begin(), calls_.end(), is_over), calls_.end());
  }

 private:
  void serve() {
    std::unique_lock<std::mutex> lock(mutex_);
    --starting_;
    for (;;) {
      ++idle_;
      called_.wait(lock, [this] { return !calls_.empty(); });
      --idle_;
      const std::shared_ptr<BlockGroup> group = std::move(calls_.front());
      calls_.pop_front();
      lock.unlock();
      group->work();
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable called_;
  std::deque<std::shared_ptr<BlockGroup>> calls_;
  size_t idle_ = 0;
  size_t starting_ = 0;
};

Pool& pool() {
  static Pool* const made = new Pool;  // its threads outlive every static destructor
  return *made;
}

}  // namespace

Status BlockGroup::run() {
  static const uint32_t kProcessors = processors();
  for (uint32_t i = 1; i < std::min(kProcessors, launch_.num_blocks); ++i) call_for_help();
  work();
  pool().forget(this);
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [this] { return running_ == 0; });
  next_ = launch_.num_blocks;  // a helper that comes late finds nothing
  if (failed_block_ != UINT32_MAX) return failure_;
  return conflicting_writes();
}

void BlockGroup::call_for_help() { pool().help(shared_from_this()); }

bool BlockGroup::start_next(uint32_t* block) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (next_ == launch_.num_blocks || failed_block_ != UINT32_MAX || deadlocked_) return false;
  *block = next_++;
  ++running_;
  return true;
}

void BlockGroup::work() {
  // A helper's thread belongs to no context of its own.
  if (context_ != nullptr) make_current(context_->handle());
  uint32_t block = 0;
  while (start_next(&block)) run_block(block);
}

void BlockGroup::run_block(uint32_t block) {
  HostcannKernelFault fault;
  fault.code = HOSTCANN_FAULT_VECTOR_CORE_EXCEPTION;
  fault.message[0] = '\0';
  this_group = this;
  this_block = block;
  this_phase = 0;
  const int failed = launch_.run_block(launch_.closure, block, launch_.num_blocks, &fault);
  this_group = nullptr;
  fault.message[sizeof fault.message - 1] = '\0';

  const std::lock_guard<std::mutex> lock(mutex_);
  --running_;
  if (failed != 0 && fault.code != HOSTCANN_ABANDONED && block < failed_block_) {
    failed_block_ = block;
    failure_ = refuse(fault.code == 0 ? HOSTCANN_FAULT_VECTOR_CORE_EXCEPTION : fault.code,
                      "kernel '%s', block %u of %u: %s", launch_.kernel, block, launch_.num_blocks,
                      fault.message[0] == '\0' ? "failed without a reason" : fault.message);
  }
  find_deadlock();
  changed_.notify_all();
}

bool BlockGroup::satisfied(const Wait& wait) const {
  const auto found = counters_.find(wait.key);
  return (found == counters_.end() ? 0 : found->second) >= wait.count;
}

// Nobody is left who could end a wait.
void BlockGroup::find_deadlock() {
  if (waits_.empty() || waits_.size() != running_ || next_ != launch_.num_blocks) return;
  for (const Wait* wait : waits_) {
    if (satisfied(*wait)) return;
  }
  deadlocked_ = true;
}

void BlockGroup::signal(uint64_t key) {
  const std::lock_guard<std::mutex> lock(mutex_);
  ++counters_[key];
  changed_.notify_all();
}

int BlockGroup::await(uint64_t key, uint64_t count, bool take, std::string* why) {
  std::unique_lock<std::mutex> lock(mutex_);
  const Wait wait{key, count};
  if (!satisfied(wait)) {
    waits_.push_back(&wait);
    if (next_ != launch_.num_blocks) {
      call_for_help();
    } else {
      find_deadlock();
      if (deadlocked_) changed_.notify_all();
    }
    changed_.wait(lock,
                  [&] { return satisfied(wait) || deadlocked_ || failed_block_ != UINT32_MAX; });
    waits_.erase(std::find(waits_.begin(), waits_.end(), &wait));
  }
  if (satisfied(wait)) {
    if (take) counters_[key] -= count;
    return 0;
  }
  if (!deadlocked_) return HOSTCANN_ABANDONED;
  char text[200];
  std::snprintf(text, sizeof text,
                "expected another block to end this wait, got all %u blocks waiting or ended, %llu "
                "of %llu signals here; the hardware would hang",
                launch_.num_blocks,
                static_cast<unsigned long long>(counters_.count(key) != 0 ? counters_[key] : 0),
                static_cast<unsigned long long>(count));
  *why = text;
  return HOSTCANN_FAULT_VECTOR_CORE_TIMEOUT;
}

void BlockGroup::poll() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (next_ != launch_.num_blocks) call_for_help();
  }
  std::this_thread::yield();
}

void BlockGroup::note_write(const void* address, size_t bytes, bool atomic, const char* file,
                            uint32_t line) {
  const auto begin = reinterpret_cast<uintptr_t>(address);
  const std::lock_guard<std::mutex> lock(mutex_);
  writes_.push_back({begin, begin + bytes, this_block, this_phase, atomic, file, line});
}

void BlockGroup::note_barrier(bool of_all) {
  if (of_all) {
    ++this_phase;
    return;
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  some_barriers_ = true;
}

Status BlockGroup::conflicting_writes() {
  if (some_barriers_) return {};  // blocks that wait for one another have an order of their own
  std::sort(writes_.begin(), writes_.end(), [](const Write& a, const Write& b) {
    return a.phase != b.phase ? a.phase < b.phase : a.begin < b.begin;
  });
  // Writes that may still reach beyond the start of the next one.
  std::vector<const Write*> open;
  for (const Write& write : writes_) {
    open.erase(std::remove_if(open.begin(), open.end(),
                              [&](const Write* other) {
                                return other->phase != write.phase || other->end <= write.begin;
                              }),
               open.end());
    for (const Write* other : open) {
      if (other->block == write.block || (other->atomic && write.atomic)) continue;
      const Write& first = other->block < write.block ? *other : write;
      const Write& second = other->block < write.block ? write : *other;
      return refuse(HOSTCANN_FAULT_VECTOR_CORE_EXCEPTION,
                    "kernel '%s', block %u of %u: %s:%u: expected the blocks to write different "
                    "bytes of device memory, got %zu bytes that block %u writes as well, at %s:%u; "
                    "give each block its own part, or put SetAtomicAdd or SyncAll between",
                    launch_.kernel, second.block, launch_.num_blocks, second.file, second.line,
                    static_cast<size_t>(std::min(other->end, write.end) - write.begin), first.block,
                    first.file, first.line);
    }
    open.push_back(&write);
  }
  return {};
}

}  // namespace hostcann

using hostcann::this_group;

HOSTCANN_API void hostcann_signal(uint64_t key) {
  if (this_group != nullptr) this_group->signal(key);
}

HOSTCANN_API int hostcann_await(uint64_t key, uint64_t count, int take, char* why,
                                size_t why_size) {
  if (this_group == nullptr) return HOSTCANN_ABANDONED;
  std::string sentence;
  const int code = this_group->await(key, count, take != 0, &sentence);
  if (why != nullptr && why_size > 0) std::snprintf(why, why_size, "%s", sentence.c_str());
  return code;
}

HOSTCANN_API void hostcann_poll(void) {
  if (this_group != nullptr) this_group->poll();
}

HOSTCANN_API uint32_t hostcann_vector_cores(void) {
  const hostcann::Soc* const soc = hostcann::config().soc;
  return soc == nullptr ? 1 : static_cast<uint32_t>(soc->vector_cores);
}

HOSTCANN_API void hostcann_note_write(const void* address, size_t bytes, int atomic,
                                      const char* file, uint32_t line) {
  if (this_group == nullptr) return;
  this_group->note_write(address, bytes, atomic != 0, file == nullptr ? "?" : file, line);
}

HOSTCANN_API void hostcann_note_barrier(int of_all) {
  if (this_group != nullptr) this_group->note_barrier(of_all != 0);
}
