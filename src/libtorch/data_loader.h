// Data loaders: a dataset in batches, read by threads where asked. tandem's own loader has batches of tensors only and shares its dataset
// among threads; these have batches of any type, and a copy of the dataset for each thread, as libtorch's programs expect.
#pragma once

#include <chrono>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "base/error.h"
#include "libtorch/arg.h"
#include "libtorch/data_datasets.h"
#include "libtorch/data_iterator.h"
#include "libtorch/data_samplers.h"

namespace torch::data {

/// What an error in a worker is where the loop asks for its batch.
struct WorkerException : public std::exception {
  explicit WorkerException(std::exception_ptr original);
  [[nodiscard]] const char* what() const noexcept override;

  std::exception_ptr original_exception;
  std::string message;
};

struct DataLoaderOptions {
  DataLoaderOptions() = default;
  DataLoaderOptions(size_t batch_size) : batch_size_(batch_size) {}
  TORCH_ARG(size_t, batch_size) = 1;
  /// Threads that read; 0: the loop's own thread.
  TORCH_ARG(size_t, workers) = 0;
  /// How many batches are on their way at once; twice the workers unless given.
  TORCH_ARG(std::optional<size_t>, max_jobs);
  /// How long the loop waits for a batch of a worker.
  TORCH_ARG(std::optional<std::chrono::milliseconds>, timeout);
  /// Batches of workers in the order of their requests.
  TORCH_ARG(bool, enforce_ordering) = true;
  /// Leave out a last batch that is not full.
  TORCH_ARG(bool, drop_last) = false;
};

/// Options with all that was left out.
struct FullDataLoaderOptions {
  explicit FullDataLoaderOptions(const DataLoaderOptions& options);
  size_t batch_size, workers, max_jobs;
  std::optional<std::chrono::milliseconds> timeout;
  bool enforce_ordering, drop_last;
};

namespace detail {

/// What loaders do whatever their batches are: requests to the workers, batches back. Pointers that forget their type hold both.
class LoaderBase : public BatchSource {
 public:
  explicit LoaderBase(const DataLoaderOptions& options);
  LoaderBase(const LoaderBase&) = delete;
  LoaderBase& operator=(const LoaderBase&) = delete;
  ~LoaderBase() override;

  /// Ends the workers, as the end of the loader does.
  void join();
  [[nodiscard]] const FullDataLoaderOptions& options() const noexcept { return options_; }

  /// For the iterator.
  std::shared_ptr<void> next_batch() override;

 protected:
  using Erased = std::shared_ptr<void>;
  /// From a request to its batch; none from a stateful dataset at its end.
  using Reader = std::function<Erased(void* request)>;

  /// Begins an epoch. Error where workers are still busy with the one before.
  void begin_epoch();
  virtual void reset();
  /// None at the end of the epoch.
  virtual Erased next_request() = 0;
  void start_worker(Reader reader);
  /// What reads where there are no workers.
  void set_main_thread_reader(Reader reader);

  const FullDataLoaderOptions options_;

 private:
  struct Workers;
  void request_batches(size_t count);

  Reader main_thread_reader_;
  std::unique_ptr<Workers> workers_;
};

}  // namespace detail

/// What both loaders share: `for (auto& batch : *loader)`, each such loop an epoch.
template <class DatasetType, class Batch, class BatchRequest>
class DataLoaderBase : public detail::LoaderBase {
 public:
  using BatchType = Batch;
  using BatchRequestType = BatchRequest;

  explicit DataLoaderBase(const DataLoaderOptions& options, std::unique_ptr<DatasetType> dataset = nullptr) : LoaderBase(options) {
    if (dataset) set_main_thread_dataset(std::move(dataset));
  }
  ~DataLoaderBase() override { join(); }

  /// Begins an epoch. Error where workers are still busy with the one before.
  Iterator<Batch> begin(tandem::Site site = tandem::Site::here()) {
    begin_epoch();
    return {*this, site};
  }
  Iterator<Batch> end() { return {}; }

 protected:
  /// None at the end of the epoch.
  virtual std::optional<BatchRequest> get_batch_request() = 0;
  void start_worker(std::shared_ptr<DatasetType> dataset) {
    LoaderBase::start_worker([dataset = std::move(dataset)](void* request) { return read(*dataset, request); });
  }
  [[nodiscard]] DatasetType& main_thread_dataset() { return *main_thread_dataset_; }
  void set_main_thread_dataset(std::unique_ptr<DatasetType> dataset) {
    main_thread_dataset_ = std::move(dataset);
    set_main_thread_reader([this](void* request) { return read(*main_thread_dataset_, request); });
  }

