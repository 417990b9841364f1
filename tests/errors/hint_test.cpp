// What to do about an error, apart from what went wrong, and in the words of the language.
#include <gtest/gtest.h>

#include "tandem.h"

namespace td = tandem;

namespace {

TEST(Hints, AreTheLastPartOfTheMessage) {
  try {
    td::fail<td::ValueError>("[f] 3 is odd: ", td::Hint("pass {.even = true}", "pass even=True"));
    FAIL();
  } catch (const td::ValueError& error) {
    EXPECT_EQ(error.message(), "[f] 3 is odd: pass {.even = true}");
    EXPECT_EQ(error.message(td::Language::Python), "[f] 3 is odd: pass even=True");
    EXPECT_EQ(error.hint(), "pass {.even = true}");
    EXPECT_EQ(error.hint(td::Language::Python), "pass even=True");
    EXPECT_EQ(std::string(error.what()).find("[f] 3 is odd: pass {.even = true}"), 0U);
  }
}

TEST(Hints, AreEmptyWhereAMessageHasNone) {
  try {
    td::fail("[f] 3 is odd");
    FAIL();
  } catch (const td::Error& error) {
    EXPECT_EQ(error.hint(), "");
    EXPECT_EQ(error.message(td::Language::Python), "[f] 3 is odd");
  }
}

TEST(Hints, StayWhereALayerIsNamedBehindThem) {
  struct Net : td::nn::Module {
    td::nn::Linear fc{2, 2};
    void fields(td::nn::Fields& f) override { f("fc", fc); }
    td::Tensor forward(const td::Tensor& x) override {
      fc.weight.add_(1);  // a leaf
      return fc(x);
    }
  };
  Net net;
  try {
    (void)net(td::ones({1, 2}));
    FAIL();
  } catch (const td::Error& error) {
    EXPECT_EQ(error.hint(), "change it inside a NoGradGuard, or work on a clone()");
    EXPECT_EQ(error.hint(td::Language::Python), "change it inside of no_grad(), or work on a clone()");
    const std::string text = error.message(td::Language::Python);
    EXPECT_TRUE(text.ends_with("inside of no_grad(), or work on a clone()")) << text;
  }
}

}  // namespace
