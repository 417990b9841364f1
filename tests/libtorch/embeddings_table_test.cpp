// libtorch's embeddings and bags of them, as functions and as layers, option by option against tandem's core.
#include "libtorch/functional.h"
#include "libtorch/layers.h"
#include "libtorch/table.h"

namespace {

using tandem::Tensor;
namespace nn = torch::nn;
namespace F = torch::nn::functional;

/// A table of rows, and what a lookup gives, makes of the table and gives it as gradient.
class EmbeddingsTable : public TableOn {
 protected:
  void SetUp() override {
    TableOn::SetUp();
    table = normal({6, 3});
    indices = on_device(tandem::tensor({{1, 4, 1}, {5, 2, 4}}));
  }
  [[nodiscard]] Tensor leaf() const { return table.clone().requires_grad_(); }
  template <class F>
  [[nodiscard]] static Tensor outcome(const Tensor& weight, F&& look_up) {
    const Tensor y = look_up(weight);
    if (!weight.requires_grad()) return joined({y, weight});
    (y * y).sum().backward();
    return joined({y, weight, weight.grad()});
  }
  /// Of a layer.
  template <class Holder, class... Inputs>
  [[nodiscard]] static Tensor of_layer(Holder layer, const Inputs&... inputs) {
    return outcome(layer->weight, [&](const Tensor&) { return layer->forward(inputs...); });
  }

