// Attention, bags of embeddings, distances between vectors.
#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include "cases/case.h"

namespace tandem::cases {
namespace {

struct Sequence : Case {
  static constexpr double tolerance = 16;
  static constexpr bool zero_dim = false, empty_input = false;
};

/// Which keys are seen: a mask whose first row hides all of them.
Tensor hiding(const Shape& sizes) {
  return generate(sizes,
                  [](const Shape& p) {
                    const int64_t i = p[p.size() - 2], j = p[p.size() - 1];
                    return i == 0 || (i + 3 * j) % 4 == 0 ? 0.0 : 1.0;
                  })
      .to(kBool);
}

struct Attention : Sequence {
  static constexpr const char* name = "scaled_dot_product_attention";
  static constexpr const char* torch = "nn.functional.scaled_dot_product_attention";
  void inputs(Inputs& in) const {
    in.add(randn({2, 3, 4}), randn({2, 5, 4}), randn({2, 5, 6}), "all", std::nullopt);
    in.add(randn({2, 2, 4, 3}), randn({2, 2, 4, 3}), randn({2, 2, 4, 3}), "causal", std::nullopt);
    // More than a block both ways, by odd sizes.
    in.add(randn({1, 4, 70, 5}), randn({1, 2, 140, 5}), randn({1, 2, 140, 3}), "grouped", std::nullopt);
    in.add(randn({1, 2, 70, 5}), randn({1, 2, 150, 5}), randn({1, 2, 150, 9}), "causal", std::nullopt);
    in.add(randn({2, 1, 100, 4}), randn({2, 1, 67, 4}), randn({2, 1, 67, 4}), "causal", std::nullopt);
    in.add(randn({1, 1, 20, 40}), randn({1, 1, 33, 40}), randn({1, 1, 33, 70}), "all", std::nullopt);
    in.add(randn({2, 2, 3, 5}), randn({2, 2, 150, 5}), randn({2, 2, 150, 4}), "all", std::nullopt);  // few queries
    in.add(randn({2, 3, 9, 4}), randn({2, 1, 7, 4}), randn({1, 1, 7, 5}), "all", std::nullopt);      // broadcast
    // Masks: for each head, for all, and numbers.
    in.add(randn({2, 3, 9, 4}), randn({2, 3, 17, 4}), randn({2, 3, 17, 4}), "all", hiding({2, 3, 9, 17}));
    in.add(randn({2, 1, 2, 9, 4}), randn({1, 1, 2, 7, 4}), randn({1, 1, 2, 7, 4}), "all", hiding({9, 7}));
    in.add(randn({3, 4}), randn({6, 4}), randn({6, 4}), "added", hiding({3, 6}));
    in.add(randn({1, 2, 66, 4}), randn({1, 2, 130, 4}), randn({1, 2, 130, 4}), "added", hiding({1, 2, 66, 130}));
  }
  void many(Inputs& in, int64_t n) const {
    const int64_t m = n / 3;
    in.add(ones({1, 1, 2, 4}), ones({1, 1, m, 4}), ones({1, 1, m, 4}), "all", std::nullopt);
    in.add(ones({1, 1, m, 4}), ones({1, 1, 2, 4}), ones({1, 1, 2, 4}), "all", std::nullopt);
    in.add(ones({m / 10, 2, 5, 4}), ones({1, 1, 2, 4}), ones({1, 1, 2, 4}), "grouped", std::nullopt);
  }
  Tensor run(const Tensor& q, const Tensor& k, const Tensor& v, const std::string& kind, const std::optional<Tensor>& mask) const {
    AttentionOptions options;
    options.is_causal = kind == "causal";
    options.enable_gqa = kind == "grouped";
    if (mask) options.attn_mask = kind == "added" ? mask->to(q.dtype()) : *mask;
    return scaled_dot_product_attention(q, k, v, options);
  }
  Tensor reference(const Tensor& q, const Tensor& k, const Tensor& v, const std::string& kind, const std::optional<Tensor>& mask) const {
    Shape scores = q.sizes(), sizes = q.sizes();
    const size_t d = sizes.size();
    scores[d - 1] = k.size(-2);
    sizes[d - 1] = v.size(-1);
    const int64_t groups = kind == "grouped" ? q.size(-3) / k.size(-3) : 1;
    const Tensor added = mask ? mask->to(kFloat64).expand(scores) : Tensor();
    const auto of_shared = [&](const Tensor& x, Shape p) {
      for (size_t at = 0; at + 2 < d; ++at) p[at] = x.sizes()[at] == 1 ? 0 : at + 3 == d ? p[at] / groups : p[at];
      return p;
    };
    const Tensor weights = generate(scores, [&](const Shape& p) {
      double score = 0;
      Shape query = p, key = of_shared(k, p);
      key[d - 2] = p[d - 1];
      for (int64_t e = 0; e < q.size(-1); ++e) {
        query[d - 1] = key[d - 1] = e;
        score += at(q, query) * at(k, key);
      }
      score /= std::sqrt(double(q.size(-1)));
      if (kind == "added") score += at(added, p);
      const bool hidden = (kind == "causal" && p[d - 1] > p[d - 2]) || (mask && kind != "added" && at(added, p) == 0);
      return hidden ? 0 : std::exp(score);
    });
    return generate(sizes, [&](const Shape& p) {
      double total = 0, sum = 0;
      Shape weight = p, value = of_shared(v, p);
      for (int64_t s = 0; s < k.size(-2); ++s) {
        weight[d - 1] = value[d - 2] = s;
        total += at(weights, weight);
        sum += at(weights, weight) * at(v, value);
      }
      return total == 0 ? 0 : sum / total;
    });
  }
  void bench(Inputs& in, int64_t n) const {
    const Shape sizes{std::max<int64_t>(1, n / 131072), 8, 256, 64};
    in.add(randn(sizes), randn(sizes), randn(sizes), "all", std::nullopt);
  }
  double flops(const Tensor& q, const Tensor& k, const Tensor& v, const std::string&, const std::optional<Tensor>&) const {
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
  void many(Inputs& in, int64_t n) const {
    in.add(ones({2, n}), ones({2, n}), 1);
    in.add(ones({n, 4}), ones({1, 4}), 1);
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
  void many(Inputs& in, int64_t n) const {
    in.add(ones({2, n}), zeros({2, n}), 2.0);
    in.add(ones({n, 4}), zeros({1, 4}), 2.0);
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
  void many(Inputs& in, int64_t n) const {
    for (const char* mode : {"sum", "mean", "max"}) {
      in.add(zeros({n, 2}, kInt64), ones({6, 5}), mode);
      in.add(zeros({2, n}, kInt64), ones({6, 5}), mode);
    }
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
