// Golden cases of modules: build, load, call, compare.
#include "modules.h"

namespace golden {
namespace {

const Modules& all_modules() {
  static const Modules table = [] {
    Modules modules;
    for (const auto add : {
             add_activation_modules,
             add_convolution_modules,
             add_layer_modules,
             add_loss_modules,
             add_normalization_modules,
             add_pooling_modules,
             add_recurrent_modules,
             add_attention_modules,
         })
      add(modules);
    return modules;
  }();
  return table;
}

/// What `call` adds to a text: "weight" of "parameter weight".
std::string after(const std::string& prefix, const std::string& text) {
  return text.compare(0, prefix.size(), prefix) == 0 ? text.substr(prefix.size()) : "";
}

}  // namespace

std::string run_module(const std::string& name, const Json& test, const io::TensorMap& stored, Device device) {
  Tensors tensors(stored, device);
  const Json gradients = test.value("gradients", Json::array());
  const auto wanted = [&](const std::string& key) {
    for (const Json& pair : gradients)
      if (pair[0] == "input " + key) return true;
    return false;
  };
  make_tensors(test["args"], wanted, tensors);
  make_tensors(test["kwargs"], wanted, tensors);
  const Built built = all_modules().call("nn." + name, test["construct"]["args"], test["construct"]["kwargs"], tensors);
  nn::Module& module = *built.module;
  module.to(device);
  StateDict state;
  for (const auto& [key, value] : test["state"].items()) state[key] = tensors.stored(value);
  module.load_state_dict(state);
  module.train(test["training"].get<bool>());

  std::string why;
  auto bound = Signature(built.forward).bind(test["args"], test["kwargs"], why);
  if (!bound) throw Lacking{"nn." + name + " called with " + why};
  Call call(std::move(*bound), tensors);
  const Results results = built.call(call);
  if (std::string different = different_results(results, test, tensors); !different.empty()) return different;
  if (!gradients.empty()) {
    run_backward(results, test, tensors);
    std::map<std::string, Tensor> parameters;
    for (auto& [key, parameter] : module.named_parameters()) parameters.emplace(key, parameter);
    for (const Json& pair : gradients) {
      const auto of = pair[0].get<std::string>();
      const std::string input = after("input ", of);
      const Tensor& owner = input.empty() ? parameters.at(after("parameter ", of)) : tensors.made(input);
      const std::string different = different_gradient(of, owner.grad(), pair[1], test, tensors);
      if (!different.empty()) return different;
    }
  }
  const StateDict left = module.state_dict();
  const Json state_after = test.value("state_after", Json::object());
  for (const auto& [key, value] : state_after.items()) {
    const std::string different = difference(left.at(key), tensors.stored(value), test["rtol"], test["atol"]);
    if (!different.empty()) return key + " after: " + different;
  }
  return "";
}

std::vector<std::string> module_names() { return all_modules().names(); }

}  // namespace golden
