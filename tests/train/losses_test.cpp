// How far the host runs ahead of a GPU, and which batches are told of as done.
#include "train/losses.h"

#include <gtest/gtest.h>

#include "ops/creation.h"

namespace tandem {
namespace {

using train::Losses;
using train::Pace;

TEST(TrainLosses, CountABatchAsDoneWhenItsLossIsThere) {
  Losses losses(Device("cuda:0"), 2);
  losses.add(0, full({}, 3, "cuda:0"), 0, Site::here());
  EXPECT_EQ(losses.added(), 1);
  EXPECT_EQ(losses.done(), 0);
  EXPECT_TRUE(losses.wait(0, Site::here()));
  EXPECT_EQ(losses.done(), 1);
  EXPECT_EQ(losses.running(), 3);
  EXPECT_FALSE(losses.wait(0, Site::here()));
  EXPECT_EQ(losses.done(), 1);
}

TEST(TrainLosses, KeepTheHostNearTheGpu) {
  constexpr int kBatches = 100;
  Losses losses(Device("cuda:0"), kBatches);
  for (int i = 0; i < kBatches; ++i) {
    losses.add(i, full({}, i, "cuda:0"), 0, Site::here());
    EXPECT_LE(losses.added() - losses.done(), i == 0 ? 1 : Pace::kAhead);
  }
  losses.finish(0, Site::here());
  EXPECT_EQ(losses.done(), kBatches);
  EXPECT_EQ(losses.halves()[0].batches, kBatches / 2);
  EXPECT_EQ(losses.halves()[0].value(), 24.5);
  EXPECT_EQ(losses.halves()[1].value(), 74.5);
}

TEST(TrainLosses, AreThereAtOnceOnTheCpu) {
  Losses losses(Device(), 2);
  losses.add(0, full({}, 3, Device()), 0, Site::here());
  EXPECT_EQ(losses.done(), 1);
}

}  // namespace
}  // namespace tandem
