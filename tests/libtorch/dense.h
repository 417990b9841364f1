// A small layer of libtorch's kind, for the tests of what modules are made of.
#pragma once

#include "libtorch/module.h"
#include "nn/support.h"
#include "ops/creation.h"
#include "ops/matmul.h"

namespace tests {

/// x · weightᵀ + step, where weight begins as ones and step is a buffer.
struct DenseImpl : torch::nn::Cloneable<DenseImpl> {
  DenseImpl(int64_t in, int64_t out, tandem::Site made = tandem::Site::here()) : in_features(in), out_features(out), line(made.line) {
    reset();
  }
  void reset() override {
    const auto site = tandem::Site::none();
    weight = register_parameter("weight", tandem::ones({out_features, in_features}, {}, site));
    step = register_buffer("step", tandem::zeros({1}, {}, site));
    absent = register_parameter("absent", tandem::Tensor(), /*requires_grad=*/false);
  }
  tandem::Tensor forward(const tandem::Tensor& x, tandem::Site site = tandem::Site::here()) {
    return tandem::matmul(x, weight.t(site), site).add(step, 1, site);
  }
  void pretty_print(std::ostream& stream) const override { stream << "tests::Dense(in=" << in_features << ", out=" << out_features << ")"; }

  int64_t in_features, out_features;
  int line;
  tandem::Tensor weight, step, absent;
};
TORCH_MODULE(Dense);

}  // namespace tests
