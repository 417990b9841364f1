// ChunkDataset: a dataset that comes in chunks, such as files, which threads read ahead and cut into batches.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <iterator>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "base/error.h"
#include "libtorch/arg.h"
#include "libtorch/data_loader.h"

namespace torch::data::datasets {

/// Reads chunks: several at once, where there are several preloaders.
template <class Example_, class Chunk_ = std::vector<Example_>>
class ChunkDataReader {
 public:
  using ChunkType = Chunk_;
  using ExampleType = Example_;

  virtual ~ChunkDataReader() = default;
  virtual ChunkType read_chunk(size_t chunk_index) = 0;
  virtual size_t chunk_count() = 0;
  /// Begins an epoch.
  virtual void reset() = 0;
};

/// Options of ChunkDataset. Error for those that make no sense.
struct ChunkDatasetOptions {
  ChunkDatasetOptions() = delete;
  ChunkDatasetOptions(size_t preloader_count, size_t batch_size, size_t cache_size = 2048, size_t cross_chunk_shuffle_count = 1);
  /// Threads that read chunks.
  TORCH_ARG(size_t, preloader_count);
  TORCH_ARG(size_t, batch_size);
  /// How many examples may wait; a chunk more is read then.
  TORCH_ARG(size_t, cache_size) = 2048;
  /// How many chunks' examples are mixed.
  TORCH_ARG(size_t, cross_chunk_shuffle_count) = 1;
};

namespace detail {

/// The examples that wait, cut into batches.
template <class Chunk, class ExampleSampler>
class ChunkBuffer {
 public:
  ChunkBuffer(size_t batch_size, ExampleSampler& sampler, size_t capacity)
      : batch_size_(batch_size), sampler_(sampler), capacity_(capacity) {}

  /// Waits for a batch; none where there are no more. An error of a preloader is thrown as WorkerException.
  std::optional<Chunk> pop() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return examples_ >= batch_size_ || stopped_ || (!batches_.empty() && batches_.front().error); });
    if (batches_.empty()) return std::nullopt;
    Waiting batch = std::move(batches_.front());
    batches_.pop_front();
    examples_ -= batch.examples.size();
    lock.unlock();
    changed_.notify_all();
    if (batch.error) throw WorkerException(batch.error);
    return std::move(batch.examples);
  }
  /// Waits for room, and cuts a chunk.
  void push(Chunk chunk) {
    std::unique_lock lock(mutex_);
    if (!wait_for_room(lock)) return;
    sampler_.reset(chunk.size());
    for (size_t left = chunk.size(); left > 0;) {
      if (batches_.empty() || batches_.back().error || batches_.back().examples.size() >= batch_size_) batches_.emplace_back();
      Chunk& batch = batches_.back().examples;
      const size_t count = std::min(left, batch_size_ - batch.size());
      const auto indices = sampler_.next(count);
      if (!indices || indices->size() != count)
        tandem::fail("[ChunkDataset] the example sampler gave fewer indices than the chunk has examples");
      for (const size_t index : *indices) {
        if (index >= chunk.size()) tandem::fail<tandem::IndexError>("[ChunkDataset] Index out of range: ", index, " of ", chunk.size());
        batch.push_back(std::move(chunk[index]));
      }
      left -= count;
      examples_ += count;
    }
    lock.unlock();
    changed_.notify_all();
  }
  void push(std::exception_ptr error) {
    std::unique_lock lock(mutex_);
    if (!wait_for_room(lock)) return;
    batches_.push_back({{}, std::move(error)});
    lock.unlock();
    changed_.notify_all();
  }
  /// Nothing more comes: what is there is handed out.
  void stop() {
    {
      const std::lock_guard lock(mutex_);
      stopped_ = true;
    }
    changed_.notify_all();
  }

 private:
  struct Waiting {
    Chunk examples;
    std::exception_ptr error;
  };
  bool wait_for_room(std::unique_lock<std::mutex>& lock) {
    changed_.wait(lock, [this] { return examples_ < capacity_ || stopped_; });
    return !stopped_;
  }

  const size_t batch_size_;
  ExampleSampler& sampler_;
  const size_t capacity_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Waiting> batches_;
  size_t examples_ = 0;  // in batches_
  bool stopped_ = false;
};

}  // namespace detail

