// Which modules a piece of code calls, and whether the model around them names them. For the library.
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

class CallFrame;

/// Until the end of the scope, the module that is called next on this thread is a model by itself: a replica, whose parts nobody around it
/// names.
class OwnModel {
 public:
  OwnModel();
  ~OwnModel();
  OwnModel(const OwnModel&) = delete;
  OwnModel& operator=(const OwnModel&) = delete;

 private:
  const CallFrame* before_;
};

/// What a model names in `fields`.
struct Named {
  explicit Named(const ModuleBase& model);
  std::unordered_set<const ModuleBase*> modules;
  std::unordered_set<const TensorImpl*> tensors;
};

/// A module that was called.
struct Call {
  std::string parent;              // the type whose `fields` would have to name what is missing; empty: the model
  std::string part;                // what it would have to name: "Linear(in_features=4, out_features=8, bias=True)"
  Site site;                       // of the first call of that part
  std::vector<Tensor> parameters;  // the called module's own, without those of its children
};

/// Writes down the modules that have parameters of their own and are called on this thread while it lives, in the order of their calls:
/// each by its first one. There is one log at a time: the latest.
class CallLog {
 public:
  explicit CallLog(const ModuleBase& model);
  ~CallLog();
  CallLog(const CallLog&) = delete;
  CallLog& operator=(const CallLog&) = delete;

  [[nodiscard]] const std::vector<Call>& calls() const { return calls_; }
  /// Whether the model names that parameter or buffer.
  [[nodiscard]] bool names(const TensorImpl* tensor) const { return named_.tensors.contains(tensor); }
  /// For CallFrame.
  void note(const CallFrame& frame);

 private:
  const ModuleBase& model_;
  Named named_;
  CallLog* before_;
  std::unordered_set<const ModuleBase*> met_;
  std::vector<Call> calls_;
};

/// A sentence's beginning: what a model computes with and its `fields` does not name, how it uses that, and where.
[[nodiscard]] std::string unnamed_part(const std::string& model, const std::string& part, const std::string& use, Site site);
/// What that means, and what to do.
inline constexpr const char* kUnnamedAdvice =
    ": it is not trained, saved or moved with the model; name it there, f(\"name\", part), or switch its requires_grad off";

/// The calling thread's log; nullptr unless one lives.
inline thread_local constinit CallLog* running_log = nullptr;

}  // namespace tandem::nn::detail
