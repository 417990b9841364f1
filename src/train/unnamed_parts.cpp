#include "train/unnamed_parts.h"

#include <algorithm>
#include <typeinfo>
#include <utility>

#include "base/error.h"
#include "parallel/used_leaves.h"

namespace tandem::train::detail {

UnnamedParts::UnnamedParts(const Module& model) : model_(model), log_(model) {}

std::string UnnamedParts::sentence(const nn::detail::Call& call) const {
  return nn::detail::unnamed_part(call.parent.empty() ? model_.name() : call.parent, call.part, "called", call.site);
}

void UnnamedParts::explain(const Error& error, const std::vector<Device>& devices) const {
  if (typeid(error) != typeid(Error)) return;
  for (const nn::detail::Call& call : log_.calls())
    for (const Tensor& own : call.parameters)
      if (!log_.names(&own.impl()) && std::find(devices.begin(), devices.end(), own.device()) == devices.end())
        fail(error.message(), "; ", sentence(call), ", so it stayed on ", own.device(), ": name it there, f(\"name\", part)");
}

std::vector<std::string> UnnamedParts::behind(const Tensor& loss) const {
  auto leaves = parallel::detail::leaves_behind({&loss, 1});
  std::vector<std::string> sentences;
  const auto add = [&](const std::string& sentence) {
    if (std::find(sentences.begin(), sentences.end(), sentence) == sentences.end()) sentences.push_back(sentence);
  };
  for (const nn::detail::Call& call : log_.calls()) {
    bool found = false;
    for (const Tensor& own : call.parameters)
      if (leaves.erase(&own.impl()) > 0) found |= !log_.names(&own.impl());
    if (found) add(sentence(call) + nn::detail::kUnnamedAdvice);
  }
  // What belongs to none of these: a tensor of the model's own. In the order of their operations.
  std::vector<std::pair<const TensorImpl*, const autograd::Node*>> others;
  for (const auto& [leaf, user] : leaves)
    if (user && !log_.names(leaf)) others.emplace_back(leaf, user);
  std::sort(others.begin(), others.end(), [](const auto& a, const auto& b) { return a.second->sequence() < b.second->sequence(); });
  for (const auto& [leaf, user] : others)
    add(nn::detail::unnamed_part(model_.name(), str("a tensor of size ", leaf->sizes), str("used by ", user->name()), user->site()) +
        nn::detail::kUnnamedAdvice);
  return sentences;
}

}  // namespace tandem::train::detail
