// What a model computes with and does not name in `fields`: it would not be trained, saved or moved. For the library.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "nn/call_log.h"
#include "train/module.h"

namespace tandem::train::detail {

/// Looks, while it lives, at what a model's step calls.
class UnnamedParts {
 public:
  explicit UnnamedParts(const Module& model);

  /// A sentence for each part that gradients of `loss` flow to and that the model does not name, with its type and line.
  [[nodiscard]] std::vector<std::string> behind(const Tensor& loss) const;
  /// Where a module was called that the model does not name and that is on none of `devices`, which it should have moved to with the model:
  /// throws `error` anew, with a sentence about that module.
  void explain(const Error& error, const std::vector<Device>& devices) const;

 private:
  [[nodiscard]] std::string sentence(const nn::detail::Call& call) const;

  const Module& model_;
  nn::detail::CallLog log_;
};

}  // namespace tandem::train::detail
