// Every operation's struct (tests/cases) on every device: values, dtypes, layouts, gradients of both orders, memory.
#include <algorithm>

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

class Cases : public testing::TestWithParam<std::tuple<std::string, const char*>> {
 protected:
  /// Runs one check. A kernel that a real GPU has not got yet skips it; everywhere else that is a failure too.
  static void expect_clean(Findings (*check)(const Operation&, td::Device)) {
    const auto& [name, device] = GetParam();
    const Operation* operation = td::cases::find_operation(name);
    ASSERT_NE(operation, nullptr);
    try {
      const Findings findings = check(*operation, td::Device(device));
      EXPECT_TRUE(findings.empty()) << lines(findings);
    } catch (const td::NotImplementedError& error) {
      const td::Device where(device);
      if (where.is_cpu() || td::cuda::get_device_properties(where).is_virtual) FAIL() << error.what();
      GTEST_SKIP() << error.what();
    }
  }
};

TEST_P(Cases, Values) { expect_clean(td::cases::check_values); }
TEST_P(Cases, DTypes) { expect_clean(td::cases::check_dtypes); }
TEST_P(Cases, Layouts) { expect_clean(td::cases::check_layouts); }
TEST_P(Cases, Gradients) { expect_clean(td::cases::check_gradients); }
TEST_P(Cases, SecondGradients) { expect_clean(td::cases::check_second_gradients); }
TEST_P(Cases, Memory) { expect_clean(td::cases::check_memory); }

std::vector<std::string> names() {
  std::vector<std::string> out;
  for (const Operation& operation : td::cases::operations()) out.push_back(operation.name);
  return out;
}

INSTANTIATE_TEST_SUITE_P(Operations, Cases, testing::Combine(testing::ValuesIn(names()), testing::Values("cpu", "cuda:0")),
                         [](const auto& info) {
                           std::string name = std::get<0>(info.param) + "_on_" + std::get<1>(info.param);
                           for (char& c : name)
                             if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
                           return name;
                         });

TEST(CasesList, EveryRowOfThePointwiseListHasAReference) {
  EXPECT_EQ(lines(td::cases::pointwise_without_reference()), "") << "give each a line in `references` of tests/cases/pointwise.cpp";
}

TEST(CasesList, NamesAreUnique) {
  auto all = names();
  std::sort(all.begin(), all.end());
  EXPECT_EQ(std::adjacent_find(all.begin(), all.end()), all.end());
}

TEST(CasesList, EveryStructHasAnEmptyAndAZeroDimInput) {
  for (const Operation& operation : td::cases::operations()) {
    const Findings findings = td::cases::check_coverage(operation);
    EXPECT_TRUE(findings.empty()) << lines(findings);
  }
}

// The checks themselves find what they are for.
Operation broken() { return *td::cases::find_operation("exp"); }

TEST(CasesChecks, FindAWrongValue) {
  Operation bad = broken();
  bad.run = [](const td::cases::Arguments& in) { return in[0].as<td::Tensor>() + 1; };
  bad.in_place = {};
  EXPECT_FALSE(td::cases::check_values(bad, td::cpu()).empty());
  EXPECT_FALSE(td::cases::check_dtypes(bad, td::cpu()).empty());
  EXPECT_FALSE(td::cases::check_layouts(bad, td::cpu()).empty());
}

TEST(CasesChecks, FindAWrongGradient) {
  Operation bad = broken();
  bad.run = [](const td::cases::Arguments& in) {
    const td::Tensor y = td::exp(in[0].as<td::Tensor>());
    return y * 0.5 + y.detach() * 0.5;  // the right value, half the gradient
  };
  EXPECT_TRUE(td::cases::check_values(bad, td::cpu()).empty());
  EXPECT_FALSE(td::cases::check_gradients(bad, td::cpu()).empty());
  bad.run = [](const td::cases::Arguments& in) {
    const td::Tensor x = in[0].as<td::Tensor>(), y = td::exp(x).detach();
    return y + y * (x - x.detach());  // the right value and gradient, none of second order
  };
  EXPECT_TRUE(td::cases::check_gradients(bad, td::cpu()).empty());
  EXPECT_FALSE(td::cases::check_second_gradients(bad, td::cpu()).empty());
}

class CasesMemory : public OnDevice {};
TEST_P(CasesMemory, FindsWhatIsLeftUnwrittenAndWhatIsWrittenOutside) {
  Operation bad = broken();
  bad.gradient = false;
  bad.run = [](const td::cases::Arguments& in) { return td::empty_like(in[0].as<td::Tensor>()); };
  EXPECT_FALSE(td::cases::check_memory(bad, device()).empty());
  bad.run = [](const td::cases::Arguments& in) {
    const td::Tensor x = in[0].as<td::Tensor>(), y = td::exp(x);
    if (y.numel() == 0) return y;
    // One element past the end, through a view that as_strided would refuse.
    td::TensorImpl& impl = y.impl();
    const td::Tensor past(td::TensorImpl::view(impl.storage, {1}, {1}, impl.numel, impl.dtype));
    past.fill_(1);
    return y;
  };
  EXPECT_FALSE(td::cases::check_memory(bad, device()).empty());
}
INSTANTIATE_TEST_SUITE_P(Devices, CasesMemory, testing::Values("cpu", "cuda:0"), device_name);

}  // namespace
