// Einstein's sum: operands are taken in pairs, each pair as one batched product.
#include <algorithm>
#include <string>

#include "base/error.h"
#include "ops/matmul.h"
#include "ops/operators.h"
#include "ops/reduce.h"
#include "ops/view.h"

namespace tandem {
namespace {

/// A tensor whose dimensions have letters.
struct Labelled {
  Tensor tensor;
  std::string labels;
};

bool has(const std::string& labels, char label) { return labels.find(label) != std::string::npos; }

/// x with its dimensions in the order of `labels`; those it lacks have size 1.
Tensor arranged(const Labelled& x, const std::string& labels) {
  Shape order;
  for (const char label : labels)
    if (has(x.labels, label)) order.push_back(static_cast<int64_t>(x.labels.find(label)));
  Tensor y = x.tensor.permute(order);
  for (size_t i = 0; i < labels.size(); ++i)
    if (!has(x.labels, labels[i])) y = y.unsqueeze(static_cast<int64_t>(i));
  return y;
}

/// Repeated letters become diagonals; letters that nobody else needs are summed away.
Labelled simplified(Labelled x, const std::string& needed) {
  for (size_t i = 0; i < x.labels.size(); ++i) {
    const size_t again = x.labels.find(x.labels[i], i + 1);
    if (again == std::string::npos) continue;
    const char label = x.labels[i];
    if (x.tensor.size(static_cast<int64_t>(i)) != x.tensor.size(static_cast<int64_t>(again)))
      fail("[einsum] subscript ", label, " is repeated for sizes ", x.tensor.size(static_cast<int64_t>(i)), " and ",
           x.tensor.size(static_cast<int64_t>(again)));
    x.tensor = x.tensor.diagonal(0, static_cast<int64_t>(i), static_cast<int64_t>(again));
    x.labels.erase(again, 1);
    x.labels.erase(i, 1);
    x.labels += label;
    i = static_cast<size_t>(-1);
  }
  Shape gone;
  std::string kept;
  for (size_t i = 0; i < x.labels.size(); ++i) {
    if (has(needed, x.labels[i])) kept += x.labels[i];
    else gone.push_back(static_cast<int64_t>(i));
  }
  if (!gone.empty()) x.tensor = x.tensor.sum(gone);
  x.labels = kept;
  return x;
}

Labelled product(const Labelled& a, const Labelled& b, const std::string& needed) {
  std::string batch, sum, left, right;
  for (const char label : a.labels) (has(b.labels, label) ? (has(needed, label) ? batch : sum) : left) += label;
  for (const char label : b.labels)
    if (!has(a.labels, label)) right += label;
  const auto count = [&](const std::string& labels) {
    int64_t n = 1;
    for (const char label : labels) {
      const Labelled& from = has(a.labels, label) ? a : b;
      const int64_t in_a = has(a.labels, label) ? a.tensor.size(static_cast<int64_t>(a.labels.find(label))) : 1;
      const int64_t in_b = has(b.labels, label) ? b.tensor.size(static_cast<int64_t>(b.labels.find(label))) : 1;
      if (has(a.labels, label) && has(b.labels, label) && in_a != in_b)
        fail("[einsum] subscript ", label, " has size ", in_a, " for one operand and ", in_b, " for another");
      n *= from.tensor.size(static_cast<int64_t>(from.labels.find(label)));
    }
    return n;
  };
  const int64_t batches = count(batch), inner = count(sum), rows = count(left), columns = count(right);
  const Tensor x = arranged(a, batch + left + sum).reshape({batches, rows, inner});
  const Tensor y = arranged(b, batch + sum + right).reshape({batches, inner, columns});
  Shape sizes;
  for (const char label : batch + left + right) {
    const Labelled& from = has(a.labels, label) ? a : b;
    sizes.push_back(from.tensor.size(static_cast<int64_t>(from.labels.find(label))));
  }
  return {bmm(x, y).reshape(sizes), batch + left + right};
}

}  // namespace

Tensor einsum(std::string_view equation, const std::vector<Tensor>& operands, Site) {
  std::string text;
  for (const char c : equation)
    if (c != ' ') text += c;
  const size_t arrow = text.find("->");
  std::string inputs = text.substr(0, arrow), output = arrow == std::string::npos ? "" : text.substr(arrow + 2);
  if (inputs.find("...") != std::string::npos) fail("[einsum] ellipses are not supported yet: '", equation, "'");
  std::vector<Labelled> terms;
  for (size_t start = 0; start <= inputs.size();) {
    const size_t comma = std::min(inputs.find(',', start), inputs.size());
    if (terms.size() == operands.size()) fail("[einsum] more subscripts than operands in '", equation, "'");
    terms.push_back({operands[terms.size()], inputs.substr(start, comma - start)});
    const Labelled& term = terms.back();
    if (static_cast<int64_t>(term.labels.size()) != term.tensor.dim())
      fail("[einsum] the number of subscripts '", term.labels, "' does not match the number of dimensions (", term.tensor.dim(),
           ") of operand ", terms.size() - 1);
    start = comma + 1;
  }
  if (terms.size() != operands.size()) fail("[einsum] fewer subscripts than operands in '", equation, "'");
  for (const char c : inputs + output)
    if (c != ',' && !((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'))) fail("[einsum] '", c, "' is not a subscript in '", equation, "'");
  if (arrow == std::string::npos) {  // letters that appear once, in order
    for (char c = 'A'; c <= 'z'; ++c)
      if (std::count(inputs.begin(), inputs.end(), c) == 1) output += c;
  }
  for (const char c : output)
    if (!has(inputs, c)) fail("[einsum] output subscript ", c, " does not appear in the equation for any input operand");
  const auto needed_after = [&](size_t i) {
    std::string needed = output;
    for (size_t k = i; k < terms.size(); ++k) needed += terms[k].labels;
    return needed;
  };
  Labelled result = simplified(terms[0], needed_after(1));
  for (size_t i = 1; i < terms.size(); ++i) {
    const Labelled next = simplified(terms[i], needed_after(i + 1) + result.labels);
    result = simplified(product(result, next, needed_after(i + 1)), needed_after(i + 1));
  }
  result = simplified(result, output);
  return arranged(result, output);
}

}  // namespace tandem
