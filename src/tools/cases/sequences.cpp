// Attention, recurrent networks, bags of embeddings, distances between vectors.
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

double sigmoid_of(double x) { return 1 / (1 + std::exp(-x)); }

/// One layer, one direction: T steps of a batch. `kGates` blocks of rows in each matrix.
template <int kGates>
struct Recurrent : Sequence {
  static constexpr Gives gives = Gives::Floating;
  static constexpr bool expands = true;
  void inputs(Inputs& in) const {
    in.add(randn({3, 2, 4}), randn({1, 2, 3}), randn({kGates * 3, 4}), randn({kGates * 3, 3}), randn({kGates * 3}), randn({kGates * 3}));
  }
  void bench(Inputs& in, int64_t n) const {
    in.add(randn({std::max<int64_t>(1, n / 8192), 64, 128}), randn({1, 64, 128}), randn({kGates * 128, 128}) * 0.1,
           randn({kGates * 128, 128}) * 0.1, randn({kGates * 128}), randn({kGates * 128}));
  }
  double flops(const Tensor& x, const Tensor&, const Tensor& w, const Tensor&, const Tensor&, const Tensor&) const {
    return 4.0 * double(x.numel()) * double(w.size(0));
  }
  /// The rows of weight times x plus bias, for sample n of step t.
  static std::vector<double> gates(const Tensor& weight, const Tensor& bias, const std::vector<double>& x) {
    std::vector<double> out;
    for (int64_t r = 0; r < weight.size(0); ++r) {
      double sum = at(bias, {r});
      for (size_t c = 0; c < x.size(); ++c) sum += at(weight, {r, int64_t(c)}) * x[c];
      out.push_back(sum);
    }
    return out;
  }
  /// Walks the sequence: `step` makes h from the two sums of gates.
  static Results walked(
      const Tensor& x, const Tensor& h0, const Tensor& w, const Tensor& u, const Tensor& b, const Tensor& c,
      const std::function<double(const std::vector<double>&, const std::vector<double>&, int64_t i, int64_t n, double h)>& step) {
    const int64_t hidden = h0.size(2);
    const Tensor output = zeros({x.size(0), x.size(1), hidden}, kFloat64), last = h0.clone();
    for (int64_t n = 0; n < x.size(1); ++n) {
      std::vector<double> h;
      for (int64_t i = 0; i < hidden; ++i) h.push_back(at(h0, {0, n, i}));
      for (int64_t t = 0; t < x.size(0); ++t) {
        std::vector<double> now;
        for (int64_t i = 0; i < x.size(2); ++i) now.push_back(at(x, {t, n, i}));
        const auto from_x = gates(w, b, now), from_h = gates(u, c, h);
        for (int64_t i = 0; i < hidden; ++i) {
          h[size_t(i)] = step(from_x, from_h, i, n, h[size_t(i)]);
          output.data_ptr<double>()[(t * x.size(1) + n) * hidden + i] = h[size_t(i)];
          last.data_ptr<double>()[n * hidden + i] = h[size_t(i)];
        }
      }
    }
    return std::vector<Tensor>{output, last};
  }
};

struct RnnTanh : Recurrent<1> {
  static constexpr const char* name = "rnn_tanh";
  Results run(const Tensor& x, const Tensor& h, const Tensor& w, const Tensor& u, const Tensor& b, const Tensor& c) const {
    const auto result = rnn_tanh(x, h, {w, u, b, c});
    return std::vector<Tensor>{result.output, result.h_n};
  }
  Results reference(const Tensor& x, const Tensor& h, const Tensor& w, const Tensor& u, const Tensor& b, const Tensor& c) const {
    return walked(x, h, w, u, b, c,
                  [](const auto& p, const auto& q, int64_t i, int64_t, double) { return std::tanh(p[size_t(i)] + q[size_t(i)]); });
  }
};
struct RnnRelu : Recurrent<1> {
  static constexpr const char* name = "rnn_relu";
  static constexpr DTypes dtypes = kNumbers, without_reference = kIntegers;  // whole gates
  Results run(const Tensor& x, const Tensor& h, const Tensor& w, const Tensor& u, const Tensor& b, const Tensor& c) const {
    const auto result = rnn_relu(x, h, {w, u, b, c});
    return std::vector<Tensor>{result.output, result.h_n};
  }
  Results reference(const Tensor& x, const Tensor& h, const Tensor& w, const Tensor& u, const Tensor& b, const Tensor& c) const {
    return walked(x, h, w, u, b, c,
                  [](const auto& p, const auto& q, int64_t i, int64_t, double) { return std::max(0.0, p[size_t(i)] + q[size_t(i)]); });
  }
};
struct Gru : Recurrent<3> {
  static constexpr const char* name = "gru";
  static constexpr DTypes dtypes = kNumbers, without_reference = kIntegers;  // whole gates
  Results run(const Tensor& x, const Tensor& h, const Tensor& w, const Tensor& u, const Tensor& b, const Tensor& c) const {
    const auto result = gru(x, h, {w, u, b, c});
    return std::vector<Tensor>{result.output, result.h_n};
  }
  Results reference(const Tensor& x, const Tensor& h0, const Tensor& w, const Tensor& u, const Tensor& b, const Tensor& c) const {
    const auto size = size_t(h0.size(2));
    return walked(x, h0, w, u, b, c, [size](const auto& p, const auto& q, int64_t k, int64_t, double h) {
      const auto i = size_t(k);
      const double reset = sigmoid_of(p[i] + q[i]), keep = sigmoid_of(p[i + size] + q[i + size]);
      return (1 - keep) * std::tanh(p[i + 2 * size] + reset * q[i + 2 * size]) + keep * h;
    });
  }
};
/// The cell begins as the hidden state does.
struct Lstm : Recurrent<4> {
  static constexpr const char* name = "lstm";
  static constexpr DTypes dtypes = kNumbers, without_reference = kIntegers;  // whole gates
  Results run(const Tensor& x, const Tensor& h, const Tensor& w, const Tensor& u, const Tensor& b, const Tensor& c) const {
    const auto result = lstm(x, {h, h}, {w, u, b, c});
    return std::vector<Tensor>{result.output, result.h_n};
  }
  Results reference(const Tensor& x, const Tensor& h0, const Tensor& w, const Tensor& u, const Tensor& b, const Tensor& c) const {
    const auto size = size_t(h0.size(2));
    Tensor cell = h0.clone();
    return walked(x, h0, w, u, b, c, [&](const auto& p, const auto& q, int64_t k, int64_t n, double) {
      const auto i = size_t(k);
      const auto gate = [&](size_t g) { return p[i + g * size] + q[i + g * size]; };
      double& state = cell.data_ptr<double>()[size_t(n) * size + i];
      state = sigmoid_of(gate(1)) * state + sigmoid_of(gate(0)) * std::tanh(gate(2));
      return sigmoid_of(gate(3)) * std::tanh(state);
    });
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
  list.push_back(operation<RnnTanh>());
  list.push_back(operation<RnnRelu>());
  list.push_back(operation<Gru>());
  list.push_back(operation<Lstm>());
  list.push_back(operation<CosineSimilarity>());
  list.push_back(operation<PairwiseDistance>());
  list.push_back(operation<EmbeddingBag>());
}

}  // namespace tandem::cases
