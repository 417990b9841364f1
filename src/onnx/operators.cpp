#include "onnx/operators.h"

#include <algorithm>
#include <vector>

namespace tandem::onnx {
namespace {

bool before(const OperatorRow& a, const OperatorRow& b) {
  const int names = std::string_view(a.name).compare(b.name);
  return names != 0 ? names < 0 : a.since < b.since;
}

const std::vector<OperatorRow>& all_operators() {
  static const std::vector<OperatorRow> rows = [] {
    std::vector<OperatorRow> all;
    for (const auto group :
         {pointwise_operators, activation_operators, reduction_operators, shape_operators, constant_operators, product_operators,
          convolution_operators, pooling_operators, normalization_operators, resize_operators, indexing_operators, recurrent_operators,
          attention_operators, loss_operators, control_operators, sequence_operators, signal_operators, quantization_operators}) {
      const auto found = group();
      all.insert(all.end(), found.begin(), found.end());
    }
    std::sort(all.begin(), all.end(), before);
    return all;
  }();
  return rows;
}

}  // namespace

const OperatorRow* find_operator(std::string_view domain, std::string_view name, int64_t version) {
  const auto& rows = all_operators();
  auto row = std::lower_bound(rows.begin(), rows.end(), name, [](const OperatorRow& a, std::string_view b) { return a.name < b; });
  const OperatorRow* found = nullptr;
  for (; row != rows.end() && row->name == name; ++row)
    if (row->domain == domain && (row->since <= version || !domain.empty())) found = &*row;
  return found;
}

}  // namespace tandem::onnx
