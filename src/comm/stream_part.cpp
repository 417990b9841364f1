#include "comm/stream_part.h"

#include <utility>
#include <vector>

#include "runtime/observer.h"
#include "runtime/virtual/stream.h"
#include "tensor/tensor_impl.h"

namespace tandem::comm {
namespace {

namespace gpu = runtime::virtual_gpu;

/// Told when it is destroyed without having been run.
class Task {
 public:
  Task(std::function<void(const std::string*)> run, std::function<void()> dropped) : run_(std::move(run)), dropped_(std::move(dropped)) {}
  Task(Task&& other) noexcept : run_(std::move(other.run_)), dropped_(std::exchange(other.dropped_, nullptr)) {}
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;
  Task& operator=(Task&&) = delete;
  ~Task() {
    if (dropped_) dropped_();
  }
  void operator()(const Queue& on_worker) {
    dropped_ = nullptr;
    run_(on_worker.status ? nullptr : &static_cast<gpu::Stream*>(on_worker.stream)->why_skipped());
  }

 private:
  std::function<void(const std::string*)> run_;
  std::function<void()> dropped_;
};

std::vector<gpu::Range> ranges(std::span<const Tensor> tensors) {
  std::vector<gpu::Range> all;
  for (const Tensor& tensor : tensors) all.push_back({tensor.impl().data, tensor.nbytes()});
  return all;
}

}  // namespace

void queue_part(runtime::Driver& driver, const runtime::StreamRecord& stream, const Call& call, std::span<const Tensor> reads,
                std::span<const Tensor> writes, std::function<void(const std::string*)> run, std::function<void()> dropped) {
  gpu::enqueue(driver.queue(stream.handle, name(call.kind), call.site), Task(std::move(run), std::move(dropped)), ranges(writes),
               ranges(reads), gpu::Kind::Meets);
}

void drain(const runtime::StreamRecord& stream, Site site) {
  struct Seen {
    const runtime::StreamRecord& stream;
    ~Seen() {
      runtime::tell([&] { return runtime::facts::Order{.earlier = &stream}; });
    }
  } const seen{stream};  // also where it ends with an error
  runtime::require_driver().synchronize_stream(stream.handle, site);
}

}  // namespace tandem::comm
