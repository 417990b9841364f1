// Datasets: a number of samples, and the samples at given indices. Derive from Dataset for one's own; TensorDataset has tensors sliced by
// samples.
#pragma once

#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "data/shared_value.h"
#include "tensor/tensor.h"

namespace tandem::data {

/// The tensors of one sample, or of several samples stacked: by convention the inputs first and the target last.
struct Batch {
  std::vector<Tensor> tensors;

  /// Tensor i. IndexError where there are fewer.
  [[nodiscard]] const Tensor& operator[](size_t i) const;
  /// The first one.
  [[nodiscard]] const Tensor& input() const { return (*this)[0]; }
  /// The last one.
  [[nodiscard]] const Tensor& target() const { return (*this)[tensors.empty() ? 0 : tensors.size() - 1]; }
  /// How many samples: the size of the first dimension.
  [[nodiscard]] int64_t size() const { return input().size(0, Site::none()); }
  /// The tensors that are in host memory, in page-locked memory.
  [[nodiscard]] Batch pin_memory(Site site = Site::here()) const;
  /// All tensors on `device`; those there already are the same.
  [[nodiscard]] Batch to(Device device, ToOptions options = {}, Site site = Site::here()) const;

  /// For `const auto& [x, y] = batch`: the first two.
  template <size_t i>
  [[nodiscard]] const Tensor& get() const {
    return (*this)[i];
  }
};
/// One sample: the same without the dimension of the batch.
using Sample = Batch;

struct BatchOptions {
  bool pin_memory = false;       // gather into page-locked memory, so that copies to a GPU need not wait
  uint64_t seed = 0, epoch = 0;  // of the samples' random numbers, see sample_generator
};

/// A number of samples that can be asked for by index. As torch.utils.data.Dataset.
class Dataset {
 public:
  virtual ~Dataset() = default;

  [[nodiscard]] virtual int64_t size() const = 0;
  /// Sample `index`, of 0 … size() - 1. A loader with workers calls it from several threads at once.
  [[nodiscard]] virtual Sample get(int64_t index) const = 0;
  /// The samples at `indices`, each tensor stacked along a new first dimension. A dataset that can do it in one go overrides this.
  [[nodiscard]] virtual Batch get_batch(std::span<const int64_t> indices, BatchOptions options = {}, Site site = Site::here()) const;
  /// `get`, with the index checked; negative ones count from the end. IndexError outside.
  [[nodiscard]] Sample operator[](int64_t index) const;
};

/// Any dataset, held as a value: what loaders take. Copies share it.
using AnyDataset = SharedValue<Dataset>;

/// The samples at `indices`, one after another, each in its SampleScope. An error in one names its index.
[[nodiscard]] std::vector<Sample> read_samples(const Dataset& dataset, std::span<const int64_t> indices, const BatchOptions& options);
/// Each tensor of the samples stacked along a new first dimension. Error where their numbers of tensors or sizes differ. As
/// torch.utils.data.default_collate.
[[nodiscard]] Batch default_collate(const std::vector<Sample>& samples, Site site = Site::here());

/// Tensors whose first dimension counts the samples. Holds the tensors themselves, not copies. As torch.utils.data.TensorDataset.
class TensorDataset : public Dataset {
 public:
  /// Error where there is no tensor, one without dimensions, or first dimensions that differ.
  explicit TensorDataset(std::vector<Tensor> tensors, Site = Site::here());

  [[nodiscard]] int64_t size() const override { return size_; }
  [[nodiscard]] Sample get(int64_t index) const override;
  /// Neighbouring indices give views, others one gathering copy a tensor, on the device where the tensor lives.
  [[nodiscard]] Batch get_batch(std::span<const int64_t> indices, BatchOptions options = {}, Site site = Site::here()) const override;
  /// Samples begin … end - 1, as views. Error unless 0 <= begin <= end <= size().
  [[nodiscard]] TensorDataset subset(int64_t begin, int64_t end, Site = Site::here()) const;
  /// The samples at `indices`, as a copy.
  [[nodiscard]] TensorDataset subset(std::span<const int64_t> indices, Site site = Site::here()) const;
  /// All of its tensors.
  [[nodiscard]] const std::vector<Tensor>& tensors() const { return tensors_; }

 private:
  std::vector<Tensor> tensors_;
  int64_t size_ = 0;
};

}  // namespace tandem::data

/// A batch comes apart into its first two tensors.
template <>
struct std::tuple_size<tandem::data::Batch> : std::integral_constant<size_t, 2> {};
template <size_t i>
struct std::tuple_element<i, tandem::data::Batch> {
  using type = const tandem::Tensor;
};
