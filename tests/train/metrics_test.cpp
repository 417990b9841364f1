// Metrics against numbers worked out by hand and by plain loops, on every device, over batches of different sizes.
#include "train/metrics.h"

#include <gtest/gtest.h>

#include <random>

#include "runtime/launch.h"
#include "runtime/virtual_gpus.h"
#include "support/on_device.h"
#include "tandem.h"

namespace td = tandem;
namespace train = td::train;

namespace {

class Metrics : public OnDevice {
 protected:
  /// The same rows in batches of two, on the device.
  template <class Metric>
  static void feed(Metric& metric, const td::Tensor& output, const td::Tensor& target) {
    for (int64_t i = 0; i < target.size(0); i += 2)
      metric.update(output.slice(0, i, i + 2).to(device()), target.slice(0, i, i + 2).to(device()));
  }
};
INSTANTIATE_TEST_SUITE_P(Devices, Metrics, testing::Values("cpu", "cuda:0"), device_name);

const td::Tensor kScores = td::tensor({{0.1, 0.7, 0.2}, {0.5, 0.3, 0.2}, {0.2, 0.3, 0.5}, {0.6, 0.3, 0.1}, {0.2, 0.2, 0.6}});
const td::Tensor kLabels = td::tensor({1, 1, 2, 2, 0});

}  // namespace

TEST_P(Metrics, AccuracyCountsTheLargestScores) {
  train::Accuracy accuracy, second({.top_k = 2}), third({.top_k = 3});
  for (train::Metric* metric : std::initializer_list<train::Metric*>{&accuracy, &second, &third}) feed(*metric, kScores, kLabels);
  EXPECT_DOUBLE_EQ(accuracy.compute(), 2 / 5.);
  EXPECT_DOUBLE_EQ(second.compute(), 4 / 5.);  // of the equal 0.2 in the last row the first counts as larger
  EXPECT_DOUBLE_EQ(third.compute(), 1);
  EXPECT_DOUBLE_EQ(accuracy.compute(), 2 / 5.);  // computing changes nothing
  accuracy.reset();
  accuracy.update(td::tensor({0, 1, 2, 2}, device()), td::tensor({0, 1, 2, 1}, device()));  // classes themselves
  EXPECT_DOUBLE_EQ(accuracy.compute(), 0.75);
}

TEST_P(Metrics, AccuracyOfImagesCountsPixels) {
  const auto output = td::randn({2, 3, 4, 5}).to(device());
  const auto target = td::randint(0, 3, {2, 4, 5}).to(device());
  train::Accuracy accuracy;
  accuracy.update(output, target);
  EXPECT_DOUBLE_EQ(accuracy.compute(), td::eq(output.argmax(1), target).to(td::kFloat64).mean().item<double>());
}

TEST_P(Metrics, ConfusionMatrixCountsTargetsInRows) {
  train::ConfusionMatrix matrix({.num_classes = 3});
  feed(matrix, kScores, kLabels);
  EXPECT_TRUE(td::equal(matrix.compute(), td::tensor({{0, 0, 1}, {1, 1, 0}, {1, 0, 1}})));
  matrix.update(td::tensor({0, 2}, device()), td::tensor({0, 0}, device()));
  EXPECT_TRUE(td::equal(matrix.compute(), td::tensor({{1, 0, 2}, {1, 1, 0}, {1, 0, 1}})));
  matrix.reset();
  EXPECT_NE(error_of([&] { (void)matrix.compute(); }).find("[ConfusionMatrix] there is nothing to compute from"), std::string::npos);
}

TEST_P(Metrics, ClassesThatDoNotExistAreAnErrorAtTheEnd) {
  train::ConfusionMatrix matrix({.num_classes = 3});
  // Each would be a cell of the matrix if only the sum of row and column were looked at.
  matrix.update(td::tensor({0, 4, -1, 1}, device()), td::tensor({3, 0, 1, -1}, device()));
  EXPECT_EQ(error_of([&] { (void)matrix.compute(); }),
            "[ConfusionMatrix] 4 samples have a class outside 0 … 2 as target or output: num_classes is 3");
}

