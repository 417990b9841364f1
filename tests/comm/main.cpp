// Eight virtual GPUs, so that there are as many as ranks, with the options that TANDEM_VIRTUAL_GPUS has behind its count. A process of a
// test begins here too.
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "base/env.h"
#include "comm/processes.h"
#include "runtime/device.h"

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  const std::string asked = tandem::environment("TANDEM_VIRTUAL_GPUS").value_or("");
  const size_t options = asked.find(',');
  tandem::cuda::use_virtual_gpus("8x64MiB" + (options == std::string::npos ? "" : asked.substr(options)));
  if (argc > 2 && std::string_view(argv[1]) == "--rank") return run_as_rank(argc, argv);
  return RUN_ALL_TESTS();
}
