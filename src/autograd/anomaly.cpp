#include "autograd/anomaly.h"

#include <atomic>

namespace tandem::autograd {
namespace {
std::atomic<bool> anomaly_enabled{false}, anomaly_check_nan{true};
}

void set_detect_anomaly(Flag enabled, Flag check_nan) {
  anomaly_enabled.store(enabled, std::memory_order_relaxed);
  anomaly_check_nan.store(check_nan, std::memory_order_relaxed);
}
bool is_anomaly_enabled() { return anomaly_enabled.load(std::memory_order_relaxed); }
bool is_anomaly_check_nan_enabled() { return anomaly_check_nan.load(std::memory_order_relaxed); }

}  // namespace tandem::autograd