TEST_P(Metrics, PrecisionRecallAndF1AreSklearns) {
  // Class 3 occurs nowhere and is left out of the mean; class 0 is never right. Values from sklearn.metrics with zero_division=0.
  const td::Tensor output = td::tensor({2, 1, 1, 2, 1, 2, 0, 2}), target = td::tensor({0, 1, 1, 2, 2, 2, 1, 1});
  const auto macro = [&](auto metric) {
    feed(metric, output, target);
    return metric;
  };
  const auto precision = macro(train::Precision({.num_classes = 4}));
  const auto recall = macro(train::Recall({.num_classes = 4}));
  const auto f1 = macro(train::F1Score({.num_classes = 4}));
  EXPECT_NEAR(precision.compute(), (0 + 2 / 3. + 2 / 4.) / 3, 1e-15);
  EXPECT_NEAR(recall.compute(), (0 + 2 / 4. + 2 / 3.) / 3, 1e-15);
  EXPECT_NEAR(f1.compute(), (0 + 4 / 7. + 4 / 7.) / 3, 1e-15);
  EXPECT_EQ(precision.per_class(), (std::vector<double>{0, 2 / 3., 2 / 4., 0}));
  EXPECT_EQ(recall.per_class(), (std::vector<double>{0, 2 / 4., 2 / 3., 0}));
  EXPECT_DOUBLE_EQ(macro(train::Precision({.num_classes = 4, .average = "micro"})).compute(), 0.5);
  EXPECT_DOUBLE_EQ(macro(train::Recall({.num_classes = 4, .average = "micro"})).compute(), 0.5);
  EXPECT_DOUBLE_EQ(macro(train::F1Score({.num_classes = 4, .average = "micro"})).compute(), 0.5);
}

TEST_P(Metrics, AurocCountsPairs) {
  std::mt19937 random(3);
  std::vector<double> scores, labels;
  for (int i = 0; i < 301; ++i) {
    labels.push_back(random() % 3 == 0);
    scores.push_back(static_cast<double>(random() % 20) / 20 + labels.back() / 4);  // many ties
  }
  double above = 0, pairs = 0;
  for (size_t i = 0; i < labels.size(); ++i) {
    for (size_t j = 0; j < labels.size(); ++j) {
      if (labels[i] != 1 || labels[j] != 0) continue;
      above += scores[i] > scores[j] ? 1 : scores[i] == scores[j] ? 0.5 : 0;
      pairs += 1;
    }
  }
  train::AUROC auroc;
  feed(auroc, td::tensor(scores, td::kFloat64), td::tensor(labels));
  EXPECT_NEAR(auroc.compute(), above / pairs, 1e-14);
  auroc.reset();
  auroc.update(td::tensor({{0.1}, {0.4}, {0.35}, {0.8}}, device()), td::tensor({{0}, {0}, {1}, {1}}, device()));
  EXPECT_DOUBLE_EQ(auroc.compute(), 0.75);  // the example on scikit-learn's page
  auroc.reset();
  // Half types keep their own ties.
  auroc.update(td::tensor({1., 1.0001, 2., 0.}, device()).to(td::kFloat16), td::tensor({0, 1, 1, 0}, device()));
  EXPECT_DOUBLE_EQ(auroc.compute(), 3.5 / 4);
}

TEST_P(Metrics, AurocKeepsWhatItWasGiven) {
  train::AUROC auroc;
  const auto scores = td::tensor({0.1, 0.9}, device());
  auroc.update(scores, td::tensor({0, 1}, device()));
  scores.fill_(0.5);
  EXPECT_DOUBLE_EQ(auroc.compute(), 1);
}

TEST_P(Metrics, AurocNamesWhatItCannotRank) {
  const auto text = [](const td::Tensor& scores, const td::Tensor& labels) {
    train::AUROC auroc;
    auroc.update(scores.to(device()), labels.to(device()));
    return error_of([&] { (void)auroc.compute(); });
  };
  EXPECT_EQ(text(td::tensor({0.5, 0.6}), td::tensor({1, 1})),
            "[AUROC] there must be samples of both classes, but there are 0 of class 0 and 2 of class 1");
  EXPECT_EQ(text(td::tensor({0.5, 0.6}), td::tensor({1, 2})), "[AUROC] a target is neither 0 nor 1");
  EXPECT_EQ(text(td::tensor({0.5, static_cast<double>(NAN)}), td::tensor({1, 0})), "[AUROC] a score is nan");
}

TEST_P(Metrics, MeanSquaredErrorWeighsElements) {
  train::MeanSquaredError error;
  error.update(td::tensor({{1., 2.}, {3., 4.}}, device()), td::tensor({{1., 0.}, {3., 1.}}, device()));
  error.update(td::tensor({{5., 5.}}, device()), td::tensor({{4., 5.}}, device()));
  EXPECT_DOUBLE_EQ(error.compute(), (4 + 9 + 1) / 6.);
  error.reset();
  // In float32 a million ones more would no longer count.
  error.update(td::full({1}, 1e4, device()), td::zeros({1}, device()));
  error.update(td::full({1000}, 0.01, device()), td::zeros({1000}, device()));
  EXPECT_NEAR(error.compute(), (1e8 + 0.1) / 1001, 1e-6);
}

