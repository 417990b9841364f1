// Recurrent layers by one kernel against the same step by step: values, gradients, and gradients of gradients.
#include <cmath>
#include <vector>

#include "base/parallel.h"
#include "ops/recurrent/recurrent_layers.h"
#include "support/on_device.h"
#include "tandem.h"

namespace td = tandem;

namespace {

using Kind = td::ops::RecurrentKind;
using Tensors = std::vector<td::Tensor>;

constexpr Kind kKinds[] = {Kind::Tanh, Kind::Relu, Kind::Lstm, Kind::Gru};

struct Sizes {
  int64_t steps, batch, input, hidden, layers;
  bool bidirectional, biases;
};

/// An input, states and parameters, all leaves with gradients.
struct Network {
  Kind kind;
  Sizes sizes;
  Tensors leaves;

  Network(Kind kind, const Sizes& s, td::DType dtype, td::Device device) : kind(kind), sizes(s) {
    td::manual_seed(7);
    const int64_t directions = s.bidirectional ? 2 : 1, rows = td::ops::gates_of(kind) * s.hidden;
    const auto add = [&](const td::Shape& shape, double bound) {
      leaves.push_back(td::empty(shape, {.dtype = dtype, .device = device}));
      leaves.back().uniform_(-bound, bound);
      leaves.back().requires_grad_();
    };
    add({s.steps, s.batch, s.input}, 1);
    for (size_t i = 0; i < states(); ++i) add({s.layers * directions, s.batch, s.hidden}, 1);
    const double bound = 1 / std::sqrt(double(s.hidden));
    for (int64_t part = 0; part < s.layers * directions; ++part) {
      add({rows, part < directions ? s.input : directions * s.hidden}, bound);
      add({rows, s.hidden}, bound);
      for (int i = 0; i < 2 && s.biases; ++i) add({rows}, bound);
    }
  }
  [[nodiscard]] size_t states() const { return kind == Kind::Lstm ? 2 : 1; }
  [[nodiscard]] Tensors hx() const { return {leaves.begin() + 1, leaves.begin() + 1 + static_cast<std::ptrdiff_t>(states())}; }
  [[nodiscard]] Tensors params() const { return {leaves.begin() + 1 + static_cast<std::ptrdiff_t>(states()), leaves.end()}; }
  /// Output, h and, of an LSTM, c.
  [[nodiscard]] Tensors fused() const {
    EXPECT_TRUE(td::ops::suits_recurrent_layers(kind, leaves[0], hx(), params(), sizes.biases, sizes.layers, sizes.bidirectional));
    return listed(td::ops::recurrent("test", kind, leaves[0], nullptr, hx(), params(), sizes.biases, sizes.layers, 0, true,
                                     sizes.bidirectional, td::Site::here()));
  }
  [[nodiscard]] Tensors by_steps() const {
    return listed(td::ops::recurrent_steps("test", kind, leaves[0], nullptr, hx(), params(), sizes.biases, sizes.layers, 0, true,
                                           sizes.bidirectional, td::Site::here()));
  }

 private:
  static Tensors listed(const td::LstmResult& r) {
    Tensors all{r.output, r.h_n};
    if (r.c_n.defined()) all.push_back(r.c_n);
    return all;
  }
};

/// A number made of the results that `which` has a bit for, with different weights for different elements.
td::Tensor weighed(const Tensors& results, unsigned which) {
  td::Tensor sum;
  for (size_t i = 0; i < results.size(); ++i) {
    if (!(which >> i & 1U)) continue;
    const td::Tensor weights = td::linspace(-1, 1, results[i].numel(), {.device = results[i].device()}).to(results[i].dtype());
    const td::Tensor part = (results[i] * weights.reshape(results[i].sizes())).sum();
    sum = sum.defined() ? sum + part : part;
  }
  return sum;
}

void expect_alike(const Tensors& found, const Tensors& expected, double tolerance, const char* what) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    ASSERT_EQ(found[i].defined(), expected[i].defined()) << what << " " << i;
    if (!found[i].defined()) continue;
    const double size = expected[i].to(td::kFloat64).abs().max().item<double>();
    EXPECT_TRUE(td::allclose(found[i].to(td::kFloat64), expected[i].to(td::kFloat64), 0, tolerance * (size + 1e-3)))
        << what << " " << i << "\n"
        << found[i] << "\n"
        << expected[i];
  }
}

