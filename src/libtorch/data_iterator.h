// A loader's iterator: through the batches of an epoch.
#pragma once

#include <cstddef>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>

#include "base/error.h"

namespace torch::data {

/// An input iterator; copies go on together. The first batch is made when it is asked for.
template <class Batch>
class Iterator {
 public:
  using difference_type = std::ptrdiff_t;
  using value_type = Batch;
  using pointer = Batch*;
  using reference = Batch&;
  using iterator_category = std::input_iterator_tag;

  /// The end.
  Iterator() = default;
  /// Errors in batches name `site`, the line of the loop.
  Iterator(std::function<std::optional<Batch>()> next, tandem::Site site) : epoch_(std::make_shared<Epoch>(std::move(next), site)) {}

  /// The batch; waits for it. Error at the end.
  Batch& operator*() const {
    if (!epoch_) tandem::fail("[DataLoader] Dereferencing the DataLoader's past-the-end iterator is not allowed");
    if (!epoch_->current()) tandem::fail("[DataLoader] Attempted to dereference iterator that was past the end");
    return *epoch_->current();
  }
  Batch* operator->() const { return &**this; }
  Iterator& operator++() {
    if (!epoch_) tandem::fail("[DataLoader] Incrementing the DataLoader's past-the-end iterator is not allowed");
    if (!epoch_->current()) tandem::fail("[DataLoader] Attempted to increment iterator past the end");
    epoch_->advance();
    return *this;
  }
  friend bool operator==(const Iterator& a, const Iterator& b) {
    if (a.epoch_ && b.epoch_) return a.epoch_ == b.epoch_;
    return !(a.epoch_ && a.epoch_->current()) && !(b.epoch_ && b.epoch_->current());
  }

 private:
  class Epoch {
   public:
    Epoch(std::function<std::optional<Batch>()> next, tandem::Site site) : next_(std::move(next)), site_(site) {}
    std::optional<Batch>& current() {
      if (!has_begun_) advance();
      return batch_;
    }
    void advance() {
      const tandem::Site::InForce in_force(site_.file, site_.line);
      batch_ = next_();
      has_begun_ = true;
    }

   private:
    std::function<std::optional<Batch>()> next_;
    tandem::Site site_;
    std::optional<Batch> batch_;
    bool has_begun_ = false;
  };
  std::shared_ptr<Epoch> epoch_;
};

}  // namespace torch::data
