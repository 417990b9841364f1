// Data loaders: a dataset in batches, read by threads where asked. tandem's own loader has batches of tensors only and shares its dataset
// among threads; these have batches of any type, and a copy of the dataset for each thread, as libtorch's programs expect.
#pragma once

#include <chrono>
#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/error.h"
#include "libtorch/arg.h"
#include "libtorch/data_datasets.h"
#include "libtorch/data_iterator.h"
#include "libtorch/data_queue.h"
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

/// What both loaders share: `for (auto& batch : *loader)`, each such loop an epoch.
template <class DatasetType, class Batch, class BatchRequest>
class DataLoaderBase {
 public:
  using BatchType = Batch;
  using BatchRequestType = BatchRequest;

  explicit DataLoaderBase(const DataLoaderOptions& options, std::unique_ptr<DatasetType> dataset = nullptr)
      : options_(options), main_thread_dataset_(std::move(dataset)) {
    if (options_.workers > 0 && options_.max_jobs == 0)
      tandem::fail("[DataLoader] max_jobs must be at least 1 where there are workers, got 0");
  }
  DataLoaderBase(const DataLoaderBase&) = delete;
  DataLoaderBase& operator=(const DataLoaderBase&) = delete;
  virtual ~DataLoaderBase() { join(); }

  /// Begins an epoch. Error where workers are still busy with the one before.
  Iterator<Batch> begin(tandem::Site site = tandem::Site::here()) {
    if (shuttle_.in_flight_jobs() > 0)
      tandem::fail(
          "[DataLoader] Attempted to get a new DataLoader iterator while another iterator is not yet exhausted: go through all of ",
          "its batches, or make another loader");
    reset();
    return Iterator<Batch>([this] { return next(); }, site);
  }
  Iterator<Batch> end() { return {}; }
  /// Ends the workers, as the end of the loader does.
  void join() {
    if (joined_) return;
    joined_ = true;
    shuttle_.drain();
    for (size_t i = 0; i < workers_.size(); ++i) shuttle_.push_job(Job());
    for (std::thread& worker : workers_) worker.join();
  }
  [[nodiscard]] const FullDataLoaderOptions& options() const noexcept { return options_; }

 protected:
  struct Job {
    std::optional<BatchRequest> request;  // none: the worker's end
    size_t sequence_number = 0;
  };
  struct Result {
    std::optional<Batch> batch;
    std::exception_ptr error;
    size_t sequence_number = 0;
  };

  /// None at the end of the epoch.
  virtual std::optional<BatchRequest> get_batch_request() = 0;
  virtual void reset() {
    sequence_number_ = 0;
    if (options_.enforce_ordering && options_.workers > 0)
      sequencer_ = std::make_unique<detail::sequencers::OrderedSequencer<Result>>(options_.max_jobs);
    else sequencer_ = std::make_unique<detail::sequencers::NoSequencer<Result>>();
    if (options_.workers > 0) request_batches(options_.max_jobs);
  }
  void start_worker(std::shared_ptr<DatasetType> dataset) {
    workers_.emplace_back([this, dataset = std::move(dataset)] { work(*dataset); });
  }
  [[nodiscard]] DatasetType& main_thread_dataset() { return *main_thread_dataset_; }
  void set_main_thread_dataset(std::unique_ptr<DatasetType> dataset) { main_thread_dataset_ = std::move(dataset); }

  const FullDataLoaderOptions options_;

 private:
  std::optional<Batch> next() {
    if (options_.workers == 0) {
      auto request = get_batch_request();
      if (!request) return std::nullopt;
      return main_thread_dataset_->get_batch(std::move(*request));
    }
    while (auto result = sequencer_->next([this] { return shuttle_.pop_result(options_.timeout); })) {
      if (result->error) throw WorkerException(result->error);
      if (!result->batch) continue;  // a stateful dataset's end
      request_batches(1);
      return std::move(result->batch);
    }
    return std::nullopt;
  }
  void request_batches(size_t count) {
    for (size_t i = 0; i < count; ++i) {
      auto request = get_batch_request();
      if (!request) return;
      shuttle_.push_job({std::move(request), sequence_number_++});
    }
  }
  void work(DatasetType& dataset) {
    while (true) {
      Job job = shuttle_.pop_job();
      if (!job.request) return;
      Result result{{}, {}, job.sequence_number};
      try {
        result.batch = dataset.get_batch(std::move(*job.request));
      } catch (...) {
        result.error = std::current_exception();
      }
      shuttle_.push_result(std::move(result));
    }
  }

  std::unique_ptr<DatasetType> main_thread_dataset_;
  size_t sequence_number_ = 0;
  std::vector<std::thread> workers_;
  detail::DataShuttle<Job, Result> shuttle_;
  std::unique_ptr<detail::sequencers::Sequencer<Result>> sequencer_;
  bool joined_ = false;
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
