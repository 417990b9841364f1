// Linear algebra and views by stride, on every device: what is put together gives what was taken apart, gradients of first and second order
// against finite differences, and what is refused.
#include <functional>

#include "support/on_device.h"
#include "tandem.h"

namespace td = tandem;
namespace linalg = td::linalg;

namespace {

using Inputs = std::vector<td::Tensor>;

struct Case {
  const char* name;
  std::function<td::Tensor(const Inputs&)> f;
  std::vector<td::Shape> sizes;
};

/// A symmetric positive-definite matrix of x, and one far from singular.
td::Tensor positive_definite(const td::Tensor& x) {
  return td::matmul(x, x.mT()) + td::eye(x.size(-2), {}, {.dtype = x.dtype(), .device = x.device()});
}
td::Tensor regular(const td::Tensor& x) { return x + td::eye(x.size(-1), {}, {.dtype = x.dtype(), .device = x.device()}) * 3; }

const std::vector<Case>& cases() {
  static const std::vector<Case> all{
      {"cholesky", [](const Inputs& in) { return linalg::cholesky(positive_definite(in[0])); }, {{2, 3, 3}}},
      {"cholesky_upper", [](const Inputs& in) { return linalg::cholesky(positive_definite(in[0]), true); }, {{3, 3}}},
      {"qr_tall",
       [](const Inputs& in) {
         const auto [Q, R] = linalg::qr(in[0]);
         return td::cat({Q * 2, R}, -2);
       },
       {{4, 2}}},
      {"qr_wide",
       [](const Inputs& in) {
         const auto [Q, R] = linalg::qr(in[0]);
         return td::cat({Q * 2, R}, -1);
       },
       {{2, 2, 3}}},
      {"eigvalsh", [](const Inputs& in) { return linalg::eigvalsh(in[0] + in[0].mT()); }, {{2, 3, 3}}},
      {"eigh",
       [](const Inputs& in) {
         const auto [L, V] = linalg::eigh(positive_definite(in[0]));
         return td::matmul(V * td::exp(L * 0.1).unsqueeze(-2), V.mT());  // free of the vectors' signs
       },
       {{3, 3}}},
      {"svdvals", [](const Inputs& in) { return linalg::svdvals(in[0]); }, {{3, 2}}},
      {"svd",
       [](const Inputs& in) {
         const auto [U, S, Vh] = linalg::svd(in[0], false);
         return td::matmul(U * (S * S).unsqueeze(-2), Vh);
       },
       {{2, 3}}},
      {"inv", [](const Inputs& in) { return linalg::inv(regular(in[0])); }, {{2, 3, 3}}},
      {"det", [](const Inputs& in) { return linalg::det(regular(in[0])); }, {{2, 3, 3}}},
      {"slogdet", [](const Inputs& in) { return linalg::slogdet(regular(in[0])).logabsdet; }, {{3, 3}}},
      {"solve", [](const Inputs& in) { return linalg::solve(regular(in[0]), in[1]); }, {{3, 3}, {2, 3, 2}}},
      {"solve_right", [](const Inputs& in) { return linalg::solve(regular(in[0]), in[1], false); }, {{3, 3}, {2, 3}}},
      {"solve_vector", [](const Inputs& in) { return linalg::solve(regular(in[0]), in[1]); }, {{2, 3, 3}, {3}}},
      {"solve_triangular", [](const Inputs& in) { return linalg::solve_triangular(regular(in[0]), in[1], true); }, {{3, 3}, {3, 2}}},
      {"solve_triangular_unit",
       [](const Inputs& in) { return linalg::solve_triangular(in[0], in[1], false, false, true); },
       {{3, 3}, {2, 3}}},
      {"pinv", [](const Inputs& in) { return linalg::pinv(in[0]); }, {{4, 2}}},
      {"lstsq", [](const Inputs& in) { return linalg::lstsq(in[0], in[1]).solution; }, {{4, 2}, {4, 3}}},
      {"matrix_power", [](const Inputs& in) { return linalg::matrix_power(regular(in[0]), -2); }, {{3, 3}}},
      {"as_strided_overlapping",
       [](const Inputs& in) {
         return td::exp(in[0]).as_strided({3, 2}, {1, 1}, 1) * 2;
       },
       {{2, 3}}},
      {"as_strided_of_a_view",
       [](const Inputs& in) {
         return td::exp(in[0]).t().as_strided({2, 2}, {3, 1});
       },
       {{2, 3}}},
      {"unfold", [](const Inputs& in) { return td::exp(in[0]).unfold(0, 3, 1); }, {{5, 2}}},
      {"diag_embed", [](const Inputs& in) { return td::diag_embed(td::exp(in[0]), 1, 0, 2); }, {{2, 3}}},
      {"flip",
       [](const Inputs& in) {
         return td::flip(td::exp(in[0]), {0, 1});
       },
       {{2, 3}}},
      {"roll",
       [](const Inputs& in) {
         return td::roll(td::exp(in[0]), {1, -1}, {0, 1});
       },
       {{2, 3}}},
      {"cdist", [](const Inputs& in) { return td::cdist(in[0], in[1]); }, {{3, 2}, {4, 2}}},
      {"cdist_by_product", [](const Inputs& in) { return td::cdist(in[0], in[1], 2, "use_mm_for_euclid_dist"); }, {{3, 2}, {4, 2}}},
      {"einsum_ellipsis",
       [](const Inputs& in) {
         return td::einsum("...ij,kj->...ki", {in[0], in[1]});
       },
       {{2, 3, 2}, {4, 2}}},
      {"baddbmm", [](const Inputs& in) { return td::baddbmm(in[0], in[1], in[2], 0.5, 2); }, {{2}, {2, 3, 4}, {2, 4, 2}}},
      {"bilinear", [](const Inputs& in) { return td::bilinear(in[0], in[1], in[2], in[3]); }, {{2, 3}, {2, 4}, {5, 3, 4}, {5}}},
  };
  return all;
}

class Linalg : public OnDevice {
 protected:
  static td::Tensor random(const td::Shape& sizes) { return td::rand(sizes, {.dtype = td::kFloat64, .device = device()}) * 2 - 1; }
  static Inputs inputs_of(const Case& c) {
    td::manual_seed(3);
    Inputs inputs;
    for (const auto& sizes : c.sizes) inputs.push_back(random(sizes).requires_grad_());
    return inputs;
  }
  /// Waits for the device, where errors of queued work come out.
  template <class F>
  static std::string late_error(F&& f) {
    return error_of([&] { (void)f().cpu(); });
  }
};

TEST_P(Linalg, GradientsAgreeWithFiniteDifferences) {
  for (const Case& c : cases()) {
    SCOPED_TRACE(c.name);
    EXPECT_NO_THROW(td::autograd::gradcheck(c.f, inputs_of(c)));
    EXPECT_NO_THROW(td::autograd::gradgradcheck(c.f, inputs_of(c)));
  }
}

TEST_P(Linalg, PartsGiveTheMatrix) {
  for (const auto dtype : {td::kFloat32, td::kFloat64}) {
    for (const td::Shape& sizes :
         {td::Shape{5, 3}, {3, 5}, {2, 4, 4}, {0, 3, 2}, {3, 0}, {70, 65}, {20, 6, 3}, {4, 5, 3, 6}, {9, 40, 33}, {9, 33, 40}}) {
      const auto A = random(sizes).to(dtype);
      const double close = dtype == td::kFloat32 ? 1e-4 : 1e-11;
      for (const char* mode : {"reduced", "complete"}) {
        const auto [Q, R] = linalg::qr(A, mode);
        EXPECT_TRUE(td::allclose(td::matmul(Q, R), A, close, close)) << sizes << mode;
        EXPECT_TRUE(td::allclose(td::matmul(Q.mT(), Q),
                                 td::eye(Q.size(-1), {}, {.dtype = dtype, .device = device()}).expand_as(td::matmul(Q.mT(), Q)), close,
                                 close));
      }
      const auto [U, S, Vh] = linalg::svd(A, false);
      EXPECT_TRUE(td::allclose(td::matmul(U * S.unsqueeze(-2), Vh), A, close, close)) << sizes;
      const auto whole = linalg::svd(A);
      EXPECT_EQ(whole.U.size(-1), A.size(-2));
      EXPECT_EQ(whole.Vh.size(-2), A.size(-1));
      for (const auto& square : {td::matmul(whole.U.mT(), whole.U), td::matmul(whole.Vh, whole.Vh.mT())})
        EXPECT_TRUE(
            td::allclose(square, td::eye(square.size(-1), {}, {.dtype = dtype, .device = device()}).expand_as(square), close, close));
      EXPECT_TRUE(td::allclose(linalg::svdvals(A), S, close, close)) << sizes;
    }
    for (const td::Shape& sizes : {td::Shape{2, 6, 6}, {70, 70}, {4, 5, 7, 7}, {9, 40, 40}}) {
      const auto A = positive_definite(random(sizes).to(dtype)).mT();
      const auto L = linalg::cholesky(A);
      EXPECT_TRUE(td::allclose(td::matmul(L, L.mT()), A, 1e-4, 1e-4)) << sizes;
      EXPECT_TRUE(td::equal(L, L.tril()));
      // Its largest numbers lie off the diagonal: rows are swapped.
      const auto n = static_cast<double>(A.size(-1));
      const auto B = (random(sizes) / n + td::eye(A.size(-1), {}, {.dtype = td::kFloat64, .device = device()})).flip({-2}).to(dtype);
      EXPECT_TRUE(td::allclose(linalg::det(B).cpu(), linalg::det(B.cpu()), 1e-3)) << sizes;
      EXPECT_TRUE(td::allclose(td::matmul(B, linalg::solve(B, A)), A, 1e-3, 1e-3)) << sizes;
    }
    for (const td::Shape& sizes : {td::Shape{2, 6, 6}, {6, 6}, {3, 2, 1, 1}, {4, 5, 32, 32}, {3, 33, 33}}) {
      const auto S = positive_definite(random(sizes).to(dtype)).mT();
      const auto [values, vectors] = linalg::eigh(S, "U");
      EXPECT_TRUE(td::allclose(td::matmul(vectors * values.unsqueeze(-2), vectors.mT()), S, 1e-3, 1e-3)) << sizes;
      EXPECT_TRUE(td::allclose(linalg::eigvalsh(S), values, 1e-3, 1e-3)) << sizes;
    }
  }
}

TEST_P(Linalg, MatricesThatCannotBeInvertedAreErrors) {
  const auto singular = td::ones({2, 2}, device());
  EXPECT_NE(late_error([&] { return linalg::inv(singular); }).find("[linalg.inv] The diagonal element 2 is zero"), std::string::npos);
  EXPECT_NE(late_error([&] { return linalg::solve(singular, td::ones({2}, device())); }).find("input matrix is singular"),
            std::string::npos);
  EXPECT_NE(late_error([&] {
              return linalg::cholesky(td::stack({td::eye(2, {}, {.device = device()}), -singular}));
            })
                .find("(Batch element 1): The factorization could not be completed because the input is not positive-definite (the leading "
                      "minor of order 1"),
            std::string::npos);
  EXPECT_NE(late_error([&] {
              return linalg::inv(td::stack({td::eye(2, {}, {.device = device()}), singular}));
            }).find("(Batch element 1)"),
            std::string::npos);
  EXPECT_NE(late_error([&] { return linalg::svdvals(singular / 0); }).find("failed to converge"), std::string::npos);
  EXPECT_NE(error_of([&] {
              (void)linalg::det(td::ones({2, 3}, device()));
            }).find("must be batches of square matrices, but they are 2 by 3"),
            std::string::npos);
  EXPECT_NE(error_of([&] {
              (void)linalg::inv(td::ones({2, 2}, {.dtype = td::kInt64, .device = device()}));
            }).find("floating point"),
            std::string::npos);
  // The device goes on working.
  EXPECT_TRUE(td::equal(linalg::inv(td::eye(2, {}, {.device = device()})), td::eye(2, {}, {.device = device()})));
}

TEST_P(Linalg, DeterminantsOfSingularMatricesHaveGradients) {
  const auto A = td::tensor({{1, 2}, {2, 4}}, {.dtype = td::kFloat64, .device = device(), .requires_grad = true});
  linalg::det(A).backward();
  EXPECT_TRUE(td::allclose(A.grad(), td::tensor({{4, -2}, {-2, 1}}, {.dtype = td::kFloat64, .device = device()})));
}

INSTANTIATE_TEST_SUITE_P(Devices, Linalg, testing::Values("cpu", "cuda:0"), device_name);

}  // namespace
