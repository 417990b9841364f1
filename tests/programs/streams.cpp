// env: TANDEM_VIRTUAL_GPUS=2x512MiB
// Work on a device is asynchronous; streams run side by side; events order them.
#include <tandem/tandem.h>

#include "check.h"

namespace td = tandem;

int main() {
  const auto device = td::gpu(0);
  // Streams and events.
  td::cuda::Stream side(device);
  td::cuda::Event ready, finished({.enable_timing = true}), began({.enable_timing = true});
  auto a = td::randn({500, 500}, device);
  ready.record();
  td::Tensor b;
  {
    td::cuda::StreamGuard guard(side);
    CHECK(td::cuda::current_stream(device) == side);
    side.wait_event(ready);
    began.record();
    b = td::matmul(a, a);
    finished.record();
  }
  CHECK(td::cuda::current_stream(device) == td::cuda::default_stream(device));
  td::cuda::current_stream(device).wait_stream(side);
  auto c = b + 1;
  CHECK(td::allclose(c.cpu(), td::matmul(a.cpu(), a.cpu()) + 1, 1e-3, 1e-3));
  side.synchronize();
  CHECK(side.query() && finished.query());
  CHECK(began.elapsed_time(finished) > 0);

  // An event binds when it is waited for; a later record does not move it.
  // Thirty-two streams, then the first again.
  std::vector<td::cuda::Stream> pool;
  for (int i = 0; i < 33; ++i) pool.emplace_back(td::gpu(1));
  CHECK(pool[32] == pool[0] && pool[1] != pool[0]);

  // A block freed on one stream while another uses it is not given away early.
  for (int round = 0; round < 50; ++round) {
    td::Tensor result;
    {
      auto temporary = td::full({64, 1024}, 1.0 * round, device);
      ready.record();
      td::cuda::StreamGuard guard(side);
      side.wait_event(ready);
      result = temporary * 2;
      temporary.record_stream(side);
    }
    auto noise = td::full({64, 1024}, -1.0, device);
    side.synchronize();
    if (result.max().item<float>() != 2.f * round || result.min().item<float>() != 2.f * round) {
      CHECK(false && "memory reused while in use");
      break;
    }
  }

  // An error in the middle of asynchronous work arrives at the next synchronisation, once, and names the operation.
  auto table = td::randn({10, 4}, device);
  auto bad = td::embedding(td::tensor({3, 99}, device), table);
  CHECK_ERROR(td::cuda::synchronize(device), td::Error, "embedding");
  return finish();
}
