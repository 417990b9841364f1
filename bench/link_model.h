// What training would reach on more GPUs, from what one does and from what is between them. A model: nothing of it is measured but the
// rate of one GPU.
#pragma once

#include <cstdint>
#include <string>

namespace tandem::bench {

/// GPUs (or servers of one GPU each) in a ring.
struct Link {
  std::string name;
  int count = 0;            // of the GPUs
  double bytes_per_ns = 0;  // GB/s, in each direction
  double latency_ns = 0;    // of one message
};

/// `nvlink` (8 GPUs), `pcie` (4), `ethernet100` (4 servers), or COUNT:GB/S:MICROSECONDS. UsageError for anything else.
[[nodiscard]] Link link_named(const std::string& text);

/// A step of training on a link.
struct Modelled {
  double compute_ns = 0;     // of a step on one GPU, as measured
  double reduce_ns = 0;      // summing all gradients up
  double in_turn_ns = 0;     // the step where that begins after backward
  double overlapped_ns = 0;  // where each bucket is summed up while backward goes on
};
[[nodiscard]] Modelled modelled(const Link& link, double compute_ns, int64_t parameters);

/// What the model supposes, in a few lines for people.
[[nodiscard]] std::string assumptions(const Link& link);

}  // namespace tandem::bench
