// One struct an operation: its inputs, an independent reference, what it takes and gives. The tests and `./dev bench ops` drive the same
// struct on every device, so nothing here knows of either.
//
//   struct Softmax : Case {
//     static constexpr const char* name = "softmax";
//     void inputs(Inputs& in) const {
//       in.add(randn({3, 5}), 1);
//       in.add(full({2, 3}, 1e4f), 0);  // would overflow without the maximum
//     }
//     Tensor run(const Tensor& x, int64_t dim) const { return softmax(x, dim); }
//     Tensor reference(const Tensor& x, int64_t dim) const {  // x is float64 and on the CPU
//       const Tensor e = exp(x - x.amax({dim}, true));
//       return e / e.sum(dim, true);
//     }
//     void bench(Inputs& in, int64_t n) const { in.add(randn({n / 1000, 1000}), 1); }
//   };
#pragma once

#include <any>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "tandem.h"

namespace tandem::cases {

/// A set of dtypes, a bit each.
using DTypes = uint32_t;
constexpr DTypes only(DType dtype) { return DTypes{1} << static_cast<int>(dtype); }
constexpr bool has(DTypes set, DType dtype) { return (set & only(dtype)) != 0; }
inline constexpr DTypes kFloating = only(kFloat32) | only(kFloat64) | only(kFloat16) | only(kBFloat16);
inline constexpr DTypes kIntegers = only(kUInt8) | only(kInt8) | only(kInt16) | only(kInt32) | only(kInt64);
inline constexpr DTypes kNumbers = kFloating | kIntegers;
inline constexpr DTypes kAnyType = kNumbers | only(kBool);

/// The dtype of a result whose reference is float64, from that of the inputs.
enum class Gives : uint8_t {
  Same,      // theirs
  Floating,  // theirs where it is floating, else float32
  Wide,      // theirs where it is floating, else int64
  Any,       // not looked at
};

/// What an operation gave.
struct Results : std::vector<Tensor> {
  Results(Tensor one) { push_back(std::move(one)); }
  Results(std::vector<Tensor> many) : std::vector<Tensor>(std::move(many)) {}
  Results(ValuesIndices both) : std::vector<Tensor>{both.values, both.indices} {}
};

/// An argument: a tensor, several, or anything else that `run` takes. Integers are kept as int64_t, floating numbers as double, literals as
/// strings.
class Argument {
 public:
  template <class T>
  requires(!std::is_same_v<std::remove_cvref_t<T>, Argument>) explicit Argument(T&& value) : value_(keep(std::forward<T>(value))) {}

  /// As a parameter of the type P.
  template <class P>
  [[nodiscard]] P as() const {
    if (const P* value = std::any_cast<P>(&value_)) return *value;
    if constexpr (std::is_same_v<P, double>) return static_cast<double>(as<int64_t>());
    else if constexpr (std::is_same_v<P, Scalar>) return value_.type() == typeid(double) ? Scalar(as<double>()) : Scalar(as<int64_t>());
    else if constexpr (is_optional<P>::value) return value_.type() == typeid(std::nullopt_t) ? P() : P(as<typename P::value_type>());
    else return std::any_cast<P>(value_);  // throws
  }
  [[nodiscard]] bool is_tensor() const { return value_.type() == typeid(Tensor); }
  [[nodiscard]] bool is_tensors() const { return value_.type() == typeid(std::vector<Tensor>); }
  /// The same with `f` called on the tensors.
  [[nodiscard]] Argument map(const std::function<Tensor(const Tensor&)>& f) const;
  /// For messages: `float32[2, 3]`, `1`, `…`.
  [[nodiscard]] std::string text() const;

 private:
  template <class T>
  struct is_optional : std::false_type {};
  template <class T>
  struct is_optional<std::optional<T>> : std::true_type {};

  template <class T>
  static std::any keep(T&& value) {
    using Plain = std::decay_t<T>;
    if constexpr (std::is_same_v<Plain, bool>) return value;
    else if constexpr (std::is_integral_v<Plain>) return static_cast<int64_t>(value);
    else if constexpr (std::is_floating_point_v<Plain>) return static_cast<double>(value);
    else if constexpr (std::is_same_v<Plain, const char*>) return std::string(value);
    else return std::any(Plain(std::forward<T>(value)));
  }

