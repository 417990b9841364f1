#include "libtorch/data_loader.h"

#include <thread>
#include <vector>

#include "libtorch/data_queue.h"

namespace torch::data {

WorkerException::WorkerException(std::exception_ptr original)
    : original_exception(std::move(original)),  // NOLINT(bugprone-throw-keyword-missing): kept, to be thrown on
      message("Caught exception in DataLoader worker thread.") {
  try {
    std::rethrow_exception(original_exception);
  } catch (const std::exception& error) {
    message += std::string(" Original message: ") + error.what();
  } catch (...) {
  }
}

const char* WorkerException::what() const noexcept { return message.c_str(); }

FullDataLoaderOptions::FullDataLoaderOptions(const DataLoaderOptions& options)
    : batch_size(options.batch_size()),
      workers(options.workers()),
      max_jobs(options.max_jobs().value_or(2 * workers)),
      timeout(options.timeout()),
      enforce_ordering(options.enforce_ordering()),
      drop_last(options.drop_last()) {}

namespace detail {

struct LoaderBase::Workers {
  struct Job {
    Erased request;  // none: the worker's end
    size_t sequence_number = 0;
  };
  struct Result {
    Erased batch;
    std::exception_ptr error;
    size_t sequence_number = 0;
  };
  void work(const Reader& reader);

  size_t sequence_number = 0;
  std::vector<std::thread> threads;
  DataShuttle<Job, Result> shuttle;
  std::unique_ptr<sequencers::Sequencer<Result>> sequencer;
  bool joined = false;
};

void LoaderBase::Workers::work(const Reader& reader) {
  while (true) {
    const Job job = shuttle.pop_job();
    if (!job.request) return;
    Result result{{}, {}, job.sequence_number};
    try {
      result.batch = reader(job.request.get());
    } catch (...) {
      result.error = std::current_exception();
    }
    shuttle.push_result(std::move(result));
  }
}

LoaderBase::LoaderBase(const DataLoaderOptions& options) : options_(options), workers_(std::make_unique<Workers>()) {
  if (options_.workers > 0 && options_.max_jobs == 0)
    tandem::fail("[DataLoader] max_jobs must be at least 1 where there are workers, got 0");
}

LoaderBase::~LoaderBase() { join(); }

void LoaderBase::join() {
  if (workers_->joined) return;
  workers_->joined = true;
  workers_->shuttle.drain();
  for (size_t i = 0; i < workers_->threads.size(); ++i) workers_->shuttle.push_job({});
  for (std::thread& thread : workers_->threads) thread.join();
}

std::shared_ptr<void> LoaderBase::next_batch() {
  if (options_.workers == 0) {
    const Erased request = next_request();
    return request ? main_thread_reader_(request.get()) : nullptr;
  }
  auto& shuttle = workers_->shuttle;
  while (auto result = workers_->sequencer->next([&] { return shuttle.pop_result(options_.timeout); })) {
    if (result->error) throw WorkerException(result->error);
    if (!result->batch) continue;  // a stateful dataset's end
    request_batches(1);
    return std::move(result->batch);
  }
  return nullptr;
}

void LoaderBase::begin_epoch() {
  if (workers_->shuttle.in_flight_jobs() > 0)
    tandem::fail("[DataLoader] Attempted to get a new DataLoader iterator while another iterator is not yet exhausted: go through all of ",
                 "its batches, or make another loader");
  reset();
}

void LoaderBase::reset() {
  workers_->sequence_number = 0;
  if (options_.enforce_ordering && options_.workers > 0)
    workers_->sequencer = std::make_unique<sequencers::OrderedSequencer<Workers::Result>>(options_.max_jobs);
  else workers_->sequencer = std::make_unique<sequencers::NoSequencer<Workers::Result>>();
  if (options_.workers > 0) request_batches(options_.max_jobs);
}

void LoaderBase::start_worker(Reader reader) {
  workers_->threads.emplace_back([workers = workers_.get(), reader = std::move(reader)] { workers->work(reader); });
}

void LoaderBase::set_main_thread_reader(Reader reader) { main_thread_reader_ = std::move(reader); }

void LoaderBase::request_batches(size_t count) {
  for (size_t i = 0; i < count; ++i) {
    Erased request = next_request();
    if (!request) return;
    workers_->shuttle.push_job({std::move(request), workers_->sequence_number++});
  }
}

}  // namespace detail
}  // namespace torch::data
