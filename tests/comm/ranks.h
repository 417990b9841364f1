// Ranks that are threads, and what each of them threw.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "base/error.h"
#include "support/on_device.h"
#include "tandem.h"

/// The texts of the errors that the ranks' f threw; "no error" where a rank threw none. The ranks go on until all have ended by themselves.
inline std::vector<std::string> errors_of_ranks(int count, const std::function<void(int)>& f, const tandem::distributed::InitOptions& options = {}) {
  std::vector<std::string> errors(static_cast<size_t>(count), "no error");
  tandem::distributed::run_ranks(
      count,
      [&](int rank) {
        try {
          f(rank);
        } catch (const tandem::Error& error) {
          errors[static_cast<size_t>(rank)] = error.what();
        }
      },
      options);
  return errors;
}

/// A rank's values of a dtype: small, different for each rank, exact in every dtype, and such that sums in half types round.
inline tandem::Tensor values(int64_t count, tandem::DType dtype, int rank, tandem::Device device = {}) {
  using namespace tandem;
  const Tensor base = arange(count).remainder(7 + rank) + (rank % 3);
  if (dtype == kBool) return (base.remainder(2) == 1).to(device);
  if (is_floating(dtype)) return ((base.to(kFloat64) - 2.5) * 1.3).to(dtype).to(device);
  return base.to(dtype).to(device);
}
