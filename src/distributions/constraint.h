// What values a parameter or a sample may have.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <type_traits>
#include <utility>

#include "tensor/tensor.h"

namespace tandem::distributions {

/// A tensor or a number that is kept, as that of a bound.
class TensorOrNumber {
 public:
  TensorOrNumber(const Tensor& tensor) : tensor_(tensor) {}
  template <class T>
  requires std::is_arithmetic_v<T> TensorOrNumber(T number) : number_(number) {}
  TensorOrNumber(const Operand& operand) {
    if (operand.is_tensor()) tensor_ = operand.tensor();
    else number_ = operand.number();
  }

  /// For the library: as what arithmetic takes, for as long as this lives.
  [[nodiscard]] Operand operand() const { return tensor_.defined() ? Operand(tensor_) : Operand(number_); }

 private:
  Tensor tensor_;
  Scalar number_{0};
};

/// What values are allowed. As torch.distributions.constraints.Constraint.
class Constraint {
 public:
  /// Bools, true where a value is allowed, in the sizes of the value without its last `event_dim` dimensions.
  using Check = std::function<Tensor(const Tensor& value)>;

  /// One of your own. `text` is its name in errors; `event_dim` is how many of the last dimensions belong to one value.
  Constraint(std::string text, Check check, int64_t event_dim = 0, bool is_discrete = false)
      : text_(std::move(text)), check_(std::move(check)), event_dim_(event_dim), is_discrete_(is_discrete) {}

  /// Bools, true where a value is allowed, without gradients. Error where it has fewer dimensions than event_dim.
  [[nodiscard]] Tensor check(const Tensor& value, Site site = Site::here()) const;
  /// How it is called: "GreaterThan(lower_bound=0)".
  [[nodiscard]] const std::string& text() const { return text_; }
  /// How many of the last dimensions belong to one value.
  [[nodiscard]] int64_t event_dim() const { return event_dim_; }
  /// Whether the values are whole numbers.
  [[nodiscard]] bool is_discrete() const { return is_discrete_; }

 private:
  std::string text_;
  Check check_;
  int64_t event_dim_;
  bool is_discrete_;
};

namespace constraints {

/// Any number but nan.
[[nodiscard]] Constraint real();
/// Vectors of such.
[[nodiscard]] Constraint real_vector();
/// Above 0.
[[nodiscard]] Constraint positive();
/// 0 or more.
[[nodiscard]] Constraint nonnegative();
/// From 0 to 1.
[[nodiscard]] Constraint unit_interval();
/// 0 or 1.
[[nodiscard]] Constraint boolean();
/// Whole numbers, 0 or more.
[[nodiscard]] Constraint nonnegative_integer();
/// Above a bound, which is a number or a tensor that broadcasts to the values.
[[nodiscard]] Constraint greater_than(const TensorOrNumber& lower_bound);
/// A bound or more.
[[nodiscard]] Constraint greater_than_eq(const TensorOrNumber& lower_bound);
/// Below a bound.
[[nodiscard]] Constraint less_than(const TensorOrNumber& upper_bound);
/// From one bound to another, both included.
[[nodiscard]] Constraint interval(const TensorOrNumber& lower_bound, const TensorOrNumber& upper_bound);
/// Whole numbers from one bound to another.
[[nodiscard]] Constraint integer_interval(const TensorOrNumber& lower_bound, const TensorOrNumber& upper_bound);
/// Vectors of numbers that are not negative and add up to 1.
[[nodiscard]] Constraint simplex();
/// Vectors of zeros and a single 1.
[[nodiscard]] Constraint one_hot();
/// Vectors of numbers that are not negative and add up to `upper_bound` at most.
[[nodiscard]] Constraint multinomial(int64_t upper_bound);
/// Lower triangular matrices with a positive diagonal.
[[nodiscard]] Constraint lower_cholesky();
/// Symmetric matrices whose eigenvalues are all positive. Of float32 or float64.
[[nodiscard]] Constraint positive_definite();
/// A value is allowed where all elements of its last `reinterpreted_batch_ndims` dimensions are.
[[nodiscard]] Constraint independent(const Constraint& base, int64_t reinterpreted_batch_ndims);

}  // namespace constraints
}  // namespace tandem::distributions
