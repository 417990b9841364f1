// Activations as modules, for Sequential.
#pragma once

#include "nn/module.h"

namespace tandem::nn {

/// max(0, x).
struct ReLU : Module {
  Tensor forward(const Tensor& x) override;
};

struct Tanh : Module {
  Tensor forward(const Tensor& x) override;
};

/// 1 / (1 + exp(-x)).
struct Sigmoid : Module {
  Tensor forward(const Tensor& x) override;
};

/// Softmax along `dim`.
struct Softmax : Module {
  int64_t dim;

  explicit Softmax(int64_t dim) : dim(dim) {}
  Tensor forward(const Tensor& x) override;
  [[nodiscard]] std::string extra_repr() const override;
};

/// The logarithm of softmax along `dim`.
struct LogSoftmax : Module {
  int64_t dim;

  explicit LogSoftmax(int64_t dim) : dim(dim) {}
  Tensor forward(const Tensor& x) override;
  [[nodiscard]] std::string extra_repr() const override;
};

}  // namespace tandem::nn