class Recurrent : public OnDevice {
 protected:
  static void expect_as_by_steps(const Network& network, double tolerance) {
    SCOPED_TRACE(testing::Message() << "kind " << static_cast<int>(network.kind) << ", steps " << network.sizes.steps << ", batch "
                                    << network.sizes.batch << ", hidden " << network.sizes.hidden << ", layers " << network.sizes.layers
                                    << ", bidirectional " << network.sizes.bidirectional << ", biases " << network.sizes.biases);
    const Tensors found = network.fused(), expected = network.by_steps();
    expect_alike(found, expected, tolerance, "result");
    {
      const td::NoGradGuard quiet;
      expect_alike(network.fused(), expected, tolerance, "result without gradients");
    }
    for (unsigned which = 1; which < 1U << found.size(); ++which)
      expect_alike(td::grad({weighed(found, which)}, network.leaves, {.retain_graph = true, .allow_unused = true}),
                   td::grad({weighed(expected, which)}, network.leaves, {.retain_graph = true, .allow_unused = true}), tolerance,
                   "gradient");
  }
};
INSTANTIATE_TEST_SUITE_P(Devices, Recurrent, testing::Values("cpu", "cuda:0"), device_name);

TEST_P(Recurrent, LayersAndDirectionsAreAsByStep) {
  for (const Kind kind : kKinds)
    for (const int64_t layers : {1, 2, 3})
      for (const bool bidirectional : {false, true})
        for (const bool biases : {true, false})
          expect_as_by_steps(Network(kind, {4, 3, 5, 6, layers, bidirectional, biases}, td::kFloat64, device()), 1e-10);
}

TEST_P(Recurrent, SizesAreAsByStep) {
  for (const Kind kind : kKinds) {
    expect_as_by_steps(Network(kind, {1, 1, 3, 4, 2, true, true}, td::kFloat64, device()), 1e-10);
    expect_as_by_steps(Network(kind, {1, 5, 1, 1, 1, false, true}, td::kFloat64, device()), 1e-10);
    expect_as_by_steps(Network(kind, {20, 1, 3, 7, 2, true, true}, td::kFloat32, device()), 1e-5);
    expect_as_by_steps(Network(kind, {17, 9, 20, 70, 1, false, true}, td::kFloat32, device()), 1e-5);
    expect_as_by_steps(Network(kind, {3, 70, 4, 12, 1, true, false}, td::kFloat32, device()), 1e-5);
  }
}

// So large that a batch on the CPU is cut, with a block of rows left over; the third in products with few steps.
TEST_P(Recurrent, BlocksOfABatchAreAsByStep) {
  for (const Kind kind : kKinds) {
    expect_as_by_steps(Network(kind, {18, 70, 12, 37, 1, true, true}, td::kFloat32, device()), 1e-5);
    expect_as_by_steps(Network(kind, {20, 133, 5, 40, 2, false, false}, td::kFloat32, device()), 1e-5);
    expect_as_by_steps(Network(kind, {3, 67, 5, 60, 1, false, true}, td::kFloat64, device()), 1e-10);
  }
}

TEST_P(Recurrent, ResultsAreTheSameOnAnyNumberOfThreads) {
  const int before = td::get_num_threads();
  for (const Kind kind : kKinds) {
    const Network network(kind, {18, 70, 12, 37, 2, true, true}, td::kFloat32, device());
    Tensors first;
    for (const int threads : {1, 2, 5}) {
      td::set_num_threads(threads);
      const Tensors results = network.fused();
      Tensors all = td::grad({weighed(results, 7)}, network.leaves);
      all.insert(all.end(), results.begin(), results.end());
      if (first.empty()) first = all;
      for (size_t i = 0; i < all.size(); ++i) EXPECT_TRUE(td::equal(all[i], first[i])) << "kind " << static_cast<int>(kind) << ", " << i;
    }
  }
  td::set_num_threads(before);
}

// Of a plain network with the weight 0.5 the gradient halves from step to step: 200 steps take it below all numbers of full precision.
TEST(RecurrentOnTheCpu, GradientsThatVanishAreZero) {
  const td::Tensor x = td::zeros({200, 1, 1}).requires_grad_(), h = td::zeros({1, 1, 1});
  const td::RnnResult result = td::rnn_tanh(x, h, {td::ones({1, 1}), td::full({1, 1}, 0.5)}, false);
  result.output.select(0, 199).sum().backward();
  const td::Tensor found = x.grad().flatten();
  EXPECT_EQ(found.select(0, 199).item<float>(), 1);
  EXPECT_EQ(found.select(0, 199 - 126).item<float>(), 0x1p-126F);
  EXPECT_TRUE(td::equal(found.narrow(0, 0, 199 - 126), td::zeros({199 - 126}))) << found;
}

TEST_P(Recurrent, HalfTypesAreAsByStep) {
  for (const Kind kind : kKinds) {
    expect_as_by_steps(Network(kind, {5, 3, 4, 6, 2, true, true}, td::kFloat16, device()), 1e-2);
    expect_as_by_steps(Network(kind, {5, 3, 4, 6, 1, false, true}, td::kBFloat16, device()), 6e-2);
  }
}

