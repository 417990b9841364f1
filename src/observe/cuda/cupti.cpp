// An operation is an "external correlation": its WorkTimes' address is the number that CUPTI gives back with the correlation of each call
// that it made, and with that one each kernel, copy and filling has its times. Such a record is written only beside one of the call itself,
// so calls are recorded, too. Records come in buffers, in any order, behind the work, by a thread of CUPTI or within cuptiActivityFlushAll.
// See CUPTI's documentation (docs.nvidia.com/cupti), "CUPTI Activity API".
#include "observe/cuda/cupti.h"

#include <cuda_runtime_api.h>
#include <cupti.h>

#include <cstdlib>
#include <exception>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "kernels/cuda/vendor/library.h"
#include "observe/profiler/device_times.h"
#include "observe/profiler/task_timer.h"
#include "runtime/cuda/driver.h"
#include "runtime/driver.h"

namespace tandem::profiler::cupti {
namespace {

using kernels::cuda::vendor::Library;
using runtime::WorkTimes;

struct Functions {
  Library library{"CUPTI", ("libcupti.so." + std::to_string(CUDART_VERSION / 1000)).c_str()};
  TD_FUNCTION(cuptiGetVersion);
  TD_FUNCTION(cuptiGetResultString);
  TD_FUNCTION(cuptiActivityRegisterTimestampCallback);
  TD_FUNCTION(cuptiActivityRegisterCallbacks);
  TD_FUNCTION(cuptiActivityEnable);
  TD_FUNCTION(cuptiActivityDisable);
  TD_FUNCTION(cuptiActivityGetNextRecord);
  TD_FUNCTION(cuptiActivityFlushAll);
  TD_FUNCTION(cuptiActivityPushExternalCorrelationId);
  TD_FUNCTION(cuptiActivityPopExternalCorrelationId);
};
Functions& functions() {
  static auto* const all = new Functions;
  return *all;
}

constexpr size_t kBufferBytes = size_t{4} << 20, kAlignment = 8;
// Calls of the driver are those of the libraries, which launch kernels without the run-time library.
constexpr CUpti_ActivityKind kKinds[] = {CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION,
                                         CUPTI_ACTIVITY_KIND_RUNTIME,
                                         CUPTI_ACTIVITY_KIND_DRIVER,
                                         CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
                                         CUPTI_ACTIVITY_KIND_MEMCPY,
                                         CUPTI_ACTIVITY_KIND_MEMCPY2,
                                         CUPTI_ACTIVITY_KIND_MEMSET};
constexpr auto kOurs = CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0;

class Cupti final : public TaskTimer {
 public:
  bool start() noexcept override {
    try {
      const std::lock_guard lock(mutex_);
      if (users_ == 0 && !(prepare() && enable())) return false;
      ++users_;
      return true;
    } catch (const std::exception&) {
      return false;
    }
  }

  void stop() noexcept override {
    const std::lock_guard lock(mutex_);
    if (--users_ > 0) return;
    for (const CUpti_ActivityKind kind : kKinds) (void)functions().cuptiActivityDisable(kind);
  }

  bool begin(WorkTimes& times) noexcept override {
    if (functions().cuptiActivityPushExternalCorrelationId(kOurs, reinterpret_cast<uint64_t>(&times)) != CUPTI_SUCCESS) return false;
    times.pending.fetch_add(1, std::memory_order_relaxed);
    return true;
  }

  void end(WorkTimes& times) noexcept override {
    uint64_t last = 0;
    (void)functions().cuptiActivityPopExternalCorrelationId(kOurs, &last);
    try {
      const std::lock_guard lock(records_mutex_);
      ended_.push_back(&times);
    } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): no memory; it stays pending
    }
  }