  Tensor table, indices;
};
INSTANTIATE_TEST_SUITE_P(Devices, EmbeddingsTable, testing::Values("cpu", "cuda:0"), device_name);

TEST_P(EmbeddingsTable, Rows) {
  using Layer = nn::EmbeddingOptions;
  using Pretrained = nn::EmbeddingFromPretrainedOptions;
  const auto function = [&](const F::EmbeddingFuncOptions& options) {
    return outcome(leaf(), [&](const Tensor& w) { return F::embedding(indices, w, options); });
  };
  const auto layer = [&](Layer options) { return of_layer(nn::Embedding(options._weight(table.clone())), indices); };
  const auto pretrained = [&](Pretrained options) {
    return of_layer(nn::Embedding::from_pretrained(table.clone(), options.freeze(false)), indices);
  };
  const auto own = [&](std::optional<int64_t> padding = {}, std::optional<double> max = {}, double p = 2, bool scale = false) {
    return outcome(leaf(), [&](const Tensor& w) { return tandem::embedding(indices, w, padding, max, p, scale); });
  };
  using Func = F::EmbeddingFuncOptions;
  const Tensor usual = own();
  expect_rows({
      {"embedding", {function({}), layer({6, 3}), pretrained({})}, usual},
      {"embedding padding_idx",
       {function(Func().padding_idx(4)), layer(Layer(6, 3).padding_idx(4)), layer(Layer(6, 3).padding_idx(-2)),
        pretrained(Pretrained().padding_idx(4))},
       own(4),
       usual},
      {"embedding max_norm",
       {function(Func().max_norm(0.7)), layer(Layer(6, 3).max_norm(0.7)), pretrained(Pretrained().max_norm(0.7))},
       own({}, 0.7),
       usual},
      {"embedding norm_type",
       {function(Func().max_norm(0.7).norm_type(1)), layer(Layer(6, 3).max_norm(0.7).norm_type(1)),
        pretrained(Pretrained().max_norm(0.7).norm_type(1))},
       own({}, 0.7, 1),
       own({}, 0.7)},
      {"embedding scale_grad_by_freq",
       {function(Func().scale_grad_by_freq(true)), layer(Layer(6, 3).scale_grad_by_freq(true)),
        pretrained(Pretrained().scale_grad_by_freq(true))},
       own({}, {}, 2, true),
       usual},
      // Gradients are dense all the same.
      {"embedding sparse", {function(Func().sparse(true)), layer(Layer(6, 3).sparse(true)), pretrained(Pretrained().sparse(true))}, usual},
      {"Embedding num_embeddings and embedding_dim", {layer(Layer(9, 9).num_embeddings(6).embedding_dim(3))}, usual},
      {"Embedding frozen",
       {of_layer(nn::Embedding::from_pretrained(table.clone()), indices)},
       joined({tandem::embedding(indices, table), table})},
  });
}

TEST_P(EmbeddingsTable, SparseIsKeptInTheOptions) {
  EXPECT_TRUE(nn::EmbeddingOptions(6, 3).sparse(true).sparse() && nn::EmbeddingBagOptions(6, 3).sparse(true).sparse());
  EXPECT_TRUE(F::EmbeddingFuncOptions().sparse(true).sparse() && F::EmbeddingBagFuncOptions().sparse(true).sparse());
  EXPECT_TRUE(nn::Embedding::from_pretrained(table, nn::EmbeddingFromPretrainedOptions().sparse(true))->options.sparse());
  EXPECT_TRUE(nn::EmbeddingBag::from_pretrained(table, nn::EmbeddingBagFromPretrainedOptions().sparse(true))->options.sparse());
}

TEST_P(EmbeddingsTable, NewTablesHaveZerosAtTheirPadding) {
  nn::Embedding rows(nn::EmbeddingOptions(6, 3).padding_idx(4));
  nn::EmbeddingBag bags(nn::EmbeddingBagOptions(6, 3).padding_idx(-2));
  for (const Tensor& weight : {rows->weight, bags->weight}) {
    EXPECT_EQ(weight[4].abs().sum().item<float>(), 0);
    EXPECT_GT(weight.abs().sum(1).index_select(0, tandem::tensor({0, 1, 2, 3, 5})).min().item<float>(), 0);
  }
}

TEST_P(EmbeddingsTable, Bags) {
  using Layer = nn::EmbeddingBagOptions;
  using Pretrained = nn::EmbeddingBagFromPretrainedOptions;
  using Func = F::EmbeddingBagFuncOptions;
  const auto function = [&](const Func& options) {
    return outcome(leaf(), [&](const Tensor& w) { return F::embedding_bag(indices, w, options); });
  };
  const auto layer = [&](Layer options) { return of_layer(nn::EmbeddingBag(options._weight(table.clone())), indices); };
  const auto pretrained = [&](Pretrained options) {
    return of_layer(nn::EmbeddingBag::from_pretrained(table.clone(), options.freeze(false)), indices);
  };
  const auto own = [&](const tandem::EmbeddingBagOptions& options) {
    return outcome(leaf(), [&](const Tensor& w) { return tandem::embedding_bag(indices, w, options); });
  };
  const Tensor usual = own({});
  expect_rows({
      {"embedding_bag", {function({}), layer({6, 3}), pretrained({})}, usual},
      {"embedding_bag max_norm",
       {function(Func().max_norm(0.7)), layer(Layer(6, 3).max_norm(0.7)), pretrained(Pretrained().max_norm(0.7))},
       own({.max_norm = 0.7}),
       usual},
      {"embedding_bag norm_type",
       {function(Func().max_norm(0.7).norm_type(1)), layer(Layer(6, 3).max_norm(0.7).norm_type(1)),
        pretrained(Pretrained().max_norm(0.7).norm_type(1))},
       own({.max_norm = 0.7, .norm_type = 1}),
       own({.max_norm = 0.7})},
      {"embedding_bag scale_grad_by_freq",
       {function(Func().scale_grad_by_freq(true)), layer(Layer(6, 3).scale_grad_by_freq(true)),
        pretrained(Pretrained().scale_grad_by_freq(true))},
       own({.scale_grad_by_freq = true}),
       usual},
      {"embedding_bag mode sum",
       {function(Func().mode(torch::kSum)), layer(Layer(6, 3).mode(torch::kSum)), pretrained(Pretrained().mode(torch::kSum))},
       own({.mode = "sum"}),
       usual},
      {"embedding_bag mode max",
       {function(Func().mode(torch::kMax)), layer(Layer(6, 3).mode(torch::kMax)), pretrained(Pretrained().mode(torch::kMax))},
       own({.mode = "max"}),
       usual},
      {"embedding_bag padding_idx",
       {function(Func().padding_idx(4)), layer(Layer(6, 3).padding_idx(4)), pretrained(Pretrained().padding_idx(4))},
       own({.padding_idx = 4}),
       usual},
      // Gradients are dense all the same.
      {"embedding_bag sparse",
       {function(Func().sparse(true)), layer(Layer(6, 3).sparse(true)), pretrained(Pretrained().sparse(true))},
       usual},
      {"EmbeddingBag num_embeddings and embedding_dim", {layer(Layer(9, 9).num_embeddings(6).embedding_dim(3))}, usual},
      {"EmbeddingBag frozen",
       {of_layer(nn::EmbeddingBag::from_pretrained(table.clone()), indices)},
       joined({tandem::embedding(indices, table).mean(1), table})},
  });
}

TEST_P(EmbeddingsTable, PartsOfAList) {
  const Tensor list = indices.flatten(), offsets = on_device(tandem::tensor({0, 1, 4})), factors = uniform({6});
  const Tensor closed = on_device(tandem::tensor({0, 1, 4, 6}));
  using Func = F::EmbeddingBagFuncOptions;
  using Pretrained = nn::EmbeddingBagFromPretrainedOptions;
  const auto function = [&](const Func& options) {
    return outcome(leaf(), [&](const Tensor& w) { return F::embedding_bag(list, w, options); });
  };
  const auto own = [&](const tandem::EmbeddingBagOptions& options) {
    return outcome(leaf(), [&](const Tensor& w) { return tandem::embedding_bag(list, w, options); });
  };
  const auto layer = [&](nn::EmbeddingBagOptions options, const Tensor& where, const Tensor& how_much = {}) {
    return of_layer(nn::EmbeddingBag(options._weight(table.clone())), list, where, how_much);
  };
  using Layer = nn::EmbeddingBagOptions;
  const auto frozen_off = Pretrained().freeze(false).include_last_offset(true);
  expect_rows({
      {"embedding_bag offsets", {function(Func().offsets(offsets)), layer({6, 3}, offsets)}, own({.offsets = offsets})},
      {"embedding_bag per_sample_weights",
       {function(Func().offsets(offsets).mode(torch::kSum).per_sample_weights(factors)),
        layer(Layer(6, 3).mode(torch::kSum), offsets, factors)},
       own({.offsets = offsets, .mode = "sum", .per_sample_weights = factors}),
       own({.offsets = offsets, .mode = "sum"})},
      {"embedding_bag include_last_offset",
       {function(Func().offsets(closed).include_last_offset(true)), layer(Layer(6, 3).include_last_offset(true), closed),
        of_layer(nn::EmbeddingBag::from_pretrained(table.clone(), frozen_off), list, closed)},
       own({.offsets = closed, .include_last_offset = true}),
       own({.offsets = closed})},
  });
}

}  // namespace
