// Joining by other names, splitting, rolling and turning, diagonals. A reference says where each element comes from.
#include <algorithm>

#include "cases/case.h"

namespace tandem::cases {
namespace {

struct Joining : Case {
  static constexpr bool sums = false;
  static constexpr DTypes dtypes = kAnyType;
  static constexpr bool zero_dim = false;
  void inputs(Inputs& in) const {
    in.add(std::vector<Tensor>{randn({2, 3}), randn({2, 3})});
    in.add(std::vector<Tensor>{randn({4}), randn({4})});
    in.add(std::vector<Tensor>{randn({0, 3}), randn({0, 3})});
  }
  void bench(Inputs& in, int64_t n) const {
    in.add(std::vector<Tensor>{randn({(n + 1999) / 2000, 1000}), randn({(n + 1999) / 2000, 1000})});
  }
  /// a and b of the same sizes, joined along `dim`.
  static Tensor joined(const Tensor& a, const Tensor& b, size_t dim) {
    Shape sizes = a.sizes();
    sizes[dim] *= 2;
    return generate(sizes, [&](Shape position) {
      const bool second = position[dim] >= a.sizes()[dim];
      if (second) position[dim] -= a.sizes()[dim];
      return at(second ? b : a, position);
    });
  }
};

struct Hstack : Joining {
  static constexpr const char* name = "hstack";
  Tensor run(const std::vector<Tensor>& x) const { return hstack(x); }
  Tensor reference(const std::vector<Tensor>& x) const { return joined(x[0], x[1], x[0].dim() == 1 ? 0 : 1); }
};
struct Vstack : Joining {
  static constexpr const char* name = "vstack";
  Tensor run(const std::vector<Tensor>& x) const { return vstack(x); }
  Tensor reference(const std::vector<Tensor>& x) const {
    return x[0].dim() == 1 ? joined(x[0].view({1, -1}), x[1].view({1, -1}), 0) : joined(x[0], x[1], 0);
  }
};
struct Dstack : Joining {
  static constexpr const char* name = "dstack";
  Tensor run(const std::vector<Tensor>& x) const { return dstack(x); }
  Tensor reference(const std::vector<Tensor>& x) const {
    const Shape sizes = x[0].dim() == 1 ? Shape{1, x[0].size(0), 1} : Shape{x[0].size(0), x[0].size(1), 1};
    return joined(x[0].reshape(sizes), x[1].reshape(sizes), 2);
  }
};
struct ColumnStack : Joining {
  static constexpr const char* name = "column_stack";
  Tensor run(const std::vector<Tensor>& x) const { return column_stack(x); }
  Tensor reference(const std::vector<Tensor>& x) const {
    return x[0].dim() == 1 ? joined(x[0].unsqueeze(1), x[1].unsqueeze(1), 1) : joined(x[0], x[1], 1);
  }
};

struct BlockDiag : Joining {
  static constexpr const char* name = "block_diag";
  void inputs(Inputs& in) const {
    in.add(std::vector<Tensor>{randn({2, 3}), randn({1, 2})});
    in.add(std::vector<Tensor>{randn({0, 3}), randn({2, 2})});
  }
  Tensor run(const std::vector<Tensor>& x) const { return block_diag(x); }
  Tensor reference(const std::vector<Tensor>& x) const {
    return generate({x[0].size(0) + x[1].size(0), x[0].size(1) + x[1].size(1)}, [&](const Shape& p) {
      const int64_t r = p[0] - x[0].size(0), c = p[1] - x[0].size(1);
      return r < 0 && c < 0 ? at(x[0], p) : r >= 0 && c >= 0 ? at(x[1], {r, c}) : 0;
    });
  }
};

struct Meshgrid : Joining {
  static constexpr const char* name = "meshgrid";
  static constexpr bool sums = true;
  void inputs(Inputs& in) const {
    in.add(std::vector<Tensor>{randn({3}), randn({4})});
    in.add(std::vector<Tensor>{randn({0}), randn({4})});
  }
  void many(Inputs& in, int64_t n) const { in.add(std::vector<Tensor>{ones({3}), ones({n})}); }
  Results run(const std::vector<Tensor>& x) const { return meshgrid(x); }
  Results reference(const std::vector<Tensor>& x) const {
    const Shape sizes{x[0].size(0), x[1].size(0)};
    return std::vector<Tensor>{generate(sizes, [&](const Shape& p) { return at(x[0], {p[0]}); }),
                               generate(sizes, [&](const Shape& p) { return at(x[1], {p[1]}); })};
  }
  void bench(Inputs& in, int64_t n) const { in.add(std::vector<Tensor>{randn({1000}), randn({(n + 999) / 1000})}); }
  Tensor timed(const std::vector<Tensor>& x) const { return meshgrid(x)[0].contiguous(); }
};

struct CartesianProd : Meshgrid {
  static constexpr const char* name = "cartesian_prod";
  Tensor run(const std::vector<Tensor>& x) const { return cartesian_prod(x); }
  Tensor reference(const std::vector<Tensor>& x) const {
    const int64_t m = x[1].size(0);
    return generate({x[0].size(0) * m, 2}, [&](const Shape& p) { return p[1] == 0 ? at(x[0], {p[0] / m}) : at(x[1], {p[0] % m}); });
  }
  Tensor timed(const std::vector<Tensor>& x) const { return cartesian_prod(x); }
};

struct Parts : Case {
  static constexpr bool sums = false;
  static constexpr DTypes dtypes = kAnyType;
  static constexpr bool zero_dim = false;
  void inputs(Inputs& in) const {
    in.add(randn({7, 3}), 3, 0);
    in.add(randn({2, 5}), 2, 1);
    in.add(randn({0, 4}), 2, 1);
  }
  /// Cut along `dim` into pieces of these sizes.
  static Results cut(const Tensor& x, const Shape& pieces, int64_t dim) {
    std::vector<Tensor> out;
    int64_t start = 0;
    for (const int64_t piece : pieces) {
      Shape sizes = x.sizes();
      sizes[size_t(dim)] = piece;
      out.push_back(generate(sizes, [&](Shape position) {
        position[size_t(dim)] += start;
        return at(x, position);
      }));
      start += piece;
    }
    return out;
  }
};
struct Split : Parts {
  static constexpr const char* name = "split";
  Results run(const Tensor& x, int64_t size, int64_t dim) const { return x.split(size, dim); }
  Results reference(const Tensor& x, int64_t size, int64_t dim) const {
    Shape pieces;
    for (int64_t left = x.size(dim); left > 0; left -= size) pieces.push_back(std::min(left, size));
    return cut(x, pieces, dim);
  }
};
struct Chunk : Parts {
  static constexpr const char* name = "chunk";
  Results run(const Tensor& x, int64_t chunks, int64_t dim) const { return x.chunk(chunks, dim); }
  Results reference(const Tensor& x, int64_t chunks, int64_t dim) const {
    return Split().reference(x, (x.size(dim) + chunks - 1) / chunks, dim);
  }
};
struct TensorSplit : Parts {
  static constexpr const char* name = "tensor_split";
  Results run(const Tensor& x, int64_t sections, int64_t dim) const { return tensor_split(x, sections, dim); }
  Results reference(const Tensor& x, int64_t sections, int64_t dim) const {
    Shape pieces;
    for (int64_t i = 0; i < sections; ++i) pieces.push_back(x.size(dim) / sections + (i < x.size(dim) % sections));
    return cut(x, pieces, dim);
  }
};
struct Unbind : Parts {
  static constexpr const char* name = "unbind";
  void inputs(Inputs& in) const {
    in.add(randn({3, 4}), 0);
    in.add(randn({3, 2}), 1);
    in.add(randn({0, 2}), 1);
  }
  Results run(const Tensor& x, int64_t dim) const { return x.unbind(dim); }
  Results reference(const Tensor& x, int64_t dim) const {
    Shape sizes = x.sizes();
    sizes.erase(size_t(dim));
    std::vector<Tensor> out;
    for (int64_t i = 0; i < x.size(dim); ++i)
      out.push_back(generate(sizes, [&](Shape position) {
        position.insert(size_t(dim), i);
        return at(x, position);
      }));
    return out;
  }
};

struct Moved : Case {
  static constexpr bool sums = false;
  static constexpr DTypes dtypes = kAnyType;
  static constexpr bool zero_dim = false;
  void inputs(Inputs& in) const {
    in.add(randn({3, 5}));
    in.add(randn({2, 3, 4}));
    in.add(randn({0, 3}));
  }
  void bench(Inputs& in, int64_t n) const { in.add(randn({(n + 999) / 1000, 1000})); }
};
struct Fliplr : Moved {
  static constexpr const char* name = "fliplr";
  Tensor run(const Tensor& x) const { return fliplr(x); }
  Tensor reference(const Tensor& x) const {
    return generate(x.sizes(), [&](Shape p) {
      p[1] = x.size(1) - 1 - p[1];
      return at(x, p);
    });
  }
};
struct Flipud : Moved {
  static constexpr const char* name = "flipud";
  Tensor run(const Tensor& x) const { return flipud(x); }
  Tensor reference(const Tensor& x) const {
    return generate(x.sizes(), [&](Shape p) {
      p[0] = x.size(0) - 1 - p[0];
      return at(x, p);
    });
  }
};
struct Roll : Moved {
  static constexpr const char* name = "roll";
  Tensor run(const Tensor& x) const { return roll(x, {1, -2}, {0, 1}); }
  Tensor reference(const Tensor& x) const {
    return generate(x.sizes(), [&](Shape p) {
      p[0] = (p[0] + x.size(0) - 1) % x.size(0);
      p[1] = (p[1] + 2) % x.size(1);
      return at(x, p);
    });
  }
};
struct Rot90 : Moved {
  static constexpr const char* name = "rot90";
  Tensor run(const Tensor& x) const { return rot90(x); }
  Tensor reference(const Tensor& x) const {
    Shape sizes = x.sizes();
    std::swap(sizes[0], sizes[1]);
    return generate(sizes, [&](Shape p) {
      const int64_t row = p[0];
      p[0] = p[1];
      p[1] = x.size(1) - 1 - row;
      return at(x, p);
    });
  }
};
struct Tile : Moved {
  static constexpr const char* name = "tile";
  Tensor run(const Tensor& x) const { return tile(x, {3}); }
  Tensor reference(const Tensor& x) const {
    Shape sizes = x.sizes();
    sizes[sizes.size() - 1] *= 3;
    return generate(sizes, [&](Shape p) {
      p[p.size() - 1] %= x.size(-1);
      return at(x, p);
    });
  }
};
struct Movedim : Moved {
  static constexpr const char* name = "movedim";
  Tensor run(const Tensor& x) const { return movedim(x, 0, 1); }
  Tensor reference(const Tensor& x) const {
    Shape sizes = x.sizes();
    std::swap(sizes[0], sizes[1]);
    return generate(sizes, [&](Shape p) {
      std::swap(p[0], p[1]);
      return at(x, p);
    });
  }
  Tensor timed(const Tensor& x) const { return movedim(x, 0, 1).contiguous(); }
};
struct T : Movedim {
  static constexpr const char* name = "t";
  void inputs(Inputs& in) const {
    in.add(randn({3, 5}));
    in.add(randn({0, 3}));
  }
  Tensor run(const Tensor& x) const { return x.t(); }
  Tensor timed(const Tensor& x) const { return x.t().contiguous(); }
};

struct Unflatten : Case {
  static constexpr const char* name = "unflatten";
  static constexpr bool sums = false;
  static constexpr DTypes dtypes = kAnyType;
  static constexpr bool zero_dim = false;
  void inputs(Inputs& in) const {
    in.add(randn({2, 6}));
    in.add(randn({0, 4}));
  }
  Tensor run(const Tensor& x) const { return unflatten(x, 1, {2, -1}); }
  Tensor reference(const Tensor& x) const {
    const int64_t half = x.size(1) / 2;
    return generate({x.size(0), 2, half}, [&](const Shape& p) { return at(x, {p[0], p[1] * half + p[2]}); });
  }
};

struct BroadcastTo : Case {
  static constexpr const char* name = "broadcast_to";
  static constexpr bool sums = false;
  static constexpr DTypes dtypes = kAnyType;
  void inputs(Inputs& in) const {
    in.add(randn({3, 1}));
    in.add(randn({}));
    in.add(randn({0, 1, 1}));
  }
  static Shape target(const Tensor& x) { return x.dim() == 3 ? Shape{0, 3, 4} : Shape{2, 3, 4}; }
  Tensor run(const Tensor& x) const { return broadcast_to(x, target(x)); }
  Tensor reference(const Tensor& x) const {
    return generate(target(x), [&](const Shape& p) { return x.dim() == 0 ? at(x, {}) : at(x, {p[1], 0}); });
  }
};

struct DiagEmbed : Case {
  static constexpr const char* name = "diag_embed";
  static constexpr bool sums = false;
  static constexpr DTypes dtypes = kAnyType;
  static constexpr bool zero_dim = false;
  void inputs(Inputs& in) const {
    in.add(randn({4}), 1);
    in.add(randn({2, 3}), -1);
    in.add(randn({0}), 1);
  }
  Tensor run(const Tensor& x, int64_t offset) const { return diag_embed(x, offset); }
  Tensor reference(const Tensor& x, int64_t offset) const {
    Shape sizes = x.sizes();
    const int64_t side = sizes.back() + std::abs(offset);
    sizes[sizes.size() - 1] = side;
    sizes.push_back(side);
    return generate(sizes, [&](Shape p) {
      const int64_t row = p[p.size() - 2], column = p.back();
      if (column - row != offset) return 0.0;
      p.erase(p.size() - 1);
      p[p.size() - 1] = std::min(row, column);
      return at(x, p);
    });
  }
  void bench(Inputs& in, int64_t n) const { in.add(randn({(n + 9999) / 10000, 100}), 0); }
};
struct Diag : DiagEmbed {
  static constexpr const char* name = "diag";
  void inputs(Inputs& in) const {
    in.add(randn({4}), 1);
    in.add(randn({3, 4}), 1);
    in.add(randn({0}), 1);
  }
  Tensor run(const Tensor& x, int64_t offset) const { return diag(x, offset); }
  Tensor reference(const Tensor& x, int64_t offset) const {
    if (x.dim() == 1) return DiagEmbed::reference(x, offset);
    return generate({std::min(x.size(0), x.size(1) - offset)}, [&](const Shape& p) { return at(x, {p[0], p[0] + offset}); });
  }
  void bench(Inputs& in, int64_t) const { in.add(randn({1000}), 0); }
};
struct Diagflat : DiagEmbed {
  static constexpr const char* name = "diagflat";
  Tensor run(const Tensor& x, int64_t offset) const { return diagflat(x, offset); }
  Tensor reference(const Tensor& x, int64_t offset) const { return DiagEmbed::reference(x.reshape({-1}), offset); }
  void bench(Inputs& in, int64_t) const { in.add(randn({1000}), 0); }
};

}  // namespace

void add_joining(std::vector<Operation>& list) {
  list.push_back(operation<Hstack>());
  list.push_back(operation<Vstack>());
  list.push_back(operation<Dstack>());
  list.push_back(operation<ColumnStack>());
  list.push_back(operation<BlockDiag>());
  list.push_back(operation<Meshgrid>());
  list.push_back(operation<CartesianProd>());
  list.push_back(operation<Split>());
  list.push_back(operation<Chunk>());
  list.push_back(operation<TensorSplit>());
  list.push_back(operation<Unbind>());
  list.push_back(operation<Fliplr>());
  list.push_back(operation<Flipud>());
  list.push_back(operation<Roll>());
  list.push_back(operation<Rot90>());
  list.push_back(operation<Tile>());
  list.push_back(operation<Movedim>());
  list.push_back(operation<T>());
  list.push_back(operation<Unflatten>());
  list.push_back(operation<BroadcastTo>());
  list.push_back(operation<DiagEmbed>());
  list.push_back(operation<Diag>());
  list.push_back(operation<Diagflat>());
}

}  // namespace tandem::cases
