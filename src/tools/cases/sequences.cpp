// Attention, bags of embeddings, distances between vectors.
#include <algorithm>
#include <cmath>

#include "tools/cases/case.h"

namespace tandem::cases {
namespace {

struct Sequence : Case {
  static constexpr double tolerance = 16;
  static constexpr bool zero_dim = false, empty_input = false;
};

struct Attention : Sequence {
  static constexpr const char* name = "scaled_dot_product_attention";
  static constexpr const char* torch = "nn.functional.scaled_dot_product_attention";
  void inputs(Inputs& in) const {
    in.add(randn({2, 3, 4}), randn({2, 5, 4}), randn({2, 5, 6}), false);
    in.add(randn({2, 2, 4, 3}), randn({2, 2, 4, 3}), randn({2, 2, 4, 3}), true);
  }
  Tensor run(const Tensor& q, const Tensor& k, const Tensor& v, bool causal) const {
    AttentionOptions options;
    options.is_causal = causal;
    return scaled_dot_product_attention(q, k, v, options);
  }
  Tensor reference(const Tensor& q, const Tensor& k, const Tensor& v, bool causal) const {
    Shape sizes = q.sizes();
    sizes[sizes.size() - 1] = v.size(-1);
    return generate(sizes, [&](const Shape& p) {
      const size_t d = p.size();
      double total = 0, sum = 0;
      for (int64_t s = 0; s < (causal ? p[d - 2] + 1 : k.size(-2)); ++s) {
        Shape query = p, key = p, value = p;
        key[d - 2] = value[d - 2] = s;
        double score = 0;
        for (int64_t e = 0; e < q.size(-1); ++e) {
          query[d - 1] = key[d - 1] = e;
          score += at(q, query) * at(k, key);
        }
        const double weight = std::exp(score / std::sqrt(double(q.size(-1))));
        total += weight;
        sum += weight * at(v, value);
      }
      return sum / total;
    });
  }
  void bench(Inputs& in, int64_t n) const {
    const Shape sizes{std::max<int64_t>(1, n / 65536), 8, 128, 64};
    in.add(randn(sizes), randn(sizes), randn(sizes), false);
  }
  double flops(const Tensor& q, const Tensor& k, const Tensor& v, bool) const {
    return 2.0 * double(q.numel()) * double(k.size(-2)) * (1 + double(v.size(-1)) / double(q.size(-1)));
  }
};

struct CosineSimilarity : Case {
  static constexpr const char* name = "cosine_similarity";
  static constexpr double tolerance = 16;
  static constexpr bool zero_dim = false;
  void inputs(Inputs& in) const {
    in.add(randn({3, 5}), randn({3, 5}), 1);
    in.add(randn({4, 3}), randn({4, 3}), 0);
    in.add(randn({0, 3}), randn({0, 3}), 1);
  }
  Tensor run(const Tensor& a, const Tensor& b, int64_t dim) const { return cosine_similarity(a, b, dim); }
  Tensor reference(const Tensor& a, const Tensor& b, int64_t dim) const {
    const auto dot = [&](const Tensor& x, const Tensor& y) { return (x * y).sum(dim); };
    return each(dot(a, b), dot(a, a) * dot(b, b), [](double ab, double squares) { return ab / std::sqrt(squares); });
  }
  void bench(Inputs& in, int64_t n) const { in.add(randn({(n + 99) / 100, 100}), randn({(n + 99) / 100, 100}), 1); }
};

struct PairwiseDistance : Case {
  static constexpr const char* name = "pairwise_distance";
  static constexpr DTypes dtypes = kNumbers, without_reference = only(kUInt8);  // the difference wraps
  static constexpr Gives gives = Gives::Floating;
  static constexpr double tolerance = 16;
  static constexpr bool zero_dim = false;
  void inputs(Inputs& in) const {
    in.add(randn({3, 5}), randn({3, 5}), 2.0);
    in.add(randn({4, 3}), randn({4, 3}), 3.0);
    in.add(randn({0, 3}), randn({0, 3}), 2.0);
  }
  Tensor run(const Tensor& a, const Tensor& b, double p) const { return pairwise_distance(a, b, p); }
  Tensor reference(const Tensor& a, const Tensor& b, double p) const {
    return reduced(a - b + 1e-6, -1, false, [&](const Row& row) {
      double sum = 0;
      for (const double v : row) sum += std::pow(std::fabs(v), p);
      return std::pow(sum, 1 / p);
    });
  }
  void bench(Inputs& in, int64_t n) const { in.add(randn({(n + 99) / 100, 100}), randn({(n + 99) / 100, 100}), 2.0); }
};

struct EmbeddingBag : Case {
  static constexpr const char* name = "embedding_bag";
  static constexpr const char* torch = "nn.functional.embedding_bag";
  static constexpr double tolerance = 8;
  static constexpr bool zero_dim = false, empty_input = false;
  void inputs(Inputs& in) const {
    in.add(randint(0, 6, {3, 4}), randn({6, 5}), "mean");
    in.add(randint(0, 6, {3, 4}), randn({6, 5}), "sum");
  }
  Tensor run(const Tensor& indices, const Tensor& weight, const std::string& mode) const {
    EmbeddingBagOptions options;
    options.mode = mode;
    return embedding_bag(indices, weight, options);
  }
  Tensor reference(const Tensor& indices, const Tensor& weight, const std::string& mode) const {
    return generate({indices.size(0), weight.size(1)}, [&](const Shape& p) {
      double sum = 0;
      for (int64_t i = 0; i < indices.size(1); ++i) sum += at(weight, {int64_t(at(indices, {p[0], i})), p[1]});
      return mode == "sum" ? sum : sum / double(indices.size(1));
    });
  }
  void bench(Inputs& in, int64_t n) const { in.add(randint(0, 10000, {(n + 1279) / 1280, 10}), randn({10000, 128}), "mean"); }
};

}  // namespace

void add_sequences(std::vector<Operation>& list) {
  list.push_back(operation<Attention>());
  list.push_back(operation<CosineSimilarity>());
  list.push_back(operation<PairwiseDistance>());
  list.push_back(operation<EmbeddingBag>());
}

}  // namespace tandem::cases
