// Whether a hook runs in a backward that it has met already, also where an earlier one ended by an error. For the library.
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "autograd/autograd.h"

namespace tandem::parallel::detail {

class BackwardWatch {
 public:
  /// From a hook: whether it is the first one of the backward that runs. Then `at_end` is called when that has come to its end, unless it
  /// throws.
  bool meets_new(std::function<void()> at_end) {
    if (!running_.expired()) return false;
    // The callback lives as long as the backward, whichever way that ends.
    auto running = std::make_shared<char>();
    running_ = running;
    autograd::queue_callback([running = std::move(running), at_end = std::move(at_end)] { at_end(); });
    return true;
  }

 private:
  std::weak_ptr<char> running_;
};

}  // namespace tandem::parallel::detail