  void deliver() noexcept override {
    std::vector<WorkTimes*> ended;
    {
      const std::lock_guard lock(records_mutex_);
      ended.swap(ended_);
    }
    try {
      auto& driver = static_cast<runtime::cuda_gpu::CudaDriver&>(runtime::require_driver());  // the plug-in's own
      for (int device = 0; device < driver.device_count(); ++device) driver.finish(device);
    } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): an error of the work is told where it is waited for
    }
    const std::lock_guard delivering(deliver_mutex_);  // a buffer that another thread has completed is read when this returns
    (void)functions().cuptiActivityFlushAll(0);
    const std::lock_guard lock(records_mutex_);
    for (const Span& span : spans_) give(span);
    spans_.clear();
    for (WorkTimes* const times : ended) times->pending.fetch_sub(1, std::memory_order_release);
    std::erase_if(times_of_, [](const auto& each) { return each.second->pending.load(std::memory_order_relaxed) == 0; });
  }

  /// Each record of a buffer.
  void read(uint8_t* buffer, size_t bytes) noexcept {
    const std::lock_guard lock(records_mutex_);
    CUpti_Activity* record = nullptr;
    while (functions().cuptiActivityGetNextRecord(buffer, bytes, &record) == CUPTI_SUCCESS) {
      switch (record->kind) {
        case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION: {
          const auto& of = *reinterpret_cast<const CUpti_ActivityExternalCorrelation*>(record);
          if (of.externalKind != kOurs) break;
          try {
            times_of_[of.correlationId] = reinterpret_cast<WorkTimes*>(of.externalId);
          } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): no memory, and so no times
          }
          break;
        }
        case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: ran(*reinterpret_cast<const CUpti_ActivityKernel9*>(record)); break;
        case CUPTI_ACTIVITY_KIND_MEMCPY: ran(*reinterpret_cast<const CUpti_ActivityMemcpy5*>(record)); break;
        case CUPTI_ACTIVITY_KIND_MEMCPY2: ran(*reinterpret_cast<const CUpti_ActivityMemcpyPtoP4*>(record)); break;
        case CUPTI_ACTIVITY_KIND_MEMSET: ran(*reinterpret_cast<const CUpti_ActivityMemset4*>(record)); break;
        default: break;
      }
    }
  }

 private:
  /// Once: whether it can be used at all.
  bool prepare() {
    if (!functions().library.complete()) return false;
    if (prepared_) return true;
    // Times by the profile's own clock. Before anything is enabled.
    if (!succeeds("cuptiActivityRegisterTimestampCallback",
                  functions().cuptiActivityRegisterTimestampCallback([]() -> uint64_t { return static_cast<uint64_t>(host_now()); })))
      return false;
    const auto request = [](uint8_t** buffer, size_t* bytes, size_t* records) {
      *buffer = static_cast<uint8_t*>(std::aligned_alloc(kAlignment, kBufferBytes));
      *bytes = *buffer ? kBufferBytes : 0;
      *records = 0;  // as many as fit
    };
    prepared_ = succeeds("cuptiActivityRegisterCallbacks", functions().cuptiActivityRegisterCallbacks(request, complete));
    return prepared_;
  }

  bool enable() {
    for (const CUpti_ActivityKind kind : kKinds)
      if (!succeeds("cuptiActivityEnable", functions().cuptiActivityEnable(kind))) {
        for (const CUpti_ActivityKind enabled : kKinds) (void)functions().cuptiActivityDisable(enabled);
        return false;
      }
    return true;
  }

  static void complete(CUcontext, uint32_t, uint8_t* buffer, size_t, size_t valid);

  static bool succeeds(const char* call, CUptiResult result) {
    if (result == CUPTI_SUCCESS) return true;
    const char* text = nullptr;
    (void)functions().cuptiGetResultString(result, &text);
    (void)functions().library.failed(call, text ? text : std::to_string(static_cast<int>(result)));
    return false;
  }

  /// From when to when the work of a call ran.
  struct Span {
    uint32_t correlation;
    int64_t began, ended;
  };
  template <class Activity>
  void ran(const Activity& activity) {
    if (activity.start == 0) return;
    try {
      spans_.push_back({activity.correlationId, static_cast<int64_t>(activity.start), static_cast<int64_t>(activity.end)});
    } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): no memory, and so no times
    }
  }
  /// To the operation that made the call, and to those that it is a part of.
  void give(const Span& span) {
    const auto found = times_of_.find(span.correlation);
    if (found == times_of_.end()) return;
    for (WorkTimes* times = found->second; times; times = times->outer) {
      const int64_t before = times->began.load(std::memory_order_relaxed);
      if (before == 0 || span.began < before) times->began.store(span.began, std::memory_order_relaxed);
      if (span.ended > times->ended.load(std::memory_order_relaxed)) times->ended.store(span.ended, std::memory_order_relaxed);
    }
  }

  std::mutex mutex_;  // of starting and stopping
  int users_ = 0;
  bool prepared_ = false;
  std::mutex deliver_mutex_;
  std::mutex records_mutex_;                           // of what follows
  std::unordered_map<uint32_t, WorkTimes*> times_of_;  // by the correlation of a call
  std::vector<Span> spans_;                            // since the last delivery
  std::vector<WorkTimes*> ended_;                      // what the next delivery brings
};

Cupti& instance() {
  static auto* const one = new Cupti;  // CUPTI's thread may call until the program ends
  return *one;
}

void Cupti::complete(CUcontext, uint32_t, uint8_t* buffer, size_t, size_t valid) {
  if (valid > 0) instance().read(buffer, valid);
  std::free(buffer);  // NOLINT(cppcoreguidelines-no-malloc): CUPTI wants it aligned
}

}  // namespace

void use() { set_task_timer(&instance()); }

tandem::cuda::Library describe() {
  uint32_t version = 0;
  if (functions().library.complete()) (void)functions().cuptiGetVersion(&version);
  return functions().library.description(kernels::cuda::vendor::version_text(version, 10000));
}

}  // namespace tandem::profiler::cupti
