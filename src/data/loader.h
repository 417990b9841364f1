// DataLoader: a dataset in batches, in an order that the seed and the epoch alone decide, read ahead by threads where asked.
#pragma once

#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <vector>

#include "data/dataset.h"
#include "data/process_dataset.h"
#include "data/sampler.h"

namespace tandem::data {

namespace detail {
class Epoch;
}

/// From samples to a batch.
using Collate = std::function<Batch(std::vector<Sample>)>;

struct DataLoaderOptions {
  int64_t batch_size = 1;
  bool shuffle = false;                               // another order each epoch
  bool drop_last = false;                             // leave out a last batch that is not full
  bool pin_memory = false;                            // batches in page-locked memory
  uint64_t seed = 0;                                  // of the order, and of the samples' random numbers (sample_generator)
  int num_workers = 0;                                // threads that read ahead; 0: the loop's own thread reads when it asks
  int prefetch_factor = 2;                            // batches that each worker may be ahead of the loop
  std::optional<Device> device = {};                  // where batches are handed out; where their tensors are unless given
  std::optional<AnySampler> sampler = {};             // instead of shuffle
  std::optional<AnyBatchSampler> batch_sampler = {};  // instead of batch_size, shuffle, sampler and drop_last
  Collate collate_fn = {};                            // instead of the dataset's get_batch
};

/// Hands out a dataset's samples in batches: `for (const auto& [x, y] : loader)`. Each such loop is one epoch. As
/// torch.utils.data.DataLoader.
///
/// With workers, up to num_workers * prefetch_factor batches are read ahead, each by one thread; they come out in order, with the same
/// bits for any number of workers. With a GPU as `device`, the two batches after the loop's are copied there meanwhile, through
/// page-locked memory and on a stream for such copies. An error in a worker is thrown where the loop asks for its batch. Leaving a loop
/// waits for the batches that workers are in the middle of.
class DataLoader {
 public:
  /// Error where a number is out of range, or where options exclude each other.
  explicit DataLoader(AnyDataset dataset, DataLoaderOptions options = {}, Site site = Site::here());

  /// A loader of the dataset that `make(arguments…)` gives, made in each of num_workers processes (one where that is 0) and read there: for
  /// code that must not be called from several threads at once. The samples are those that the dataset gives in this process. main must
  /// have called multiprocessing::init; `make` is a plain function, and its arguments are as those of multiprocessing::Process. An error in
  /// a worker, or its end, is a multiprocessing::ProcessError where the loop asks for its batch. Error for options with collate_fn: the
  /// dataset's get_batch is what makes batches.
  template <class D, class... P, class... A>
  requires std::derived_from<D, Dataset>
  [[nodiscard]] static DataLoader in_processes(D (*make)(P...), DataLoaderOptions options, const A&... arguments) {
    const AnyDataset dataset = detail::dataset_in_processes(checked_workers(options), make, arguments...);
    return DataLoader(dataset, std::move(options), Site::none());
  }

  /// Batches an epoch.
  [[nodiscard]] int64_t size() const;
  /// What it reads.
  [[nodiscard]] const Dataset& dataset() const { return *dataset_; }
  /// What it was made with, and what was set since.
  [[nodiscard]] const DataLoaderOptions& options() const { return options_; }
  /// The epoch that the next loop is: 0 for a new loader, one more after each loop.
  [[nodiscard]] uint64_t epoch() const { return epoch_; }
  /// The next loop is epoch `epoch`, from its batch `first_batch` on: where a run that was interrupted goes on.
  void set_epoch(uint64_t epoch, int64_t first_batch = 0, Site = Site::here());
  /// What makes an epoch's batches: the options' batch_sampler, or one of the order and batch_size.
  [[nodiscard]] AnyBatchSampler batch_sampler() const;
  /// From the next loop on `batches` makes them, instead of the options.
  void set_batch_sampler(AnyBatchSampler batches);
  /// From the next loop on batches are handed out on `device`.
  void set_device(Device device) { options_.device = device; }

  /// Goes through an epoch once: an input iterator. Copies go on together. Past the last batch it stays equal to end().
  class Iterator {
   public:
    /// The batch that an iterator was at; none where that was the end.
    class Held {
     public:
      explicit Held(std::optional<Batch> batch) : batch_(std::move(batch)) {}
      const Batch& operator*() const;
      const Batch* operator->() const { return &**this; }

     private:
      std::optional<Batch> batch_;
    };
    using iterator_category = std::input_iterator_tag;
    using value_type = Batch;
    using difference_type = std::ptrdiff_t;
    using pointer = Held;
    using reference = Batch;

    /// The batch; waits for it. On a GPU, work queued on the calling thread's current stream from now on may use it. Error at the end.
    Batch operator*() const;
    Held operator->() const { return Held(**this); }
    Iterator& operator++();
    /// Reads the batch before it goes on, for `*it++`.
    Held operator++(int);
    friend bool operator==(const Iterator& a, const Iterator& b) { return a.at_end() ? b.at_end() : a.epoch_ == b.epoch_; }

   private:
    friend class DataLoader;
    [[nodiscard]] bool at_end() const;
    std::shared_ptr<detail::Epoch> epoch_;  // none: the end
  };
  /// Starts an epoch.
  [[nodiscard]] Iterator begin();
  [[nodiscard]] Iterator end() const { return {}; }

 private:
  /// How many processes the options ask for. The errors of a loader, before a process is started.
  static int checked_workers(const DataLoaderOptions& options);

  AnyDataset dataset_;
  DataLoaderOptions options_;
  Site site_;
  uint64_t epoch_ = 0;
  int64_t first_batch_ = 0;  // of the next loop
};

}  // namespace tandem::data
