// A queue that any number of processes put into and get from.
#pragma once

#include <memory>

#include "process/codec.h"
#include "process/deadline.h"
#include "process/error.h"
#include "process/pipe.h"

namespace tandem::multiprocessing {

namespace detail {

/// A queue, whatever it carries. Copies are the same queue.
class AnyQueue {
 public:
  explicit AnyQueue(int64_t maxsize);
  void put(Parcel& parcel) const;
  [[nodiscard]] static AnyQueue take(Received& received);

  void send(Parcel& parcel, Timeout timeout) const;
  /// Empty when nothing came in time.
  [[nodiscard]] Received receive(Timeout timeout) const;
  [[nodiscard]] bool empty() const;

 private:
  struct State;
  explicit AnyQueue(std::shared_ptr<State> state) : state_(std::move(state)) {}
  std::shared_ptr<State> state_;
};

}  // namespace detail

/// First in, first out, for any number of threads and processes at both sides; each value comes out once. What was put stays in it when the
/// process that put it has ended, and one that is killed at any moment leaves it whole. A wait for a process that was started with the
/// queue, and fails, is a ProcessError that says how. As torch.multiprocessing.Queue.
template <class T>
class Queue {
 public:
  /// For at most `maxsize` values; for any number where that is 0. Errors where no more files may be open or memory is refused.
  explicit Queue(int64_t maxsize = 0) : queue_(maxsize) {}

  /// Puts a value in. It waits for room while there are `maxsize` values in it, and in any case while as much as the system takes (about
  /// 200 small values) is waiting to be fetched; at most for `timeout`, then Full. Other errors as of Codec<T>.
  void put(const T& value, Timeout timeout = {}) const {
    detail::Parcel parcel("Queue.put");
    Codec<T>::put(parcel, value);
    queue_.send(parcel, timeout);
  }
  /// Takes the first value out; waits for one, at most for `timeout`, then Empty.
  [[nodiscard]] T get(Timeout timeout = {}) const {
    auto received = queue_.receive(timeout);
    T value = Codec<T>::take(received);
    received.finish();
    return value;
  }
  /// Whether nothing is in it now.
  [[nodiscard]] bool empty() const { return queue_.empty(); }

 private:
  friend struct Codec<Queue>;
  explicit Queue(detail::AnyQueue queue) : queue_(std::move(queue)) {}
  detail::AnyQueue queue_;
};

template <class T>
struct Codec<Queue<T>> {
  static void put(detail::Parcel& parcel, const Queue<T>& value) { value.queue_.put(parcel); }
  static Queue<T> take(detail::Received& received) { return Queue<T>(detail::AnyQueue::take(received)); }
};

}  // namespace tandem::multiprocessing