TEST_P(Metrics, TakeNoGradients) {
  const auto output = kScores.to(device()).clone();
  output.requires_grad_();
  train::MeanSquaredError error;
  error.update(output, td::zeros({5, 3}, device()));
  output.detach().fill_(7);  // nothing keeps its values for a backward pass
  EXPECT_GT(error.compute(), 0);
}

TEST(MetricsOnAGpu, UpdateWaitsForNothing) {
  if (!td::cuda::get_device_properties(0).is_virtual) GTEST_SKIP() << "only a virtual GPU can be held up";
  const auto scores = kScores.cuda(0), labels = kLabels.cuda(0);
  const auto binary = td::tensor({0., 1., 1.}, td::gpu(0));
  train::Accuracy accuracy, second({.top_k = 2});
  train::ConfusionMatrix matrix({.num_classes = 3});
  train::F1Score f1({.num_classes = 3});
  train::AUROC auroc;
  train::MeanSquaredError error;
  const auto update = [&] {
    accuracy.update(scores, labels);
    second.update(scores, labels);
    matrix.update(scores, labels);
    f1.update(scores, labels);
    auroc.update(binary, binary);
    error.update(scores, scores);
  };
  update();
  {
    td::testing::Gate gate;
    td::runtime::virtual_gpu::enqueue(td::runtime::Launch(td::gpu(0), "gate", td::Site::here()), gate.task());
    update();  // would never come back if it waited
    EXPECT_FALSE(td::cuda::current_stream(td::gpu(0)).query());
  }
  EXPECT_DOUBLE_EQ(accuracy.compute(), 0.4);
  EXPECT_EQ(matrix.compute().sum().item<int64_t>(), 10);
}

TEST(MetricErrors, NameWhatDoesNotFit) {
  train::Accuracy accuracy;
  EXPECT_EQ(error_of([&] { (void)accuracy.compute(); }), "[Accuracy] there is nothing to compute from: call update first");
  EXPECT_EQ(error_of([&] {
              accuracy.update(td::zeros({4, 3}), td::zeros({5}, td::kInt64));
            }),
            "[Accuracy] output must have the sizes (n, classes, …) for a target (n, …), or the target's own, but they are [4, 3] and [5]");
  EXPECT_EQ(error_of([&] {
              accuracy.update(td::zeros({4, 3}), td::zeros({4}));
            }),
            "[Accuracy] target must have class numbers, but its dtype is float32");
  EXPECT_EQ(error_of([&] { accuracy.update(td::zeros({4}), td::zeros({4}, td::kInt64)); }),
            "[Accuracy] an output of the target's sizes must have class numbers, but its dtype is float32");
  accuracy.update(td::zeros({4, 3}), td::zeros({4}, td::kInt64));
  EXPECT_EQ(error_of([&] {
              accuracy.update(td::zeros({4, 3}, td::gpu(0)), td::zeros({4}, {.dtype = td::kInt64, .device = td::gpu(0)}));
            }),
            "[Accuracy] this batch is on cuda:0, the batches before were on cpu: move it there, or use a metric for each device");
  train::Accuracy fifth({.top_k = 5});
  EXPECT_EQ(error_of([&] {
              fifth.update(td::zeros({4, 3}), td::zeros({4}, td::kInt64));
            }),
            "[Accuracy] top_k is 5, but output has scores for 3 classes: [4, 3]");
  EXPECT_EQ(error_of([] { train::Accuracy none({.top_k = 0}); }), "[Accuracy] top_k must be positive, but is 0");
  EXPECT_EQ(error_of([] { train::ConfusionMatrix none({.num_classes = 0}); }), "[ConfusionMatrix] num_classes must be positive, but is 0");
  EXPECT_EQ(error_of([] { train::Recall metric({.num_classes = 2, .average = "weighted"}); }),
            "[Recall] average must be 'macro' or 'micro', not 'weighted'");
  train::F1Score f1({.num_classes = 4});
  EXPECT_EQ(error_of([&] {
              f1.update(td::zeros({4, 3}), td::zeros({4}, td::kInt64));
            }),
            "[F1Score] output has scores for 3 classes (its sizes are [4, 3]), but num_classes is 4");
  train::AUROC auroc;
  EXPECT_EQ(error_of([&] {
              auroc.update(td::zeros({4, 2}), td::zeros({4, 2}));
            }),
            "[AUROC] output and target must both have the sizes (n) or (n, 1), but they are [4, 2] and [4, 2]");
  train::MeanSquaredError error;
  EXPECT_EQ(error_of([&] {
              error.update(td::zeros({4, 1}), td::zeros({4}));
            }),
            "[MeanSquaredError] output and target must have the same sizes, but they are [4, 1] and [4]");
}
