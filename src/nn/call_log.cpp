#include "nn/call_log.h"

#include <utility>

#include "nn/module.h"
#include "nn/repr.h"

namespace tandem::nn::detail {
namespace {

struct OwnParameters final : Fields {
  std::vector<Tensor> found;
  void visit(std::string_view, ModuleBase&) override {}
  void visit(std::string_view, Tensor& tensor, Kind kind) override {
    if (!kind.is_buffer && tensor.defined()) found.push_back(tensor);
  }
};

}  // namespace

CallLog::CallLog() : before_(std::exchange(running_log, this)) {}
CallLog::~CallLog() { running_log = before_; }

void CallLog::note(ModuleBase& module, Site site) {
  if (!met_.insert(&module).second) return;
  OwnParameters own;
  module.fields(own);
  if (!own.found.empty()) calls_.push_back({repr(module), site, std::move(own.found)});
}

}  // namespace tandem::nn::detail
