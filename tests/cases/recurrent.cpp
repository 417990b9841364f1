// Recurrent networks: layers, directions, with and without biases.
#include <algorithm>
#include <cmath>

#include "cases/case.h"

namespace tandem::cases {
namespace {

using Tensors = std::vector<Tensor>;

double sigmoid_of(double x) { return 1 / (1 + std::exp(-x)); }

/// `kGates` blocks of rows in each matrix, `kStates` tensors of state.
template <int kGates, int kStates = 1>
struct Recurrent : Case {
  static constexpr Gives gives = Gives::Floating;
  static constexpr double tolerance = 16;
  static constexpr bool zero_dim = false, empty_input = false;

  static Tensors states(int64_t parts, int64_t batch, int64_t hidden) {
    Tensors all;
    for (int i = 0; i < kStates; ++i) all.push_back(randn({parts, batch, hidden}));
    return all;
  }
  static Tensors parameters(int64_t input, int64_t hidden, bool biases, int64_t layers, int64_t directions, double scale = 1) {
    Tensors all;
    for (int64_t part = 0; part < layers * directions; ++part) {
      all.push_back(randn({kGates * hidden, part < directions ? input : directions * hidden}) * scale);
      all.push_back(randn({kGates * hidden, hidden}) * scale);
      for (int i = 0; i < 2 && biases; ++i) all.push_back(randn({kGates * hidden}));
    }
    return all;
  }
  void inputs(Inputs& in) const {
    in.add(randn({3, 2, 4}), states(1, 2, 3), parameters(4, 3, true, 1, 1), true, 1, false, false);
    in.add(randn({1, 1, 4}), states(2, 1, 2), parameters(4, 2, true, 1, 2), true, 1, true, false);
    in.add(randn({18, 1, 2}), states(1, 1, 3), parameters(2, 3, false, 1, 1, 0.5), false, 1, false, false);
    in.add(randn({3, 2, 4}), states(4, 2, 3), parameters(4, 3, true, 2, 2, 0.5), true, 2, true, false);
    in.add(randn({2, 3, 2}), states(3, 2, 3), parameters(2, 3, false, 3, 1, 0.5), false, 3, false, true);
  }
  void many(Inputs& in, int64_t n) const {
    const auto quarters = [](Tensors all) {
      for (Tensor& each : all) each = full(each.sizes(), 0.25);
      return all;
    };
    in.add(ones({2, n, 4}), quarters(states(1, n, 3)), quarters(parameters(4, 3, true, 1, 1)), true, 1, false, false);
    in.add(ones({n / 100, 1, 4}), quarters(states(1, 1, 3)), quarters(parameters(4, 3, true, 1, 1)), true, 1, false, false);
  }
  void bench(Inputs& in, int64_t n) const {
    in.add(randn({std::max<int64_t>(1, n / 8192), 64, 128}), states(1, 64, 128), parameters(128, 128, true, 1, 1, 0.1), true, 1, false,
           false);
  }
  double flops(const Tensor& x, const Tensors&, const Tensors& params, bool, int64_t, bool, bool) const {
    return 4.0 * double(x.numel()) * double(params[0].size(0));
  }

