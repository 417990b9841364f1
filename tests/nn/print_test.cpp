// Modules in print: PyTorch's text.
#include "nn/support.h"

namespace tandem::testing {
namespace {

struct Net : nn::Module {
  nn::Linear hidden{4, 8};
  nn::Sequential tail{nn::ReLU(), nn::Sequential(nn::Dropout(0.25), nn::Linear(8, 2, {.bias = false}))};
  void fields(nn::Fields& f) override {
    f("hidden", hidden);
    f("tail", tail);
  }
};

TEST(PrintModule, Tree) {
  EXPECT_EQ(shown(Net()),
            "Net(\n"
            "  (hidden): Linear(in_features=4, out_features=8, bias=True)\n"
            "  (tail): Sequential(\n"
            "    (0): ReLU()\n"
            "    (1): Sequential(\n"
            "      (0): Dropout(p=0.25, inplace=False)\n"
            "      (1): Linear(in_features=8, out_features=2, bias=False)\n"
            "    )\n"
            "  )\n"
            ")");
}

TEST(PrintModule, Layers) {
  EXPECT_EQ(shown(nn::Tanh()), "Tanh()");
  EXPECT_EQ(shown(nn::Sigmoid()), "Sigmoid()");
  EXPECT_EQ(shown(nn::Identity()), "Identity()");
  EXPECT_EQ(shown(nn::Softmax(1)), "Softmax(dim=1)");
  EXPECT_EQ(shown(nn::LogSoftmax(-1)), "LogSoftmax(dim=-1)");
  EXPECT_EQ(shown(nn::Softmax()), "Softmax(dim=None)");
  EXPECT_EQ(shown(nn::Softmin()), "Softmin(dim=None)");
  EXPECT_EQ(shown(nn::Flatten()), "Flatten(start_dim=1, end_dim=-1)");
  EXPECT_EQ(shown(nn::Embedding(10, 6)), "Embedding(10, 6)");
  EXPECT_EQ(shown(nn::Embedding(10, 6, {.padding_idx = -1})), "Embedding(10, 6, padding_idx=9)");
  EXPECT_EQ(shown(nn::CrossEntropyLoss()), "CrossEntropyLoss()");
  EXPECT_EQ(shown(nn::MSELoss()), "MSELoss()");
  EXPECT_EQ(shown(nn::TripletMarginWithDistanceLoss()), "TripletMarginWithDistanceLoss(\n  (distance_function): PairwiseDistance()\n)");
  EXPECT_EQ(shown(nn::TripletMarginWithDistanceLoss({.distance_function = nn::CosineSimilarity()})),
            "TripletMarginWithDistanceLoss(\n  (distance_function): CosineSimilarity()\n)");
  EXPECT_EQ(
      shown(nn::TripletMarginWithDistanceLoss({.distance_function = [](const Tensor& a, const Tensor& b) { return (a - b).sum(-1); }})),
      "TripletMarginWithDistanceLoss()");
  EXPECT_EQ(shown(nn::Sequential()), "Sequential()");
}

TEST(PrintModule, LazyBecomesLinear) {
  nn::Sequential net(nn::LazyLinear(3));
  EXPECT_EQ(shown(net), "Sequential(\n  (0): LazyLinear(in_features=0, out_features=3, bias=True)\n)");
  (void)net(ones({2, 5}));
  EXPECT_EQ(shown(net), "Sequential(\n  (0): Linear(in_features=5, out_features=3, bias=True)\n)");
}

TEST(PrintModule, OwnText) {
  struct Scale : nn::Module {
    nn::Identity inner;
    void fields(nn::Fields& f) override { f("inner", inner); }
    std::string extra_repr() const override { return "factor=2"; }
  };
  EXPECT_EQ(shown(Scale()), "Scale(\n  factor=2\n  (inner): Identity()\n)");
}

}  // namespace
}  // namespace tandem::testing
