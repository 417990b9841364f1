// Reading is a fixed number of steps of a generator, and a fixed number of operations stand for the device's step, both made to measure
// while nothing else runs: so a core that is taken away shows up as time, as it would with pictures and a network.
#include "bench/loader.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <functional>
#include <iostream>
#include <map>

#include "bench/measure.h"
#include "tandem.h"
#include "tools/command.h"

namespace tandem::bench {
namespace {

using tools::device_named;

constexpr int64_t kBatchSize = 32, kPixels = 3 * 32 * 32;

/// Steps of a generator; their sum, so that none of them can be left out.
uint64_t steps(int64_t count, uint64_t seed) {
  data::Generator generator(seed);
  uint64_t sum = 0;
  for (int64_t i = 0; i < count; ++i) sum += generator.next();
  return sum;
}

/// Samples that take `count` steps each to read.
class Slow : public data::Dataset {
 public:
  Slow(int64_t size, int64_t count) : size_(size), count_(count) {}
  [[nodiscard]] int64_t size() const override { return size_; }
  [[nodiscard]] data::Sample get(int64_t index) const override {
    const auto value = static_cast<double>(steps(count_, static_cast<uint64_t>(index)) & 1);
    return {{full({kPixels}, value), tensor(index)}};
  }

 private:
  int64_t size_, count_;
};

/// Milliseconds that `body` takes.
double time_ms(const std::function<void()>& body) {
  auto once = [&] { body(); };
  return time_ns(1, once) / 1e6;
}

/// How many times `body(count)` has to do its work to take `ms`.
int64_t made_to_measure(double ms, const std::function<void(int64_t)>& body) {
  int64_t count = 1;
  double took = 0;
  body(1);
  while ((took = time_ms([&] { body(count); })) < 20) count *= 2;
  return std::max<int64_t>(1, static_cast<int64_t>(static_cast<double>(count) * ms / took));
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

struct Row {
  int workers;
  double both_ms, larger_ms;
};

void print(const BenchLoaderOptions& options, double read_ms, double compute_ms, const std::vector<Row>& rows) {
  char line[160];
  if (options.json) {
    std::snprintf(line, sizeof line, "{\"device\": \"%s\", \"batches\": %d, \"read_ms\": %.1f, \"compute_ms\": %.1f, \"results\": [",
                  options.device.c_str(), options.batches, read_ms, compute_ms);
    std::cout << line;
    for (size_t i = 0; i < rows.size(); ++i) {
      std::snprintf(line, sizeof line, "%s\n  {\"workers\": %d, \"epoch_ms\": %.1f, \"of_larger\": %.3f}", i ? "," : "", rows[i].workers,
                    rows[i].both_ms, rows[i].both_ms / rows[i].larger_ms);
      std::cout << line;
    }
    std::cout << "\n]}\n";
    return;
  }
  std::snprintf(line, sizeof line, "%d batches on %s: reading alone %.0f ms on one core, computing alone %.0f ms", options.batches,
                options.device.c_str(), read_ms, compute_ms);
  std::cout << line << '\n';
  for (const Row& row : rows) {
    std::snprintf(line, sizeof line, "%2d workers   epoch %7.0f ms   %.2f x the larger of reading and computing", row.workers, row.both_ms,
                  row.both_ms / row.larger_ms);
    std::cout << line << '\n';
  }
}

}  // namespace

int bench_loader(const BenchLoaderOptions& options) {
  const Device wanted = device_named("loader", options.device);
  const auto wait = [&] {
    if (wanted.is_cuda()) cuda::synchronize(wanted);
  };
  const Tensor weights = rand({256, 1024}, wanted);
  const auto compute = [&](int64_t count) {
    for (int64_t i = 0; i < count; ++i) weights.mul_(1.0);
  };
  const int64_t of_step = made_to_measure(options.compute_ms, [&](int64_t count) {
    compute(count);
    wait();
  });
  const int64_t of_sample = made_to_measure(options.decode_ms / kBatchSize, [](int64_t count) {
    static std::atomic<uint64_t> sink;  // so that the steps are made
    sink.store(steps(count, 1));
  });

  const Slow dataset(options.batches * kBatchSize, of_sample);
  const auto loader = [&](int workers) {
    return data::DataLoader(dataset, {.batch_size = kBatchSize, .num_workers = workers, .device = wanted});
  };
  std::vector<double> reading, computing;
  std::map<int, std::vector<double>> both;
  for (int round = 0; round < options.rounds; ++round) {
    reading.push_back(time_ms([&] {
      auto alone = loader(0);
      for (const data::Batch& batch : alone) (void)batch;
      wait();
    }));
    computing.push_back(time_ms([&] {
      for (int i = 0; i < options.batches; ++i) compute(of_step);
      wait();
    }));
    for (const int workers : options.workers)
      both[workers].push_back(time_ms([&] {
        auto ahead = loader(workers);
        for (const data::Batch& batch : ahead) {
          (void)batch;
          compute(of_step);
          wait();  // as a loop that looks at each loss
        }
      }));
  }
  std::vector<Row> rows;
  for (const int workers : options.workers)
    rows.push_back({workers, median(both[workers]), std::max(median(reading) / std::max(workers, 1), median(computing))});
  print(options, median(reading), median(computing), rows);
  return 0;
}

}  // namespace tandem::bench
