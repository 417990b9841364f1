// env: TANDEM_VIRTUAL_GPUS=1x64MiB
// main returns while another thread saves tensors of a GPU whose values are still being computed: a file is complete and right, or the
// thread is told and there is none.
#include <tandem/tandem.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "runtime/driver.h"
#include "runtime/stream_record.h"

namespace td = tandem;

namespace {

std::thread saver;
std::atomic<bool> ending{false};

void save() {
  const auto stream = td::cuda::default_stream(td::gpu(0));
  const auto old = td::ones({1000}, td::gpu(0));
  stream.synchronize();
  // Keeps the GPU busy until main has returned.
  td::runtime::require_driver().host_function(
      stream.record()->handle,
      [](void*) {
        while (!ending) std::this_thread::yield();
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
      },
      nullptr);
  try {
    const auto x = old * 3;
    for (int i = 0; i < 3; ++i) td::io::save_npy("x.npy", x);
  } catch (const td::Error& error) {
    std::printf("told: %s\n", error.what());
    if (std::filesystem::exists("x.npy")) std::_Exit(4);
    return;
  }
  if (!td::equal(td::io::load_npy("x.npy"), td::full({1000}, 3.0))) std::_Exit(3);
}

}  // namespace

int main() {
  std::filesystem::remove("x.npy");
  std::atexit([] { saver.join(); });
  (void)td::cuda::default_stream(td::gpu(0)).query();
  saver = std::thread(save);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));  // it may come to its copy, or not
  ending = true;
  return 0;
}
