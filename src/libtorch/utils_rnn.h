// torch::nn::utils::rnn: sequences of different lengths as one tensor, padded, and packed for recurrent networks.
#pragma once

#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "base/error.h"
#include "libtorch/types.h"
#include "nn/packed_sequence.h"
#include "tensor/tensor.h"

namespace torch::nn::utils::rnn {

/// The permutation that undoes `permutation`; undefined for none.
[[nodiscard]] tandem::Tensor invert_permutation(const tandem::Tensor& permutation, tandem::Site site = tandem::Site::here());

/// A batch of sequences without padding: the rows of the first time step, then those of the second, and so on; longer sequences first.
class PackedSequence {
 public:
  /// What the functions below make. Error unless batch_sizes is on the CPU.
  PackedSequence(tandem::Tensor data, tandem::Tensor batch_sizes, tandem::Tensor sorted_indices = {}, tandem::Tensor unsorted_indices = {},
                 tandem::Site site = tandem::Site::here());
  PackedSequence(tandem::nn::utils::rnn::PackedSequence parts);

  /// All elements: (all lengths together, …).
  const tandem::Tensor& data() const { return parts_.data; }
  /// How many sequences reach each step: int64, on the CPU.
  const tandem::Tensor& batch_sizes() const { return parts_.batch_sizes; }
  /// Sequence i here is sorted_indices[i] of the caller's, and the other way round; undefined where the order is the same.
  const tandem::Tensor& sorted_indices() const { return parts_.sorted_indices; }
  const tandem::Tensor& unsorted_indices() const { return parts_.unsorted_indices; }
  /// As tandem has it.
  const tandem::nn::utils::rnn::PackedSequence& parts() const { return parts_; }

  /// With the dtype and on the device of `options`, as far as they say; batch_sizes stays on the CPU.
  [[nodiscard]] PackedSequence to(const TensorOptions& options, tandem::Site site = tandem::Site::here()) const;
  [[nodiscard]] PackedSequence cuda(tandem::Site site = tandem::Site::here()) const;
  [[nodiscard]] PackedSequence cpu(tandem::Site site = tandem::Site::here()) const;
  [[nodiscard]] PackedSequence pin_memory(tandem::Site site = tandem::Site::here()) const;
  [[nodiscard]] bool is_cuda() const;
  [[nodiscard]] bool is_pinned() const;

 private:
  template <class F>
  PackedSequence each(tandem::Tensor data, F moved) const {
    const auto moved_if_there = [&](const tandem::Tensor& indices) { return indices.defined() ? moved(indices) : indices; };
    return PackedSequence({.data = std::move(data),
                           .batch_sizes = parts_.batch_sizes,
                           .sorted_indices = moved_if_there(parts_.sorted_indices),
                           .unsorted_indices = moved_if_there(parts_.unsorted_indices)});
  }

  tandem::nn::utils::rnn::PackedSequence parts_;
};

namespace detail {
/// Error unless the longest come first, where they must.
void check_sorted(const char* op, const std::vector<int64_t>& lengths, bool enforce_sorted);
}  // namespace detail

/// Packs (T, N, …), or (N, T, …), with the given lengths. Error for a length outside [1, T], and with `enforce_sorted` unless the longest
/// come first.
[[nodiscard]] PackedSequence pack_padded_sequence(const tandem::Tensor& input, const tandem::Tensor& lengths, bool batch_first = false,
                                                  bool enforce_sorted = true, tandem::Site site = tandem::Site::here());

/// Back to padded sequences in the caller's order, and how long each is. Error for a `total_length` below the longest.
[[nodiscard]] std::tuple<tandem::Tensor, tandem::Tensor> pad_packed_sequence(const PackedSequence& sequence, bool batch_first = false,
                                                                             double padding_value = 0,
                                                                             std::optional<int64_t> total_length = std::nullopt,
                                                                             tandem::Site site = tandem::Site::here());

/// Stacks sequences (length, …) as (longest, N, …), or (N, longest, …).
[[nodiscard]] tandem::Tensor pad_sequence(ArrayRef<tandem::Tensor> sequences, bool batch_first = false, double padding_value = 0,
                                          tandem::Site site = tandem::Site::here());

/// Packs sequences (length, …).
[[nodiscard]] PackedSequence pack_sequence(ArrayRef<tandem::Tensor> sequences, bool enforce_sorted = true,
                                           tandem::Site site = tandem::Site::here());

}  // namespace torch::nn::utils::rnn
