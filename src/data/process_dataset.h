// A dataset that lives in worker processes: for code that must not be called from several threads.
#pragma once

#include <memory>
#include <tuple>

#include "data/dataset.h"
#include "process/multiprocessing.h"

namespace tandem::data {

namespace detail {

/// The indices of a batch, and the seed and epoch of its samples' random numbers.
using BatchRequest = std::tuple<std::vector<int64_t>, uint64_t, uint64_t>;
/// The dataset's size, the type and text of an error (empty where there was none), and the batch.
using BatchReply = std::tuple<int64_t, std::string, std::string, std::vector<Tensor>>;

/// Answers requests until the other end is closed. The first answer, unasked, has the size alone.
void serve(const Dataset& dataset, const multiprocessing::Connection<BatchRequest>& requests,
           const multiprocessing::Connection<BatchReply>& replies);

/// A worker's function.
template <class D, class... P>
void make_and_serve(D (*make)(P...), multiprocessing::Connection<BatchRequest> requests, multiprocessing::Connection<BatchReply> replies,
                    std::decay_t<P>... arguments) {
  serve(make(std::move(arguments)...), requests, replies);
}

/// The dataset as the loader sees it.
class ProcessDataset : public Dataset {
 public:
  using Starter =
      std::function<multiprocessing::Process(multiprocessing::Connection<BatchRequest>, multiprocessing::Connection<BatchReply>)>;

  /// Starts the workers and waits until each has made its dataset. ProcessError where one fails; Error where their sizes differ.
  ProcessDataset(int workers, const Starter& start);
  [[nodiscard]] int64_t size() const override { return size_; }
  [[nodiscard]] Sample get(int64_t index) const override;
  /// By the next worker that is free; ProcessError with the type and text of what its dataset threw.
  [[nodiscard]] Batch get_batch(std::span<const int64_t> indices, BatchOptions options = {}, Site site = Site::here()) const override;

 private:
  struct Workers;
  std::shared_ptr<Workers> workers_;  // ended with the last copy
  int64_t size_ = 0;
};

/// What DataLoader::in_processes reads.
template <class D, class... P, class... A>
[[nodiscard]] AnyDataset dataset_in_processes(int workers, D (*make)(P...), const A&... arguments) {
  return ProcessDataset(workers, [&](const auto& requests, const auto& replies) {
    return multiprocessing::Process(make_and_serve<D, P...>, make, requests, replies, arguments...);
  });
}

}  // namespace detail
}  // namespace tandem::data
