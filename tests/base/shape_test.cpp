// Shapes: what lies inside and what on the heap must behave alike.
#include "base/shape.h"

#include <gtest/gtest.h>

#include <random>
#include <sstream>
#include <vector>

#include "base/error.h"

namespace tandem {
namespace {

Shape counting(size_t count) {
  Shape out;
  for (size_t i = 0; i < count; ++i) out.push_back(static_cast<int64_t>(i) + 1);
  return out;
}

TEST(Shape, HoldsAnyNumberOfValues) {
  for (size_t count = 0; count < 40; ++count) {
    const Shape shape = counting(count);
    ASSERT_EQ(shape.size(), count);
    EXPECT_EQ(shape.empty(), count == 0);
    for (size_t i = 0; i < count; ++i) EXPECT_EQ(shape[i], static_cast<int64_t>(i) + 1);
    const Shape copy = shape;
    EXPECT_EQ(copy, shape);
    Shape moved = Shape(copy);
    EXPECT_EQ(moved, shape);
    const Shape taken = std::move(moved);
    EXPECT_EQ(taken, shape);
  }
}

TEST(Shape, AssignsBetweenAllLengths) {
  for (const size_t from : {0, 1, 6, 7, 16, 17, 30}) {
    for (const size_t to : {0, 1, 6, 7, 16, 17, 30}) {
      Shape target = counting(to);
      const Shape source = counting(from);
      target = source;
      EXPECT_EQ(target, source);
      target.push_back(99);
      EXPECT_EQ(target.size(), from + 1);
      EXPECT_EQ(target.back(), 99);
      Shape second = counting(to);
      second = std::move(target);
      EXPECT_EQ(second.size(), from + 1);
      const Shape& itself = second;
      second = itself;
      EXPECT_EQ(second.back(), 99);
    }
  }
}

TEST(Shape, FollowsAVectorThroughRandomChanges) {
  std::mt19937 random(3);
  Shape shape;
  std::vector<int64_t> model;
  for (int step = 0; step < 20000; ++step) {
    const auto value = static_cast<int64_t>(random());
    const size_t at = model.empty() ? 0 : random() % model.size();
    switch (random() % 5) {
      case 0:
        shape.push_back(value);
        model.push_back(value);
        break;
      case 1:
        shape.insert(at, value);
        model.insert(model.begin() + static_cast<ptrdiff_t>(at), value);
        break;
      case 2:
        if (model.empty()) break;
        shape.erase(at);
        model.erase(model.begin() + static_cast<ptrdiff_t>(at));
        break;
      case 3: {
        const size_t count = random() % 25;
        const size_t old = model.size();
        shape.resize(count);
        model.resize(count);
        for (size_t i = old; i < count; ++i) shape[i] = 0;
        break;
      }
      default:
        if (!model.empty()) shape[at] = model[at] = value;
    }
    ASSERT_EQ(std::vector<int64_t>(shape.begin(), shape.end()), model);
  }
}

TEST(Shape, ComparesByValue) {
  EXPECT_EQ((Shape{2, 3}), (Shape{2, 3}));
  EXPECT_NE((Shape{2, 3}), (Shape{3, 2}));
  EXPECT_NE((Shape{2, 3}), (Shape{2, 3, 1}));
  EXPECT_EQ(Shape{}, Shape(std::vector<int64_t>{}));
}

TEST(Shape, CountsItsElements) {
  EXPECT_EQ(Shape{}.numel(), 1);
  EXPECT_EQ((Shape{2, 3, 4}).numel(), 24);
  EXPECT_EQ((Shape{2, 0, 4}).numel(), 0);
}

TEST(Shape, PrintsAsAList) {
  std::ostringstream out;
  out << Shape{} << Shape{2} << Shape{2, 3};
  EXPECT_EQ(out.str(), "[][2][2, 3]");
  EXPECT_EQ(str("shape ", Shape{-1, 4}), "shape [-1, 4]");
}

}  // namespace
}  // namespace tandem
