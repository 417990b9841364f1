// How a micro benchmark measures one case. The programs of both sides (ours and the peer's) include this one file, so that they measure
// alike. It knows nothing of tensors.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

namespace tandem::bench {

/// What one case came to, in nanoseconds per iteration.
struct Measured {
  std::string name;
  double ns = 0;        // median over the batches
  double best_ns = 0;   // fastest batch
  int64_t batches = 0;  // how many batches were timed
  int64_t batch = 0;    // iterations in each
};

/// Nanoseconds that `iterations` calls of `body` take.
template <class F>
double time_ns(int64_t iterations, F& body) {
  const auto start = std::chrono::steady_clock::now();
  for (int64_t i = 0; i < iterations; ++i) body();
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count();
}

/// The figures of `per_iteration`, one number a batch.
inline Measured summarize(std::string name, std::vector<double> per_iteration, int64_t batch) {
  std::sort(per_iteration.begin(), per_iteration.end());
  const size_t n = per_iteration.size();
  const double median = n % 2 ? per_iteration[n / 2] : (per_iteration[n / 2 - 1] + per_iteration[n / 2]) / 2;
  return {std::move(name), median, per_iteration.front(), static_cast<int64_t>(n), batch};
}

/// Calls `body` for about `budget_ms`: a quarter of it as a warm-up that also finds the size of a batch (about a twentieth of the budget),
/// then batches until the budget is spent, three at the least. The figure is their median, so a batch that was interrupted does not count.
template <class F>
Measured measure(std::string name, double budget_ms, F body) {
  const double budget_ns = budget_ms * 1e6;
  int64_t batch = 1;
  double warm_ns = 0, last_ns = 0;
  for (;;) {
    last_ns = time_ns(batch, body);
    warm_ns += last_ns;
    if (warm_ns >= budget_ns / 4) break;
    if (last_ns < budget_ns / 40) batch *= 2;
  }
  batch = std::max<int64_t>(1, static_cast<int64_t>(static_cast<double>(batch) * (budget_ns / 20) / std::max(last_ns, 1.0)));
  std::vector<double> per_iteration;
  double spent_ns = 0;
  while (spent_ns < budget_ns * 3 / 4 || per_iteration.size() < 3) {
    const double ns = time_ns(batch, body);
    spent_ns += ns;
    per_iteration.push_back(ns / static_cast<double>(batch));
  }
  return summarize(std::move(name), std::move(per_iteration), batch);
}

/// The same for ranks that call `body` together: all make the same number of calls, which the first rank's times decide. `agree` gives
/// every rank the first one's number.
template <class F, class Agree>
Measured measure_together(std::string name, double budget_ms, F body, Agree agree) {
  constexpr int kBatches = 15;
  const double budget_ns = budget_ms * 1e6;
  int64_t batch = 1;
  double warm_ns = 0;
  for (;;) {
    const double ns = agree(time_ns(batch, body));
    warm_ns += ns;
    if (warm_ns >= budget_ns / 4) {
      batch = std::max<int64_t>(1, static_cast<int64_t>(static_cast<double>(batch) * (budget_ns / 20) / std::max(ns, 1.0)));
      break;
    }
    if (ns < budget_ns / 40) batch *= 2;
  }
  std::vector<double> per_iteration;
  for (int i = 0; i < kBatches; ++i) per_iteration.push_back(time_ns(batch, body) / static_cast<double>(batch));
  return summarize(std::move(name), std::move(per_iteration), batch);
}

/// A time for people: `184 ns`, `5.60 us`, `1.20 ms`.
inline std::string readable(double ns) {
  char text[32];
  if (ns < 1e3) std::snprintf(text, sizeof text, "%.0f ns", ns);
  else if (ns < 1e6) std::snprintf(text, sizeof text, "%.2f us", ns / 1e3);
  else std::snprintf(text, sizeof text, "%.2f ms", ns / 1e6);
  return text;
}

/// One result as a JSON object.
inline std::string to_json(const Measured& m) {
  char text[256];
  std::snprintf(text, sizeof text, "{\"name\": \"%s\", \"ns\": %.1f, \"best_ns\": %.1f, \"batches\": %lld, \"batch\": %lld}",
                m.name.c_str(), m.ns, m.best_ns, static_cast<long long>(m.batches), static_cast<long long>(m.batch));
  return text;
}

/// All results as one JSON document; `library` is its name, with its version where it knows it.
inline std::string to_json(const std::string& library, int threads, const std::vector<Measured>& results) {
  std::string out = "{\"library\": \"" + library + "\", \"threads\": " + std::to_string(threads) + ", \"results\": [";
  for (size_t i = 0; i < results.size(); ++i) out += (i ? ",\n  " : "\n  ") + to_json(results[i]);
  return out + "\n]}\n";
}

}  // namespace tandem::bench
