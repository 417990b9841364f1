// libtorch's linear layers, those that only reshape, and distances, option by option against tandem's core.
#include "libtorch/functional.h"
#include "libtorch/layers.h"
#include "libtorch/table.h"

namespace {

using tandem::Tensor;
namespace nn = torch::nn;
namespace F = torch::nn::functional;

class LinearTable : public TableOn {};
INSTANTIATE_TEST_SUITE_P(Devices, LinearTable, testing::Values("cpu", "cuda:0"), device_name);

TEST_P(LinearTable, Products) {
  const Tensor x = normal({3, 4}), y = normal({3, 5}), weight = normal({2, 4}), bias = normal({2}), cube = normal({2, 4, 5});
  nn::Linear linear(nn::LinearOptions(9, 9).in_features(4).out_features(2)), plain(nn::LinearOptions(4, 2).bias(false));
  nn::Bilinear bilinear(nn::BilinearOptions(9, 9, 9).in1_features(4).in2_features(5).out_features(2));
  nn::Bilinear plain_bilinear(nn::BilinearOptions(4, 5, 2).bias(false));
  linear->to(device());
  plain->to(device());
  bilinear->to(device());
  plain_bilinear->to(device());
  EXPECT_FALSE(plain->bias.defined() || plain_bilinear->bias.defined());
  EXPECT_EQ(linear->weight.sizes(), (tandem::Shape{2, 4}));
  EXPECT_EQ(bilinear->weight.sizes(), (tandem::Shape{2, 4, 5}));
  const Tensor product = tandem::linear(x, weight), both = tandem::bilinear(x, y, cube);
  expect_rows({
      {"linear", {F::linear(x, weight)}, product},
      {"linear bias", {F::linear(x, weight, bias)}, product + bias, product},
      {"bilinear", {F::bilinear(x, y, cube)}, both},
      {"bilinear bias", {F::bilinear(x, y, cube, bias)}, both + bias, both},
      {"Linear", {linear(x)}, tandem::linear(x, linear->weight, linear->bias)},
      {"Linear bias", {plain(x)}, tandem::linear(x, plain->weight)},
      {"Bilinear", {bilinear(x, y)}, tandem::bilinear(x, y, bilinear->weight, bilinear->bias)},
      {"Bilinear bias", {plain_bilinear(x, y)}, tandem::bilinear(x, y, plain_bilinear->weight)},
  });
}

TEST_P(LinearTable, Shapes) {
  const Tensor x = normal({2, 3, 4, 5});
  using Flatten = nn::FlattenOptions;
  using Unflatten = nn::UnflattenOptions;
  const auto flattened = [&](const Flatten& options) { return std::vector<Tensor>{nn::Flatten(options)(x)}; };
  const auto divided = [&](const Unflatten& options) { return std::vector<Tensor>{nn::Unflatten(options)(x)}; };
  const auto named = Unflatten("A", {{"B", 2}}).dimname("C").namedshape({{"D", 1}, {"E", 4}});
  expect_rows({
      {"Identity", {nn::Identity()(x)}, x},
      {"Flatten", {nn::Flatten()(x)}, x.view({2, 60})},
      {"Flatten start_dim", flattened(Flatten().start_dim(2)), x.view({2, 3, 20}), x.view({2, 60})},
      {"Flatten end_dim", flattened(Flatten().end_dim(2)), x.view({2, 12, 5}), x.view({2, 60})},
      {"Unflatten", divided({2, {2, 2}}), x.view({2, 3, 2, 2, 5})},
      {"Unflatten dim", divided(Unflatten(3, {2, 2}).dim(2)), x.view({2, 3, 2, 2, 5})},
      {"Unflatten sizes", divided(Unflatten(2, {2, 2}).sizes({1, 4})), x.view({2, 3, 1, 4, 5}), x.view({2, 3, 2, 2, 5})},
  });
  EXPECT_EQ(error_of([&] { (void)nn::Unflatten(named)(x); }),
            "[Unflatten] dimension \"C\" is given by name, and tensors have no names here: give its number");
  EXPECT_EQ(c10::str(nn::Unflatten(named)), "torch::nn::Unflatten(dim=\"C\", unflattened_size={{\"D\", 1}, {\"E\", 4}})");
}

TEST_P(LinearTable, Distances) {
  const Tensor x = normal({3, 4}), y = normal({3, 4});
  using Cosine = nn::CosineSimilarityOptions;
  using Pairwise = nn::PairwiseDistanceOptions;
  const auto cosine = [&](const Cosine& options) {
    return std::vector<Tensor>{F::cosine_similarity(x, y, options), nn::CosineSimilarity(options)(x, y)};
  };
  const auto pairwise = [&](const Pairwise& options) {
    return std::vector<Tensor>{F::pairwise_distance(x, y, options), nn::PairwiseDistance(options)(x, y)};
  };
  const Tensor likeness = tandem::cosine_similarity(x, y), distance = tandem::pairwise_distance(x, y);
  const auto rows = [&](double p) { return tandem::stack({(x[0] - x[1]), (x[0] - x[2]), (x[1] - x[2])}).abs().pow(p).sum(1).pow(1 / p); };
  expect_rows({
      {"cosine_similarity", cosine({}), likeness},
      {"cosine_similarity dim", cosine(Cosine().dim(0)), tandem::cosine_similarity(x, y, 0), likeness},
      {"cosine_similarity eps", cosine(Cosine().eps(5)), tandem::cosine_similarity(x, y, 1, 5), likeness},
      {"pairwise_distance", pairwise({}), distance},
      {"pairwise_distance p", pairwise(Pairwise().p(1)), tandem::pairwise_distance(x, y, 1), distance},
      {"pairwise_distance eps", pairwise(Pairwise().eps(0.5)), tandem::pairwise_distance(x, y, 2, 0.5), distance},
      {"pairwise_distance keepdim", pairwise(Pairwise().keepdim(true)), distance.unsqueeze(1), distance},
      {"pdist", {F::pdist(x)}, rows(2)},
      {"pdist p", {F::pdist(x, 3)}, rows(3), rows(2)},
  });
}

TEST_P(LinearTable, Classes) {
  const Tensor x = on_device(tandem::tensor({{0, 2}, {1, 0}}));
  expect_rows({
      {"one_hot", {F::one_hot(x)}, on_device(tandem::tensor({{{1, 0, 0}, {0, 0, 1}}, {{0, 1, 0}, {1, 0, 0}}}))},
      {"one_hot num_classes", {F::one_hot(x, 5)}, tandem::one_hot(x, 5), tandem::one_hot(x)},
  });
}

}  // namespace
