// Sequences of different lengths as one tensor: padded, and packed for recurrent networks. As torch.nn.utils.rnn.
#pragma once

#include <optional>
#include <vector>

#include "tensor/tensor.h"

namespace tandem::nn::utils::rnn {

/// A batch of sequences without padding: the rows of the first time step, then those of the second, and so on; longer sequences first.
struct PackedSequence {
  Tensor data;         // (all elements, …)
  Tensor batch_sizes;  // int64, on the CPU: how many sequences reach each step
  // Where the caller's order was another: sequence i here is sorted_indices[i] there, and the other way round. Undefined otherwise.
  Tensor sorted_indices, unsorted_indices;

  /// For hooks: what modules work on.
  template <class F>
  void each_tensor(F&& f) {
    f(data);
  }

  /// The same on another device; batch_sizes stays on the CPU.
  [[nodiscard]] PackedSequence to(Device device, Site site = Site::here()) const;
};

/// Options of pack_padded_sequence().
struct PackOptions {
  bool batch_first = false;    // (N, T, …) rather than (T, N, …)
  bool enforce_sorted = true;  // an error unless the longest come first; else they are sorted here
};
/// Options of pad_packed_sequence(), in this order.
struct PadPackedOptions {
  bool batch_first = false;
  double padding_value = 0;
  std::optional<int64_t> total_length = {};  // of the result, if longer than the longest sequence
};
struct PadOptions {
  bool batch_first = false;
  double padding_value = 0;
  bool left = false;  // padding_side: before the elements instead of behind them
};
/// Padded sequences, and how long each is: int64, on the CPU.
struct PaddedSequences {
  Tensor output, lengths;
};

/// Packs (T, N, …) with the given lengths, in one kernel. Error for a length outside [1, T]. As torch.nn.utils.rnn.pack_padded_sequence.
[[nodiscard]] PackedSequence pack_padded_sequence(const Tensor& input, const Shape& lengths, const PackOptions& options = {},
                                                  Site site = Site::here());
/// The lengths as an integer tensor, which is read.
[[nodiscard]] PackedSequence pack_padded_sequence(const Tensor& input, const Tensor& lengths, const PackOptions& options = {},
                                                  Site site = Site::here());
/// Back to (T, N, …), in the caller's order. As torch.nn.utils.rnn.pad_packed_sequence.
[[nodiscard]] PaddedSequences pad_packed_sequence(const PackedSequence& sequence, const PadPackedOptions& options = {},
                                                  Site site = Site::here());
/// Stacks sequences (length, …) as (longest, N, …). As torch.nn.utils.rnn.pad_sequence.
[[nodiscard]] Tensor pad_sequence(const std::vector<Tensor>& sequences, const PadOptions& options = {}, Site site = Site::here());
/// The sequences of (T, N, …), each cut to its length. As torch.nn.utils.rnn.unpad_sequence.
[[nodiscard]] std::vector<Tensor> unpad_sequence(const Tensor& padded, const Shape& lengths, Flag batch_first = false,
                                                 Site site = Site::here());
/// Packs sequences (length, …). As torch.nn.utils.rnn.pack_sequence.
[[nodiscard]] PackedSequence pack_sequence(const std::vector<Tensor>& sequences, Flag enforce_sorted = true, Site site = Site::here());
/// The sequences again, in the caller's order. As torch.nn.utils.rnn.unpack_sequence.
[[nodiscard]] std::vector<Tensor> unpack_sequence(const PackedSequence& packed, Site site = Site::here());

}  // namespace tandem::nn::utils::rnn
