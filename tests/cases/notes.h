// What the checks share: arguments on a device and in a dtype, values on the host, and findings with the call they are about.
#pragma once

#include "cases/check.h"
#include "tensor/host_values.h"

namespace tandem::cases {

inline Arguments map(const Arguments& arguments, const std::function<Tensor(const Tensor&)>& f) {
  Arguments out;
  for (const Argument& argument : arguments) out.push_back(argument.map(f));
  return out;
}

inline Arguments on_device(const Arguments& arguments, Device device) {
  return map(arguments, [&](const Tensor& x) { return x.to(device); });
}

inline std::vector<double> doubles(const Tensor& x) {
  const HostValues values = read_values(x, -1, "read_values", Site::here());
  return is_floating(x.dtype()) ? values.floating : std::vector<double>(values.integers.begin(), values.integers.end());
}

/// Findings about one operation, with the call they are about.
class Notes {
 public:
  explicit Notes(const Operation& operation) : operation_(operation) {}
  /// What the next findings are about.
  void about(const Sample& sample, size_t number, std::string what) {
    where_ = str(operation_.name, ", input ", number, " (");
    for (size_t i = 0; i < sample.arguments.size(); ++i) where_ += (i ? ", " : "") + sample.arguments[i].text();
    where_ += ")" + (what.empty() ? what : ", " + what);
  }
  void add(const std::string& what) {
    if (!what.empty() && findings_.size() < 20) findings_.push_back(where_ + ": " + what);
  }
  /// Runs f; an error is a finding. A kernel that a device lacks is not: that error goes on to the caller.
  template <class F>
  void guard(F f) {
    try {
      f();
    } catch (const NotImplementedError&) {
      throw;
    } catch (const std::exception& error) {
      add(str("error: ", error.what()));
    }
  }
  [[nodiscard]] Findings take() { return std::move(findings_); }

 private:
  const Operation& operation_;
  std::string where_;
  Findings findings_;
};

/// Runs on the device of the arguments and waits, so that trouble in it is thrown here.
inline Results run(const std::function<Results(const Arguments&)>& function, const Arguments& arguments, Device device) {
  Results results = function(arguments);
  if (device.is_cuda()) cuda::synchronize(device);
  return results;
}

}  // namespace tandem::cases
