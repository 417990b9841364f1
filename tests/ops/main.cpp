// The tests of operations, on the kernels that TANDEM_VIRTUAL_KERNELS names.
#include <gtest/gtest.h>

#include "support/virtual_kernels.h"

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (const int code = tandem::testing::use_kernels_of_environment()) return code;
  return RUN_ALL_TESTS();
}
