// Looking for nan while backward runs. As torch.autograd.set_detect_anomaly.
#pragma once

#include "base/flag.h"

namespace tandem::autograd {

/// From now on backward, on every thread, looks at what each node gives, and is an error with the line of the forward operation where one
/// gives nan. It waits for GPUs at each node: to be used where nan has to be found. `check_nan` false: it does not look.
void set_detect_anomaly(Flag enabled, Flag check_nan = true);
/// Whether backward looks at what each node gives.
[[nodiscard]] bool is_anomaly_enabled();
/// Whether it was set to look for nan.
[[nodiscard]] bool is_anomaly_check_nan_enabled();

/// set_detect_anomaly(true, check_nan) until the end of the scope. As torch.autograd.detect_anomaly.
class DetectAnomaly {
 public:
  explicit DetectAnomaly(Flag check_nan = true) : enabled_(is_anomaly_enabled()), check_nan_(is_anomaly_check_nan_enabled()) {
    set_detect_anomaly(true, check_nan);
  }
  ~DetectAnomaly() { set_detect_anomaly(enabled_, check_nan_); }
  DetectAnomaly(const DetectAnomaly&) = delete;
  DetectAnomaly& operator=(const DetectAnomaly&) = delete;

 private:
  bool enabled_, check_nan_;
};

}  // namespace tandem::autograd
