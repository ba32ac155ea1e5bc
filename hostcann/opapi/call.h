// SPDX-License-Identifier: Apache-2.0
// From one declaration to the two functions of an aclnn operator:
//
//   HOSTCANN_ACLNN(Add, (In self, In other, Number alpha, Out out)) {
//     at::add_out(out, self, other, alpha);
//   }
//
// exports aclnnAddGetWorkspaceSize, whose C signature follows from the parameters' types, and
// aclnnAdd. The body runs on the stream's thread, over views of the device's memory.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Scalar.h>
#include <c10/core/WrapDimMinimal.h>
#include <c10/util/OptionalArrayRef.h>

#include <array>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "acl/acl_base_rt.h"
#include "objects.h"

namespace hostcann::opapi {

using at::IntArrayRef;
using at::Scalar;
using at::ScalarType;
using at::Tensor;

// An output whose shape is known only after the operator has run: a buffer for the largest
// result, and a place for its shape.
class Found {
 public:
  Found() = default;
  Found(Tensor buffer, std::shared_ptr<std::vector<int64_t>> dims)
      : buffer_(std::move(buffer)), dims_(std::move(dims)) {}

  void set(const Tensor& result);

 private:
  Tensor buffer_;
  std::shared_ptr<std::vector<int64_t>> dims_;
};

// The parameter types of bodies. Maybe: the caller may pass a null pointer.
using In = const Tensor&;
using Out = Tensor&;
using Maybe = const std::optional<Tensor>&;
using MaybeOut = Tensor*;
using FoundOut = Found&;
using Number = const Scalar&;
using MaybeNumber = const std::optional<Scalar>&;
using Ints = IntArrayRef;
using MaybeInts = at::OptionalIntArrayRef;
using Bools = c10::ArrayRef<uint8_t>;
using Tensors = const std::vector<Tensor>&;
using OutTensors = std::vector<Tensor>&;
using Numbers = const std::vector<Scalar>&;

// A tensor as it lies in its storage, whatever its format.
struct Stored {
  aclTensor tensor;
  size_t item_bytes;
  void* data;  // an address of the host
};
using Raw = const Stored&;

// A number that takes part in type promotion as a Python number does.
Tensor wrapped(Number number);

// For what torch computes but has no out form of, or of which the output's type differs.
void assign(Out out, In value);

// The first bits of a mask that holds eight to a byte, least significant first.
Tensor mask_bits(In mask, int64_t count);

// Checks of phase 1.
void expect_floating(In self, Out out);
void expect_floating_self(Out self);
void expect_broadcast(In self, In other, Out out);
void expect_even(In self, int64_t dim);

// Of functions whose second argument is a dimension of the first.
struct Dimension {
  template <class... Rest>
  void operator()(In self, int64_t dim, const Rest&...) const {
    c10::maybe_wrap_dim(dim, self.dim());
  }
};
inline constexpr Dimension expect_dimension;

// How a family computes float16 and bfloat16. As they are: by torch's kernel for the type, where
// there is one. Widened: in float, rounded once at the end, as the device does where torch's own
// kernels round at every step.
enum class Halves { as_they_are, widened };

bool is_half(In tensor);

// Where phase 1 is, for the sentence of a refusal.
struct Position {
  const char* function;
  int argument = 0;
};

Tensor view_of(const Position& at, const aclTensor* tensor);
std::optional<Tensor> maybe_view_of(const Position& at, const aclTensor* tensor);
std::vector<Tensor> views_of(const Position& at, const aclTensorList* list);
Stored stored_of(const Position& at, const aclTensor* tensor);
Found found_view_of(const Position& at, aclTensor* tensor);
Scalar number_of(const Position& at, const aclScalar* scalar);
std::vector<Scalar> numbers_of(const Position& at, const aclScalarList* list);
ScalarType type_of(const Position& at, aclDataType type);
[[noreturn]] void refuse_null(const Position& at);

// An output that a body resized or replaced holds its result somewhere else.
class OutputView {
 public:
  explicit OutputView(Tensor view);
  Tensor& view() { return view_; }
  bool widen();
  void finish();

