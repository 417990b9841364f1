#include "parallel/optimizer_state.h"

#include <charconv>
#include <map>
#include <string_view>

#include "autograd/autograd.h"
#include "base/error.h"
#include "ops/creation.h"
#include "parallel/flat_ranges.h"

namespace tandem::parallel::detail {
namespace {

constexpr std::string_view kState = "state.", kGroups = "param_groups.";

/// A number and what follows it: "12.exp_avg" gives 12 and "exp_avg".
std::pair<size_t, std::string_view> number_and_rest(std::string_view text) {
  size_t number = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), number).ptr;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  if (!text.empty()) text.remove_prefix(1);
  return {number, text};
}

/// The options of groups, with the numbers of what is in each.
void copy_groups(const StateDict& from, const std::vector<size_t>& counts, StateDict& to) {
  int64_t before = 0;
  for (size_t g = 0; g < counts.size(); ++g) {
    const std::string prefix = str(kGroups, g, ".");
    to.add(prefix, from.under(prefix));
    const auto count = static_cast<int64_t>(counts[g]);
    to[prefix + "params"] = arange(before, before + count);
    before += count;
  }
}

void check_groups(const char* op, const StateDict& whole, const std::vector<size_t>& counts) {
  for (size_t g = 0; g < counts.size(); ++g) {
    const Tensor* numbers = whole.find(str(kGroups, g, ".params"));
    const auto count = static_cast<int64_t>(counts[g]);
    if (!numbers) fail("[", op, "] loaded state dict has a different number of parameter groups: ", g, ", not ", counts.size());
    if (numbers->numel() != count) fail("[", op, "] loaded state dict has ", numbers->numel(), " parameters in group ", g, ", not ", count);
  }
  if (whole.contains(str(kGroups, counts.size(), ".params")))
    fail("[", op, "] loaded state dict has a different number of parameter groups: more than ", counts.size());
}

}  // namespace

StateDict whole_state(const StateDict& divided, const StateLayout& layout, const distributed::ProcessGroup& group, Site site) {
  const NoGradGuard no_grad;
  std::map<size_t, StateDict> by_leaf;
  for (const auto& [key, value] : divided) {
    if (!key.starts_with(kState)) continue;
    const auto [leaf, name] = number_and_rest(std::string_view(key).substr(kState.size()));
    by_leaf[leaf][name] = value;
  }
  StateDict mine;  // "parameter.begin.name"
  for (const StateLayout::Part& part : layout.parts) {
    for (const auto& [name, value] : by_leaf[part.leaf])
      mine[str(part.parameter, ".", part.begin, ".", name)] =
          value.dim() == 0 ? value : value.detach().narrow(0, part.offset, part.count, site);
  }
  std::map<size_t, StateDict> by_parameter;
  for (const StateDict& one : gather_state_dicts(mine, group, site)) {
    for (const auto& [key, value] : one) {
      const auto [parameter, tail] = number_and_rest(key);
      const auto [begin, name] = number_and_rest(tail);
      Tensor& all = by_parameter[parameter][name];
      if (!all.defined()) all = value.dim() == 0 ? value : zeros(layout.parameters.at(parameter).sizes(), value.dtype(), site);
      if (value.dim() > 0) all.view({-1}).narrow(0, static_cast<int64_t>(begin), value.numel()).copy_(value);
    }
  }
  StateDict whole;
  for (const auto& [parameter, state] : by_parameter) whole.add(str(kState, parameter, "."), state);
  copy_groups(divided, layout.group_sizes, whole);
  return whole;
}

StateDict divided_state(const char* op, const StateDict& whole, const StateLayout& layout) {
  const NoGradGuard no_grad;
  check_groups(op, whole, layout.group_sizes);
  std::vector<StateDict> by_parameter;
  for (size_t i = 0; i < layout.parameters.size(); ++i) {
    const Tensor& parameter = layout.parameters[i];
    by_parameter.push_back(whole.under(str(kState, i, ".")));
    for (const auto& [name, value] : by_parameter[i])
      if (value.dim() > 0 && value.sizes() != parameter.sizes())
        fail("[", op, "] ", kState, i, ".", name, " has size ", value.sizes(), ", but its parameter here has ", parameter.sizes());
  }
  StateDict divided;
  for (const StateLayout::Part& part : layout.parts) {
    const Tensor& parameter = layout.parameters[part.parameter];
    for (const auto& [name, value] : by_parameter[part.parameter]) {
      Tensor& of_leaf = divided[str(kState, part.leaf, ".", name)];
      // A number of the optimizer's, such as the steps; of a parameter without dimensions its state has none, too.
      if (value.dim() == 0 && (parameter.dim() > 0 || value.dtype() != parameter.dtype())) {
        of_leaf = value;
        continue;
      }
      if (!of_leaf.defined()) of_leaf = zeros(layout.leaves[part.leaf], {.dtype = value.dtype(), .device = value.device()});
      of_leaf.narrow(0, part.offset, part.count).copy_(value.detach().contiguous().view({-1}).narrow(0, part.begin, part.count));
    }
  }
  copy_groups(whole, layout.leaves_groups, divided);
  return divided;
}

}  // namespace tandem::parallel::detail
