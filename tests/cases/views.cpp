// Views, joining, moving. A reference says for each position of the result where its element comes from. What is measured of a view is the
// copy that makes it dense.
#include "cases/case.h"

namespace tandem::cases {
namespace {

struct View : Case {
  static constexpr bool sums = false;
  static constexpr DTypes dtypes = kAnyType;
};

/// `sizes`, each element from the position of x that `from` gives.
Tensor gathered(const Tensor& x, const Shape& sizes, const std::function<Shape(const Shape&)>& from) {
  return generate(sizes, [&](const Shape& position) { return at(x, from(position)); });
}
/// The elements in row-major order in other sizes.
Tensor poured(const Tensor& x, const Shape& sizes) {
  const Tensor dense = x.contiguous();
  int64_t i = 0;
  return generate(sizes, [&](const Shape&) { return dense.data_ptr<double>()[i++]; });
}
void square(Inputs& in, int64_t n, auto... rest) { in.add(randn({(n + 999) / 1000, 1000}), rest...); }

struct Reshape : View {
  static constexpr const char* name = "reshape";
  void inputs(Inputs& in) const {
    in.add(randn({3, 4}), Shape{2, 6});
    in.add(randn({3, 4, 5}), Shape{4, -1});
    in.add(randn({}), Shape{1, 1});
    in.add(randn({0, 4}), Shape{4, 0});
  }
  Tensor run(const Tensor& x, const Shape& sizes) const { return reshape(x, sizes); }
  Tensor reference(const Tensor& x, Shape sizes) const {
    for (int64_t& size : sizes)
      if (size == -1) size = x.numel() / (sizes.numel() / -1);
    return poured(x, sizes);
  }
};

/// Only of memory that can be seen in the new sizes as it lies.
struct ViewOfSizes : Reshape {
  static constexpr const char* name = "view";
  static constexpr const char* torch = "Tensor.view";
  Tensor run(const Tensor& x, const Shape& sizes) const { return x.contiguous().view(sizes); }
};
struct ViewAs : View {
  static constexpr const char* name = "view_as";
  static constexpr const char* torch = "Tensor.view_as";
  void inputs(Inputs& in) const {
    in.add(randn({3, 4}), zeros({2, 6}, kBool));
    in.add(randn({}), zeros({1, 1}, kBool));
    in.add(randn({0, 4}), zeros({4, 0}, kBool));
  }
  Tensor run(const Tensor& x, const Tensor& other) const { return x.contiguous().view_as(other); }
  Tensor reference(const Tensor& x, const Tensor& other) const { return poured(x, other.sizes()); }
};

/// Sees the memory, so x is made dense first; elements may be seen more than once.
struct AsStrided : View {
  static constexpr const char* name = "as_strided";
  static constexpr bool sums = true;
  static constexpr bool zero_dim = false;
  void inputs(Inputs& in) const {
    in.add(randn({12}), Shape{3, 2}, Shape{4, 1}, 1);
    in.add(randn({3, 4}), Shape{5, 3}, Shape{2, 1}, 0);  // rows overlap
    in.add(randn({3, 4}), Shape{2, 3}, Shape{0, 5}, 1);
    in.add(randn({5}), Shape{}, Shape{}, 3);
    in.add(randn({0, 4}), Shape{0, 2}, Shape{4, 1}, 0);
  }
  void many(Inputs& in, int64_t n) const {
    in.add(ones({4}), Shape{n, 2}, Shape{0, 1}, 0);
    in.add(ones({n}), Shape{n / 3, n / 3}, Shape{1, 1}, 0);
  }
  Tensor run(const Tensor& x, const Shape& sizes, const Shape& strides, int64_t offset) const {
    return as_strided(x.contiguous(), sizes, strides, offset);
  }
  Tensor reference(const Tensor& x, const Shape& sizes, const Shape& strides, int64_t offset) const {
    const Tensor dense = x.contiguous();
    return generate(sizes, [&](const Shape& position) {
      int64_t at = offset;
      for (size_t d = 0; d < position.size(); ++d) at += position[d] * strides[d];
      return dense.data_ptr<double>()[at];
    });
  }
};

struct Flatten : View {
  static constexpr const char* name = "flatten";
  void inputs(Inputs& in) const {
    in.add(randn({2, 3, 4}), 1, 2);
    in.add(randn({}), 0, -1);
    in.add(randn({0, 3}), 0, -1);
  }
  Tensor run(const Tensor& x, int64_t start, int64_t end) const { return flatten(x, start, end); }
  Tensor reference(const Tensor& x, int64_t start, int64_t) const {
    return poured(x, start == 1 ? Shape{x.size(0), x.numel() / x.size(0)} : Shape{x.numel()});
  }
};

struct Squeeze : View {
  static constexpr const char* name = "squeeze";
  void inputs(Inputs& in) const {
    in.add(randn({3, 1, 4}), 1);
    in.add(randn({}), 0);
    in.add(randn({1, 0}), 0);
  }
  Tensor run(const Tensor& x, int64_t dim) const { return squeeze(x, dim); }
  Tensor reference(const Tensor& x, int64_t dim) const {
    Shape sizes = x.sizes();
    if (!sizes.empty()) sizes.erase(size_t(dim));
    return poured(x, sizes);
  }
};

struct Unsqueeze : View {
  static constexpr const char* name = "unsqueeze";
  void inputs(Inputs& in) const {
    in.add(randn({3, 4}), 1);
    in.add(randn({}), 0);
    in.add(randn({0, 2}), 2);
  }
  Tensor run(const Tensor& x, int64_t dim) const { return unsqueeze(x, dim); }
  Tensor reference(const Tensor& x, int64_t dim) const {
    Shape sizes = x.sizes();
    sizes.insert(size_t(dim), 1);
    return poured(x, sizes);
  }
};

struct Transpose : View {
  static constexpr const char* name = "transpose";
  void inputs(Inputs& in) const {
    in.add(randn({3, 4}), 0, 1);
    in.add(randn({2, 3, 4}), -1, 0);
    in.add(randn({70, 90}), 0, 1);
    in.add(randn({}), 0, 0);
    in.add(randn({0, 2}), 0, 1);
  }
  Tensor run(const Tensor& x, int64_t a, int64_t b) const { return transpose(x, a, b); }
  Tensor reference(const Tensor& x, int64_t a, int64_t b) const {
    if (x.dim() == 0) return x.clone();
    const auto first = size_t(a < 0 ? a + x.dim() : a), second = size_t(b);
    Shape sizes = x.sizes();
    std::swap(sizes[first], sizes[second]);
    return gathered(x, sizes, [&](Shape position) {
      std::swap(position[first], position[second]);
      return position;
    });
  }
  void bench(Inputs& in, int64_t n) const { square(in, n, 0, 1); }
  Tensor timed(const Tensor& x, int64_t a, int64_t b) const { return transpose(x, a, b).contiguous(); }
};

struct Permute : View {
  static constexpr const char* name = "permute";
  static constexpr bool zero_dim = false;
  void inputs(Inputs& in) const {
    in.add(randn({2, 3, 4}), Shape{2, 0, 1});
    in.add(randn({0, 3, 4}), Shape{2, 0, 1});
  }
  Tensor run(const Tensor& x, const Shape& dims) const { return permute(x, dims); }
  Tensor reference(const Tensor& x, const Shape& dims) const {
    Shape sizes = dims;
    for (size_t i = 0; i < dims.size(); ++i) sizes[i] = x.size(dims[i]);
    return gathered(x, sizes, [&](const Shape& position) {
      Shape from = position;
      for (size_t i = 0; i < dims.size(); ++i) from[size_t(dims[i])] = position[i];
      return from;
    });
  }
  void bench(Inputs& in, int64_t n) const { in.add(randn({(n + 6399) / 6400, 64, 100}), Shape{0, 2, 1}); }
  Tensor timed(const Tensor& x, const Shape& dims) const { return permute(x, dims).contiguous(); }
};

struct Expand : View {
  static constexpr const char* name = "expand";
  static constexpr const char* torch = "Tensor.expand";
  static constexpr bool sums = true;
  static constexpr double tolerance = 1;
  void inputs(Inputs& in) const {
    in.add(randn({3, 1}), Shape{2, 3, 4});
    in.add(randn({}), Shape{3});
    in.add(randn({1, 3}), Shape{0, 3});
    in.add(randn({0, 1}), Shape{0, 3});
  }
  void many(Inputs& in, int64_t n) const { in.add(ones({3, 1}), Shape{n, 3, 4}); }
  Tensor run(const Tensor& x, const Shape& sizes) const { return x.expand(sizes); }
  Tensor reference(const Tensor& x, const Shape& sizes) const {
    return gathered(x, sizes, [&](Shape position) {
      while (position.size() > x.sizes().size()) position.erase(0);
      for (size_t i = 0; i < position.size(); ++i)
        if (x.sizes()[i] == 1) position[i] = 0;
      return position;
    });
  }
  void bench(Inputs& in, int64_t n) const { in.add(randn({1000}), Shape{(n + 999) / 1000, 1000}); }
  Tensor timed(const Tensor& x, const Shape& sizes) const { return x.expand(sizes).contiguous(); }
};

struct ExpandAs : View {
  static constexpr const char* name = "expand_as";
  static constexpr const char* torch = "Tensor.expand_as";
  static constexpr bool sums = true;
  void inputs(Inputs& in) const {
    in.add(randn({3, 1}), zeros({2, 3, 4}, kBool));
    in.add(randn({}), zeros({3}, kBool));
    in.add(randn({0, 1}), zeros({0, 3}, kBool));
  }
  void many(Inputs& in, int64_t n) const { in.add(ones({3, 1}), zeros({n, 3, 4}, kBool)); }
  Tensor run(const Tensor& x, const Tensor& other) const { return x.expand_as(other); }
  Tensor reference(const Tensor& x, const Tensor& other) const { return Expand().reference(x, other.sizes()); }
};

/// To their common sizes.
struct BroadcastTensors : View {
  static constexpr const char* name = "broadcast_tensors";
  static constexpr bool sums = true;
  void inputs(Inputs& in) const {
    in.add(std::vector<Tensor>{randn({3, 1}), randn({2, 1, 4})}, Shape{2, 3, 4});
    in.add(std::vector<Tensor>{randn({}), randn({3})}, Shape{3});
    in.add(std::vector<Tensor>{randn({1, 3}), randn({0, 1})}, Shape{0, 3});
  }
  void many(Inputs& in, int64_t n) const { in.add(std::vector<Tensor>{ones({3, 1}), ones({n, 1, 4})}, Shape{n, 3, 4}); }
  Results run(const std::vector<Tensor>& x, const Shape&) const { return broadcast_tensors(x); }
  Results reference(const std::vector<Tensor>& x, const Shape& sizes) const {
    std::vector<Tensor> out;
    for (const Tensor& one : x) out.push_back(Expand().reference(one, sizes));
    return out;
  }
};

struct Narrow : View {
  static constexpr const char* name = "narrow";
  static constexpr bool zero_dim = false;
  void inputs(Inputs& in) const {
    in.add(randn({3, 5}), 1, 1, 3);
    in.add(randn({3, 5}), 0, 1, 0);
    in.add(randn({0, 5}), 1, 2, 2);
  }
  Tensor run(const Tensor& x, int64_t dim, int64_t start, int64_t length) const { return narrow(x, dim, start, length); }
  Tensor reference(const Tensor& x, int64_t dim, int64_t start, int64_t length) const {
    Shape sizes = x.sizes();
    sizes[size_t(dim)] = length;
    return gathered(x, sizes, [&](Shape position) {
      position[size_t(dim)] += start;
      return position;
    });
  }
};

struct SliceView : View {
  static constexpr const char* name = "slice";
  static constexpr const char* torch = "Tensor.__getitem__";
  static constexpr bool zero_dim = false;
  void inputs(Inputs& in) const {
    in.add(randn({3, 9}), 1, 1, 8, 3);
    in.add(randn({5, 2}), 0, -4, 5, 2);
    in.add(randn({0, 5}), 0, 0, 3, 1);
  }
  Tensor run(const Tensor& x, int64_t dim, int64_t start, int64_t end, int64_t step) const { return x.slice(dim, start, end, step); }
  Tensor reference(const Tensor& x, int64_t dim, int64_t start, int64_t end, int64_t step) const {
    if (start < 0) start += x.size(dim);
    Shape sizes = x.sizes();
    sizes[size_t(dim)] = (std::min(end, x.size(dim)) - start + step - 1) / step;
    return gathered(x, sizes, [&](Shape position) {
      position[size_t(dim)] = start + position[size_t(dim)] * step;
      return position;
    });
  }
};

struct Select : View {
  static constexpr const char* name = "select";
  static constexpr bool zero_dim = false;
  void inputs(Inputs& in) const {
    in.add(randn({3, 5}), 1, 2);
    in.add(randn({3, 5}), 0, -1);
    in.add(randn({0, 5}), 1, 4);
  }
  Tensor run(const Tensor& x, int64_t dim, int64_t index) const { return select(x, dim, index); }
  Tensor reference(const Tensor& x, int64_t dim, int64_t index) const {
    Shape sizes = x.sizes();
    sizes.erase(size_t(dim));
    return gathered(x, sizes, [&](Shape position) {
      position.insert(size_t(dim), index < 0 ? index + x.size(dim) : index);
      return position;
    });
  }
};

struct Diagonal : View {
  static constexpr const char* name = "diagonal";
  static constexpr bool zero_dim = false;
  void inputs(Inputs& in) const {
    in.add(randn({4, 5}), 1);
    in.add(randn({4, 5}), -1);
    in.add(randn({0, 5}), 0);
  }
  Tensor run(const Tensor& x, int64_t offset) const { return diagonal(x, offset); }
  Tensor reference(const Tensor& x, int64_t offset) const {
    const int64_t row = offset < 0 ? -offset : 0, column = offset > 0 ? offset : 0;
    const int64_t length = std::max<int64_t>(0, std::min(x.size(0) - row, x.size(1) - column));
    return gathered(x, {length}, [&](const Shape& position) { return Shape{position[0] + row, position[0] + column}; });
  }
};

struct Cat : View {
  static constexpr const char* name = "cat";
  static constexpr bool zero_dim = false;
  void inputs(Inputs& in) const {
    in.add(std::vector<Tensor>{randn({3, 5}), randn({2, 5})}, 0);
    in.add(std::vector<Tensor>{randn({3, 1}), randn({3, 2}), randn({3, 4})}, -1);
    in.add(std::vector<Tensor>{randn({3, 0}), randn({3, 2})}, 1);
  }
  Tensor run(const std::vector<Tensor>& x, int64_t dim) const { return cat(x, dim); }
  Tensor reference(const std::vector<Tensor>& x, int64_t dim) const {
    const auto d = size_t(dim < 0 ? dim + x[0].dim() : dim);
    Shape sizes = x[0].sizes();
    for (size_t i = 1; i < x.size(); ++i) sizes[d] += x[i].sizes()[d];
    return generate(sizes, [&](Shape position) {
      size_t i = 0;
      for (; position[d] >= x[i].sizes()[d]; ++i) position[d] -= x[i].sizes()[d];
      return at(x[i], position);
    });
  }
  void bench(Inputs& in, int64_t n) const { in.add(std::vector<Tensor>{randn({n / 2}), randn({n - n / 2})}, 0); }
};

struct Stack : View {
  static constexpr const char* name = "stack";
  void inputs(Inputs& in) const {
    in.add(std::vector<Tensor>{randn({3, 5}), randn({3, 5})}, 1);
    in.add(std::vector<Tensor>{randn({}), randn({})}, 0);
    in.add(std::vector<Tensor>{randn({0, 2}), randn({0, 2})}, 0);
  }
  Tensor run(const std::vector<Tensor>& x, int64_t dim) const { return stack(x, dim); }
  Tensor reference(const std::vector<Tensor>& x, int64_t dim) const {
    Shape sizes = x[0].sizes();
    sizes.insert(size_t(dim), int64_t(x.size()));
    return generate(sizes, [&](const Shape& position) {
      Shape inside = position;
      inside.erase(size_t(dim));
      return at(x[size_t(position[size_t(dim)])], inside);
    });
  }
  void bench(Inputs& in, int64_t n) const { in.add(std::vector<Tensor>{randn({n / 2}), randn({n / 2})}, 0); }
};

struct Repeat : View {
  static constexpr const char* name = "repeat";
  static constexpr const char* torch = "Tensor.repeat";
  static constexpr bool sums = true;
  void inputs(Inputs& in) const {
    in.add(randn({2, 3}), Shape{2, 1, 3});
    in.add(randn({}), Shape{4});
    in.add(randn({0, 3}), Shape{2, 2});
  }
  void many(Inputs& in, int64_t n) const { in.add(ones({2, 3}), Shape{n, 2}); }
  Tensor run(const Tensor& x, const Shape& repeats) const { return repeat(x, repeats); }
  Tensor reference(const Tensor& x, const Shape& repeats) const {
    Shape sizes = repeats;
    const size_t lead = repeats.size() - x.sizes().size();
    for (size_t i = lead; i < sizes.size(); ++i) sizes[i] *= x.sizes()[i - lead];
    return gathered(x, sizes, [&](Shape position) {
      for (size_t i = 0; i < lead; ++i) position.erase(0);
      for (size_t i = 0; i < position.size(); ++i) position[i] %= x.sizes()[i];
      return position;
    });
  }
  void bench(Inputs& in, int64_t n) const { in.add(randn({1000}), Shape{(n + 999) / 1000, 1}); }
};

struct Flip : View {
  static constexpr const char* name = "flip";
  void inputs(Inputs& in) const {
    in.add(randn({3, 5}), Shape{1});
    in.add(randn({2, 3, 4}), Shape{0, 2});
    in.add(randn({}), Shape{});
    in.add(randn({0, 3}), Shape{0});
  }
  Tensor run(const Tensor& x, const Shape& dims) const { return flip(x, dims); }
  Tensor reference(const Tensor& x, const Shape& dims) const {
    return gathered(x, x.sizes(), [&](Shape position) {
      for (const int64_t dim : dims) position[size_t(dim)] = x.size(dim) - 1 - position[size_t(dim)];
      return position;
    });
  }
  void bench(Inputs& in, int64_t n) const { square(in, n, Shape{1}); }
};

struct Clone : View {
  static constexpr const char* name = "clone";
  void inputs(Inputs& in) const {
    in.add(randn({3, 5}));
    in.add(randn({}));
    in.add(randn({0, 3}));
  }
  Tensor run(const Tensor& x) const { return x.clone(); }
  Tensor reference(const Tensor& x) const {
    return gathered(x, x.sizes(), [](const Shape& position) { return position; });
  }
  void bench(Inputs& in, int64_t n) const { in.add(randn({n})); }
};

struct Contiguous : Clone {
  static constexpr const char* name = "contiguous";
  static constexpr const char* torch = "Tensor.contiguous";
  Results run(const Tensor& x) const {
    const Tensor y = x.contiguous();
    return std::vector<Tensor>{y, tensor(int64_t(y.is_contiguous()))};
  }
  Results reference(const Tensor& x) const { return std::vector<Tensor>{Clone::reference(x), tensor(1)}; }
  Tensor timed(const Tensor& x) const { return x.contiguous(); }
  void bench(Inputs& in, int64_t n) const { in.add(randn({1000, (n + 999) / 1000}).t()); }
};

}  // namespace

void add_views(std::vector<Operation>& list) {
  list.push_back(operation<Reshape>());
  list.push_back(operation<ViewOfSizes>());
  list.push_back(operation<ViewAs>());
  list.push_back(operation<AsStrided>());
  list.push_back(operation<Flatten>());
  list.push_back(operation<Squeeze>());
  list.push_back(operation<Unsqueeze>());
  list.push_back(operation<Transpose>());
  list.push_back(operation<Permute>());
  list.push_back(operation<Expand>());
  list.push_back(operation<ExpandAs>());
  list.push_back(operation<BroadcastTensors>());
  list.push_back(operation<Narrow>());
  list.push_back(operation<SliceView>());
  list.push_back(operation<Select>());
  list.push_back(operation<Diagonal>());
  list.push_back(operation<Cat>());
  list.push_back(operation<Stack>());
  list.push_back(operation<Repeat>());
  list.push_back(operation<Flip>());
  list.push_back(operation<Clone>());
  list.push_back(operation<Contiguous>());
}

}  // namespace tandem::cases