 private:
  void remember();

  Tensor view_;
  Tensor narrow_;  // what is to get the result of a widened view
  std::vector<int64_t> sizes_;
  const void* data_ = nullptr;
};

bool widen(Tensor& tensor);

// Bind<P>: the C type of a parameter, and what of it is kept from phase 1 for the body.
template <class P>
struct Bind {
  static_assert(std::is_arithmetic_v<P>, "this type is no parameter of an aclnn function");
  using C = P;
  Bind(const Position&, C c) : kept(c) {}
  P get() { return kept; }
  bool widen() { return false; }
  void after() {}
  P kept;
};

template <class Kept, class Pointer>
struct BindBase {
  using C = Pointer;
  explicit BindBase(Kept value) : kept(std::move(value)) {}
  Kept& get() { return kept; }
  bool widen() { return false; }
  void after() {}
  Kept kept;
};

template <>
struct Bind<In> : BindBase<Tensor, const aclTensor*> {
  Bind(const Position& at, C c) : BindBase(view_of(at, c)) {}
  bool widen() { return opapi::widen(kept); }
};

template <>
struct Bind<Raw> : BindBase<Stored, const aclTensor*> {
  Bind(const Position& at, C c) : BindBase(stored_of(at, c)) {}
};

template <>
struct Bind<Maybe> : BindBase<std::optional<Tensor>, const aclTensor*> {
  Bind(const Position& at, C c) : BindBase(maybe_view_of(at, c)) {}
  bool widen() { return kept.has_value() && opapi::widen(*kept); }
};

template <>
struct Bind<Out> : BindBase<OutputView, aclTensor*> {
  Bind(const Position& at, C c) : BindBase(OutputView(view_of(at, c))) {}
  Tensor& get() { return kept.view(); }
  bool widen() { return kept.widen(); }
  void after() { kept.finish(); }
};

template <>
struct Bind<MaybeOut> : BindBase<OutputView, aclTensor*> {
  Bind(const Position& at, C c) : BindBase(OutputView(maybe_view_of(at, c).value_or(Tensor()))) {}
  Tensor* get() { return kept.view().defined() ? &kept.view() : nullptr; }
  bool widen() { return kept.widen(); }
  void after() { kept.finish(); }
};

template <>
struct Bind<FoundOut> : BindBase<Found, aclTensor*> {
  Bind(const Position& at, C c) : BindBase(found_view_of(at, c)) {}
};

template <>
struct Bind<Number> : BindBase<Scalar, const aclScalar*> {
  Bind(const Position& at, C c) : BindBase(number_of(at, c)) {}
};

template <>
struct Bind<MaybeNumber> : BindBase<std::optional<Scalar>, const aclScalar*> {
  Bind(const Position& at, C c)
      : BindBase(c == nullptr ? std::nullopt : std::optional<Scalar>(number_of(at, c))) {}
};

template <>
struct Bind<Ints> : BindBase<std::vector<int64_t>, const aclIntArray*> {
  Bind(const Position& at, C c) : BindBase((c == nullptr ? refuse_null(at) : void(), c->values)) {}
};

template <>
struct Bind<MaybeInts> : BindBase<std::optional<std::vector<int64_t>>, const aclIntArray*> {
  Bind(const Position&, C c)
      : BindBase(c == nullptr ? std::nullopt : std::optional<std::vector<int64_t>>(c->values)) {}
  MaybeInts get() { return kept ? MaybeInts(*kept) : MaybeInts(); }
};

template <>
struct Bind<Bools> : BindBase<std::vector<uint8_t>, const aclBoolArray*> {
  Bind(const Position& at, C c) : BindBase((c == nullptr ? refuse_null(at) : void(), c->values)) {}
};

template <>
struct Bind<Tensors> : BindBase<std::vector<Tensor>, const aclTensorList*> {
  Bind(const Position& at, C c) : BindBase(views_of(at, c)) {}
  bool widen() {
    bool any = false;
    for (Tensor& tensor : kept) any = opapi::widen(tensor) || any;
    return any;
  }
};

template <>
struct Bind<OutTensors> : BindBase<std::vector<Tensor>, const aclTensorList*> {
  Bind(const Position& at, C c) : BindBase(views_of(at, c)) {
    outputs.reserve(kept.size());
    for (const Tensor& view : kept) outputs.emplace_back(view);
  }
  bool widen() {
    bool any = false;
    for (size_t i = 0; i < kept.size(); ++i) {
      any = outputs[i].widen() || any;
      kept[i] = outputs[i].view();
    }
    return any;
  }
  void after() {
    for (OutputView& output : outputs) output.finish();
  }
  std::vector<OutputView> outputs;
};

template <>
struct Bind<Numbers> : BindBase<std::vector<Scalar>, const aclScalarList*> {
  Bind(const Position& at, C c) : BindBase(numbers_of(at, c)) {}
};

template <>
struct Bind<ScalarType> : BindBase<ScalarType, aclDataType> {
  Bind(const Position& at, C c) : BindBase(type_of(at, c)) {}
  bool widen() {
    if (c10::isReducedFloatingType(kept)) kept = ScalarType::Float;
    return false;
  }
};

template <>
struct Bind<const char*> : BindBase<std::string, const char*> {
  Bind(const Position& at, C c) : BindBase((c == nullptr ? refuse_null(at) : void(), c)) {}
  const char* get() { return kept.c_str(); }
};

}  // namespace hostcann::opapi

