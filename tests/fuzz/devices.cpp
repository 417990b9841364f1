// Texts that name devices: the grammar of TANDEM_VIRTUAL_GPUS, "cuda:1", and CUDA_VISIBLE_DEVICES.
#include <algorithm>
#include <array>

#include "fuzz.h"
#include "runtime/device.h"
#include "runtime/stream_record.h"
#include "runtime/virtual/options.h"
#include "runtime/visible_devices.h"

void fuzz::read(std::string_view text) {
  using namespace tandem;
  succeeds([&] {
    const auto options = runtime::virtual_gpu::parse_options(text, "FUZZ");
    expect(options.count >= 0 && options.count <= runtime::kMaxDevices && options.memory >= size_t{2} << 20 && options.link >= 0 &&
               options.latency_ns >= 0,
           "virtual GPUs that cannot be");
  });
  succeeds([&] {
    const Device device(text);
    expect(Device(device.str()) == device, "a device whose name is another device's");
  });
  static const std::array<std::string, 3> kUuids = {"3f00", "3f01", "77aa"};
  std::vector<int> gpus = runtime::visible_devices(text, kUuids);
  std::sort(gpus.begin(), gpus.end());
  expect(std::adjacent_find(gpus.begin(), gpus.end()) == gpus.end(), "a GPU that is visible twice");
  expect(gpus.empty() || (gpus.front() >= 0 && gpus.back() < static_cast<int>(kUuids.size())), "a visible GPU that does not exist");
}
