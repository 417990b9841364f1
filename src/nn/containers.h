// Lists and dictionaries of modules of any type, for models that run them in their own way.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "nn/any_module.h"
#include "nn/module_ref.h"

namespace tandem::nn {

/// Modules by number, named "0", "1", …: `layers.append(nn::Linear(2, 3))`, then in forward `for (nn::Module& layer : layers) y =
/// layer(y)`. Holds them by value; copying it shares their parameters. It has no forward. As torch.nn.ModuleList.
struct ModuleList : Module {
  ModuleList() = default;
  /// Holds copies of the modules, in their order.
  template <class... Ms>
  requires(sizeof...(Ms) > 0 && (IsModule<Ms> && ...) &&
           !(sizeof...(Ms) == 1 && (std::is_same_v<std::remove_cvref_t<Ms>, ModuleList> && ...))) explicit ModuleList(Ms&&... modules) {
    (append(std::forward<Ms>(modules), Site::none()), ...);
  }

  /// Adds a module at the end.
  ModuleList& append(AnyModule module, Site = Site::here());
  /// Adds all of `other`'s, which share their parameters.
  ModuleList& extend(const ModuleList& other);
  /// Puts a module before number `i`; negative numbers count from the end.
  void insert(int64_t i, AnyModule module, Site = Site::here());
  [[nodiscard]] size_t size() const { return items_.size(); }
  [[nodiscard]] bool empty() const { return items_.empty(); }
  /// Module `i`; negative numbers count from the end. IndexError where there is none.
  [[nodiscard]] Module& at(int64_t i, Site = Site::here()) const { return item(i).get(); }
  /// The same as its own type. Error that names the module's type where it is another.
  template <class M>
  [[nodiscard]] M& at(int64_t i, Site = Site::here()) const {
    return detail::typed<M>("ModuleList.at", item(i).base());
  }
  /// The same, and its weight and bias by name: `layers[0].weight`.
  [[nodiscard]] ModuleRef operator[](int64_t i) const { return ModuleRef(item(i).get()); }

  class Iterator {
   public:
    explicit Iterator(const AnyModule* at) : at_(at) {}
    Module& operator*() const { return at_->get(); }
    Iterator& operator++() {
      ++at_;
      return *this;
    }
    friend bool operator==(Iterator, Iterator) = default;

   private:
    const AnyModule* at_;
  };
  [[nodiscard]] Iterator begin() const { return Iterator(items_.data()); }
  [[nodiscard]] Iterator end() const { return Iterator(items_.data() + items_.size()); }

  void fields(Fields& f) override;
  void settings(Settings& s) override;

 private:
  [[nodiscard]] const AnyModule& item(int64_t i) const;
  std::vector<AnyModule> items_;
};

/// Modules by name, in the order they were put in: `nn::ModuleDict heads{{"a", nn::Linear(2, 3)}, {"b", nn::Identity()}}; heads["a"](x)`.
/// Holds them by value. It has no forward. As torch.nn.ModuleDict.
struct ModuleDict : Module {
  using value_type = std::pair<std::string, AnyModule>;

  ModuleDict() = default;
  ModuleDict(std::initializer_list<value_type> modules);

  /// Adds a module at the end, or puts it in the place of the one of that name. Error for a name that is empty or has a point.
  void insert(std::string_view name, AnyModule module, Site = Site::here());
  /// Whether there is a module of that name.
  [[nodiscard]] bool contains(std::string_view name) const;
  /// Takes a module out; whether it was there.
  bool erase(std::string_view name);
  void clear() { items_.clear(); }
  [[nodiscard]] size_t size() const { return items_.size(); }
  [[nodiscard]] bool empty() const { return items_.empty(); }
  /// The names in their order.
  [[nodiscard]] std::vector<std::string> keys() const;
  /// The module of that name. Error that names those that are there, where there is none.
  [[nodiscard]] Module& at(std::string_view name, Site = Site::here()) const { return item(name).get(); }
  /// The same as its own type. Error that names the module's type where it is another.
  template <class M>
  [[nodiscard]] M& at(std::string_view name, Site = Site::here()) const {
    return detail::typed<M>("ModuleDict.at", item(name).base());
  }
  [[nodiscard]] ModuleRef operator[](std::string_view name) const { return ModuleRef(item(name).get()); }
  /// Names and modules, in order.
  [[nodiscard]] const std::vector<value_type>& items() const { return items_; }

  void fields(Fields& f) override;
  void settings(Settings& s) override;

 private:
  [[nodiscard]] const AnyModule& item(std::string_view name) const;
  std::vector<value_type> items_;
};

}  // namespace tandem::nn
