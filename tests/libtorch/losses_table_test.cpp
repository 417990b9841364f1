// libtorch's losses, as functions and as layers, option by option against tandem's core.
#include <cmath>

#include "libtorch/functional.h"
#include "libtorch/layers.h"
#include "libtorch/table.h"
#include "nn/nn.h"

namespace {

using tandem::Reduction;
using tandem::Tensor;
namespace nn = torch::nn;
namespace F = torch::nn::functional;

class LossesTable : public TableOn {};
INSTANTIATE_TEST_SUITE_P(Devices, LossesTable, testing::Values("cpu", "cuda:0"), device_name);

// What a loss's function and its layer give, which share their options.
template <class Layer, class Function, class... Inputs>
std::vector<Tensor> both(Function function, const std::decay_t<decltype(Layer(nullptr)->options)>& options, const Inputs&... inputs) {
  return {function(inputs..., options, tandem::Site::here()), Layer(options)(inputs...)};
}

TEST_P(LossesTable, OfNumbers) {
  const Tensor x = normal({4, 5}), y = normal({4, 5});
  const auto smooth = [&](const nn::SmoothL1LossOptions& options) {
    return std::vector<Tensor>{F::smooth_l1_loss(x, y, options), nn::SmoothL1Loss(options)(x, y)};
  };
  const Tensor l1 = tandem::l1_loss(x, y), mse = tandem::mse_loss(x, y), smooth_l1 = tandem::smooth_l1_loss(x, y);
  const Tensor huber = tandem::huber_loss(x, y);
  expect_rows({
      {"l1", both<nn::L1Loss>(F::l1_loss, {}, x, y), l1},
      {"l1 reduction", both<nn::L1Loss>(F::l1_loss, torch::kSum, x, y), tandem::l1_loss(x, y, {.reduction = Reduction::Sum}), l1},
      {"l1 none", both<nn::L1Loss>(F::l1_loss, nn::L1LossOptions().reduction(torch::kNone), x, y), (x - y).abs(), l1},
      {"mse", both<nn::MSELoss>(F::mse_loss, {}, x, y), mse},
      {"mse reduction", both<nn::MSELoss>(F::mse_loss, nn::MSELossOptions().reduction(torch::kSum), x, y),
       tandem::mse_loss(x, y, {.reduction = Reduction::Sum}), mse},
      {"smooth_l1", smooth({}), smooth_l1},
      {"smooth_l1 reduction", smooth(nn::SmoothL1LossOptions().reduction(torch::kSum)),
       tandem::smooth_l1_loss(x, y, {.reduction = Reduction::Sum}), smooth_l1},
      {"smooth_l1 beta", smooth(nn::SmoothL1LossOptions().beta(0.3)), tandem::smooth_l1_loss(x, y, {.beta = 0.3}), smooth_l1},
      {"smooth_l1 beta as a number", {F::smooth_l1_loss(x, y, torch::kMean, 0.3)}, tandem::smooth_l1_loss(x, y, {.beta = 0.3}), smooth_l1},
      {"huber", both<nn::HuberLoss>(F::huber_loss, {}, x, y), huber},
      {"huber reduction", both<nn::HuberLoss>(F::huber_loss, nn::HuberLossOptions().reduction(torch::kSum), x, y),
       tandem::huber_loss(x, y, {.reduction = Reduction::Sum}), huber},
      {"huber delta", both<nn::HuberLoss>(F::huber_loss, nn::HuberLossOptions().delta(0.3), x, y), tandem::huber_loss(x, y, {.delta = 0.3}),
       huber},
  });
}

TEST_P(LossesTable, OfProbabilities) {
  const Tensor x = normal({4, 5}), p = uniform({4, 5}), y = uniform({4, 5}), each = uniform({4, 5}), column = uniform({5});
  const Tensor log_p = tandem::log_softmax(x, 1), q = tandem::softmax(y, 1);
  const Tensor kl = tandem::kl_div(log_p, q), bce = tandem::binary_cross_entropy(p, y);
  const Tensor logits = tandem::binary_cross_entropy_with_logits(x, y);
  const auto divergence = [&](const nn::KLDivLossOptions& options) { return both<nn::KLDivLoss>(F::kl_div, options, log_p, q); };
  using KL = nn::KLDivLossOptions;
  using BCE = nn::BCELossOptions;
  using Logits = nn::BCEWithLogitsLossOptions;
  const auto cross = [&](const BCE& options) { return both<nn::BCELoss>(F::binary_cross_entropy, options, p, y); };
  const auto of_logits = [&](const Logits& options) {
    return both<nn::BCEWithLogitsLoss>(F::binary_cross_entropy_with_logits, options, x, y);
  };
  expect_rows({
      {"kl_div", divergence({}), kl},
      {"kl_div sum", divergence(KL().reduction(torch::kSum)), tandem::kl_div(log_p, q, {.reduction = Reduction::Sum}), kl},
      {"kl_div batchmean", divergence(torch::kBatchMean), tandem::kl_div(log_p, q, {.reduction = Reduction::BatchMean}), kl},
      {"kl_div none", divergence(torch::kNone), tandem::kl_div(log_p, q, {.reduction = Reduction::None}), kl},
      {"kl_div log_target", divergence(KL().log_target(true)), tandem::kl_div(log_p, q, {.log_target = true}), kl},
      {"bce", cross({}), bce},
      {"bce weight", cross(BCE().weight(each)), tandem::binary_cross_entropy(p, y, {.weight = each}), bce},
      {"bce reduction", cross(BCE().reduction(torch::kSum)), tandem::binary_cross_entropy(p, y, {.reduction = Reduction::Sum}), bce},
      {"logits", of_logits({}), logits},
      {"logits weight", of_logits(Logits().weight(each)), tandem::binary_cross_entropy_with_logits(x, y, {.weight = each}), logits},
      {"logits reduction", of_logits(Logits().reduction(torch::kNone)),
       tandem::binary_cross_entropy_with_logits(x, y, {.reduction = Reduction::None}), logits},
      {"logits pos_weight", of_logits(Logits().pos_weight(column)), tandem::binary_cross_entropy_with_logits(x, y, {.pos_weight = column}),
       logits},
  });
}

TEST_P(LossesTable, WeightsOfPositivesMoveWithTheLayer) {
  const Tensor x = normal({4, 5}), y = uniform({4, 5}), each = uniform({4, 5}), column = uniform({5});
  nn::BCEWithLogitsLoss loss(nn::BCEWithLogitsLossOptions().weight(each.cpu()).pos_weight(column.cpu()));
  loss->to(device());
  expect_rows({{"logits moved", {loss(x, y)}, tandem::binary_cross_entropy_with_logits(x, y, {.weight = each, .pos_weight = column})}});
  EXPECT_TRUE(tandem::equal(loss->pos_weight, column));
  loss->pos_weight = column * 2;
  expect_rows(
      {{"logits assigned", {loss(x, y)}, tandem::binary_cross_entropy_with_logits(x, y, {.weight = each, .pos_weight = column * 2})}});
}

TEST_P(LossesTable, OfCountsAndMargins) {
  const Tensor x = normal({4, 5}), other = normal({4, 5}), rate = uniform({4, 5}) + 0.1, count = on_device(tandem::randint(0, 9, {4, 5}));
  const Tensor signs = on_device(tandem::randint(0, 2, {4, 5})).to(tandem::kFloat32) * 2 - 1, n = count.to(tandem::kFloat32);
  using Poisson = nn::PoissonNLLLossOptions;
  const auto poisson = [&](const Poisson& options) { return both<nn::PoissonNLLLoss>(F::poisson_nll_loss, options, rate, n); };
  const auto hinge = [&](const nn::HingeEmbeddingLossOptions& options) {
    return both<nn::HingeEmbeddingLoss>(F::hinge_embedding_loss, options, x, signs);
  };
  const auto ranking = [&](const nn::MarginRankingLossOptions& options) {
    return both<nn::MarginRankingLoss>(F::margin_ranking_loss, options, x, other, signs);
  };
  const Tensor usual = tandem::poisson_nll_loss(rate, n), margin = tandem::hinge_embedding_loss(x, signs);
  const Tensor rank = tandem::margin_ranking_loss(x, other, signs), soft = tandem::soft_margin_loss(x, signs);
  expect_rows({
      {"poisson", poisson({}), usual},
      {"poisson log_input", poisson(Poisson().log_input(false)), tandem::poisson_nll_loss(rate, n, {.log_input = false}), usual},
      {"poisson full", poisson(Poisson().full(true)), tandem::poisson_nll_loss(rate, n, {.full = true}), usual},
      {"poisson eps", poisson(Poisson().log_input(false).eps(0.5)), tandem::poisson_nll_loss(rate, n, {.log_input = false, .eps = 0.5}),
       tandem::poisson_nll_loss(rate, n, {.log_input = false})},
      {"poisson reduction", poisson(Poisson().reduction(torch::kSum)), tandem::poisson_nll_loss(rate, n, {.reduction = Reduction::Sum}),
       usual},
      {"soft_margin", both<nn::SoftMarginLoss>(F::soft_margin_loss, {}, x, signs), soft},
      {"soft_margin reduction", both<nn::SoftMarginLoss>(F::soft_margin_loss, torch::kSum, x, signs),
       tandem::soft_margin_loss(x, signs, {.reduction = Reduction::Sum}), soft},
      {"hinge", hinge({}), margin},
      {"hinge margin", hinge(nn::HingeEmbeddingLossOptions().margin(2)), tandem::hinge_embedding_loss(x, signs, {.margin = 2}), margin},
      {"hinge reduction", hinge(nn::HingeEmbeddingLossOptions().reduction(torch::kNone)),
       tandem::hinge_embedding_loss(x, signs, {.reduction = Reduction::None}), margin},
      {"ranking", ranking({}), rank},
      {"ranking margin", ranking(nn::MarginRankingLossOptions().margin(2)), tandem::margin_ranking_loss(x, other, signs, {.margin = 2}),
       rank},
      {"ranking reduction", ranking(nn::MarginRankingLossOptions().reduction(torch::kSum)),
       tandem::margin_ranking_loss(x, other, signs, {.reduction = Reduction::Sum}), rank},
  });
}

TEST_P(LossesTable, OfVectors) {
  // Where `swap` counts: positives and negatives are near to each other.
  const Tensor a = normal({4, 5}), b = normal({4, 5}), c = b + normal({4, 5}) * 0.5,
               signs = on_device(tandem::tensor({1.0, -1.0, -1.0, 1.0}));
  using Cosine = nn::CosineEmbeddingLossOptions;
  using Triplet = nn::TripletMarginLossOptions;
  using Distant = nn::TripletMarginWithDistanceLossOptions;
  const auto cosine = [&](const Cosine& options) { return both<nn::CosineEmbeddingLoss>(F::cosine_embedding_loss, options, a, b, signs); };
  const auto triplet = [&](const Triplet& options) { return both<nn::TripletMarginLoss>(F::triplet_margin_loss, options, a, b, c); };
  const auto distant = [&](const Distant& options) {
    return both<nn::TripletMarginWithDistanceLoss>(F::triplet_margin_with_distance_loss, options, a, b, c);
  };
  const auto city = [](const Tensor& x, const Tensor& y) { return (x - y).abs().sum(-1); };
  const Tensor likeness = tandem::cosine_embedding_loss(a, b, signs), usual = tandem::triplet_margin_loss(a, b, c);
  expect_rows({
      {"cosine", cosine({}), likeness},
      {"cosine margin", cosine(Cosine().margin(-0.9)), tandem::cosine_embedding_loss(a, b, signs, {.margin = -0.9}), likeness},
      {"cosine reduction", cosine(Cosine().reduction(torch::kSum)),
       tandem::cosine_embedding_loss(a, b, signs, {.reduction = Reduction::Sum}), likeness},
      {"triplet", triplet({}), usual},
      {"triplet margin", triplet(Triplet().margin(3)), tandem::triplet_margin_loss(a, b, c, {.margin = 3}), usual},
      {"triplet p", triplet(Triplet().p(1)), tandem::triplet_margin_loss(a, b, c, {.p = 1}), usual},
      {"triplet eps", triplet(Triplet().eps(0.5)), tandem::triplet_margin_loss(a, b, c, {.eps = 0.5}), usual},
      {"triplet swap", triplet(Triplet().swap(true)), tandem::triplet_margin_loss(a, b, c, {.swap = true}), usual},
      {"triplet reduction", triplet(Triplet().reduction(torch::kSum)), tandem::triplet_margin_loss(a, b, c, {.reduction = Reduction::Sum}),
       usual},
      {"distance", distant({}), usual},
      {"distance distance_function", distant(Distant().distance_function(city)), (city(a, b) - city(a, c) + 1).clamp_min(0).mean(), usual},
      {"distance margin", distant(Distant().margin(3)), tandem::triplet_margin_with_distance_loss(a, b, c, {.margin = 3}), usual},
      {"distance swap", distant(Distant().swap(true)), tandem::triplet_margin_with_distance_loss(a, b, c, {.swap = true}), usual},
      {"distance reduction", distant(Distant().reduction(torch::kSum)),
       tandem::triplet_margin_with_distance_loss(a, b, c, {.reduction = Reduction::Sum}), usual},
  });
}

TEST_P(LossesTable, OfClasses) {
  const Tensor x = normal({4, 5}), log_p = tandem::log_softmax(x, 1), factors = uniform({5});
  const Tensor classes = on_device(tandem::tensor({0, 4, 2, 2})), some = on_device(tandem::tensor({0, -100, 2, -100}));
  using Cross = nn::CrossEntropyLossOptions;
  using NLL = nn::NLLLossOptions;
  using Multi = nn::MultiMarginLossOptions;
  const auto cross = [&](const Cross& options) { return both<nn::CrossEntropyLoss>(F::cross_entropy, options, x, classes); };
  const auto nll = [&](const NLL& options) { return both<nn::NLLLoss>(F::nll_loss, options, log_p, classes); };
  const auto multi = [&](const Multi& options) { return both<nn::MultiMarginLoss>(F::multi_margin_loss, options, x, classes); };
  const Tensor usual = tandem::cross_entropy(x, classes), margin = tandem::multi_margin_loss(x, classes);
  expect_rows({
      {"cross_entropy", cross({}), usual},
      {"cross_entropy by default", both<nn::CrossEntropyLoss>(F::cross_entropy, {}, x, some), tandem::cross_entropy(x, some)},
      {"cross_entropy weight", cross(Cross().weight(factors)), tandem::cross_entropy(x, classes, {.weight = factors}), usual},
      {"cross_entropy ignore_index", cross(Cross().ignore_index(2)), tandem::cross_entropy(x, classes, {.ignore_index = 2}), usual},
      {"cross_entropy reduction", cross(Cross().reduction(torch::kSum)), tandem::cross_entropy(x, classes, {.reduction = Reduction::Sum}),
       usual},
      {"cross_entropy label_smoothing", cross(Cross().label_smoothing(0.3)), tandem::cross_entropy(x, classes, {.label_smoothing = 0.3}),
       usual},
      {"nll", nll({}), usual},
      {"nll by default", both<nn::NLLLoss>(F::nll_loss, {}, log_p, some), tandem::nll_loss(log_p, some)},
      {"nll weight", nll(NLL().weight(factors)), tandem::nll_loss(log_p, classes, {.weight = factors}), usual},
      {"nll ignore_index", nll(NLL().ignore_index(2)), tandem::nll_loss(log_p, classes, {.ignore_index = 2}), usual},
      {"nll reduction", nll(NLL().reduction(torch::kNone)), tandem::nll_loss(log_p, classes, {.reduction = Reduction::None}), usual},
      {"multi_margin", multi({}), margin},
      {"multi_margin p", multi(Multi().p(2)), tandem::multi_margin_loss(x, classes, {.p = 2}), margin},
      {"multi_margin margin", multi(Multi().margin(3)), tandem::multi_margin_loss(x, classes, {.margin = 3}), margin},
      {"multi_margin weight", multi(Multi().weight(factors)), tandem::multi_margin_loss(x, classes, {.weight = factors}), margin},
      {"multi_margin reduction", multi(Multi().reduction(torch::kSum)),
       tandem::multi_margin_loss(x, classes, {.reduction = Reduction::Sum}), margin},
  });
}

TEST_P(LossesTable, OfSeveralClasses) {
  const Tensor x = normal({2, 4}), lists = on_device(tandem::tensor({{3, 0, -1, 1}, {2, -1, 0, 1}}));
  const Tensor marks = on_device(tandem::tensor({{1.0, 0.0, 0.0, 1.0}, {0.0, 1.0, 0.0, 0.0}})), factors = uniform({4});
  using Soft = nn::MultiLabelSoftMarginLossOptions;
  const auto soft = [&](const Soft& options) {
    return both<nn::MultiLabelSoftMarginLoss>(F::multilabel_soft_margin_loss, options, x, marks);
  };
  const Tensor usual = tandem::multilabel_soft_margin_loss(x, marks), margin = tandem::multilabel_margin_loss(x, lists);
  expect_rows({
      {"multilabel_margin", both<nn::MultiLabelMarginLoss>(F::multilabel_margin_loss, {}, x, lists), margin},
      {"multilabel_margin reduction", both<nn::MultiLabelMarginLoss>(F::multilabel_margin_loss, torch::kSum, x, lists),
       tandem::multilabel_margin_loss(x, lists, {.reduction = Reduction::Sum}), margin},
      {"multilabel_soft_margin", soft({}), usual},
      {"multilabel_soft_margin weight", soft(Soft().weight(factors)), tandem::multilabel_soft_margin_loss(x, marks, {.weight = factors}),
       usual},
      {"multilabel_soft_margin reduction", soft(Soft().reduction(torch::kNone)),
       tandem::multilabel_soft_margin_loss(x, marks, {.reduction = Reduction::None}), usual},
  });
}

TEST_P(LossesTable, OfSequences) {
  const Tensor log_probs = tandem::log_softmax(normal({6, 2, 4}), 2), targets = on_device(tandem::tensor({{1, 3, 1}, {3, 1, 1}}));
  const Tensor steps = tandem::tensor({6, 3}), lengths = tandem::tensor({2, 3}), fitting = tandem::tensor({6, 4});
  using CTC = nn::CTCLossOptions;
  const auto ctc = [&](const CTC& options, const Tensor& inputs) {
    return both<nn::CTCLoss>(F::ctc_loss, options, log_probs, targets, inputs, lengths);
  };
  const auto own = [&](const tandem::CtcLossOptions& options, const Tensor& inputs) {
    return tandem::ctc_loss(log_probs, targets, inputs, lengths, options);
  };
  expect_rows({
      {"ctc", ctc({}, fitting), own({}, fitting)},
      {"ctc blank", ctc(CTC().blank(2), fitting), own({.blank = 2}, fitting), own({}, fitting)},
      {"ctc reduction", ctc(CTC().reduction(torch::kNone), fitting), own({.reduction = Reduction::None}, fitting), own({}, fitting)},
      {"ctc zero_infinity", ctc(CTC().zero_infinity(true), steps), own({.zero_infinity = true}, steps), own({}, steps)},
  });
}

TEST_P(LossesTable, OfManyClasses) {
  const Tensor x = normal({6, 8}), y = on_device(tandem::arange(6));
  const auto made = [&](const nn::AdaptiveLogSoftmaxWithLossOptions& options) {
    nn::AdaptiveLogSoftmaxWithLoss layer = seeded([&] { return nn::AdaptiveLogSoftmaxWithLoss(options); });
    layer->to(device());
    return std::vector<Tensor>{layer(x, y).output, layer->log_prob(x).gather(1, y.unsqueeze(1)).squeeze(1)};
  };
  const auto own = [&](const std::vector<int64_t>& cutoffs, const tandem::nn::AdaptiveLogSoftmaxWithLossOptions& options) {
    tandem::nn::AdaptiveLogSoftmaxWithLoss layer = seeded([&] { return tandem::nn::AdaptiveLogSoftmaxWithLoss(8, 6, cutoffs, options); });
    layer.to(device());
    return layer(x, y).output;
  };
  using Adaptive = nn::AdaptiveLogSoftmaxWithLossOptions;
  const Tensor usual = own({2, 4}, {});
  expect_rows({
      {"adaptive", made(Adaptive(8, 6, {2, 4})), usual},
      {"adaptive in_features", made(Adaptive(3, 6, {2, 4}).in_features(8)), usual},
      {"adaptive n_classes", made(Adaptive(8, 9, {2, 4}).n_classes(6)), usual},
      {"adaptive cutoffs", made(Adaptive(8, 6, {2, 4}).cutoffs({3, 5})), own({3, 5}, {}), usual},
      {"adaptive div_value", made(Adaptive(8, 6, {2, 4}).div_value(2)), own({2, 4}, {.div_value = 2}), usual},
      {"adaptive head_bias", made(Adaptive(8, 6, {2, 4}).head_bias(true)), own({2, 4}, {.head_bias = true}), usual},
  });
}

}  // namespace
