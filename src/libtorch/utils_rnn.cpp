#include "libtorch/utils_rnn.h"

#include <algorithm>

namespace torch::nn::utils::rnn {

tandem::Tensor invert_permutation(const tandem::Tensor& permutation, tandem::Site site) {
  return permutation.defined() ? permutation.argsort(-1, false, site) : tandem::Tensor();
}

PackedSequence::PackedSequence(tandem::Tensor data, tandem::Tensor batch_sizes, tandem::Tensor sorted_indices,
                               tandem::Tensor unsorted_indices, tandem::Site site)
    : parts_{std::move(data), std::move(batch_sizes), std::move(sorted_indices), std::move(unsorted_indices)} {
  if (!parts_.batch_sizes.is_cpu(site))
    tandem::fail<tandem::ValueError>("[PackedSequence] batch_sizes should always be on CPU, not on ", parts_.batch_sizes.device(site),
                                     ": make packed sequences by pack_sequence and pack_padded_sequence");
  if (!parts_.unsorted_indices.defined()) parts_.unsorted_indices = invert_permutation(parts_.sorted_indices, site);
}

PackedSequence::PackedSequence(tandem::nn::utils::rnn::PackedSequence parts) : parts_(std::move(parts)) {}

PackedSequence PackedSequence::to(const TensorOptions& options, tandem::Site site) const {
  tandem::Tensor data = parts_.data.to(static_cast<const tandem::Options&>(options), false, false, site);
  if (data.is_same(parts_.data)) return *this;
  const tandem::Device device = data.device(site);
  return each(std::move(data), [&](const tandem::Tensor& indices) { return indices.to(device, {}, site); });
}

PackedSequence PackedSequence::cuda(tandem::Site site) const { return to(tandem::kCUDA, site); }

PackedSequence PackedSequence::cpu(tandem::Site site) const { return to(tandem::kCPU, site); }

PackedSequence PackedSequence::pin_memory(tandem::Site site) const {
  return each(parts_.data.pin_memory(site), [&](const tandem::Tensor& indices) { return indices.pin_memory(site); });
}

bool PackedSequence::is_cuda() const { return parts_.data.is_cuda(); }

bool PackedSequence::is_pinned() const { return parts_.data.is_pinned(); }

void detail::check_sorted(const char* op, const std::vector<int64_t>& lengths, bool enforce_sorted) {
  if (enforce_sorted && !std::is_sorted(lengths.begin(), lengths.end(), std::greater<>()))
    tandem::fail<tandem::ValueError>(
        "[", op, "] `lengths` array must be sorted in decreasing order when `enforce_sorted` is true, but they are ",
        tandem::Shape(lengths), ". You can pass `enforce_sorted=False` (the last argument) to have the ", "sequences sorted here");
}

PackedSequence pack_padded_sequence(const tandem::Tensor& input, const tandem::Tensor& lengths, bool batch_first, bool enforce_sorted,
                                    tandem::Site site) {
  if (input.numel(site) == 0)
    tandem::fail<tandem::ValueError>("[pack_padded_sequence] Cannot pack empty tensors: the input has the size ", input.sizes(site));
  const tandem::Tensor host = lengths.to(tandem::cpu(), tandem::kInt64, {}, site).contiguous(site);
  const int64_t* data = host.data_ptr<int64_t>(site);
  const std::vector<int64_t> counts(data, data + host.numel(site));
  detail::check_sorted("pack_padded_sequence", counts, enforce_sorted);
  return PackedSequence(tandem::nn::utils::rnn::pack_padded_sequence(input, tandem::Shape(counts), {batch_first, enforce_sorted}, site));
}

std::tuple<tandem::Tensor, tandem::Tensor> pad_packed_sequence(const PackedSequence& sequence, bool batch_first, double padding_value,
                                                               std::optional<int64_t> total_length, tandem::Site site) {
  const int64_t longest = sequence.batch_sizes().size(0, site);
  if (total_length && *total_length < longest)
    tandem::fail<tandem::ValueError>(
        "[pad_packed_sequence] Expected total_length to be at least the length of the longest sequence in input, but got total_length=",
        *total_length, " and max sequence length being ", longest);
  auto padded = tandem::nn::utils::rnn::pad_packed_sequence(
      sequence.parts(), {.batch_first = batch_first, .padding_value = padding_value, .total_length = total_length}, site);
  return {std::move(padded.output), std::move(padded.lengths)};
}

tandem::Tensor pad_sequence(ArrayRef<tandem::Tensor> sequences, bool batch_first, double padding_value, tandem::Site site) {
  return tandem::nn::utils::rnn::pad_sequence(sequences.vec(), {.batch_first = batch_first, .padding_value = padding_value}, site);
}

PackedSequence pack_sequence(ArrayRef<tandem::Tensor> sequences, bool enforce_sorted, tandem::Site site) {
  std::vector<int64_t> lengths;
  for (const tandem::Tensor& sequence : sequences) lengths.push_back(sequence.size(0, site));
  detail::check_sorted("pack_sequence", lengths, enforce_sorted);
  return PackedSequence(tandem::nn::utils::rnn::pack_sequence(sequences.vec(), enforce_sorted, site));
}

}  // namespace torch::nn::utils::rnn