/// A stateful dataset: a sampler gives the order of chunks, another that of the examples within. Its state in an archive is that of the
/// first.
template <class ChunkReader, class ChunkSampler = samplers::RandomSampler, class ExampleSampler = samplers::RandomSampler>
class ChunkDataset final
    : public StatefulDataset<ChunkDataset<ChunkReader, ChunkSampler, ExampleSampler>, typename ChunkReader::ChunkType, size_t> {
 public:
  using UnwrappedBatchType = typename ChunkReader::ChunkType;
  using BatchType = std::optional<UnwrappedBatchType>;
  using BatchRequestType = size_t;
  using ChunkSamplerType = ChunkSampler;
  using ExampleSamplerType = ExampleSampler;

  /// `preprocessing_policy` changes each chunk, or the chunks that are mixed, before it is cut.
  ChunkDataset(ChunkReader reader, ChunkSampler chunk_sampler, ExampleSampler example_sampler, ChunkDatasetOptions options,
               std::function<void(UnwrappedBatchType&)> preprocessing_policy = {})
      : reader_(std::move(reader)),
        chunk_sampler_(std::move(chunk_sampler)),
        example_sampler_(std::move(example_sampler)),
        options_(options),
        preprocess_(std::move(preprocessing_policy)) {}
  ChunkDataset(const ChunkDataset&) = delete;
  ChunkDataset& operator=(const ChunkDataset&) = delete;
  ~ChunkDataset() override { stop(); }

  /// Error for another batch size than that of the options.
  BatchType get_batch(size_t batch_size) override {
    if (!buffer_) tandem::fail("[ChunkDataset] Dataset needs to call reset() before calling get_batch().");
    if (batch_size != options_.batch_size())
      tandem::fail("[ChunkDataset] The requested batch size does not match with the initialized batch size.\n The requested batch size is ",
                   batch_size, ", while the dataset is created with batch size equal to ", options_.batch_size());
    return buffer_->pop();
  }
  BatchType get_batch() { return get_batch(options_.batch_size()); }
  /// Begins an epoch, or goes on with the one that was loaded.
  void reset() override {
    stop();
    if (!std::exchange(is_loaded_, false)) {
      reader_.reset();
      chunk_sampler_.reset(reader_.chunk_count());
    }
    buffer_ = std::make_unique<Buffer>(options_.batch_size(), example_sampler_, options_.cache_size());
    quits_ = false;
    running_ = options_.preloader_count();
    for (size_t i = 0; i < options_.preloader_count(); ++i) preloaders_.emplace_back([this] { preload(); });
  }
  [[nodiscard]] std::optional<size_t> size() const override { return std::nullopt; }
  /// The sampler of chunks, as to set an epoch.
  ChunkSampler& chunk_sampler() { return chunk_sampler_; }

  void save(serialize::OutputArchive& archive) const override {
    const std::lock_guard lock(mutex_);
    chunk_sampler_.save(archive);
  }
  void load(serialize::InputArchive& archive) override {
    const std::lock_guard lock(mutex_);
    chunk_sampler_.load(archive);
    is_loaded_ = true;
  }

 private:
  using Buffer = detail::ChunkBuffer<UnwrappedBatchType, ExampleSampler>;

  [[nodiscard]] std::optional<std::vector<size_t>> next_chunks() {
    const std::lock_guard lock(mutex_);
    return quits_ ? std::nullopt : chunk_sampler_.next(options_.cross_chunk_shuffle_count());
  }
  void preload() {
    while (true) {
      try {
        const auto indices = next_chunks();
        if (!indices) break;
        UnwrappedBatchType chunk;
        for (const size_t index : *indices) {
          UnwrappedBatchType more = reader_.read_chunk(index);
          if (chunk.empty()) chunk = std::move(more);
          else std::move(more.begin(), more.end(), std::back_inserter(chunk));
        }
        if (preprocess_) preprocess_(chunk);
        if (!chunk.empty()) buffer_->push(std::move(chunk));
      } catch (...) {
        buffer_->push(std::current_exception());
      }
    }
    const std::lock_guard lock(mutex_);
    if (--running_ == 0) buffer_->stop();
  }
  void stop() {
    if (!buffer_) return;
    {
      const std::lock_guard lock(mutex_);
      quits_ = true;
    }
    buffer_->stop();
    for (std::thread& preloader : preloaders_) preloader.join();
    preloaders_.clear();
  }

  ChunkReader reader_;
  ChunkSampler chunk_sampler_;
  ExampleSampler example_sampler_;
  const ChunkDatasetOptions options_;
  std::function<void(UnwrappedBatchType&)> preprocess_;
  std::unique_ptr<Buffer> buffer_;  // none before the first epoch
  std::vector<std::thread> preloaders_;
  mutable std::mutex mutex_;  // of the chunk sampler and what follows
  size_t running_ = 0;
  bool quits_ = false, is_loaded_ = false;
};

}  // namespace torch::data::datasets
