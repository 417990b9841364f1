// Batches out of datasets. TensorDataset gathers rows of host memory by itself: one pass, straight into pinned memory where asked.
#include "data/dataset.h"

#include <cstring>

#include "autograd/autograd.h"
#include "base/error.h"
#include "base/rethrow.h"
#include "data/generator.h"
#include "ops/creation.h"
#include "ops/indexing.h"
#include "ops/join.h"

namespace tandem::data {
namespace {

/// Rows of a dense CPU tensor, one after another in new memory.
Tensor copy_rows(const Tensor& source, std::span<const int64_t> rows, bool pin_memory, Site site) {
  Shape sizes = source.sizes();
  sizes[0] = static_cast<int64_t>(rows.size());
  const Tensor result = empty(sizes, {.dtype = source.dtype(), .pin_memory = pin_memory}, site);
  const size_t row_bytes = source.size(0) ? source.nbytes() / static_cast<size_t>(source.size(0)) : 0;
  if (row_bytes == 0 || rows.empty()) return result;
  const auto* from = static_cast<const char*>(source.data_ptr());
  auto* to = static_cast<char*>(result.data_ptr());
  for (size_t i = 0; i < rows.size(); ++i) std::memcpy(to + i * row_bytes, from + static_cast<size_t>(rows[i]) * row_bytes, row_bytes);
  return result;
}

/// The indices as a tensor where `like` lives; pinned on the way to a GPU, so that the copy need not wait.
Tensor index_tensor(std::span<const int64_t> indices, const Tensor& like, Site site) {
  const Tensor index = empty({static_cast<int64_t>(indices.size())}, {.dtype = kInt64, .pin_memory = like.is_cuda()}, site);
  if (!indices.empty()) std::memcpy(index.data_ptr(), indices.data(), indices.size_bytes());
  return index.to(like.device(), {.non_blocking = true}, site);
}

bool neighbours(std::span<const int64_t> indices) {
  for (size_t i = 1; i < indices.size(); ++i)
    if (indices[i] != indices[i - 1] + 1) return false;
  return !indices.empty();
}

void check_indices(std::span<const int64_t> indices, int64_t size) {
  for (const int64_t index : indices)
    if (index < 0 || index >= size) fail<IndexError>("[TensorDataset] index ", index, " is out of range for ", size, " samples");
}

}  // namespace

const Tensor& Batch::operator[](size_t i) const {
  if (i >= tensors.size()) fail<IndexError>("[Batch] tensor ", i, " asked for, but a sample has ", tensors.size());
  return tensors[i];
}

Batch Batch::to(Device device, ToOptions options, Site site) const {
  Batch moved;
  moved.tensors.reserve(tensors.size());
  for (const Tensor& tensor : tensors) moved.tensors.push_back(tensor.to(device, options, site));
  return moved;
}

Batch Batch::pin_memory(Site site) const {
  Batch pinned;
  pinned.tensors.reserve(tensors.size());
  for (const Tensor& tensor : tensors) pinned.tensors.push_back(tensor.is_cpu() ? tensor.pin_memory(site) : tensor);
  return pinned;
}

std::vector<Sample> read_samples(const Dataset& dataset, std::span<const int64_t> indices, const BatchOptions& options) {
  const NoGradGuard no_grad;
  std::vector<Sample> samples;
  samples.reserve(indices.size());
  for (const int64_t index : indices) {
    const SampleScope scope(options.seed, options.epoch, index);
    try {
      samples.push_back(dataset.get(index));
    } catch (const std::exception&) {
      rethrow_named(str("[Dataset] sample ", index, " cannot be read (mend it, or leave it out by data::subset): "));
    }
  }
  return samples;
}

Batch default_collate(const std::vector<Sample>& samples, Site site) {
  const NoGradGuard no_grad;
  Batch batch;
  if (samples.empty()) return batch;
  const size_t columns = samples[0].tensors.size();
  for (size_t i = 1; i < samples.size(); ++i)
    if (samples[i].tensors.size() != columns)
      fail("[default_collate] sample ", i, " of the batch has ", samples[i].tensors.size(), " tensors, but the first one ", columns);
  for (size_t column = 0; column < columns; ++column) {
    std::vector<Tensor> tensors;
    tensors.reserve(samples.size());
    for (const Sample& sample : samples) {
      tensors.push_back(sample.tensors[column]);
      if (!(tensors.back().sizes() == tensors[0].sizes()))
        fail("[default_collate] samples of a batch must have the same sizes, but tensor ", column, " is ", tensors[0].sizes(),
             " in the first one and ", tensors.back().sizes(),
             " in another: pad or cut them in the dataset, or give the DataLoader a collate_fn");
    }
    batch.tensors.push_back(stack(tensors, 0, site));
  }
  return batch;
}

Batch Dataset::get_batch(std::span<const int64_t> indices, BatchOptions options, Site site) const {
  Batch batch = default_collate(read_samples(*this, indices, options), site);
  return options.pin_memory ? batch.pin_memory(site) : batch;
}

Sample Dataset::operator[](int64_t index) const {
  const int64_t count = size();
  if (index < -count || index >= count) fail<IndexError>("[Dataset] index ", index, " is out of range for ", count, " samples");
  return get(index < 0 ? index + count : index);
}

TensorDataset::TensorDataset(std::vector<Tensor> tensors, Site /*site*/) : tensors_(std::move(tensors)) {
  if (tensors_.empty()) fail("[TensorDataset] needs at least one tensor, and was given none: TensorDataset({inputs, targets})");
  for (size_t i = 0; i < tensors_.size(); ++i) {
    if (tensors_[i].dim() == 0) fail("[TensorDataset] tensor ", i, " has no dimensions; the first one has to count the samples");
    if (tensors_[i].size(0) != tensors_[0].size(0))
      fail("[TensorDataset] size mismatch between tensors: tensor 0 has ", tensors_[0].size(0), " samples, tensor ", i, " has ",
           tensors_[i].size(0), ": give each as many rows, the i-th of all belong to sample i");
  }
  size_ = tensors_[0].size(0);
}

Sample TensorDataset::get(int64_t index) const {
  Sample sample;
  for (const Tensor& tensor : tensors_) sample.tensors.push_back(tensor.select(0, index));
  return sample;
}

Batch TensorDataset::get_batch(std::span<const int64_t> indices, BatchOptions options, Site site) const {
  check_indices(indices, size_);
  const bool as_views = neighbours(indices);
  Batch batch;
  batch.tensors.reserve(tensors_.size());
  for (const Tensor& tensor : tensors_) {
    const bool pin = options.pin_memory && tensor.is_cpu() && !tensor.is_pinned();
    if (as_views && !pin) {
      batch.tensors.push_back(tensor.narrow(0, indices[0], static_cast<int64_t>(indices.size()), site));
    } else if (tensor.is_cpu() && tensor.is_contiguous() && !tensor.requires_grad()) {
      batch.tensors.push_back(copy_rows(tensor, indices, options.pin_memory, site));
    } else {
      Tensor rows = tensor.index_select(0, index_tensor(indices, tensor, site), site);
      batch.tensors.push_back(options.pin_memory && rows.is_cpu() ? rows.pin_memory(site) : std::move(rows));
    }
  }
  return batch;
}

TensorDataset TensorDataset::subset(int64_t begin, int64_t end, Site /*site*/) const {
  if (begin < 0 || end < begin || end > size_)
    fail("[TensorDataset.subset] samples ", begin, " to ", end, " asked for, but there are ", size_, ": 0 <= begin <= end <= ", size_,
         " has to hold");
  std::vector<Tensor> parts;
  for (const Tensor& tensor : tensors_) parts.push_back(tensor.narrow(0, begin, end - begin));
  return TensorDataset(std::move(parts));
}

TensorDataset TensorDataset::subset(std::span<const int64_t> indices, Site site) const {
  check_indices(indices, size_);
  std::vector<Tensor> parts;
  for (const Tensor& tensor : tensors_) parts.push_back(tensor.index_select(0, index_tensor(indices, tensor, site), site));
  return TensorDataset(std::move(parts));
}

}  // namespace tandem::data
