// Which modules a piece of code calls. For the library.
#pragma once

#include <string>
#include <unordered_set>
#include <vector>

#include "base/site.h"
#include "tensor/tensor.h"

namespace tandem::nn {
struct ModuleBase;
}

namespace tandem::nn::detail {

/// A module that was called.
struct Call {
  std::string module;              // "Linear(in_features=4, out_features=8, bias=True)"
  Site site;                       // of its first call
  std::vector<Tensor> parameters;  // its own, without those of its children
};

/// Writes down the modules from tensor to tensor that have parameters of their own and are called on this thread while it lives, in the
/// order of their calls: each by its first one. There is one log at a time: the latest.
class CallLog {
 public:
  CallLog();
  ~CallLog();
  CallLog(const CallLog&) = delete;
  CallLog& operator=(const CallLog&) = delete;

  [[nodiscard]] const std::vector<Call>& calls() const { return calls_; }
  /// For the call operator.
  void note(ModuleBase& module, Site site);

 private:
  CallLog* before_;
  std::unordered_set<const ModuleBase*> met_;
  std::vector<Call> calls_;
};

/// The calling thread's log; nullptr unless one lives.
inline thread_local constinit CallLog* running_log = nullptr;

}  // namespace tandem::nn::detail
