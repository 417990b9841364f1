#include "train/unnamed_parts.h"

#include <algorithm>
#include <typeinfo>
#include <utility>

#include "base/error.h"
#include "nn/walk.h"
#include "parallel/used_leaves.h"

namespace tandem::train::detail {

UnnamedParts::UnnamedParts(const Module& model) : model_(model) {
  nn::detail::walk(model, false, [&](const nn::detail::Field& field) {
    if (field.tensor && field.tensor->defined()) named_.insert(&field.tensor->impl());
  });
}

std::string UnnamedParts::sentence(const std::string& part, const std::string& use, Site site) const {
  return str(model_.name(), ".fields() does not name ", part, ", ", use, " at ", site.file, ":", site.line);
}

void UnnamedParts::explain(const Error& error, const std::vector<Device>& devices) const {
  if (typeid(error) != typeid(Error)) return;
  for (const nn::detail::Call& call : log_.calls())
    for (const Tensor& own : call.parameters)
      if (!named_.contains(&own.impl()) && std::find(devices.begin(), devices.end(), own.device()) == devices.end())
        fail(error.message(), "; ", sentence(call.module, "called", call.site), ", so it stayed on ", own.device(),
             ": name it there, f(\"name\", part)");
}

std::vector<std::string> UnnamedParts::behind(const Tensor& loss) const {
  constexpr const char* kAdvice =
      ": it is not trained, saved or moved with the model; name it there, f(\"name\", part), or switch its requires_grad off";
  auto leaves = parallel::detail::leaves_behind({&loss, 1});
  std::vector<std::string> sentences;
  for (const nn::detail::Call& call : log_.calls()) {
    bool found = false;
    for (const Tensor& own : call.parameters)
      if (leaves.erase(&own.impl()) > 0) found |= !named_.contains(&own.impl());
    if (found) sentences.push_back(sentence(call.module, "called", call.site) + kAdvice);
  }
  // What belongs to none of these: a tensor of the model's own, or a module of another signature. In the order of their operations.
  std::vector<std::pair<const TensorImpl*, const autograd::Node*>> others;
  for (const auto& [leaf, user] : leaves)
    if (user && !named_.contains(leaf)) others.emplace_back(leaf, user);
  std::sort(others.begin(), others.end(), [](const auto& a, const auto& b) { return a.second->sequence() < b.second->sequence(); });
  for (const auto& [leaf, user] : others)
    sentences.push_back(sentence(str("a tensor of size ", leaf->sizes), str("used by ", user->name()), user->site()) + kAdvice);
  return sentences;
}

}  // namespace tandem::train::detail
