#include "exported/operators.h"

#include <algorithm>
#include <vector>

namespace tandem::exported {
namespace {

const std::vector<OperatorRow>& all_operators() {
  static const std::vector<OperatorRow> rows = [] {
    std::vector<OperatorRow> all;
    for (const auto group : {pointwise_operators, reduction_operators, shape_operators, indexing_operators, product_operators,
                             layer_operators, creation_operators, symbol_operators}) {
      const auto found = group();
      all.insert(all.end(), found.begin(), found.end());
    }
    std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return std::string_view(a.name) < b.name; });
    return all;
  }();
  return rows;
}

const OperatorRow* row_named(std::string_view name) {
  const auto& rows = all_operators();
  const auto row = std::lower_bound(rows.begin(), rows.end(), name, [](const OperatorRow& a, std::string_view b) { return a.name < b; });
  return row != rows.end() && row->name == name ? &*row : nullptr;
}

}  // namespace

Found find_operator(std::string_view target) {
  constexpr std::string_view kAten = "torch.ops.aten.";
  if (!target.starts_with(kAten)) return {row_named(target)};
  std::string_view name = target.substr(kAten.size());
  name = name.substr(0, name.find('.'));
  if (const OperatorRow* const row = row_named(name)) return {row};
  if (!name.ends_with('_')) return {};
  name.remove_suffix(1);
  return {row_named(name), true};
}

}  // namespace tandem::exported
