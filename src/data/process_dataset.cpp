#include "data/process_dataset.h"

#include <condition_variable>
#include <deque>
#include <mutex>

#include "base/error.h"
#include "base/type_name.h"

namespace tandem::data::detail {

namespace mp = multiprocessing;

void serve(const Dataset& dataset, const mp::Connection<BatchRequest>& requests, const mp::Connection<BatchReply>& replies) {
  replies.send({dataset.size(), "", "", {}});
  for (;;) {
    BatchReply reply;
    auto& [size, type, text, tensors] = reply;
    const auto [indices, seed, epoch] = requests.recv();
    try {
      tensors = dataset.get_batch(indices, {.pin_memory = false, .seed = seed, .epoch = epoch}, Site::none()).tensors;
    } catch (const std::exception& e) {
      type = type_name(typeid(e));
      text = e.what();
    }
    replies.send(reply);
  }
}

/// Each is asked for one batch at a time.
struct ProcessDataset::Workers {
  struct Worker {
    mp::Process process;
    mp::Connection<BatchRequest> requests;
    mp::Connection<BatchReply> replies;
  };
  std::deque<Worker> all;
  std::mutex mutex;
  std::condition_variable freed;
  std::vector<Worker*> free;
  size_t alive = 0;
};

ProcessDataset::ProcessDataset(int workers, const Starter& start) : workers_(std::make_shared<Workers>()) {
  for (int i = 0; i < workers; ++i) {
    auto [requests, their_requests] = mp::pipe<BatchRequest>();
    auto [replies, their_replies] = mp::pipe<BatchReply>();
    auto& worker =
        workers_->all.emplace_back(Workers::Worker{start(their_requests, their_replies), std::move(requests), std::move(replies)});
    worker.process.set_name(str("dataset worker ", i));
    worker.process.start();
    workers_->free.push_back(&worker);
  }
  workers_->alive = workers_->free.size();
  for (const auto& worker : workers_->all) {
    const int64_t size = std::get<0>(worker.replies.recv());
    if (&worker == &workers_->all.front()) size_ = size;
    if (size != size_)
      fail("[DataLoader.in_processes] the workers' datasets have ", size_, " and ", size, " samples: each must make the same one");
  }
}

Sample ProcessDataset::get(int64_t index) const {
  Sample sample = get_batch({&index, 1});
  for (Tensor& tensor : sample.tensors) tensor = tensor.select(0, 0);
  return sample;
}

Batch ProcessDataset::get_batch(std::span<const int64_t> indices, BatchOptions options, Site site) const {
  Workers& workers = *workers_;
  std::unique_lock lock(workers.mutex);
  workers.freed.wait(lock, [&] { return !workers.free.empty() || workers.alive == 0; });
  if (workers.free.empty()) fail("[DataLoader] all workers of the dataset have ended: make another loader");
  const Workers::Worker& worker = *workers.free.back();
  workers.free.pop_back();
  lock.unlock();

  std::optional<BatchReply> reply;
  std::exception_ptr lost;
  try {
    worker.requests.send({std::vector<int64_t>(indices.begin(), indices.end()), options.seed, options.epoch});
    reply = worker.replies.recv();
  } catch (...) {
    lost = std::current_exception();
  }
  lock.lock();
  if (lost) --workers.alive;
  else workers.free.push_back(const_cast<Workers::Worker*>(&worker));
  lock.unlock();
  workers.freed.notify_all();
  if (lost) std::rethrow_exception(lost);

  auto& [size, type, text, tensors] = *reply;
  if (!type.empty()) throw mp::ProcessError(str("[DataLoader] in ", worker.process.name(), ": ", type, ": ", text), 0, type, text);
  Batch batch{std::move(tensors)};
  return options.pin_memory ? batch.pin_memory(site) : batch;
}

}  // namespace tandem::data::detail
