#include "bench/link_model.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>

#include "base/error.h"
#include "tools/command.h"

namespace tandem::bench {
namespace {

constexpr double kBackwardShare = 2.0 / 3;  // of a step's computing: gradients of inputs and of weights, each as much as forward
constexpr double kBucket = 25 << 20;        // bytes, as DistributedDataParallel's

const std::array<Link, 3> kLinks = {{
    {"nvlink", 8, 450, 3000},         // NVLink 4: 18 links of 25 GB/s each way
    {"pcie", 4, 25, 5000},            // PCIe 4.0 x16
    {"ethernet100", 4, 12.5, 20000},  // 100 Gb/s
}};

}  // namespace

Link link_named(const std::string& text) {
  for (const Link& link : kLinks)
    if (text == link.name) return link;
  const char *at = text.data(), *const end = at + text.size();
  double values[3] = {};
  bool good = true;
  for (size_t i = 0; i < 3 && good; ++i) {
    if (i > 0) good = at < end && *at++ == ':';
    const auto [next, error] = std::from_chars(at, end, values[i]);
    good = good && error == std::errc() && std::isfinite(values[i]);
    at = next;
  }
  if (!good || at != end || values[0] < 1 || values[0] > 1e6 || values[0] != std::floor(values[0]) || values[1] <= 0 || values[2] < 0)
    throw tools::UsageError(
        str("parallel: --link '", text, "' is neither nvlink, pcie nor ethernet100, nor COUNT:GB/S:MICROSECONDS like 8:450:3"));
  return {text, static_cast<int>(values[0]), values[1], values[2] * 1e3};
}

Modelled modelled(const Link& link, double compute_ns, int64_t parameters) {
  const double n = link.count, bytes = 4.0 * static_cast<double>(parameters);
  const auto ring_ns = [&](double size) { return n < 2 ? 0 : 2 * (n - 1) * (size / n / link.bytes_per_ns + link.latency_ns); };
  const double buckets = std::max(1.0, std::ceil(bytes / kBucket));
  Modelled out;
  out.compute_ns = compute_ns;
  out.reduce_ns = parameters > 0 ? buckets * ring_ns(bytes / buckets) : 0;
  out.in_turn_ns = compute_ns + out.reduce_ns;
  // All buckets but the last can be under way before backward ends; what does not fit beside backward is waited for.
  const double last_ns = out.reduce_ns / buckets;
  out.overlapped_ns = compute_ns + std::max(last_ns, out.reduce_ns - compute_ns * kBackwardShare);
  return out;
}

std::string assumptions(const Link& link) {
  char text[600];
  std::snprintf(
      text, sizeof text,
      "%s: %d GPUs in a ring, %.4g GB/s each way between neighbours, %.4g us a message; float32 gradients;\n"
      "  a sum over all takes 2 (n-1) x (bytes / n / speed + latency); backward is two thirds of a step's computing;\n"
      "  overlapped: buckets of 25 MiB, the last one is waited for. Reading data, stragglers and the links' own protocol cost nothing.",
      link.name.c_str(), link.count, link.bytes_per_ns, link.latency_ns / 1e3);
  return text;
}

}  // namespace tandem::bench
