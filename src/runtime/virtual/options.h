// What TANDEM_VIRTUAL_GPUS asks for: how many GPUs, how large, how fast their links, and what to vary for testing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace tandem::runtime::virtual_gpu {

/// Virtual GPUs to be made. Written as "2", "2x256MiB", "2x16GiB,link=25GB/s,latency=10us,delay_seed=7,peer=off".
struct Options {
  int count = 0;
  size_t memory = 0;                   // bytes a GPU
  double link = 0;                     // bytes a second of every copy engine and link; 0: as fast as memory is
  int64_t latency_ns = 0;              // what a copy takes before its first byte
  std::optional<uint64_t> delay_seed;  // random delays before tasks
  bool peer = true;                    // whether GPUs reach each other's memory
};

/// Reads a specification. Error that names `source` (the variable or the call), the wrong part, and the grammar.
[[nodiscard]] Options parse_options(std::string_view text, std::string_view source);
/// Memory of a GPU where none is asked for: half of what this process may use, shared by `count` GPUs, at most 16 GiB each.
[[nodiscard]] size_t default_memory(int count);

}  // namespace tandem::runtime::virtual_gpu
