// The process's own GPUs: those of TANDEM_VIRTUAL_GPUS, else two small virtual ones.
#pragma once

#include <gtest/gtest.h>

#include "base/env.h"
#include "base/error.h"
#include "runtime/device.h"

namespace tandem::testing {

/// Base of tests that use the public interface. They need two virtual GPUs.
struct ProcessGpus : ::testing::Test {
  static void SetUpTestSuite() {
    static const bool once = [] {
      if (!environment("TANDEM_VIRTUAL_GPUS")) cuda::use_virtual_gpus("2x64MiB");
      return true;
    }();
    (void)once;
  }
  void SetUp() override { ASSERT_GE(num_gpus(), 2) << "run with TANDEM_VIRTUAL_GPUS=2x256MiB"; }
};

}  // namespace tandem::testing
