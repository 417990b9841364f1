#include "nn/module_ref.h"

namespace tandem::nn {
namespace {

// Finds a tensor of a module's own by its name.
class Find final : public Fields {
 public:
  explicit Find(std::string_view name) : name_(name) {}
  [[nodiscard]] const Tensor& found() const { return found_; }

 private:
  void visit(std::string_view, ModuleBase&) override {}
  void visit(std::string_view name, Tensor& tensor, Kind) override {
    if (name == name_) found_ = tensor;
  }

  std::string_view name_;
  Tensor found_;
};

Tensor own(Module& module, std::string_view name) {
  Find find(name);
  module.fields(find);
  return find.found();
}

}  // namespace

ModuleRef::ModuleRef(Module& module) : weight(own(module, "weight")), bias(own(module, "bias")), module_(&module) {}

}  // namespace tandem::nn
