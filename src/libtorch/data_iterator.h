// A loader's iterator: through the batches of an epoch.
#pragma once

#include <cstddef>
#include <iterator>
#include <memory>

#include "base/site.h"

namespace torch::data {

namespace detail {

/// What makes batches, one after another; none at the end of the epoch. The pointer forgets the batch's type.
class BatchSource {
 public:
  virtual ~BatchSource() = default;
  virtual std::shared_ptr<void> next_batch() = 0;
};

/// A loader's iterator whatever its batches are. Copies go on together; the first batch is made when it is asked for.
class IteratorBase {
 public:
  /// The end.
  IteratorBase() = default;
  /// Errors in batches name `site`, the line of the loop.
  IteratorBase(BatchSource& source, tandem::Site site);

 protected:
  /// The batch; waits for it. Error at the end.
  [[nodiscard]] void* batch() const;
  void advance();
  [[nodiscard]] bool is_same(const IteratorBase& other) const;

 private:
  class Epoch;
  std::shared_ptr<Epoch> epoch_;
};

}  // namespace detail

/// An input iterator; copies go on together. The first batch is made when it is asked for.
template <class Batch>
class Iterator : public detail::IteratorBase {
 public:
  using difference_type = std::ptrdiff_t;
  using value_type = Batch;
  using pointer = Batch*;
  using reference = Batch&;
  using iterator_category = std::input_iterator_tag;

  using IteratorBase::IteratorBase;

  /// The batch; waits for it. Error at the end.
  Batch& operator*() const { return *static_cast<Batch*>(batch()); }
  Batch* operator->() const { return &**this; }
  Iterator& operator++() {
    advance();
    return *this;
  }
  friend bool operator==(const Iterator& a, const Iterator& b) { return a.is_same(b); }
};

}  // namespace torch::data
