#include "nn/walk.h"

#include "base/error.h"
#include "nn/module.h"

namespace tandem::nn::detail {
namespace {

// A module's tensors are handed out while it names them; its children wait until it is done, so that they come after.
class Walker final : public Fields {
 public:
  Walker(bool names, Visit visit, void* context) : names_(names), visit_(visit), context_(context) {}

  void run(ModuleBase& module) {
    owner_ = &module;
    visit_(context_, Field{.name = path_, .module = &module});
    const size_t first = children_.size();
    module.fields(*this);
    const size_t last = children_.size();
    const size_t length = path_.size();
    for (size_t i = first; i < last; ++i) {
      if (names_) join(children_[i].first);
      run(*children_[i].second);
      path_.resize(length);
    }
    children_.resize(first);
  }

 private:
  void join(std::string_view name) {
    if (!path_.empty()) path_ += '.';
    path_ += name;
  }
  void visit(std::string_view name, ModuleBase& module) override { children_.emplace_back(names_ ? name : std::string_view(), &module); }
  void visit(std::string_view name, Tensor& tensor, Kind kind) override {
    const size_t length = path_.size();
    if (names_) join(name);
    visit_(context_, Field{path_, owner_, &tensor, kind.is_buffer, kind.persistent, kind.placement});
    path_.resize(length);
  }

  bool names_;
  Visit visit_;
  void* context_;
  ModuleBase* owner_ = nullptr;
  std::string path_;
  std::vector<std::pair<std::string, ModuleBase*>> children_;
};

// A field without its name, which is kept as a hash: replicas are made at every call, and names are wanted only in errors.
struct Stop {
  size_t name;
  Field field;
};

std::vector<Stop> stops(const ModuleBase& root) {
  std::vector<Stop> result;
  walk(root, true, [&](const Field& field) {
    result.push_back({std::hash<std::string_view>()(field.name), field});
    result.back().field.name = {};
  });
  return result;
}

std::string name_of_stop(const ModuleBase& root, size_t number) {
  std::string name;
  walk(root, true, [&](const Field& field) {
    if (number-- == 0) name = field.name;
  });
  return name.empty() ? "the module itself" : name;
}

}  // namespace

void walk(ModuleBase& root, bool names, Visit visit, void* context) { Walker(names, visit, context).run(root); }

void walk_copy(const char* op, const ModuleBase& original, ModuleBase& copy, void (*visit)(void*, const Field&, const Field&),
               void* context) {
  const std::vector<Stop> ours = stops(original), theirs = stops(copy);
  bool same = ours.size() == theirs.size();
  for (size_t i = 0; same && i < ours.size(); ++i)
    same = ours[i].name == theirs[i].name && ours[i].field.is_module() == theirs[i].field.is_module();
  if (!same)
    fail("[", op, "] a copy of ", original.name(),
         " names other parts than the original: its fields() must depend on the module's own members only");
  for (size_t i = 0; i < ours.size(); ++i) {
    const Field &a = ours[i].field, &b = theirs[i].field;
    if (a.is_module() ? a.module == b.module : a.tensor == b.tensor)
      fail("[", op, "] a copy of ", original.name(), " shares '", name_of_stop(original, i),
           "' with the original, which it points or refers to: hold it by value");
    visit(context, a, b);
  }
}

}  // namespace tandem::nn::detail
