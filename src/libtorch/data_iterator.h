// A loader's iterator: through the batches of an epoch.
#pragma once

#include <cstddef>
#include <iterator>
#include <memory>

#include "base/site.h"

namespace torch::data {

namespace detail {

/// Makes batches, one after another; nullptr at the end of the epoch. The pointer says nothing of the batch's type.
class BatchSource {
 public:
  virtual ~BatchSource() = default;
  virtual std::shared_ptr<void> next_batch() = 0;
};

/// The part of a loader's iterator that does not depend on the type of batches. Copies share their place: advancing one advances all. No
/// batch is made before the first is asked for.
class IteratorBase {
 public:
  /// The end of an epoch.
  IteratorBase() = default;
  /// The start of an epoch of `source`, which must outlive this. Errors in batches name `site`, the line of the loop.
  IteratorBase(BatchSource& source, tandem::Site site);

 protected:
  /// The batch; waits for it. Valid until the next advance. Error at the end.
  [[nodiscard]] void* batch() const;
  /// Goes on to the next batch. Error at the end.
  void advance();
  /// Whether both are at the same place of an epoch, or at an end. May wait for the first batch.
  [[nodiscard]] bool is_same(const IteratorBase& other) const;

 private:
  class Epoch;
  std::shared_ptr<Epoch> epoch_;
};

}  // namespace detail

/// An input iterator. Copies share their place: advancing one advances all. No batch is made before the first is asked for.
template <class Batch>
class Iterator : public detail::IteratorBase {
 public:
  using difference_type = std::ptrdiff_t;
  using value_type = Batch;
  using pointer = Batch*;
  using reference = Batch&;
  using iterator_category = std::input_iterator_tag;

  using IteratorBase::IteratorBase;

  /// The batch; waits for it. Valid until the iterator is advanced. Error at the end.
  Batch& operator*() const { return *static_cast<Batch*>(batch()); }
  Batch* operator->() const { return &**this; }
  Iterator& operator++() {
    advance();
    return *this;
  }
  friend bool operator==(const Iterator& a, const Iterator& b) { return a.is_same(b); }
};

}  // namespace torch::data