// Made by phase 1, run and destroyed after phase 2.
struct aclOpExecutor {
  explicit aclOpExecutor(const char* function) : function(function) {}
  aclOpExecutor(const aclOpExecutor&) = delete;
  aclOpExecutor& operator=(const aclOpExecutor&) = delete;
  virtual ~aclOpExecutor() = default;
  virtual void run() = 0;

  const char* const function;
};

namespace hostcann::opapi {

template <class... P>
class Call final : public aclOpExecutor {
 public:
  Call(Position at, void (*body)(P...), Halves halves, typename Bind<P>::C... arguments)
      : aclOpExecutor(at.function),
        body_(body),
        halves_(halves),
        bound_{Bind<P>(next(at), arguments)...} {}

  void run() override {
    if (halves_ == Halves::widened) widen();
    try {
      apply(body_);
    } catch (const c10::NotImplementedError&) {
      // torch has no kernel for this type; for a half there is one of float.
      if (halves_ == Halves::widened || !widen()) throw;
      apply(body_);
    }
    std::apply([](auto&... bound) { (bound.after(), ...); }, bound_);
  }

  template <class Function>
  void apply(const Function& function) {
    std::apply([&function](auto&... bound) { function(bound.get()...); }, bound_);
  }

 private:
  static const Position& next(Position& at) { return ++at.argument, at; }

  bool widen() {
    return std::apply(
        [](auto&... bound) { return (static_cast<int>(bound.widen()) + ... + 0) > 0; }, bound_);
  }