 private:
  Erased next_request() final {
    auto request = get_batch_request();
    return request ? Erased(new BatchRequest(std::move(*request))) : nullptr;
  }
  static Erased read(DatasetType& dataset, void* request) {
    std::optional<Batch> batch = dataset.get_batch(std::move(*static_cast<BatchRequest*>(request)));
    return batch ? Erased(new Batch(std::move(*batch))) : nullptr;
  }

  std::unique_ptr<DatasetType> main_thread_dataset_;
};

/// A loader whose sampler says which examples each batch has; each worker has a copy of the dataset.
template <class DatasetType, class Sampler>
class StatelessDataLoader : public DataLoaderBase<DatasetType, typename DatasetType::BatchType, typename Sampler::BatchRequestType> {
  using Base = DataLoaderBase<DatasetType, typename DatasetType::BatchType, typename Sampler::BatchRequestType>;

 public:
  StatelessDataLoader(DatasetType dataset, Sampler sampler, const DataLoaderOptions& options)
      : Base(options), sampler_(std::move(sampler)) {
    if (this->options_.workers == 0) {
      this->set_main_thread_dataset(std::make_unique<DatasetType>(std::move(dataset)));
    } else if constexpr (std::is_copy_constructible_v<DatasetType>) {
      for (size_t i = 0; i < this->options_.workers; ++i) this->start_worker(std::make_shared<DatasetType>(dataset));
    } else {
      tandem::fail("[DataLoader] a dataset that cannot be copied has no copy for each worker: make it by make_shared_dataset");
    }
  }
  ~StatelessDataLoader() override { this->join(); }

 private:
  void reset() override {
    sampler_.reset(std::nullopt);
    Base::reset();
  }
  std::optional<typename Sampler::BatchRequestType> get_batch_request() override {
    auto request = sampler_.next(this->options_.batch_size);
    if (!request || (request->size() < this->options_.batch_size && this->options_.drop_last)) return std::nullopt;
    if (request->size() == 0) tandem::fail("[DataLoader] the sampler asks for a batch of no examples; its end is a request of none");
    return request;
  }

  Sampler sampler_;
};

/// A loader of a stateful dataset, which all workers share.
template <class DatasetType>
class StatefulDataLoader
    : public DataLoaderBase<DatasetType, typename DatasetType::BatchType::value_type, typename DatasetType::BatchRequestType> {
  using Base = DataLoaderBase<DatasetType, typename DatasetType::BatchType::value_type, typename DatasetType::BatchRequestType>;

 public:
  StatefulDataLoader(DatasetType dataset, const DataLoaderOptions& options)
      : Base(options, std::make_unique<DatasetType>(std::move(dataset))) {
    for (size_t i = 0; i < this->options_.workers; ++i)
      this->start_worker(std::shared_ptr<DatasetType>(std::shared_ptr<void>(), &this->main_thread_dataset()));
  }
  ~StatefulDataLoader() override { this->join(); }

 private:
  void reset() override {
    this->main_thread_dataset().reset();
    Base::reset();
  }
  std::optional<typename DatasetType::BatchRequestType> get_batch_request() override { return this->options_.batch_size; }
};

/// A loader of a dataset with a sampler.
template <class DatasetType, class Sampler>
requires(!DatasetType::is_stateful) std::unique_ptr<StatelessDataLoader<DatasetType, Sampler>> make_data_loader(DatasetType dataset,
                                                                                                                Sampler sampler,
                                                                                                                DataLoaderOptions options) {
  return std::make_unique<StatelessDataLoader<DatasetType, Sampler>>(std::move(dataset), std::move(sampler), options);
}
/// The same with a sampler made for the dataset's size: a random one unless named. Error where the size is not known.
template <class Sampler = samplers::RandomSampler, class DatasetType>
requires(!DatasetType::is_stateful && std::is_constructible_v<Sampler, size_t>)
    std::unique_ptr<StatelessDataLoader<DatasetType, Sampler>> make_data_loader(DatasetType dataset,
                                                                                DataLoaderOptions options = DataLoaderOptions(),
                                                                                tandem::Site = tandem::Site::here()) {
  const std::optional<size_t> size = dataset.size();
  if (!size) tandem::fail("[make_data_loader] Expected the dataset to be sized in order to construct the Sampler: give one yourself");
  return std::make_unique<StatelessDataLoader<DatasetType, Sampler>>(std::move(dataset), Sampler(static_cast<int64_t>(*size)), options);
}
/// A loader of a stateful dataset.
template <class DatasetType>
requires(DatasetType::is_stateful) std::unique_ptr<StatefulDataLoader<DatasetType>> make_data_loader(
    DatasetType dataset, DataLoaderOptions options = DataLoaderOptions()) {
  return std::make_unique<StatefulDataLoader<DatasetType>>(std::move(dataset), options);
}

}  // namespace torch::data