TEST_P(Recurrent, GradientsOfSomeAreThoseOfAll) {
  for (const Kind kind : kKinds) {
    const Network network(kind, {4, 2, 3, 5, 2, true, true}, td::kFloat64, device());
    const Tensors all = td::grad({weighed(network.fused(), 7)}, network.leaves);
    for (size_t i = 0; i < network.leaves.size(); ++i) {
      for (size_t k = 0; k < network.leaves.size(); ++k) network.leaves[k].requires_grad_(k == i);
      const Tensors one = td::grad({weighed(network.fused(), 7)}, {network.leaves[i]});
      EXPECT_TRUE(td::equal(one[0], all[i])) << "kind " << static_cast<int>(kind) << ", leaf " << i;
    }
  }
}

TEST_P(Recurrent, ARetainedGraphGivesTheSameTwice) {
  for (const Kind kind : kKinds) {
    const Network network(kind, {6, 3, 4, 5, 2, true, true}, td::kFloat32, device());
    const td::Tensor loss = weighed(network.fused(), 7);
    const Tensors first = td::grad({loss}, network.leaves, {.retain_graph = true}), second = td::grad({loss}, network.leaves);
    for (size_t i = 0; i < first.size(); ++i)
      EXPECT_TRUE(td::equal(first[i], second[i])) << "kind " << static_cast<int>(kind) << ", leaf " << i;
    EXPECT_NE(error_of([&] { (void)td::grad({loss}, network.leaves); }).find("backward through the graph a second time"),
              std::string::npos);
  }
}

// The input stands in two places of the graph, and a weight leads to the input: each gradient must count each way once.
TEST_P(Recurrent, GradientsOfGradientsAreAsByStep) {
  for (const Kind kind : kKinds) {
    Network network(kind, {3, 2, 4, 4, 2, true, true}, td::kFloat64, device());
    const Tensors leaves = network.leaves;
    const auto twice = [&](Tensors (Network::*results)() const) {
      network.leaves[0] = td::sin(leaves[0] * leaves.back().sum());
      const td::Tensor loss = weighed((network.*results)(), 7) + (network.leaves[0] * network.leaves[0]).sum();
      const Tensors first = td::grad({loss}, leaves, {.create_graph = true});
      td::Tensor sum;
      for (const td::Tensor& g : first) sum = sum.defined() ? sum + (g * g).sum() : (g * g).sum();
      Tensors all = td::grad({sum}, leaves);
      all.insert(all.end(), first.begin(), first.end());
      return all;
    };
    expect_alike(twice(&Network::fused), twice(&Network::by_steps), 1e-9, "gradient");
  }
}

TEST_P(Recurrent, DropoutLeavesTheLastLayerAlone) {
  td::manual_seed(2);
  const td::Device on = device();
  const auto made = [&](const td::Shape& sizes) { return td::randn(sizes, {.device = on, .requires_grad = true}); };
  const td::Tensor x = made({4, 2, 3}), h = made({2, 2, 5});
  const Tensors params{made({15, 3}), made({15, 5}), made({15, 5}), made({15, 5})};
  // All of the first layer dropped: the second one sees zeros.
  const td::RnnResult dropped = td::gru(x, h, params, false, 2, 1.0, true);
  const td::RnnResult second = td::gru(td::zeros({4, 2, 5}, on), h.narrow(0, 1, 1), {params[2], params[3]}, false);
  const td::RnnResult first = td::gru(x, h.narrow(0, 0, 1), {params[0], params[1]}, false);
  EXPECT_TRUE(td::allclose(dropped.output, second.output));
  EXPECT_TRUE(td::allclose(dropped.h_n, td::cat({first.h_n, second.h_n}, 0)));
  const Tensors gradients = td::grad({dropped.output.sum()}, {x, params[1], params[3]});
  EXPECT_EQ(gradients[0].abs().sum().item<float>(), 0);
  EXPECT_EQ(gradients[1].abs().sum().item<float>(), 0);
  EXPECT_GT(gradients[2].abs().sum().item<float>(), 0);
}

TEST_P(Recurrent, OneNodeStandsForAll) {
  const Network network(Kind::Lstm, {3, 2, 4, 5, 2, true, true}, td::kFloat32, device());
  const Tensors results = network.fused();
  EXPECT_STREQ(results[0].grad_fn()->name(), device().is_cuda() ? "CudnnRnnBackward0" : "MkldnnRnnLayerBackward0");
  for (const td::Tensor& result : results) EXPECT_EQ(result.grad_fn().get(), results[0].grad_fn().get());
  results[0].detach().add_(1);
  EXPECT_NE(error_of([&] { results[1].sum().backward(); }).find("modified by an inplace operation"), std::string::npos);
}

}  // namespace
