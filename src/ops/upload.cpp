#include "ops/upload.h"

#include <algorithm>

#include "ops/creation.h"
#include "runtime/capture.h"
#include "runtime/tracer.h"

namespace tandem::ops {

Tensor uploaded(std::span<const int64_t> words, Device device, Site site) {
  const Tensor host = empty({static_cast<int64_t>(words.size())}, {.dtype = kInt64, .pin_memory = device.is_cuda()}, site);
  std::copy(words.begin(), words.end(), static_cast<int64_t*>(host.impl().data));
  if (runtime::Tracer* const tracer = runtime::tracer()) tracer->wrote(host.impl().data);
  if (device.is_cpu()) return host;
  if (runtime::Capture* const capture = runtime::capture_of_current_stream(device))
    capture->uses.emplace_back([host](const cuda::Stream& stream) { host.record_stream(stream); });
  return host.to(device, {.non_blocking = true}, site);
}

}  // namespace tandem::ops
