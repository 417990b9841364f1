// Attention by one kernel against the same composed of products, a softmax and dropout, which keeps each weight.
#include <cmath>
#include <utility>
#include <vector>

#include "base/parallel.h"
#include "runtime/driver.h"
#include "support/on_device.h"
#include "tandem.h"

namespace td = tandem;
using td::Shape;
using td::Tensor;

namespace {

class AttentionOn : public OnDevice {
 protected:
  static Tensor random(const Shape& sizes, td::DType dtype = td::kFloat64) {
    return td::randn(sizes, {.dtype = td::kFloat64, .device = device()}).to(dtype);
  }
  static Tensor composed(const Tensor& q, const Tensor& k, const Tensor& v, double dropout_p) {
    const Tensor scores = td::matmul(q, k.transpose(-2, -1)) / std::sqrt(static_cast<double>(q.size(-1)));
    return td::matmul(td::dropout(td::softmax(scores, -1), dropout_p, true), v);
  }
  /// The gradients of a weighted sum of f(inputs).
  template <class F>
  static std::vector<Tensor> gradients(const std::vector<Tensor>& inputs, F f) {
    for (const Tensor& x : inputs) {
      x.set_grad(Tensor());
      x.requires_grad_(true);
    }
    const Tensor y = f();
    (td::cos(td::arange(y.numel(), {.dtype = y.dtype(), .device = y.device()})).reshape(y.sizes()) * y).sum().backward();
    std::vector<Tensor> all;
    for (const Tensor& x : inputs) all.push_back(x.grad());
    return all;
  }
};

TEST_P(AttentionOn, DropsTheWeightsThatDropoutWould) {
  for (const auto& [m, n] : std::vector<std::pair<int64_t, int64_t>>{{3, 5}, {2, 700}, {70, 150}}) {
    td::manual_seed(3);
    const Tensor q = random({2, 2, m, 6}), k = random({2, 2, n, 6}), v = random({2, 2, n, 4});
    for (const double p : {0.4, 1.0}) {
      Tensor fused, expected;
      td::manual_seed(7);
      (void)td::rand({3}, device());  // an offset
      const auto grads = gradients({q, k, v}, [&] { return fused = td::scaled_dot_product_attention(q, k, v, {.dropout_p = p}); });
      const auto after = td::get_rng_state(device());
      td::manual_seed(7);
      (void)td::rand({3}, device());
      const auto expected_grads = gradients({q, k, v}, [&] { return expected = composed(q, k, v, p); });
      EXPECT_EQ(after, td::get_rng_state(device()));
      EXPECT_TRUE(td::allclose(fused, expected)) << m << " queries, p = " << p;
      for (size_t i = 0; i < grads.size(); ++i)
        EXPECT_TRUE(td::allclose(grads[i], expected_grads[i])) << m << " queries, p = " << p << ", input " << i;
    }
  }
}

TEST_P(AttentionOn, GradientsOfGradientsWithDropoutAndGroups) {
  td::manual_seed(3);
  std::vector<Tensor> inputs{random({1, 4, 3, 2}), random({1, 2, 5, 2}), random({1, 2, 5, 3})};
  for (const Tensor& x : inputs) x.requires_grad_(true);
  const auto f = [](const std::vector<Tensor>& in) {
    td::manual_seed(11);
    return td::scaled_dot_product_attention(in[0], in[1], in[2], {.dropout_p = 0.3, .enable_gqa = true});
  };
  EXPECT_TRUE(td::autograd::gradcheck(f, inputs));
  EXPECT_TRUE(td::autograd::gradgradcheck(f, inputs));
}

TEST_P(AttentionOn, AMaskThatNeedsAGradientGetsIt) {
  td::manual_seed(3);
  const Tensor q = random({2, 3, 4}), k = random({2, 5, 4}), v = random({2, 5, 4}), mask = random({3, 5});
  const auto f = [&] { return td::scaled_dot_product_attention(q, k, v, {.attn_mask = mask}); };
  const Tensor without = [&] {
    const td::NoGradGuard guard;
    return f();
  }();
  EXPECT_TRUE(td::allclose(f(), without));
  const Tensor grad = gradients({mask}, f)[0];
  EXPECT_GT(grad.abs().max().item<double>(), 1e-3);
  EXPECT_TRUE(td::allclose(grad.sum(-1), td::zeros({3}, {.dtype = td::kFloat64, .device = device()})));  // a softmax does not see a shift
}

TEST_P(AttentionOn, HalfTypesRoundOnlyTheResult) {
  // cuDNN, which takes more than 4 queries, rounds the weights, too, before they meet the values.
  const bool by_cudnn = device().is_cuda() && !td::runtime::devices_are_virtual();
  for (const td::DType dtype : {td::kFloat16, td::kBFloat16}) {
    td::manual_seed(3);
    for (const int64_t queries : {2, 70}) {
      const Tensor q = random({1, 2, queries, 8}, dtype), k = random({1, 2, 150, 8}, dtype), v = random({1, 2, 150, 8}, dtype);
      const Tensor expected = composed(q.to(td::kFloat64), k.to(td::kFloat64), v.to(td::kFloat64), 0);
      const Tensor y = td::scaled_dot_product_attention(q, k, v);
      EXPECT_EQ(y.dtype(), dtype);
      EXPECT_LE(((y.to(td::kFloat64) - expected).abs() / (expected.abs() + 1e-2)).max().item<double>(),
                (dtype == td::kFloat16 ? 6e-4 : 5e-3) * (by_cudnn && queries > 4 ? 8 : 1));
    }
  }
}

TEST_P(AttentionOn, NanAndInfinityShow) {
  const double inf = INFINITY;
  const td::Options options{.dtype = td::kFloat32, .device = device()};
  for (const int64_t queries : {3, 6}) {
    const Tensor q = td::ones({queries, 1}, options), v = td::ones({200, 1}, options);
    // The last key has a score of b, all others of a.
    const auto first = [&](double a, double b) {
      const Tensor k = td::full({200, 1}, a, options);
      k.narrow(0, 199, 1).fill_(b);
      return td::scaled_dot_product_attention(q, k, v)[0].item<double>();
    };
    EXPECT_TRUE(std::isnan(first(NAN, 1)));
    EXPECT_TRUE(std::isnan(first(NAN, -inf)));
    EXPECT_TRUE(std::isnan(first(inf, 1)));
    EXPECT_TRUE(std::isnan(first(1, inf)));
    EXPECT_EQ(first(-inf, 1), 1);
    EXPECT_EQ(first(1, -inf), 1);
  }
}

TEST_P(AttentionOn, RowsThatSeeNothingGiveZeros) {
  td::manual_seed(3);
  for (const auto& [m, n] : std::vector<std::pair<int64_t, int64_t>>{{4, 6}, {4, 150}, {6, 6}}) {
    const Tensor q = random({1, 1, m, 3}), k = random({1, 1, n, 3}), v = random({1, 1, n, 3});
    const Tensor mask = td::ones({m, n}, {.dtype = td::kBool, .device = device()});
    mask.select(0, 2).fill_(0);
    const auto grads = gradients({q, k, v}, [&] {
      const Tensor y = td::scaled_dot_product_attention(q, k, v, {.attn_mask = mask});
      EXPECT_EQ(y.select(2, 2).abs().max().item<double>(), 0);
      return y;
    });
    EXPECT_EQ(grads[0].select(2, 2).abs().max().item<double>(), 0);
    for (const Tensor& grad : grads) EXPECT_TRUE(std::isfinite(grad.sum().item<double>()));
  }
}

// As in generation: few queries to many keys, heads that share them, keys that are a part of a larger tensor, and a wide result.
TEST_P(AttentionOn, FewQueriesAreAsComposed) {
  td::manual_seed(3);
  const td::Options truth{.dtype = td::kBool, .device = device()};
  for (const int64_t m : {1, 4}) {
    for (const int64_t n : {1, 64, 65, 700}) {
      for (const int64_t groups : {1, 3}) {
        const Tensor q = random({2, 2 * groups, m, 40}), k = random({2, 2, n + 5, 40}), v = random({2, 2, n + 5, 70});
        const Tensor seen = random({m, n}) > -0.5, added = random({2, 1, 1, n});
        seen.select(1, 0).fill_(1);
        for (const Tensor& mask : {Tensor(), td::ones({m, n}, truth).tril(), seen, added}) {
          for (const bool causal : {false, true}) {
            if (causal && mask.defined()) continue;
            const auto fused = [&] {
              return td::scaled_dot_product_attention(q, k.narrow(2, 3, n), v.narrow(2, 3, n),
                                                      {.attn_mask = mask, .is_causal = causal, .enable_gqa = groups > 1});
            };
            const auto composed_of_all = [&] {
              const auto for_heads = [&](const Tensor& x) {
                return x.narrow(2, 3, n).unsqueeze(2).expand({2, 2, groups, n, x.size(3)}).flatten(1, 2);
              };
              Tensor scores = td::matmul(q, for_heads(k).transpose(-2, -1)) / std::sqrt(40.0);
              const Tensor hidden = causal ? td::ones({m, n}, truth).tril() : mask;
              if (hidden.defined() && hidden.dtype() == td::kBool) scores = scores.masked_fill(hidden.logical_not(), -INFINITY);
              else if (hidden.defined()) scores = scores + hidden;
              return td::matmul(td::softmax(scores, -1), for_heads(v));
            };
            const auto grads = gradients({q, k, v}, fused), expected = gradients({q, k, v}, composed_of_all);
            EXPECT_TRUE(td::allclose(fused(), composed_of_all())) << m << " queries, " << n << " keys, groups of " << groups;
            for (size_t i = 0; i < grads.size(); ++i)
              EXPECT_TRUE(td::allclose(grads[i], expected[i]))
                  << m << " queries, " << n << " keys, groups of " << groups << ", input " << i;
          }
        }
      }
    }
  }
}

// The same in the dtypes of generation, whose kernels are not float64's; rows lie in vectors of 16 bytes.
TEST_P(AttentionOn, FewQueriesOfVectorsAreAsComposed) {
  td::manual_seed(3);
  for (const auto& [dtype, tolerance] : {std::pair{td::kFloat32, 1e-5}, {td::kBFloat16, 1e-2}, {td::kFloat16, 1.5e-3}}) {
    for (const auto& [columns, wide] : {std::pair<int64_t, int64_t>{64, 64}, {40, 24}, {8, 128}}) {
      for (const int64_t m : {1, 3, 4}) {
        for (const int64_t n : {1, 3, 65, 700}) {
          for (const int64_t group : {1, 3}) {
            const Tensor q = random({2, 2 * group, m, columns}, dtype), k = random({2, 2, n + 5, columns}, dtype).narrow(2, 3, n),
                         v = random({2, 2, n + 5, wide}, dtype).narrow(2, 3, n), mask = random({m, n}) > -0.5;
            const auto of_heads = [&](const Tensor& x) { return x.to(td::kFloat64).repeat_interleave(group, 1); };
            for (const bool masked : {false, true}) {
              Tensor scores = td::matmul(q.to(td::kFloat64), of_heads(k).transpose(-2, -1)) / std::sqrt(static_cast<double>(columns));
              if (masked) scores = scores.masked_fill(mask.logical_not(), -INFINITY);
              const Tensor expected = td::matmul(td::softmax(scores, -1).nan_to_num(), of_heads(v));
              const Tensor y = td::scaled_dot_product_attention(q, k, v, {.attn_mask = masked ? mask : Tensor(), .enable_gqa = group > 1});
              EXPECT_LE((y.to(td::kFloat64) - expected).abs().max().item<double>(), tolerance * (1 + expected.abs().max().item<double>()))
                  << td::str(dtype, ", ", columns, " and ", wide, " columns, ", m, " queries, ", n, " keys, groups of ", group,
                             masked ? ", masked" : "");
            }
          }
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, AttentionOn, testing::Values("cpu", "cuda:0"), device_name);

TEST(Attention, DoesNotDependOnThreads) {
  td::manual_seed(3);
  const Tensor q = td::randn({1, 2, 150, 16}), k = td::randn({1, 2, 600, 16}), v = td::randn({1, 2, 600, 16});
  const int before = td::get_num_threads();
  std::vector<std::vector<Tensor>> all;
  for (const int threads : {1, 3}) {
    td::set_num_threads(threads);
    for (const Tensor& x : {q, k, v}) {
      x.set_grad(Tensor());
      x.requires_grad_(true);
    }
    const Tensor y = td::scaled_dot_product_attention(q, k, v, {.dropout_p = 0});
    y.backward(td::ones_like(y));
    all.push_back({y, q.grad(), k.grad(), v.grad()});
  }
  td::set_num_threads(before);
  for (size_t i = 0; i < 4; ++i) EXPECT_TRUE(td::equal(all[0][i], all[1][i])) << i;
}

}  // namespace
