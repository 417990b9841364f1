// The text of tensors, as torch/_tensor_str.py lays it out. Only what is shown is copied to the host, in one copy.
#include "tensor/print.h"

#include <algorithm>
#include <cmath>
#include <ostream>

#include "autograd/node.h"
#include "base/error.h"
#include "base/format.h"
#include "tensor/host_values.h"

namespace tandem {
namespace {

thread_local PrintOptions print_options;

/// How the numbers of one tensor are written: width and notation come from the finite values that are not zero.
class Formatter {
 public:
  Formatter(const HostValues& values, const PrintOptions& options) : values_(values), precision_(options.precision) {
    if (!is_floating(values.dtype)) {
      for (size_t i = 0; i < values.count(); ++i) width_ = std::max(width_, plain(i).size());
      return;
    }
    double smallest = 0, largest = 0;
    bool any = false;
    for (const double value : values.floating) {
      if (!std::isfinite(value) || value == 0) continue;
      const double magnitude = std::abs(value);
      if (std::nearbyint(value) != value) integral_ = false;
      smallest = any ? std::min(smallest, magnitude) : magnitude;
      largest = any ? std::max(largest, magnitude) : magnitude;
      any = true;
    }
    if (!any) return;  // nothing that a width is taken from
    scientific_ = integral_ ? largest / smallest > 1000 || largest > 1e8 : largest / smallest > 1000 || largest > 1e8 || smallest < 1e-4;
    scientific_ = options.sci_mode.value_or(scientific_);
    for (size_t i = 0; i < values.count(); ++i)
      if (std::isfinite(values.floating[i]) && values.floating[i] != 0) width_ = std::max(width_, format(i).size());
  }

  [[nodiscard]] size_t width() const { return width_; }
  [[nodiscard]] std::string padded(size_t i) const {
    std::string text = is_floating(values_.dtype) ? format(i) : plain(i);
    if (text.size() < width_) text.insert(0, width_ - text.size(), ' ');
    return text;
  }

 private:
  [[nodiscard]] std::string plain(size_t i) const {
    if (values_.dtype == kBool) return values_.integers[i] ? "True" : "False";
    return std::to_string(values_.integers[i]);
  }
  [[nodiscard]] std::string format(size_t i) const {
    const double value = values_.floating[i];
    if (std::isnan(value)) return "nan";
    if (scientific_) return detail::formatted("%.*e", precision_, value);
    if (!integral_) return detail::formatted("%.*f", precision_, value);
    return detail::formatted(std::isfinite(value) ? "%.0f." : "%.0f", value);
  }

  const HostValues& values_;
  int precision_;
  bool integral_ = true, scientific_ = false;
  size_t width_ = 1;
};

/// What is shown of a tensor: the indices of each dimension, -1 standing for "...".
struct Shown {
  std::vector<std::vector<int64_t>> indices;
  std::vector<size_t> strides;  // in the values copied

