#include "train/data_module.h"

#include <utility>

namespace tandem::train {

DataModule::DataModule(data::AnyDataset train, data::AnyDataset val, DataModuleOptions options, Site site)
    : train_(std::move(train)), val_(std::move(val)), options_(options), site_(site) {}

DataModule::DataModule(data::AnyDataset train, DataModuleOptions options, Site site)
    : train_(std::move(train)), options_(options), site_(site) {}

data::DataLoader DataModule::train_dataloader() const {
  return data::DataLoader(train_,
                          {.batch_size = options_.batch_size,
                           .shuffle = options_.shuffle,
                           .drop_last = options_.drop_last,
                           .seed = options_.seed,
                           .num_workers = options_.num_workers,
                           .prefetch_factor = options_.prefetch_factor},
                          site_);
}

std::optional<data::DataLoader> DataModule::val_dataloader() const {
  if (!val_) return std::nullopt;
  return data::DataLoader(
      *val_, {.batch_size = options_.batch_size, .num_workers = options_.num_workers, .prefetch_factor = options_.prefetch_factor}, site_);
}

}  // namespace tandem::train
