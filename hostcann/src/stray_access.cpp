// SPDX-License-Identifier: Apache-2.0
#include "stray_access.h"

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstring>

#include "device_memory.h"
#include "virtual_memory.h"

namespace hostcann {
namespace {

struct sigaction before;
std::atomic<bool> installed{false};

// Text in a buffer of its own: neither printf nor new may be called in a signal handler.
class Sentence {
 public:
  Sentence& operator<<(const char* text) {
    while (*text != '\0' && length_ < sizeof text_) text_[length_++] = *text++;
    return *this;
  }
  Sentence& operator<<(uint64_t number) { return digits(number, 10); }
  Sentence& operator<<(const void* address) {
    return (*this << "0x").digits(reinterpret_cast<uintptr_t>(address), 16);
  }
  void print() const {
    // Nothing can be done about an error here.
    const ssize_t written = write(STDERR_FILENO, text_, length_);
    static_cast<void>(written);
  }

 private:
  Sentence& digits(uint64_t number, unsigned base) {
    char reversed[20];
    size_t count = 0;
    do reversed[count++] = "0123456789abcdef"[number % base];
    while ((number /= base) != 0);
    while (count > 0 && length_ < sizeof text_) text_[length_++] = reversed[--count];
    return *this;
  }

  char text_[512];
  size_t length_ = 0;
};

bool describe(const void* address, Stray* stray) {
  if (const DeviceMemory* memory = DeviceMemory::containing(address)) {
    memory->describe_stray(address, stray);
    return true;
  }
  return VirtualMemory::instance().describe_stray(address, stray);
}

void explain(const void* address) {
  Stray stray;
  if (!describe(address, &stray)) return;
  Sentence text;
  text << "hostcann: address " << address << " was touched, which is ";
  switch (stray.kind) {
    case Stray::live:
    case Stray::freed:
      text << uint64_t{stray.inside} << " bytes into "
           << (stray.kind == Stray::live ? "an allocation" : "a freed allocation") << " of "
           << uint64_t{stray.bytes} << " bytes on device " << uint64_t{stray.device};
      break;
    case Stray::foreign:
      text << "in no allocation of device " << uint64_t{stray.device};
      break;
    case Stray::unknown:
      text << "memory of device " << uint64_t{stray.device};
      break;
  }
  text << (stray.kind == Stray::freed
               ? "; keep memory until the work that uses it is done: synchronise before the free\n"
               : "; the host cannot read or write device memory: copy it with aclrtMemcpy, or in "
                 "Python with tensor.cpu()\n");
  text.print();
}

// The access is repeated when a handler returns: with the handler of before in place it then ends
// the process, or whatever else that one does.
void handle(int signal, siginfo_t* info, void* context) {
  explain(info->si_addr);
  if ((before.sa_flags & SA_SIGINFO) != 0) {
    before.sa_sigaction(signal, info, context);
  } else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) {
    before.sa_handler(signal);
  } else {
    sigaction(SIGSEGV, &before, nullptr);
  }
}

}  // namespace

void explain_stray_accesses() {
  if (installed.exchange(true)) return;
  // Made now: the handler must not.
  VirtualMemory::instance();
  struct sigaction ours;
  std::memset(&ours, 0, sizeof ours);
  ours.sa_sigaction = &handle;
  ours.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&ours.sa_mask);
  sigaction(SIGSEGV, &ours, &before);
}

}  // namespace hostcann
