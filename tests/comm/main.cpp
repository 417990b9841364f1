// Eight virtual GPUs, so that there are as many as ranks.
#include <gtest/gtest.h>

#include "runtime/device.h"

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  tandem::cuda::use_virtual_gpus("8x64MiB");
  return RUN_ALL_TESTS();
}
