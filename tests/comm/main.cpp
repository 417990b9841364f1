// Eight virtual GPUs, so that there are as many as ranks, or what --gpus asks for. A process of a test begins here too.
#include <gtest/gtest.h>

#include <string_view>

#include "comm/processes.h"
#include "runtime/device.h"

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  std::string_view gpus = "8x64MiB";
  for (int i = 1; i + 1 < argc; ++i)
    if (std::string_view(argv[i]) == "--gpus") gpus = argv[i + 1];
  tandem::cuda::use_virtual_gpus(gpus);
  if (argc > 2 && std::string_view(argv[1]) == "--rank") return run_as_rank(argc, argv);
  return RUN_ALL_TESTS();
}
