// What networks do most in evaluation, on tensors whose channels lie in blocks: convolutions together with what follows them, and pooling.
// A weight is laid out once and kept. By oneDNN; for td::compile.
//
// In the blocked layout a (n, c, h, w) of float32 lies as (n, c / block, h, w, block); channels that are missing in the last block are 0.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/queue.h"

namespace tandem::kernels::cpu {

/// How many channels are a block on this processor; 0 where oneDNN has no code for blocks.
[[nodiscard]] int64_t channel_block();
/// The bytes of a blocked tensor.
[[nodiscard]] size_t blocked_bytes(int64_t n, int64_t channels, int64_t places);

/// Windows over two dimensions: rows, columns.
struct Windows2d {
  int64_t kernel[2], stride[2], padding[2], dilation[2];
};

/// out = activation(convolution(in) + bias + added): float32, sizes as in PyTorch.
struct BlockedConvolutionSizes {
  int64_t n, in_channels, out_channels, groups;
  int64_t in[2], out[2];
  Windows2d windows;
  bool relu = false;
  bool adds = false;                                // something of the result's sizes, before the activation
  bool blocked_in = true, blocked_out = true;       // else as PyTorch's tensors lie
  bool blocked_added = true, added_is_out = false;  // `added` lies where the result goes
};

/// A convolution for given sizes, with its weight. One thread at a time calls it.
class BlockedConvolution {
 public:
  /// nullptr where oneDNN has no fast code for it. `threads`: into how many parts the work is cut, each of which keeps memory of its own.
  [[nodiscard]] static std::unique_ptr<BlockedConvolution> make(const BlockedConvolutionSizes& sizes, int threads);
  virtual ~BlockedConvolution() = default;

  /// Takes the weight (o, c / groups, kh, kw), times `scale` (o), and the bias (o), times `scale`, plus `shift` (o). All but the weight may
  /// be nullptr. Returns oneDNN's status, -1 where a number is not finite.
  virtual int set_weight(const float* weight, const float* bias, const float* scale, const float* shift) = 0;
  /// Bytes of memory that a call wants.
  [[nodiscard]] virtual size_t scratch_bytes() const = 0;
  /// Reports oneDNN's status to the queue where it is not 0.
  virtual void run(const Queue& queue, void* out, const void* in, const void* added, void* scratch) = 0;
};

/// The largest element of each window, blocked in and out. NaN do not count.
struct BlockedPoolSizes {
  int64_t n, channels;
  int64_t in[2], out[2];
  Windows2d windows;
};
class BlockedPool {
 public:
  /// As BlockedConvolution.
  [[nodiscard]] static std::unique_ptr<BlockedPool> make(const BlockedPoolSizes& sizes, int threads);
  virtual ~BlockedPool() = default;
  [[nodiscard]] virtual size_t scratch_bytes() const = 0;
  virtual void run(const Queue& queue, void* out, const void* in, void* scratch) = 0;
};

}  // namespace tandem::kernels::cpu
