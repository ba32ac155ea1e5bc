// SPDX-License-Identifier: Apache-2.0
// What the driver turns `kernel<<<blocks, ubuf, stream>>>` into: a launcher that is then called
// with the arguments as written, so they convert to the kernel's parameters by the rules of the
// language.
#ifndef HOSTCANN_KERNEL_LAUNCH_H
#define HOSTCANN_KERNEL_LAUNCH_H

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

#include "hostcann/block_checks.h"
#include "hostcann/block_state.h"
#include "hostcann/hard_event.h"
#include "hostcann/kernel_qualifiers.h"
#include "hostcann/launch.h"

namespace hostcann {

inline void report_leak(BlockState& block) {
  if (block.leaked == 0) return;
  block.called_at = block.leaked_from.taken_at;
  fault(
      "end of kernel: expected every allocated tensor to be freed, got %zu still held, the first "
      "of %s queue %u; FreeTensor it",
      block.leaked, position_name(block.leaked_from.position), block.leaked_from.queue);
}

// The sentence with the line of the call that it is about in front.
inline void tell(HostcannKernelFault* kernel_fault, const BlockState& block, const char* sentence) {
  const SourceLine& at = block.called_at;
  if (at.file == nullptr) {
    std::snprintf(kernel_fault->message, sizeof(kernel_fault->message), "%s", sentence);
  } else {
    std::snprintf(kernel_fault->message, sizeof(kernel_fault->message), "%s:%u: %s", at.file,
                  at.line, sentence);
  }
}

inline bool every_check() {
  const char* const wanted = std::getenv("HOSTCANN_CHECK");
  return wanted != nullptr && std::strcmp(wanted, "all") == 0;
}

// Runs one block on this thread. Nothing may escape: the caller is a thread of the runtime, which
// puts the kernel and the block in front of the sentence.
inline int run_in_block(uint32_t index, uint32_t count, HostcannKernelFault* kernel_fault,
                        void (*body)(void*), void* closure) {
  static thread_local BlockState state;  // kept, so that a thread allocates its Unified Buffer once
  static thread_local std::unique_ptr<BlockChecks> checks;
  struct Scope {
    explicit Scope(BlockState* block) { current_block = block; }
    ~Scope() { current_block = nullptr; }
  };
  if (every_check() && checks == nullptr) checks = std::make_unique<BlockChecks>();
  kernel_fault->code = HOSTCANN_FAULT_VECTOR_CORE_EXCEPTION;
  try {
    const Scope scope(&state);
    state.begin(index, count);
    state.checks = every_check() ? checks.get() : nullptr;
    if (state.checks != nullptr) state.checks->begin(state);
    body(closure);
    state.called_at = SourceLine();
    report_leak(state);
    report_flags(state);
    return 0;
  } catch (const KernelFault& thrown) {
    kernel_fault->code = thrown.code;
    tell(kernel_fault, state, thrown.what());
  } catch (const std::exception& thrown) {
    std::snprintf(kernel_fault->message, sizeof(kernel_fault->message),
                  "expected device code to throw nothing, got an exception: %s", thrown.what());
  } catch (...) {
    std::snprintf(
        kernel_fault->message, sizeof(kernel_fault->message),
        "expected device code to throw nothing, got an exception that is not a std::exception");
  }
  return 1;
}

template <typename Kernel, typename... Arguments>
struct LaunchClosure {
  Kernel kernel;
  std::tuple<Arguments...> arguments;

