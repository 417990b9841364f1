#include "libtorch/data_iterator.h"

#include <utility>

#include "base/error.h"

namespace torch::data::detail {

// The batches from begin() on, which all copies of an iterator share.
class IteratorBase::Epoch {
 public:
  Epoch(BatchSource& source, tandem::Site site) : source_(source), site_(site) {}
  [[nodiscard]] void* current() {
    if (!has_begun_) advance();
    return batch_.get();
  }
  void advance() {
    const tandem::Site::InForce in_force(site_.file, site_.line);
    batch_ = source_.next_batch();
    has_begun_ = true;
  }

 private:
  BatchSource& source_;
  tandem::Site site_;
  std::shared_ptr<void> batch_;
  bool has_begun_ = false;
};

IteratorBase::IteratorBase(BatchSource& source, tandem::Site site) : epoch_(std::make_shared<Epoch>(source, site)) {}

void* IteratorBase::batch() const {
  if (!epoch_) tandem::fail("[DataLoader] Dereferencing the DataLoader's past-the-end iterator is not allowed");
  void* batch = epoch_->current();
  if (!batch) tandem::fail("[DataLoader] Attempted to dereference iterator that was past the end");
  return batch;
}

void IteratorBase::advance() {
  if (!epoch_) tandem::fail("[DataLoader] Incrementing the DataLoader's past-the-end iterator is not allowed");
  if (!epoch_->current()) tandem::fail("[DataLoader] Attempted to increment iterator past the end");
  epoch_->advance();
}

bool IteratorBase::is_same(const IteratorBase& other) const {
  if (epoch_ && other.epoch_) return epoch_ == other.epoch_;
  return !(epoch_ && epoch_->current()) && !(other.epoch_ && other.epoch_->current());
}

}  // namespace torch::data::detail
