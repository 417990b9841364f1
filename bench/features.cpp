// The copies to the device and back are inside the timing: who asks for features has the pictures on the host, and wants the features
// there.
#include "bench/features.h"

#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>

#include "bench/measure.h"
#include "tandem.h"
#include "tools/command.h"

namespace tandem::bench {

using tools::device_named;

int bench_features(const BenchFeaturesOptions& options) {
  const Device device = device_named("features", options.device);
  if (options.threads > 0) set_num_threads(options.threads);
  const NoGradGuard no_grad;
  manual_seed(0);
  auto net = models::resnet50({.num_classes = 0});
  net.to(device);
  net.eval();
  const Tensor pictures = rand({options.batch, 3, options.size, options.size}, {.pin_memory = device.is_cuda()});
  const Measured time = measure("resnet50", options.ms, [&] { (void)net(pictures.to(device)).cpu(); });
  const int64_t multiply_adds = nn::summary(net, pictures.narrow(0, 0, 1).to(device)).multiply_adds;
  const double per_second = static_cast<double>(options.batch) * 1e9 / time.ns;
  const double gflops = 2 * static_cast<double>(multiply_adds * options.batch) / time.ns;
  if (options.json) {
    std::cout << nlohmann::ordered_json{{"library", "tandem"},
                                        {"device", device.str()},
                                        {"threads", get_num_threads()},
                                        {"network", time.name},
                                        {"batch", options.batch},
                                        {"size", options.size},
                                        {"ns", time.ns},
                                        {"best_ns", time.best_ns},
                                        {"batches", time.batches},
                                        {"pictures_per_s", per_second},
                                        {"multiply_adds", multiply_adds},
                                        {"gflops", gflops}}
                     .dump(1)
              << "\n";
    return 0;
  }
  char line[200];
  std::snprintf(line, sizeof line, "%lld pictures of 3x%lldx%lld to features on %s and back: %s   %.1f pictures/s   %.1f GFLOP/s",
                static_cast<long long>(options.batch), static_cast<long long>(options.size), static_cast<long long>(options.size),
                device.str().c_str(), readable(time.ns).c_str(), per_second, gflops);
  std::cout << line << std::endl;
  return 0;
}

}  // namespace tandem::bench
