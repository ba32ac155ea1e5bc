// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "error.h"
#include "hostcann/launch.h"

namespace hostcann {

class Context;

// The blocks of one launch, run by the calling thread and those of the pool that have time.
class BlockGroup : public std::enable_shared_from_this<BlockGroup> {
 public:
  BlockGroup(const HostcannLaunch& launch, std::shared_ptr<Context> context)
      : launch_(launch), context_(std::move(context)) {}

  // The fault of the first block that had one.
  Status run();
  // Runs blocks until none is left to start.
  void work();

  void signal(uint64_t key);
  int await(uint64_t key, uint64_t count, bool take, std::string* why);
  void poll();
  void note_write(const void* address, size_t bytes, bool atomic, const char* file, uint32_t line);
  void note_barrier(bool of_all);

 private:
  struct Wait {
    uint64_t key;
    uint64_t count;
  };
  struct Write {
    uintptr_t begin;
    uintptr_t end;
    uint32_t block;
    uint32_t phase;
    bool atomic;
    const char* file;
    uint32_t line;
  };

  bool start_next(uint32_t* block);
  void run_block(uint32_t block);
  bool satisfied(const Wait& wait) const;
  void find_deadlock();
  void call_for_help();
  Status conflicting_writes();

  const HostcannLaunch launch_;
  const std::shared_ptr<Context> context_;

  std::mutex mutex_;
  std::condition_variable changed_;
  uint32_t next_ = 0;
  uint32_t running_ = 0;
  std::vector<const Wait*> waits_;
  std::map<uint64_t, uint64_t> counters_;
  bool deadlocked_ = false;
  uint32_t failed_block_ = UINT32_MAX;
  Status failure_;
  std::vector<Write> writes_;
  bool some_barriers_ = false;
};

}  // namespace hostcann
