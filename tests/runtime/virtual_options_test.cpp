// The grammar of TANDEM_VIRTUAL_GPUS.
#include <gtest/gtest.h>

#include <string>

#include "base/error.h"
#include "runtime/virtual/options.h"

namespace tandem::runtime::virtual_gpu {
namespace {

constexpr size_t kMiB = size_t{1} << 20;

Options parse(std::string_view text) { return parse_options(text, "TANDEM_VIRTUAL_GPUS"); }
std::string error(std::string_view text) {
  try {
    (void)parse(text);
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

TEST(VirtualOptions, CountAlone) {
  const Options options = parse("2");
  EXPECT_EQ(options.count, 2);
  EXPECT_EQ(options.memory, default_memory(2));
  EXPECT_EQ(options.link, 0);
  EXPECT_EQ(options.latency_ns, 0);
  EXPECT_FALSE(options.delay_seed.has_value());
  EXPECT_TRUE(options.peer);
  EXPECT_EQ(parse("0").count, 0);
}

TEST(VirtualOptions, DefaultMemoryIsAShareOfTheMachine) {
  EXPECT_LE(default_memory(1), size_t{16} << 30);
  EXPECT_GE(default_memory(1), default_memory(4));
  EXPECT_EQ(default_memory(3) % (2 * kMiB), 0U);
  EXPECT_GT(default_memory(0), 0U);
}

TEST(VirtualOptions, Memory) {
  EXPECT_EQ(parse("2x256MiB").memory, 256 * kMiB);
  EXPECT_EQ(parse("1x16GiB").memory, size_t{16} << 30);
  EXPECT_EQ(parse("1x1.5GiB").memory, 1536 * kMiB);
  EXPECT_EQ(parse("1x3GB").memory, 3000000000U);
  EXPECT_EQ(parse("1x4194304B").memory, 4 * kMiB);
}

TEST(VirtualOptions, Everything) {
  const Options options = parse("2x16GiB,link=25GB/s,latency=10us,delay_seed=7,peer=off");
  EXPECT_EQ(options.count, 2);
  EXPECT_EQ(options.link, 25e9);
  EXPECT_EQ(options.latency_ns, 10000);
  EXPECT_EQ(options.delay_seed, 7U);
  EXPECT_FALSE(options.peer);
  EXPECT_TRUE(parse("2,peer=on").peer);
  EXPECT_EQ(parse("2,latency=0.5ms").latency_ns, 500000);
}

TEST(VirtualOptions, WrongOnesAreErrorsThatShowTheGrammar) {
  for (const char* text : {"",
                           "x",
                           "two",
                           "-1",
                           "65",
                           "2x",
                           "2x256",
                           "2x256mib",
                           "2x1MiB",
                           "2 x256MiB",
                           "2x256MiB,",
                           "2,link",
                           "2,link=25",
                           "2,link=0GB/s",
                           "2,latency=10",
                           "2,delay_seed=",
                           "2,delay_seed=-1",
                           "2,delay_seed=x",
                           "2,peer=maybe",
                           "2,speed=1GB/s",
                           "2,peer=on,peer=off",
                           "2x99999999999TiB",
                           "2x-5GiB"}) {
    const std::string message = error(text);
    EXPECT_NE(message.find("TANDEM_VIRTUAL_GPUS='" + std::string(text) + "'"), std::string::npos) << text << ": " << message;
    EXPECT_NE(message.find("expected COUNT[xMEMORY][,link=SPEED]"), std::string::npos) << text << ": " << message;
  }
  EXPECT_NE(error("2,speed=1GB/s").find("'speed=1GB/s' is no option"), std::string::npos);
}

}  // namespace
}  // namespace tandem::runtime::virtual_gpu
