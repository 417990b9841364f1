// torch::nn::utils::rnn: sequences of different lengths as one tensor, padded, and packed for recurrent networks.
#pragma once

#include <algorithm>
#include <functional>
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
[[nodiscard]] inline tandem::Tensor invert_permutation(const tandem::Tensor& permutation, tandem::Site site = tandem::Site::here()) {
  return permutation.defined() ? permutation.argsort(-1, false, site) : tandem::Tensor();
}

/// A batch of sequences without padding: the rows of the first time step, then those of the second, and so on; longer sequences first.
class PackedSequence {
 public:
  /// What the functions below make. Error unless batch_sizes is on the CPU.
  PackedSequence(tandem::Tensor data, tandem::Tensor batch_sizes, tandem::Tensor sorted_indices = {}, tandem::Tensor unsorted_indices = {},
                 tandem::Site site = tandem::Site::here())
      : parts_{std::move(data), std::move(batch_sizes), std::move(sorted_indices), std::move(unsorted_indices)} {
    if (!parts_.batch_sizes.is_cpu(site))
      tandem::fail<tandem::ValueError>("[PackedSequence] batch_sizes should always be on CPU, not on ", parts_.batch_sizes.device(site),
                                       ": make packed sequences by pack_sequence and pack_padded_sequence");
    if (!parts_.unsorted_indices.defined()) parts_.unsorted_indices = invert_permutation(parts_.sorted_indices, site);
  }
  PackedSequence(tandem::nn::utils::rnn::PackedSequence parts) : parts_(std::move(parts)) {}

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
  [[nodiscard]] PackedSequence to(const TensorOptions& options, tandem::Site site = tandem::Site::here()) const {
    tandem::Tensor data = parts_.data.to(static_cast<const tandem::Options&>(options), false, false, site);
    if (data.is_same(parts_.data)) return *this;
    const tandem::Device device = data.device(site);
    return each(std::move(data), [&](const tandem::Tensor& indices) { return indices.to(device, {}, site); });
  }
  [[nodiscard]] PackedSequence cuda(tandem::Site site = tandem::Site::here()) const { return to(tandem::kCUDA, site); }
  [[nodiscard]] PackedSequence cpu(tandem::Site site = tandem::Site::here()) const { return to(tandem::kCPU, site); }
  [[nodiscard]] PackedSequence pin_memory(tandem::Site site = tandem::Site::here()) const {
    return each(parts_.data.pin_memory(site), [&](const tandem::Tensor& indices) { return indices.pin_memory(site); });
  }
  [[nodiscard]] bool is_cuda() const { return parts_.data.is_cuda(); }
  [[nodiscard]] bool is_pinned() const { return parts_.data.is_pinned(); }

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
inline void check_sorted(const char* op, const std::vector<int64_t>& lengths, bool enforce_sorted) {
  if (enforce_sorted && !std::is_sorted(lengths.begin(), lengths.end(), std::greater<>()))
    tandem::fail<tandem::ValueError>(
        "[", op, "] `lengths` array must be sorted in decreasing order when `enforce_sorted` is true, but they are ",
        tandem::Shape(lengths), ". You can pass `enforce_sorted=False` (the last argument) to have the ", "sequences sorted here");
}
}  // namespace detail

/// Packs (T, N, …), or (N, T, …), with the given lengths. Error for a length outside [1, T], and with `enforce_sorted` unless the longest
/// come first.
[[nodiscard]] inline PackedSequence pack_padded_sequence(const tandem::Tensor& input, const tandem::Tensor& lengths,
                                                         bool batch_first = false, bool enforce_sorted = true,
                                                         tandem::Site site = tandem::Site::here()) {
  if (input.numel(site) == 0)
    tandem::fail<tandem::ValueError>("[pack_padded_sequence] Cannot pack empty tensors: the input has the size ", input.sizes(site));
  const tandem::Tensor host = lengths.to(tandem::cpu(), tandem::kInt64, {}, site).contiguous(site);
  const int64_t* data = host.data_ptr<int64_t>(site);
  const std::vector<int64_t> counts(data, data + host.numel(site));
  detail::check_sorted("pack_padded_sequence", counts, enforce_sorted);
  return PackedSequence(tandem::nn::utils::rnn::pack_padded_sequence(input, tandem::Shape(counts), {batch_first, enforce_sorted}, site));
}

/// Back to padded sequences in the caller's order, and how long each is. Error for a `total_length` below the longest.
[[nodiscard]] inline std::tuple<tandem::Tensor, tandem::Tensor> pad_packed_sequence(const PackedSequence& sequence,
                                                                                    bool batch_first = false, double padding_value = 0,
                                                                                    std::optional<int64_t> total_length = std::nullopt,
                                                                                    tandem::Site site = tandem::Site::here()) {
  const int64_t longest = sequence.batch_sizes().size(0, site);
  if (total_length && *total_length < longest)
    tandem::fail<tandem::ValueError>(
        "[pad_packed_sequence] Expected total_length to be at least the length of the longest sequence in input, but got total_length=",
        *total_length, " and max sequence length being ", longest);
  auto padded = tandem::nn::utils::rnn::pad_packed_sequence(
      sequence.parts(), {.batch_first = batch_first, .padding_value = padding_value, .total_length = total_length}, site);
  return {std::move(padded.output), std::move(padded.lengths)};
}

/// Stacks sequences (length, …) as (longest, N, …), or (N, longest, …).
[[nodiscard]] inline tandem::Tensor pad_sequence(ArrayRef<tandem::Tensor> sequences, bool batch_first = false, double padding_value = 0,
                                                 tandem::Site site = tandem::Site::here()) {
  return tandem::nn::utils::rnn::pad_sequence(sequences.vec(), {.batch_first = batch_first, .padding_value = padding_value}, site);
}

/// Packs sequences (length, …).
[[nodiscard]] inline PackedSequence pack_sequence(ArrayRef<tandem::Tensor> sequences, bool enforce_sorted = true,
                                                  tandem::Site site = tandem::Site::here()) {
  std::vector<int64_t> lengths;
  for (const tandem::Tensor& sequence : sequences) lengths.push_back(sequence.size(0, site));
  detail::check_sorted("pack_sequence", lengths, enforce_sorted);
  return PackedSequence(tandem::nn::utils::rnn::pack_sequence(sequences.vec(), enforce_sorted, site));
}

}  // namespace torch::nn::utils::rnn
