// SPDX-License-Identifier: Apache-2.0
#include "trace.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <set>
#include <utility>

#include "acl/error_codes/rt_error_codes.h"
#include "config.h"

namespace hostcann {
namespace {

uint64_t now_ns() {
  return static_cast<uint64_t>(
      std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count());
}

std::string quoted(const std::string& text) {
  std::string made = "\"";
  for (const char one : text) {
    if (one == '"' || one == '\\') made += '\\';
    made += static_cast<unsigned char>(one) < ' ' ? ' ' : one;
  }
  return made + '"';
}

[[gnu::format(printf, 1, 2)]] std::string formatted(const char* format, ...) {
  char text[256];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  return text;
}

// Chrome's trace event format, one entry a line. The file is whole JSON after every entry, so that
// a process that is killed leaves one that opens.
class TraceFile {
 public:
  static TraceFile& instance() {
    static auto* const only = new TraceFile;
    return *only;
  }

  void add(uint32_t device, int32_t stream, const Shown& shown, uint64_t start, uint64_t end) {
    std::lock_guard lock(mutex_);
    if (devices_.insert(device).second) {
      label("process_name", device, 0,
            formatted("device %u: %s on the CPU", device, config().soc->name));
    }
    // A row's number cannot be negative.
    const int32_t row = stream + 1;
    if (rows_.insert({device, row}).second) {
      label("thread_name", device, row,
            stream == kCallerRow ? "calls that wait" : formatted("stream %d", stream));
    }
    write(formatted("{\"ph\": \"X\", \"pid\": %u, \"tid\": %d, \"ts\": %.3f, \"dur\": %.3f, ",
                    device, row, micro(start - origin_), micro(end - start)) +
          "\"name\": " + quoted(shown.name) + ", \"args\": {" + argument(shown) + "}}");
  }

 private:
  TraceFile()
      : file_(open(config().trace.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)) {
    if (file_ < 0) {
      log_line(LogLevel::error, "HOSTCANN_TRACE: cannot write '%s': %s", config().trace.c_str(),
               std::strerror(errno));
    }
  }

  static std::string argument(const Shown& shown) {
    if (shown.detail == nullptr) return "";
    return quoted(shown.detail) + ": " + std::to_string(shown.amount);
  }

  static double micro(uint64_t ns) { return static_cast<double>(ns) / 1000; }

  void label(const char* what, uint32_t device, int32_t row, const std::string& name) {
    write(formatted(
              "{\"ph\": \"M\", \"pid\": %u, \"tid\": %d, \"name\": \"%s\", \"args\": {\"name\": ",
              device, row, what) +
          quoted(name) + "}}");
  }

  void write(const std::string& entry) {
    static constexpr char kEnd[] = "\n]\n";
    const std::string text = (end_ == 0 ? "[\n" : ",\n") + entry + kEnd;
    if (file_ < 0 || pwrite(file_, text.data(), text.size(), end_) < 0) return;
    end_ += static_cast<off_t>(text.size() - std::strlen(kEnd));
  }

  const int file_;
  const uint64_t origin_ = now_ns();
  std::mutex mutex_;
  off_t end_ = 0;
  std::set<uint32_t> devices_;
  std::set<std::pair<uint32_t, int32_t>> rows_;
};

}  // namespace

bool tracing() { return !config().trace.empty(); }

Span::Span(uint32_t device, int32_t stream, const Shown& shown)
    : device_(device),
      stream_(stream),
      shown_(shown),
      start_ns_((TraceFile::instance(), now_ns())) {}

Span::~Span() { TraceFile::instance().add(device_, stream_, shown_, start_ns_, now_ns()); }

Status check_trace_file(const char* path) {
  const std::filesystem::path file = path;
  const std::filesystem::path folder = file.has_parent_path() ? file.parent_path() : ".";
  std::error_code ignored;
  if (*path != '\0' && !std::filesystem::is_directory(file, ignored) &&
      access(folder.c_str(), W_OK | X_OK) == 0 &&
      (access(path, F_OK) != 0 || access(path, W_OK) == 0)) {
    return {};
  }
  return refuse(ACL_ERROR_INVALID_PARAM,
                "environment variable HOSTCANN_TRACE: expected a file that can be written, got "
                "'%s'; unset it for none",
                path);
}

}  // namespace hostcann