  static int run_block(void* closure, uint32_t index, uint32_t count, HostcannKernelFault* fault) {
    return run_in_block(index, count, fault, &call, closure);
  }
  static void call(void* closure) {
    auto* self = static_cast<LaunchClosure*>(closure);
    // By value, so per block: a kernel may write to its parameters.
    std::apply(self->kernel, self->arguments);
  }
  static void destroy(void* closure) { delete static_cast<LaunchClosure*>(closure); }
};

struct LaunchConfiguration {
  const char* kernel;
  int64_t blocks;
  bool dynamic_ubuf;
  void* stream;
};

// Null stays null: kernels take optional operands.
template <typename T>
inline bool translate_argument(const LaunchConfiguration& configuration, size_t position,
                               size_t total, T& argument) {
  if constexpr (std::is_pointer_v<T>) {
    static_assert(!std::is_function_v<std::remove_pointer_t<T>>, "a kernel cannot take a function");
    const void* device = const_cast<const void*>(static_cast<const volatile void*>(argument));
    if (device == nullptr) return true;
    void* host = nullptr;
    char why[600] = "";
    const int code = hostcann_translate(device, 0, &host, why, sizeof(why));
    if (code != 0) {
      char sentence[700];
      std::snprintf(sentence, sizeof(sentence), "argument %zu of %zu: %s", position, total, why);
      hostcann_refuse_launch(configuration.kernel, code, sentence, configuration.stream);
      return false;
    }
    argument = static_cast<T>(host);
  }
  return true;
}

template <typename Kernel, typename... Arguments, size_t... positions>
inline void launch_kernel(const LaunchConfiguration& configuration, Kernel kernel,
                          std::tuple<Arguments...> arguments, std::index_sequence<positions...>) {
  static_assert(
      (std::is_trivially_copyable_v<Arguments> && ...),
      "kernel arguments are copied to the device byte by byte: they must be trivially copyable");
  constexpr int kInvalidParameter = 107000;
  // The runtime checks the number again; it cannot see what its 32 bits would cut off.
  if (configuration.blocks < 1 ||
      configuration.blocks > static_cast<int64_t>(HOSTCANN_MAX_BLOCKS)) {
    char sentence[120];
    std::snprintf(sentence, sizeof(sentence), "number of blocks: expected 1 to %u, got %lld",
                  HOSTCANN_MAX_BLOCKS, static_cast<long long>(configuration.blocks));
    hostcann_refuse_launch(configuration.kernel, kInvalidParameter, sentence, configuration.stream);
    return;
  }
  if (configuration.dynamic_ubuf) {
    hostcann_refuse_launch(
        configuration.kernel, kInvalidParameter,
        "second launch value: expected nullptr or 0, got another value; hostcann does not "
        "implement dynamic Unified Buffer memory",
        configuration.stream);
    return;
  }
  if (!(translate_argument(configuration, positions + 1, sizeof...(positions),
                           std::get<positions>(arguments)) &&
        ...)) {
    return;
  }
  using Closure = LaunchClosure<Kernel, Arguments...>;
  HostcannLaunch launch = {};
  launch.abi = HOSTCANN_LAUNCH_ABI;
  launch.kernel = configuration.kernel;
  launch.num_blocks = static_cast<uint32_t>(configuration.blocks);
  launch.closure = new Closure{kernel, std::move(arguments)};
  launch.run_block = &Closure::run_block;
  launch.destroy = &Closure::destroy;
  // `<<<>>>` returns nothing; the runtime keeps a refusal for the next synchronise.
  (void)hostcann_launch(&launch, configuration.stream);
}

template <typename Blocks, typename DynamicUbuf, typename Stream>
inline LaunchConfiguration configure_launch(const char* kernel, Blocks blocks, DynamicUbuf ubuf,
                                            Stream stream) {
  static_assert(std::is_integral_v<Blocks> || std::is_enum_v<Blocks>,
                "the first launch value is the number of blocks, an integer");
  static_assert(std::is_integral_v<DynamicUbuf> || std::is_pointer_v<DynamicUbuf> ||
                    std::is_null_pointer_v<DynamicUbuf>,
                "the second launch value is nullptr or 0");
  static_assert(std::is_pointer_v<Stream> || std::is_null_pointer_v<Stream>,
                "the third launch value is an aclrtStream");
  bool dynamic = false;
  if constexpr (!std::is_null_pointer_v<DynamicUbuf>) dynamic = ubuf != DynamicUbuf();
  return {kernel, static_cast<int64_t>(blocks), dynamic, static_cast<void*>(stream)};
}

template <typename... Parameters>
class [[nodiscard]] Launcher {
 public:
  using Kernel = void (*)(Parameters...);
  Launcher(const LaunchConfiguration& configuration, Kernel kernel)
      : configuration_(configuration), kernel_(kernel) {}

  void operator()(Parameters... arguments) const {
    launch_kernel(configuration_, kernel_, std::tuple<Parameters...>(arguments...),
                  std::index_sequence_for<Parameters...>());
  }

 private:
  LaunchConfiguration configuration_;
  Kernel kernel_;
};

template <typename Blocks, typename DynamicUbuf, typename Stream, typename... Parameters>
inline Launcher<Parameters...> launcher(const char* kernel, Blocks blocks, DynamicUbuf ubuf,
                                        Stream stream, void (*function)(Parameters...)) {
  static_assert((!std::is_reference_v<Parameters> && ...), "a kernel takes its arguments by value");
  return {configure_launch(kernel, blocks, ubuf, stream), function};
}

// For a kernel template launched without template arguments: the arguments decide them.
template <typename Call>
class [[nodiscard]] DeducedLauncher {
 public:
  DeducedLauncher(const LaunchConfiguration& configuration, Call call)
      : configuration_(configuration), call_(call) {}

  template <typename... Arguments>
  void operator()(Arguments... arguments) const {
    launch_kernel(configuration_, call_, std::tuple<Arguments...>(arguments...),
                  std::index_sequence_for<Arguments...>());
  }

 private:
  LaunchConfiguration configuration_;
  Call call_;
};

template <typename Blocks, typename DynamicUbuf, typename Stream, typename Call>
inline DeducedLauncher<Call> deduced_launcher(const char* kernel, Blocks blocks, DynamicUbuf ubuf,
                                              Stream stream, Call call) {
  return {configure_launch(kernel, blocks, ubuf, stream), call};
}

}  // namespace hostcann

#endif  // HOSTCANN_KERNEL_LAUNCH_H
