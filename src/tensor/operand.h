// What arithmetic takes: a tensor or a number, together with the line it was written on.
#pragma once

#include <type_traits>

#include "base/site.h"
#include "tensor/scalar.h"

namespace tandem {

class Tensor;

/// A tensor or a number. Made by conversion in a call; refers to the tensor, so it must not outlive the statement.
class Operand {
 public:
  Operand(const Tensor& tensor, Site site = Site::here()) : tensor_(&tensor), site_(site) {}
  /// A temporary: its memory may be reused for the result where nothing else holds it.
  Operand(Tensor&& tensor, Site site = Site::here()) : tensor_(&tensor), temporary_(true), site_(site) {}
  Operand(const Scalar& number, Site site = Site::here()) : number_(number), site_(site) {}
  template <class T>
  requires std::is_arithmetic_v<T> Operand(T number, Site site = Site::here()) : number_(number), site_(site) {}

  /// Whether it is a tensor, and no number.
  [[nodiscard]] bool is_tensor() const { return tensor_ != nullptr; }
  /// The tensor; only where it is one.
  [[nodiscard]] const Tensor& tensor() const { return *tensor_; }
  /// The number; only where it is one.
  [[nodiscard]] const Scalar& number() const { return number_; }
  /// Whether the tensor dies with the statement.
  [[nodiscard]] bool is_temporary() const { return temporary_; }
  /// The line that it was written on.
  [[nodiscard]] Site site() const { return site_; }

 private:
  const Tensor* tensor_ = nullptr;
  Scalar number_ = 0;
  bool temporary_ = false;
  Site site_;
};

/// An operand that only tensors convert to.
class Input : public Operand {
 public:
  Input(const Tensor& tensor, Site site = Site::here()) : Operand(tensor, site) {}
  Input(Tensor&& tensor, Site site = Site::here()) : Operand(static_cast<Tensor&&>(tensor), site) {}
  Input(const Operand& operand) : Operand(operand) {}
};

}  // namespace tandem