  /// The rows of weight times x plus bias.
  static std::vector<double> gates(const Tensor& weight, const Tensor* bias, const std::vector<double>& x) {
    std::vector<double> out;
    for (int64_t r = 0; r < weight.size(0); ++r) {
      double sum = bias ? at(*bias, {r}) : 0;
      for (size_t c = 0; c < x.size(); ++c) sum += at(weight, {r, int64_t(c)}) * x[c];
      out.push_back(sum);
    }
    return out;
  }
  /// Walks the sequences: `step` makes element i of h from the two sums of gates, and changes that of c.
  template <class Step>
  static Results walked(const Tensor& x, const Tensors& hx, const Tensors& params, bool biases, int64_t layers, bool bidirectional,
                        bool batch_first, Step step) {
    const Tensor sequence = batch_first ? x.transpose(0, 1).contiguous() : x;
    const int64_t steps = sequence.size(0), batch = sequence.size(1), hidden = hx[0].size(2), directions = bidirectional ? 2 : 1;
    Tensors last;
    for (const Tensor& state : hx) last.push_back(state.clone());
    Tensor below = sequence;
    for (int64_t part = 0; part < layers * directions; part += directions) {
      const Tensor output = zeros({steps, batch, directions * hidden}, kFloat64);
      for (int64_t direction = 0; direction < directions; ++direction) {
        const Tensor* own = params.data() + (part + direction) * (biases ? 4 : 2);
        for (int64_t n = 0; n < batch; ++n) {
          const auto place = [&](int64_t i) { return size_t(((part + direction) * batch + n) * hidden + i); };
          std::vector<double> h, c(size_t(hidden), 0);
          for (int64_t i = 0; i < hidden; ++i) {
            h.push_back(at(hx[0], {part + direction, n, i}));
            if (kStates == 2) c[size_t(i)] = at(hx[1], {part + direction, n, i});
          }
          for (int64_t k = 0; k < steps; ++k) {
            const int64_t t = direction ? steps - 1 - k : k;
            std::vector<double> now;
            for (int64_t i = 0; i < below.size(2); ++i) now.push_back(at(below, {t, n, i}));
            const auto from_x = gates(own[0], biases ? own + 2 : nullptr, now), from_h = gates(own[1], biases ? own + 3 : nullptr, h);
            for (int64_t i = 0; i < hidden; ++i) {
              double& value = h[size_t(i)];
              value = step(from_x, from_h, size_t(i), size_t(hidden), value, c[size_t(i)]);
              output.data_ptr<double>()[(t * batch + n) * directions * hidden + direction * hidden + i] = value;
            }
          }
          for (int64_t i = 0; i < hidden; ++i) {
            last[0].data_ptr<double>()[place(i)] = h[size_t(i)];
            if (kStates == 2) last[1].data_ptr<double>()[place(i)] = c[size_t(i)];
          }
        }
      }
      below = output;
    }
    last.insert(last.begin(), batch_first ? below.transpose(0, 1) : below);
    return last;
  }
};

struct RnnTanh : Recurrent<1> {
  static constexpr const char* name = "rnn_tanh";
  Results run(const Tensor& x, const Tensors& hx, const Tensors& params, bool biases, int64_t layers, bool both, bool batch_first) const {
    const auto result = rnn_tanh(x, hx[0], params, biases, layers, 0, false, both, batch_first);
    return Tensors{result.output, result.h_n};
  }
  Results reference(const Tensor& x, const Tensors& hx, const Tensors& params, bool biases, int64_t layers, bool both,
                    bool batch_first) const {
    return walked(x, hx, params, biases, layers, both, batch_first,
                  [](const auto& p, const auto& q, size_t i, size_t, double, double&) { return std::tanh(p[i] + q[i]); });
  }
};
struct RnnRelu : Recurrent<1> {
  static constexpr const char* name = "rnn_relu";
  static constexpr DTypes dtypes = kNumbers, without_reference = kIntegers;  // whole gates
  Results run(const Tensor& x, const Tensors& hx, const Tensors& params, bool biases, int64_t layers, bool both, bool batch_first) const {
    const auto result = rnn_relu(x, hx[0], params, biases, layers, 0, false, both, batch_first);
    return Tensors{result.output, result.h_n};
  }
  Results reference(const Tensor& x, const Tensors& hx, const Tensors& params, bool biases, int64_t layers, bool both,
                    bool batch_first) const {
    return walked(x, hx, params, biases, layers, both, batch_first,
                  [](const auto& p, const auto& q, size_t i, size_t, double, double&) { return std::max(0.0, p[i] + q[i]); });
  }
};
struct Gru : Recurrent<3> {
  static constexpr const char* name = "gru";
  static constexpr DTypes dtypes = kNumbers, without_reference = kIntegers;  // whole gates
  Results run(const Tensor& x, const Tensors& hx, const Tensors& params, bool biases, int64_t layers, bool both, bool batch_first) const {
    const auto result = gru(x, hx[0], params, biases, layers, 0, false, both, batch_first);
    return Tensors{result.output, result.h_n};
  }
  Results reference(const Tensor& x, const Tensors& hx, const Tensors& params, bool biases, int64_t layers, bool both,
                    bool batch_first) const {
    return walked(x, hx, params, biases, layers, both, batch_first,
                  [](const auto& p, const auto& q, size_t i, size_t size, double h, double&) {
                    const double reset = sigmoid_of(p[i] + q[i]), keep = sigmoid_of(p[i + size] + q[i + size]);
                    return (1 - keep) * std::tanh(p[i + 2 * size] + reset * q[i + 2 * size]) + keep * h;
                  });
  }
};
struct Lstm : Recurrent<4, 2> {
  static constexpr const char* name = "lstm";
  static constexpr DTypes dtypes = kNumbers, without_reference = kIntegers;  // whole gates
  Results run(const Tensor& x, const Tensors& hx, const Tensors& params, bool biases, int64_t layers, bool both, bool batch_first) const {
    const auto result = lstm(x, hx, params, biases, layers, 0, false, both, batch_first);
    return Tensors{result.output, result.h_n, result.c_n};
  }
  Results reference(const Tensor& x, const Tensors& hx, const Tensors& params, bool biases, int64_t layers, bool both,
                    bool batch_first) const {
    return walked(x, hx, params, biases, layers, both, batch_first,
                  [](const auto& p, const auto& q, size_t i, size_t size, double, double& c) {
                    const auto gate = [&](size_t g) { return p[i + g * size] + q[i + g * size]; };
                    c = sigmoid_of(gate(1)) * c + sigmoid_of(gate(0)) * std::tanh(gate(2));
                    return sigmoid_of(gate(3)) * std::tanh(c);
                  });
  }
};

}  // namespace

void add_recurrent(std::vector<Operation>& list) {
  list.push_back(operation<RnnTanh>());
  list.push_back(operation<RnnRelu>());
  list.push_back(operation<Gru>());
  list.push_back(operation<Lstm>());
}

}  // namespace tandem::cases
