// Einstein's sum: operands are taken in pairs, each pair as one batched product.
#include <algorithm>
#include <string>

#include "base/error.h"
#include "base/work_site.h"
#include "ops/autocasting.h"
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

/// The equation's labels: letters, and for the dimensions of an ellipsis, counted from the last, characters that nobody can write.
constexpr char kEllipsis = '.';
char ellipsis_label(size_t from_end) { return static_cast<char>(1 + from_end); }

/// `labels` with its ellipsis, of which there may be one, as `count` labels.
std::string spelled_out(const std::string& labels, size_t count) {
  std::string text;
  for (const char c : labels) {
    if (c != kEllipsis) text += c;
    else
      for (size_t i = count; i-- > 0;) text += ellipsis_label(i);
  }
  return text;
}

/// Checks the characters of a term or of the output, and writes "..." as one.
std::string parsed(std::string_view text, std::string_view equation) {
  std::string labels;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == ' ') continue;
    if (c == '.') {
      if (text.substr(i, 3) != "...") fail("[einsum] einsum(): found '.' that is not part of any ellipsis in '", equation, "'");
      if (has(labels, kEllipsis)) fail("[einsum] einsum(): found '.' for which an ellipsis was already found in '", equation, "'");
      labels += kEllipsis;
      i += 2;
    } else if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) {
      labels += c;
    } else {
      fail("[einsum] einsum(): invalid subscript given: '", c, "' in '", equation, "', subscripts must be in [a-zA-Z]");
    }
  }
  return labels;
}

/// Without the dimensions of size 1 that broadcast with the other's.
Labelled without_ones(Labelled x, const Labelled& other) {
  for (size_t i = x.labels.size(); i-- > 0;) {
    const size_t there = other.labels.find(x.labels[i]);
    const auto at = static_cast<int64_t>(i);
    if (there == std::string::npos || x.tensor.size(at) != 1 || other.tensor.size(static_cast<int64_t>(there)) == 1) continue;
    x.tensor = x.tensor.squeeze(at);
    x.labels.erase(i, 1);
  }
  return x;
}

/// Both in the wider dtype where both are of integers: letters summed away have made int64 of one of them.
void widen_integers(Labelled& a, Labelled& b) {
  if (is_floating(a.tensor.dtype()) || is_floating(b.tensor.dtype())) return;
  const DType dtype = promote_types(a.tensor.dtype(), b.tensor.dtype());
  a.tensor = a.tensor.to(dtype);
  b.tensor = b.tensor.to(dtype);
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

Labelled product(const Labelled& first, const Labelled& second, const std::string& needed) {
  Labelled a = without_ones(first, second), b = without_ones(second, first);
  widen_integers(a, b);
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
        fail("[einsum] subscript ", label, " has size ", in_a, " for one operand and ", in_b,
             " for another; transpose one of them, or give it another letter");
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

Tensor einsum(std::string_view equation, const std::vector<Tensor>& operands, Site site) {
  if (const ops::Cast cast("einsum", site, operands); cast) return einsum(equation, cast(operands), site);
  const detail::ComposedAt line(site);
  if (operands.empty()) fail("[einsum] einsum(): must provide at least one operand");
  const size_t arrow = equation.find("->");
  const std::string_view inputs = equation.substr(0, arrow);
  std::vector<Labelled> terms;
  size_t ellipsis = 0;  // the most dimensions that one stands for
  bool any_ellipsis = false;
  for (size_t start = 0; start <= inputs.size();) {
    const size_t comma = std::min(inputs.find(',', start), inputs.size());
    if (terms.size() == operands.size())
      fail("[einsum] einsum(): more subscripts were provided in the equation than operands: '", equation, "'");
    const Tensor& x = operands[terms.size()];
    std::string labels = parsed(inputs.substr(start, comma - start), equation);
    const bool open = has(labels, kEllipsis);
    const auto named = static_cast<int64_t>(labels.size()) - open;
    if (open ? named > x.dim() : named != x.dim())
      fail("[einsum] einsum(): the number of subscripts in the equation (", named, ") does not match the number of dimensions (", x.dim(),
           ") for operand ", terms.size(), open ? "" : " and no ellipsis was given");
    if (open) {
      ellipsis = std::max(ellipsis, static_cast<size_t>(x.dim() - named));
      labels = spelled_out(labels, static_cast<size_t>(x.dim() - named));
    }
    any_ellipsis |= open;
    terms.push_back({x, labels});
    start = comma + 1;
  }
  if (terms.size() != operands.size())
    fail("[einsum] einsum(): more operands were provided than subscripts in the equation '", equation, "'");
  std::string output, all;
  for (const Labelled& term : terms) all += term.labels;
  if (arrow == std::string_view::npos) {  // the ellipsis, then letters that appear once, in order
    output = any_ellipsis ? std::string(1, kEllipsis) : "";
    for (char c = 'A'; c <= 'z'; ++c)
      if (std::count(all.begin(), all.end(), c) == 1) output += c;
  } else {
    output = parsed(equation.substr(arrow + 2), equation);
  }
  output = spelled_out(output, ellipsis);
  for (size_t i = 0; i < output.size(); ++i) {
    if (!has(all, output[i]))
      fail("[einsum] einsum(): output subscript ", output[i], " does not appear in the equation for any input operand");
    if (output.find(output[i], i + 1) != std::string::npos)
      fail("[einsum] einsum(): output subscript ", output[i], " appears more than once in the output");
  }
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
