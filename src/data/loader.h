// DataLoader: a dataset in batches, in an order that the seed and the epoch alone decide.
#pragma once

#include <cstdint>
#include <iterator>
#include <memory>
#include <vector>

#include "data/dataset.h"

namespace tandem::data {

struct DataLoaderOptions {
  int64_t batch_size = 1;
  bool shuffle = false;     // another order each epoch
  bool drop_last = false;   // leave out a last batch that is not full
  bool pin_memory = false;  // batches in page-locked memory
  uint64_t seed = 0;        // of the order
};

/// 0 … count - 1 in an order made from the seed and the epoch alone; random numbers drawn elsewhere do not change it.
[[nodiscard]] std::vector<int64_t> shuffled_indices(int64_t count, uint64_t seed, uint64_t epoch);

/// Hands out a dataset's samples in batches: `for (const auto& [x, y] : loader)`. Each such loop is one epoch. As
/// torch.utils.data.DataLoader.
class DataLoader {
 public:
  /// Error where batch_size is not positive.
  explicit DataLoader(AnyDataset dataset, DataLoaderOptions options = {}, Site site = Site::here());

  /// Batches an epoch.
  [[nodiscard]] int64_t size() const;
  [[nodiscard]] const Dataset& dataset() const { return *dataset_; }
  [[nodiscard]] const DataLoaderOptions& options() const { return options_; }
  /// The epoch that the next loop is: 0 for a new loader, one more after each loop.
  [[nodiscard]] uint64_t epoch() const { return epoch_; }
  /// The next loop is epoch `epoch`, from its batch `first_batch` on: where a run that was interrupted goes on.
  void set_epoch(uint64_t epoch, int64_t first_batch = 0);
  void set_pin_memory(bool pin_memory) { options_.pin_memory = pin_memory; }

  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = Batch;
    using difference_type = std::ptrdiff_t;
    using pointer = const Batch*;
    using reference = Batch;

    /// Gathers the batch.
    Batch operator*() const;
    Iterator& operator++() {
      ++batch_;
      return *this;
    }
    friend bool operator==(const Iterator& a, const Iterator& b) { return a.batch_ == b.batch_; }

   private:
    friend class DataLoader;
    const DataLoader* loader_ = nullptr;
    std::shared_ptr<const std::vector<int64_t>> order_;
    int64_t batch_ = 0;
  };
  /// Starts an epoch.
  [[nodiscard]] Iterator begin();
  [[nodiscard]] Iterator end() const;

 private:
  AnyDataset dataset_;
  DataLoaderOptions options_;
  Site site_;
  uint64_t epoch_ = 0;
  int64_t first_batch_ = 0;  // of the next loop
};

}  // namespace tandem::data
