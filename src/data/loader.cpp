// The order of an epoch is made at its start; an Epoch (prefetch.h) reads the batches.
#include "data/loader.h"

#include <algorithm>
#include <new>
#include <stdexcept>
#include <utility>

#include "base/error.h"
#include "data/prefetch.h"

namespace tandem::data {
namespace {

void check(const DataLoaderOptions& options) {
  if (options.batch_size <= 0)
    fail("[DataLoader] batch_size must be positive, not ", options.batch_size, ": give the number of samples a batch, such as 32");
  if (options.num_workers < 0)
    fail("[DataLoader] num_workers must not be negative, but is ", options.num_workers, ": give 0 to read in the loop itself");
  if (options.num_workers > detail::kMostWorkers)
    fail("[DataLoader] num_workers must be at most ", detail::kMostWorkers, ", since each is a thread, but is ", options.num_workers);
  if (options.prefetch_factor < 1)
    fail("[DataLoader] prefetch_factor must be positive, not ", options.prefetch_factor,
         ": give the batches that a worker reads ahead, such as 2");
  if (options.sampler && options.shuffle) fail("[DataLoader] sampler and shuffle exclude each other: give the order in one way");
  if (options.batch_sampler && (options.batch_size != 1 || options.shuffle || options.sampler || options.drop_last))
    fail("[DataLoader] batch_sampler excludes batch_size, shuffle, sampler and drop_last: it makes the batches by itself");
}

AnyBatchSampler batches_of(const Dataset& dataset, const DataLoaderOptions& options) {
  if (options.batch_sampler) return *options.batch_sampler;
  const int64_t count = dataset.size();
  const AnySampler sampler = options.sampler   ? *options.sampler
                             : options.shuffle ? AnySampler(RandomSampler(count, {.seed = options.seed}))
                                               : AnySampler(SequentialSampler(count));
  return BatchSampler(sampler, options.batch_size, options.drop_last);
}

[[noreturn]] void fail_past_the_end() {
  fail("[DataLoader] the loop is past its last batch, there is none to read: compare the iterator with end() first");
}

/// The epoch's batches: a list of all samples, of which a dataset or a sampler may say that it has any number.
std::vector<std::vector<int64_t>> order_of(const AnyBatchSampler& sampler, uint64_t epoch) {
  const auto too_many = [&] { fail("[DataLoader] there is no memory for the order of ", sampler->size(), " batches"); };
  try {
    return sampler->batches(epoch);
  } catch (const std::bad_alloc&) {
    too_many();
  } catch (const std::length_error&) {
    too_many();
  }
  return {};
}

}  // namespace

DataLoader::DataLoader(AnyDataset dataset, DataLoaderOptions options, Site site)
    : dataset_(std::move(dataset)), options_(std::move(options)), site_(site) {
  check(options_);
}

int DataLoader::checked_workers(const DataLoaderOptions& options) {
  check(options);
  if (options.collate_fn)
    fail("[DataLoader.in_processes] collate_fn cannot be called in another process: override the dataset's get_batch");
  return std::max(options.num_workers, 1);
}

int64_t DataLoader::size() const { return batch_sampler()->size(); }

AnyBatchSampler DataLoader::batch_sampler() const { return batches_of(*dataset_, options_); }

void DataLoader::set_batch_sampler(AnyBatchSampler batches) {
  options_.batch_size = 1;
  options_.shuffle = options_.drop_last = false;
  options_.sampler.reset();
  options_.batch_sampler = std::move(batches);
}

void DataLoader::set_epoch(uint64_t epoch, int64_t first_batch, Site /*site*/) {
  if (first_batch < 0 || first_batch > size())
    fail("[DataLoader.set_epoch] first_batch must be between 0 and the ", size(), " batches of an epoch, but is ", first_batch);
  epoch_ = epoch;
  first_batch_ = first_batch;
}

DataLoader::Iterator DataLoader::begin() {
  const uint64_t epoch = epoch_++;
  const Device device = options_.device ? tandem::detail::resolve(*options_.device) : cpu();
  const BatchOptions reading = {.pin_memory = options_.pin_memory || device.is_cuda(), .seed = options_.seed, .epoch = epoch};
  std::vector<std::vector<int64_t>> batches = order_of(batch_sampler(), epoch);
  if (static_cast<int64_t>(batches.size()) != size())
    fail("[DataLoader] the batch sampler gave ", batches.size(), " batches, but its size is ", size());
  Iterator iterator;
  const int64_t first = std::exchange(first_batch_, 0);
  const int64_t left = static_cast<int64_t>(batches.size()) - first;
  iterator.epoch_ = std::make_shared<detail::Epoch>(detail::EpochPlan{
      .dataset = dataset_,
      .collate_fn = options_.collate_fn,
      .batches = std::move(batches),
      .first = first,
      .reading = reading,
      .device = options_.device ? std::optional(device) : std::nullopt,
      .num_workers = options_.num_workers,
      .window = std::clamp(int64_t{options_.num_workers} * options_.prefetch_factor, int64_t{1}, std::max<int64_t>(left, 1)),
      .site = site_});
  return iterator;
}

bool DataLoader::Iterator::at_end() const { return !epoch_ || epoch_->at_end(); }

Batch DataLoader::Iterator::operator*() const {
  if (at_end()) fail_past_the_end();
  return epoch_->get();
}

const Batch& DataLoader::Iterator::Held::operator*() const {
  if (!batch_) fail_past_the_end();
  return *batch_;
}

DataLoader::Iterator& DataLoader::Iterator::operator++() {
  if (!at_end()) epoch_->next();
  return *this;
}

DataLoader::Iterator::Held DataLoader::Iterator::operator++(int) {
  Held before(at_end() ? std::nullopt : std::optional(epoch_->get()));
  ++*this;
  return before;
}

}  // namespace tandem::data
