// What bindings to other languages need of tensors: an object that stands for one, and memory that somebody else lets go of.
#include <vector>

#include "support/on_device.h"
#include "tandem.h"

namespace td = tandem;

namespace {

std::vector<void*> ended;

TEST(Wrapper, ATensorThatKeepsItsObjectSaysWhenItEnds) {
  td::detail::wrapper_ended.store([](void* object) { ended.push_back(object); });
  ended.clear();
  int object = 0;
  {
    const auto x = td::ones({2});
    x.impl().wrapper = {&object, true};
    const auto copy = x;
    const auto view = x.view({1, 2});
    EXPECT_EQ(view.impl().wrapper.object, nullptr);
    EXPECT_EQ(copy.impl().wrapper.object, &object);
    EXPECT_TRUE(ended.empty());
  }
  EXPECT_EQ(ended, std::vector<void*>{&object});
  ended.clear();
  {
    const auto x = td::ones({2});
    x.impl().wrapper = {&object, false};  // the object holds the tensor
  }
  EXPECT_TRUE(ended.empty());
}

class FromBlob : public OnDevice {};

TEST_P(FromBlob, LetsGoOnceNothingUsesTheMemory) {
  const auto owner = td::ones({6}, device());
  int calls = 0;
  void* let_go = nullptr;
  {
    td::Tensor view;
    {
      const auto x = td::from_blob(owner.data_ptr(), {2, 3},
                                   [&](void* data) {
                                     ++calls;
                                     let_go = data;
                                   },
                                   {.device = device()});
      EXPECT_EQ(x.sum().item<float>(), 6);
      view = x[0];
    }
    EXPECT_EQ(calls, 0);
    view.fill_(2);
  }
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(let_go, owner.data_ptr());
  EXPECT_EQ(owner.sum().item<float>(), 9);
}

TEST_P(FromBlob, TakesStrides) {
  const auto owner = td::arange(6, td::Options{.dtype = td::kFloat32, .device = device()});
  const td::Options there{.device = device()};
  const auto x = td::from_blob(owner.data_ptr(), {3, 2}, {1, 3}, nullptr, there);
  EXPECT_FALSE(x.is_contiguous());
  EXPECT_TRUE(td::equal(x, owner.view({2, 3}).t()));
  const auto broadcast = td::from_blob(owner.data_ptr(), {4, 2}, {0, 1}, nullptr, there);
  EXPECT_EQ(broadcast.sum().item<float>(), 4);
}

TEST_P(FromBlob, RefusesWhatCannotBeAndKeepsTheMemory) {
  const auto owner = td::ones({6}, device());
  int calls = 0;
  const auto count = [&](void*) { ++calls; };
  const td::Options there{.device = device()};
  EXPECT_THROW((void)td::from_blob(owner.data_ptr(), {3, 2}, {1}, count, there), td::Error);
  EXPECT_THROW((void)td::from_blob(owner.data_ptr(), {3}, {-1}, count, there), td::Error);
  td::Options integers{.dtype = td::kInt64, .device = device(), .requires_grad = true};
  EXPECT_THROW((void)td::from_blob(owner.data_ptr(), {3}, {1}, count, integers), td::Error);
  EXPECT_EQ(calls, 0);
}

INSTANTIATE_TEST_SUITE_P(Devices, FromBlob, testing::Values("cpu", "cuda:0"), device_name);

}  // namespace
