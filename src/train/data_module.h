// DataModule: the data of a training run, to learn from and to be judged by.
#pragma once

#include <cstdint>
#include <optional>

#include "data/loader.h"

namespace tandem::train {

struct DataModuleOptions {
  int64_t batch_size = 32;
  bool shuffle = true;  // the samples to learn from, in another order each epoch
  bool drop_last = false;
  uint64_t seed = 0;        // of that order
  int num_workers = 0;      // threads that read ahead, for each loader; see DataLoaderOptions
  int prefetch_factor = 2;  // batches that each may be ahead
};

/// Loaders for the Trainer. Built from datasets, or derived for data of one's own.
class DataModule {
 public:
  /// Validates on `val`, in order, after each epoch.
  DataModule(data::AnyDataset train, data::AnyDataset val, DataModuleOptions options = {}, Site site = Site::here());
  /// Without validation.
  explicit DataModule(data::AnyDataset train, DataModuleOptions options = {}, Site site = Site::here());
  virtual ~DataModule() = default;

  /// The loader of one run. The Trainer goes through it once an epoch.
  [[nodiscard]] virtual data::DataLoader train_dataloader() const;
  /// A loader of what the model is judged by, in its order.
  [[nodiscard]] virtual std::optional<data::DataLoader> val_dataloader() const;
  /// What it was made with.
  [[nodiscard]] const DataModuleOptions& options() const { return options_; }

 private:
  data::AnyDataset train_;
  std::optional<data::AnyDataset> val_;
  DataModuleOptions options_;
  Site site_;  // that the loaders' work belongs to
};

}  // namespace tandem::train
