// Golden cases of optimizers: some steps from given gradients.
#include <set>

#include "golden.h"

namespace golden {
namespace {

/// Sets options by PyTorch's keyword names.
class Keywords final : public optim::detail::Visitor {
 public:
  explicit Keywords(const Json& values) : values_(values) {}
  void operator()(std::string_view name, double& number) override {
    if (const Json* v = find(name)) number = v->get<double>();
  }
  void operator()(std::string_view name, int64_t& number) override {
    if (const Json* v = find(name)) number = v->get<int64_t>();
  }
  void operator()(std::string_view name, bool& flag) override {
    if (const Json* v = find(name)) flag = v->get<bool>();
  }
  void operator()(std::string_view name, std::pair<double, double>& numbers) override {
    if (const Json* v = find(name)) numbers = {(*v)[0].get<double>(), (*v)[1].get<double>()};
  }
  void operator()(std::string_view, Tensor&) override {}
  void check_all_used(const std::string& optimizer) const {
    for (const auto& [name, value] : values_.items())
      if (!used_.count(name)) throw Lacking{optimizer + " with argument " + name};
  }

 private:
  const Json* find(std::string_view name) {
    const auto found = values_.find(std::string(name));
    if (found == values_.end()) return nullptr;
    used_.insert(std::string(name));
    return &*found;
  }
  const Json& values_;
  std::set<std::string> used_;
};

template <class O>
std::unique_ptr<optim::Optimizer> make(const std::string& name, std::vector<Tensor> parameters, const Json& kwargs) {
  typename O::Options options;
  Keywords keywords(kwargs);
  options.each(keywords);
  keywords.check_all_used(name);
  return std::make_unique<O>(std::move(parameters), options);
}

using Maker = std::unique_ptr<optim::Optimizer> (*)(const std::string&, std::vector<Tensor>, const Json&);
const std::map<std::string, Maker> kMakers{
    {"SGD", make<optim::SGD>},           {"Adam", make<optim::Adam>},       {"AdamW", make<optim::AdamW>},
    {"Adadelta", make<optim::Adadelta>}, {"Adagrad", make<optim::Adagrad>}, {"Adamax", make<optim::Adamax>},
    {"ASGD", make<optim::ASGD>},         {"NAdam", make<optim::NAdam>},     {"RAdam", make<optim::RAdam>},
    {"RMSprop", make<optim::RMSprop>},   {"Rprop", make<optim::Rprop>},
};

}  // namespace

std::string run_optimizer(const std::string& name, const Json& test, const io::TensorMap& stored, Device device) {
  const auto maker = kMakers.find(name);
  if (maker == kMakers.end()) throw Lacking{"optim." + name};
  Tensors tensors(stored, device);
  std::vector<Tensor> parameters;
  for (const Json& key : test["parameters"]) parameters.push_back(tensors.at(Json{{"tensor", key}}).requires_grad_());
  const auto optimizer = maker->second(name, parameters, test["kwargs"]);
  for (const Json& gradients : test["gradients"]) {
    for (size_t i = 0; i < parameters.size(); ++i)
      parameters[i].set_grad(gradients[i].is_null() ? Tensor() : stored.at(gradients[i]).to(device));
    optimizer->step();
  }
  for (size_t i = 0; i < parameters.size(); ++i) {
    const std::string different = difference(parameters[i], stored.at(test["results"][i]), test["rtol"], test["atol"]);
    if (!different.empty()) return "parameter " + std::to_string(i) + ": " + different;
  }
  return "";
}

std::vector<std::string> optimizer_names() {
  std::vector<std::string> names;
  for (const auto& [name, maker] : kMakers) names.push_back("optim." + name);
  return names;
}

}  // namespace golden