  Shown(const Shape& sizes, const PrintOptions& options, bool summarise) {
    for (const int64_t size : sizes) {
      std::vector<int64_t> chosen;
      const bool cut = summarise && size > 2 * options.edgeitems;
      for (int64_t i = 0; i < (cut ? options.edgeitems : size); ++i) chosen.push_back(static_cast<int64_t>(chosen.size()));
      if (cut) {
        chosen.push_back(-1);
        for (int64_t i = 0; i < options.edgeitems; ++i) chosen.push_back(options.edgeitems + i);
      }
      indices.push_back(std::move(chosen));
    }
    strides.assign(sizes.size(), 1);
    for (size_t d = sizes.size(); d-- > 1;) strides[d - 1] = strides[d] * count(d);
  }
  [[nodiscard]] size_t count(size_t d) const {
    size_t n = 0;
    for (const int64_t i : indices[d]) n += i >= 0;
    return n;
  }
};

std::string lines_of(const Shown& shown, const Formatter& formatter, size_t dim, size_t offset, size_t indent,
                     const PrintOptions& options) {
  const auto& chosen = shown.indices[dim];
  std::string text = "[";
  if (dim + 1 == shown.indices.size()) {
    const auto line_width = static_cast<int64_t>(formatter.width()) + 2;
    const int64_t per_line = std::max<int64_t>(1, (options.linewidth - static_cast<int64_t>(indent)) / line_width);
    int64_t in_line = 0;
    for (size_t k = 0; k < chosen.size(); ++k) {
      if (k > 0) {
        text += ",";
        if (in_line == per_line) {
          text += "\n" + std::string(indent + 1, ' ');
          in_line = 0;
        } else {
          text += " ";
        }
      }
      text += chosen[k] < 0 ? " ..." : formatter.padded(offset + static_cast<size_t>(chosen[k]) * shown.strides[dim]);
      ++in_line;
    }
    return text + "]";
  }
  const size_t newlines = shown.indices.size() - dim - 1;
  for (size_t k = 0; k < chosen.size(); ++k) {
    if (k > 0) text += "," + std::string(newlines, '\n') + std::string(indent + 1, ' ');
    text += chosen[k] < 0
                ? "..."
                : lines_of(shown, formatter, dim + 1, offset + static_cast<size_t>(chosen[k]) * shown.strides[dim], indent + 1, options);
  }
  return text + "]";
}

/// `text` followed by the suffixes; one that would pass the line's end starts a new line.
std::string with_suffixes(std::string text, const std::vector<std::string>& suffixes, size_t indent, const PrintOptions& options) {
  const size_t newline = text.rfind('\n');
  size_t column = text.size() - (newline == std::string::npos ? 0 : newline + 1) + 1;
  for (const std::string& suffix : suffixes) {
    if (column + suffix.size() + 2 > static_cast<size_t>(options.linewidth)) {
      text += ",\n" + std::string(indent, ' ') + suffix;
      column = indent + suffix.size();
    } else {
      text += ", " + suffix;
      column += suffix.size() + 2;
    }
  }
  return text + ")";
}

std::string sizes_text(const Shape& sizes) {
  std::string text = "(";
  for (size_t i = 0; i < sizes.size(); ++i) text += (i ? ", " : "") + std::to_string(sizes[i]);
  return text + (sizes.size() == 1 ? ",)" : ")");
}

}  // namespace

void set_print_options(PrintOptions options) { print_options = options; }
PrintOptions get_print_options() { return print_options; }

std::string to_string(const Tensor& x, Site site) {
  if (!x.defined()) return "tensor(undefined)";
  const PrintOptions options = print_options;
  const std::string prefix = "tensor(";
  const size_t indent = prefix.size();
  std::vector<std::string> suffixes;
  if (x.is_cuda()) suffixes.push_back(str("device='", x.device(), "'"));
  const bool default_type = x.dtype() == get_default_dtype() || x.dtype() == kInt64 || x.dtype() == kBool;
  std::string body;
  if (x.numel() == 0) {
    if (x.dim() != 1) suffixes.push_back("size=" + sizes_text(x.sizes()));
    if (x.dtype() != get_default_dtype()) suffixes.push_back(str("dtype=", options.dtype_prefix, x.dtype()));
    body = "[]";
  } else {
    if (!default_type) suffixes.push_back(str("dtype=", options.dtype_prefix, x.dtype()));
    const bool summarise = x.numel() > options.threshold;
    const HostValues values = read_values(x, summarise ? options.edgeitems : -1, "print", site, CopyReason::Printing);
    const Formatter formatter(values, options);
    body = x.dim() == 0 ? formatter.padded(0) : lines_of(Shown(x.sizes(), options, summarise), formatter, 0, 0, indent, options);
  }
  if (x.grad_fn()) suffixes.push_back(str("grad_fn=<", x.grad_fn()->name(), ">"));
  else if (x.requires_grad()) suffixes.emplace_back("requires_grad=True");
  return with_suffixes(prefix + body, suffixes, indent, options);
}

std::ostream& operator<<(std::ostream& out, const Scalar& scalar) {
  switch (scalar.kind()) {
    case Scalar::Kind::Bool: return out << (scalar.to<bool>() ? "true" : "false");
    case Scalar::Kind::Integer: return out << scalar.to<int64_t>();
    case Scalar::Kind::Floating: break;
  }
  return out << scalar.to<double>();
}

std::ostream& operator<<(std::ostream& out, const Printed& printed) { return out << to_string(printed.tensor, printed.site); }

}  // namespace tandem
