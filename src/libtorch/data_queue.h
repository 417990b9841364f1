// How jobs go to a loader's workers, and results come back.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "base/error.h"

namespace torch::data::detail {

/// A queue between threads.
template <class T>
class Queue {
 public:
  void push(T value) {
    {
      const std::lock_guard lock(mutex_);
      values_.push_back(std::move(value));
    }
    pushed_.notify_one();
  }
  /// Waits for a value. Error where none comes in that time.
  T pop(std::optional<std::chrono::milliseconds> timeout = std::nullopt) {
    std::unique_lock lock(mutex_);
    const auto has_value = [this] { return !values_.empty(); };
    if (!timeout) pushed_.wait(lock, has_value);
    else if (!pushed_.wait_for(lock, *timeout, has_value))
      tandem::fail("[DataLoader] Timeout in DataLoader queue while waiting for next batch (timeout was ",
                   static_cast<long long>(timeout->count()), " ms)");
    T value = std::move(values_.front());
    values_.pop_front();
    return value;
  }
  /// Forgets all values; how many there were.
  size_t clear() {
    const std::lock_guard lock(mutex_);
    const size_t count = values_.size();
    values_.clear();
    return count;
  }

 private:
  std::deque<T> values_;
  std::mutex mutex_;
  std::condition_variable pushed_;
};

/// Two queues, and how many jobs have not come back. One thread gives jobs and takes results.
template <class Job, class Result>
class DataShuttle {
 public:
  void push_job(Job job) {
    jobs_.push(std::move(job));
    ++in_flight_;
  }
  void push_result(Result result) { results_.push(std::move(result)); }
  Job pop_job() { return jobs_.pop(); }
  /// None where no job is on its way.
  std::optional<Result> pop_result(std::optional<std::chrono::milliseconds> timeout = std::nullopt) {
    if (in_flight_ == 0) return std::nullopt;
    Result result = results_.pop(timeout);
    --in_flight_;
    return result;
  }
  /// Takes back the jobs that no worker has begun, and waits for the others.
  void drain() {
    in_flight_ -= jobs_.clear();
    while (in_flight_ > 0) (void)pop_result();
  }
  [[nodiscard]] size_t in_flight_jobs() const noexcept { return in_flight_; }

 private:
  Queue<Job> jobs_;
  Queue<Result> results_;
  size_t in_flight_ = 0;
};

namespace sequencers {

/// In which order results are handed out.
template <class Result>
struct Sequencer {
  using ResultProducer = std::function<std::optional<Result>()>;
  virtual ~Sequencer() = default;
  virtual std::optional<Result> next(ResultProducer next_result) = 0;
};

/// As they come.
template <class Result>
struct NoSequencer final : public Sequencer<Result> {
  std::optional<Result> next(typename Sequencer<Result>::ResultProducer next_result) override { return next_result(); }
};

/// By their sequence_number: results that come early wait in a buffer.
template <class Result>
struct OrderedSequencer final : public Sequencer<Result> {
  explicit OrderedSequencer(size_t max_jobs) : buffer_(max_jobs) {}
  std::optional<Result> next(typename Sequencer<Result>::ResultProducer next_result) override {
    while (!place(next_sequence_number_)) {
      std::optional<Result> result = next_result();
      if (!result) return std::nullopt;
      std::optional<Result>& slot = place(result->sequence_number);
      slot = std::move(result);
    }
    return std::exchange(place(next_sequence_number_++), std::nullopt);
  }
  std::optional<Result>& place(size_t number) { return buffer_.at(number % buffer_.size()); }

  size_t next_sequence_number_ = 0;
  std::vector<std::optional<Result>> buffer_;
};

}  // namespace sequencers
}  // namespace torch::data::detail
