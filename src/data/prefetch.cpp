// The slots of the batches between the workers and the loop are a ring: batch b may be read once the loop has taken b - window. A batch
// passes from a worker to the mover (where there is a device) to the loop, each of which has its slot alone until it says that it is done.
#include "data/prefetch.h"

#include <algorithm>
#include <new>
#include <system_error>
#include <utility>

#include "autograd/autograd.h"
#include "base/error.h"
#include "base/serial.h"
#include "base/thread.h"

namespace tandem::data::detail {
namespace {

/// Batches that lie on the device before the loop asks for them: one to go on with, and one on its way.
constexpr int64_t kOnDevice = 2;
constexpr const char* kCopies = "the DataLoader's copies to the GPU";

/// A mark in the calling thread's current stream of each GPU that has tensors of the batch.
std::vector<cuda::Event> marks_of(const Batch& batch, Site site) {
  std::vector<cuda::Event> marks;
  std::vector<Device> marked;
  for (const Tensor& tensor : batch.tensors) {
    if (!tensor.is_cuda() || std::find(marked.begin(), marked.end(), tensor.device()) != marked.end()) continue;
    marked.push_back(tensor.device());
    marks.emplace_back().record(cuda::current_stream(tensor.device()), site);
  }
  return marks;
}

}  // namespace

Epoch::Epoch(EpochPlan plan)
    : plan_(std::move(plan)),
      grad_enabled_(is_grad_enabled()),
      autocast_(ops::autocast_state()),
      at_(plan_.first),
      next_(plan_.first),
      taken_(plan_.first) {
  if (plan_.num_workers == 0) return;
  slots_.resize(static_cast<size_t>(plan_.window));
  try {
    start();
  } catch (const std::system_error& error) {
    stop();
    fail("[DataLoader] cannot start ", plan_.num_workers, " workers: ", error.what(), "; raise the limit on threads or use fewer");
  }
}

void Epoch::start() {
  const int64_t workers = std::min<int64_t>(plan_.num_workers, size() - plan_.first);
  for (int64_t i = 0; i < workers; ++i) threads_.push_back(tandem::detail::start_thread("tandem-loader", [this] { work(); }));
  if (plan_.device && workers > 0) threads_.push_back(tandem::detail::start_thread("tandem-mover", [this] { move_all(); }));
}

Epoch::~Epoch() { stop(); }

void Epoch::stop() {
  if (forked()) return forget_threads();
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  may_read_.notify_all();
  may_move_.notify_all();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

bool Epoch::forked() const { return getpid() != process_; }

void Epoch::forget_threads() {
  for (std::thread& thread : threads_) new (&thread) std::thread;  // nothing to join
  new (&mutex_) std::mutex;
  // Destroyed as they are, they would wait for those who wait.
  for (std::condition_variable* condition : {&may_read_, &may_move_, &ready_}) new (condition) std::condition_variable;
}

Batch Epoch::read(int64_t at) const {
  const std::vector<int64_t>& indices = plan_.batches[static_cast<size_t>(at)];
  std::optional<Site::InForce> line;  // an error that has no line of its own names the loader's
  if (plan_.site.line) line.emplace(plan_.site.file, plan_.site.line);
  if (!plan_.collate_fn) return plan_.dataset->get_batch(indices, plan_.reading, plan_.site);
  Batch batch = plan_.collate_fn(read_samples(*plan_.dataset, indices, plan_.reading));
  return plan_.reading.pin_memory ? batch.pin_memory(plan_.site) : batch;
}

void Epoch::work() {
  devices_.adopt();
  const SetGradGuard mode(grad_enabled_);
  const ops::AutocastScope precision(autocast_);
  const tandem::detail::WithWaitScope waits(wait_scope_);
  const tandem::detail::SerialScope alone;
  std::unique_lock lock(mutex_);
  for (;;) {
    may_read_.wait(lock, [&] { return stopping_ || next_ >= size() || next_ < taken_ + plan_.window; });
    if (stopping_ || next_ >= size()) return;
    const int64_t at = next_++;
    lock.unlock();
    Slot result;
    try {
      result.batch = read(at);
      result.made = marks_of(result.batch, plan_.site);
    } catch (...) {
      result.error = std::current_exception();
    }
    lock.lock();
    result.read = true;
    result.moved = !plan_.device;
    slot(at) = std::move(result);
    (plan_.device ? may_move_ : ready_).notify_all();
  }
}

void Epoch::move(Slot& slot) const {
  const tandem::detail::OwnWork own(kCopies, plan_.site);
  if (plan_.device->is_cpu()) {
    slot.batch = slot.batch.to(*plan_.device, {}, plan_.site);
    slot.made.clear();
    return;
  }
  const cuda::Stream copies(runtime::copy_stream(plan_.device->index()));
  const cuda::StreamGuard guard(copies);
  // What the worker queued on the GPU comes first, so that one mark stands for all of the batch.
  for (const cuda::Event& made : slot.made) made.wait(copies, plan_.site);
  slot.batch = slot.batch.to(*plan_.device, {.non_blocking = true}, plan_.site);
  slot.made = marks_of(slot.batch, plan_.site);
}

void Epoch::move_all() {
  devices_.adopt();
  const SetGradGuard mode(grad_enabled_);
  const ops::AutocastScope precision(autocast_);
  const tandem::detail::WithWaitScope waits(wait_scope_);
  const int64_t ahead = std::min(kOnDevice, plan_.window);
  for (int64_t at = plan_.first; at < size(); ++at) {
    std::unique_lock lock(mutex_);
    may_move_.wait(lock, [&] { return stopping_ || (at < taken_ + ahead && slot(at).read); });
    if (stopping_) return;
    Slot result = std::exchange(slot(at), {});
    lock.unlock();
    try {
      if (!result.error) move(result);
    } catch (...) {
      result.error = std::current_exception();
    }
    lock.lock();
    result.moved = true;
    slot(at) = std::move(result);
    ready_.notify_all();
  }
}

Epoch::Slot Epoch::fetch() {
  if (plan_.num_workers == 0) {
    Slot result;
    result.batch = read(at_);
    if (!plan_.device) return result;
    const tandem::detail::OwnWork own(kCopies, plan_.site);
    result.batch = result.batch.to(*plan_.device, {.non_blocking = true}, plan_.site);
    return result;
  }
  if (forked()) fail("[DataLoader] this loop's workers are the parent's, which this process was forked from: begin a new loop");
  std::unique_lock lock(mutex_);
  ready_.wait(lock, [&] { return slot(taken_).moved; });
  Slot result = std::exchange(slot(taken_), {});
  ++taken_;
  lock.unlock();
  may_read_.notify_all();
  may_move_.notify_all();
  try {
    for (const Tensor& tensor : result.batch.tensors) {
      if (!tensor.is_cuda()) continue;
      const cuda::Stream stream = cuda::current_stream(tensor.device());
      for (const cuda::Event& made : result.made) made.wait(stream, plan_.site);
      tensor.record_stream(stream);
    }
  } catch (...) {
    result.error = std::current_exception();
  }
  return result;
}

Batch Epoch::get() {
  if (!fetched_) current_ = fetch();
  fetched_ = true;
  if (current_.error) std::rethrow_exception(current_.error);
  return current_.batch;
}

void Epoch::next() {
  if (!fetched_ && plan_.num_workers > 0) (void)fetch();
  current_ = {};
  fetched_ = false;
  ++at_;
}

}  // namespace tandem::data::detail
