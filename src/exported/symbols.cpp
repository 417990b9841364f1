// Numbers that are known when the program runs: sizes of tensors, and what is computed with them. Their arguments have no names.
#include <algorithm>
#include <cmath>

#include "exported/call.h"

namespace tandem::exported {
namespace {

Scalar number_at(Call& call, size_t i) {
  const auto* number = std::get_if<Scalar>(&call.value(i));
  if (!number) fail("its argument ", i, " is no number");
  return *number;
}
bool is_real(Call& call) {
  for (size_t i = 0; i < call.size(); ++i)
    if (number_at(call, i).is_floating()) return true;
  return false;
}

using Whole = int64_t (*)(int64_t, int64_t);
using Real = double (*)(double, double);
/// An operation of two numbers: of whole ones, and of others.
template <Whole kWhole, Real kReal>
void of_two(Call& call) {
  const Scalar a = number_at(call, 0), b = number_at(call, 1);
  if (is_real(call)) call.give(Scalar(kReal(a.to<double>(), b.to<double>())));
  else call.give(Scalar(kWhole(a.to<int64_t>(), b.to<int64_t>())));
}

// Sums and products that an int64 cannot hold are errors, as sizes of which no tensor can be made.
[[noreturn]] void fail_too_large() { fail("the size that it computes is more than an int64 can hold"); }
int64_t plus(int64_t a, int64_t b) {
  int64_t result = 0;
  if (__builtin_add_overflow(a, b, &result)) fail_too_large();
  return result;
}
int64_t minus(int64_t a, int64_t b) {
  int64_t result = 0;
  if (__builtin_sub_overflow(a, b, &result)) fail_too_large();
  return result;
}
int64_t times(int64_t a, int64_t b) {
  int64_t result = 0;
  if (__builtin_mul_overflow(a, b, &result)) fail_too_large();
  return result;
}
/// Rounded down, as Python does it.
int64_t divided(int64_t a, int64_t b) {
  if (b == 0 || (a == INT64_MIN && b == -1)) fail("it divides ", a, " by ", b);
  return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}
int64_t rest(int64_t a, int64_t b) { return a - divided(a, b) * b; }
int64_t raised(int64_t a, int64_t b) {
  if (b < 0 || b > 64) fail("it raises ", a, " to the power ", b);
  int64_t result = 1;
  for (; b > 0; --b) result = times(result, a);
  return result;
}
int64_t larger(int64_t a, int64_t b) { return std::max(a, b); }
int64_t smaller(int64_t a, int64_t b) { return std::min(a, b); }

double real_plus(double a, double b) { return a + b; }
double real_minus(double a, double b) { return a - b; }
double real_times(double a, double b) { return a * b; }
double real_floor_divided(double a, double b) { return std::floor(a / b); }
double real_rest(double a, double b) { return a - std::floor(a / b) * b; }
double real_raised(double a, double b) { return std::pow(a, b); }
double real_larger(double a, double b) { return std::max(a, b); }
double real_smaller(double a, double b) { return std::min(a, b); }

void true_divided(Call& call) { call.give(Scalar(number_at(call, 0).to<double>() / number_at(call, 1).to<double>())); }
void negative(Call& call) {
  const Scalar x = number_at(call, 0);
  call.give(x.is_floating() ? Scalar(-x.to<double>()) : Scalar(minus(0, x.to<int64_t>())));
}
void root(Call& call) { call.give(Scalar(std::sqrt(number_at(call, 0).to<double>()))); }
void as_real(Call& call) { call.give(Scalar(number_at(call, 0).to<double>())); }
void opposite(Call& call) { call.give(Scalar(!number_at(call, 0).to<bool>())); }

/// A real number as a whole one. Error for one that an int64 cannot hold.
int64_t whole_of(double x) {
  if (!(std::abs(x) < 9e18)) fail("it makes a whole number of ", x);
  return static_cast<int64_t>(x);
}
enum class Rounds : uint8_t { Off, Down, Up };
template <Rounds kRounds>
void as_whole(Call& call) {
  const Scalar x = number_at(call, 0);
  if (!x.is_floating()) return call.give(Scalar(x.to<int64_t>()));
  const double value = x.to<double>();
  call.give(Scalar(whole_of(kRounds == Rounds::Off ? value : kRounds == Rounds::Down ? std::floor(value) : std::ceil(value))));
}

enum class Test : uint8_t { Equal, NotEqual, Less, LessEqual, Greater, GreaterEqual, And, Or };
template <Test kTest>
void compared(Call& call) {
  const double a = number_at(call, 0).to<double>(), b = number_at(call, 1).to<double>();
  const bool results[] = {a == b, a != b, a<b, a <= b, a> b, a >= b, a != 0 && b != 0, a != 0 || b != 0};
  call.give(Scalar(results[static_cast<size_t>(kTest)]));
}

void size_of_dimension(Call& call) { call.give(Scalar(call.tensor("self").size(call.integer("dim"), call.site()))); }
void stride_of_dimension(Call& call) { call.give(Scalar(call.tensor("self").stride(call.integer("dim"), call.site()))); }
void element_count_of(Call& call) { call.give(Scalar(call.tensor("self").numel())); }
void value_of(Call& call) { call.give(call.tensor("self").item(call.site())); }

/// What the program checks of itself. A condition that does not hold is an error with its text.
void asserted(Call& call) {
  const bool holds =
      call.has("self") && call.is_tensor("self") ? call.tensor("self").item(call.site()).to<bool>() : call.truth("self", true);
  if (!holds) fail("the program refuses its input: ", call.text("assert_msg", "a condition does not hold"));
  (void)call.has("assert_msg");
}
void nothing(Call& call) {
  for (size_t i = 0; i < call.size(); ++i) (void)call.value(i);
}

constexpr OperatorRow kRows[] = {
    {"_assert_async", asserted},
    {"_assert_scalar", asserted},
    {"_assert_tensor_metadata", nothing},
    {"_local_scalar_dense", value_of},
    {"_operator.add", of_two<plus, real_plus>},
    {"_operator.and_", compared<Test::And>},
    {"_operator.eq", compared<Test::Equal>},
    {"_operator.floordiv", of_two<divided, real_floor_divided>},
    {"_operator.ge", compared<Test::GreaterEqual>},
    {"_operator.gt", compared<Test::Greater>},
    {"_operator.le", compared<Test::LessEqual>},
    {"_operator.lt", compared<Test::Less>},
    {"_operator.mod", of_two<rest, real_rest>},
    {"_operator.mul", of_two<times, real_times>},
    {"_operator.ne", compared<Test::NotEqual>},
    {"_operator.neg", negative},
    {"_operator.not_", opposite},
    {"_operator.or_", compared<Test::Or>},
    {"_operator.pow", of_two<raised, real_raised>},
    {"_operator.sub", of_two<minus, real_minus>},
    {"_operator.truediv", true_divided},
    {"item", value_of},
    {"math.ceil", as_whole<Rounds::Up>},
    {"math.floor", as_whole<Rounds::Down>},
    {"math.trunc", as_whole<Rounds::Off>},
    {"sym_constrain_range", nothing},
    {"sym_constrain_range_for_size", nothing},
    {"sym_numel", element_count_of},
    {"sym_size", size_of_dimension},
    {"sym_stride", stride_of_dimension},
    {"torch._sym_sqrt", root},
    {"torch.sym_float", as_real},
    {"torch.sym_int", as_whole<Rounds::Off>},
    {"torch.sym_max", of_two<larger, real_larger>},
    {"torch.sym_min", of_two<smaller, real_smaller>},
    {"torch.sym_not", opposite},
};

}  // namespace

std::span<const OperatorRow> symbol_operators() { return kRows; }

}  // namespace tandem::exported
