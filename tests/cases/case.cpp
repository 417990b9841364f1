#include "cases/case.h"

#include <algorithm>
#include <sstream>

#include "tensor/host_values.h"

namespace tandem::cases {

Argument Argument::map(const std::function<Tensor(const Tensor&)>& f) const {
  if (is_tensor()) {
    const auto x = as<Tensor>();
    return x.defined() ? Argument(f(x)) : *this;
  }
  if (!is_tensors()) return *this;
  auto tensors = as<std::vector<Tensor>>();
  for (Tensor& tensor : tensors)
    if (tensor.defined()) tensor = f(tensor);
  return Argument(std::move(tensors));
}

std::string Argument::text() const {
  std::ostringstream out;
  const auto tensor = [&](const Tensor& x) {
    if (x.defined()) out << x.dtype() << x.sizes();
    else out << "none";
  };
  if (is_tensor()) {
    tensor(as<Tensor>());
  } else if (is_tensors()) {
    for (const Tensor& x : as<std::vector<Tensor>>()) tensor(x);
  } else if (const auto* integer = std::any_cast<int64_t>(&value_)) {
    out << *integer;
  } else if (const auto* number = std::any_cast<double>(&value_)) {
    out << *number;
  } else if (const auto* flag = std::any_cast<bool>(&value_)) {
    out << (*flag ? "true" : "false");
  } else if (const auto* text = std::any_cast<std::string>(&value_)) {
    out << '"' << *text << '"';
  } else if (const auto* shape = std::any_cast<Shape>(&value_)) {
    out << *shape;
  } else {
    out << "...";
  }
  return out.str();
}

const std::vector<Operation>& operations() {
  static const std::vector<Operation> all = [] {
    std::vector<Operation> list;
    add_creation(list);
    add_pointwise(list);
    add_activations(list);
    add_reductions(list);
    add_products(list);
    add_losses(list);
    add_indexing(list);
    add_views(list);
    add_more_reductions(list);
    add_order(list);
    add_more_indexing(list);
    add_losses_of_elements(list);
    add_linalg(list);
    add_joining(list);
    add_normalizations(list);
    add_images(list);
    add_sequences(list);
    add_recurrent(list);
    add_convolutions(list);
    add_pooling(list);
    add_random(list);
    return list;
  }();
  return all;
}

const Operation* find_operation(std::string_view name) {
  for (const Operation& operation : operations())
    if (operation.name == name) return &operation;
  return nullptr;
}

void for_each_position(const Shape& sizes, const std::function<void(const Shape&)>& f) {
  Shape position = sizes;
  for (int64_t& index : position) index = 0;
  for (int64_t left = sizes.numel(); left > 0; --left) {
    f(position);
    for (size_t d = sizes.size(); d-- > 0;) {
      if (++position[d] < sizes[d]) break;
      position[d] = 0;
    }
  }
}

namespace {

std::vector<double> values_of(const Tensor& x) {
  const HostValues values = read_values(x, -1, "read_values", Site::here());
  return is_floating(x.dtype()) ? values.floating : std::vector<double>(values.integers.begin(), values.integers.end());
}

}  // namespace

Tensor generate(const Shape& sizes, const std::function<double(const Shape&)>& f) {
  Tensor out = empty(sizes, kFloat64);
  double* to = out.numel() ? out.data_ptr<double>() : nullptr;
  for_each_position(sizes, [&](const Shape& position) { *to++ = f(position); });
  return out;
}

Tensor each(const Tensor& x, const std::function<double(double)>& f) {
  const auto values = values_of(x);
  size_t i = 0;
  return generate(x.sizes(), [&](const Shape&) { return f(values[i++]); });
}

Tensor each(const Tensor& x, const Tensor& y, const std::function<double(double, double)>& f) {
  const Shape sizes = broadcast_shapes(x.sizes(), y.sizes());
  const auto a = values_of(x.expand(sizes)), b = values_of(y.expand(sizes));
  size_t i = 0;
  return generate(sizes, [&](const Shape&) {
    const double value = f(a[i], b[i]);
    ++i;
    return value;
  });
}

/// For each position of x without the dimensions `dims` (all where empty), `f` of the elements along them: sizes are those of the rest, or
/// 1 there with `keepdim`.
Tensor reduced(const Tensor& x, Shape dims, bool keepdim, const std::function<double(const Row&)>& f) {
  std::vector<bool> gone(static_cast<size_t>(x.dim()), dims.empty());
  for (const int64_t dim : dims) gone[static_cast<size_t>(dim < 0 ? dim + x.dim() : dim)] = true;
  Shape kept, sizes, inner, outer;
  for (int64_t d = 0; d < x.dim(); ++d) {
    if (!gone[static_cast<size_t>(d)]) kept.push_back(d);
    if (!gone[static_cast<size_t>(d)] || keepdim) sizes.push_back(gone[static_cast<size_t>(d)] ? 1 : x.size(d));
  }
  Shape order = kept;
  int64_t length = 1;
  for (int64_t d = 0; d < x.dim(); ++d)
    if (gone[static_cast<size_t>(d)]) {
      order.push_back(d);
      length *= x.size(d);
    }
  const Tensor rows = x.permute(order).contiguous();
  const auto* data = rows.numel() ? rows.data_ptr<double>() : nullptr;
  int64_t row = 0;
  return generate(sizes, [&](const Shape&) {
    Row elements(static_cast<size_t>(length));
    std::copy_n(data + row++ * length, length, elements.begin());
    return f(elements);
  });
}

Tensor reduced(const Tensor& x, int64_t dim, bool keepdim, const std::function<double(const Row&)>& f) {
  return reduced(x, x.dim() ? Shape{dim} : Shape{}, keepdim, f);
}

Tensor mapped(const Tensor& x, int64_t dim, const std::function<Row(const Row&)>& f) {
  const Tensor source = x.dim() ? x.transpose(dim, -1).contiguous() : x.reshape({1});
  const int64_t length = source.size(-1);
  Row all;
  const auto after = static_cast<int64_t>(f(Row(static_cast<size_t>(length))).size());
  for (int64_t first = 0; first < source.numel(); first += length) {
    const double* row = source.data_ptr<double>() + first;
    const Row made = f(Row(row, row + length));
    all.insert(all.end(), made.begin(), made.end());
  }
  Shape sizes = source.sizes();
  sizes[sizes.size() - 1] = after;
  size_t i = 0;
  const Tensor out = generate(sizes, [&](const Shape&) { return all[i++]; });
  return x.dim() ? out.transpose(dim, -1) : out.reshape({});
}

double at(const Tensor& x, const Shape& position) {
  int64_t offset = 0;
  for (size_t d = 0; d < position.size(); ++d) offset += position[d] * x.strides()[d];
  return visit(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    return Scalar(static_cast<const T*>(x.impl().data)[offset]).template to<double>();
  });
}

}  // namespace tandem::cases