  void (*body_)(P...);
  const Halves halves_;
  std::tuple<Bind<P>...> bound_;
};

int keep(std::unique_ptr<aclOpExecutor> call, uint64_t* workspace_size, aclOpExecutor** executor);
int refused_in_phase_1(const char* function);
int launch(const char* function, aclOpExecutor* executor, void* stream);

template <auto check, class... P>
int prepare(const char* function, void (*body)(P...), Halves halves,
            typename Bind<P>::C... arguments, uint64_t* workspace_size, aclOpExecutor** executor) {
  try {
    auto call = std::make_unique<Call<P...>>(Position{function}, body, halves, arguments...);
    if constexpr (!std::is_null_pointer_v<decltype(check)>) call->apply(check);
    return keep(std::move(call), workspace_size, executor);
  } catch (...) {
    return refused_in_phase_1(function);
  }
}

// What an argument of a C type is called in the listing.
template <class C>
constexpr const char* kKind = nullptr;
template <>
inline constexpr const char* kKind<const aclTensor*> = "tensor";
template <>
inline constexpr const char* kKind<aclTensor*> = "tensor";
template <>
inline constexpr const char* kKind<const aclTensorList*> = "tensors";
template <>
inline constexpr const char* kKind<const aclScalar*> = "scalar";
template <>
inline constexpr const char* kKind<const aclScalarList*> = "scalars";
template <>
inline constexpr const char* kKind<const aclIntArray*> = "ints";
template <>
inline constexpr const char* kKind<const aclBoolArray*> = "bools";
template <>
inline constexpr const char* kKind<aclDataType> = "dtype";
template <>
inline constexpr const char* kKind<const char*> = "string";
template <>
inline constexpr const char* kKind<bool> = "bool";
template <>
inline constexpr const char* kKind<int8_t> = "int8";
template <>
inline constexpr const char* kKind<int> = "int32";
template <>
inline constexpr const char* kKind<int64_t> = "int64";
template <>
inline constexpr const char* kKind<uint64_t> = "uint64";
template <>
inline constexpr const char* kKind<float> = "float";
template <>
inline constexpr const char* kKind<double> = "double";

template <auto body, const char* function, auto check, Halves halves>
struct Phase1;

template <class... P, void (*body)(P...), const char* function, auto check, Halves halves>
struct Phase1<body, function, check, halves> {
  static int get_workspace_size(typename Bind<P>::C... arguments, uint64_t* workspace_size,
                                aclOpExecutor** executor) {
    return prepare<check, P...>(function, body, halves, arguments..., workspace_size, executor);
  }
  using Signature = decltype(get_workspace_size);

  static constexpr std::array<const char*, sizeof...(P)> kKinds = {kKind<typename Bind<P>::C>...};
  static_assert(((kKind<typename Bind<P>::C> != nullptr) && ...), "name this C type in kKind");
};

// An entry of the listing of `make hostcann-ops`: the name, the family and the arguments' kinds.
struct Listed {
  using Kinds = c10::ArrayRef<const char*>;
  Listed(const char* name, const char* family, Kinds arguments) noexcept;
};

}  // namespace hostcann::opapi

#define HOSTCANN_EXPORTED extern "C" __attribute__((visibility("default")))

// A function cannot be defined by the name of its type, which is how the signature is known
// here; the resolver makes the exported name another name of the template's function.
#define HOSTCANN_ACLNN(name, parameters) HOSTCANN_ACLNN_CHECKED(name, parameters, nullptr)

// `check` has the body's parameters and refuses in phase 1 what the body could not compute. It
// sees types and shapes only: the elements may not have been written yet.
#define HOSTCANN_ACLNN_CHECKED(name, parameters, check)                                       \
  static void body_##name parameters;                                                         \
  static constexpr char name_##name[] = "aclnn" #name;                                        \
  using Phase1_##name = ::hostcann::opapi::Phase1<body_##name, name_##name, check, kHalves>;  \
  extern "C" __attribute__((visibility("hidden"))) Phase1_##name::Signature*                  \
  hostcann_phase_1_of_##name() {                                                              \
    return Phase1_##name::get_workspace_size;                                                 \
  }                                                                                           \
  HOSTCANN_EXPORTED __attribute__((ifunc(                                                     \
      "hostcann_phase_1_of_" #name))) Phase1_##name::Signature aclnn##name##GetWorkspaceSize; \
  HOSTCANN_EXPORTED int aclnn##name(void*, uint64_t, aclOpExecutor* executor, void* stream) { \
    return ::hostcann::opapi::launch(name_##name, executor, stream);                          \
  }                                                                                           \
  static const ::hostcann::opapi::Listed listed_##name(name_##name, kFamily,                  \
                                                       Phase1_##name::kKinds);                \
  static void body_##name parameters
