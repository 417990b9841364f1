// CUDA_VISIBLE_DEVICES, case by case as PyTorch reads it.
#include "runtime/visible_devices.h"

#include <gtest/gtest.h>

#include "runtime/virtual/driver.h"

namespace tandem::runtime {
namespace {

std::vector<int> of(std::optional<std::string_view> value, int count = 8) {
  std::vector<std::string> uuids;
  for (int i = 0; i < count; ++i) uuids.push_back(virtual_gpu::uuid_of(i));
  return visible_devices(value, uuids);
}
using List = std::vector<int>;

TEST(VisibleDevices, AllWhereNotSetNoneWhereEmpty) {
  EXPECT_EQ(of(std::nullopt, 3), (List{0, 1, 2}));
  EXPECT_EQ(of("", 3), List{});
  EXPECT_EQ(of("-1", 3), List{});
}

TEST(VisibleDevices, ReadsNumbersAsStrtoulDoes) {
  EXPECT_EQ(of("1gpu2,2ampere"), (List{1, 2}));
  EXPECT_EQ(of("0, 1, 2, -1, 3"), (List{0, 1, 2}));
  EXPECT_EQ(of("2, +3, -0, 5"), (List{2, 3, 0, 5}));
  EXPECT_EQ(of("one,two,3,4"), List{});
  EXPECT_EQ(of("4,3,two,one"), (List{4, 3}));
  EXPECT_EQ(of("+,1"), List{});
}

TEST(VisibleDevices, AGpuNamedTwiceEmptiesTheList) {
  EXPECT_EQ(of("0, 1, 2, 1"), List{});
  EXPECT_EQ(of("0,9,0", 2), List{});
}

TEST(VisibleDevices, AGpuThatDoesNotExistEndsTheList) {
  EXPECT_EQ(of("1, 5, 0", 2), List{1});
  EXPECT_EQ(of("0,99999999999999999999,1", 2), List{0});
}

TEST(VisibleDevices, FindsGpusByPrefixOfTheirUuid) {
  const std::vector<std::string> uuids = {"aa11-x", "aa22-y", "bb33-z"};
  EXPECT_EQ(visible_devices("GPU-bb,GPU-aa1", uuids), (List{2, 0}));
  EXPECT_EQ(visible_devices("GPU-aa", uuids), List{});                  // ambiguous
  EXPECT_EQ(visible_devices("GPU-bb,GPU-aa,GPU-aa1", uuids), List{2});  // ends there
  EXPECT_EQ(visible_devices("GPU-bb,GPU-cc,GPU-aa1", uuids), List{2});  // unknown
  EXPECT_EQ(visible_devices("GPU-bb,GPU-bb33", uuids), List{});         // the same GPU twice
  EXPECT_EQ(visible_devices("GPU-bb,GPU-bb", uuids), List{});
  EXPECT_EQ(visible_devices("GPU-bb,1", uuids), List{2});
}

TEST(VisibleDevices, VirtualGpusHaveUuidsOfTheirOwnThatNeverChange) {
  EXPECT_EQ(virtual_gpu::uuid_of(3), virtual_gpu::uuid_of(3));
  EXPECT_NE(virtual_gpu::uuid_of(0), virtual_gpu::uuid_of(1));
  EXPECT_EQ(virtual_gpu::uuid_of(0).size(), 36U);
  for (int i = 0; i < 8; ++i) EXPECT_EQ(of("GPU-" + virtual_gpu::uuid_of(i).substr(0, 8)), List{i});
}

TEST(VisibleDevices, TheDriverShowsTheChosenGpusInOrder) {
  const std::vector<int> chosen = {2, 0};
  const virtual_gpu::VirtualDriver driver(virtual_gpu::parse_options("3x4MiB", "test"), chosen);
  ASSERT_EQ(driver.device_count(), 2);
  EXPECT_EQ(driver.properties(0).uuid, virtual_gpu::uuid_of(2));
  EXPECT_EQ(driver.properties(1).uuid, virtual_gpu::uuid_of(0));
}

}  // namespace
}  // namespace tandem::runtime
