#include "bench/parallel_moves.h"

#include <algorithm>
#include <functional>

#include "bench/measure.h"
#include "bench/parallel_cases.h"
#include "tandem.h"

namespace tandem::bench {
namespace {

constexpr int kProducts = 10;

double ms_of(const std::function<void()>& body) {
  auto once = [&] { body(); };
  return time_ns(1, once) / 1e6;
}

double median(std::vector<double> values) { return summarize("", std::move(values), 1).ns; }

/// What the overlap is measured on.
struct Products {
  Device device;
  Tensor a, b;
  std::vector<Tensor> results, on_host;
  cuda::Stream copies;

  Products(Device where, int64_t size, int64_t inner)
      : device(where), a(rand({size, inner}, where)), b(rand({inner, size}, where)), copies(where) {
    for (int i = 0; i < kProducts; ++i) {
      results.push_back(empty({size, size}, where));
      on_host.push_back(empty({size, size}).pin_memory());
    }
  }
  void compute(size_t i) { results[i].copy_(matmul(a, b)); }
  void copy(size_t i) { on_host[i].copy_(results[i], true); }
  void run() {
    for (size_t i = 0; i < results.size(); ++i) compute(i);
    cuda::synchronize(device);
  }
  void copy_all() {
    for (size_t i = 0; i < results.size(); ++i) copy(i);
    cuda::synchronize(device);
  }
  /// The copy of each result on a stream of its own, behind the product that makes it.
  void overlapped() {
    for (size_t i = 0; i < results.size(); ++i) {
      compute(i);
      copies.wait_stream(cuda::current_stream(device));
      const cuda::StreamGuard guard(copies);
      copy(i);
    }
    cuda::synchronize(device);
  }
};

}  // namespace

double Overlap::of_longer() const { return overlapped_ms / std::max(run_ms, copy_ms); }

Overlap measure_overlap(Device device, int64_t size, int rounds) {
  Overlap out;
  out.products = kProducts;
  {
    Products probe(device, size, size);
    probe.run();
    probe.copy_all();
    const double run = ms_of([&] { probe.run(); }), copy = ms_of([&] { probe.copy_all(); });
    out.inner = std::clamp<int64_t>(static_cast<int64_t>(static_cast<double>(size) * copy / run), 16, 4 * size);
  }
  Products work(device, size, out.inner);
  work.overlapped();
  std::vector<double> run, copy, in_turn, overlapped;
  for (int round = 0; round < rounds; ++round)
    for (const bool forwards : {true, false}) {
      const auto alone = [&] {
        run.push_back(ms_of([&] { work.run(); }));
        copy.push_back(ms_of([&] { work.copy_all(); }));
        in_turn.push_back(ms_of([&] {
          work.run();
          work.copy_all();
        }));
      };
      if (forwards) alone();
      overlapped.push_back(ms_of([&] { work.overlapped(); }));
      if (!forwards) alone();
    }
  out.run_ms = median(run);
  out.copy_ms = median(copy);
  out.in_turn_ms = median(in_turn);
  out.overlapped_ms = median(overlapped);
  return out;
}

std::vector<Moved> measure_moves(std::span<const Device> devices, std::span<const int64_t> sizes, double ms) {
  std::vector<Moved> rows;
  const auto n = static_cast<double>(devices.size());
  for (const int64_t bytes : sizes) {
    std::vector<Tensor> tensors, others;
    for (const Device device : devices) {
      tensors.push_back(ones({std::max<int64_t>(bytes / 4, 1)}, device));
      others.push_back(empty_like(tensors.back()));
    }
    const auto timed = [&](const std::string& name, const std::function<void()>& body) {
      return measure(name, ms, [&] {
        body();
        wait_for(devices);
      });
    };
    // What bounds them: a plain copy within a device's memory, and one from a device to its neighbour.
    const double memory = 2 * static_cast<double>(bytes) / timed("", [&] { others[0].copy_(tensors[0]); }).ns;
    rows.push_back({"copy_within", 1, bytes, 2 * static_cast<double>(bytes) / memory, memory, memory});
    if (devices.size() < 2) continue;
    const double link = static_cast<double>(bytes) / timed("", [&] { others[1].copy_(tensors[0], true); }).ns;
    rows.push_back({"copy_between", 2, bytes, static_cast<double>(bytes) / link, link, link});
    const auto collective = [&](const char* name, double share, const std::function<void()>& body) {
      const Measured time = timed(name, body);
      rows.push_back({name, static_cast<int>(devices.size()), bytes, time.ns, static_cast<double>(bytes) * share / time.ns, link});
    };
    const std::vector<Device> all(devices.begin(), devices.end());
    // What a ring sends over each link, in parts of `bytes`.
    collective("all_reduce", 2 * (n - 1) / n, [&] { comm::all_reduce(tensors); });
    collective("broadcast", 1, [&] { (void)comm::broadcast(tensors[0], all); });
    collective("all_gather", n - 1, [&] { (void)comm::all_gather(tensors); });
    if (tensors[0].size(0) % static_cast<int64_t>(devices.size()) == 0)
      collective("reduce_scatter", (n - 1) / n, [&] { (void)comm::reduce_scatter(tensors); });
  }
  return rows;
}

}  // namespace tandem::bench