  std::any value_;
};
using Arguments = std::vector<Argument>;

/// One call.
struct Sample {
  Arguments arguments;
  bool differentiable = true;  // false: at a place where the operation has no derivative
};

/// What a struct adds its calls to. Floating tensors are float32 as made, and are converted to each dtype in turn (whole numbers, away from
/// zero, for integers); integer and bool tensors are indices and masks, and stay.
class Inputs {
 public:
  template <class... A>
  void add(A&&... arguments) {
    Arguments list;
    (list.emplace_back(std::forward<A>(arguments)), ...);
    samples_.push_back({std::move(list)});
  }
  /// A call at a place without a derivative: ties, kinks, infinities.
  template <class... A>
  void add_kink(A&&... arguments) {
    add(std::forward<A>(arguments)...);
    samples_.back().differentiable = false;
  }
  [[nodiscard]] std::vector<Sample>& samples() { return samples_; }

 private:
  std::vector<Sample> samples_;
};

/// What a struct leaves out is as here.
struct Case {
  static constexpr DTypes dtypes = kFloating;     // all others must be refused
  static constexpr DTypes without_reference = 0;  // of these, the ones whose values the reference does not tell
  static constexpr Gives gives = Gives::Same;
  static constexpr double tolerance = 1;     // times the dtype's
  static constexpr bool gradient = true;     // floating inputs have one
  static constexpr bool twice = true;        // and the gradient has one too
  static constexpr bool zero_dim = true;     // takes 0-dim tensors, and one of the inputs is one
  static constexpr bool empty_input = true;  // takes tensors without elements, and one of the inputs is one
  static constexpr bool expands = true;      // an input that repeats its first row is a valid one
  static constexpr bool repeats = true;      // gives the same bits each time, on real GPUs too
  static constexpr bool torch = true;        // torch or torch.nn.functional has it by this name
  static constexpr bool sums = true;         // elements meet at one place, forward or backward: `many` says how to let many do so
};

/// A name for N spatial dimensions: "conv1d", "conv2d" or "conv3d".
template <int N>
constexpr const char* pick(const char* one, const char* two, const char* three) {
  return N == 1 ? one : N == 2 ? two : three;
}

/// What a struct has become: one operation for the checks and the benchmark.
struct Operation {
  std::string name;
  std::string torch;  // PyTorch's name; empty where it has none
  DTypes dtypes = kFloating;
  DTypes without_reference = 0;
  Gives gives = Gives::Same;
  double tolerance = 1;
  bool gradient = true, twice = true, zero_dim = true, empty_input = true, expands = true, repeats = true, sums = true;
  std::function<std::vector<Sample>()> samples;
  std::function<std::vector<Sample>(int64_t)> many;  // calls in which so many elements, mostly ones, meet at one place; empty: not said
  std::function<Results(const Arguments&)> run, reference;
  std::function<Results(const Arguments&)> in_place;  // of a pointwise operation: changes its first argument
  std::function<Sample(int64_t)> bench;               // a call of about so many elements; empty: not measured
  std::function<Results(const Arguments&)> timed;     // what is measured
  std::function<double(const Arguments&)> flops;      // empty: bytes count
};

namespace detail {

template <class R, class S, class... P>
R call(R (S::*function)(P...) const, const Arguments& arguments) {
  if (arguments.size() != sizeof...(P)) fail("a sample has ", arguments.size(), " arguments, not ", sizeof...(P));
  return [&]<size_t... I>(std::index_sequence<I...>) { return (S().*function)(arguments[I].template as<std::decay_t<P>>()...); }
  (std::index_sequence_for<P...>());
}

}  // namespace detail

/// The operation of a struct.
template <class S>
Operation operation() {
  Operation out;
  out.name = S::name;
  if constexpr (std::is_same_v<std::remove_cv_t<decltype(S::torch)>, bool>) out.torch = S::torch ? S::name : "";
  else out.torch = S::torch;
  out.dtypes = S::dtypes;
  out.without_reference = S::without_reference;
  out.gives = S::gives;
  out.tolerance = S::tolerance;
  out.gradient = S::gradient;
  out.twice = S::twice;
  out.zero_dim = S::zero_dim;
  out.empty_input = S::empty_input;
  out.expands = S::expands;
  out.repeats = S::repeats;
  out.sums = S::sums;
  out.samples = [] {
    Inputs in;
    S().inputs(in);
    return std::move(in.samples());
  };
  out.run = [](const Arguments& arguments) { return Results(detail::call(&S::run, arguments)); };
  out.reference = [](const Arguments& arguments) { return Results(detail::call(&S::reference, arguments)); };
  if constexpr (requires(Inputs & in) { S().many(in, 1); })
    out.many = [](int64_t n) {
      Inputs in;
      S().many(in, n);
      return std::move(in.samples());
    };
  if constexpr (requires(Inputs & in) { S().bench(in, 1); })
    out.bench = [](int64_t n) {
      Inputs in;
      S().bench(in, n);
      return in.samples().at(0);
    };
  if constexpr (requires { &S::timed; }) out.timed = [](const Arguments& arguments) { return Results(detail::call(&S::timed, arguments)); };
  else out.timed = out.run;
  if constexpr (requires { &S::flops; }) out.flops = [](const Arguments& arguments) { return detail::call(&S::flops, arguments); };
  return out;
}

/// Every operation that has a struct, by subject. Made when first asked for.
const std::vector<Operation>& operations();
/// The one of that name; nullptr where there is none.
const Operation* find_operation(std::string_view name);

// The subjects, a file each; called by `operations`.
void add_creation(std::vector<Operation>& list);
void add_pointwise(std::vector<Operation>& list);
void add_activations(std::vector<Operation>& list);
void add_reductions(std::vector<Operation>& list);
void add_products(std::vector<Operation>& list);
void add_losses(std::vector<Operation>& list);
void add_indexing(std::vector<Operation>& list);
void add_views(std::vector<Operation>& list);
void add_more_reductions(std::vector<Operation>& list);
void add_order(std::vector<Operation>& list);
void add_more_indexing(std::vector<Operation>& list);
void add_losses_of_elements(std::vector<Operation>& list);
void add_linalg(std::vector<Operation>& list);
void add_joining(std::vector<Operation>& list);
void add_normalizations(std::vector<Operation>& list);
void add_images(std::vector<Operation>& list);
void add_sequences(std::vector<Operation>& list);
void add_recurrent(std::vector<Operation>& list);
void add_convolutions(std::vector<Operation>& list);
void add_pooling(std::vector<Operation>& list);
void add_random(std::vector<Operation>& list);

/// Rows of the public pointwise list (kernels/pointwise.def) for which pointwise.cpp has no reference. Empty, or a test fails.
std::vector<std::string> pointwise_without_reference();

/// Calls f with each position within `sizes`, last dimension fastest.
void for_each_position(const Shape& sizes, const std::function<void(const Shape&)>& f);
/// `x` in float64 on the host, element by element through `f`: for references in plain C++.
Tensor each(const Tensor& x, const std::function<double(double)>& f);
/// The same of two, broadcast.
Tensor each(const Tensor& x, const Tensor& y, const std::function<double(double, double)>& f);
/// A float64 tensor on the host from `f(position)`.
Tensor generate(const Shape& sizes, const std::function<double(const Shape& position)>& f);
/// The elements that one result of a reduction is made of, in order.
using Row = std::vector<double>;
/// For each position of x without the dimensions `dims` (all where empty), `f` of the elements along them: sizes are those of the rest, or
/// 1 there with `keepdim`.
Tensor reduced(const Tensor& x, Shape dims, bool keepdim, const std::function<double(const Row&)>& f);
/// The same along one dimension, which a 0-dim tensor need not have.
Tensor reduced(const Tensor& x, int64_t dim, bool keepdim, const std::function<double(const Row&)>& f);
/// Each row of x along `dim` replaced by what `f` makes of it, of any one length.
Tensor mapped(const Tensor& x, int64_t dim, const std::function<Row(const Row&)>& f);
/// The element at a position, of a tensor on the host, as a double.
double at(const Tensor& x, const Shape& position);

}  // namespace tandem::cases
