// New tensors. What makes them takes no tensor, so the struct's first argument only says which dtype and device is asked for.
#include <cmath>

#include "cases/case.h"

namespace tandem::cases {
namespace {

struct Factory : Case {
  static constexpr bool sums = false;
  static constexpr DTypes dtypes = kAnyType;
  static constexpr bool gradient = false, zero_dim = false, empty_input = false;

  static Options like(const Tensor& x) { return {.dtype = x.dtype(), .device = x.device()}; }
  static Tensor filled(const Shape& sizes, double value) {
    return generate(sizes, [&](const Shape&) { return value; });
  }
  /// Vectors longer than a register, several dimensions, none, no elements.
  static void add_sizes(Inputs& in, auto... rest) {
    for (const Shape& sizes : {Shape{37}, Shape{2, 3, 5}, Shape{}, Shape{0, 3}}) in.add(ones({2}), sizes, rest...);
  }
};

struct Zeros : Factory {
  static constexpr const char* name = "zeros";
  void inputs(Inputs& in) const { add_sizes(in); }
  Tensor run(const Tensor& x, const Shape& sizes) const { return zeros(sizes, like(x)); }
  Tensor reference(const Tensor&, const Shape& sizes) const { return filled(sizes, 0); }
};
struct Ones : Factory {
  static constexpr const char* name = "ones";
  void inputs(Inputs& in) const { add_sizes(in); }
  Tensor run(const Tensor& x, const Shape& sizes) const { return ones(sizes, like(x)); }
  Tensor reference(const Tensor&, const Shape& sizes) const { return filled(sizes, 1); }
};
/// Its memory holds anything: what is checked are sizes and dtype, and that all of it can be written.
struct Empty : Factory {
  static constexpr const char* name = "empty";
  void inputs(Inputs& in) const { add_sizes(in); }
  Tensor run(const Tensor& x, const Shape& sizes) const { return empty(sizes, like(x)).fill_(1); }
  Tensor reference(const Tensor&, const Shape& sizes) const { return filled(sizes, 1); }
};
struct Full : Factory {
  static constexpr const char* name = "full";
  void inputs(Inputs& in) const {
    add_sizes(in, 2.5);
    add_sizes(in, 3);
  }
  Tensor run(const Tensor& x, const Shape& sizes, const Scalar& value) const { return full(sizes, value, like(x)); }
  Tensor reference(const Tensor&, const Shape& sizes, const Scalar& value) const { return filled(sizes, value.to<double>()); }
};

struct Eye : Factory {
  static constexpr const char* name = "eye";
  void inputs(Inputs& in) const {
    for (const auto& [n, m] : {std::pair{5, 5}, {3, 7}, {7, 3}, {0, 4}, {1, 1}}) in.add(ones({2}), n, m);
  }
  Tensor run(const Tensor& x, int64_t n, int64_t m) const { return n == m ? eye(n, {}, like(x)) : eye(n, m, like(x)); }
  Tensor reference(const Tensor&, int64_t n, int64_t m) const {
    return generate({n, m}, [](const Shape& position) { return double(position[0] == position[1]); });
  }
};

struct Arange : Factory {
  static constexpr const char* name = "arange";
  static constexpr DTypes dtypes = kNumbers;
  void inputs(Inputs& in) const {
    in.add(ones({2}), 0, 37, 1);
    in.add(ones({2}), 2, 25, 3);
    in.add(ones({2}), 9, 0, -2);
    in.add(ones({2}), 5, 5, 1);
  }
  Tensor run(const Tensor& x, int64_t start, int64_t end, int64_t step) const {
    if (step != 1) return arange(start, end, step, like(x));
    return start == 0 ? arange(end, like(x)) : arange(start, end, like(x));
  }
  Tensor reference(const Tensor&, int64_t start, int64_t end, int64_t step) const {
    int64_t count = 0;
    for (int64_t i = start; step > 0 ? i < end : i > end; i += step) ++count;
    return generate({count}, [&](const Shape& position) { return double(start + position[0] * step); });
  }
};

/// Steps are whole numbers, so that integers are told exactly.
struct Linspace : Factory {
  static constexpr const char* name = "linspace";
  static constexpr DTypes dtypes = kNumbers;
  void inputs(Inputs& in) const {
    in.add(ones({2}), 0.0, 36.0, 37);
    in.add(ones({2}), 20.0, 5.0, 6);
    in.add(ones({2}), 3.0, 8.0, 1);
    in.add(ones({2}), 3.0, 8.0, 0);
  }
  static double place(double start, double end, int64_t steps, int64_t i) {
    return steps == 1 ? start : start + (end - start) * double(i) / double(steps - 1);
  }
  Tensor run(const Tensor& x, double start, double end, int64_t steps) const { return linspace(start, end, steps, like(x)); }
  Tensor reference(const Tensor&, double start, double end, int64_t steps) const {
    return generate({steps}, [&](const Shape& position) { return place(start, end, steps, position[0]); });
  }
};
struct Logspace : Linspace {
  static constexpr const char* name = "logspace";
  void inputs(Inputs& in) const {
    in.add(ones({2}), 0.0, 6.0, 7);
    in.add(ones({2}), 4.0, 0.0, 3);
    in.add(ones({2}), 3.0, 8.0, 1);
    in.add(ones({2}), 3.0, 8.0, 0);
  }
  Tensor run(const Tensor& x, double start, double end, int64_t steps) const { return logspace(start, end, steps, 2, like(x)); }
  Tensor reference(const Tensor&, double start, double end, int64_t steps) const {
    return generate({steps}, [&](const Shape& position) { return std::exp2(place(start, end, steps, position[0])); });
  }
};

/// Row and column of the elements of a matrix whose column is at most (tril) or at least (triu) the row plus an offset.
struct TrilIndices : Factory {
  static constexpr const char* name = "tril_indices";
  static constexpr DTypes dtypes = only(kInt32) | only(kInt64);
  void inputs(Inputs& in) const {
    for (const int offset : {0, 1, -2, 5, -9}) {
      in.add(ones({2}), 4, 5, offset);
      in.add(ones({2}), 7, 3, offset);
    }
    in.add(ones({2}), 0, 3, 0);
  }
  static Tensor places(int64_t rows, int64_t columns, const std::function<bool(int64_t, int64_t)>& wanted) {
    std::vector<double> row, column;
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t c = 0; c < columns; ++c)
        if (wanted(r, c)) row.push_back(double(r)), column.push_back(double(c));
    return generate({2, int64_t(row.size())}, [&](const Shape& position) { return (position[0] ? column : row)[size_t(position[1])]; });
  }
  Tensor run(const Tensor& x, int64_t rows, int64_t columns, int64_t offset) const { return tril_indices(rows, columns, offset, like(x)); }
  Tensor reference(const Tensor&, int64_t rows, int64_t columns, int64_t offset) const {
    return places(rows, columns, [&](int64_t r, int64_t c) { return c <= r + offset; });
  }
};
struct TriuIndices : TrilIndices {
  static constexpr const char* name = "triu_indices";
  Tensor run(const Tensor& x, int64_t rows, int64_t columns, int64_t offset) const { return triu_indices(rows, columns, offset, like(x)); }
  Tensor reference(const Tensor&, int64_t rows, int64_t columns, int64_t offset) const {
    return places(rows, columns, [&](int64_t r, int64_t c) { return c >= r + offset; });
  }
};

/// From numbers in nested braces.
struct FromNumbers : Factory {
  static constexpr const char* name = "tensor";
  void inputs(Inputs& in) const { in.add(ones({2})); }
  Tensor run(const Tensor& x) const { return tensor({{0, 1, 2.5}, {3, 4, 100}}, like(x)); }
  Tensor reference(const Tensor&) const {
    constexpr double kNumbersInOrder[] = {0, 1, 2.5, 3, 4, 100};
    return generate({2, 3}, [&](const Shape& position) { return kNumbersInOrder[position[0] * 3 + position[1]]; });
  }
};

/// Over the memory of another tensor, in other sizes; what is written through it is seen in both.
struct FromBlob : Factory {
  static constexpr const char* name = "from_blob";
  static constexpr const char* torch = "";
  void inputs(Inputs& in) const {
    in.add(randn({37}), Shape{37});
    in.add(randn({2, 6}), Shape{3, 4});
    in.add(randn({0, 3}), Shape{3, 0});
  }
  Tensor run(const Tensor& x, const Shape& sizes) const {
    const Tensor owner = x.contiguous().clone(), view = from_blob(owner.data_ptr(), sizes, like(x));
    const Tensor before = view.clone();
    view.fill_(1);
    const Tensor written = owner.view(sizes).clone();
    if (x.device().is_cuda()) cuda::synchronize(x.device());  // while the owner still has its memory
    return stack({before, written});
  }
  Tensor reference(const Tensor& x, const Shape& sizes) const { return stack({x.contiguous().view(sizes), filled(sizes, 1)}); }
};

// --- Of another tensor's kind

/// In the sizes, dtype and device of a tensor.
struct Like : Case {
  static constexpr bool sums = false;
  static constexpr DTypes dtypes = kAnyType;
  static constexpr bool gradient = false;
  void inputs(Inputs& in) const {
    for (const Shape& sizes : {Shape{37}, Shape{2, 3, 5}, Shape{}, Shape{0, 3}}) in.add(randn(sizes));
  }
};
struct ZerosLike : Like {
  static constexpr const char* name = "zeros_like";
  Tensor run(const Tensor& x) const { return zeros_like(x); }
  Tensor reference(const Tensor& x) const { return Factory::filled(x.sizes(), 0); }
};
struct OnesLike : Like {
  static constexpr const char* name = "ones_like";
  Tensor run(const Tensor& x) const { return ones_like(x); }
  Tensor reference(const Tensor& x) const { return Factory::filled(x.sizes(), 1); }
};
struct EmptyLike : Like {
  static constexpr const char* name = "empty_like";
  Tensor run(const Tensor& x) const { return empty_like(x).fill_(1); }
  Tensor reference(const Tensor& x) const { return Factory::filled(x.sizes(), 1); }
};
struct FullLike : Like {
  static constexpr const char* name = "full_like";
  Tensor run(const Tensor& x) const { return full_like(x, 2.5); }
  Tensor reference(const Tensor& x) const { return Factory::filled(x.sizes(), 2.5); }
};

/// In the dtype and device of a tensor, of other sizes.
struct NewZeros : Factory {
  static constexpr const char* name = "new_zeros";
  static constexpr const char* torch = "Tensor.new_zeros";
  void inputs(Inputs& in) const { add_sizes(in); }
  Tensor run(const Tensor& x, const Shape& sizes) const { return x.new_zeros(sizes); }
  Tensor reference(const Tensor&, const Shape& sizes) const { return filled(sizes, 0); }
};
struct NewOnes : NewZeros {
  static constexpr const char* name = "new_ones";
  static constexpr const char* torch = "Tensor.new_ones";
  Tensor run(const Tensor& x, const Shape& sizes) const { return x.new_ones(sizes); }
  Tensor reference(const Tensor&, const Shape& sizes) const { return filled(sizes, 1); }
};
struct NewEmpty : NewOnes {
  static constexpr const char* name = "new_empty";
  static constexpr const char* torch = "Tensor.new_empty";
  Tensor run(const Tensor& x, const Shape& sizes) const { return x.new_empty(sizes).fill_(1); }
};
struct NewFull : NewZeros {
  static constexpr const char* name = "new_full";
  static constexpr const char* torch = "Tensor.new_full";
  Tensor run(const Tensor& x, const Shape& sizes) const { return x.new_full(sizes, 2.5); }
  Tensor reference(const Tensor&, const Shape& sizes) const { return filled(sizes, 2.5); }
};

}  // namespace

void add_creation(std::vector<Operation>& list) {
  list.push_back(operation<Zeros>());
  list.push_back(operation<Ones>());
  list.push_back(operation<Empty>());
  list.push_back(operation<Full>());
  list.push_back(operation<Eye>());
  list.push_back(operation<Arange>());
  list.push_back(operation<Linspace>());
  list.push_back(operation<Logspace>());
  list.push_back(operation<TrilIndices>());
  list.push_back(operation<TriuIndices>());
  list.push_back(operation<FromNumbers>());
  list.push_back(operation<FromBlob>());
  list.push_back(operation<ZerosLike>());
  list.push_back(operation<OnesLike>());
  list.push_back(operation<EmptyLike>());
  list.push_back(operation<FullLike>());
  list.push_back(operation<NewZeros>());
  list.push_back(operation<NewOnes>());
  list.push_back(operation<NewEmpty>());
  list.push_back(operation<NewFull>());
}

}  // namespace tandem::cases
