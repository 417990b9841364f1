// Packing and padding are one gather each: the host works out where every row comes from.
#include "nn/packed_sequence.h"

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "ops/creation.h"
#include "ops/indexing.h"
#include "ops/join.h"
#include "tensor/host_values.h"

namespace tandem::nn::utils::rnn {
namespace {

Shape read_integers(const char* op, const char* name, const Tensor& x, Site site) {
  if (x.dim() != 1 || is_floating(x.dtype())) fail("[", op, "] ", name, " must be a vector of integers, not ", x.dtype(), " ", x.sizes());
  return read_values(x, -1, "PackedSequence", site).integers;
}

Tensor index_on(Device device, const std::vector<int64_t>& values, Site site) {
  return tensor(values, {.dtype = kInt64, .device = device}, site);
}

/// Time and batch as one dimension, of the rows at `at(time, sequence)`.
struct SequenceRows {
  Tensor all;
  int64_t steps, batch;
  bool batch_first;

  SequenceRows(const char* op, const Tensor& padded, bool batch_first, Site site) : batch_first(batch_first) {
    if (padded.dim() < 2) fail("[", op, "] expected padded sequences with at least 2 dimensions, time and batch, got ", padded.sizes());
    steps = padded.size(batch_first ? 1 : 0);
    batch = padded.size(batch_first ? 0 : 1);
    all = padded.flatten(0, 1, site);
  }
  [[nodiscard]] int64_t at(int64_t time, int64_t sequence) const { return batch_first ? sequence * steps + time : time * batch + sequence; }
};

void check_lengths(const char* op, const Shape& lengths, int64_t batch, int64_t steps) {
  if (static_cast<int64_t>(lengths.size()) != batch)
    fail("[", op, "] Expected `len(lengths)` to be equal to batch_size, but got ", lengths.size(), " (batch_size=", batch, ")");
  for (const int64_t length : lengths) {
    if (length <= 0)
      fail("[", op, "] Length of all samples has to be greater than 0, but found an element in 'lengths' that is <= 0: ", length);
    if (length > steps) fail("[", op, "] Expected all lengths to be at most the number of steps, ", steps, ", but got ", length);
  }
}

/// For each step the sequences, of those in decreasing order of length, that reach it.
std::vector<int64_t> sizes_of_steps(const std::vector<int64_t>& decreasing) {
  std::vector<int64_t> sizes(static_cast<size_t>(decreasing.empty() ? 0 : decreasing[0]));
  for (const int64_t length : decreasing)
    for (int64_t t = 0; t < length; ++t) ++sizes[static_cast<size_t>(t)];
  return sizes;
}

}  // namespace

PackedSequence PackedSequence::to(Device device, Site site) const {
  const auto moved = [&](const Tensor& x) { return x.defined() ? x.to(device, {}, site) : x; };
  return {moved(data), batch_sizes, moved(sorted_indices), moved(unsorted_indices)};
}

PackedSequence pack_padded_sequence(const Tensor& input, const Shape& lengths, const PackOptions& options, Site site) {
  const char* op = "pack_padded_sequence";
  const SequenceRows rows(op, input, options.batch_first, site);
  check_lengths(op, lengths, rows.batch, rows.steps);
  std::vector<int64_t> order(lengths.size());
  std::iota(order.begin(), order.end(), 0);
  const auto length_of = [&](int64_t i) { return lengths[static_cast<size_t>(i)]; };
  const auto longer = [&](int64_t a, int64_t b) { return length_of(a) > length_of(b); };
  if (options.enforce_sorted && !std::is_sorted(order.begin(), order.end(), longer))
    fail("[", op, "] `lengths` array must be sorted in decreasing order when `enforce_sorted` is true, but is ", lengths, ": ",
         Hint("pass {.enforce_sorted = false} to have the sequences sorted here",
              "pass enforce_sorted=False to have the sequences sorted here"));
  std::stable_sort(order.begin(), order.end(), longer);

  std::vector<int64_t> decreasing, places(order.size()), from;
  for (size_t i = 0; i < order.size(); ++i) {
    decreasing.push_back(length_of(order[i]));
    places[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
  }
  const std::vector<int64_t> sizes = sizes_of_steps(decreasing);
  for (size_t t = 0; t < sizes.size(); ++t)
    for (int64_t i = 0; i < sizes[t]; ++i) from.push_back(rows.at(static_cast<int64_t>(t), order[static_cast<size_t>(i)]));

  PackedSequence packed;
  packed.data = index_select(rows.all, 0, index_on(input.device(), from, site), site);
  packed.batch_sizes = index_on(Device(), sizes, site);
  if (!options.enforce_sorted) {
    packed.sorted_indices = index_on(input.device(), order, site);
    packed.unsorted_indices = index_on(input.device(), places, site);
  }
  return packed;
}

PackedSequence pack_padded_sequence(const Tensor& input, const Tensor& lengths, const PackOptions& options, Site site) {
  return pack_padded_sequence(input, read_integers("pack_padded_sequence", "lengths", lengths, site), options, site);
}

PaddedSequences pad_packed_sequence(const PackedSequence& sequence, const PadPackedOptions& options, Site site) {
  const char* op = "pad_packed_sequence";
  const Shape sizes = read_integers(op, "batch_sizes", sequence.batch_sizes, site);
  const auto longest = static_cast<int64_t>(sizes.size());
  const int64_t steps = options.total_length.value_or(longest), batch = sizes.empty() ? 0 : sizes[0];
  if (steps < longest)
    fail("[", op, "] Expected total_length to be at least the length of the longest sequence in input, but got total_length=", steps,
         " and max sequence length being ", longest);
  std::vector<int64_t> order(static_cast<size_t>(batch));
  std::iota(order.begin(), order.end(), 0);
  if (sequence.sorted_indices.defined()) {
    const Shape sorted = read_integers(op, "sorted_indices", sequence.sorted_indices, site);
    order.assign(sorted.begin(), sorted.end());
  }

  // SequenceRows that no sequence reaches take a row of padding, which stands behind the data.
  const int64_t padding = sequence.data.size(0);
  std::vector<int64_t> from(static_cast<size_t>(steps * batch), padding), lengths(static_cast<size_t>(batch));
  int64_t row = 0;
  for (int64_t t = 0; t < longest; ++t) {
    for (int64_t i = 0; i < sizes[static_cast<size_t>(t)]; ++i, ++row) {
      const int64_t own = order[static_cast<size_t>(i)];
      from[static_cast<size_t>(options.batch_first ? own * steps + t : t * batch + own)] = row;
      lengths[static_cast<size_t>(own)] = t + 1;
    }
  }
  Shape one = sequence.data.sizes();
  one[0] = 1;
  const Tensor pad = full(one, options.padding_value, {.dtype = sequence.data.dtype(), .device = sequence.data.device()}, site);
  const Tensor flat = index_select(cat({sequence.data, pad}, 0, site), 0, index_on(sequence.data.device(), from, site), site);
  return {flat.unflatten(0, options.batch_first ? Shape{batch, steps} : Shape{steps, batch}, site), index_on(Device(), lengths, site)};
}

Tensor pad_sequence(const std::vector<Tensor>& sequences, const PadOptions& options, Site site) {
  const char* op = "pad_sequence";
  if (sequences.empty()) fail("[", op, "] received an empty list of sequences");
  int64_t longest = 0;
  for (const Tensor& x : sequences) {
    if (x.dim() < 1 || x.sizes().size() != sequences[0].sizes().size())
      fail("[", op, "] sequences need one dimension or more, and all as many, but there are sizes ", sequences[0].sizes(), " and ",
           x.sizes());
    longest = std::max(longest, x.size(0));
  }
  std::vector<Tensor> padded;
  for (const Tensor& x : sequences) {
    Shape rest = x.sizes();
    rest[0] = longest - x.size(0);
    if (rest[0] == 0) {
      padded.push_back(x);
      continue;
    }
    const Tensor pad = full(rest, options.padding_value, {.dtype = x.dtype(), .device = x.device()}, site);
    padded.push_back(options.left ? cat({pad, x}, 0, site) : cat({x, pad}, 0, site));
  }
  return stack(padded, options.batch_first ? 0 : 1, site);
}

std::vector<Tensor> unpad_sequence(const Tensor& padded, const Shape& lengths, Flag batch_first, Site site) {
  const char* op = "unpad_sequence";
  if (padded.dim() < 2) fail("[", op, "] expected padded sequences with at least 2 dimensions, time and batch, got ", padded.sizes());
  const Tensor by_sequence = batch_first ? padded : padded.transpose(0, 1, site);
  check_lengths(op, lengths, by_sequence.size(0), by_sequence.size(1));
  std::vector<Tensor> sequences;
  for (size_t i = 0; i < lengths.size(); ++i)
    sequences.push_back(by_sequence.select(0, static_cast<int64_t>(i), site).narrow(0, 0, lengths[i], site));
  return sequences;
}

PackedSequence pack_sequence(const std::vector<Tensor>& sequences, Flag enforce_sorted, Site site) {
  std::vector<int64_t> lengths;
  const Tensor padded = pad_sequence(sequences, {}, site);
  for (const Tensor& x : sequences) lengths.push_back(x.size(0));
  return pack_padded_sequence(padded, lengths, {.enforce_sorted = enforce_sorted}, site);
}

std::vector<Tensor> unpack_sequence(const PackedSequence& packed, Site site) {
  const PaddedSequences padded = pad_packed_sequence(packed, {.batch_first = true}, site);
  return unpad_sequence(padded.output, read_integers("unpack_sequence", "lengths", padded.lengths, site), true, site);
}

}  // namespace tandem::nn::utils::rnn
