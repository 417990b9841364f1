// Kernel tests on each instruction set in turn.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "kernels/cpu/instruction_set.h"

namespace tandem::kernels::testing {

/// Runs the test once for each instruction set that the processor has.
class EverySet : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (!cpu::use_isa(GetParam())) GTEST_SKIP() << "this processor has no " << GetParam();
  }
  void TearDown() override { cpu::use_isa(before_); }

 private:
  const char* const before_ = cpu::isa().name;
};
inline std::string set_name(const ::testing::TestParamInfo<const char*>& info) { return info.param; }
#define TD_EVERY_SET(suite) \
  INSTANTIATE_TEST_SUITE_P(Set, suite, ::testing::Values("baseline", "avx2", "avx512"), tandem::kernels::testing::set_name)

}  // namespace tandem::kernels::testing
