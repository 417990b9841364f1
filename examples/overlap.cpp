// Computing on a GPU while earlier results are on their way to the host, as the chapter "Automatic Parallelism" of "Dive into Deep
// Learning" does. Products and copies one after the other take the sum of their times; side by side, on two streams, the longer of them.
//   overlap [PRODUCTS [SIZE]]     on a virtual GPU with a slow link: TANDEM_VIRTUAL_GPUS=1,link=1GB/s overlap
#include <tandem/tandem.h>

#include <chrono>
#include <cstdlib>
#include <functional>
#include <iomanip>
#include <iostream>

namespace td = tandem;

/// Milliseconds until all that `work` queues on the GPU is done.
double milliseconds(const std::function<void()>& work) {
  td::cuda::synchronize();
  const auto start = std::chrono::steady_clock::now();
  work();
  td::cuda::synchronize();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

int main(int argc, char** argv) {
  if (td::num_gpus() == 0) {
    std::cout << "overlap needs a GPU; a virtual one does: TANDEM_VIRTUAL_GPUS=1,link=1GB/s\n";
    return 0;
  }
  const int products = argc > 1 ? std::atoi(argv[1]) : 50;
  const int64_t size = argc > 2 ? std::atoll(argv[2]) : 1000;
  const auto x = td::randn({size, size}, td::gpu(0));
  std::vector<td::Tensor> results(products), copies(products);

  const auto run = [&] {
    for (auto& result : results) result = td::matmul(x, x);
  };
  // Into page-locked memory, and without waiting; which of them are there is known after a synchronization.
  const auto copy = [&](int i) { copies[i] = results[i].to(td::cpu(), {.non_blocking = true}); };
  const auto copy_all = [&] {
    for (int i = 0; i < products; ++i) copy(i);
  };
  const td::cuda::Stream copying;
  const auto run_and_copy_side_by_side = [&] {
    for (int i = 0; i < products; ++i) {
      results[i] = td::matmul(x, x);
      td::cuda::Event computed;
      computed.record();
      const td::cuda::StreamGuard guard(copying);
      copying.wait_event(computed);
      copy(i);
    }
  };

  run();  // warms up: memory is there from now on
  copy_all();
  run_and_copy_side_by_side();
  const double running = milliseconds(run), copying_alone = milliseconds(copy_all);
  const double in_turn = milliseconds([&] {
    run();
    copy_all();
  });
  const double side_by_side = milliseconds(run_and_copy_side_by_side);
  std::cout << std::fixed << std::setprecision(1) << products << " products of " << size << " x " << size << " matrices\n"
            << "computing:                      " << running << " ms\n"
            << "copying the results to the host: " << copying_alone << " ms\n"
            << "one after the other:            " << in_turn << " ms\n"
            << "side by side:                   " << side_by_side << " ms\n"
            << "the copies are " << (td::equal(copies.back(), results.back().cpu()) ? "right" : "wrong") << "\n";
}
