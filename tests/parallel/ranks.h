// Tests on ranks that are threads of this program, on the CPU and on virtual GPUs, or processes.
#pragma once

#include <cstring>
#include <functional>
#include <mutex>
#include <string>

#include "comm/api/distributed.h"
#include "nn/support.h"
#include "parallel/processes.h"

namespace tandem::testing {

inline std::mutex& generator_mutex() {
  static std::mutex mutex;
  return mutex;
}
/// What `make` makes of random numbers after this seed: ranks that are threads share the generator, and take it one after another.
template <class F>
auto seeded(uint64_t seed, F&& make) {
  const std::lock_guard lock(generator_mutex());
  manual_seed(seed);
  return make();
}
inline Tensor seeded_randn(uint64_t seed, const Shape& sizes, Device device = {}) {
  return seeded(seed, [&] { return randn(sizes); }).to(device);
}

/// How many ranks, whether rank r is on the GPU of its number, and whether they are processes.
struct World {
  int size;
  bool on_gpus = false, processes = false;
};
inline auto every_world() { return ::testing::Values(World{2}, World{3}, World{4}, World{2, true}); }
/// For tests whose ranks share nothing but their group.
inline auto worlds_of_processes() { return ::testing::Values(World{3, false, true}); }
inline std::string world_name(const ::testing::TestParamInfo<World>& info) {
  return str(info.param.size, info.param.processes ? "_processes" : info.param.on_gpus ? "_gpus" : "_on_cpu");
}

class OnRanks : public ::testing::TestWithParam<World> {
 protected:
  [[nodiscard]] static int world() { return GetParam().size; }
  /// Runs f(rank, device) on every rank. One that waits for others in vain ends by itself.
  void run(const std::function<void(int, Device)>& f) {
    const World world = GetParam();
    if (world.processes) return run_as_processes(world.size, ++runs_, [&](int rank) { f(rank, cpu()); });
    distributed::run_ranks(world.size, [&](int rank) { f(rank, world.on_gpus ? gpu(rank) : cpu()); },
                           {.timeout = std::chrono::seconds(60)});
  }
  /// This rank's part of the rows, which the ranks divide evenly.
  static Tensor share(const Tensor& x) {
    const int64_t rows = x.size(0) / distributed::get_world_size();
    return x.narrow(0, distributed::get_rank() * rows, rows);
  }
  /// All ranks have the same parameters and gradients, to the bit.
  static void expect_same_bits(const nn::ModuleBase& module) {
    expect_same_parameters(module);
    for (const auto& [name, parameter] : module.named_parameters())
      if (parameter.grad().defined()) expect_same(name, parameter.grad());
  }
  /// The parameters alone: gradients may be in shards.
  static void expect_same_parameters(const nn::ModuleBase& module) {
    for (const auto& [name, parameter] : module.named_parameters()) expect_same(name, parameter.detach());
  }

 private:
  int runs_ = 0;

  static void expect_same(const std::string& name, const Tensor& mine) {
    for (const Tensor& other : distributed::all_gather(mine.cpu().contiguous()))
      EXPECT_EQ(std::memcmp(other.data_ptr(), mine.cpu().contiguous().data_ptr(), mine.nbytes()), 0) << name;
  }
};

}  // namespace tandem::testing
