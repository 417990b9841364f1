// Every operation's struct (tests/cases) with thousands of ones that meet at one place, in both half types, on every device.
#include "cases/check.h"
#include "support/on_device.h"

namespace td = tandem;

namespace {

using td::cases::Findings;
using td::cases::Operation;

std::string lines(const Findings& findings) {
  std::string out;
  for (const std::string& finding : findings) out += "\n  " + finding;
  return out;
}

class Ones : public testing::TestWithParam<std::tuple<std::string, const char*>> {};

TEST_P(Ones, AreCountedAsInFloat64) {
  const auto& [name, device] = GetParam();
  const Operation* operation = td::cases::find_operation(name);
  ASSERT_NE(operation, nullptr);
  const Findings findings = td::cases::check_ones(*operation, td::Device(device));
  EXPECT_TRUE(findings.empty()) << lines(findings);
}

std::vector<std::string> names() {
  std::vector<std::string> out;
  for (const Operation& operation : td::cases::operations()) out.push_back(operation.name);
  return out;
}

INSTANTIATE_TEST_SUITE_P(Operations, Ones, testing::Combine(testing::ValuesIn(names()), testing::Values("cpu", "cuda:0")),
                         [](const auto& info) {
                           std::string name = std::get<0>(info.param) + "_on_" + std::get<1>(info.param);
                           for (char& c : name)
                             if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
                           return name;
                         });

TEST(OnesList, EveryOperationSaysHowManyElementsMeet) {
  for (const Operation& operation : td::cases::operations())
    EXPECT_FALSE(td::cases::samples_of_many(operation).empty())
        << operation.name << " has neither `many` nor `bench`: add `many`, or say sums = false where no two elements meet";
}

}  // namespace
